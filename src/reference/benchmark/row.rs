//! One row of a benchmark table, as it is written.

use super::kind::{Benchmark, NAMES};
use super::quantity::{Hs06, Power};
use super::scope::BenchmarkScope;
use super::timeline::TimelineSpan;
use crate::diagnostics::did_you_mean;
use crate::reference::csv_table::is_any;
use crate::reference::decimal::ten_thousandths;
use crate::reference::table_columns::BENCHMARK_VALUES;
use crate::time::month::day_of;
use crate::time::{DAY_MS, Date};

/// One row.
#[derive(Clone, Debug)]
pub(super) struct BenchmarkRow {
    /// `None` is any.
    pub(super) site: Option<String>,
    pub(super) scope: BenchmarkScope,
    pub(super) kind: Benchmark,
    pub(super) span: TimelineSpan,
    /// A value out of the usual range is meant.
    pub(super) is_range_accepted: bool,
}

impl BenchmarkRow {
    /// Reads the row of `line`; `cell` gives the text of a column, empty when there is none. Otherwise everything that
    /// is wrong with it.
    pub(super) fn read<'c>(line: usize, cell: impl Fn(&str) -> &'c str) -> Result<Self, Vec<String>> {
        let mut wrong = Vec::new();
        let kind = Benchmark::parse(cell("benchmark"));
        if kind.is_none() {
            let word = cell("benchmark");
            let hint = did_you_mean(word, NAMES.iter().map(|&(name, _)| name));
            wrong.push(format!("\"{word}\" is not a benchmark (hs06, hs23, si00){hint}"));
        }
        let mut report = |column: &str, why: String| wrong.push(format!("{column}: {why}"));
        let core_n = count(cell("cores")).map_err(|why| report("cores", why));
        let cpu_n = count(cell("cpus_per_core")).map_err(|why| report("cpus_per_core", why));
        let value = match (core_n, cpu_n) {
            (Ok(core_n), Ok(cpu_n)) => value(&cell, core_n, cpu_n).map_err(|why| wrong.push(why)),
            _ => Err(()),
        };
        let mut day =
            |column: &str, open: i64| day_ms(cell(column), open).map_err(|why| wrong.push(format!("{column}: {why}")));
        let from = day("valid_from", i64::MIN);
        let until = day("valid_to", i64::MAX);
        let recorded = day("recorded_at", i64::MIN);
        if let (Ok(from_ms), Ok(until_ms)) = (from, until)
            && until_ms <= from_ms
        {
            let (to, from) = (cell("valid_to"), cell("valid_from"));
            wrong.push(format!("valid_to {to} is not after valid_from {from}"));
        }
        let accepted = |word: &str| cell("accept").split_whitespace().any(|accepted| accepted == word);
        for word in cell("accept").split_whitespace() {
            if !matches!(word, "range" | "jump") {
                let hint = did_you_mean(word, ["range", "jump"]);
                wrong.push(format!("accept: \"{word}\" is not one of range, jump{hint}"));
            }
        }
        let named = |column: &str| Some(cell(column)).filter(|text| !is_any(text)).map(str::to_owned);
        let (Some(kind), Ok(value_e4), Ok(core_n), true) = (kind, value, core_n, wrong.is_empty()) else {
            return Err(wrong);
        };
        Ok(Self {
            site: named("site"),
            scope: BenchmarkScope {
                cluster: named("cluster"),
                submit_host: named("submit_host"),
                partition: named("partition"),
                node_class: named("node_class"),
                nodes: named("nodes"),
            },
            kind,
            span: TimelineSpan {
                // Fallback: a row without a beginning has always held.
                from_ms: from.unwrap_or(i64::MIN),
                // Fallback: a row without an end holds for ever.
                until_ms: until.unwrap_or(i64::MAX),
                value_e4,
                core_n,
                // Fallback: a row that does not state when it was recorded was known from the beginning.
                recorded_ms: recorded.unwrap_or(i64::MIN),
                line,
                is_jump_accepted: accepted("jump"),
            },
            is_range_accepted: accepted("range"),
        })
    }
}

/// The value per core as the jobs count them, in ten-thousandths.
fn value<'c>(cell: &impl Fn(&str) -> &'c str, core_n: Option<i64>, cpu_n: Option<i64>) -> Result<i64, String> {
    let stated: Vec<&str> = BENCHMARK_VALUES
        .iter()
        .copied()
        .filter(|column| !cell(column).is_empty())
        .collect();
    let [column] = stated.as_slice() else {
        return Err(match stated.as_slice() {
            [] => "no value (one of value_per_core, value_per_cpu, value_per_system)".to_owned(),
            several => format!("{} at once; a row has one value", several.join(" and ")),
        });
    };
    let value_e4 = ten_thousandths(cell(column)).map_err(|why| format!("{column}: {why}"))?;
    if cpu_n.is_some() && *column != "value_per_cpu" {
        return Err(format!("cpus_per_core goes with value_per_cpu, not with {column}"));
    }
    match *column {
        "value_per_cpu" => (value_e4.checked_mul(cpu_n.unwrap_or(1)))
            .ok_or_else(|| "value_per_cpu times cpus_per_core is too large".to_owned()),
        "value_per_system" => {
            let core_n = core_n.ok_or("value_per_system needs cores, the cores of the system")?;
            // The unit does not matter to a share.
            let share = Power::<Hs06>::from_e4(value_e4).shared_by(core_n).map(Power::scaled);
            share
                .and_then(|e4| i64::try_from(e4).ok())
                .filter(|e4| *e4 > 0)
                .ok_or_else(|| "value_per_system over cores is not a value per core".to_owned())
        }
        _ => Ok(value_e4),
    }
}

/// A count above zero; `None` for an empty cell.
pub(super) fn count(cell: &str) -> Result<Option<i64>, String> {
    if cell.is_empty() {
        return Ok(None);
    }
    match cell.parse::<u32>() {
        Ok(n) if n > 0 => Ok(Some(i64::from(n))),
        _ => Err(format!("\"{cell}\" is not a count above zero")),
    }
}

/// Midnight UTC of `YYYY-MM-DD`, Unix milliseconds; `open` for an empty cell.
pub(super) fn day_ms(cell: &str, open: i64) -> Result<i64, String> {
    if cell.is_empty() {
        return Ok(open);
    }
    let wrong = || format!("\"{cell}\" is not a day such as 2024-04-01");
    let shape = cell.len() == 10
        && cell.bytes().enumerate().all(|(nth, byte)| match nth {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if !shape {
        return Err(wrong());
    }
    let day: Date = cell.parse().map_err(|_| wrong())?;
    Ok(i64::from(day_of(day)) * DAY_MS)
}
