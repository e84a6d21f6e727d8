//! What accounts have stored, day by day: a table people or their quota tools write, for no job states it.

use std::io::Read;
use std::path::Path;

use super::csv_table::{self, CsvTable, is_any};
use super::table_columns::STORED;
use crate::diagnostics::Problems;
use crate::time::Day;
use crate::time::month::day_of;

/// What one account had stored on one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRow {
    /// Account.
    pub account: String,
    /// Site; `None` where it is not stated.
    pub site: Option<String>,
    /// The day.
    pub day: Day,
    /// Bytes.
    pub stored_byte: i128,
}

/// The table, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredTable {
    /// Every row without a mistake.
    pub rows: Vec<StoredRow>,
}

impl StoredTable {
    /// Reads the table at `path`; `file` is its name in reported mistakes.
    pub fn load(path: &Path, file: &str, problems: &mut Problems) -> Self {
        let input = csv_table::open(path, file, problems);
        input.map_or_else(Self::default, |input| Self::read(input, file, problems))
    }

    /// Reads a table. Two rows of one account, site and day are a mistake.
    pub fn read(input: impl Read, file: &str, problems: &mut Problems) -> Self {
        let csv = CsvTable::read(input, file, problems);
        let mut table = Self::default();
        if !csv.has_header(STORED, file, problems) {
            return table;
        }
        let mut seen = std::collections::BTreeSet::new();
        for (line, cells) in &csv.rows {
            match row(&|name: &str| csv.cell(cells, name)) {
                Ok(row) if seen.insert((row.account.clone(), row.site.clone(), row.day)) => table.rows.push(row),
                Ok(row) => {
                    let message = format!("a second row of the account \"{}\" on that day", row.account);
                    problems.mistake(file, *line, message);
                }
                Err(why) => problems.mistake(file, *line, why),
            }
        }
        table
    }
}

fn row<'c>(cell: &impl Fn(&str) -> &'c str) -> Result<StoredRow, String> {
    let account = cell("account");
    if account.is_empty() {
        return Err("account is missing".to_owned());
    }
    let day = cell("day");
    let date = day.parse::<crate::time::Date>().ok().filter(|_| day.len() == 10);
    let date = date.ok_or_else(|| format!("day: \"{day}\" is not a day such as 2026-04-01"))?;
    let text = cell("stored_byte");
    let is_whole = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // Beyond 63 bits it is no number of bytes.
    let stored_byte = text.parse::<i64>().ok().filter(|_| is_whole);
    let stored_byte = stored_byte.ok_or_else(|| format!("stored_byte: \"{text}\" is not a whole number of bytes"))?;
    Ok(StoredRow {
        account: account.to_owned(),
        site: Some(cell("site")).filter(|site| !is_any(site)).map(str::to_owned),
        day: day_of(date),
        stored_byte: stored_byte.into(),
    })
}
