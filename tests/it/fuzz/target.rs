//! What is fuzzed.

use gridtally::sources::sacct;
use std::io::{BufReader, Cursor};
use std::path::Path;

use gridtally::charge::page::page;
use gridtally::charge::policy::Policy;
use gridtally::config::Plan;
use gridtally::diagnostics::Problems;
use gridtally::inspect::InspectLook;
use gridtally::reference::benchmark::{AskedSpan, BenchmarkTable, NodeTable};
use gridtally::reference::correction::CorrectionTable;
use gridtally::reference::hostlist::{self, Hostlist};
use gridtally::reference::inventory::gpus::Gpus;
use gridtally::reference::inventory::tres::Tres;
use gridtally::reference::inventory::{quantity, weights};
use gridtally::reference::node_type::NodeTypeTable;
use gridtally::reference::site::SiteTable;
use gridtally::reference::site_rename::SiteRenames;
use gridtally::reference::topology::Topology;
use gridtally::reference::vo::VoTable;
use gridtally::reference::vo_corrections::VoCorrections;
use gridtally::report::apel::check;
use gridtally::report::publication::message_record::MessageRecord;
use gridtally::runtime::progress::Silent;
use gridtally::sources::input::InputFile;
use gridtally::sources::repair::Units;
use gridtally::sources::sacct::FixedOrder;
use gridtally::sources::{Format, registry};

use super::stream;
use crate::generator::rng::Rng;

/// One way into the program.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    /// A source, or an inventory, of a declared format (or `auto`), with inputs of a kind.
    Source(Format, &'static str),
    /// A dump without a header.
    Headerless(FixedOrder),
    /// `gridtally inspect`.
    Inspect,
    Repair,
    Hosts,
    Tables,
    Pipeline,
    /// A policy, its page and its examples.
    Policy,
    /// Messages as a publisher checks and compares them.
    Messages(&'static str),
}

/// Kinds of input that one dialect reads besides the one with its name.
const FURTHER: &[(&str, &str)] = &[
    ("sacct", "sacct json"),
    ("apel", "apel summaries"),
    ("apel", "apel sync"),
    ("apel", "apel xml"),
    ("apel", "apel json"),
    ("gracc", "gracc summaries"),
    ("gracc", "gratia xml"),
    ("htcondor", "htcondor json"),
];

/// Every target: each format as declared and as recognised.
pub(super) fn all() -> Vec<Target> {
    let mut all = Vec::new();
    let further = |&(word, kind): &(&str, &'static str)| (registry::named(word).unwrap(), kind);
    let kinds = registry::all().map(|dialect| (dialect, dialect.as_str()));
    for (dialect, kind) in kinds.chain(FURTHER.iter().map(further)) {
        let format = dialect.format();
        all.push(Target::Source(format, kind));
        let recognised = if format.is_inventory() {
            Format::AutoInventory
        } else {
            Format::Auto
        };
        if recognised != format {
            all.push(Target::Source(recognised, kind));
        }
    }
    for &(_, order) in FixedOrder::WORDS {
        all.push(Target::Headerless(order));
    }
    all.push(Target::Source(Format::Auto, "sacct headerless"));
    all.push(Target::Inspect);
    all.push(Target::Repair);
    all.push(Target::Hosts);
    all.push(Target::Tables);
    all.push(Target::Pipeline);
    all.push(Target::Policy);
    all.extend(["apel", "apel summaries", "apel sync"].map(Target::Messages));
    all
}

/// The kinds of input that targets take.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    all().into_iter().filter_map(Target::kind)
}

impl Target {
    /// The kind of input it understands; `None` for any.
    pub(super) fn kind(self) -> Option<&'static str> {
        match self {
            Self::Source(_, kind) | Self::Messages(kind) => Some(kind),
            Self::Headerless(_) => Some("sacct headerless"),
            Self::Inspect => None,
            Self::Repair => Some("repair"),
            Self::Hosts => Some("hosts"),
            Self::Tables => Some("table"),
            Self::Pipeline => Some("pipeline"),
            Self::Policy => Some("policy"),
        }
    }

    /// Does it, with `here` for files.
    pub(super) fn run(self, rng: &mut Rng, input: Vec<u8>, here: &Path) -> Result<(), String> {
        match self {
            Self::Source(format, _) => return stream::read(rng, input, format, None),
            Self::Headerless(order) => {
                return stream::read(rng, input, sacct::DIALECT.format(), Some(order));
            }
            Self::Inspect => {
                let path = here.join("input");
                std::fs::write(&path, &input).unwrap();
                let file = InputFile::local(&path, "input".to_owned()).unwrap();
                let look = match (rng.one_in(2), rng.one_in(2)) {
                    (true, _) => InspectLook::CrossCheck,
                    (_, true) => InspectLook::Quick,
                    _ => InspectLook::Usual,
                };
                if let Ok(report) = gridtally::inspect::inspect(&file, look, &Silent) {
                    drop(serde_json::to_string(&report).map_err(|why| why.to_string())?);
                }
            }
            Self::Repair => repair(input),
            Self::Hosts => return hosts(&String::from_utf8_lossy(&input)),
            Self::Tables => tables(&input),
            Self::Pipeline => {
                let path = here.join("p.toml");
                std::fs::write(&path, &input).unwrap();
                drop(Plan::load(&path));
            }
            Self::Policy => policy(&String::from_utf8_lossy(&input)),
            Self::Messages(_) => messages(&String::from_utf8_lossy(&input)),
        }
        Ok(())
    }
}

fn repair(input: Vec<u8>) {
    let Ok(mut units) = Units::open(Box::new(BufReader::new(Cursor::new(input)))) else {
        return;
    };
    while let Ok(Some(_)) = units.next_unit() {}
}

/// What is written back means the same hosts.
fn hosts(text: &str) -> Result<(), String> {
    drop(Tres::parse(text));
    drop(Gpus::of_gres(text));
    drop(weights::parse(text));
    let _ = (
        quantity::size(text, 1024),
        quantity::count(text),
        quantity::decimal(text, 4),
    );
    let Ok(list) = Hostlist::parse(text) else { return Ok(()) };
    if list.len() > 5000 {
        return Ok(());
    }
    let hosts: Vec<String> = list.hosts().map(std::borrow::Cow::into_owned).collect();
    if u64::try_from(hosts.len()).unwrap() != list.len() {
        return Err(format!("{} hosts of {}", hosts.len(), list.len()));
    }
    if hosts
        .iter()
        .any(|host| host.contains(|char: char| "[], \t\n".contains(char)))
    {
        return Ok(());
    }
    let written = hostlist::compress(&hosts);
    let Ok(again) = Hostlist::parse(&written) else {
        return Err(format!("{written:?} cannot be read again"));
    };
    if hosts.is_empty() || hostlist::is_none(&written) || again.hosts().eq(hosts.iter().map(String::as_str)) {
        Ok(())
    } else {
        Err(format!("{written:?} means other hosts"))
    }
}

/// Reads a table as one of the kinds; in the order of [`super::pool::TABLES`].
fn table(nth: usize, input: &[u8], problems: &mut Problems) {
    match nth {
        0 => {
            let table = BenchmarkTable::read(input, "t", Some(0), problems);
            drop(table.site("A").relevant(AskedSpan {
                first_ms: i64::MIN,
                last_ms: i64::MAX,
            }));
        }
        1 => drop(NodeTable::read(input, "t", problems)),
        2 => drop(VoTable::read(input, "t", problems).canonical()),
        3 => drop(SiteTable::read(input, "t", problems).canonical()),
        4 => drop(Topology::read(input, "t", problems).canonical()),
        5 => drop(CorrectionTable::read(input, "t", problems).signed()),
        6 => {
            let mut corrections = VoCorrections::default();
            corrections.read(input, "t", problems);
            drop(corrections.canonical());
        }
        7 => drop(NodeTypeTable::read(input, "t", problems)),
        _ => drop(SiteRenames::read(input, "t", problems)),
    }
}

fn tables(input: &[u8]) {
    for nth in 0..super::pool::TABLES.len() {
        let problems = &mut Problems::default();
        table(nth, input, problems);
        drop(std::mem::take(problems).finish());
    }
    let problems = &mut Problems::default();
    let nodes = NodeTable::read(input, "t", problems);
    drop(BenchmarkTable::read(input, "t", Some(0), problems).with_nodes(nodes));
}

/// Otherwise the fuzzer would not come further than to their headers.
#[test]
fn the_tables_that_are_mutated_are_sound() {
    for (nth, text) in super::pool::TABLES.iter().enumerate() {
        let mut problems = Problems::default();
        table(nth, text.as_bytes(), &mut problems);
        let reported = problems.finish();
        assert!(reported.is_ok(), "{text}: {reported:?}");
    }
}

fn policy(text: &str) {
    let problems = &mut Problems::default();
    let Some(policy) = Policy::read("p.toml", text, problems) else {
        return;
    };
    drop(page(&policy));
    drop(policy.test());
}

/// One message read twice gives the same rows.
fn messages(text: &str) {
    drop(check::message(text, Some(1_700_000_000)));
    for reported in MessageRecord::read(text).unwrap_or_default() {
        let _ = (
            reported.key(),
            reported.wall_s(),
            reported.cpu_s(),
            reported.work_s(),
            reported.job_n(),
            reported.month(),
        );
        drop(reported.retraction().text());
    }
}

#[test]
fn every_dialect_is_fuzzed() {
    let kinds: std::collections::BTreeSet<&str> = kinds().collect();
    for dialect in registry::all() {
        assert!(kinds.contains(dialect.as_str()), "{}", dialect.as_str());
    }
}
