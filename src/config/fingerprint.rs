//! The canonical text of what decides bytes, and its hash.

use std::fmt::Write as _;
use std::sync::Arc;

use super::as_of::AsOf;
use super::plan::Overlap;
use super::source_plan::SourcePlan;
use crate::charge::Tariff;
use crate::dedupe::summary::publishing::{Replacement, SummaryParts, SummaryPublication};
use crate::normalise::plan::{MissingBenchmark, NormalisePlan};
use crate::privacy::{Field, Privacy};
use crate::record::infrastructure::StatedInfrastructure;
use crate::reference::benchmark::AskedSpan;
use crate::reference::first_match::MatchColumn;
use crate::reference::inventory::DATASETS;
use crate::reference::vo_rule::VoRule;
use crate::sources::apel::acceptance::Acceptance;
use crate::sources::dialect::SourceOption;
use crate::sources::registry;
use crate::sources::sacct::FixedOrder;
use crate::summarise::attribution::Attribution;
use crate::time::grain::Grain;
use crate::time::{YearStart, Zone};

/// Bumped when the meaning of the canonical text changes.
const VERSION: &str = "1";

/// Key and value lines. Values are quoted, so that no two contents give the same text.
struct Canonical(String);

impl Canonical {
    fn new(what: &str) -> Self {
        Self(format!("{what} {VERSION}\n"))
    }

    fn line(&mut self, key: &str, value: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{key} = {value:?}");
    }

    fn optional(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.line(key, value);
        }
    }

    fn hash(self) -> String {
        blake3::hash(self.0.as_bytes()).to_hex().to_string()
    }
}

/// Of a source: everything that decides its records. Not where its files lie, nor how many rejects are tolerated.
pub(crate) fn of_source(source: &SourcePlan, privacy: Option<&Privacy>) -> String {
    let mut text = Canonical::new("source");
    text.line("name", &source.name);
    text.line("format", source.reader.format.as_str());
    text.optional("site", source.intake.site.as_deref());
    text.optional("site.rule", source.intake.site_rule.canonical().as_deref());
    text.optional("cluster", source.intake.cluster.as_deref());
    let infrastructure = source.intake.infrastructure.map(StatedInfrastructure::as_str);
    text.optional("infrastructure", infrastructure);
    text.optional("zone", source.reader.zone.as_ref().map(Zone::name));
    text.optional("delimiter", source.reader.delimiter.as_deref());
    text.optional("layout", source.reader.layout.map(FixedOrder::as_str));
    match &source.intake.vo {
        VoRule::Record => text.line("vo", "record"),
        VoRule::Column(column) => text.line("vo.column", column.as_str()),
        VoRule::Table(table) => text.line("vo.table", &table.canonical()),
        VoRule::Corrections(corrections) => text.line("vo.corrections", &corrections.canonical()),
        VoRule::Value(vo) => text.line("vo.value", vo),
    }
    let format = source.reader.format;
    for dialect in registry::declarable().filter(|dialect| format.dialect().is_none_or(|own| own == *dialect)) {
        for (key, rule) in dialect.row().fingerprint {
            text.line(key, rule);
        }
    }
    if !source.blah.is_empty() {
        // Which logs there are is found out run by run; that jobs are completed from some is a setting.
        text.line("blah", "joined");
    }
    if let Some(second) = source.reader.unix_start_time {
        text.line("unix_start_time", &second.to_string());
    }
    if source.reader.is_start_submit {
        text.line("start_from", "submit");
    }
    if let Some(scaled_to) = &source.intake.scaled_to {
        // To what is a matter of benchmarks: records hold the times as they are logged.
        text.line(
            "scaled",
            &format!("cpu {} wall {}", scaled_to.is_cpu, scaled_to.is_wall),
        );
    }
    if format.may_use(SourceOption::Acceptance) {
        text.line(
            "acceptance",
            match source.reader.acceptance {
                Acceptance::StrictApel => "strict-apel",
                Acceptance::Salvage => "salvage",
            },
        );
    }
    if source.publishing.replacement == Replacement::Snapshot {
        text.line("summaries", "snapshot");
    }
    text.optional(
        "publication",
        source.publishing.publication.map(|publication| match publication {
            SummaryPublication::Source => "source",
            SummaryPublication::Site => "site",
        }),
    );
    match source.publishing.parts {
        SummaryParts::File => {}
        SummaryParts::Folder => text.line("publication_parts", "folder"),
        SummaryParts::Within { pause_ms } => text.line("publication_parts", &format!("within {pause_ms} ms")),
    }
    text.optional("privacy", privacy.map(Privacy::canonical).as_deref());
    text.hash()
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
    for dataset in DATASETS {
        let version = crate::schema::dataset(dataset).map_or(0, |dataset| dataset.version);
        text.line(dataset, &version.to_string());
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
            Attribution::Prorated => "prorated",
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
        // Lakes from when a job that never ran could have an unknown charge are charged anew.
        text.line("charging", "jobs that never ran cost nothing");
        for dataset in ["job_charges", "charge_part", "charges"] {
            let version = crate::schema::dataset(dataset).map_or(0, |dataset| dataset.version);
            text.line(dataset, &version.to_string());
        }
    }
    text.hash()
}

/// Of the benchmarks of one site: everything that decides the factors of jobs that end between two instants, both
/// included; without a time, of jobs that ask for none.
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
