//! Usage as federations count it: whole jobs in the UTC month of their end, and received summaries where they count;
//! with signed corrections, of which those of one month concern the jobs that ended in it.

use std::collections::BTreeMap;

use super::apel::additions::{Additions, additions};
use super::apel::aggregate::{Aggregate, VoNames, of_lake, of_summary, rounded_levels};
use super::apel::jobs::{JobMessageLeftOut, JobMessageWanted, LeftOutCounts};
use super::apel::users::Users;
use super::exact_work::ExactWork;
use super::lake::{Lake, Selection};
use super::work_scale::{WorkBenchmarks, WorkScale};
use crate::absent;
use crate::amounts::{add, product, total};
use crate::error::Result;
use crate::record::SummaryKind;
use crate::time::Month;

/// How jobs are attributed to months, for the title of a table.
pub(super) const COUNTED: &str = "jobs whole in the UTC month of their end";

/// Everything of a selection, as federations count it.
#[derive(Clone, Debug, Default)]
pub struct FederationUsage {
    /// By the keys of APEL's server, without names of people; VOs as they are spelled.
    pub groups: Vec<Aggregate>,
    /// What is unknown of some jobs.
    pub notes: Vec<String>,
}

/// Adds up a selection of a lake.
///
/// # Errors
/// [`crate::error::Kind::Io`] when it cannot be read.
pub fn gather(lake: &Lake, selection: &Selection) -> Result<FederationUsage> {
    let wanted = JobMessageWanted::Everything;
    let (gathering, mut unknown) = of_lake(lake, selection, wanted, &Users::Withhold, None)?;
    let mut groups = gathering.finish(VoNames::AsReported)?;
    let rounded = rounded_levels(&groups)?;
    let Additions {
        groups: added,
        wall_unknown_n,
    } = additions(lake, selection)?;
    let summaries = lake.summaries(selection)?;
    let usage = summaries.iter().filter(|row| row.kind != SummaryKind::Sync);
    for row in usage {
        let group = of_summary(row, &Users::Withhold)?;
        note_unknown(&group, &mut unknown)?;
        groups.push(group);
    }
    let mut notes: Vec<String> = unknown
        .iter()
        .map(|(why, n)| format!("{n} jobs: {}", why.reason.as_str()))
        .collect();
    notes.extend(rounded.note());
    if !added.is_empty() {
        let n = total(added.iter().map(|group| group.sums.job_n), "job_n")?;
        notes.push(format!("{n} jobs: added by corrections, of no known benchmark"));
    }
    if wall_unknown_n > 0 {
        notes.push(format!(
            "{wall_unknown_n} corrections add usage without a wall time, which counts as nothing"
        ));
    }
    groups.extend(added);
    let unknown = (groups.iter()).filter(|group| Infrastructure::of(group) == Infrastructure::Unknown);
    let unknown_n = total(unknown.map(|group| group.sums.job_n), "job_n")?;
    if unknown_n > 0 {
        notes.push(format!(
            "{unknown_n} jobs: infrastructure unknown, neither grid nor local; `infrastructure` in their [[source]] states it"
        ));
    }
    Ok(FederationUsage { groups, notes })
}

/// Counts what is unknown of the jobs of a summary, as of single jobs.
fn note_unknown(group: &Aggregate, unknown: &mut LeftOutCounts) -> Result<()> {
    let cpu_unknown_n = group.sums.cpu_unknown_job_n;
    let is_scaled = group.works.iter().any(Option::is_some);
    let why = match (cpu_unknown_n, is_scaled) {
        (1.., _) => JobMessageLeftOut::CpuUnknown,
        (_, false) => JobMessageLeftOut::BenchmarkMissing,
        (_, true) => return Ok(()),
    };
    add(unknown.entry(why.into()).or_default(), group.sums.job_n, "job_n")
}

/// Sums in the units of a federation: time in milliseconds, and work in billionths of a second of the requested benchmark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FederationSums {
    /// Jobs.
    pub job_n: i128,
    /// CPU time, milliseconds.
    pub cpu_ms: i128,
    /// Wall time, not times cores, milliseconds.
    pub wall_ms: i128,
    /// Wall time times cores, or as a correction states it; jobs of unknown cores count as one core, and are counted.
    pub core_wall_ms: i128,
    /// CPU time in 10^-9 seconds of the benchmark.
    pub cpu_work_e9: i128,
    /// Wall time, not times cores, in 10^-9 seconds of the benchmark.
    pub wall_work_e9: i128,
    /// The same times cores.
    pub core_wall_work_e9: i128,
    /// Jobs without such work.
    pub unscaled_job_n: i128,
    /// Jobs of unknown cores.
    pub core_unknown_job_n: i128,
    /// Jobs of unknown CPU time, which counts as nothing.
    pub cpu_unknown_job_n: i128,
    /// Benchmarks the work is in.
    pub benchmarks: WorkBenchmarks,
    /// Earliest end, Unix milliseconds.
    pub earliest_end_ms: Option<i64>,
    /// Latest end, Unix milliseconds.
    pub latest_end_ms: Option<i64>,
}

impl FederationSums {
    /// The sums of all groups, of which the totals of a table are made.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn of_all(groups: &[Aggregate], scale: WorkScale) -> Result<Self> {
        let mut all = Self::default();
        for group in groups {
            all.add(group, scale)?;
        }
        Ok(all)
    }

    /// Adds one group, its work by `scale`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] naming the sum that is too large.
    pub fn add(&mut self, group: &Aggregate, scale: WorkScale) -> Result<()> {
        let cores = i128::from(group.core_n.max(1));
        let (wall_ms, job_n) = (group.sums.wall_ms(), i128::from(group.sums.job_n));
        self.job_n += job_n;
        self.cpu_ms += i128::from(group.sums.cpu_ms);
        self.wall_ms += wall_ms;
        let core_wall_ms = match group.stated_core_s {
            Some(stated_s) => i128::from(stated_s) * 1000,
            None => product(wall_ms, cores, "core_wall_ms")?,
        };
        add(&mut self.core_wall_ms, core_wall_ms, "core_wall_ms")?;
        match ExactWork::of(group, scale)? {
            Some(work) => {
                add(&mut self.wall_work_e9, work.wall_e9, "wall_work")?;
                add(&mut self.core_wall_work_e9, work.core_wall_e9, "core_wall_work")?;
                add(&mut self.cpu_work_e9, work.cpu_e9, "cpu_work")?;
                self.benchmarks = self.benchmarks.and(work.benchmark);
            }
            None => self.unscaled_job_n += job_n,
        }
        if group.core_n == 0 && group.stated_core_s.is_none() {
            self.core_unknown_job_n += job_n;
        }
        self.cpu_unknown_job_n += i128::from(group.sums.cpu_unknown_job_n);
        let earliest = [self.earliest_end_ms, group.sums.earliest_end_ms];
        self.earliest_end_ms = earliest.into_iter().flatten().min();
        self.latest_end_ms = self.latest_end_ms.max(group.sums.latest_end_ms);
        Ok(())
    }
}

impl FederationSums {
    /// Whether the CPU time of none of the jobs is known.
    #[must_use]
    pub fn is_cpu_unknown(&self) -> bool {
        self.job_n > 0 && self.cpu_unknown_job_n == self.job_n
    }
}

/// Through which infrastructure jobs came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Infrastructure {
    /// A grid, by whatever name.
    Grid,
    /// Submitted at the site.
    Local,
    /// The records do not state it.
    Unknown,
}

impl Infrastructure {
    /// That of a group: `local`, in any letter case, is local; any other word names a grid.
    #[must_use]
    pub fn of(group: &Aggregate) -> Self {
        let [.., infrastructure] = &group.words;
        match infrastructure.as_deref().map(str::trim) {
            None | Some("") => Self::Unknown,
            Some(word) if word.eq_ignore_ascii_case("local") => Self::Local,
            Some(_) => Self::Grid,
        }
    }
}

/// Sums by any key of a group.
///
/// # Errors
/// [`crate::error::Kind::Data`] naming the sum that is too large.
pub fn sums_by<K: Ord>(
    groups: &[Aggregate],
    scale: WorkScale,
    key: impl Fn(&Aggregate) -> K,
) -> Result<BTreeMap<K, FederationSums>> {
    let mut sums: BTreeMap<K, FederationSums> = BTreeMap::new();
    for group in groups {
        sums.entry(key(group)).or_default().add(group, scale)?;
    }
    Ok(sums)
}

/// Site, VO and month of a group.
#[must_use]
pub fn site_vo_month(group: &Aggregate) -> (String, String, Month) {
    let [_, vo, ..] = &group.words;
    (group.site.clone(), absent::text(vo.as_deref()).to_owned(), group.month)
}
