//! The tables of the portals: EGI's, WLCG's, and the columns EGI's portal exports.

use super::apel::aggregate::Aggregate;
use super::exact_work::E9;
use super::federation::{COUNTED, FederationSums, Infrastructure, site_vo_month, sums_by};
use super::table::{Cell, ColumnKind, Table};
use super::work_scale::WorkScale;
use crate::absent;
use crate::amounts::{add_known, finer};
use crate::error::Result;
use crate::reference::federation_site::FederationSites;
use crate::reference::pledge::{PledgeKey, Pledges};
use crate::time::Month;

const HOUR_S: i128 = 3600;
/// Digits after the point of hours.
const HOUR_DIGITS: u8 = 2;
/// Digits after the point of percentages.
const PERCENT_DIGITS: u8 = 1;
/// In the order of their columns.
const INFRASTRUCTURES: [Infrastructure; 3] = [Infrastructure::Grid, Infrastructure::Local, Infrastructure::Unknown];
/// Pledge years begin in April.
const PLEDGE_MONTH: i8 = 4;

fn hours(ms: i128) -> Cell {
    Cell::ratio(ms, HOUR_S * 1000, HOUR_DIGITS)
}

fn work_hours(work_e9: i128) -> Cell {
    Cell::ratio(work_e9, HOUR_S * E9, HOUR_DIGITS)
}

/// Hours of work; unknown where no job of these has any.
fn work(work_e9: i128, sums: &FederationSums) -> Cell {
    if sums.unscaled_job_n == sums.job_n && sums.job_n > 0 {
        return Cell::Empty;
    }
    work_hours(work_e9)
}

/// Work of CPU time; unknown where no job of these has any, or none has CPU time.
fn cpu_work(sums: &FederationSums) -> Cell {
    if sums.is_cpu_unknown() {
        return Cell::Empty;
    }
    work(sums.cpu_work_e9, sums)
}

fn cpu_hours(sums: &FederationSums) -> Cell {
    if sums.is_cpu_unknown() {
        return Cell::Empty;
    }
    hours(sums.cpu_ms)
}

/// CPU time of the wall time of all cores, unscaled: WLCG's efficiency.
fn raw_efficiency(sums: &FederationSums) -> Cell {
    if sums.is_cpu_unknown() {
        return Cell::Empty;
    }
    Cell::ratio(finer(sums.cpu_ms, 100), sums.core_wall_ms, PERCENT_DIGITS)
}

/// The same of scaled times: EGI's efficiency. Sites whose benchmarks differ weigh by their power.
fn scaled_efficiency(sums: &FederationSums) -> Cell {
    if sums.is_cpu_unknown() {
        return Cell::Empty;
    }
    Cell::ratio(finer(sums.cpu_work_e9, 100), sums.core_wall_work_e9, PERCENT_DIGITS)
}

/// The year in which the pledge year of a month begins.
#[must_use]
pub fn pledge_year(month: Month) -> i16 {
    if month.number() < PLEDGE_MONTH {
        // Fallback: no lake has months of the first year of the type.
        month.year().saturating_sub(1)
    } else {
        month.year()
    }
}

/// EGI's metrics by site, VO and month.
///
/// # Errors
/// [`crate::error::Kind::Data`] naming the sum that is too large.
pub fn egi(groups: &[Aggregate], scale: WorkScale) -> Result<Table> {
    let hour = ColumnKind::DecimalSum(HOUR_DIGITS);
    let percent = ColumnKind::Decimal(PERCENT_DIGITS);
    let label = scale.label(groups);
    let mut table = Table::new(
        format!("EGI view, work in {}; {COUNTED}", label.title),
        &[
            ("site", "", ColumnKind::Text),
            ("vo", "", ColumnKind::Text),
            ("month", "", ColumnKind::Text),
            ("number_of_jobs", "1", ColumnKind::Sum),
            ("sum_cpu", "h", hour),
            ("normalized_sum_cpu", label.unit, hour),
            ("sum_elapsed", "h", hour),
            ("normalized_sum_elapsed", label.unit, hour),
            ("sum_elapsed_processors", "core h", hour),
            ("normalized_sum_elapsed_processors", label.unit, hour),
            ("cpu_efficiency", "% of normalised", percent),
            ("cpu_efficiency_raw", "% of raw", percent),
            ("unscaled_jobs", "1", ColumnKind::Sum),
            ("processors_unknown_jobs", "1", ColumnKind::Sum),
            ("cpu_unknown_jobs", "1", ColumnKind::Sum),
        ],
    );
    let row = |words: Vec<Cell>, sums: &FederationSums| {
        let amounts = [
            Cell::Int(sums.job_n),
            cpu_hours(sums),
            cpu_work(sums),
            hours(sums.wall_ms),
            work(sums.wall_work_e9, sums),
            hours(sums.core_wall_ms),
            work(sums.core_wall_work_e9, sums),
            scaled_efficiency(sums),
            raw_efficiency(sums),
            Cell::Int(sums.unscaled_job_n),
            Cell::Int(sums.core_unknown_job_n),
            Cell::Int(sums.cpu_unknown_job_n),
        ];
        words.into_iter().chain(amounts).collect()
    };
    for ((site, vo, month), sums) in sums_by(groups, scale, site_vo_month)? {
        let words = [site, vo, month.to_string()].map(Cell::text);
        table.push(row(words.to_vec(), &sums));
    }
    table.set_totals(row(vec![Cell::Empty; 3], &FederationSums::of_all(groups, scale)?));
    Ok(table)
}

/// The columns the portal exports: one series per CE.
///
/// # Errors
/// [`crate::error::Kind::Data`] naming the sum that is too large.
pub fn export(groups: &[Aggregate], scale: WorkScale, sites: &FederationSites) -> Result<Table> {
    let hour = ColumnKind::DecimalSum(HOUR_DIGITS);
    let label = scale.label(groups);
    let mut table = Table::new(
        format!("EGI portal export, work in {}; {COUNTED}", label.title),
        &[
            ("time", "", ColumnKind::Text),
            ("benchmark", "", ColumnKind::Text),
            ("ce", "", ColumnKind::Text),
            ("country", "", ColumnKind::Text),
            ("federation", "", ColumnKind::Text),
            ("infrastructure", "", ColumnKind::Text),
            ("site", "", ColumnKind::Text),
            ("tier", "", ColumnKind::Text),
            ("vo", "", ColumnKind::Text),
            ("ngi", "", ColumnKind::Text),
            ("number_of_jobs", "1", ColumnKind::Sum),
            ("raw_cpu_eff", "%", ColumnKind::Decimal(PERCENT_DIGITS)),
            ("raw_cpu_time", "h", hour),
            ("raw_cpu_work", label.unit, hour),
            ("raw_wc_time", "core h", hour),
            ("raw_wc_work", label.unit, hour),
        ],
    );
    let key = |group: &Aggregate| {
        let [_, vo, _, _, host, _] = &group.words;
        let of = |word: &Option<String>| absent::text(word.as_deref()).to_owned();
        (
            group.site.clone(),
            group.month,
            of(vo),
            of(host),
            Infrastructure::of(group),
        )
    };
    let row = |words: Vec<Cell>, sums: &FederationSums| {
        let amounts = [
            Cell::Int(sums.job_n),
            raw_efficiency(sums),
            cpu_hours(sums),
            cpu_work(sums),
            hours(sums.core_wall_ms),
            work(sums.core_wall_work_e9, sums),
        ];
        words.into_iter().chain(amounts).collect()
    };
    for ((site, month, vo, host, infrastructure), sums) in sums_by(groups, scale, key)? {
        let entry = absent::entry(sites.get(&site).cloned());
        let words = [
            format!("{month}-01T00:00:00Z"),
            sums.benchmarks.word().to_owned(),
            host,
            entry.country,
            entry.federation,
            portal_word(infrastructure).to_owned(),
            site,
            entry.tier,
            vo,
            entry.ngi,
        ];
        table.push(row(words.map(Cell::text).to_vec(), &sums));
    }
    table.set_totals(row(vec![Cell::Empty; 10], &FederationSums::of_all(groups, scale)?));
    Ok(table)
}

/// The portal's word; none where the infrastructure is unknown.
fn portal_word(infrastructure: Infrastructure) -> &'static str {
    match infrastructure {
        Infrastructure::Grid => "Grid",
        Infrastructure::Local => "Grid-Local",
        Infrastructure::Unknown => "",
    }
}

/// Work of the jobs of an infrastructure. No jobs did no work.
fn infrastructure_work(part: Option<&FederationSums>) -> Cell {
    part.map_or_else(|| work_hours(0), |part| work(part.core_wall_work_e9, part))
}

/// The amounts of a row of WLCG's view, with the work by infrastructure in the order of [`INFRASTRUCTURES`].
fn wlcg_amounts(
    sums: &FederationSums,
    [grid, local, unknown]: [Cell; 3],
    promised: Option<i128>,
    share: Cell,
) -> [Cell; 13] {
    [
        Cell::Int(sums.job_n),
        cpu_hours(sums),
        cpu_work(sums),
        hours(sums.core_wall_ms),
        work(sums.core_wall_work_e9, sums),
        grid,
        local,
        unknown,
        raw_efficiency(sums),
        scaled_efficiency(sums),
        promised.map_or(Cell::Empty, Cell::Int),
        share,
        Cell::Int(sums.cpu_unknown_job_n),
    ]
}

/// WLCG's view by federation, VO and month: work of all cores from the grid, of local jobs, of jobs of unknown
/// infrastructure and together, and what was promised for the month: power times the hours of its days.
///
/// # Errors
/// [`crate::error::Kind::Data`] naming the sum that is too large.
pub fn wlcg(groups: &[Aggregate], scale: WorkScale, sites: &FederationSites, pledges: &Pledges) -> Result<Table> {
    let hour = ColumnKind::DecimalSum(HOUR_DIGITS);
    let percent = ColumnKind::Decimal(PERCENT_DIGITS);
    let label = scale.label(groups);
    let mut table = Table::new(
        format!("WLCG view, work in {}; {COUNTED}", label.title),
        &[
            ("federation", "", ColumnKind::Text),
            ("site", "", ColumnKind::Text),
            ("vo", "", ColumnKind::Text),
            ("pledge_year", "", ColumnKind::Number),
            ("month", "", ColumnKind::Text),
            ("number_of_jobs", "1", ColumnKind::Sum),
            ("cpu_time", "h", hour),
            ("cpu_work", label.unit, hour),
            ("wallclock_time", "core h", hour),
            ("wallclock_work", label.unit, hour),
            ("wallclock_work_grid", label.unit, hour),
            ("wallclock_work_local", label.unit, hour),
            ("wallclock_work_unknown", label.unit, hour),
            ("efficiency", "% of raw", percent),
            ("efficiency_work", "% of normalised", percent),
            ("pledge", label.unit, ColumnKind::Sum),
            ("of_pledge", "%", percent),
            ("cpu_unknown_jobs", "1", ColumnKind::Sum),
        ],
    );
    let federation = |site: &str| absent::text(sites.get(site).map(|entry| entry.federation.as_str())).to_owned();
    let key = |group: &Aggregate| {
        let (site, vo, month) = site_vo_month(group);
        (federation(&site), site, vo, month)
    };
    let by_infrastructure = sums_by(groups, scale, |group| (key(group), Infrastructure::of(group)))?;
    // The pledge of a federation and VO is in one row of the month, so that it adds up; the share is of all rows.
    let by_federation = sums_by(groups, scale, |group| {
        let (federation, _, vo, month) = key(group);
        (federation, vo.to_lowercase(), month)
    })?;
    let mut reported: std::collections::BTreeSet<(String, String, Month)> = std::collections::BTreeSet::new();
    let mut promised_all: Option<i128> = None;
    for ((federation, site, vo, month), sums) in sums_by(groups, scale, key)? {
        let of = (federation.clone(), vo.to_lowercase(), month);
        let year = pledge_year(month);
        let wanted = PledgeKey {
            federation: of.0.clone(),
            vo: of.1.clone(),
            pledge_year: year,
        };
        let promised = pledges.get(&wanted).map(|power| {
            let days = i128::from(month.next().first_day() - month.first_day());
            i128::from(power) * days * 24
        });
        let promised = promised.filter(|_| reported.insert(of.clone()));
        let share = promised.map_or(Cell::Empty, |promised| {
            let work = by_federation.get(&of).map_or(0, |sums| sums.core_wall_work_e9);
            Cell::ratio(finer(work, 100), finer(promised, HOUR_S * E9), PERCENT_DIGITS)
        });
        add_known(&mut promised_all, promised, "pledge")?;
        let of_row = (federation.clone(), site.clone(), vo.clone(), month);
        let parts = INFRASTRUCTURES.map(|of| infrastructure_work(by_infrastructure.get(&(of_row.clone(), of))));
        let words = [
            Cell::text(federation),
            Cell::text(site),
            Cell::text(vo),
            Cell::int(year),
            Cell::text(month.to_string()),
        ];
        let amounts = wlcg_amounts(&sums, parts, promised, share);
        table.push(words.into_iter().chain(amounts).collect());
    }
    let by_infrastructure = sums_by(groups, scale, Infrastructure::of)?;
    let parts = INFRASTRUCTURES.map(|of| infrastructure_work(by_infrastructure.get(&of)));
    let all = FederationSums::of_all(groups, scale)?;
    let amounts = wlcg_amounts(&all, parts, promised_all, Cell::Empty);
    let words = std::iter::repeat_n(Cell::Empty, 5);
    table.set_totals(words.chain(amounts).collect());
    Ok(table)
}
