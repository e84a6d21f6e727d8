//! Pledges: the power a federation promised to a VO for a pledge year.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use super::csv_table::{self, CsvTable};
use super::table_columns::{TEXT, TableColumn, required};
use crate::diagnostics::Problems;
use crate::error::Result;

/// Of `--pledges`.
pub(super) const COLUMNS: &[TableColumn] = &[
    required("federation", TEXT, "Federation, as the table of its sites names it."),
    required("vo", TEXT, "VO, regardless of letter case."),
    required(
        "pledge_year",
        "year",
        "The year in April of which the pledge year begins.",
    ),
    required(
        "power",
        "whole number",
        "Power pledged; of the benchmark that `--work` names.",
    )
    .of("HEPscore23 or HS06"),
];

/// What a pledge is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PledgeKey {
    /// Federation.
    pub federation: String,
    /// VO in lower case.
    pub vo: String,
    /// The year in which the pledge year begins.
    pub pledge_year: i16,
}

/// Pledged power, in units of the benchmark.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pledges {
    power: BTreeMap<PledgeKey, u32>,
}

impl Pledges {
    /// Reads the table at `path`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Config`] naming file and line of every mistake.
    pub fn load(path: &Path) -> Result<Self> {
        csv_table::load(path, Self::read)
    }

    /// Reads a table; `file` is its name in reported mistakes. A pledge that is made twice is one.
    pub fn read(input: impl Read, file: &str, problems: &mut Problems) -> Self {
        let csv = CsvTable::read(input, file, problems);
        let mut table = Self::default();
        if !csv.has_header(COLUMNS, file, problems) {
            return table;
        }
        for (line, cells) in &csv.rows {
            match pledge(&|name: &str| csv.cell(cells, name)) {
                Ok((key, _)) if table.power.contains_key(&key) => {
                    let (federation, vo, year) = (key.federation, key.vo, key.pledge_year);
                    problems.mistake(file, *line, format!("{federation} pledges for {vo} in {year} twice"));
                }
                Ok((key, power)) => {
                    table.power.insert(key, power);
                }
                Err(why) => problems.mistake(file, *line, why),
            }
        }
        table
    }

    /// The power of a pledge; `None` where there is none.
    #[must_use]
    pub fn get(&self, key: &PledgeKey) -> Option<u32> {
        self.power.get(key).copied()
    }
}

fn pledge<'c>(cell: &impl Fn(&str) -> &'c str) -> Result<(PledgeKey, u32), String> {
    let text = |name: &str| match cell(name) {
        "" => Err(format!("{name} is missing")),
        text => Ok(text),
    };
    let (year, power) = (text("pledge_year")?, text("power")?);
    let key = PledgeKey {
        federation: text("federation")?.to_owned(),
        vo: text("vo")?.to_lowercase(),
        pledge_year: (year.parse()).map_err(|_| format!("pledge_year: \"{year}\" is not a year"))?,
    };
    let power = (power.parse()).map_err(|_| format!("power: \"{power}\" is not a whole number"))?;
    Ok((key, power))
}
