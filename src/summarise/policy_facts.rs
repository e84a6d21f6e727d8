//! What policies can read of the jobs of a site: their records, and energy and carbon by the tables of the lake.

use std::collections::BTreeSet;

use arrow_array::RecordBatch;

use super::energy_figures::{EnergyFigureReader, EnergyFigures};
use crate::charge::facts::Facts;
use crate::charge::inputs::EnergyInput;
use crate::energy::EnergyPlan;
use crate::error::Result;
use crate::schema;

/// Reads the facts of the jobs of one site.
pub struct PolicyFacts<'a> {
    site: &'a str,
    reads: BTreeSet<&'a str>,
    /// `None` where no policy reads energy, or no tables of energy are named: it is unknown then.
    energy: Option<EnergyFigureReader<'a>>,
}

impl<'a> PolicyFacts<'a> {
    /// For the inputs in `reads`.
    #[must_use]
    pub fn new(site: &'a str, reads: BTreeSet<&'a str>, energy: Option<&'a EnergyPlan>) -> Self {
        let energy = energy.filter(|_| EnergyInput::is_read(&reads));
        Self {
            energy: energy.map(|plan| EnergyFigureReader::new(plan, site)),
            site,
            reads,
        }
    }

    /// The columns of `records` that [`Self::of`] takes for the inputs in `reads`: all of them where energy is worked out.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when a schema file is wrong.
    pub fn columns(reads: &BTreeSet<&str>) -> Result<BTreeSet<&'static str>> {
        if EnergyInput::is_read(reads) {
            let columns = schema::dataset("records")?.columns.iter();
            return Ok(columns.map(|column| column.name.as_str()).collect());
        }
        Ok(Facts::columns(reads))
    }

    /// The facts of a batch of `records`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when it is not a batch of `records`.
    pub fn of(&mut self, batch: &RecordBatch) -> Result<Facts> {
        let mut facts = Facts::of_records(batch, self.site, &self.reads)?;
        let Some(energy) = &mut self.energy else {
            return Ok(facts);
        };
        let figures = energy.of(batch)?;
        let classes = figures.iter().map(|of| of.energy.map(|energy| energy.class.as_str()));
        facts.set_energy_class(classes);
        for input in EnergyInput::NUMBERS {
            facts.set_energy(input, figures.iter().map(|of| amount(of, input)));
        }
        Ok(facts)
    }
}

/// Joules, or mg of CO2 equivalent.
fn amount(of: &EnergyFigures, input: EnergyInput) -> Option<i64> {
    match input {
        EnergyInput::JobJoules => of.energy.map(|energy| energy.energy_j),
        EnergyInput::SiteJoules => of.energy_pue_j,
        EnergyInput::OperationalGrams => of.operational_co2e_mg,
        EnergyInput::EmbodiedGrams => of.embodied_co2e_mg,
    }
}
