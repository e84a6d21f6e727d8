//! Site by cluster, probe, CE, payload site or table, or by a topology of resources.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::csv_table::{self, CsvTable};
use super::first_match::{Column, FirstMatch, Wording};
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

impl Column for SiteColumn {
    fn word(self) -> &'static str {
        self.as_str()
    }

    fn of_row<'a>(self, row: &JobRow<'a>) -> Option<&'a str> {
        self.of(row)
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

/// The rows of a site table: first match wins. The header names the columns to match and `to_site`; an empty or `*`
/// cell matches anything, every other cell must be equal, letter case included.
#[derive(Clone, Debug, Default)]
pub struct SiteTable(FirstMatch<SiteColumn>);

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
        let Some(result) = csv.column(RESULT, file, problems) else {
            return Self::default();
        };
        let wording = Wording {
            noun: "site",
            example: "cluster",
        };
        Self(FirstMatch::read(&csv, result, COLUMNS, &wording, file, problems))
    }

    /// The site of the first row that matches.
    #[must_use]
    pub fn lookup(&self, row: &JobRow<'_>) -> Option<&str> {
        self.0.lookup(row)
    }

    /// What the table says, in its order: what decides results.
    #[must_use]
    pub fn canonical(&self) -> String {
        self.0.canonical()
    }
}
