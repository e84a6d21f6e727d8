//! Dated benchmark values per site and scope, as known now or on a day in the past.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use ahash::AHashMap;

use super::kind::Benchmark;
use super::lint;
use super::node_cores;
use super::nodes::{NodeTable, hosts};
use super::row::BenchmarkRow;
use super::scope::{BenchmarkLevel, BenchmarkOrigin, BenchmarkScope};
use super::site::SiteBenchmarks;
use super::timeline::{Timeline, TimelineSpan};
use crate::diagnostics::Problems;
use crate::reference::csv_table::{self, CsvTable};
use crate::reference::table_columns::{BENCHMARK_VALUES, BENCHMARKS};

/// The values of one scope.
#[derive(Clone, Debug)]
pub(super) struct BenchmarkEntry {
    pub(super) scope: BenchmarkScope,
    pub(super) level: BenchmarkLevel,
    pub(super) origin: BenchmarkOrigin,
    /// In the order of [`Benchmark::ALL`].
    pub(super) timelines: [Timeline; 3],
}

impl BenchmarkEntry {
    pub(super) fn at(&self, kind: Benchmark, at_ms: i64) -> Option<&TimelineSpan> {
        self.timelines.get(kind.place())?.at(at_ms)
    }
}

/// The scopes of one site, or of any site.
#[derive(Clone, Debug, Default)]
pub(super) struct BenchmarkPart {
    /// The closest first.
    pub(super) entries: Vec<BenchmarkEntry>,
    /// Entries that name a node, by its name.
    pub(super) nodes: AHashMap<String, Vec<usize>>,
}

/// The rows of `benchmarks.csv`. At least `site,benchmark,value_per_core,valid_from,valid_to`.
///
/// * `site`, and the scope in any of `cluster`, `submit_host`, `partition`, `node_class` and `nodes` (a list of hosts
///   as Slurm writes them): empty or `*` means any.
/// * One value: `value_per_core`, as the jobs count cores; or `value_per_cpu`, of a logical CPU, with `cpus_per_core`
///   when a job's core is several; or `value_per_system` with `cores`, shared evenly and rounded half up to four
///   decimals.
/// * `valid_from` is included, `valid_to` is not, an empty one is open. Days are `YYYY-MM-DD`, midnight UTC.
/// * `recorded_at`: when it was learnt. Of rows of one scope that hold at once the one recorded last counts.
/// * `cores`: of a node; weighs the nodes of a job that ran on several. Without them the mean of different values is
///   unknown.
/// * `source` is for people. `accept` holds the words `range` and `jump` for values that look wrong and are right.
///
/// Of the rows that hold for a job those of its site come before those of any site, then the closest one counts: nodes,
/// node class, partition, CE, cluster, site.
#[derive(Clone, Debug, Default)]
pub struct BenchmarkTable {
    pub(super) sites: BTreeMap<String, BenchmarkPart>,
    pub(super) anywhere: BenchmarkPart,
    pub(super) nodes: NodeTable,
}

impl BenchmarkTable {
    /// Reads the table at `path`; `file` is its name in reported mistakes. Rows with a mistake are left out, and so
    /// are rows recorded after `known_on_ms`.
    pub fn load(path: &Path, file: &str, known_on_ms: Option<i64>, problems: &mut Problems) -> Self {
        let input = csv_table::open(path, file, problems);
        input.map_or_else(Self::default, |input| Self::read(input, file, known_on_ms, problems))
    }

    /// Reads a table; see [`Self::load`].
    pub fn read(input: impl Read, file: &str, known_on_ms: Option<i64>, problems: &mut Problems) -> Self {
        let csv = CsvTable::read(input, file, problems);
        let is_complete = csv.has_header(BENCHMARKS, file, problems);
        if !BENCHMARK_VALUES
            .iter()
            .any(|name| csv.columns.iter().any(|column| column == name))
        {
            problems.mistake(file, csv.header_line, "the header has no column \"value_per_core\"");
            return Self::default();
        }
        if !is_complete {
            return Self::default();
        }
        let mut rows = Vec::new();
        for (line, cells) in &csv.rows {
            match BenchmarkRow::read(*line, |name| csv.cell(cells, name)) {
                Ok(row) => rows.push(row),
                Err(mistakes) => (mistakes.into_iter()).for_each(|mistake| problems.mistake(file, *line, mistake)),
            }
        }
        lint::ranges(&rows, file, problems);
        // What is wrong is wrong on any day: only what counts is cut.
        rows.retain(|row| known_on_ms.is_none_or(|day| row.span.recorded_ms <= day));
        Self::of_rows(rows, file, problems)
    }

    /// With the classes and cores of nodes.
    #[must_use]
    pub fn with_nodes(mut self, nodes: NodeTable) -> Self {
        self.nodes = nodes;
        self
    }

    /// Reports rows of nodes whose cores neither they nor the table of nodes states, where a mean needs them; `file` is the
    /// name of the table.
    pub fn check_cores(&self, file: &str, problems: &mut Problems) {
        node_cores::check(self, file, problems);
    }

    fn of_rows(rows: Vec<BenchmarkRow>, file: &str, problems: &mut Problems) -> Self {
        let mut sites: BTreeMap<Option<String>, BTreeMap<BenchmarkScope, [Vec<TimelineSpan>; 3]>> = BTreeMap::new();
        for row in rows {
            let spans = sites.entry(row.site).or_default().entry(row.scope).or_default();
            if let Some(spans) = spans.get_mut(row.kind.place()) {
                spans.push(row.span);
            }
        }
        let mut table = Self::default();
        for (site, scopes) in sites {
            let mut part = BenchmarkPart::default();
            for (scope, spans) in scopes {
                let mut kinds = Benchmark::ALL.into_iter();
                let timelines = spans.map(|spans| {
                    let (timeline, clashes) = Timeline::new(spans);
                    let kind = kinds.next().map_or("", Benchmark::as_str);
                    for (first, second) in clashes {
                        let message = format!(
                            "line {second} overlaps line {first}: two {kind} values of one site and cluster hold at once"
                        );
                        problems.mistake(file, second, message);
                    }
                    timeline
                });
                part.entries.push(BenchmarkEntry {
                    level: scope.level(),
                    origin: scope.origin(site.is_none()),
                    scope,
                    timelines,
                });
            }
            part.entries
                .sort_by_key(|entry| std::cmp::Reverse(entry.scope.closeness()));
            part.place_nodes(file, problems);
            match site {
                Some(site) => {
                    table.sites.insert(site, part);
                }
                None => table.anywhere = part,
            }
        }
        lint::series(&table, file, problems);
        table
    }

    /// The kinds the table names, in their own order.
    #[must_use]
    pub fn kinds(&self) -> Vec<Benchmark> {
        let has = |kind: &Benchmark| {
            let mut timelines = self.parts().flat_map(|(_, part)| &part.entries).filter_map(|entry| {
                let timeline: Option<&Timeline> = entry.timelines.get(kind.place());
                timeline
            });
            timelines.any(|timeline| !timeline.spans().is_empty())
        };
        Benchmark::ALL.into_iter().filter(has).collect()
    }

    /// The part for any site, then every site's.
    pub(super) fn parts(&self) -> impl Iterator<Item = (Option<&str>, &BenchmarkPart)> {
        let sites = self.sites.iter().map(|(site, part)| (Some(site.as_str()), part));
        std::iter::once((None, &self.anywhere)).chain(sites)
    }

    /// Its rows for one site.
    #[must_use]
    pub fn site<'a>(&'a self, site: &'a str) -> SiteBenchmarks<'a> {
        SiteBenchmarks::new(self, site)
    }

    /// The line of a row that scales nodes, of a site or (without one) of any, in one kind.
    #[must_use]
    pub fn node_row(&self, site: Option<&str>, kind: Benchmark) -> Option<usize> {
        let parts = self.parts().filter(|(of, _)| match (of, site) {
            (Some(of), Some(site)) => *of == site,
            _ => true,
        });
        let entries = parts
            .flat_map(|(_, part)| &part.entries)
            .filter(|entry| entry.level == BenchmarkLevel::Node);
        let spans = entries
            .filter_map(|entry| entry.timelines.get(kind.place()))
            .flat_map(|timeline: &Timeline| timeline.spans());
        spans.map(|span| span.line).min()
    }

    /// The steps of an order that rows of the table belong to.
    #[must_use]
    pub fn levels(&self) -> Vec<BenchmarkLevel> {
        let mut levels: Vec<BenchmarkLevel> = (self.parts().flat_map(|(_, part)| &part.entries))
            .map(|entry| entry.level)
            .collect();
        levels.sort_unstable();
        levels.dedup();
        levels
    }
}

impl BenchmarkPart {
    /// Notes which entries name which nodes, and reports nodes that two rows of the same rank name at the same time.
    fn place_nodes(&mut self, file: &str, problems: &mut Problems) {
        let mut reported = Vec::new();
        for (at, entry) in self.entries.iter().enumerate() {
            let Some(pattern) = &entry.scope.nodes else { continue };
            let line = entry
                .timelines
                .iter()
                .flat_map(Timeline::spans)
                .map(|span| span.line)
                .min();
            match hosts(pattern) {
                Ok(hosts) => {
                    for host in hosts {
                        let others = self.nodes.entry(host).or_default();
                        for other in others.iter().filter_map(|other| self.entries.get(*other)) {
                            let is_alike = |a: &BenchmarkScope, b: &BenchmarkScope| {
                                (&a.cluster, &a.submit_host, &a.partition, &a.node_class)
                                    == (&b.cluster, &b.submit_host, &b.partition, &b.node_class)
                            };
                            if is_alike(&entry.scope, &other.scope) {
                                reported.extend(clash(entry, other));
                            }
                        }
                        others.push(at);
                    }
                }
                // Fallback: a row without a line is a mistake of the file as a whole.
                Err(why) => problems.mistake(file, line.unwrap_or(0), why),
            }
        }
        reported.sort_unstable();
        reported.dedup();
        for (first, second) in reported {
            let message = format!("line {second} overlaps line {first}: both name one node, and hold at once");
            problems.mistake(file, second, message);
        }
    }
}

/// The lines of spans of one kind that hold at once.
fn clash(a: &BenchmarkEntry, b: &BenchmarkEntry) -> Option<(usize, usize)> {
    a.timelines.iter().zip(&b.timelines).find_map(|(a, b)| {
        a.spans().iter().find_map(|a| {
            let other = b
                .spans()
                .iter()
                .find(|b| a.from_ms < b.until_ms && b.from_ms < a.until_ms)?;
            Some((a.line.min(other.line), a.line.max(other.line)))
        })
    })
}
