//! Jobs in the fields of `GreenDIGIT`'s records: `fact_site_event` with its `detail_grid`.
//!
//! What is unknown is null, never zero: a footprint of zero would state that a job emitted nothing. `CI_g` is the mean intensity of
//! the electricity while the job ran, `PUE` that of its site, `CFP_g` operational CO2 equivalent of the energy of the site; `energy_wh`
//! is energy of the nodes. `work` and `tdp_w` have no figure in a lake.
//!
//! Corrections are applied: those of one month concern jobs that ended in it. What they add has no job and fits no document.

use std::collections::BTreeSet;

use arrow_array::RecordBatch;

use super::apel::additions::requested_in_words;
use super::lake::{Lake, Selection};
use super::table::{Cell, ColumnKind, Table, divide};
use crate::amounts::finer;
use crate::energy::{EnergyPlan, SiteMeans};
use crate::error::{Error, Kind, Result};
use crate::lake::energy_tables;
use crate::schema::batch::{decimal, int, number, text, time, word};
use crate::summarise::correction_effect::CorrectionEffects;
use crate::summarise::energy_figures::EnergyFigureReader;

/// The view of jobs of the site's own account; others describe the same hours.
const OWN_VIEW: &str = "batch";
/// Joules of a Wh.
const WH_J: i128 = 3600;

/// The fields, in the order of a document.
const COLUMNS: [(&str, &str, ColumnKind); 23] = [
    ("site", "", ColumnKind::Text),
    ("event_start_timestamp", "", ColumnKind::Instant),
    ("event_end_timestamp", "", ColumnKind::Instant),
    ("job_finished", "", ColumnKind::Number),
    ("CI_g", "g/kWh", ColumnKind::Decimal(4)),
    ("CFP_g", "g", ColumnKind::Decimal(3)),
    ("PUE", "", ColumnKind::Decimal(4)),
    ("energy_wh", "Wh", ColumnKind::Decimal(3)),
    ("work", "", ColumnKind::Number),
    ("startexectime", "", ColumnKind::Instant),
    ("stopexectime", "", ColumnKind::Instant),
    ("status", "", ColumnKind::Text),
    ("owner", "", ColumnKind::Text),
    ("execunitid", "", ColumnKind::Text),
    ("execunitfinished", "", ColumnKind::Number),
    ("wallclocktime_s", "s", ColumnKind::Number),
    ("cpunormalizationfactor", "HEPscore23", ColumnKind::Decimal(4)),
    ("ncores", "", ColumnKind::Number),
    ("normcputime_s", "HEPscore23 s", ColumnKind::Decimal(3)),
    ("efficiency", "", ColumnKind::Decimal(4)),
    ("tdp_w", "W", ColumnKind::Number),
    ("totalcputime_s", "s", ColumnKind::Decimal(3)),
    ("scaledcputime_s", "s", ColumnKind::Decimal(3)),
];

/// The columns of `records` that documents are made of.
const READ: [&str; 39] = [
    "record_utc",
    "source",
    "view",
    "cluster",
    "submit_host",
    "job_id",
    "global_job_id",
    "vo",
    "vo_group",
    "vo_role",
    "account",
    "partition",
    "qos",
    "wckey",
    "start_utc",
    "end_utc",
    "wall_s",
    "wall_fraction_ms",
    "suspended_s",
    "cpu_ms",
    "alloc_core_n",
    "alloc_node_n",
    "alloc_gpu_n",
    "alloc_memory_byte",
    "jobstats_memory_used_byte",
    "jobstats_memory_total_byte",
    "gpu_stated_ms",
    "gpu_busy_ms",
    "energy_j",
    "requested_exclusive",
    "alloc_billing_n",
    "node_list",
    "state",
    "scaled_cpu_ms",
    "scaled_wall_ms",
    "hs23_per_core",
    "is_core_unknown",
    "is_core_assumed",
    "is_cpu_unknown",
];

/// Hands the jobs of a selection that ended in its days (UTC) to `write`, some at a time. Returns what was left out, a line for
/// people each.
///
/// # Errors
/// [`Kind::NoInput`] when the lake has no energy; [`Kind::Io`] when it cannot be read; those of `write`.
pub fn export(lake: &Lake, selection: &Selection, write: &mut dyn FnMut(&Table) -> Result<()>) -> Result<Vec<String>> {
    let Some(plan) = energy_tables::read(&lake.store, &lake.manifest)? else {
        let message = "the lake has no energy: its pipeline needs [energy]";
        return Err(Error::new(Kind::NoInput, message).at("lake", lake.store.url()));
    };
    let corrections = lake.corrections()?;
    for piece in lake.record_pieces(selection)? {
        let effects = corrections.of_site(&piece.site);
        let columns: BTreeSet<&str> = READ.into_iter().chain(effects.columns()).collect();
        let columns: Vec<&str> = columns.into_iter().collect();
        for batch in lake.piece_batches(&piece, &columns)? {
            write(&table(&plan, selection, &piece.site, &effects, &batch?)?)?;
        }
    }
    let added = requested_in_words(&corrections, selection);
    let left_out =
        added.map(|(stated, job_n)| format!("{stated}: {job_n} jobs are left out, a document is of a recorded job"));
    Ok(left_out.collect())
}

fn table(
    plan: &EnergyPlan,
    selection: &Selection,
    site: &str,
    effects: &CorrectionEffects<'_>,
    batch: &RecordBatch,
) -> Result<Table> {
    let mut table = Table::new("Jobs in the fields of GreenDIGIT", &COLUMNS);
    let figures = EnergyFigureReader::new(plan, site).of(batch)?;
    let looked_at = effects.of_batch(batch)?;
    let (start, end) = (time(batch, "start_utc")?, time(batch, "end_utc")?);
    let words = |name| text(batch, name);
    let (view, vo, state) = (words("view")?, words("vo")?, words("state")?);
    let (global, job) = (words("global_job_id")?, words("job_id")?);
    let (wall, cpu, cores) = (
        int(batch, "wall_s")?,
        int(batch, "cpu_ms")?,
        int(batch, "alloc_core_n")?,
    );
    let score = decimal(batch, "hs23_per_core")?;
    for (row, figures) in figures.iter().enumerate() {
        let ended = number(end, row).filter(|end_ms| selection.days.has_ms(*end_ms));
        let Some(end_ms) = ended.filter(|_| word(view, row) == Some(OWN_VIEW)) else {
            continue;
        };
        let mut vo = word(vo, row);
        if !effects.is_empty() {
            let effect = effects.of(&looked_at, row, end_ms);
            if effect.is_void {
                continue;
            }
            vo = effect.vo;
        }
        if !selection.has_vo(vo) {
            continue;
        }
        let instant = |ms: Option<i64>| ms.map_or(Cell::Empty, Cell::Instant);
        let (start, wall_s) = (instant(number(start, row)), wall.value(row));
        let (cpu_ms, core_n, e4) = (number(cpu, row), number(cores, row), number(score, row));
        let core_ms = core_n.map(|core_n| finer(i128::from(wall_s) * i128::from(core_n), 1000));
        let used_s = cpu_ms.map_or(Cell::Empty, |cpu_ms| Cell::ratio(i128::from(cpu_ms), 1000, 3));
        let normalised = cpu_ms
            .zip(e4)
            .and_then(|(cpu_ms, e4)| i128::from(cpu_ms).checked_mul(e4));
        let normalised = normalised.and_then(|work| divide(work, 10_000));
        let normalised = normalised.map_or(Cell::Empty, |value| Cell::Decimal { value, scale: 3 });
        let efficiency = cpu_ms.zip(core_ms).map_or(Cell::Empty, |(cpu_ms, core_ms)| {
            Cell::ratio(i128::from(cpu_ms), core_ms, 4)
        });
        table.push(vec![
            Cell::text(site),
            start.clone(),
            instant(Some(end_ms)),
            Cell::int(1),
            intensity(&figures.means),
            figures
                .operational_co2e_mg
                .map_or(Cell::Empty, |mg| Cell::ratio(i128::from(mg), 1000, 3)),
            figures
                .means
                .pue
                .map_or(Cell::Empty, |mean| Cell::ratio(mean.sum, finer(mean.ms, 10_000), 4)),
            (figures.energy).map_or(Cell::Empty, |energy| Cell::ratio(i128::from(energy.energy_j), WH_J, 3)),
            Cell::Empty,
            start,
            instant(Some(end_ms)),
            Cell::word(word(state, row)),
            Cell::word(vo),
            Cell::word(word(global, row).or_else(|| word(job, row))),
            Cell::int(1),
            Cell::int(wall_s),
            e4.map_or(Cell::Empty, |value| Cell::Decimal { value, scale: 4 }),
            core_n.map_or(Cell::Empty, Cell::int),
            normalised.clone(),
            efficiency,
            Cell::Empty,
            used_s,
            normalised,
        ]);
    }
    Ok(table)
}

/// The mean intensity of the electricity of a job: PUE times intensity by PUE, or where no PUE is known the mean over its run.
fn intensity(means: &SiteMeans) -> Cell {
    match (means.carbon, means.pue, means.intensity) {
        // Both are over the same time.
        (Some(carbon), Some(pue), _) => Cell::ratio(carbon.sum, finer(pue.sum, 10_000), 4),
        (_, None, Some(intensity)) => Cell::ratio(intensity.sum, finer(intensity.ms, 10_000), 4),
        _ => Cell::Empty,
    }
}
