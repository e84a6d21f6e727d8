//! The days of a period, added up.

use super::super::sshare::ListedUsers;
use super::super::table::{Cell, ColumnKind, Table};
use super::data::FairshareWhatIf;
use crate::fairshare::standing::{FactorOutcome, OutcomeBasis, Standing};
use crate::numbers::count_i128;
use crate::reference::node_type::day_text;

/// Digits of mean factors.
const DIGITS: u8 = 6;
/// The unit of factors.
const E9: i128 = 1_000_000_000;

/// Factors of days on which both sides have one.
#[derive(Clone, Copy, Debug, Default)]
struct DaySums {
    day_n: usize,
    before_e9: i128,
    after_e9: i128,
    outcome_n: [usize; 3],
}

impl DaySums {
    /// Adds a day on which both sides have a factor.
    fn add(&mut self, before: Standing, after: Standing, basis: OutcomeBasis) {
        let Some((before_e9, after_e9)) = before.factor_e9.zip(after.factor_e9) else {
            return;
        };
        self.day_n += 1;
        // A factor is at most 10^9: no period has so many days.
        self.before_e9 += i128::from(before_e9);
        self.after_e9 += i128::from(after_e9);
        let outcome = FactorOutcome::of(before, after, basis);
        for (known, count) in FactorOutcome::ALL.into_iter().zip(&mut self.outcome_n) {
            *count += usize::from(Some(known) == outcome);
        }
    }

    /// The mean of a sum; nothing without days.
    fn mean(&self, sum_e9: i128) -> Cell {
        Cell::ratio(sum_e9, count_i128(self.day_n) * E9, DIGITS)
    }
}

impl FairshareWhatIf {
    /// Means of factors, and on how many days each association gains and loses; empty where no period is requested.
    #[must_use]
    pub fn period_table(&self, users: ListedUsers) -> Table {
        let (text, number, decimal) = (ColumnKind::Text, ColumnKind::Number, ColumnKind::Decimal(DIGITS));
        let columns = [
            ("account", "", text),
            ("user", "", text),
            ("partition", "", text),
            ("days", "1", number),
            ("mean_factor_before", "1", decimal),
            ("mean_factor_after", "1", decimal),
            ("mean_factor_difference", "1", decimal),
            ("gains", "day", number),
            ("loses", "day", number),
            ("same", "day", number),
        ];
        let Some(course) = &self.course else {
            return Table::new("Over no period", &columns);
        };
        let first = day_text(course.before.days.first().copied(), "");
        let last = day_text(course.before.days.last().copied(), "");
        let mut table = Table::new(format!("{}, {first} to {last}", self.cluster), &columns);
        for (_, association) in self.before.instant.tree.iter() {
            let key = &association.key;
            if key.is_user() && users == ListedUsers::None {
                continue;
            }
            let pair = course.before.standings.get(key).zip(course.after.standings.get(key));
            let mut sums = DaySums::default();
            for (before, after) in pair.into_iter().flat_map(|(before, after)| before.iter().zip(after)) {
                sums.add(*before, *after, self.basis());
            }
            let mut row = vec![
                Cell::text(key.account.as_str()),
                Cell::word(key.user.as_deref()),
                Cell::word(key.partition.as_deref()),
                Cell::Int(count_i128(sums.day_n)),
                sums.mean(sums.before_e9),
                sums.mean(sums.after_e9),
                sums.mean(sums.after_e9 - sums.before_e9),
            ];
            row.extend(sums.outcome_n.map(|day_n| Cell::Int(count_i128(day_n))));
            table.push(row);
        }
        match users {
            ListedUsers::All => table,
            ListedUsers::None => table.with_columns(|_, column| column.name != "user" && column.name != "partition"),
        }
    }
}
