//! VO by account, user, group, partition or QOS.

use std::io::Read;
use std::path::Path;

use super::csv_table::{self, CsvTable};
use super::first_match::{Column, FirstMatch, Wording};
use crate::pipeline::plan::{VoColumn, VoRule};
use crate::problems::Problems;
use crate::records::JobRow;

/// The columns a VO may be taken from, by the name people write.
pub(crate) const COLUMNS: &[(&str, VoColumn)] = &[
    ("account", VoColumn::Account),
    ("user", VoColumn::User),
    ("user_group", VoColumn::UserGroup),
    ("partition", VoColumn::Partition),
    ("qos", VoColumn::Qos),
    ("vo", VoColumn::Vo),
];

/// The column that holds the answer when the table also matches on the VO the record names.
const RESULT: &str = "to_vo";

impl VoColumn {
    /// The word in the pipeline file and in the header of a VO table.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::User => "user",
            Self::UserGroup => "user_group",
            Self::Partition => "partition",
            Self::Qos => "qos",
            Self::Vo => "vo",
        }
    }

    /// What a job says in this column; an empty text is nothing.
    #[must_use]
    pub fn of<'a>(self, row: &JobRow<'a>) -> Option<&'a str> {
        match self {
            Self::Account => row.account,
            Self::User => row.user,
            Self::UserGroup => row.user_group,
            Self::Partition => row.partition,
            Self::Qos => row.qos,
            Self::Vo => row.vo,
        }
        .filter(|text| !text.is_empty())
    }
}

impl Column for VoColumn {
    fn word(self) -> &'static str {
        self.as_str()
    }

    fn of_row<'a>(self, row: &JobRow<'a>) -> Option<&'a str> {
        self.of(row)
    }
}

impl VoRule {
    /// The VO of a job; `None` when the rule has no answer.
    #[must_use]
    pub fn vo<'a>(&'a self, row: &JobRow<'a>) -> Option<&'a str> {
        match self {
            Self::Record => VoColumn::Vo.of(row),
            Self::Column(column) => column.of(row),
            Self::Table(table) => table.lookup(row),
            Self::Corrections(corrections) => corrections.resolve(row).0,
            Self::Value(vo) => Some(vo),
        }
    }
}

/// The rows of a VO table: first match wins.
///
/// The header names the columns a row is matched by, any of `account`, `user`, `user_group`, `partition`, `qos` and
/// `vo` (the VO as the record names it), and `to_vo`, the result. Without a `to_vo` the last column must be `vo`, and
/// that is the result: `account,vo`. An empty or `*` cell matches anything; every other cell must be equal, letter
/// case included.
#[derive(Clone, Debug, Default)]
pub struct VoTable(FirstMatch<VoColumn>);

impl VoTable {
    /// Reads the table at `path`; `file` is the name mistakes are told with. Rows with a mistake are left out.
    pub fn load(path: &Path, file: &str, problems: &mut Problems) -> Self {
        let input = csv_table::open(path, file, problems);
        input.map_or_else(Self::default, |input| Self::read(input, file, problems))
    }

    /// Reads a table; see [`Self::load`].
    pub fn read(input: impl Read, file: &str, problems: &mut Problems) -> Self {
        let csv = CsvTable::read(input, file, problems);
        let known: Vec<&str> = COLUMNS.iter().map(|&(name, _)| name).chain([RESULT]).collect();
        csv.refuse_unknown(&known, file, problems);
        let last = csv.columns.len().saturating_sub(1);
        let result = csv.columns.iter().position(|name| name == RESULT);
        let result = result.or_else(|| (csv.columns.last().map(String::as_str) == Some("vo")).then_some(last));
        let Some(result) = result else {
            let message = "the header names no result: add a column \"to_vo\", or put \"vo\" last";
            problems.mistake(file, 1, message);
            return Self::default();
        };
        let wording = Wording {
            noun: "VO",
            example: "account",
        };
        Self(FirstMatch::read(&csv, result, COLUMNS, &wording, file, problems))
    }

    /// The VO of the first row that matches.
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
