//! The canonical text of what decides bytes, and its hash.

use std::sync::Arc;

use super::as_of::AsOf;
use super::canonical::Canonical;
use super::plan::Overlap;
use super::source_options::SOURCE_KEYS;
use super::source_plan::SourcePlan;
use crate::charge::Tariff;
use crate::energy::EnergyPlan;
use crate::normalise::plan::{MissingBenchmark, NormalisePlan};
use crate::privacy::{Field, Privacy};
use crate::reference::benchmark::AskedSpan;
use crate::schema::listing_datasets;
use crate::sources::format::Format;
use crate::sources::registry;
use crate::summarise::attribution::Attribution;
use crate::time::grain::Grain;
use crate::time::{YearStart, Zone};

/// The key after whose lines lakes of today have the rules of readers.
const BEFORE_RULES: &str = "vo";

/// Of a source: everything that decides its records. Not where its files lie, nor how many rejects are tolerated.
pub(crate) fn of_source(source: &SourcePlan, privacy: Option<&Privacy>) -> String {
    let mut text = Canonical::new("source");
    for row in SOURCE_KEYS {
        if let Some(lines) = row.fingerprint {
            lines(source, &mut text);
        }
        if row.key == BEFORE_RULES {
            reader_rules(source.format(), &mut text);
        }
    }
    text.optional("privacy", privacy.map(Privacy::canonical).as_deref());
    text.hash()
}

/// What readers of this format accept since lakes were made by other rules.
fn reader_rules(format: Format, text: &mut Canonical) {
    for dialect in registry::declarable().filter(|dialect| format.dialect().is_none_or(|own| own == *dialect)) {
        for (key, rule) in dialect.row().fingerprint {
            text.line(key, rule);
        }
    }
}

/// Of an inventory: everything that decides its rows.
pub(crate) fn of_inventory(inventory: &SourcePlan, as_of: Option<&AsOf>, privacy: Option<&Privacy>) -> String {
    let mut text = Canonical::new("inventory");
    text.line("name", &inventory.name);
    text.line("format", inventory.reader.format.as_str());
    text.optional("site", inventory.intake.site.as_deref());
    text.optional("cluster", inventory.intake.cluster.as_deref());
    text.optional("zone", inventory.reader.zone.as_ref().map(Zone::name));
    text.optional("as_of_ms", as_of.map(AsOf::canonical).as_deref());
    for (kind, nodes) in &inventory.reader.nodes_by_kind {
        text.line(&format!("nodes.{kind}"), nodes);
    }
    if let Some(privacy) = privacy {
        let users = if privacy.keeps(Field::User) { "kept" } else { "withheld" };
        text.line("users", users);
        text.line("raw", "withheld");
    }
    for dataset in listing_datasets() {
        text.line(&dataset.name, &dataset.version.to_string());
    }
    text.hash()
}

/// Of a plan: everything besides the records and their benchmarks that decides what is published.
pub(crate) fn of_plan(
    allocation_year_start: YearStart,
    calendar_zone: &Zone,
    attribution: Attribution,
    grain: Grain,
    overlap: Option<Overlap>,
    tariffs: &[Arc<Tariff>],
) -> String {
    let mut text = Canonical::new("plan");
    let YearStart { month, day } = allocation_year_start;
    text.line("allocation_year_start", &format!("{month:02}-{day:02}"));
    text.line("calendar_zone", calendar_zone.name());
    text.line(
        "attribution",
        match attribution {
            // Lakes written when a clock that was not set spread a job over the time since 1970 are summed up again.
            Attribution::Prorated => "prorated over the time it ran",
            Attribution::ByEnd => "by-end",
        },
    );
    text.line(
        "grain",
        match grain {
            Grain::Month => "month",
            Grain::Day => "day",
        },
    );
    text.optional("overlap", overlap.map(Overlap::as_str));
    for tariff in tariffs {
        text.line("policy", &tariff.policy.text);
        text.line("options", &tariff.chosen);
    }
    if !tariffs.is_empty() {
        // Lakes written when a job that never ran could have an unknown charge are charged again.
        text.line("charging", "jobs that never ran cost nothing");
        // Lakes written when versions of a policy cut jobs into parts that did not add up are charged again.
        text.line("versions", "cut jobs alike");
        for dataset in ["job_charges", "charge_part", "charges"] {
            let version = crate::schema::dataset(dataset).map_or(0, |dataset| dataset.version);
            text.line(dataset, &version.to_string());
        }
    }
    text.hash()
}

/// Of the benchmarks of one site: everything that decides the factors of jobs that end between two instants, both
/// included; without a time, of jobs without one.
pub(crate) fn of_benchmarks(normalise: &NormalisePlan, site: &str, asked: Option<AskedSpan>) -> String {
    let mut text = Canonical::new("benchmarks");
    let order: Vec<&str> = normalise.order.iter().map(|level| level.as_str()).collect();
    text.line("order", &order.join(" "));
    match &normalise.missing {
        MissingBenchmark::Null => text.line("missing", "null"),
        MissingBenchmark::Reject => text.line("missing", "reject"),
        MissingBenchmark::Fallback {
            benchmark,
            value_e4_per_core,
        } => text.line(
            "missing.fallback",
            &format!("{} {value_e4_per_core}", benchmark.as_str()),
        ),
    }
    for (source, scaled_to) in &normalise.scaled {
        let (value, unscale) = (scaled_to.value_e4_per_core, scaled_to.unscale);
        let benchmark = scaled_to.benchmark.as_str();
        text.line("scaled_to", &format!("{source:?} {benchmark} {value} {unscale}"));
    }
    if let Some(asked) = asked {
        text.line("rows", &normalise.table.site(site).relevant(asked));
    }
    text.hash()
}

/// Of the tables of energy, for one site: everything that decides the energy and carbon of jobs that ran between two instants, both
/// included.
pub(crate) fn of_energy(energy: &EnergyPlan, site: &str, asked: Option<AskedSpan>) -> String {
    let mut text = Canonical::new("energy");
    text.line("rows", &energy.relevant(site, asked));
    // Lakes written when a job ran until its end, whatever its wall time, are rated again.
    text.line("run", "wall time and suspension from the start on");
    if energy.tables.nodes.is_some() {
        // Lakes written when carbon of nodes was rounded for each row of their table are rated again.
        text.line("embodied", "rounded once for all nodes of a job");
    }
    text.hash()
}
