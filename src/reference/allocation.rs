//! Allocations: how much of what a policy counts an account may use, from when until when.

use std::io::Read;
use std::path::Path;

use super::csv_table::{self, CsvTable, is_any};
use super::decimal::scaled;
use super::node_type::day_text;
use super::table_columns::ALLOCATIONS;
use crate::diagnostics::Problems;
use crate::time::month::{Day, day_of};

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Site it is good at; `None` is any.
    pub site: Option<String>,
    /// Cluster it is good on; `None` is any.
    pub cluster: Option<String>,
    /// Account whose jobs use it.
    pub account: String,
    /// Policy that counts the use, with its options in brackets where it has several.
    pub policy: String,
    /// What the policy counts in, to be held against it.
    pub unit: Option<String>,
    /// How much, in units of 10^-9 of the policy's.
    pub amount_e9: i128,
    /// First day.
    pub from: Day,
    /// First day on which it is no longer good; `None` is open.
    pub until: Option<Day>,
    /// Its display name; the account if the table gives none.
    pub project: Option<String>,
    /// Who sees it; empty when the table does not state it.
    pub users: Vec<String>,
    /// Its attribute in `ColdFront`: the primary key.
    pub coldfront_attribute: Option<i64>,
    /// Line of the table.
    pub line: usize,
}

impl Allocation {
    /// Whether it is good on a day.
    #[must_use]
    pub fn is_good_on(&self, day: Day) -> bool {
        self.from <= day && self.until.is_none_or(|until| day < until)
    }

    /// Whether two rows can be used by the same job: they add up when their days are equal, and contradict each other
    /// when they only overlap.
    fn overlaps(&self, other: &Self) -> bool {
        let is_same = |a: &Option<String>, b: &Option<String>| a.is_none() || b.is_none() || a == b;
        (&self.account, &self.policy) == (&other.account, &other.policy)
            && is_same(&self.site, &other.site)
            && is_same(&self.cluster, &other.cluster)
            && self.until.is_none_or(|until| other.from < until)
            && other.until.is_none_or(|until| self.from < until)
    }

    fn is_supplement_of(&self, other: &Self) -> bool {
        (&self.site, &self.cluster, self.from, self.until) == (&other.site, &other.cluster, other.from, other.until)
    }
}

/// The table, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllocationTable {
    /// Every row without a mistake.
    pub rows: Vec<Allocation>,
}

impl AllocationTable {
    /// Reads the table at `path`; `file` is its name in reported mistakes.
    pub fn load(path: &Path, file: &str, problems: &mut Problems) -> Self {
        let input = csv_table::open(path, file, problems);
        input.map_or_else(Self::default, |input| Self::read(input, file, problems))
    }

    /// Reads a table. Columns: `account`, `policy`, `amount`, `valid_from` (included), and as wanted `valid_to` (not
    /// included), `site`, `cluster`, `unit`, `project`, `users` (separated by `;`) and `coldfront_attribute`.
    ///
    /// Rows for the same account, policy, place and days add up: a supplement. Rows that merely overlap are a mistake,
    /// for it would be undecided which of them a job uses.
    pub fn read(input: impl Read, file: &str, problems: &mut Problems) -> Self {
        let csv = CsvTable::read(input, file, problems);
        let mut table = Self::default();
        if !csv.has_header(ALLOCATIONS, file, problems) {
            return table;
        }
        for (line, cells) in &csv.rows {
            let cell = |name: &str| csv.cell(cells, name);
            match row(&cell, *line) {
                Ok(row) => {
                    let clash = table
                        .rows
                        .iter()
                        .find(|other| row.overlaps(other) && !row.is_supplement_of(other));
                    if let Some(clash) = clash {
                        let message = format!(
                            "overlaps the allocation of line {} (from {} to {}) without being equal to it in place and days",
                            clash.line,
                            day_text(Some(clash.from), "ever"),
                            day_text(clash.until, "ever")
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
}

fn row<'c>(cell: &impl Fn(&str) -> &'c str, line: usize) -> Result<Allocation, String> {
    let needed = |name: &str| match cell(name) {
        "" => Err(format!("{name} is missing")),
        text => Ok(text.to_owned()),
    };
    let day = |name: &str| match cell(name) {
        "" => Ok(None),
        text => match text.parse::<crate::time::Date>() {
            Ok(date) if text.len() == 10 && date.year() > 0 => Ok(Some(day_of(date))),
            _ => Err(format!("{name}: \"{text}\" is not a day such as 2026-04-01")),
        },
    };
    let word = |name: &str| Some(cell(name)).filter(|text| !is_any(text)).map(str::to_owned);
    let amount_e9 = scaled(&needed("amount")?, 9).map_err(|why| format!("amount: {why}"))?;
    let coldfront_attribute = match cell("coldfront_attribute") {
        "" => None,
        text => Some(
            text.parse::<i64>()
                .map_err(|_| format!("coldfront_attribute: \"{text}\" is not a primary key"))?,
        ),
    };
    let from = day("valid_from")?.ok_or_else(|| "valid_from is missing".to_owned())?;
    let until = day("valid_to")?;
    if until.is_some_and(|until| until <= from) {
        return Err("valid_to is not after valid_from".to_owned());
    }
    let users = cell("users").split(';').map(str::trim).filter(|user| !user.is_empty());
    Ok(Allocation {
        site: word("site"),
        cluster: word("cluster"),
        account: needed("account")?,
        policy: needed("policy")?,
        unit: word("unit"),
        amount_e9,
        from,
        until,
        project: word("project"),
        users: users.map(str::to_owned).collect(),
        coldfront_attribute,
        line,
    })
}
