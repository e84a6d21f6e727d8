//! OSG's federation report: fifteen columns by resource group, VO and month.

use super::apel::aggregate::Aggregate;
use super::exact_work::E9;
use super::federation::{COUNTED, FederationSums, site_vo_month, sums_by};
use super::table::{Cell, ColumnKind, Table, divide};
use super::work_scale::WorkScale;
use crate::absent;
use crate::error::Result;
use crate::reference::federation_site::FederationSites;
use crate::time::Month;

const HOUR_S: i128 = 3600;

/// The report, in hours. `reported_at` is the value of its column of that name.
///
/// # Errors
/// [`crate::error::Kind::Data`] naming the sum that is too large.
pub fn report(groups: &[Aggregate], scale: WorkScale, sites: &FederationSites, reported_at: &str) -> Result<Table> {
    let label = scale.label(groups);
    let mut table = Table::new(
        format!("OSG federation report, work in {}; {COUNTED}", label.title),
        &[
            ("resource_group", "", ColumnKind::Text),
            ("norm_factor", "", ColumnKind::Text),
            ("vo", "", ColumnKind::Text),
            ("jobs", "1", ColumnKind::Sum),
            ("cpu_hours", "h", ColumnKind::Sum),
            ("wall_hours", "h", ColumnKind::Sum),
            ("norm_cpu_hours", label.unit, ColumnKind::Sum),
            ("norm_wall_hours", label.unit, ColumnKind::Sum),
            ("first_reported", "", ColumnKind::Text),
            ("last_reported", "", ColumnKind::Text),
            ("reported_at", "", ColumnKind::Text),
            ("federation", "", ColumnKind::Text),
            ("resources_reporting", "", ColumnKind::Text),
            ("month", "", ColumnKind::Text),
            ("year", "", ColumnKind::Text),
        ],
    );
    for ((site, vo, month), sums) in sums_by(groups, scale, site_vo_month)? {
        let entry = absent::entry(sites.get(&site).cloned());
        let resources = entry
            .resources
            .split(';')
            .map(str::trim)
            .filter(|name| !name.is_empty());
        let quoted: Vec<String> = resources.map(|name| format!("\"{name}\"")).collect();
        let [jobs, cpu, wall, cpu_work, wall_work] = amounts(&sums);
        table.push(vec![
            Cell::text(site),
            Cell::text(entry.norm_factor),
            Cell::text(vo),
            jobs,
            cpu,
            wall,
            cpu_work,
            wall_work,
            day(sums.earliest_end_ms, month),
            day(sums.latest_end_ms, month),
            Cell::text(reported_at),
            Cell::text(entry.federation),
            Cell::text(quoted.join(",")),
            Cell::text(format!("{:02}", month.number())),
            Cell::text(month.year().to_string()),
        ]);
    }
    let mut totals = vec![Cell::Empty; 3];
    totals.extend(amounts(&FederationSums::of_all(groups, scale)?));
    totals.resize(table.columns.len(), Cell::Empty);
    table.set_totals(totals);
    Ok(table)
}

/// Jobs, CPU time, wall time and the work of both, in whole hours. What no job could be scaled to is unknown, not zero.
fn amounts(sums: &FederationSums) -> [Cell; 5] {
    let hours = |time: i128, second: i128| divide(time, second * HOUR_S).map_or(Cell::Empty, Cell::Int);
    let is_unknown = sums.unscaled_job_n == sums.job_n && sums.job_n > 0;
    let work = |work_e9: i128| if is_unknown { Cell::Empty } else { hours(work_e9, E9) };
    let cpu = |cell: Cell| if sums.is_cpu_unknown() { Cell::Empty } else { cell };
    [
        Cell::Int(sums.job_n),
        cpu(hours(sums.cpu_ms, 1000)),
        hours(sums.wall_ms, 1000),
        cpu(work(sums.cpu_work_e9)),
        work(sums.wall_work_e9),
    ]
}

/// The UTC day of an end; the first instant of the next month belongs to the last day of this one.
fn day(end_ms: Option<i64>, month: Month) -> Cell {
    let Some(end_ms) = end_ms else { return Cell::Empty };
    let last = month.next().first_day() - 1;
    let day = i32::try_from(end_ms.div_euclid(86_400_000)).unwrap_or(last).min(last);
    crate::time::month::date_of(day).map_or(Cell::Empty, |date| Cell::text(date.to_string()))
}

/// The published form: tab separated, no header.
#[must_use]
pub fn summary_dat(table: &Table) -> String {
    let mut text = String::new();
    for row in &table.rows {
        let cells: Vec<String> = row
            .iter()
            .map(|cell| cell.to_string().replace(['\t', '\n', '\r'], " "))
            .collect();
        text.push_str(&cells.join("\t"));
        text.push('\n');
    }
    text
}
