//! GRACC's daily summary documents, one to a line.
//!
//! The keys are GRACC's. What the lake does not keep apart is told as GRACC tells a missing value: the VO stands for the
//! name before its corrections as well, and the host a payload ran on is `N/A`.

use std::collections::{BTreeMap, BTreeSet};

use super::lake::{Lake, Piece, Selection, on_all_processors};
use super::table::{Cell, divide};
use crate::error::{Error, Result};
use crate::schema::batch::{int, number, text, time, word};
use crate::summarise::fate::{Corrections, added_view};
use crate::time::Month;

/// Day, VO, project, DN, cores, GPUs, resource type, exit code, grid, probe, site.
type Key = (
    i64,
    String,
    String,
    String,
    i64,
    i64,
    String,
    i64,
    String,
    String,
    String,
);

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    job_n: i128,
    wall_ms: i128,
    cpu_ms: i128,
    cpu_user_ms: i128,
    cpu_system_ms: i128,
    core_wall_ms: i128,
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.job_n += other.job_n;
        self.wall_ms += other.wall_ms;
        self.cpu_ms += other.cpu_ms;
        self.cpu_user_ms += other.cpu_user_ms;
        self.cpu_system_ms += other.cpu_system_ms;
        self.core_wall_ms += other.core_wall_ms;
    }
}

const MISSING: &str = "N/A";
const DAY_MS: i64 = 86_400_000;

/// GRACC's word for a view.
fn resource_type(view: &str) -> String {
    let mut letters = view.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Writes every document of the selection, sorted; gives their number. Views stay apart: they tell of the same hours.
/// Corrections are applied: those of one month concern jobs that ended in it, and what they add stands on its first day.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read, and what `take` fails with.
pub fn documents(lake: &Lake, selection: &Selection, mut take: impl FnMut(&str) -> Result<()>) -> Result<usize> {
    let corrections = lake.corrections()?;
    let pieces = lake.record_pieces(selection)?;
    let parts = on_all_processors(&pieces, |piece| gather(lake, selection, piece, &corrections))?;
    let mut groups: BTreeMap<Key, Sums> = BTreeMap::new();
    for (key, sums) in parts.into_iter().flatten() {
        groups.entry(key).or_default().add(&sums);
    }
    for (site, month, rule) in corrections.additions() {
        let says = |name: &str| rule.filter(name).flatten();
        if !selection.has_site(site) || !selection.has_month(month) || !selection.has_vo(says("vo")) {
            continue;
        }
        let of = |name: &str| says(name).unwrap_or(MISSING).to_owned();
        let key = (
            i64::from(month.first_day()),
            of("vo"),
            of("account"),
            MISSING.to_owned(),
            1,
            0,
            resource_type(added_view(rule)),
            0,
            MISSING.to_owned(),
            of("cluster"),
            site.to_owned(),
        );
        let amount = |name: &str| i128::from(rule.adds(name).unwrap_or(0));
        groups.entry(key).or_default().add(&Sums {
            job_n: amount("job_n"),
            wall_ms: amount("wall_s") * 1000,
            cpu_ms: amount("cpu_ms"),
            core_wall_ms: amount("alloc_core_s") * 1000,
            ..Sums::default()
        });
    }
    for (key, sums) in &groups {
        take(&document(key, sums)?)?;
    }
    Ok(groups.len())
}

fn gather(lake: &Lake, selection: &Selection, piece: &Piece, corrections: &Corrections) -> Result<BTreeMap<Key, Sums>> {
    const COLUMNS: [&str; 15] = [
        "view",
        "cluster",
        "vo",
        "account",
        "global_user",
        "infrastructure",
        "end_utc",
        "wall_s",
        "wall_fraction_ms",
        "cpu_ms",
        "cpu_user_ms",
        "cpu_system_ms",
        "alloc_core_n",
        "alloc_gpu_n",
        "exit_code",
    ];
    let mut groups: BTreeMap<Key, Sums> = BTreeMap::new();
    let fates = corrections.of_site(&piece.site);
    let columns: BTreeSet<&str> = COLUMNS.into_iter().chain(fates.columns()).collect();
    let columns: Vec<&str> = columns.into_iter().collect();
    for batch in lake.piece_batches(piece, &columns)? {
        let batch = batch?;
        let looked_at = fates.of_batch(&batch)?;
        let words = |name| text(&batch, name);
        let (vo, account, user) = (words("vo")?, words("account")?, words("global_user")?);
        let (view, grid, probe) = (words("view")?, words("infrastructure")?, words("cluster")?);
        let end = time(&batch, "end_utc")?;
        let numbers = |name| int(&batch, name);
        let (wall, fraction, cpu) = (numbers("wall_s")?, numbers("wall_fraction_ms")?, numbers("cpu_ms")?);
        let (cpu_user, cpu_system) = (numbers("cpu_user_ms")?, numbers("cpu_system_ms")?);
        let (cores, gpus, exit) = (numbers("alloc_core_n")?, numbers("alloc_gpu_n")?, numbers("exit_code")?);
        for row in 0..batch.num_rows() {
            let Some(end_ms) = number(end, row) else { continue };
            let Some(month) = Month::of_ms(end_ms).filter(|month| selection.has_month(*month)) else {
                continue;
            };
            let (mut vo, mut account) = (word(vo, row), word(account, row));
            if !fates.is_empty() {
                let fate = fates.of(&looked_at, row, month);
                if fate.is_void {
                    continue;
                }
                (vo, account) = (fate.vo, fate.account);
            }
            if !selection.has_vo(vo) {
                continue;
            }
            let told = |word: Option<&str>| word.unwrap_or(MISSING).to_owned();
            let of = |column| told(word(column, row));
            let core_n = number(cores, row).unwrap_or(1);
            let key = (
                end_ms.div_euclid(DAY_MS),
                told(vo),
                told(account),
                of(user),
                core_n,
                number(gpus, row).unwrap_or(0),
                resource_type(view.value(row)),
                number(exit, row).unwrap_or(0),
                of(grid),
                of(probe),
                piece.site.clone(),
            );
            let wall_ms = i128::from(wall.value(row)) * 1000 + i128::from(fraction.value(row));
            let known = |column| number(column, row).map_or(0, i128::from);
            groups.entry(key).or_default().add(&Sums {
                job_n: 1,
                wall_ms,
                cpu_ms: known(cpu),
                cpu_user_ms: known(cpu_user),
                cpu_system_ms: known(cpu_system),
                core_wall_ms: wall_ms * i128::from(core_n),
            });
        }
    }
    Ok(groups)
}

fn document(key: &Key, sums: &Sums) -> Result<String> {
    let (day, vo, project, dn, cores, gpus, kind, exit, grid, probe, site) = key;
    let date = i32::try_from(*day).ok().and_then(crate::time::month::date_of);
    let date = date.ok_or_else(|| Error::internal("a day that no calendar has"))?;
    // As GRACC does when it knows no project.
    let project = if project == MISSING { vo } else { project };
    let quoted = |text: &str| {
        serde_json::to_string(text).map_err(|e| Error::internal("a document cannot be written").because(e))
    };
    let seconds = |ms: i128| Cell::Decimal { value: ms, scale: 3 }.to_string();
    let core_hours = divide(sums.core_wall_ms.saturating_mul(1_000_000), 3_600_000).unwrap_or(0);
    let core_hours = Cell::Decimal {
        value: core_hours,
        scale: 6,
    };
    Ok(format!(
        "{{\"EndTime\":\"{date}T00:00:00.000Z\",\"VOName\":{vo},\"ReportableVOName\":{vo},\"ProjectName\":{project},\
         \"DN\":{dn},\"CommonName\":\"{MISSING}\",\"Processors\":{cores},\"GPUs\":{gpus},\"ResourceType\":{kind},\
         \"Host_description\":\"{MISSING}\",\"Resource_ExitCode\":{exit},\"Grid\":{grid},\"ProbeName\":{probe},\
         \"SiteName\":{site},\"WallDuration\":{},\"CpuDuration_user\":{},\"CpuDuration_system\":{},\"CpuDuration\":{},\
         \"CoreHours\":{core_hours},\"Njobs\":{},\"Count\":{}}}",
        seconds(sums.wall_ms),
        seconds(sums.cpu_user_ms),
        seconds(sums.cpu_system_ms),
        seconds(sums.cpu_ms),
        sums.job_n,
        sums.job_n,
        vo = quoted(vo)?,
        project = quoted(project)?,
        dn = quoted(dn)?,
        kind = quoted(kind)?,
        grid = quoted(grid)?,
        probe = quoted(probe)?,
        site = quoted(site)?,
    ))
}
