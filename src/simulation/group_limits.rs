//! Limits as they are requested, and as the jobs of a simulation have them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::input::SimulationInput;
use super::lake_trace::LakeJobReader;
use crate::error::{Error, Kind, Result};
use crate::simulate::job::Job;
use crate::simulate::limits::{GroupLimit, GroupLimits, LimitedAmount};
use crate::simulate::trace::TraceReason;

/// Most names of groups in a message.
const NAMED_MAX: usize = 20;

/// By what jobs are one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupBy {
    /// Their user.
    User,
    /// Their account; of a log their group.
    Account,
    /// Their partition.
    Partition,
    /// Their QOS.
    Qos,
}

impl GroupBy {
    const WORDS: [(&'static str, Self); 4] = [
        ("user", Self::User),
        ("account", Self::Account),
        ("partition", Self::Partition),
        ("qos", Self::Qos),
    ];

    fn word(self) -> &'static str {
        let found = Self::WORDS.iter().find(|(_, by)| *by == self);
        found.map_or("", |(word, _)| word)
    }
}

/// A limit as it is requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitRequest {
    /// By what jobs are one group.
    pub by: GroupBy,
    /// The name of the one group that is limited; `None` limits each.
    pub name: Option<String>,
    /// What is limited: `jobs`, or a kind of resource.
    pub what: String,
    /// The most at a time.
    pub most: i64,
}

impl LimitRequest {
    /// Reads `user:jobs=10` or `partition/gpu:cores=256`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        let shape = || "not a limit such as user:jobs=10 or partition/gpu:cores=256".to_owned();
        let (left, most) = text.rsplit_once('=').ok_or_else(shape)?;
        let (group, what) = left.split_once(':').ok_or_else(shape)?;
        let (by, name) = match group.split_once('/') {
            Some((by, name)) => (by, Some(name.to_owned())),
            None => (group, None),
        };
        let by = GroupBy::WORDS.iter().find(|(word, _)| *word == by);
        let (_, by) = by.ok_or_else(|| "jobs are limited by user, account, partition or qos".to_owned())?;
        let most = most.parse().ok().filter(|most| *most >= 0);
        let most = most.ok_or_else(|| "the most at a time is a whole number".to_owned())?;
        Ok(Self {
            by: *by,
            name,
            what: what.to_owned(),
            most,
        })
    }
}

/// Gives the jobs of an input their limits. Jobs that are beyond a limit alone are left out and counted.
///
/// # Errors
/// [`Kind::Usage`] for what is no amount of the machine, and for a group that no job is of; as
/// [`crate::simulate::trace::Trace::with_jobs`].
pub(super) fn limited(requests: &[LimitRequest], input: &mut SimulationInput) -> Result<()> {
    if requests.is_empty() {
        return Ok(());
    }
    let of_all = limits_of(requests, input)?;
    let beyond: BTreeSet<i64> = (input.trace.jobs.iter().enumerate())
        .filter(|(place, job)| of_all.beyond(*place, &job.need).is_some())
        .map(|(_, job)| job.id)
        .collect();
    if beyond.is_empty() {
        input.limits = Some(Arc::new(of_all));
        return Ok(());
    }
    let trace = std::mem::take(&mut input.trace);
    input.trace = trace.without(&beyond, TraceReason::BeyondLimit)?;
    if input.trace.jobs.is_empty() {
        return Err(Error::new(
            Kind::Usage,
            "every job alone is beyond a limit: there is nothing to simulate",
        ));
    }
    input.limits = Some(Arc::new(limits_of_rest(requests, input)?));
    Ok(())
}

/// As [`limits_of`] of what is left: that a named group has no job any more is no mistake then.
fn limits_of_rest(requests: &[LimitRequest], input: &mut SimulationInput) -> Result<GroupLimits> {
    let rest: Vec<LimitRequest> = requests
        .iter()
        .filter(|request| match &request.name {
            Some(name) => {
                let mut groups = JobGroups::new(input);
                (input.trace.jobs.iter()).any(|job| groups.of(request.by, &job).as_ref() == Some(name))
            }
            None => true,
        })
        .cloned()
        .collect();
    let note_n = input.notes.len();
    let limits = limits_of(&rest, input);
    // What lacks a group was noted before.
    input.notes.truncate(note_n);
    limits
}

fn limits_of(requests: &[LimitRequest], input: &mut SimulationInput) -> Result<GroupLimits> {
    let mut limits = GroupLimits {
        limits: Vec::new(),
        of_jobs: vec![Vec::new(); input.trace.jobs.len()],
    };
    let mut notes = Vec::new();
    for request in requests {
        let amount = amount(request, input)?;
        let mut places: BTreeMap<String, u32> = BTreeMap::new();
        let (mut without_n, mut known) = (0_u64, BTreeSet::new());
        let mut groups = JobGroups::new(input);
        for (job, of_job) in input.trace.jobs.iter().zip(&mut limits.of_jobs) {
            let Some(name) = groups.of(request.by, &job) else {
                without_n += 1;
                continue;
            };
            if request.name.as_ref().is_some_and(|wanted| *wanted != name) {
                known.insert(name);
                continue;
            }
            let next = u32::try_from(limits.limits.len());
            let next = next.map_err(|_| Error::new(Kind::Data, "there are too many groups to limit"))?;
            let place = *places.entry(name).or_insert_with_key(|name| {
                limits.limits.push(GroupLimit {
                    name: format!("{} {name}: {} {}", request.by.word(), request.most, request.what),
                    amount,
                    most: request.most,
                });
                next
            });
            of_job.push(place);
        }
        let by = request.by.word();
        if let (Some(name), true) = (&request.name, places.is_empty()) {
            let known: Vec<String> = known.into_iter().take(NAMED_MAX).collect();
            let known = if known.is_empty() {
                "none".to_owned()
            } else {
                known.join(", ")
            };
            let why = format!("no simulated job is of the {by} {name}, which --limit names; there are {known}");
            return Err(Error::new(Kind::Usage, why));
        }
        if without_n > 0 {
            notes.push(format!(
                "{without_n} jobs state no {by}: the limit {by}:{}={} is not theirs",
                request.what, request.most
            ));
        }
    }
    input.notes.append(&mut notes);
    Ok(limits)
}

fn amount(request: &LimitRequest, input: &SimulationInput) -> Result<LimitedAmount> {
    if request.what == "jobs" {
        return Ok(LimitedAmount::Jobs);
    }
    let kind = input.machine.kind(&request.what).map(LimitedAmount::Kind);
    kind.ok_or_else(|| {
        let names: Vec<&str> = input.machine.kinds().iter().map(|kind| kind.name.as_str()).collect();
        let why = format!(
            "--limit: the machine has no {}: what can be limited are jobs, {}",
            request.what,
            names.join(", ")
        );
        Error::new(Kind::Usage, why)
    })
}

/// Finds the groups of jobs.
struct JobGroups<'a> {
    /// Of a lake.
    lake: Option<LakeJobReader<'a>>,
}

impl<'a> JobGroups<'a> {
    fn new(input: &'a SimulationInput) -> Self {
        Self {
            lake: input.lake.as_ref().map(|lake| lake.jobs.reader()),
        }
    }

    /// The group of a job, where it is known.
    fn of(&mut self, by: GroupBy, job: &Job) -> Option<String> {
        let Some(lake) = &mut self.lake else {
            let number = match by {
                GroupBy::User => job.user,
                GroupBy::Account => job.group,
                GroupBy::Partition | GroupBy::Qos => None,
            };
            return number.map(|number| number.to_string());
        };
        let of = lake.of(job)?;
        match by {
            GroupBy::User => of.owner.user.clone(),
            GroupBy::Account => of.account.clone(),
            GroupBy::Partition => of.owner.partition.clone(),
            GroupBy::Qos => of.owner.qos.clone(),
        }
    }
}
