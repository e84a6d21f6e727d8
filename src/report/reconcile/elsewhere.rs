//! Usage that one side has in another cell, where only sums can be compared.

use super::amount::Amount;
use super::difference_cause::Cause;
use super::population::Population;
use super::usage_source::{CellKey, SourceCell, UsageSource};
use crate::absent;
use crate::time::Month;

fn amount(side: &UsageSource, key: &CellKey) -> Amount {
    absent::entry(side.cells.get(key).map(SourceCell::amount))
}

/// By how much B is more than A in a cell.
fn more(key: &CellKey, a: &UsageSource, b: &UsageSource) -> Amount {
    amount(b, key).minus(amount(a, key))
}

/// The month and a neighbour together agree.
#[must_use]
pub fn month_boundary(key: &CellKey, a: &UsageSource, b: &UsageSource) -> Option<Population> {
    let neighbours = [Month::of_day(key.month.first_day() - 1), Some(key.month.next())];
    let mut twins = (neighbours.into_iter().flatten()).map(|month| CellKey { month, ..key.clone() });
    let is_there = |twin: &CellKey| a.cells.contains_key(twin) && b.cells.contains_key(twin);
    let twin = twins.find(|twin| is_there(twin) && makes_good(key, twin, a, b))?;
    let n = more(key, a, b).job_n.abs();
    let words = format!(
        "together with {} both sides agree: {n} jobs are on the other side of the edge",
        twin.month
    );
    moved(Cause::MonthBoundary, words, key, &twin, [a, b])
}

/// What one side has more in this cell it has less in another of the same site or VO, exactly.
#[must_use]
pub fn other_name(key: &CellKey, a: &UsageSource, b: &UsageSource) -> Option<Population> {
    let here = more(key, a, b);
    let is_near =
        |other: &&CellKey| other.month == key.month && (other.site == key.site || other.vo == key.vo) && *other != key;
    let mut others = a.cells.keys().chain(b.cells.keys()).filter(is_near);
    let twin = others.find(|twin| here.job_n != 0 && makes_good(key, twin, a, b))?;
    let which = if here.job_n < 0 { "B" } else { "A" };
    let words = format!(
        "{which} has the same {} jobs and times under {}/{}",
        here.job_n.abs(),
        twin.site,
        twin.vo
    );
    moved(Cause::OtherName, words, key, twin, [a, b])
}

/// Whether times of one cell make good for those of another.
fn makes_good(key: &CellKey, twin: &CellKey, a: &UsageSource, b: &UsageSource) -> bool {
    let here = more(key, a, b);
    here.without_work() != Amount::default() && Amount::default().minus(more(twin, a, b)).has_same_time(here, 0)
}

/// A plus the amounts in the other cell. Its work is the surplus of the other cell, at the factor of A; `None` where it is too
/// large to be worked out, and proves nothing.
fn moved(
    cause: Cause,
    evidence: String,
    key: &CellKey,
    twin: &CellKey,
    [a, b]: [&UsageSource; 2],
) -> Option<Population> {
    let here = more(key, a, b);
    // What left a cell of A left it with the factor of A; what came brings that of the cell it came from.
    let (from, of_a) = if here.job_n < 0 {
        (amount(a, key), key)
    } else {
        (amount(a, twin), twin)
    };
    let scaled = |work: i128, time: i128, part: i128| match time {
        // Of no time there is no part, and no work.
        0 => Some(0),
        time => crate::report::table::divide(work.checked_mul(part)?, time),
    };
    let gone = if amount(b, of_a).job_n == 0 {
        // All of it went.
        from
    } else {
        Amount {
            wall_work: scaled(from.wall_work, from.wall_s, here.wall_s.abs())?,
            cpu_work: scaled(from.cpu_work, from.cpu_ms, here.cpu_ms.abs())?,
            ..from
        }
    };
    let sign = if here.job_n < 0 { -1 } else { 1 };
    Some(Population {
        cause: Some(cause),
        evidence,
        job_n: here.job_n.abs(),
        amount: amount(a, key).plus(Amount {
            wall_work: sign * gone.wall_work,
            cpu_work: sign * gone.cpu_work,
            ..here
        }),
    })
}
