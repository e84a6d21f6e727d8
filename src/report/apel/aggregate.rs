//! Jobs added up by the keys of APEL's server, and work as the server rounds it.
//!
//! Rows that the server takes for one would replace one another there, so they are one row here, in the spelling of the
//! job that ended first.

use std::borrow::Cow;
use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::check::is_future;
use super::jobs::{
    JobMessageLeftOut, JobMessageWanted, LeftOutCounts, LeftOutWhy, Levels, SendableJob, each_job_of, job_pieces,
};
use super::kind::MessageKind;
use super::message::{benchmark_word, level_text};
use super::rounded_levels::RoundedLevels;
use super::rules::ApelRule;
use super::server_key::{ServerKey, folded};
use super::sums::ApelSums;
use super::users::Users;
use crate::absent;
use crate::amounts::{add, too_large};
use crate::error::Result;
use crate::record::{Summary, SummaryKind};
use crate::reference::benchmark::Benchmark;
use crate::report::lake::{Lake, Selection, on_all_processors};
use crate::report::table::divide;
use crate::schema::batch::addend;
use crate::time::Month;

/// Benchmarks in the order in which the server prefers them.
const PREFERRED: [usize; 3] = [1, 0, 2];

/// Texts of a key: subject, VO, group, role, submit host, infrastructure.
pub type ApelWords = [Option<String>; 6];

/// Work, in seconds of a benchmark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BenchmarkWork {
    /// Of wall time.
    pub wall_s: i64,
    /// Of CPU time.
    pub cpu_s: i64,
}

/// Work by benchmark; the last is of an unknown one.
pub type Works = [Option<BenchmarkWork>; 4];

/// What is known of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aggregate {
    /// Site.
    pub site: String,
    /// Month.
    pub month: Month,
    /// Texts of the key.
    pub words: ApelWords,
    /// Nodes of each job; 0 is unknown.
    pub node_n: i64,
    /// Cores of each job; 0 is unknown.
    pub core_n: i64,
    /// Core time, seconds, where a correction states it; else it is wall time times cores.
    pub stated_core_s: Option<i64>,
    /// Values per core, in thousandths.
    pub levels_e3: Levels,
    /// Work; of jobs it is what the server would round it to.
    pub works: Works,
    /// Sums.
    pub sums: ApelSums,
}

/// Which spellings of the name of a VO are one VO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoNames {
    /// Those that differ in letter case alone, as APEL's server compares them.
    AsServer,
    /// Each is one of its own, as records spell it.
    AsReported,
}

/// Adds jobs up, as they are spelled.
#[derive(Default)]
pub struct ApelGathering {
    by_site: BTreeMap<String, HashMap<Box<[u8]>, usize, ahash::RandomState>>,
    groups: Vec<Aggregate>,
    key: Vec<u8>,
}

impl ApelGathering {
    /// Adds one job.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] naming the sum that is too large.
    pub fn add(&mut self, site: &str, job: &SendableJob<'_>, users: &Users) -> Result<()> {
        let global_user = job.global_user.filter(|_| !matches!(users, Users::Withhold));
        let words = [
            global_user,
            job.vo,
            job.vo_group,
            job.vo_role,
            job.submit_host,
            job.infrastructure,
        ];
        let (node_n, core_n) = (server_number(job.node_n), server_number(job.core_n));
        self.key.clear();
        self.key.extend_from_slice(&job.month.first_day().to_le_bytes());
        self.key.push(u8::from(job.global_user.is_some()));
        for word in words {
            // Fallback: never taken, a name is shorter than 2^32 bytes.
            let length = word.map_or(u32::MAX, |word| u32::try_from(word.len()).unwrap_or(u32::MAX));
            self.key.extend_from_slice(&length.to_le_bytes());
            self.key.extend_from_slice(absent::text(word).as_bytes());
        }
        for number in [node_n, core_n]
            .into_iter()
            // Fallback: an unknown level is a number that no level has in the key.
            .chain(job.levels_e3.map(|level| level.unwrap_or(i64::MIN)))
        {
            self.key.extend_from_slice(&number.to_le_bytes());
        }
        if !self.by_site.contains_key(site) {
            self.by_site.insert(site.to_owned(), HashMap::default());
        }
        let Some(known) = self.by_site.get_mut(site) else {
            return Ok(());
        };
        let at = if let Some(at) = known.get(self.key.as_slice()) {
            *at
        } else {
            let mut owned = words.map(|word| word.map(str::to_owned));
            if let Some(subject) = owned.first_mut() {
                *subject = users.subject(job.global_user, site, job.month).map(Cow::into_owned);
            }
            known.insert(self.key.clone().into_boxed_slice(), self.groups.len());
            self.groups.push(Aggregate {
                site: site.to_owned(),
                month: job.month,
                words: owned,
                node_n,
                core_n,
                stated_core_s: None,
                levels_e3: job.levels_e3,
                works: Works::default(),
                sums: ApelSums::default(),
            });
            self.groups.len() - 1
        };
        if let Some(group) = self.groups.get_mut(at) {
            group.sums.add(&ApelSums {
                job_n: 1,
                wall_s: job.wall_s,
                wall_fraction_ms: job.wall_fraction_ms,
                cpu_ms: job.cpu_ms,
                cpu_unknown_job_n: i64::from(job.is_cpu_unknown),
                rounded_levels: RoundedLevels::of_job(job.are_levels_rounded),
                earliest_end_ms: Some(job.end_ms),
                latest_end_ms: Some(job.end_ms),
            })?;
        }
        Ok(())
    }

    /// The groups as they are spelled.
    #[must_use]
    pub fn groups(&self) -> &[Aggregate] {
        &self.groups
    }

    /// Takes over what another gathered.
    pub fn absorb(&mut self, other: Self) {
        self.groups.extend(other.groups);
    }

    /// One aggregate per key, sorted; work rounded once for each.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] naming the sum that is too large.
    pub fn finish(self, names: VoNames) -> Result<Vec<Aggregate>> {
        let mut merged = match names {
            VoNames::AsServer => merge(self.groups, key)?,
            VoNames::AsReported => merge(self.groups, |group| (key(group), spelled_vo(group)))?,
        };
        for group in &mut merged {
            group.works = server_work(&group.levels_e3, &group.sums)?;
        }
        Ok(merged)
    }
}

/// The jobs of a selection added up, on all processors, and what is unknown or left out of them: also those that the server
/// would refuse because they end after `now_s`, where that is given.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read; [`crate::error::Kind::Data`] when a sum is too large.
pub fn of_lake(
    lake: &Lake,
    selection: &Selection,
    wanted: JobMessageWanted,
    users: &Users,
    now_s: Option<i64>,
) -> Result<(ApelGathering, LeftOutCounts)> {
    let corrections = lake.corrections()?;
    let parts = on_all_processors(&job_pieces(lake, selection)?, |piece| {
        let (mut gathering, mut left_out) = (ApelGathering::default(), LeftOutCounts::new());
        let mut future_n = 0;
        each_job_of(lake, piece, selection, wanted, &corrections, &mut left_out, |job| {
            if is_future(job.end_s, now_s) {
                future_n += 1;
                return Ok(());
            }
            gathering.add(&piece.site, job, users)
        })?;
        if future_n > 0 {
            let why = LeftOutWhy::by_rule(JobMessageLeftOut::Refused, ApelRule::Future.as_str());
            left_out.insert(why, future_n);
        }
        Ok((gathering, left_out))
    })?;
    let (mut all, mut left_out) = (ApelGathering::default(), LeftOutCounts::new());
    for (gathering, more) in parts {
        all.absorb(gathering);
        for (why, n) in more {
            add(left_out.entry(why).or_default(), n, "job_n")?;
        }
    }
    Ok((all, left_out))
}

/// Makes one of those that have one key, in the order of keys.
fn merge<K: Ord>(mut groups: Vec<Aggregate>, key: impl Fn(&Aggregate) -> K) -> Result<Vec<Aggregate>> {
    groups.sort_by(|a, b| {
        let of = |group: &Aggregate| (group.sums.earliest_end_ms, group.words.clone());
        of(a).cmp(&of(b))
    });
    let mut merged: BTreeMap<K, Aggregate> = BTreeMap::new();
    for group in groups {
        let key = key(&group);
        match merged.get_mut(&key) {
            Some(same) => same.absorb(&group)?,
            None => {
                merged.insert(key, group);
            }
        }
    }
    Ok(merged.into_values().collect())
}

impl Aggregate {
    /// Adds another of the same key. A benchmark that only one of them states is dropped.
    fn absorb(&mut self, other: &Self) -> Result<()> {
        self.sums.add(&other.sums)?;
        for (level, other) in self.levels_e3.iter_mut().zip(other.levels_e3) {
            *level = level.filter(|level| Some(*level) == other);
        }
        for (work, other) in self.works.iter_mut().zip(other.works) {
            *work = work.zip(other).map(|(a, _)| a);
            if let Some((sum, other)) = work.as_mut().zip(other) {
                add(&mut sum.wall_s, other.wall_s, "normalised_wall_s")?;
                add(&mut sum.cpu_s, other.cpu_s, "normalised_cpu_s")?;
            }
        }
        Ok(())
    }

    /// The key of the server's row it becomes as a record of some kind.
    #[must_use]
    pub fn server_key(&self, kind: MessageKind) -> ServerKey {
        let [subject, vo, vo_group, vo_role, submit_host, infrastructure] = &self.words;
        let field = |name: &str| -> Option<Cow<'_, str>> {
            let word = match name {
                "Site" => Some(&self.site),
                "GlobalUserName" => subject.as_ref(),
                "VO" => vo.as_ref(),
                "VOGroup" => vo_group.as_ref(),
                "VORole" => vo_role.as_ref(),
                "SubmitHost" => submit_host.as_ref(),
                "InfrastructureType" | "Infrastructure" => infrastructure.as_ref(),
                "Year" => return Some(self.month.year().to_string().into()),
                "Month" => return Some(self.month.number().to_string().into()),
                "NodeCount" => return Some(self.node_n.to_string().into()),
                "Processors" => return Some(self.core_n.to_string().into()),
                _ => None,
            };
            word.map(|word| Cow::Borrowed(word.as_str()))
        };
        let place = if kind.is_normalised() {
            preferred(|place| self.works.get(place).is_some_and(Option::is_some), None)
        } else {
            preferred(|place| self.levels_e3.get(place).is_some_and(Option::is_some), None)
        };
        let level = place.and_then(|place| *self.levels_e3.get(place)?).map(level_text);
        ServerKey::new(kind, field, place.map(benchmark_word), level.as_deref())
    }
}

/// The key of groups before a kind of message is chosen: as on the server, except that all benchmarks count.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ApelKey {
    site: String,
    month: Month,
    words: ApelWords,
    node_n: i64,
    core_n: i64,
    levels_e3: Levels,
    has_works: [bool; 4],
}

fn key(group: &Aggregate) -> ApelKey {
    let fold = |word: &Option<String>| word.as_ref().map(|word| folded(word).into_owned());
    ApelKey {
        site: group.site.clone(),
        month: group.month,
        words: std::array::from_fn(|at| group.words.get(at).and_then(fold)),
        node_n: group.node_n,
        core_n: group.core_n,
        levels_e3: group.levels_e3,
        has_works: group.works.map(|work| work.is_some()),
    }
}

/// The VO as its records spell it.
fn spelled_vo(group: &Aggregate) -> Option<String> {
    let [_, vo, ..] = &group.words;
    vo.clone()
}

/// A summary that was received, to be sent on.
///
/// # Errors
/// [`crate::error::Kind::Data`] when its work is too large.
pub fn of_summary(row: &Summary, users: &Users) -> Result<Aggregate> {
    let named = row.words.benchmark.as_deref().and_then(Benchmark::parse);
    let place = named.map_or(3, Benchmark::place);
    let sums = ApelSums {
        job_n: addend(row.numbers.job_n),
        wall_s: addend(row.numbers.wall_s),
        wall_fraction_ms: addend(row.numbers.wall_fraction_ms),
        cpu_ms: addend(row.numbers.cpu_ms),
        cpu_unknown_job_n: addend(row.numbers.job_n.filter(|_| row.numbers.cpu_ms.is_none())),
        earliest_end_ms: row.numbers.earliest_end_utc,
        latest_end_ms: row.numbers.latest_end_utc,
        ..ApelSums::default()
    };
    let mut levels_e3: Levels = [None; 3];
    let mut works = Works::default();
    if row.kind == SummaryKind::NormalisedSummary {
        if let Some(work) = works.get_mut(place) {
            let worked = row.numbers.normalised_wall_s.zip(row.numbers.normalised_cpu_s);
            *work = worked.map(|(wall_s, cpu_s)| BenchmarkWork { wall_s, cpu_s });
        }
    } else {
        if let Some(level) = levels_e3.get_mut(place) {
            // A level of zero scales nothing: it is unknown, as in usage.
            *level = row.numbers.benchmark_per_core.filter(|level_e3| *level_e3 > 0);
        }
        works = server_work(&levels_e3, &sums)?;
    }
    let stated = &row.words;
    let subject = users.subject(stated.global_user.as_deref(), &row.site, row.month);
    Ok(Aggregate {
        site: row.site.clone(),
        month: row.month,
        words: [
            subject.map(Cow::into_owned),
            stated.vo.clone(),
            stated.vo_group.clone(),
            stated.vo_role.clone(),
            stated.submit_host.clone(),
            stated.infrastructure.clone(),
        ],
        node_n: addend(row.numbers.alloc_node_n),
        core_n: addend(row.numbers.alloc_core_n),
        stated_core_s: None,
        levels_e3,
        works,
        sums,
    })
}

/// The server's own arithmetic: level in thousandths, SI00 divided by 250, rounded once, half up.
fn server_work(levels_e3: &Levels, sums: &ApelSums) -> Result<Works> {
    let mut works = Works::default();
    for ((work, level), benchmark) in works.iter_mut().zip(levels_e3).zip(Benchmark::ALL) {
        let Some(level) = *level else { continue };
        let unit = if benchmark == Benchmark::Si00 { 250_000 } else { 1000 };
        let wall = i128::from(sums.wall_s.max(0)) * i128::from(level);
        let cpu = i128::from(sums.cpu_ms.max(0)) * i128::from(level);
        let rounded = |exact, unit, what| {
            let rounded = divide(exact, unit).and_then(|rounded| i64::try_from(rounded).ok());
            rounded.ok_or_else(|| too_large(what))
        };
        *work = Some(BenchmarkWork {
            wall_s: rounded(wall, unit, "normalised_wall_s")?,
            cpu_s: rounded(cpu, unit * 1000, "normalised_cpu_s")?,
        });
    }
    Ok(works)
}

/// The one benchmark a message without a dictionary names: the one requested, else the one the server would pick.
#[must_use]
pub fn preferred(is_known: impl Fn(usize) -> bool, wanted: Option<Benchmark>) -> Option<usize> {
    match wanted {
        Some(wanted) => Some(wanted.place()).filter(|place| is_known(*place)),
        None => PREFERRED.into_iter().find(|place| is_known(*place)),
    }
}

/// The rows of one kind of message: what has one key on the server is added up, as the server adds up rounded work over
/// benchmark values. Of several benchmarks the server counts by one, and that one is in its key: rows that differ in the
/// others alone are one row there, and so here. Usage that the kind cannot express is counted.
///
/// # Errors
/// [`crate::error::Kind::Data`] naming the sum that is too large.
pub fn rows(
    groups: &[Aggregate],
    kind: MessageKind,
    wanted: Option<Benchmark>,
    left_out: &mut LeftOutCounts,
) -> Result<Vec<Aggregate>> {
    let mut reduced = Vec::with_capacity(groups.len());
    for group in groups {
        let mut group = group.clone();
        let has_work = group.works.iter().any(Option::is_some);
        let sought = if kind.is_normalised() {
            group.levels_e3 = [None; 3];
            let unnamed = kind == MessageKind::NormalisedV03 && wanted.is_none();
            let known = |place: usize| group.works.get(place).is_some_and(Option::is_some);
            preferred(known, wanted).or((unnamed && known(3)).then_some(3))
        } else {
            group.works = Works::default();
            preferred(|place| group.levels_e3.get(place).is_some_and(Option::is_some), wanted)
        };
        let Some(place) = sought else {
            let is_normalised = has_work && !kind.is_normalised() && wanted.is_none();
            let why = if is_normalised {
                JobMessageLeftOut::AlreadyNormalised
            } else {
                JobMessageLeftOut::BenchmarkMissing
            };
            add(left_out.entry(why.into()).or_default(), group.sums.job_n, "job_n")?;
            continue;
        };
        if !kind.has_dictionary() || wanted.is_some() {
            for (at, level) in group.levels_e3.iter_mut().enumerate() {
                *level = level.filter(|_| at == place);
            }
            for (at, work) in group.works.iter_mut().enumerate() {
                *work = work.filter(|_| at == place);
            }
        }
        reduced.push(group);
    }
    let mut rows = merge(reduced, |group| group.server_key(kind))?;
    rows.sort_by_cached_key(key);
    Ok(rows)
}

/// The jobs of some groups whose benchmark is rounded, as far as the groups name it or are scaled by it.
///
/// # Errors
/// [`crate::error::Kind::Data`] when they are too many.
pub fn rounded_levels(groups: &[Aggregate]) -> Result<RoundedLevels> {
    let mut all = RoundedLevels::default();
    for group in groups {
        let is_used = |place: usize| {
            let level = group.levels_e3.get(place).copied().flatten();
            level.is_some() || group.works.get(place).is_some_and(Option::is_some)
        };
        all.add(group.sums.rounded_levels.only(is_used))?;
    }
    Ok(all)
}

/// A number as APEL's server stores it.
pub(super) fn server_number(number: Option<i64>) -> i64 {
    // Fallback: the server stores no null in numbers, unknown is 0.
    number.unwrap_or(0)
}
