//! Dated lists of worker nodes by type: how many there are, what is in one, how strong it is.

use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;

use super::benchmark::Benchmark;
use super::csv_table::{self, CsvTable, is_any};
use super::decimal::ten_thousandths;
use super::table_columns::NODE_TYPES;
use crate::diagnostics::{Problems, did_you_mean};
use crate::hive::check_value;
use crate::time::Day;
use crate::time::month::{date_of, day_of};

/// The most nodes, and the most CPUs of one, that are plausible.
const LIMIT: i64 = 100_000_000;

/// One type of node at one site while it does not change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeType {
    /// Site.
    pub site: String,
    /// Cluster; `None` when the site does not state it.
    pub cluster: Option<String>,
    /// What the site calls the type.
    pub name: String,
    /// First day it was there, from midnight UTC; `None` is always.
    pub from: Option<Day>,
    /// First day it was not there any more, from midnight UTC; `None` is open.
    pub until: Option<Day>,
    /// Nodes.
    pub node_n: i64,
    /// Physical CPUs (chips) of one node.
    pub physical_cpu_n: i64,
    /// Logical CPUs of one node: what the batch system counts as cores.
    pub logical_cpu_n: i64,
    /// Job slots of one node.
    pub slot_n: i64,
    /// What `per_node_e4` was measured with.
    pub benchmark: Benchmark,
    /// Score of a whole node in ten-thousandths.
    pub per_node_e4: i64,
    /// The factor by which the node multiplies CPU time before it records it (`$cpumult`), in ten-thousandths.
    pub cpumult_e4: Option<i64>,
    /// The same of wall time (`$wallmult`).
    pub wallmult_e4: Option<i64>,
    /// Line of the table.
    pub line: usize,
}

impl NodeType {
    /// Whether it was there on a day.
    #[must_use]
    pub fn is_there(&self, day: Day) -> bool {
        self.from.is_none_or(|from| from <= day) && self.until.is_none_or(|until| day < until)
    }

    fn scope(&self) -> (&str, Option<&str>, &str) {
        (&self.site, self.cluster.as_deref(), &self.name)
    }
}

/// The rows of a table of nodes, in their order.
///
/// Columns: `site`, `node_type`, `node_n`, `physical_cpu_n` and `logical_cpu_n` (of one node), `benchmark`, one of
/// `value_per_core` (of a logical CPU) and `value_per_node`, and as wanted `cluster`, `slot_n` (job slots of one node;
/// default as many as logical CPUs), `cpumult` and `wallmult` (what the node multiplies its times by), `valid_from` and
/// `valid_to` (days, midnight UTC; the first is included, the second is not, an empty one is open).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeTypeTable {
    /// Every row without a mistake.
    pub rows: Vec<NodeType>,
}

impl NodeTypeTable {
    /// Reads the table at `path`; `file` is its name in reported mistakes. Rows with a mistake are left out.
    pub fn load(path: &Path, file: &str, problems: &mut Problems) -> Self {
        let input = csv_table::open(path, file, problems);
        input.map_or_else(Self::default, |input| Self::read(input, file, problems))
    }

    /// Reads a table; see [`Self::load`].
    pub fn read(input: impl Read, file: &str, problems: &mut Problems) -> Self {
        let csv = CsvTable::read(input, file, problems);
        let mut table = Self::default();
        if !csv.has_header(NODE_TYPES, file, problems) {
            return table;
        }
        for (line, cells) in &csv.rows {
            let cell = |name: &str| {
                let place = csv.columns.iter().position(|column| column == name);
                place.and_then(|place| cells.get(place)).map_or("", String::as_str)
            };
            let mut wrongs = Vec::new();
            let row = parse(*line, &cell, &mut wrongs);
            for wrong in &wrongs {
                problems.mistake(file, *line, wrong.as_str());
            }
            table.rows.extend(row.filter(|_| wrongs.is_empty()));
        }
        table.report_overlaps(file, problems);
        table
    }

    /// Two rows of one type at once would count its nodes twice.
    fn report_overlaps(&self, file: &str, problems: &mut Problems) {
        let mut rows: Vec<&NodeType> = self.rows.iter().collect();
        rows.sort_by_key(|row| (row.scope(), row.from, row.line));
        let mut furthest: Option<&NodeType> = None;
        for row in rows {
            let earlier = furthest.filter(|earlier| earlier.scope() == row.scope());
            if let Some(earlier) = earlier.filter(|earlier| earlier.until.is_none_or(|until| row.from < Some(until))) {
                let (first, second) = (earlier.line.min(row.line), earlier.line.max(row.line));
                let message = format!(
                    "line {second} overlaps line {first}: nodes of the type \"{}\" would count twice",
                    row.name
                );
                problems.mistake(file, second, message);
            }
            let is_further = |earlier: &NodeType| match (earlier.until, row.until) {
                (None, _) => false,
                (_, None) => true,
                (Some(earlier), Some(until)) => until > earlier,
            };
            if earlier.is_none_or(is_further) {
                furthest = Some(row);
            }
        }
    }

    /// The content of the table, independent of the order and spelling of its rows.
    #[must_use]
    pub fn canonical(&self) -> String {
        let mut rows: Vec<NodeType> = self.rows.clone();
        for row in &mut rows {
            row.line = 0;
        }
        rows.sort();
        let mut text = String::new();
        for row in rows {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{row:?}");
        }
        text
    }

    /// The days on which anything changes, ascending: the time before the first is given by `None`.
    #[must_use]
    pub fn changes(&self, site: &str) -> Vec<Option<Day>> {
        let of_site = self.rows.iter().filter(|row| row.site == site);
        let mut days: Vec<Option<Day>> = of_site
            .flat_map(|row| [Some(row.from), row.until.map(Some)])
            .flatten()
            .collect();
        days.sort_unstable();
        days.dedup();
        days
    }

    /// The sites, in alphabetical order.
    #[must_use]
    pub fn sites(&self) -> Vec<&str> {
        let mut sites: Vec<&str> = self.rows.iter().map(|row| row.site.as_str()).collect();
        sites.sort_unstable();
        sites.dedup();
        sites
    }
}

/// Notes a mistake; gives nothing, of whatever was wanted.
fn report<T>(wrongs: &mut Vec<String>, name: &str, why: &str) -> Option<T> {
    wrongs.push(format!("{name}: {why}"));
    None
}

fn parse<'c>(line: usize, cell: &impl Fn(&str) -> &'c str, wrongs: &mut Vec<String>) -> Option<NodeType> {
    let mut name = |column: &str| match cell(column) {
        "" => report(wrongs, column, "is empty"),
        text => match check_value(column, text) {
            Ok(()) => Some(text.to_owned()),
            Err(why) => report(wrongs, column, &why),
        },
    };
    let (site, node_type) = (name("site"), name("node_type"));
    let benchmark = Benchmark::parse(cell("benchmark"));
    if benchmark.is_none() {
        let kinds = Benchmark::ALL.map(Benchmark::as_str);
        let hint = did_you_mean(cell("benchmark"), kinds);
        let why = format!("\"{}\" is not one of {}{hint}", cell("benchmark"), kinds.join(", "));
        report::<()>(wrongs, "benchmark", &why);
    }
    let mut count = |column: &str, default: Option<i64>| match (cell(column), default) {
        ("", Some(default)) => Some(default),
        (text, _) => match text.parse::<i64>() {
            Ok(n) if (1..=LIMIT).contains(&n) => Some(n),
            _ => report(wrongs, column, &format!("\"{text}\" is not a number from 1 to {LIMIT}")),
        },
    };
    let (node_n, physical) = (count("node_n", None), count("physical_cpu_n", None));
    let logical = count("logical_cpu_n", None);
    let slot_n = count("slot_n", logical.or(Some(1)));
    let mut decimal = |column: &str| match cell(column) {
        "" => None,
        text => ten_thousandths(text).map_or_else(|why| report(wrongs, column, &why), Some),
    };
    let (per_core, per_node) = (decimal("value_per_core"), decimal("value_per_node"));
    let (cpumult_e4, wallmult_e4) = (decimal("cpumult"), decimal("wallmult"));
    let mut day = |column: &str| match cell(column) {
        "" => None,
        text => match text.parse::<crate::time::Date>() {
            Ok(date) if text.len() == 10 && date.year() > 0 => Some(day_of(date)),
            _ => report(wrongs, column, &format!("\"{text}\" is not a day such as 2024-04-01")),
        },
    };
    let (from, until) = (day("valid_from"), day("valid_to"));
    if from.zip(until).is_some_and(|(from, until)| until <= from) {
        report::<()>(wrongs, "valid_to", "is not after valid_from");
    }
    let per_node_e4 =
        node_power(cell, per_core, per_node, logical).map_or_else(|why| report(wrongs, "value", why), Some);
    let (site, name, node_n) = (site?, node_type?, node_n?);
    Some(NodeType {
        site,
        cluster: Some(cell("cluster")).filter(|text| !is_any(text)).map(str::to_owned),
        name,
        from,
        until,
        node_n,
        physical_cpu_n: physical?,
        logical_cpu_n: logical?,
        slot_n: slot_n?,
        benchmark: benchmark?,
        per_node_e4: per_node_e4?,
        cpumult_e4,
        wallmult_e4,
        line,
    })
}

/// The score of a node, from it or from that of a logical CPU; where both are given, they must agree to the last decimal.
fn node_power<'c>(
    cell: &impl Fn(&str) -> &'c str,
    per_core: Option<i64>,
    per_node: Option<i64>,
    logical_n: Option<i64>,
) -> Result<i64, &'static str> {
    if cell("value_per_core").is_empty() && cell("value_per_node").is_empty() {
        return Err("neither value_per_core nor value_per_node is given");
    }
    let of_cores = per_core.zip(logical_n).map(|(value, n)| value.checked_mul(n));
    match (of_cores, per_node) {
        (Some(None), _) => Err("is too large"),
        (Some(Some(of_cores)), Some(per_node)) if of_cores != per_node => {
            Err("value_per_core times logical_cpu_n is not value_per_node")
        }
        (Some(Some(value)), _) | (None, Some(value)) => Ok(value),
        // The mistake in the cell itself is already reported.
        (None, None) => Ok(0),
    }
}

/// A day as people write it; `open` for none.
#[must_use]
pub fn day_text(day: Option<Day>, open: &str) -> String {
    day.and_then(date_of)
        .map_or_else(|| open.to_owned(), |date| date.to_string())
}
