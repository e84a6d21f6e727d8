//! The page.

use std::fmt::Write as _;

use super::charged::by_policy;
use super::chart::{SERIES_INKS, Series, percentages, stacked};
use super::data::{SiteData, Sums, amounts, efficiency, is_own};
use super::supply::used_tenths;
use crate::error::Result;
use crate::report::completeness;
use crate::report::html::{escape, page, table};
use crate::report::shown::{alone, grouped};
use crate::report::table::{Cell, ColumnKind, Table, divide};

/// VOs drawn in colours of their own; the others are drawn together.
const DRAWN: usize = SERIES_INKS.len() - 1;

const SCRIPT: &str = include_str!("page.js");
const STYLE: &str = include_str!("page.css");

/// The whole page: one file that fetches nothing.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when a chart cannot be drawn.
pub fn write(data: &SiteData) -> Result<String> {
    let mut body = format!("<style>\n{STYLE}</style>\n");
    head(&mut body, data);
    charts(&mut body, data)?;
    section(&mut body, "usage", "Usage by VO and month", &usage(data));
    capacity(&mut body, data)?;
    charges(&mut body, data);
    overhead(&mut body, data);
    quality(&mut body, data);
    definitions(&mut body);
    provenance(&mut body, data);
    let _ = writeln!(body, "<script>\n{SCRIPT}</script>");
    Ok(page(&format!("{}: usage and work", data.site), &body))
}

fn section(body: &mut String, id: &str, title: &str, inside: &str) {
    let _ = write!(
        body,
        "<section id=\"{id}\">\n<h2>{}</h2>\n{inside}</section>\n",
        escape(title)
    );
}

/// How jobs are attributed to the months of every table of the page but those that say otherwise.
fn attribution(data: &SiteData) -> String {
    let is_prorated = data.facts.get("attribution").is_none_or(|how| how == "prorated");
    let how = if is_prorated {
        "Jobs are split over the months they ran in"
    } else {
        "Jobs count whole in the month of their end"
    };
    let zone = data.facts.get("calendar_timezone").map(String::as_str);
    format!("{how}; months are of {}.", zone.unwrap_or("UTC"))
}

fn head(body: &mut String, data: &SiteData) {
    let months = data.by_month();
    let period = match (months.keys().next(), months.keys().next_back()) {
        (Some(first), Some(last)) if first == last => first.to_string(),
        (Some(first), Some(last)) => format!("{first} to {last}"),
        _ => "no month".to_owned(),
    };
    let total = data.total();
    let _ = write!(
        body,
        "<p class=\"lead\">{period}. {}</p>\n<dl class=\"figures\">\n",
        escape(&attribution(data))
    );
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
    for (name, cell) in names.into_iter().zip(&cells) {
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
    if total.benchmark_missing_n > 0 {
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
            alone(&Cell::ratio(total.corrected_core_s, 3600, 2)).text
        );
    }
}

fn charts(body: &mut String, data: &SiteData) -> Result<()> {
    let months = data.by_month();
    let labels: Vec<String> = months.keys().map(ToString::to_string).collect();
    let vos = data.by_vo();
    let hours = |sums: &Sums| divide(sums.core_s, 3600).unwrap_or(0);
    let of = |vo: &str, month: &crate::time::Month| {
        let views = data
            .usage
            .iter()
            .filter(|((at, name, view), _)| at == month && name == vo && is_own(view));
        views.map(|(_, sums)| hours(sums)).sum::<i128>()
    };
    let name = |vo: &str| {
        if vo.is_empty() {
            "(unknown)".to_owned()
        } else {
            vo.to_owned()
        }
    };
    let mut series: Vec<Series> = (vos.iter().take(DRAWN))
        .map(|(vo, _)| Series {
            name: name(vo),
            values: months.keys().map(|month| of(vo, month)).collect(),
        })
        .collect();
    if vos.len() > DRAWN {
        let others = |month| vos.iter().skip(DRAWN).map(|(vo, _)| of(vo, month)).sum();
        series.push(Series {
            name: "others".to_owned(),
            values: months.keys().map(others).collect(),
        });
    }
    let drawn = stacked("By VO and month", "core hours", &labels, &series)?;
    section(body, "hours", "Core hours by VO and month", &drawn);
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
            ("core_hours", "core h", ColumnKind::DecimalSum(2)),
            ("cpu_hours", "h", ColumnKind::DecimalSum(2)),
            ("efficiency", "%", ColumnKind::Decimal(1)),
            ("gpu_hours", "gpu h", ColumnKind::DecimalSum(2)),
            ("hs06_hours", "HS06 h", ColumnKind::DecimalSum(2)),
            ("hs23_hours", "HS23 h", ColumnKind::DecimalSum(2)),
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
        &(drawn + &table(&by_month)),
    );
    Ok(())
}

/// What nodes could have delivered beside what they did.
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
        .map(|(month, installed)| used_tenths(installed, &delivered.get(month).copied().unwrap_or_default()))
        .collect();
    let drawn = percentages(
        "Capacity used by month",
        "delivered of installed core hours",
        &labels,
        &tenths,
    )?;
    let beside = "<p>The same rows are in <a href=\"capacity.csv\">capacity.csv</a>.</p>\n";
    let inside = drawn + &table(&data.supply.capacity_table(&delivered)) + beside;
    section(body, "capacity", TITLE, &inside);
    Ok(())
}

fn charges(body: &mut String, data: &SiteData) {
    let (policies, left_out) = by_policy(&data.supply);
    let left_out = left_out.map_or_else(String::new, |why| format!("<p>{}</p>\n", escape(&why)));
    if data.supply.charged.is_empty() {
        let why = "<p>Absent: nothing was charged in these months (the pipeline needs [[charge]]).</p>\n";
        section(body, "charges", "Charges", &format!("{why}{left_out}"));
        return;
    }
    let mut inside = String::from(
        "<p>Every policy charges the same jobs: never add up two policies. Jobs are those that ended. A GiB is 2<sup>30</sup> \
         bytes.</p>\n",
    );
    for policy in &policies {
        let note = policy.note.iter().map(|note| format!("<p>{}</p>\n", escape(note)));
        let note: String = note.collect();
        let title = escape(&policy.title);
        let _ = write!(inside, "<h3>{title}</h3>\n{}{note}", table(&policy.table));
    }
    let _ = writeln!(
        inside,
        "{left_out}<p>The same sums are in <a href=\"charges.csv\">charges.csv</a>, with all their digits.</p>"
    );
    section(body, "charges", "Charges", &inside);
}

fn overhead(body: &mut String, data: &SiteData) {
    const TITLE: &str = "Overhead in brief";
    if data.supply.left_over.is_empty() {
        let why = "<p>Absent: the lake has no overhead of these months (its pipeline needs [overhead]; a page about single VOs has none).</p>\n";
        section(body, "overhead", TITLE, why);
        return;
    }
    let inside = format!(
        "<p>Of the cores of all nodes, second by second. Every canonical unit is a view of the same nodes: never add up two \
         units. <code>gridtally report overhead</code> tells more.</p>\n{}\
         <p>The same rows are in <a href=\"overhead.csv\">overhead.csv</a>.</p>\n",
        table(&data.supply.overhead_table())
    );
    section(body, "overhead", TITLE, &inside);
}

/// The table of the file beside the page. Only the site's own account has totals: other views tell of the same hours.
fn usage(data: &SiteData) -> String {
    let all = data.table();
    let (own, others): (Vec<_>, Vec<_>) = all.rows.iter().cloned().partition(|row| match row.get(2) {
        Some(Cell::Text(view)) => is_own(view),
        _ => false,
    });
    let mut totals = vec![Cell::text("total"), Cell::Empty, Cell::Empty];
    totals.extend(amounts(&data.total()));
    let mut out = table(&Table {
        rows: own,
        exact_totals: Some(totals),
        ..all.clone()
    });
    if !others.is_empty() {
        out.push_str("<h3>The same hours as others account them</h3>\n<p>Never add these to the table above.</p>\n");
        out.push_str(&table(&Table { rows: others, ..all }));
    }
    out.push_str(
        "<p>The same rows are in <a href=\"usage.csv\">usage.csv</a> beside this page, with all their digits.</p>\n",
    );
    out
}

fn quality(body: &mut String, data: &SiteData) {
    let mut inside = String::new();
    if data.incomplete.is_empty() {
        inside.push_str("<p>No day looks incomplete, judged by the site's own history.</p>\n");
    } else {
        inside.push_str(&table(&completeness::table(&data.incomplete)));
    }
    let mut flags = Table::new(
        "Flags",
        &[
            ("flag", "", ColumnKind::Text),
            ("jobs", "1", ColumnKind::Number),
            ("meaning", "", ColumnKind::Text),
        ],
    );
    for (name, meaning, n) in &data.flags {
        flags.push(vec![Cell::text(name), Cell::Int(*n), Cell::text(meaning)]);
    }
    inside.push_str("<h3>What is odd about single jobs</h3>\n");
    inside.push_str(&if flags.rows.is_empty() {
        "<p>Nothing.</p>\n".to_owned()
    } else {
        table(&flags)
    });
    let mut rows = Table::new(
        "Rows",
        &[
            ("outcome", "", ColumnKind::Text),
            ("reason", "", ColumnKind::Text),
            ("rows", "1", ColumnKind::Sum),
            ("meaning", "", ColumnKind::Text),
        ],
    );
    for ((outcome, reason), n) in &data.outcomes {
        let meaning = crate::ledger::Reason::parse(reason).map_or("", crate::ledger::Reason::meaning);
        rows.push(vec![
            Cell::text(outcome),
            Cell::text(reason),
            Cell::Int(*n),
            Cell::text(meaning),
        ]);
    }
    inside.push_str("<h3>Where the input rows of the site went</h3>\n");
    inside.push_str(&table(&rows));
    section(body, "quality", "Quality of the data", &inside);
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
            "Whose account of the hours it is. batch: what the batch system says. summary: what arrived added up. payload: jobs inside pilot jobs, the same hours once more.",
        ),
        (
            "GPU hours",
            "GPUs allocated times the time they were held, whatever their model. Empty where no record says how many a job had, as APEL's do not.",
        ),
        (
            "jobs without benchmark",
            "Jobs for whose nodes no benchmark is known: their hours count and their work is unknown.",
        ),
        (
            "corrections",
            "Signed entries that take out, add or move usage. They are in all numbers; corrected jobs says how many jobs they added or, below zero, took out.",
        ),
        (
            "VO",
            "Virtual organisation: on whose behalf a job ran, as the site's mapping says.",
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
            "A policy is a formula that says what a job costs, in its own unit. A pool is what it draws on. The charge is what jobs cost; jobs without a price are those the policy cannot price because something is unknown.",
        ),
        (
            "canonical unit",
            "What one more job would take: an amount of cores, memory and GPUs.",
        ),
        (
            "allocated, overhead, stranded, down, reserved",
            "What jobs were given; what was free and could have run canonical units; what was free and of no use to the unit; what was down or drained; what was reserved. Together they are the capacity. Not known: nothing says what the nodes have.",
        ),
        (
            "flag",
            "Something about a single record that cannot be quite right, or had to be assumed.",
        ),
        (
            "outcome, reason",
            "Where an input row went: accepted, duplicate, superseded, rejected or out of scope, and why. Every row read ends in exactly one.",
        ),
        ("unknown", "Nothing says it. Unknown is never counted as zero."),
    ];
    let mut inside = "<dl class=\"terms\">\n".to_owned();
    for (term, meaning) in terms {
        let _ = writeln!(inside, "<dt>{}</dt><dd>{}</dd>", escape(term), escape(meaning));
    }
    inside.push_str("</dl>\n");
    section(body, "definitions", "What the terms mean", &inside);
}

fn provenance(body: &mut String, data: &SiteData) {
    let mut inside = String::from("<dl class=\"terms\">\n");
    let mut line = |term: &str, meaning: &str| {
        let _ = writeln!(inside, "<dt>{}</dt><dd>{}</dd>", escape(term), escape(meaning));
    };
    line("written by", concat!("gridtally ", env!("CARGO_PKG_VERSION")));
    line("BLAKE3 over the hashes of the files read", &data.blake3);
    for (source, n) in &data.inputs {
        line(
            &format!("source {source}"),
            &format!("{n} input files with rows of the site"),
        );
    }
    for key in ["pipeline", "plan", "attribution", "calendar_timezone", "schemas"] {
        if let Some(value) = data.facts.get(key) {
            line(key, value);
        }
    }
    inside.push_str("</dl>\n<p>The lake holds every record behind these numbers with file and line, and a ledger of every input row.</p>\n");
    section(body, "provenance", "Where the numbers come from", &inside);
}
