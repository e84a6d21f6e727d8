//! Limits of minutes: how many minutes of a resource Slurm shall let an account use.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use super::csv_table::{self, CsvTable};
use super::table_columns::MINUTE_LIMITS;
use super::written_day::written_span;
use crate::diagnostics::Problems;
use crate::time::Day;

/// Resources that Slurm counts by one name.
const PLAIN: [&str; 7] = ["billing", "cpu", "energy", "mem", "node", "pages", "vmem"];
/// Kinds of resources of which there are several by name.
const NAMED: [&str; 4] = ["gres", "license", "bb", "fs"];

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinuteLimit {
    /// Account whose jobs use it.
    pub account: String,
    /// The resource, as Slurm names it: `billing`, `cpu`, `gres/gpu`.
    pub tres: String,
    /// Minutes of it.
    pub minutes: u64,
    /// First day; `None` is always.
    pub from: Option<Day>,
    /// First day on which it is no longer good; `None` is open.
    pub until: Option<Day>,
    /// Line of the table.
    pub line: usize,
}

impl MinuteLimit {
    /// Whether it is good on a day.
    #[must_use]
    pub fn is_good_on(&self, day: Day) -> bool {
        self.from.is_none_or(|from| from <= day) && self.until.is_none_or(|until| day < until)
    }

    fn overlaps(&self, other: &Self) -> bool {
        (&self.account, &self.tres) == (&other.account, &other.tres)
            && self
                .until
                .is_none_or(|until| other.from.is_none_or(|from| from < until))
            && other
                .until
                .is_none_or(|until| self.from.is_none_or(|from| from < until))
    }
}

/// The table, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MinuteLimitTable {
    /// Every row without a mistake.
    pub rows: Vec<MinuteLimit>,
}

impl MinuteLimitTable {
    /// Reads the table at `path`; `file` is its name in reported mistakes.
    pub fn load(path: &Path, file: &str, problems: &mut Problems) -> Self {
        let input = csv_table::open(path, file, problems);
        input.map_or_else(Self::default, |input| Self::read(input, file, problems))
    }

    /// Reads a table. Rows for one account and resource that overlap in time are a mistake.
    pub fn read(input: impl Read, file: &str, problems: &mut Problems) -> Self {
        let csv = CsvTable::read(input, file, problems);
        let mut table = Self::default();
        if !csv.has_header(MINUTE_LIMITS, file, problems) {
            return table;
        }
        for (line, cells) in &csv.rows {
            match row(&|name: &str| csv.cell(cells, name), *line) {
                Ok(row) => {
                    if let Some(other) = table.rows.iter().find(|other| other.overlaps(&row)) {
                        let message = format!(
                            "overlaps line {}: {} of {} would have two limits",
                            other.line, row.tres, row.account
                        );
                        problems.mistake(file, *line, message);
                    }
                    table.rows.push(row);
                }
                Err(why) => problems.mistake(file, *line, why),
            }
        }
        table
    }

    /// The limits of a day: minutes by account and resource.
    #[must_use]
    pub fn on(&self, day: Day) -> BTreeMap<&str, BTreeMap<&str, u64>> {
        let mut limits: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
        let good = self.rows.iter().filter(|row| row.is_good_on(day));
        for row in good {
            limits.entry(&row.account).or_default().insert(&row.tres, row.minutes);
        }
        limits
    }
}

fn row<'c>(cell: &impl Fn(&str) -> &'c str, line: usize) -> Result<MinuteLimit, String> {
    let account = match cell("account") {
        "" => return Err("account is missing".to_owned()),
        account => account.to_owned(),
    };
    let tres = cell("tres").to_lowercase();
    let is_word = |name: &str| {
        let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte);
        !name.is_empty() && name.bytes().all(is_fine)
    };
    let is_known = match tres.split_once('/') {
        None => PLAIN.contains(&tres.as_str()),
        Some((kind, name)) => NAMED.contains(&kind) && is_word(name),
    };
    if !is_known {
        return Err(format!(
            "tres: \"{tres}\" is not a resource such as billing, cpu or gres/gpu"
        ));
    }
    let minutes = cell("minutes");
    let minutes = minutes
        .parse::<u64>()
        .map_err(|_| format!("minutes: \"{minutes}\" is not a whole number of minutes"))?;
    let (from, until) = written_span(cell("valid_from"), cell("valid_to"))?;
    Ok(MinuteLimit {
        account,
        tres,
        minutes,
        from,
        until,
        line,
    })
}
