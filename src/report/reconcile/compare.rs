//! All differences beyond a tolerance, each with its cause.

use std::collections::BTreeSet;

use super::cause::{Cause, Verdict, find};
use super::side::{Amount, Cell, CellKey, Side};
use crate::report::table::{Cell as Value, ColumnKind, Table};
use crate::time::Month;

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Site as it is spelled.
    pub site: String,
    /// VO as it is spelled; empty where only jobs of the site are counted.
    pub vo: String,
    /// Month.
    pub month: Month,
    /// What A has.
    pub a: Amount,
    /// What B has.
    pub b: Amount,
    /// Why.
    pub verdict: Verdict,
}

/// What a comparison came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Names of both sides.
    pub names: [String; 2],
    /// Sites, VOs and months that were compared.
    pub compared_n: usize,
    /// Those that differ.
    pub differences: Vec<Difference>,
}

/// Compares two sides. Sums that differ by at most `tolerance_e6` millionths of the larger are the same; names that differ
/// in letter case are told all the same.
#[must_use]
pub fn compare(a: &Side, b: &Side, tolerance_e6: i128) -> Comparison {
    let keys: BTreeSet<&CellKey> = a.cells.keys().chain(b.cells.keys()).collect();
    // A side that only counts jobs says nothing of VOs.
    let only_counts = a.cells.is_empty() || b.cells.is_empty();
    let mut comparison = Comparison {
        names: [a.name.clone(), b.name.clone()],
        ..Comparison::default()
    };
    let nothing = Cell::default();
    for key in keys.iter().filter(|_| !only_counts) {
        comparison.compared_n += 1;
        let (of_a, of_b) = (
            a.cells.get(*key).unwrap_or(&nothing),
            b.cells.get(*key).unwrap_or(&nothing),
        );
        let spelled_alike = of_a.spellings.keys().eq(of_b.spellings.keys());
        let rows = of_a.rows.len().max(of_b.rows.len());
        if spelled_alike && is_same(of_a.amount(), of_b.amount(), rows, tolerance_e6) {
            continue;
        }
        let spelled = of_a.spellings.keys().chain(of_b.spellings.keys()).next();
        let (site, vo) = spelled.cloned().unwrap_or_default();
        comparison.differences.push(Difference {
            site,
            vo,
            month: key.2,
            a: of_a.amount(),
            b: of_b.amount(),
            verdict: find(key, a, b),
        });
    }
    counts(a, b, tolerance_e6, only_counts, &mut comparison);
    comparison
}

/// Whether two sums of so many rows are the same; work is only compared where both sides tell some.
fn is_same(a: Amount, b: Amount, rows: usize, tolerance_e6: i128) -> bool {
    let near = |a: i128, b: i128| (a - b).abs().saturating_mul(1_000_000) <= tolerance_e6.saturating_mul(a.max(b));
    // Publishers round work once for each row.
    let slack = i128::try_from(rows).unwrap_or(i128::MAX);
    let near_work = |a: i128, b: i128| (a - b).abs() <= slack || near(a, b);
    let times = near(a.job_n, b.job_n) && near(a.wall_s, b.wall_s) && near(a.cpu_s, b.cpu_s);
    let has_work = |amount: Amount| amount.wall_work_s > 0 || amount.cpu_work_s > 0;
    let is_told = has_work(a) && has_work(b);
    times && (!is_told || (near_work(a.wall_work_s, b.wall_work_s) && near_work(a.cpu_work_s, b.cpu_work_s)))
}

/// Numbers of jobs by site and month, where one side counts them (sync records).
fn counts(a: &Side, b: &Side, tolerance_e6: i128, only_counts: bool, comparison: &mut Comparison) {
    let keys: BTreeSet<&(String, Month)> = a.counts.keys().chain(b.counts.keys()).collect();
    let jobs = |side: &Side, key: &(String, Month)| {
        side.counts.get(key).copied().unwrap_or_else(|| {
            let of = side
                .cells
                .iter()
                .filter(|((site, _, month), _)| *site == key.0 && *month == key.1);
            of.map(|(_, cell)| cell.amount().job_n).sum()
        })
    };
    let of_cells = a
        .cells
        .keys()
        .chain(b.cells.keys())
        .map(|(site, _, month)| (site.clone(), *month));
    let all: BTreeSet<(String, Month)> = keys
        .into_iter()
        .cloned()
        .chain(of_cells.filter(|_| only_counts))
        .collect();
    for key in all {
        comparison.compared_n += 1;
        let (of_a, of_b) = (jobs(a, &key), jobs(b, &key));
        if (of_a - of_b).abs().saturating_mul(1_000_000) <= tolerance_e6.saturating_mul(of_a.max(of_b)) {
            continue;
        }
        let amount = |job_n| Amount {
            job_n,
            ..Amount::default()
        };
        let less = if of_a < of_b { "A" } else { "B" };
        let verdict = Verdict {
            cause: Cause::MissingJobs,
            evidence: format!("counts alone: {less} has {} jobs fewer", (of_a - of_b).abs()),
        };
        let cells = a.cells.iter().chain(&b.cells).find(|((site, _, _), _)| *site == key.0);
        let spelled = cells.and_then(|(_, cell)| cell.spellings.keys().next());
        comparison.differences.push(Difference {
            site: spelled.map_or(key.0, |(site, _)| site.clone()),
            vo: String::new(),
            month: key.1,
            a: amount(of_a),
            b: amount(of_b),
            verdict,
        });
    }
}

impl Comparison {
    /// The differences.
    #[must_use]
    pub fn table(&self) -> Table {
        let [a, b] = &self.names;
        let mut table = Table::new(
            format!(
                "{a} (A) against {b} (B): {} of {} differ",
                self.differences.len(),
                self.compared_n
            ),
            &[
                ("site", "", ColumnKind::Text),
                ("vo", "", ColumnKind::Text),
                ("month", "", ColumnKind::Text),
                ("cause", "", ColumnKind::Text),
                ("job_n_a", "1", ColumnKind::Sum),
                ("job_n_b", "1", ColumnKind::Sum),
                ("wall_s_a", "s", ColumnKind::Sum),
                ("wall_s_b", "s", ColumnKind::Sum),
                ("cpu_s_a", "s", ColumnKind::Sum),
                ("cpu_s_b", "s", ColumnKind::Sum),
                ("cpu_work_s_a", "work s", ColumnKind::Sum),
                ("cpu_work_s_b", "work s", ColumnKind::Sum),
                ("evidence", "", ColumnKind::Text),
            ],
        );
        for one in &self.differences {
            table.push(vec![
                Value::text(&one.site),
                Value::text(&one.vo),
                Value::text(one.month.to_string()),
                Value::text(one.verdict.cause.as_str()),
                Value::Int(one.a.job_n),
                Value::Int(one.b.job_n),
                Value::Int(one.a.wall_s),
                Value::Int(one.b.wall_s),
                Value::Int(one.a.cpu_s),
                Value::Int(one.b.cpu_s),
                Value::Int(one.a.cpu_work_s),
                Value::Int(one.b.cpu_work_s),
                Value::text(&one.verdict.evidence),
            ]);
        }
        table
    }
}
