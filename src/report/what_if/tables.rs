//! A what-if as tables.

use super::super::recovery::{DAY_DIGITS, Recovery};
use super::super::shares::table::listed_text;
use super::super::sshare::ListedUsers;
use super::super::table::{Cell, ColumnKind, Table, divide};
use super::data::{FairshareWhatIf, WhatIfSide};
use super::queue::WaitingJobs;
use crate::error::Result;
use crate::fairshare::float::e9;
use crate::fairshare::standing::{FactorOutcome, OutcomeBasis, Standing};
use crate::fairshare::{Association, AssociationId, AssociationScore, LevelFairshare};
use crate::numbers::count_i128;
use crate::reference::node_type::day_text;
use crate::time::instant::instant_text_s;

/// Digits of fractions for programs.
const EXACT: u8 = 9;
/// Digits of fractions for people.
const SHOWN: u8 = 6;

/// A table of a what-if.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum WhatIfTable {
    /// What is assumed to be other than it is: old and new.
    Assumptions,
    /// How many accounts and users gain, lose and stay.
    Totals,
    /// Every account, and with --users every user, before and after.
    Associations,
    /// The days of the period, added up.
    Period,
    /// Every day of the period.
    Days,
    /// Waiting jobs: priorities and places before and after.
    Queue,
}

/// Who reads the table of associations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhatIfReader {
    /// People at a terminal: what is compared most, six digits.
    Terminal,
    /// People in front of a page: all columns, six digits.
    Page,
    /// Programs: all columns, nine digits.
    Program,
}

/// What a column of associations holds.
struct AssociationColumn {
    name: &'static str,
    unit: &'static str,
    kind: ColumnKind,
    is_for_terminals: bool,
    cell: fn(&AssociationRow<'_>) -> Result<Cell>,
}

/// One association on both sides.
struct AssociationRow<'a> {
    id: AssociationId,
    before: SideRow<'a>,
    after: SideRow<'a>,
    digits: u8,
    basis: OutcomeBasis,
}

/// One association on one side.
#[derive(Clone, Copy)]
struct SideRow<'a> {
    side: &'a WhatIfSide,
    association: &'a Association,
    score: &'a AssociationScore,
    standing: Standing,
}

impl<'a> SideRow<'a> {
    fn of(side: &'a WhatIfSide, id: AssociationId) -> Option<Self> {
        Some(Self {
            side,
            association: side.instant.tree.get(id)?,
            score: side.instant.scores.get(id.index())?,
            standing: side.standings.get(id.index()).copied()?,
        })
    }

    /// The root has none.
    fn shares(self) -> Cell {
        if self.association.parent.is_none() {
            return Cell::Empty;
        }
        Cell::text(listed_text(self.association.shares))
    }

    fn level_fs(self, digits: u8) -> Result<Cell> {
        Ok(match self.score.level_fs {
            LevelFairshare::Finite(level_fs) => fraction(Some(e9(level_fs)?), digits),
            LevelFairshare::Infinite => Cell::text("inf"),
            LevelFairshare::Blank => Cell::Empty,
        })
    }

    fn rank(self) -> Cell {
        self.standing.rank.map_or(Cell::Empty, Cell::int)
    }

    fn points(self) -> Result<Option<i64>> {
        self.side.settings.priority_points(self.score.factor)
    }

    fn recovery(self, id: AssociationId) -> Option<Recovery> {
        self.side.recoveries.as_ref()?.get(id.index()).copied()
    }
}

/// A fraction of nine digits with so many.
fn fraction(value_e9: Option<i128>, digits: u8) -> Cell {
    let cut = if digits < EXACT {
        10_i128.pow(u32::from(EXACT - digits))
    } else {
        1
    };
    let value = value_e9.and_then(|value_e9| divide(value_e9, cut));
    value.map_or(Cell::Empty, |value| Cell::Decimal { value, scale: digits })
}

/// After less before, where both are known.
fn difference(before: Option<i128>, after: Option<i128>) -> Option<i128> {
    Some(after? - before?)
}

fn outcome(before: Standing, after: Standing, basis: OutcomeBasis) -> Cell {
    Cell::word(FactorOutcome::of(before, after, basis).map(FactorOutcome::as_str))
}

fn factor(standing: Standing, digits: u8) -> Cell {
    fraction(standing.factor_e9.map(i128::from), digits)
}

/// The factor after less that before.
fn factor_difference(before: Standing, after: Standing, digits: u8) -> Cell {
    let of = |standing: Standing| standing.factor_e9.map(i128::from);
    fraction(difference(of(before), of(after)), digits)
}

fn points_cell(points: Option<i64>) -> Cell {
    points.map_or(Cell::Empty, Cell::int)
}

fn recovery_days(recovery: Option<Recovery>) -> Cell {
    recovery.and_then(Recovery::days_cell).unwrap_or(Cell::Empty)
}

fn recovery_word(recovery: Option<Recovery>) -> Cell {
    Cell::word(recovery.and_then(Recovery::as_str))
}

/// The columns of associations.
fn columns(digits: u8) -> Vec<AssociationColumn> {
    let text = ColumnKind::Text;
    let (number, decimal) = (ColumnKind::Number, ColumnKind::Decimal(digits));
    let column = |name, unit, kind, is_for_terminals, cell| AssociationColumn {
        name,
        unit,
        kind,
        is_for_terminals,
        cell,
    };
    vec![
        column("account", "", text, true, |row| {
            Ok(Cell::text(row.before.association.key.account.as_str()))
        }),
        column("user", "", text, true, |row| {
            Ok(Cell::word(row.before.association.key.user.as_deref()))
        }),
        column("partition", "", text, true, |row| {
            Ok(Cell::word(row.before.association.key.partition.as_deref()))
        }),
        column("parent", "", text, false, |row| {
            let parent = row.before.association.parent;
            let parent = parent.and_then(|parent| row.before.side.instant.tree.get(parent));
            Ok(Cell::word(parent.map(|parent| parent.key.account.as_str())))
        }),
        column("shares_before", "shares", text, true, |row| Ok(row.before.shares())),
        column("shares_after", "shares", text, true, |row| Ok(row.after.shares())),
        column("effective_usage_before", "1", decimal, false, |row| {
            Ok(fraction(Some(e9(row.before.score.effective_usage)?), row.digits))
        }),
        column("effective_usage_after", "1", decimal, false, |row| {
            Ok(fraction(Some(e9(row.after.score.effective_usage)?), row.digits))
        }),
        column("level_fs_before", "1", text, false, |row| {
            row.before.level_fs(row.digits)
        }),
        column("level_fs_after", "1", text, false, |row| row.after.level_fs(row.digits)),
        column("factor_before", "1", decimal, true, |row| {
            Ok(factor(row.before.standing, row.digits))
        }),
        column("factor_after", "1", decimal, true, |row| {
            Ok(factor(row.after.standing, row.digits))
        }),
        column("factor_difference", "1", decimal, true, |row| {
            Ok(factor_difference(row.before.standing, row.after.standing, row.digits))
        }),
        column("rank_before", "1", number, true, |row| Ok(row.before.rank())),
        column("rank_after", "1", number, true, |row| Ok(row.after.rank())),
        column("priority_before", "1", number, false, |row| {
            Ok(points_cell(row.before.points()?))
        }),
        column("priority_after", "1", number, false, |row| {
            Ok(points_cell(row.after.points()?))
        }),
        column("priority_difference", "1", number, false, |row| {
            let (before, after) = (row.before.points()?, row.after.points()?);
            let difference = difference(before.map(i128::from), after.map(i128::from));
            Ok(difference.map_or(Cell::Empty, Cell::Int))
        }),
        column("outcome", "", text, true, |row| {
            Ok(outcome(row.before.standing, row.after.standing, row.basis))
        }),
        column(
            "recovery_days_before",
            "day",
            ColumnKind::Decimal(DAY_DIGITS),
            true,
            |row| Ok(recovery_days(row.before.recovery(row.id))),
        ),
        column(
            "recovery_days_after",
            "day",
            ColumnKind::Decimal(DAY_DIGITS),
            true,
            |row| Ok(recovery_days(row.after.recovery(row.id))),
        ),
        column("recovery_before", "", text, true, |row| {
            Ok(recovery_word(row.before.recovery(row.id)))
        }),
        column("recovery_after", "", text, true, |row| {
            Ok(recovery_word(row.after.recovery(row.id)))
        }),
    ]
}

impl FairshareWhatIf {
    /// The instant of comparison.
    #[must_use]
    pub fn at(&self) -> String {
        instant_text_s(self.at_s).unwrap_or_else(|| self.at_s.to_string())
    }

    /// What differs.
    #[must_use]
    pub fn assumptions_table(&self) -> Table {
        let text = ColumnKind::Text;
        let columns = [("what", "", text), ("before", "", text), ("after", "", text)];
        let mut table = Table::new("What is assumed", &columns);
        for assumption in &self.assumptions {
            table.push(vec![
                Cell::text(assumption.what.as_str()),
                Cell::text(assumption.before.as_str()),
                Cell::text(assumption.after.as_str()),
            ]);
        }
        table
    }

    /// How many gain and lose. The root is not counted: all is below it.
    #[must_use]
    pub fn totals_table(&self) -> Table {
        let number = ColumnKind::Number;
        let mut table = Table::new(
            "Who gains and who loses",
            &[
                ("of", "", ColumnKind::Text),
                ("gains", "1", number),
                ("loses", "1", number),
                ("same", "1", number),
                ("without_factor", "1", number),
            ],
        );
        for (word, is_of_users) in [("accounts", false), ("users", true)] {
            let outcomes: Vec<Option<FactorOutcome>> = (self.before.instant.tree.iter())
                .zip(self.outcomes())
                .filter(|((_, of), _)| of.parent.is_some() && of.key.is_user() == is_of_users)
                .map(|(_, outcome)| outcome)
                .collect();
            let count = |wanted: Option<FactorOutcome>| {
                Cell::Int(count_i128(
                    outcomes.iter().filter(|outcome| **outcome == wanted).count(),
                ))
            };
            let mut row = vec![Cell::text(word)];
            row.extend(FactorOutcome::ALL.map(|outcome| count(Some(outcome))));
            row.push(count(None));
            table.push(row);
        }
        table
    }

    /// Every association, in the order of sshare.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when a number does not fit.
    pub fn associations_table(&self, reader: WhatIfReader, users: ListedUsers) -> Result<Table> {
        let digits = if reader == WhatIfReader::Program { EXACT } else { SHOWN };
        let is_wanted = |column: &AssociationColumn| {
            let is_of_user = ["user", "partition"].contains(&column.name);
            let is_of_recovery = column.name.starts_with("recovery");
            (reader != WhatIfReader::Terminal || column.is_for_terminals)
                && (users == ListedUsers::All || !is_of_user)
                && (self.threshold.is_some() || !is_of_recovery)
        };
        let columns: Vec<AssociationColumn> = columns(digits).into_iter().filter(is_wanted).collect();
        let described: Vec<(&str, &'static str, ColumnKind)> = columns
            .iter()
            .map(|column| (column.name, column.unit, column.kind))
            .collect();
        let mut table = Table::new(self.associations_title(), &described);
        for (id, association) in self.before.instant.tree.iter() {
            if users == ListedUsers::None && association.key.is_user() {
                continue;
            }
            let sides = SideRow::of(&self.before, id).zip(SideRow::of(&self.after, id));
            let Some((before, after)) = sides else { continue };
            let row = AssociationRow {
                id,
                before,
                after,
                digits,
                basis: self.basis(),
            };
            table.push(
                columns
                    .iter()
                    .map(|column| (column.cell)(&row))
                    .collect::<Result<_>>()?,
            );
        }
        Ok(table)
    }

    fn associations_title(&self) -> String {
        let recovery = self.threshold.map_or_else(String::new, |threshold| {
            format!("; recovery is to a factor of {threshold}")
        });
        format!("{} at {}{recovery}", self.cluster, self.at())
    }

    /// Every day of the period; empty where none is requested.
    #[must_use]
    pub fn days_table(&self, users: ListedUsers) -> Table {
        let (text, decimal) = (ColumnKind::Text, ColumnKind::Decimal(EXACT));
        let columns = [
            ("day", "", text),
            ("account", "", text),
            ("user", "", text),
            ("partition", "", text),
            ("factor_before", "1", decimal),
            ("factor_after", "1", decimal),
            ("factor_difference", "1", decimal),
            ("outcome", "", text),
        ];
        let mut table = Table::new(format!("{}, day by day", self.cluster), &columns);
        let Some(course) = &self.course else { return table };
        for (at, day) in course.before.days.iter().enumerate() {
            for (key, before) in &course.before.standings {
                if key.is_user() && users == ListedUsers::None {
                    continue;
                }
                let of_day = |standings: &Vec<Standing>| standings.get(at).copied();
                let pair = of_day(before).zip(course.after.standings.get(key).and_then(of_day));
                let Some((before, after)) = pair.filter(|(before, _)| *before != Standing::default()) else {
                    continue;
                };
                table.push(vec![
                    Cell::text(day_text(Some(*day), "")),
                    Cell::text(key.account.as_str()),
                    Cell::word(key.user.as_deref()),
                    Cell::word(key.partition.as_deref()),
                    factor(before, EXACT),
                    factor(after, EXACT),
                    factor_difference(before, after, EXACT),
                    outcome(before, after, self.basis()),
                ]);
            }
        }
        match users {
            ListedUsers::All => table,
            ListedUsers::None => table.with_columns(|_, column| column.name != "user" && column.name != "partition"),
        }
    }

    /// Waiting jobs; empty where the lake has no listing of them.
    #[must_use]
    pub fn queue_table(&self, users: ListedUsers) -> Table {
        let (text, number) = (ColumnKind::Text, ColumnKind::Number);
        let listed = self.queue.as_ref().and_then(|queue| instant_text_s(queue.listed_s));
        let title = format!(
            "Waiting jobs of {}{}",
            self.cluster,
            listed.map_or_else(String::new, |listed| format!(" at {listed}"))
        );
        let columns = [
            ("job", "", text),
            ("partition", "", text),
            ("account", "", text),
            ("user", "", text),
            ("priority_before", "1", number),
            ("priority_after", "1", number),
            ("priority_difference", "1", number),
            ("place_before", "1", number),
            ("place_after", "1", number),
            ("order", "", text),
        ];
        let mut table = Table::new(title, &columns);
        for job in self.queue.iter().flat_map(|queue: &WaitingJobs| &queue.jobs) {
            let order = match job.after.place.cmp(&job.before.place) {
                std::cmp::Ordering::Less => "earlier",
                std::cmp::Ordering::Greater => "later",
                std::cmp::Ordering::Equal => "same",
            };
            table.push(vec![
                Cell::text(job.job_id.as_str()),
                Cell::text(job.partition.as_str()),
                Cell::word(job.account.as_deref()),
                Cell::word(job.user.as_deref()),
                Cell::int(job.before.priority),
                Cell::int(job.after.priority),
                Cell::Int(i128::from(job.after.priority) - i128::from(job.before.priority)),
                Cell::Int(count_i128(job.before.place)),
                Cell::Int(count_i128(job.after.place)),
                Cell::text(order),
            ]);
        }
        match users {
            ListedUsers::All => table,
            ListedUsers::None => table.with_columns(|_, column| column.name != "user"),
        }
    }
}
