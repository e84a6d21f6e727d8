//! Owners of nodes: which account bought which nodes or partitions, alone or with others, from when until when.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

use super::csv_table::{self, CsvTable, is_any};
use super::hostlist::Hostlist;
use super::node_type::day_text;
use super::table_columns::NODE_OWNERS;
use super::written_day::written_span;
use crate::diagnostics::Problems;
use crate::time::Day;

/// Largest divisor of a part.
const LARGEST_DIVISOR: u64 = 1_000_000;

/// What was bought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnedTarget {
    /// Nodes by their names, each once.
    Nodes(BTreeSet<String>),
    /// All nodes of a partition, as listings have them on a day.
    Partition(String),
}

/// A part of a whole: `numerator / divisor`, above 0 and at most 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnedPart {
    /// Above the line.
    pub numerator: u64,
    /// Below it.
    pub divisor: u64,
}

impl OwnedPart {
    /// The whole.
    pub const WHOLE: Self = Self {
        numerator: 1,
        divisor: 1,
    };

    /// Reads `1/3`, `25%` or `0.25`.
    fn parse(text: &str) -> Result<Self, String> {
        let why = || format!("part: \"{text}\" is not a part of a whole, such as 1/3, 25% or 0.25");
        let (numerator, divisor) = if let Some((above, below)) = text.split_once('/') {
            let number = |text: &str| text.trim().parse::<u64>().map_err(|_| why());
            (number(above)?, number(below)?)
        } else {
            let (digits, per) = match text.strip_suffix('%') {
                Some(percent) => (percent.trim_end(), 100),
                None => (text, 1),
            };
            let places = if per == 1 { 6 } else { 4 };
            let value = super::decimal::scaled(digits, places).map_err(|_| why())?;
            (u64::try_from(value).map_err(|_| why())?, LARGEST_DIVISOR)
        };
        if numerator == 0 || divisor == 0 || numerator > divisor || divisor > LARGEST_DIVISOR {
            return Err(why());
        }
        let common = common_divisor(numerator, divisor);
        Ok(Self {
            numerator: numerator / common,
            divisor: divisor / common,
        })
    }

    /// As people write it.
    #[must_use]
    pub fn text(self) -> String {
        if self.divisor == 1 {
            return self.numerator.to_string();
        }
        format!("{}/{}", self.numerator, self.divisor)
    }
}

fn common_divisor(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeOwner {
    /// The account.
    pub account: String,
    /// What it owns.
    pub target: OwnedTarget,
    /// Its part of each node.
    pub part: OwnedPart,
    /// Cluster the nodes are of; `None` is any.
    pub cluster: Option<String>,
    /// First day; `None` is always.
    pub from: Option<Day>,
    /// First day on which it owns it no longer; `None` is open.
    pub until: Option<Day>,
    /// Line of the table.
    pub line: usize,
}

impl NodeOwner {
    /// Whether it owns it on a day.
    #[must_use]
    pub fn is_good_on(&self, day: Day) -> bool {
        self.from.is_none_or(|from| from <= day) && self.until.is_none_or(|until| day < until)
    }
}

/// The table, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeOwnerTable {
    /// Every row without a mistake.
    pub rows: Vec<NodeOwner>,
}

impl NodeOwnerTable {
    /// Reads the table at `path`; `file` is its name in reported mistakes.
    pub fn load(path: &Path, file: &str, problems: &mut Problems) -> Self {
        let input = csv_table::open(path, file, problems);
        input.map_or_else(Self::default, |input| Self::read(input, file, problems))
    }

    /// Reads a table. Of nodes and of partitions that rows name alike, the parts of a day must add up to the whole; what a
    /// partition has in common with nodes or with another one is known of listings only.
    pub fn read(input: impl Read, file: &str, problems: &mut Problems) -> Self {
        let csv = CsvTable::read(input, file, problems);
        let mut table = Self::default();
        if !csv.has_header(NODE_OWNERS, file, problems) {
            return table;
        }
        if !["nodes", "partition"]
            .iter()
            .any(|name| csv.columns.iter().any(|column| column == name))
        {
            problems.mistake(
                file,
                1,
                "the header has neither a column \"nodes\" nor a column \"partition\"",
            );
            return table;
        }
        for (line, cells) in &csv.rows {
            match row(&|name: &str| csv.cell(cells, name), *line) {
                Ok(row) => table.rows.push(row),
                Err(why) => problems.mistake(file, *line, why),
            }
        }
        table.check_parts(file, problems);
        table
    }

    /// The days on which ownership begins or ends, ascending.
    #[must_use]
    pub fn changes(&self) -> BTreeSet<Day> {
        self.rows
            .iter()
            .flat_map(|row| [row.from, row.until])
            .flatten()
            .collect()
    }

    /// Reports, for each day on which ownership changes, parts that are not a whole.
    fn check_parts(&self, file: &str, problems: &mut Problems) {
        let mut by_target: BTreeMap<(Option<&str>, String), Vec<&NodeOwner>> = BTreeMap::new();
        for row in &self.rows {
            let names: Vec<String> = match &row.target {
                OwnedTarget::Nodes(nodes) => nodes.iter().map(|node| format!("node {node}")).collect(),
                OwnedTarget::Partition(partition) => vec![format!("partition {partition}")],
            };
            for name in names {
                by_target.entry((row.cluster.as_deref(), name)).or_default().push(row);
            }
        }
        let mut reported = BTreeSet::new();
        for ((_, name), rows) in &by_target {
            let mut days: BTreeSet<Option<Day>> = rows.iter().map(|row| row.from).collect();
            days.extend(rows.iter().filter_map(|row| row.until).map(Some));
            for day in days {
                let good: Vec<&NodeOwner> = rows
                    .iter()
                    .copied()
                    .filter(|row| day.map_or(row.from.is_none(), |day| row.is_good_on(day)))
                    .collect();
                let lines: Vec<usize> = good.iter().map(|row| row.line).collect();
                let Err((line, why)) = whole_of_parts(name, &good) else {
                    continue;
                };
                // A list of many nodes has one mistake, not one for each.
                if reported.insert(lines) {
                    problems.mistake(file, line, format!("{why} (since {})", day_text(day, "ever")));
                }
            }
        }
    }
}

/// The weights of rows that own one thing at the same time: whole numbers whose sum is the whole.
///
/// # Errors
/// The line and the reason where an account is named twice, or the parts are not a whole.
pub fn whole_of_parts(name: &str, rows: &[&NodeOwner]) -> Result<Vec<u32>, (usize, String)> {
    let Some((last, earlier)) = rows.split_last() else {
        return Ok(Vec::new());
    };
    let others = || {
        let lines: Vec<String> = earlier.iter().map(|row| row.line.to_string()).collect();
        let lines_noun = if lines.len() == 1 { "line" } else { "lines" };
        format!("{lines_noun} {}", lines.join(", "))
    };
    let mut accounts = BTreeSet::new();
    for row in rows {
        if !accounts.insert(row.account.as_str()) {
            return Err((
                row.line,
                format!("{} owns {name} already, by another line", row.account),
            ));
        }
    }
    let too_fine = || {
        (
            last.line,
            format!("the parts of {name} have no common divisor below 2^32"),
        )
    };
    let mut divisor: u64 = 1;
    for row in rows {
        let step = row.part.divisor / common_divisor(divisor, row.part.divisor);
        divisor = divisor
            .checked_mul(step)
            .filter(|all| u32::try_from(*all).is_ok())
            .ok_or_else(too_fine)?;
    }
    let weights = rows.iter().map(|row| row.part.numerator * (divisor / row.part.divisor));
    let weights: Vec<u64> = weights.collect();
    let sum: u64 = weights.iter().sum();
    if sum != divisor {
        let common = common_divisor(sum, divisor);
        let sum_text = OwnedPart {
            numerator: sum / common,
            divisor: divisor / common,
        }
        .text();
        let message = match rows.len() {
            1 => format!(
                "{} has {} of {name}, and no other row has the rest",
                last.account,
                last.part.text()
            ),
            _ if sum > divisor => {
                format!(
                    "{name} is owned more than once: with {} the parts are {sum_text}",
                    others()
                )
            }
            _ => format!("the parts of {name} are {sum_text}, not the whole, with {}", others()),
        };
        return Err((last.line, message));
    }
    let weights = weights
        .into_iter()
        .map(|weight| u32::try_from(weight).map_err(|_| too_fine()));
    weights.collect()
}

fn row<'c>(cell: &impl Fn(&str) -> &'c str, line: usize) -> Result<NodeOwner, String> {
    let account = match cell("account") {
        "" => return Err("account is missing".to_owned()),
        account => account.to_owned(),
    };
    let target = match (cell("nodes"), cell("partition")) {
        ("", "") => return Err("neither nodes nor a partition is stated".to_owned()),
        (_, "") => {
            let hosts = Hostlist::parse(cell("nodes")).map_err(|why| format!("nodes: {why}"))?;
            let names: BTreeSet<String> = hosts.hosts().map(std::borrow::Cow::into_owned).collect();
            if names.is_empty() {
                return Err("nodes: the list is empty".to_owned());
            }
            OwnedTarget::Nodes(names)
        }
        ("", partition) => OwnedTarget::Partition(partition.to_owned()),
        _ => return Err("nodes and a partition are both stated: write two rows".to_owned()),
    };
    let part = match cell("part") {
        "" => OwnedPart::WHOLE,
        text => OwnedPart::parse(text)?,
    };
    let (from, until) = written_span(cell("valid_from"), cell("valid_to"))?;
    Ok(NodeOwner {
        account,
        target,
        part,
        cluster: Some(cell("cluster")).filter(|text| !is_any(text)).map(str::to_owned),
        from,
        until,
        line,
    })
}
