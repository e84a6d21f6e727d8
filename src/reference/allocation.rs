//! Allocations: how much of what a policy counts an account may use, from when until when; and the entries that changed
//! it later.

use std::io::Read;
use std::path::Path;

use super::csv_table::{self, CsvTable, is_any};
use super::decimal::scaled;
use super::node_type::day_text;
use super::table_columns::ALLOCATIONS;
use crate::diagnostics::{Problems, did_you_mean};
use crate::time::month::{Day, day_of};

/// What an entry of the table does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// Grants an amount for some days.
    #[default]
    Award,
    /// Adds to an award, from its day on.
    Supplement,
    /// Moves an amount from the award of an account to that of another.
    Transfer,
    /// Adds or takes away what somebody signs for.
    Adjustment,
    /// Moves the end of an award.
    Extension,
    /// Ends an award.
    Expiry,
}

impl EntryKind {
    /// The words of the table.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("award", Self::Award),
        ("supplement", Self::Supplement),
        ("transfer", Self::Transfer),
        ("adjustment", Self::Adjustment),
        ("extension", Self::Extension),
        ("expiry", Self::Expiry),
    ];

    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        let word = Self::WORDS.iter().find(|(_, kind)| *kind == self);
        word.map_or("", |(word, _)| *word)
    }

    /// Whether the entry states an amount.
    #[must_use]
    pub fn has_amount(self) -> bool {
        !matches!(self, Self::Extension | Self::Expiry)
    }
}

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// What it does.
    pub kind: EntryKind,
    /// Name of the award it makes, or of the award it is about.
    pub award: Option<String>,
    /// The user whose part of the account's award it is; `None` is the account's own.
    pub user: Option<String>,
    /// Name of the award above it, which its use counts for as well.
    pub parent: Option<String>,
    /// Account a transfer goes to.
    pub to_account: Option<String>,
    /// Who signs it.
    pub author: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Id of the period rule the award is used under.
    pub period_rule: Option<String>,
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
    /// How much, in units of 10^-9 of its unit; negative for adjustments that take away, 0 where the kind has none.
    pub amount_e9: i128,
    /// First day; of an entry about an award the day it takes effect.
    pub from: Day,
    /// First day on which it is no longer good; `None` is open. Of an extension the new end.
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
        (&self.account, &self.policy, &self.user) == (&other.account, &other.policy, &other.user)
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
    /// included), `site`, `cluster`, `unit`, `project`, `users` (separated by `;`) and `coldfront_attribute`; and those of
    /// the ledger of awards: `kind`, `award`, `user`, `parent`, `to_account`, `author`, `reason` and `period_rule`. A row
    /// without a kind is an award. What entries make of awards is the matter of `award::ledger`.
    ///
    /// Awards for the same account, policy, place and days add up: a supplement. Rows that merely overlap are a mistake,
    /// for it would be undecided which of them a job uses. Where an expiry is about awards of the account, their days are those
    /// that `award::ledger` makes of all entries, and it looks for overlaps.
    pub fn read(input: impl Read, file: &str, problems: &mut Problems) -> Self {
        let csv = CsvTable::read(input, file, problems);
        let mut table = Self::default();
        let mut overlaps = Vec::new();
        if !csv.has_header(ALLOCATIONS, file, problems) {
            return table;
        }
        for (line, cells) in &csv.rows {
            let cell = |name: &str| csv.cell(cells, name);
            match row(&cell, *line) {
                Ok(row) => {
                    let mut awards = table.rows.iter().filter(|other| other.kind == EntryKind::Award);
                    let clash = awards.find(|other| row.overlaps(other) && !row.is_supplement_of(other));
                    if let Some(clash) = clash.filter(|_| row.kind == EntryKind::Award) {
                        let message = format!(
                            "overlaps the allocation of line {} (from {} to {}) without being equal to it in place and days",
                            clash.line,
                            day_text(Some(clash.from), "ever"),
                            day_text(clash.until, "ever")
                        );
                        overlaps.push((table.rows.len(), message));
                    }
                    table.rows.push(row);
                }
                Err(why) => problems.mistake(file, *line, why),
            }
        }
        for (at, message) in overlaps {
            let row = table.rows.get(at);
            if let Some(row) = row.filter(|row| !table.has_expiry(&row.account, &row.policy)) {
                problems.mistake(file, row.line, message);
            }
        }
        table
    }

    /// Whether an award of an account under a policy ends before its row states it.
    #[must_use]
    pub fn has_expiry(&self, account: &str, policy: &str) -> bool {
        let is_about = |row: &Allocation| row.account == account && row.policy == policy;
        let mut ends = self.rows.iter().filter(|row| row.kind == EntryKind::Expiry);
        ends.any(is_about)
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
    let kind = kind(cell("kind"))?;
    let amount_e9 = amount_e9(kind, cell("amount"))?;
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
    let text = |name: &str| Some(cell(name)).filter(|text| !text.is_empty()).map(str::to_owned);
    let entry = EntryWords {
        until,
        to_account: text("to_account"),
        author: text("author"),
        reason: text("reason"),
    };
    entry.check(kind)?;
    for (name, of) in [("parent", EntryKind::Award), ("period_rule", EntryKind::Award)] {
        if kind != of && !cell(name).is_empty() {
            return Err(format!("{name} is stated by awards, not by {}", of_kind(kind)));
        }
    }
    let users = cell("users").split(';').map(str::trim).filter(|user| !user.is_empty());
    Ok(Allocation {
        kind,
        award: text("award"),
        user: text("user"),
        parent: text("parent"),
        to_account: entry.to_account,
        author: entry.author,
        reason: entry.reason,
        period_rule: text("period_rule"),
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

/// What an entry states besides amount and begin.
struct EntryWords {
    until: Option<Day>,
    to_account: Option<String>,
    author: Option<String>,
    reason: Option<String>,
}

impl EntryWords {
    /// What the kind needs is there, and what it has no place for is not.
    fn check(&self, kind: EntryKind) -> Result<(), String> {
        let name = of_kind(kind);
        let is_transfer = kind == EntryKind::Transfer;
        if is_transfer != self.to_account.is_some() {
            return Err(if is_transfer {
                "to_account is missing: a transfer goes to an account".to_owned()
            } else {
                format!("to_account is stated by transfers, not by {name}")
            });
        }
        let (needs_end, may_end) = match kind {
            EntryKind::Award => (false, true),
            EntryKind::Extension => (true, true),
            _ => (false, false),
        };
        if needs_end && self.until.is_none() {
            return Err("valid_to is missing: an extension states the new end".to_owned());
        }
        if !may_end && self.until.is_some() {
            return Err(format!("valid_to is stated by awards and extensions, not by {name}"));
        }
        if kind == EntryKind::Adjustment && self.author.is_none() {
            return Err("author is missing: somebody signs an adjustment".to_owned());
        }
        if kind == EntryKind::Adjustment && self.reason.is_none() {
            return Err("reason is missing: an adjustment states why".to_owned());
        }
        Ok(())
    }
}

/// The kind with its article, for mistakes.
fn of_kind(kind: EntryKind) -> String {
    match kind {
        EntryKind::Award | EntryKind::Adjustment | EntryKind::Extension | EntryKind::Expiry => {
            format!("an {}", kind.as_str())
        }
        EntryKind::Supplement | EntryKind::Transfer => format!("a {}", kind.as_str()),
    }
}

fn kind(cell: &str) -> Result<EntryKind, String> {
    if cell.is_empty() {
        return Ok(EntryKind::Award);
    }
    let known = EntryKind::WORDS.iter().find(|(word, _)| *word == cell);
    known.map(|(_, kind)| *kind).ok_or_else(|| {
        let words: Vec<&str> = EntryKind::WORDS.iter().map(|(word, _)| *word).collect();
        let hint = did_you_mean(cell, words.iter().copied());
        format!("kind: \"{cell}\" is not one of {}{hint}", words.join(", "))
    })
}

/// The amount of an entry: above zero but for adjustments, which may take away, and absent where the kind has none. An
/// award of nothing is allowed: supplements may follow.
fn amount_e9(kind: EntryKind, cell: &str) -> Result<i128, String> {
    if !kind.has_amount() {
        return if cell.is_empty() {
            Ok(0)
        } else {
            Err(format!("amount: {} has none", of_kind(kind)))
        };
    }
    if cell.is_empty() {
        return Err("amount is missing".to_owned());
    }
    let (sign, digits) = match cell.strip_prefix('-') {
        Some(digits) if kind == EntryKind::Adjustment => (-1, digits),
        _ => (1, cell),
    };
    let amount_e9 = scaled(digits, 9).map_err(|why| format!("amount: {why}"))?;
    if amount_e9 == 0 && kind != EntryKind::Award {
        return Err(format!("amount: {} of nothing", of_kind(kind)));
    }
    Ok(sign * amount_e9)
}
