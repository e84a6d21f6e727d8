//! Energy and carbon: dated tables, the class of a job's figure, and whole lakes whose tables change.

mod course;
mod focus;
mod greendigit;
mod job;
mod lake;
mod node_energy;
mod node_meter;
mod small_lakes;
mod tables;

use gridtally::diagnostics::Problems;
use gridtally::energy::{EnergyPlan, EnergySettings, EnergyTables, NamedTable, SharedRule};

const HOUR_MS: i64 = 3_600_000;

/// A table as a pipeline names it.
fn named(name: &str, text: &str) -> NamedTable {
    NamedTable {
        file: name.to_owned(),
        text: text.to_owned(),
    }
}

/// The plan of tables without mistakes.
fn plan_of(tables: EnergyTables, shared: SharedRule) -> EnergyPlan {
    let settings = EnergySettings {
        basis: None,
        shared: Some(shared),
        known_on_ms: None,
    };
    let mut problems = Problems::default();
    let plan = EnergyPlan::new(tables, settings, &mut problems);
    problems.finish().unwrap();
    plan
}
