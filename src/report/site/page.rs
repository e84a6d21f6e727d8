//! The page.

use std::fmt::Write as _;

use super::charged::by_policy;
use super::chart::{SERIES_INKS, Series, percentages, stacked};
use super::data::{FILE_DIGITS, PARTS, SiteData, amounts, efficiency, is_own};
use super::split::{by_column, table};
use super::supply::used_tenths;
use super::{energy, provenance, quality_section};
use crate::error::Result;
use crate::numbers::tally;
use crate::reference::benchmark::Benchmark;
use crate::report::board::{PageTerm, board, definitions as terms_of, section};
use crate::report::html::escape;
use crate::report::shown::{alone, grouped};
use crate::report::table::{Cell, ColumnKind, Table};
use crate::store::Fact;
use crate::summarise::Attribution;

/// VOs or accounts drawn in colours of their own; the others are drawn together.
const DRAWN: usize = SERIES_INKS.len() - 1;

/// The whole page: one file that fetches nothing.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when a chart cannot be drawn.
pub fn write(data: &SiteData) -> Result<String> {
    let mut body = String::new();
    head(&mut body, data);
    charts(&mut body, data)?;
    let title = format!("Usage by {} and month", data.grouping.word());
    section(&mut body, "usage", &title, &usage(data)?);
    parts(&mut body, data)?;
    users(&mut body, data)?;
    capacity(&mut body, data)?;
    charges(&mut body, data)?;
    overhead(&mut body, data)?;
    energy::write(&mut body, data.energy.as_ref())?;
    quality_section::write(&mut body, data)?;
    definitions(&mut body);
    section(
        &mut body,
        "provenance",
        "Where the numbers come from",
        &provenance::terms(data),
    );
    let vos = data.vos().map_or_else(String::new, |vos| format!(", {vos}"));
    Ok(board(&format!("{}{vos}: usage and work", data.site), &body))
}

/// The months of the page.
pub(super) fn period(data: &SiteData) -> String {
    let months = data.by_month();
    match (months.keys().next(), months.keys().next_back()) {
        (Some(first), Some(last)) if first == last => first.to_string(),
        (Some(first), Some(last)) => format!("{first} to {last}"),
        _ => "no month".to_owned(),
    }
}

/// Of which period numbers are, and how they are attributed to it.
pub(super) fn basis(data: &SiteData, attribution: &str) -> String {
    format!("<p class=\"basis\">{}. {}</p>\n", period(data), escape(attribution))
}

/// The basis of what is made of usage.
fn usage_basis(data: &SiteData) -> String {
    let is_prorated = Attribution::of_lake(&data.facts) == Some(Attribution::Prorated);
    let how = if is_prorated {
        "Jobs are split over the months they ran in"
    } else {
        "Jobs count whole in the month of their end"
    };
    let zone = data.facts.get(Fact::CalendarTimezone);
    basis(data, &format!("{how}; months are of {}.", zone.unwrap_or("UTC")))
}

fn head(body: &mut String, data: &SiteData) {
    let total = data.total();
    let _ = writeln!(body, "{}<dl class=\"figures\">", usage_basis(data));
    let cells = amounts(&total);
    let names = [
        "jobs",
        "core hours",
        "CPU hours",
        "% CPU efficiency",
        "GPU hours",
        "HS06 hours",
        "HS23 hours",
    ];
    let left_out = match data.coverage.left_out() {
        Some(Benchmark::Hs06) => "HS06 hours",
        Some(_) => "HS23 hours",
        None => "",
    };
    let has_work = total.work_s.iter().any(Option::is_some);
    let is_shown = |name: &str| name != left_out && (has_work || !name.starts_with("HS"));
    for (name, cell) in names.into_iter().zip(&cells).filter(|(name, _)| is_shown(name)) {
        let (shown, exact) = match cell {
            Cell::Empty => ("unknown".to_owned(), None),
            cell => {
                let shown = alone(cell);
                (shown.text, shown.exact)
            }
        };
        let exact = exact.map_or_else(String::new, |exact| format!(" title=\"{exact}\""));
        let _ = writeln!(body, "<div><dt>{name}</dt><dd{exact}>{shown}</dd></div>");
    }
    body.push_str("</dl>\n");
    if let Some(vos) = data.vos() {
        let _ = writeln!(
            body,
            "<p class=\"note\">This page is limited to {}: other usage of the site is not in it.</p>",
            escape(&vos)
        );
    }
    if let Some(note) = data.coverage.note() {
        let _ = writeln!(body, "<p class=\"note\">{note}</p>");
    }
    if !has_work {
        body.push_str("<p class=\"note\">No job has a benchmark: work in HS06 and HS23 hours is unknown.</p>\n");
    } else if total.benchmark_missing_n > 0 {
        let _ = writeln!(
            body,
            "<p class=\"note\">{} of {} jobs have no benchmark: their hours count, and work is that of the others.</p>",
            grouped(total.benchmark_missing_n),
            grouped(total.job_n)
        );
    }
    if total.cpu_unknown_n > 0 {
        let _ = writeln!(
            body,
            "<p class=\"note\">Jobs whose CPU time is unknown: {}. It is not in the CPU hours, and efficiency is too low by it.</p>",
            grouped(total.cpu_unknown_n)
        );
    }
    if total.corrected_job_n != 0 || total.corrected_core_s != 0 {
        let _ = writeln!(
            body,
            "<p class=\"note\">Signed corrections are in these numbers: {} jobs and {} core hours.</p>",
            grouped(total.corrected_job_n),
            alone(&Cell::ratio(total.corrected_core_s, 3600, FILE_DIGITS)).text
        );
    }
}

fn charts(body: &mut String, data: &SiteData) -> Result<()> {
    let months = data.by_month();
    let labels: Vec<String> = months.keys().map(ToString::to_string).collect();
    let names = data.by_name();
    let of = |wanted: &str, month: &crate::time::Month| {
        let views = data
            .usage
            .iter()
            .filter(|(of, _)| of.month == *month && of.name == wanted && is_own(&of.view));
        views.map(|(_, sums)| sums.core_s).sum::<i128>()
    };
    let shown = |name: &str| if name.is_empty() { "(unknown)" } else { name }.to_owned();
    let mut series: Vec<Series> = (names.iter().take(DRAWN))
        .map(|(name, _)| Series {
            name: shown(name),
            values: months.keys().map(|month| of(name, month)).collect(),
        })
        .collect();
    if names.len() > DRAWN {
        let others = |month| names.iter().skip(DRAWN).map(|(name, _)| of(name, month)).sum();
        series.push(Series {
            name: "others".to_owned(),
            values: months.keys().map(others).collect(),
        });
    }
    let word = data.grouping.word();
    let drawn = stacked(&format!("By {word} and month"), "core hours", &labels, &series)?;
    let title = format!("Core hours by {word} and month");
    section(body, "hours", &title, &(usage_basis(data) + &drawn));
    let tenths: Vec<Option<i128>> = (months.values())
        .map(|sums| match efficiency(sums) {
            Cell::Decimal { value, .. } => Some(value),
            _ => None,
        })
        .collect();
    let drawn = percentages("CPU efficiency by month", "CPU time of core time", &labels, &tenths)?;
    let mut by_month = Table::new(
        "By month",
        &[
            ("month", "", ColumnKind::Text),
            ("jobs", "1", ColumnKind::Sum),
            ("core_hours", "core h", ColumnKind::DecimalSum(FILE_DIGITS)),
            ("cpu_hours", "h", ColumnKind::DecimalSum(FILE_DIGITS)),
            ("efficiency", "%", ColumnKind::Decimal(1)),
            ("gpu_hours", "gpu h", ColumnKind::DecimalSum(FILE_DIGITS)),
            ("hs06_hours", "HS06 h", ColumnKind::DecimalSum(FILE_DIGITS)),
            ("hs23_hours", "HS23 h", ColumnKind::DecimalSum(FILE_DIGITS)),
            ("jobs_without_benchmark", "1", ColumnKind::Sum),
            ("corrected_jobs", "1", ColumnKind::Sum),
        ],
    );
    for (month, sums) in &months {
        let mut row = vec![Cell::text(month.to_string())];
        row.extend(amounts(sums));
        by_month.push(row);
    }
    // Rounded once, not the sum of rounded months: the page shows one total.
    let mut totals = vec![Cell::text("total")];
    totals.extend(amounts(&data.total()));
    by_month.exact_totals = Some(totals);
    section(
        body,
        "months",
        "Efficiency and work by month",
        &(usage_basis(data) + &drawn + &table(&data.coverage.columns_of(&by_month))?),
    );
    Ok(())
}

/// The capacity of the nodes next to their delivery.
fn capacity(body: &mut String, data: &SiteData) -> Result<()> {
    const TITLE: &str = "Capacity and what was delivered";
    let installed = &data.supply.installed;
    if installed.is_empty() {
        let why = "<p>Absent: the lake has no capacity of these months (its pipeline needs [capacity]; a page about single VOs has none).</p>\n";
        section(body, "capacity", TITLE, why);
        return Ok(());
    }
    let delivered = data.by_month();
    let labels: Vec<String> = installed.keys().map(ToString::to_string).collect();
    let tenths: Vec<Option<i128>> = (installed.iter())
        .map(|(month, installed)| used_tenths(installed, &tally(delivered.get(month).copied())))
        .collect();
    let drawn = percentages(
        "Capacity used by month",
        "delivered of installed core hours",
        &labels,
        &tenths,
    )?;
    let below = format!(
        "<p>The same rows are in <a href=\"capacity.csv\">capacity.csv</a>, hours with {FILE_DIGITS} decimals.</p>\n"
    );
    let capacity = data.supply.capacity_table(&delivered);
    let inside = usage_basis(data) + &drawn + &table(&data.coverage.columns_of(&capacity))? + &below;
    section(body, "capacity", TITLE, &inside);
    Ok(())
}

fn charges(body: &mut String, data: &SiteData) -> Result<()> {
    let (policies, left_out) = by_policy(&data.supply, data.grouping);
    let left_out = left_out.map_or_else(String::new, |why| format!("<p>{}</p>\n", escape(&why)));
    if data.supply.charged.is_empty() {
        let why = "<p>Absent: nothing was charged in these months (the pipeline needs [[charge]]).</p>\n";
        section(body, "charges", "Charges", &format!("{why}{left_out}"));
        return Ok(());
    }
    let mut inside = usage_basis(data);
    inside.push_str(
        "<p>Every policy charges the same jobs: never add up two policies. Jobs are those that ended. A GiB is 2<sup>30</sup> \
         bytes.</p>\n",
    );
    if data.supply.charged.iter().any(|row| !row.is_of_jobs) {
        inside.push_str(
            "<p>A policy of reservations charges windows, used or not: they are counted in place of jobs.</p>\n",
        );
    }
    for policy in &policies {
        let note = policy.note.iter().map(|note| format!("<p>{}</p>\n", escape(note)));
        let note: String = note.collect();
        let title = escape(&policy.title);
        let _ = write!(inside, "<h3>{title}</h3>\n{}{note}", table(&policy.table)?);
    }
    let _ = writeln!(
        inside,
        "{left_out}<p>The same sums are in <a href=\"charges.csv\">charges.csv</a>, with {FILE_DIGITS} decimals.</p>"
    );
    section(body, "charges", "Charges", &inside);
    Ok(())
}

fn overhead(body: &mut String, data: &SiteData) -> Result<()> {
    const TITLE: &str = "Overhead in brief";
    if data.supply.left_over.is_empty() {
        let why = "<p>Absent: the lake has no overhead of these months (its pipeline needs [overhead]; a page about single VOs has none).</p>\n";
        section(body, "overhead", TITLE, why);
        return Ok(());
    }
    let inside = format!(
        "{}<p>Every canonical unit is a view of the same nodes: never add up two \
         units. <code>gridtally report overhead</code> gives more detail.</p>\n{}\
         <p>The same rows are in <a href=\"overhead.csv\">overhead.csv</a>, hours with {FILE_DIGITS} decimals.</p>\n",
        basis(data, "Of the cores of all nodes, second by second."),
        table(&data.supply.overhead_table())?
    );
    section(body, "overhead", TITLE, &inside);
    Ok(())
}

/// The table of the file next to the page. Only the site's own account has totals: other views describe the same hours.
fn usage(data: &SiteData) -> Result<String> {
    let all = data.table();
    let (own, others): (Vec<_>, Vec<_>) = all.rows.iter().cloned().partition(|row| match row.get(2) {
        Some(Cell::Text(view)) => is_own(view),
        _ => false,
    });
    let mut totals = vec![Cell::text("total"), Cell::Empty, Cell::Empty];
    totals.extend(amounts(&data.total()));
    let shown = |rows, exact_totals| {
        let columns = all.columns.clone();
        let title = all.title.clone();
        table(&data.coverage.columns_of(&Table {
            title,
            columns,
            rows,
            exact_totals,
        }))
    };
    let mut out = usage_basis(data) + &shown(own, Some(totals))?;
    if !others.is_empty() {
        out.push_str("<h3>The same hours as others account them</h3>\n<p>Never add these to the table above.</p>\n");
        out.push_str(&shown(others, None)?);
    }
    let _ = writeln!(
        out,
        "<p>The same rows are in <a href=\"usage.csv\">usage.csv</a> next to this page, hours with {FILE_DIGITS} decimals.</p>"
    );
    Ok(out)
}

/// Usage by partition and by QOS, where any is known.
fn parts(body: &mut String, data: &SiteData) -> Result<()> {
    for ((column, title), by_value) in PARTS.into_iter().zip(&data.parts) {
        if let Some(split) = by_column(title, column, by_value) {
            section(body, column, title, &(usage_basis(data) + &table(&split)?));
        }
    }
    Ok(())
}

/// The users who used most, where names are requested.
fn users(body: &mut String, data: &SiteData) -> Result<()> {
    let Some(top) = &data.top_users else {
        return Ok(());
    };
    let mut inside = basis(
        data,
        "At most ten of each cluster; core time of batch jobs within these months, however the lake attributes jobs.",
    );
    if top.table.rows.is_empty() {
        inside.push_str("<p>The lake has no names of users.</p>\n");
    } else {
        inside.push_str(&table(&top.table)?);
    }
    for note in &top.notes {
        let _ = writeln!(inside, "<p>{}.</p>", escape(note));
    }
    section(body, "users", "Users who used most", &inside);
    Ok(())
}

fn definitions(body: &mut String) {
    let terms = [
        ("jobs", "Jobs that ended in the month; a job counts once."),
        (
            "core hours",
            "Cores allocated times wall time, whether they were used or not.",
        ),
        ("CPU hours", "Measured CPU time, summed over cores."),
        (
            "CPU efficiency",
            "CPU time divided by core time, neither scaled. WLCG's definition; EGI divides scaled times.",
        ),
        (
            "HS06 hours, HS23 hours",
            "Core hours times the benchmark value per core that held for each job: work, which compares hours of old and new machines.",
        ),
        (
            "view",
            "Whose account of the hours it is. batch: as recorded by the batch system. summary: usage that arrived as sums. payload: jobs inside pilot jobs, the same hours once more.",
        ),
        (
            "GPU hours",
            "GPUs allocated times the time they were held, whatever their model. Empty where no record states how many a job had, as APEL's do not.",
        ),
        (
            "jobs without benchmark",
            "Jobs for whose nodes no benchmark is known: their hours count and their work is unknown.",
        ),
        (
            "corrections",
            "Signed entries that take out, add or move usage. They are in all numbers; corrected jobs is how many jobs they added or, below zero, took out.",
        ),
        (
            "account",
            "Who pays for a job, as recorded by the batch system. It replaces the VO where the VO of no job is known.",
        ),
        (
            "partition, QOS",
            "The queue a job ran in, and the quality of service it was given, as recorded by the batch system.",
        ),
        (
            "VO",
            "Virtual organisation: on whose behalf a job ran, by the site's mapping.",
        ),
        (
            "installed",
            "Logical CPUs of all nodes times the time they were there, whether up or down; in HS06 and HS23 times the benchmark value of the nodes.",
        ),
        (
            "delivered, used",
            "Core hours of jobs, and their share of what was installed. By core hours it is WLCG's way of counting, by HS06 or HS23 hours EGI's.",
        ),
        (
            "policy, pool, charge",
            "A policy is a formula for the cost of a job, in its own unit. A pool is what it draws on. The charge is what jobs cost; jobs without a price are those the policy cannot price because something is unknown.",
        ),
        (
            "canonical unit",
            "What one more job would take: an amount of cores, memory and GPUs.",
        ),
        (
            "allocated, overhead, stranded, down, reserved",
            "What jobs were given; what was free and could have run canonical units; what was free and of no use to the unit; what was down or drained; what was reserved. Together they are the capacity. Not known: the capacity of the nodes is unknown.",
        ),
        (
            "flag",
            "Something about a single record that cannot be quite right, or had to be assumed.",
        ),
        (
            "outcome, reason",
            "Where an input row went: accepted, duplicate, superseded, rejected or out of scope, and why. Every row read ends in exactly one.",
        ),
        ("unknown", "No record states it. Unknown is never counted as zero."),
    ];
    section(
        body,
        "definitions",
        "What the terms mean",
        &terms_of(terms.map(|(term, meaning)| PageTerm { term, meaning })),
    );
}
