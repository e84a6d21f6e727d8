//! Installed capacity by calendar month.

use arrow_array::{ArrayRef, RecordBatch};

use super::site::{SitePower, installed};
use crate::amounts::too_large;
use crate::error::{Error, Result};
use crate::reference::benchmark::{Each, Score};
use crate::reference::node_type::{NodeType, NodeTypeTable};
use crate::schema::batch::{dates, decimals, ints, texts, times};
use crate::schema::dataset;
use crate::time::grain::Grain;
use crate::time::{Calendar, DAY_MS, Day, Month, YearStart, Zone};

/// One node type in one month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonthLine<'a> {
    /// First day of the month.
    pub month: Day,
    /// The nodes.
    pub nodes: &'a NodeType,
    /// From when they were there, Unix milliseconds.
    pub from_ms: i64,
    /// Until when (exclusive).
    pub until_ms: i64,
}

/// The node types of a site month by month, as the schema sorts them. Open intervals of the table begin with the month
/// `first`, or with that of the first dated row of the site if it is earlier; and end with the month `last`.
#[must_use]
pub fn monthly<'a>(table: &'a NodeTypeTable, site: &str, zone: &Zone, first: Month, last: Month) -> Vec<MonthLine<'a>> {
    let mut calendar = Calendar::new(zone.clone(), Grain::Month, YearStart::CALENDAR_YEAR);
    // Noon in UTC of the first day is in the month everywhere.
    let mut month = |month: Month| calendar.period(i64::from(month.first_day()) * DAY_MS + DAY_MS / 2);
    let (Some(first), Some(last)) = (month(first), month(last)) else {
        return Vec::new();
    };
    let midnight_ms = |day: Day| i64::from(day) * DAY_MS;
    let own = || table.rows.iter().filter(|row| row.site == site);
    let dated = own().filter_map(|nodes| nodes.from).min();
    let dated = dated.and_then(|day| calendar.period(midnight_ms(day)));
    let first_ms = dated.map_or(first.from_ms, |dated| dated.from_ms.min(first.from_ms));
    let mut lines = Vec::new();
    for nodes in own() {
        let mut from_ms = nodes.from.map_or(first_ms, midnight_ms);
        // People write days like 9999-12-31 for an unknown end.
        let end_ms = nodes.until.map_or(last.until_ms, midnight_ms).min(last.until_ms);
        while from_ms < end_ms {
            let Some(period) = calendar.period(from_ms) else { break };
            let until_ms = period.until_ms.min(end_ms);
            lines.push(MonthLine {
                month: period.month,
                nodes,
                from_ms,
                until_ms,
            });
            from_ms = until_ms;
        }
    }
    lines.sort_by_key(|line| (line.month, &line.nodes.cluster, &line.nodes.name, line.from_ms));
    lines
}

impl MonthLine<'_> {
    fn ms(&self) -> i64 {
        self.until_ms - self.from_ms
    }

    fn power(&self) -> SitePower {
        SitePower::of(&[self.nodes])
    }
}

/// The lines as a batch of `capacity`.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when the schema declares a column no line fills.
pub fn to_batch(lines: &[MonthLine<'_>]) -> Result<RecordBatch> {
    let dataset = dataset("capacity")?;
    let columns = dataset.columns.iter().map(|column| array(&column.name, lines));
    dataset.batch(columns.collect::<Result<_>>()?)
}

fn array(name: &str, lines: &[MonthLine<'_>]) -> Result<ArrayRef> {
    let integer = |of: fn(&MonthLine<'_>) -> i64| Ok(ints(lines.iter().map(|line| Some(of(line)))));
    let score = |of: fn(Each<Score>) -> Option<i128>| {
        let scores = lines.iter().map(|line| of(installed(line.nodes)));
        decimals(scores, 4)
    };
    let work = |at: usize| {
        let works = lines.iter().map(|line| {
            let work = installed(line.nodes).over_ms(line.ms()).scaled();
            work.get(at).copied().flatten()
        });
        decimals(works, 7)
    };
    let summed = |of: fn(&MonthLine<'_>) -> i128| {
        let sums = lines.iter().map(|line| {
            let sum = i64::try_from(of(line)).map_err(|_| too_large(name).at("node_type", &line.nodes.name));
            sum.map(Some)
        });
        Ok(ints(sums.collect::<Result<Vec<_>>>()?))
    };
    match name {
        "month" => Ok(dates(lines.iter().map(|line| Some(line.month)))),
        "cluster" => Ok(texts(lines.iter().map(|line| line.nodes.cluster.as_ref()))),
        "node_type" => Ok(texts(lines.iter().map(|line| Some(&line.nodes.name)))),
        "from_utc" => Ok(times(lines.iter().map(|line| Some(line.from_ms)))),
        "until_utc" => Ok(times(lines.iter().map(|line| Some(line.until_ms)))),
        "node_n" => integer(|line| line.nodes.node_n),
        "physical_cpu_n" => summed(|line| line.power().physical_cpu_n),
        "logical_cpu_n" => summed(|line| line.power().logical_cpu_n),
        // At most 10^16 CPUs for 2^63 ms fit 128 bits.
        "logical_cpu_s" => summed(|line| line.power().logical_cpu_n * i128::from(line.ms() / 1000)),
        "installed_hs06" => score(|score| score.scaled()[0]),
        "installed_hs23" => score(|score| score.scaled()[1]),
        "installed_si00" => score(|score| score.scaled()[2]),
        "capacity_hs06_s" => work(0),
        "capacity_hs23_s" => work(1),
        "capacity_si00_s" => work(2),
        other => Err(Error::internal(format!("no capacity fills the column {other}"))),
    }
}
