//! The rows of a table of nodes that hold for a job.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use ahash::AHashMap;

use super::columns::NODE_ENERGY;
use super::node_row::NodeEnergyRow;
use crate::diagnostics::Problems;
use crate::reference::csv_table::CsvTable;
use crate::reference::hostlist::Hostlist;
use crate::reference::job_hosts::job_hosts;

/// Most names one row may mean.
const ROW_NODES: u64 = 100_000;

/// Where and when a job ran, in the words of its record.
#[derive(Clone, Copy, Debug)]
pub struct NodePlace<'a> {
    /// Site.
    pub site: &'a str,
    /// Cluster.
    pub cluster: Option<&'a str>,
    /// Partition.
    pub partition: Option<&'a str>,
    /// Its nodes, as listed.
    pub node_list: Option<&'a str>,
    /// Unix milliseconds.
    pub at_ms: i64,
}

/// Nodes of a job that are of one row.
#[derive(Clone, Copy, Debug)]
pub struct NodesOfRow<'a> {
    /// The row.
    pub row: &'a NodeEnergyRow,
    /// How many nodes of the job are of it; `None` where the row holds for all of them and their number is not listed.
    pub node_n: Option<i64>,
}

/// The rows of `nodes` of `[energy]`. Of the rows that hold for a node the closest counts: nodes, partition, cluster, site; of
/// rows that are as close and hold at once the one recorded last.
#[derive(Clone, Debug, Default)]
pub struct NodeEnergyTable {
    /// The closest first, of equal ones the one recorded last.
    rows: Vec<NodeEnergyRow>,
    /// Rows that name a node, by its name.
    named: AHashMap<String, Vec<usize>>,
}

impl NodeEnergyTable {
    /// Reads a table; `file` is its name in reported mistakes. Rows with a mistake are left out, and so are rows recorded after
    /// `known_on_ms`.
    #[must_use]
    pub fn read(text: &[u8], file: &str, known_on_ms: Option<i64>, problems: &mut Problems) -> Self {
        let csv = CsvTable::read(text, file, problems);
        if !csv.has_header(NODE_ENERGY, file, problems) {
            return Self::default();
        }
        let mut rows = Vec::new();
        for (line, cells) in &csv.rows {
            match NodeEnergyRow::read(*line, &|name: &str| csv.cell(cells, name)) {
                Ok(row) => rows.push(row),
                Err(why) => problems.mistake(file, *line, why),
            }
        }
        rows.retain(|row| known_on_ms.is_none_or(|day| row.span.learnt_at <= day));
        rows.sort_by_key(|row| (std::cmp::Reverse((row.closeness(), row.span.learnt_at)), row.line));
        let mut table = Self {
            rows,
            named: AHashMap::default(),
        };
        table.name_nodes(file, problems);
        table.report_overlaps(file, problems);
        table
    }

    fn name_nodes(&mut self, file: &str, problems: &mut Problems) {
        for (at, row) in self.rows.iter().enumerate() {
            let Some(pattern) = &row.nodes else { continue };
            match Hostlist::parse_within(pattern, ROW_NODES) {
                Ok(list) => {
                    for host in list.hosts().map(Cow::into_owned) {
                        let places = self.named.entry(host).or_default();
                        // A list may name a node twice.
                        if places.last() != Some(&at) {
                            places.push(at);
                        }
                    }
                }
                Err(why) => problems.mistake(file, row.line, format!("nodes: {why}")),
            }
        }
    }

    /// Two rows of one scope that were recorded at once, or of one node, hold at once.
    fn report_overlaps(&self, file: &str, problems: &mut Problems) {
        let is_clash = |a: &NodeEnergyRow, b: &NodeEnergyRow| {
            (&a.site, &a.cluster, &a.partition) == (&b.site, &b.cluster, &b.partition)
                && a.nodes.is_some() == b.nodes.is_some()
                && a.span.learnt_at == b.span.learnt_at
                && a.span.from_ms < b.span.until_ms
                && b.span.from_ms < a.span.until_ms
        };
        let mut clashes: Vec<(usize, usize)> = Vec::new();
        let mut compare = |places: &[usize]| {
            for (nth, place) in places.iter().enumerate() {
                for other in places.iter().take(nth) {
                    if let (Some(a), Some(b)) = (self.rows.get(*place), self.rows.get(*other))
                        && is_clash(a, b)
                    {
                        clashes.push((a.line.max(b.line), a.line.min(b.line)));
                    }
                }
            }
        };
        let wide: Vec<usize> = (0..)
            .zip(&self.rows)
            .filter(|(_, row)| row.nodes.is_none())
            .map(|(at, _)| at)
            .collect();
        compare(&wide);
        self.named.values().for_each(|places| compare(places));
        clashes.sort_unstable();
        clashes.dedup();
        for (second, first) in clashes {
            let message = format!("line {second} overlaps line {first}: both describe the same nodes at the same time");
            problems.mistake(file, second, message);
        }
    }

    /// Whether rows of a site name nodes, so that the nodes of a job make a difference.
    #[must_use]
    pub fn names_nodes(&self, site: &str) -> bool {
        self.of_site(site).any(|row| row.nodes.is_some())
    }

    /// The sites of rows; `None` is any.
    #[must_use]
    pub fn sites(&self) -> BTreeSet<Option<&str>> {
        self.rows.iter().map(|row| row.site.as_deref()).collect()
    }

    /// Whether it has no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn of_site(&self, site: &str) -> impl Iterator<Item = &NodeEnergyRow> {
        self.rows
            .iter()
            .filter(move |row| row.site.as_deref().is_none_or(|of| of == site))
    }

    /// Instants at which something of a site changes, in order.
    #[must_use]
    pub fn boundaries(&self, site: &str) -> Vec<i64> {
        let mut edges: Vec<i64> = self
            .of_site(site)
            .flat_map(|row| [row.span.from_ms, row.span.until_ms])
            .collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// The rows of the nodes of a job, with how many nodes each has; none where a node has no row.
    #[must_use]
    pub fn rows_of(&self, place: &NodePlace<'_>) -> Vec<NodesOfRow<'_>> {
        let hosts = place.node_list.filter(|_| self.names_nodes(place.site)).map(job_hosts);
        let Some(hosts) = hosts.filter(|hosts| !hosts.is_empty()) else {
            let row = self.rows.iter().find(|row| row.nodes.is_none() && holds(row, place));
            return row.map(|row| NodesOfRow { row, node_n: None }).into_iter().collect();
        };
        let mut found: Vec<NodesOfRow<'_>> = Vec::new();
        for host in &hosts {
            let by_name = crate::absent::list(named(&self.named, &host.name));
            let row = (self.rows.iter().enumerate())
                .find(|(at, row)| (row.nodes.is_none() || by_name.contains(at)) && holds(row, place))
                .map(|(_, row)| row);
            let Some(row) = row else { return Vec::new() };
            match found.iter_mut().find(|of| of.row.line == row.line) {
                Some(of) => of.node_n = of.node_n.map(|n| n + 1),
                None => found.push(NodesOfRow { row, node_n: Some(1) }),
            }
        }
        found.sort_by_key(|of| of.row.line);
        found
    }

    /// What of it decides figures of a site between two instants (Unix milliseconds): equal texts, equal figures.
    #[must_use]
    pub fn relevant(&self, site: &str, from_ms: i64, until_ms: i64) -> String {
        let mut text = String::new();
        for row in self.of_site(site) {
            let span = &row.span;
            if span.from_ms > until_ms || span.until_ms <= from_ms {
                continue;
            }
            let (from, until) = (span.from_ms.max(from_ms), span.until_ms.min(until_ms));
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{from} {until} {}", row.content());
        }
        text
    }
}

fn holds(row: &NodeEnergyRow, place: &NodePlace<'_>) -> bool {
    let is_of = |own: &Option<String>, of: Option<&str>| own.is_none() || own.as_deref() == of;
    is_of(&row.site, Some(place.site))
        && is_of(&row.cluster, place.cluster)
        && is_of(&row.partition, place.partition)
        && (row.span.from_ms..row.span.until_ms).contains(&place.at_ms)
}

/// What is known under the name of a host, or under its name without the domain.
fn named<'m>(of: &'m AHashMap<String, Vec<usize>>, host: &str) -> Option<&'m Vec<usize>> {
    of.get(host)
        .or_else(|| host.split_once('.').and_then(|(short, _)| of.get(short)))
}
