//! What the table needs to know of nodes: their class, and how many cores each weighs.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;

use ahash::AHashMap;

use super::asked_span::AskedSpan;
use super::row::{count, day_ms};
use crate::diagnostics::Problems;
use crate::reference::csv_table::{self, CsvTable, is_any};
use crate::reference::hostlist::Hostlist;
use crate::reference::table_columns::BENCHMARK_NODES;

/// Most names one row may mean.
pub(super) const ROW_NODES: u64 = 100_000;

/// What is known of one node for some time.
#[derive(Clone, Debug, PartialEq, Eq)]
struct BenchmarkKnown {
    cluster: Option<String>,
    class: Option<String>,
    core_n: Option<i64>,
    from_ms: i64,
    until_ms: i64,
    line: usize,
}

/// The rows of `nodes.csv`: `site,cluster,nodes,node_class,cores,valid_from,valid_to`. Nodes are written as Slurm
/// writes lists of hosts; an empty or `*` site or cluster means any.
#[derive(Clone, Debug, Default)]
pub struct NodeTable {
    /// By site (empty for any) and node.
    nodes: AHashMap<String, AHashMap<String, Vec<BenchmarkKnown>>>,
    /// Site, nodes as they are written, and what is known of them.
    rows: Vec<(String, String, BenchmarkKnown)>,
}

impl NodeTable {
    /// Reads the table at `path`; `file` is its name in reported mistakes. Rows with a mistake are left out.
    pub fn load(path: &Path, file: &str, problems: &mut Problems) -> Self {
        let input = csv_table::open(path, file, problems);
        input.map_or_else(Self::default, |input| Self::read(input, file, problems))
    }

    /// Reads a table; see [`Self::load`].
    pub fn read(input: impl Read, file: &str, problems: &mut Problems) -> Self {
        let csv = CsvTable::read(input, file, problems);
        let mut table = Self::default();
        if !csv.has_header(BENCHMARK_NODES, file, problems) {
            return table;
        }
        for (line, cells) in &csv.rows {
            let cell = |name: &str| csv.cell(cells, name);
            if let Err(why) = table.add(*line, cell) {
                problems.mistake(file, *line, why);
            }
        }
        table
    }

    fn add<'c>(&mut self, line: usize, cell: impl Fn(&str) -> &'c str) -> Result<(), String> {
        let text = |column: &str| Some(cell(column)).filter(|text| !is_any(text)).map(str::to_owned);
        let known = BenchmarkKnown {
            cluster: text("cluster"),
            class: text("node_class"),
            core_n: count(cell("cores")).map_err(|why| format!("cores: {why}"))?,
            from_ms: day_ms(cell("valid_from"), i64::MIN).map_err(|why| format!("valid_from: {why}"))?,
            until_ms: day_ms(cell("valid_to"), i64::MAX).map_err(|why| format!("valid_to: {why}"))?,
            line,
        };
        if known.until_ms <= known.from_ms {
            let (to, from) = (cell("valid_to"), cell("valid_from"));
            return Err(format!("valid_to {to} is not after valid_from {from}"));
        }
        if known.class.is_none() && known.core_n.is_none() {
            return Err("contains neither node_class nor cores".to_owned());
        }
        // Fallback: a row without a site is kept under the empty name.
        let site = text("site").unwrap_or_default();
        self.rows.push((site.clone(), cell("nodes").to_owned(), known.clone()));
        let of_site = self.nodes.entry(site).or_default();
        for host in hosts(cell("nodes"))? {
            let reported = of_site.entry(host).or_default();
            let clash = reported.iter().find(|other| {
                other.cluster == known.cluster && other.from_ms < known.until_ms && known.from_ms < other.until_ms
            });
            if let Some(other) = clash {
                return Err(format!(
                    "line {line} overlaps line {}: both describe one node at the same time",
                    other.line
                ));
            }
            reported.push(known.clone());
        }
        Ok(())
    }

    fn known(&self, site: &str, cluster: Option<&str>, host: &str, at_ms: i64) -> Option<&BenchmarkKnown> {
        ["", site].iter().rev().find_map(|site| {
            let reported = named(self.nodes.get(*site)?, host)?;
            let holds = |known: &&BenchmarkKnown| known.from_ms <= at_ms && at_ms < known.until_ms;
            let of = |wanted: Option<&str>| {
                reported
                    .iter()
                    .filter(holds)
                    .find(|known| known.cluster.as_deref() == wanted)
            };
            cluster.and_then(|cluster| of(Some(cluster))).or_else(|| of(None))
        })
    }

    /// Class of a node.
    pub(super) fn class(&self, site: &str, cluster: Option<&str>, host: &str, at_ms: i64) -> Option<&str> {
        self.known(site, cluster, host, at_ms)?.class.as_deref()
    }

    /// Cores of a node.
    pub(super) fn core_n(&self, site: &str, cluster: Option<&str>, host: &str, at_ms: i64) -> Option<i64> {
        self.known(site, cluster, host, at_ms)?.core_n
    }

    /// Whether a row states the cores of a node of a site, or of any.
    pub(super) fn states_cores(&self, site: Option<&str>, host: &str) -> bool {
        let of_sites = self.nodes.iter().filter(|(of, _)| is_of(of, site));
        let mut known = of_sites.filter_map(|(_, of_site)| named(of_site, host)).flatten();
        known.any(|known| known.core_n.is_some())
    }

    /// Whether all rows of a class of a site, or of any, state cores.
    pub(super) fn states_cores_of_class(&self, site: Option<&str>, class: &str) -> bool {
        let mut rows = self.rows.iter();
        rows.all(|(of, _, known)| !is_of(of, site) || known.class.as_deref() != Some(class) || known.core_n.is_some())
    }

    fn of_site(&self, site: &str) -> impl Iterator<Item = (&str, &BenchmarkKnown)> {
        let of_site = self.rows.iter().filter(move |(of, ..)| of.is_empty() || of == site);
        of_site.map(|(_, nodes, known)| (nodes.as_str(), known))
    }

    /// The instants at which something of a site changes.
    pub(super) fn boundaries(&self, site: &str, into: &mut Vec<i64>) {
        for (_, known) in self.of_site(site) {
            into.extend([known.from_ms, known.until_ms]);
        }
    }

    /// Its rows of a site that concern the looked-up nodes and times, a line each, in no order.
    pub(super) fn relevant(&self, site: &str, asked: AskedSpan, into: &mut Vec<String>) {
        let (from_ms, until_ms) = (asked.first_ms, asked.last_ms);
        for (nodes, known) in self.of_site(site) {
            if known.from_ms > until_ms || known.until_ms <= from_ms {
                continue;
            }
            let (from, until) = (known.from_ms.max(from_ms), known.until_ms.min(until_ms));
            let mut line = String::new();
            // Writing to a string cannot fail.
            let _ = write!(
                line,
                "nodes {nodes:?} {:?} {:?} {:?} {from} {until}",
                known.cluster, known.class, known.core_n
            );
            into.push(line);
        }
    }
}

/// Whether a row of one site, which is any where it is empty, holds for another; without one for any.
fn is_of(of: &str, site: Option<&str>) -> bool {
    of.is_empty() || site.is_none_or(|site| of == site)
}

/// What is known under the name of a host, or under its name without the domain.
pub(super) fn named<'m, T>(of: &'m AHashMap<String, T>, host: &str) -> Option<&'m T> {
    of.get(host)
        .or_else(|| host.split_once('.').and_then(|(short, _)| of.get(short)))
}

/// The hosts of a pattern.
pub(super) fn hosts(pattern: &str) -> Result<Vec<String>, String> {
    let list = Hostlist::parse_within(pattern, ROW_NODES).map_err(|why| format!("nodes: {why}"))?;
    if list.is_empty() {
        return Err("nodes: names no node".to_owned());
    }
    let mut hosts: Vec<String> = list.hosts().map(Cow::into_owned).collect();
    hosts.sort_unstable();
    hosts.dedup();
    Ok(hosts)
}
