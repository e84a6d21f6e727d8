//! GRACC's daily summary documents, one to a line.
//!
//! The keys are GRACC's. What the lake does not keep apart is told as GRACC tells a missing value: the VO stands for the
//! name before its corrections as well, and the host a payload ran on is `N/A`.

use std::collections::BTreeMap;

use super::lake::{Lake, Selection};
use super::table::{Cell, divide};
use crate::error::{Error, Result};
use crate::schema::batch::{int, number, text, time, word};
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
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read, and what `take` fails with.
pub fn documents(lake: &Lake, selection: &Selection, mut take: impl FnMut(&str) -> Result<()>) -> Result<usize> {
    let mut groups: BTreeMap<Key, Sums> = BTreeMap::new();
    for (site, month, path) in lake.months("records")? {
        if selection.has_site(&site) && selection.to.is_none_or(|to| month <= to) {
            gather(lake, selection, &site, &path, &mut groups)?;
        }
    }
    for (key, sums) in &groups {
        take(&document(key, sums)?)?;
    }
    Ok(groups.len())
}

fn gather(lake: &Lake, selection: &Selection, site: &str, path: &str, groups: &mut BTreeMap<Key, Sums>) -> Result<()> {
    const COLUMNS: [&str; 16] = [
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
        "record_utc",
    ];
    for batch in lake.batches(path, Some(&COLUMNS))? {
        let batch = batch?;
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
            let is_asked_for = Month::of_ms(end_ms).is_some_and(|month| selection.has_month(month));
            if !is_asked_for || !selection.has_vo(word(vo, row)) {
                continue;
            }
            let of = |column| word(column, row).unwrap_or(MISSING).to_owned();
            let core_n = number(cores, row).unwrap_or(1);
            let key = (
                end_ms.div_euclid(DAY_MS),
                of(vo),
                of(account),
                of(user),
                core_n,
                number(gpus, row).unwrap_or(0),
                resource_type(view.value(row)),
                number(exit, row).unwrap_or(0),
                of(grid),
                of(probe),
                site.to_owned(),
            );
            let wall_ms = i128::from(wall.value(row)) * 1000 + i128::from(fraction.value(row));
            let known = |column| number(column, row).map_or(0, i128::from);
            let sums = groups.entry(key).or_default();
            sums.job_n += 1;
            sums.wall_ms += wall_ms;
            sums.cpu_ms += known(cpu);
            sums.cpu_user_ms += known(cpu_user);
            sums.cpu_system_ms += known(cpu_system);
            sums.core_wall_ms += wall_ms * i128::from(core_n);
        }
    }
    Ok(())
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
