//! A comparison as a table: a row for each cause of a difference.

use super::amount::{Amount, WORK_UNITS_PER_S};
use super::compare::{Difference, ReconcileComparison};
use crate::report::table::{Cell as Value, ColumnKind, Table, divide};

/// Columns of what each cause makes, and of both sides: name and unit.
const AMOUNTS: [(&str, &str); 6] = [
    ("job_n", "1"),
    ("wall_s", "s"),
    ("core_wall_s", "s"),
    ("cpu_s", "s"),
    ("wall_work_s", "work s"),
    ("cpu_work_s", "work s"),
];

impl ReconcileComparison {
    /// The differences. Each cause contributes B less A, and these add up; the amounts of both sides are in the first row of a
    /// difference alone, so that the column can be added up as well. What is not compared has no differences, and is empty.
    #[must_use]
    pub fn table(&self) -> Table {
        let [a, b] = &self.names;
        let title = format!(
            "{a} (A) against {b} (B): {} of {} differ",
            self.differences.len(),
            self.compared_n
        );
        let numbers = |end: &'static str| AMOUNTS.map(|(name, unit)| (format!("{name}_{end}"), unit));
        let (more, of_a, of_b) = (numbers("more"), numbers("a"), numbers("b"));
        let mut columns: Vec<(&str, &str, ColumnKind)> = ["site", "vo", "month", "cause"]
            .map(|name| (name, "", ColumnKind::Text))
            .to_vec();
        columns.push(("cause_job_n", "1", ColumnKind::Sum));
        columns.extend(more.iter().map(|(name, unit)| (name.as_str(), *unit, ColumnKind::Sum)));
        for (a, b) in of_a.iter().zip(&of_b) {
            columns.extend([a, b].map(|(name, unit)| (name.as_str(), *unit, ColumnKind::Sum)));
        }
        columns.push(("evidence", "", ColumnKind::Text));
        let mut table = Table::new(title, &columns);
        for one in &self.differences {
            self.rows(one, &mut table);
        }
        table
    }

    fn rows(&self, one: &Difference, table: &mut Table) {
        // Each row shows by how much the rounded sum grows, so that rounded numbers add up as well.
        let mut reached = one.a;
        for (nth, share) in one.shares.iter().enumerate() {
            let next = reached.plus(share.amount);
            let mut row = vec![
                Value::text(&one.site),
                Value::text(&one.vo),
                Value::text(one.month.to_string()),
                Value::text(share.cause.as_str()),
                Value::Int(share.job_n),
            ];
            let known = |at: usize, value: i128| {
                if one.is_count && at > 0 {
                    Value::Empty
                } else {
                    Value::Int(value)
                }
            };
            let steps = shown(reached).into_iter().zip(shown(next)).enumerate();
            row.extend(steps.map(|(at, (before, after))| {
                if self.is_compared(at) {
                    known(at, after - before)
                } else {
                    Value::Empty
                }
            }));
            for (at, (a, b)) in shown(one.a).into_iter().zip(shown(one.b)).enumerate() {
                row.extend([a, b].map(|value| if nth == 0 { known(at, value) } else { Value::Empty }));
            }
            row.push(Value::text(&share.evidence));
            table.push(row);
            reached = next;
        }
    }

    /// Whether the column of this place in [`AMOUNTS`] is compared.
    fn is_compared(&self, at: usize) -> bool {
        match AMOUNTS.get(at) {
            Some(("core_wall_s", _)) => !self.is_without_cores,
            Some((_, "work s")) => !self.is_without_work,
            _ => true,
        }
    }
}

/// The numbers of [`AMOUNTS`].
fn shown(amount: Amount) -> [i128; 6] {
    let rounded = |value: i128, unit: i128| divide(value, unit).unwrap_or(value);
    [
        amount.job_n,
        amount.wall_s,
        amount.core_wall_s,
        rounded(amount.cpu_ms, 1000),
        rounded(amount.wall_work, WORK_UNITS_PER_S),
        rounded(amount.cpu_work, WORK_UNITS_PER_S),
    ]
}
