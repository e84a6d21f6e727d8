//! Energy and carbon of a job, with the rows of the tables they were computed by.

use arrow_array::RecordBatch;

use crate::energy::{EnergyClass, EnergyPlan, NamedTable, OwnNodes, SharedRule};
use crate::error::Result;
use crate::reference::decimal::text as amount;
use crate::reference::energy::SiteValues;
use crate::reference::energy::node_row::NodeEnergyRow;
use crate::reference::energy::span_value::SpanValue;
use crate::schema::batch::{int, number, text, time, word};
use crate::summarise::energy_figures::{EnergyFigureReader, EnergyFigures};
use crate::time::instant::second_text;

/// Rows of a table that are listed; how many there are more is stated.
const LISTED: usize = 4;

/// Lines for people.
pub(super) fn lines(plan: &EnergyPlan, site: &str, record: &RecordBatch) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for figures in EnergyFigureReader::new(plan, site).of(record)? {
        lines.push(of_nodes(plan, &figures, record)?);
        let file = plan.tables.nodes.as_ref();
        for part in &figures.nodes {
            let cores = part
                .row
                .core_n
                .map_or("cores unknown".to_owned(), |core_n| format!("{core_n} cores"));
            let exclusive = if part.row.is_exclusive {
                ", one job at a time"
            } else {
                ""
            };
            let season = season(&part.row, &figures, record)?;
            lines.push(format!(
                "node type {}: {cores}{exclusive}{season}   ({})",
                part.row.node_type,
                place(file, part.row.line())
            ));
        }
        lines.extend(carbon(plan, site, &figures));
    }
    Ok(lines)
}

/// Where a row does not hold for all of the run: by which instant it was chosen.
fn season(row: &NodeEnergyRow, figures: &EnergyFigures, record: &RecordBatch) -> Result<String> {
    if row.is_of_all(figures.run.from_ms, figures.run.until_ms) {
        return Ok(String::new());
    }
    let at = time(record, "record_utc")?.value(0);
    Ok(second_text(at).map_or_else(String::new, |at| format!(", as of {at} for all of its run")))
}

fn of_nodes(plan: &EnergyPlan, figures: &EnergyFigures, record: &RecordBatch) -> Result<String> {
    let stated = number(int(record, "energy_j")?, 0);
    let stated = stated.map_or("no reading".to_owned(), |stated| format!("a reading of {stated} J"));
    let Some(energy) = figures.energy else {
        let why = if figures.nodes.is_empty() {
            "no row of the table of nodes is for its nodes"
        } else {
            "its nodes' row does not state what would be needed, or readings of shared nodes are unused"
        };
        return Ok(format!("energy of nodes unknown: {stated}, {why}"));
    };
    let how = match energy.class {
        EnergyClass::Exclusive => format!("{stated}, of nodes it had to itself{}", why_own(figures.own_nodes)),
        EnergyClass::Apportioned => {
            let rule = plan.settings.shared.map_or("", SharedRule::as_str);
            let requested = match word(text(record, "requested_exclusive")?, 0) {
                Some("node" | "topo") => "; it requested nodes of its own, and was given part of their cores",
                _ => "",
            };
            format!("its share by {rule} in {stated} of nodes it shared{requested}")
        }
        EnergyClass::NodeMeter => {
            let rule = plan.settings.shared.map_or("", SharedRule::as_str);
            let file = plan.tables.meters.as_ref().map_or("", |table| table.file.as_str());
            let share = match figures.own_nodes {
                Some(_) => format!("all of it{}", why_own(figures.own_nodes)),
                None => format!("its share by {rule}"),
            };
            format!("{stated}, what the meters of its nodes counted while it ran ({file}), {share}")
        }
        EnergyClass::Modelled => format!("{stated}, modelled from the power of its nodes"),
    };
    Ok(format!(
        "energy of nodes = {} J ({}): {how}",
        energy.energy_j,
        energy.class.as_str()
    ))
}

/// Why nothing else ran on the nodes of a job.
fn why_own(own: Option<OwnNodes>) -> &'static str {
    match own {
        None => "",
        Some(OwnNodes::OneJobAtATime) => ": the table gives them to one job at a time",
        Some(OwnNodes::AllCores) => ": it was given all their cores",
        Some(OwnNodes::Requested) => {
            ": it requested them so when it was submitted, and the table does not state their cores"
        }
    }
}

fn carbon(plan: &EnergyPlan, site: &str, figures: &EnergyFigures) -> Vec<String> {
    let mut lines = Vec::new();
    let unknown = |what: &str| format!("{what} unknown");
    let rows = |values: &SiteValues, table: Option<&NamedTable>| listed(values.of(site), figures, table);
    let pue = figures.means.pue.and_then(|mean| mean.scaled(1));
    lines.push(match (figures.energy_pue_j, pue) {
        (Some(joules), Some(pue_e4)) => {
            let pue = amount(i128::from(pue_e4), 4);
            format!(
                "energy of the site = {joules} J: x PUE {pue}   ({})",
                rows(&plan.pue, plan.tables.pue.as_ref())
            )
        }
        _ => unknown("energy of the site"),
    });
    lines.push(match figures.operational_co2e_mg {
        Some(mg) => {
            let basis = plan
                .settings
                .basis
                .map_or("", crate::reference::energy::CarbonBasis::as_str);
            let rows = rows(&plan.intensity, plan.tables.intensity.as_ref());
            format!("operational = {mg} mg CO2e: x carbon intensity while it ran, {basis}-based   ({rows})")
        }
        None => unknown("operational carbon"),
    });
    lines.push(match figures.embodied_co2e_mg {
        Some(mg) => format!("embodied = {mg} mg CO2e: its core time over the lifetime of its nodes"),
        None => unknown("embodied carbon"),
    });
    lines
}

/// The values that held while a job ran.
fn listed(values: &[SpanValue], figures: &EnergyFigures, table: Option<&NamedTable>) -> String {
    let run = figures.run;
    let is_held = |span: &&SpanValue| span.from_ms < run.until_ms.max(run.from_ms + 1) && span.until_ms > run.from_ms;
    let held: Vec<&SpanValue> = values.iter().filter(is_held).collect();
    let shown = held.iter().take(LISTED).map(|span| {
        let value = span
            .value_e4
            .map_or("unknown".to_owned(), |e4| amount(i128::from(e4), 4));
        let since = second_text(span.from_ms.max(run.from_ms));
        let since = since.map_or_else(String::new, |since| format!(" from {since}"));
        format!("{value}{since}, {}", place(table, span.line))
    });
    let mut shown: Vec<String> = shown.collect();
    if let Some(more) = held.len().checked_sub(LISTED).filter(|more| *more > 0) {
        shown.push(format!("{more} more rows"));
    }
    shown.join("; ")
}

fn place(table: Option<&NamedTable>, line: usize) -> String {
    table.map_or_else(String::new, |table| format!("{} line {line}", table.file))
}
