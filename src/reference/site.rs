//! Site by cluster, probe, CE, payload site or table, or by a topology of resources.

use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use ahash::AHashMap;

use super::csv_table::{self, CsvTable, is_any};
use super::topology::{Level, Topology};
use crate::problems::Problems;
use crate::records::JobRow;

/// Columns of a record a site may be taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SiteColumn {
    /// `site` as the record names it
    Site,
    /// `cluster`: Slurm cluster, LRMS server or GRACC probe
    Cluster,
    /// `submit_host`: CE
    SubmitHost,
    /// `partition`
    Partition,
    /// `payload_site`: where a payload says it ran
    PayloadSite,
    /// `view`
    View,
}

/// The columns by the name people write.
pub(crate) const COLUMNS: &[(&str, SiteColumn)] = &[
    ("site", SiteColumn::Site),
    ("cluster", SiteColumn::Cluster),
    ("submit_host", SiteColumn::SubmitHost),
    ("partition", SiteColumn::Partition),
    ("payload_site", SiteColumn::PayloadSite),
    ("view", SiteColumn::View),
];

/// The column that holds the answer.
const RESULT: &str = "to_site";

impl SiteColumn {
    /// The word in the pipeline file and in the header of a site table.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Site => "site",
            Self::Cluster => "cluster",
            Self::SubmitHost => "submit_host",
            Self::Partition => "partition",
            Self::PayloadSite => "payload_site",
            Self::View => "view",
        }
    }

    /// What a job says in this column; an empty text is nothing.
    #[must_use]
    pub fn of<'a>(self, row: &JobRow<'a>) -> Option<&'a str> {
        match self {
            Self::Site => row.site,
            Self::Cluster => row.cluster,
            Self::SubmitHost => row.submit_host,
            Self::Partition => row.partition,
            Self::PayloadSite => row.payload_site,
            Self::View => Some(row.view),
        }
        .filter(|text| !text.is_empty())
    }
}

/// Where a record's site comes from when the source does not name it.
#[derive(Clone, Debug, Default)]
pub enum SiteRule {
    /// The record names it.
    #[default]
    Record,
    /// A column of the record.
    Column(SiteColumn),
    /// A table, first match wins; else the record.
    Table(Arc<SiteTable>),
    /// A topology of resources; else the record.
    Topology(Arc<Topology>, Level),
}

impl SiteRule {
    /// The site of a job and the rule that gave it: `None` beside it for plain records, `unmapped` when a table or
    /// topology does not know the job and its own site stands in.
    #[must_use]
    pub fn site<'a>(&'a self, row: &JobRow<'a>) -> (Option<&'a str>, Option<&'static str>) {
        let own = SiteColumn::Site.of(row);
        let (found, rule) = match self {
            Self::Record => return (own, None),
            Self::Column(column) => return (column.of(row), Some(column.as_str())),
            Self::Table(table) => (table.lookup(row), "table"),
            Self::Topology(topology, level) => match topology.find(row, *level) {
                Some((site, rule)) => (Some(site), rule),
                None => (None, "unmapped"),
            },
        };
        match found {
            Some(site) => (Some(site), Some(rule)),
            None => (own, Some("unmapped")),
        }
    }

    /// What decides results; `None` for plain records.
    #[must_use]
    pub fn canonical(&self) -> Option<String> {
        match self {
            Self::Record => None,
            Self::Column(column) => Some(format!("column {}", column.as_str())),
            Self::Table(table) => Some(format!("table {}", table.canonical())),
            Self::Topology(topology, level) => Some(format!("topology {} {}", level.as_str(), topology.canonical())),
        }
    }
}

#[derive(Clone, Debug)]
struct Rule {
    /// One cell per matching column; `None` matches anything, also nothing.
    cells: Vec<Option<String>>,
    site: String,
}

/// The rows of a site table: first match wins. The header names the columns to match and `to_site`; an empty or `*`
/// cell matches anything, every other cell must be equal, letter case included.
#[derive(Clone, Debug, Default)]
pub struct SiteTable {
    columns: Vec<SiteColumn>,
    rules: Vec<Rule>,
    /// Rules that can match a given value of the first column, in order.
    by_first: AHashMap<String, Vec<usize>>,
    /// Rules that match any value of the first column, in order.
    any_first: Vec<usize>,
}

impl SiteTable {
    /// Reads the table at `path`; `file` is the name mistakes are told with.
    pub fn load(path: &Path, file: &str, problems: &mut Problems) -> Self {
        let input = csv_table::open(path, file, problems);
        input.map_or_else(Self::default, |input| Self::read(input, file, problems))
    }

    /// Reads a table.
    pub fn read(input: impl Read, file: &str, problems: &mut Problems) -> Self {
        let csv = CsvTable::read(input, file, problems);
        let known: Vec<&str> = COLUMNS.iter().map(|&(name, _)| name).chain([RESULT]).collect();
        csv.refuse_unknown(&known, file, problems);
        let mut table = Self::default();
        let Some(result) = csv.column(RESULT, file, problems) else {
            return table;
        };
        let mut places = Vec::new();
        for (place, name) in csv.columns.iter().enumerate() {
            if let Some(&(_, column)) = COLUMNS.iter().find(|(known, _)| known == name) {
                places.push(place);
                table.columns.push(column);
            }
        }
        if places.is_empty() {
            problems.mistake(file, 1, "the header names no column to match, such as \"cluster\"");
            return table;
        }
        for (line, cells) in &csv.rows {
            let cell = |place: usize| cells.get(place).map_or("", String::as_str);
            if is_any(cell(result)) {
                problems.mistake(file, *line, "the row names no site");
                continue;
            }
            let rule = Rule {
                cells: places
                    .iter()
                    .map(|&place| Some(cell(place)).filter(|cell| !is_any(cell)).map(str::to_owned))
                    .collect(),
                site: cell(result).to_owned(),
            };
            table.add(rule);
        }
        table
    }

    fn add(&mut self, rule: Rule) {
        let nth = self.rules.len();
        match rule.cells.first().and_then(Option::as_ref) {
            None => {
                self.any_first.push(nth);
                self.by_first.values_mut().for_each(|rules| rules.push(nth));
            }
            Some(value) => {
                let seed = &self.any_first;
                self.by_first
                    .entry(value.clone())
                    .or_insert_with(|| seed.clone())
                    .push(nth);
            }
        }
        self.rules.push(rule);
    }

    /// The site of the first row that matches.
    #[must_use]
    pub fn lookup(&self, row: &JobRow<'_>) -> Option<&str> {
        let first = self.columns.first()?.of(row);
        let candidates = first
            .and_then(|value| self.by_first.get(value))
            .unwrap_or(&self.any_first);
        let rules = candidates.iter().filter_map(|&nth| self.rules.get(nth));
        let mut matching = rules.filter(|rule| {
            let mut pairs = self.columns.iter().zip(&rule.cells);
            pairs.all(|(column, cell)| cell.is_none() || cell.as_deref() == column.of(row))
        });
        matching.next().map(|rule| rule.site.as_str())
    }

    /// What the table says, in its order: what decides results.
    #[must_use]
    pub fn canonical(&self) -> String {
        let mut text = String::new();
        for column in &self.columns {
            text.push_str(column.as_str());
            text.push(' ');
        }
        for rule in &self.rules {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{:?} {:?}", rule.cells, rule.site);
        }
        text
    }
}
