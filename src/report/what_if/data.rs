//! Both sides at an instant, over a period, and of waiting jobs.

use super::super::lake::Lake;
use super::super::recovery::{Recovery, RecoveryRequest, recoveries};
use super::super::sshare::{choose, instant_or_last};
use super::assumptions::{Assumption, of_rules, of_shares, of_weights};
use super::queue::{self, WaitingJobs};
use super::side::FairshareSide;
use crate::config::fairshare_change::FairshareChange;
use crate::error::{Error, Kind, Result};
use crate::fairshare::standing::{FactorOutcome, OutcomeBasis, Standing, standings};
use crate::share_history::LakeFairshare;
use crate::share_history::context::FairshareContext;
use crate::share_history::factor_course::{FactorCourse, job_days};
use crate::share_history::instant::ClusterInstant;
use crate::share_history::settings::FairshareSettings;
use crate::time::{Day, DaySpan};

/// What is requested.
#[derive(Clone, Debug, Default)]
pub struct WhatIfRequest {
    /// The cluster; may be left out when there is one.
    pub cluster: Option<String>,
    /// The instant, Unix seconds; none is the end of the last job, or of the period.
    pub at_s: Option<i64>,
    /// Days to be compared one by one; none where it is open on both sides.
    pub days: DaySpan,
    /// What is assumed.
    pub change: FairshareChange,
    /// The recovery that is computed, if any.
    pub recovery: Option<RecoveryRequest>,
}

/// One side at the instant.
#[derive(Clone, Debug)]
pub struct WhatIfSide {
    /// Its state.
    pub instant: ClusterInstant,
    /// Factors and places, in the order of the tree.
    pub standings: Vec<Standing>,
    /// Recoveries in the same order, where they are requested.
    pub recoveries: Option<Vec<Recovery>>,
    pub(super) settings: FairshareSettings,
}

/// Factors day by day on both sides.
#[derive(Clone, Debug)]
pub struct WhatIfCourse {
    /// Before.
    pub before: FactorCourse,
    /// After.
    pub after: FactorCourse,
}

/// A what-if.
#[derive(Clone, Debug)]
pub struct FairshareWhatIf {
    /// The cluster.
    pub cluster: String,
    /// The instant, Unix seconds.
    pub at_s: i64,
    /// Everything that differs.
    pub assumptions: Vec<Assumption>,
    /// As it is.
    pub before: WhatIfSide,
    /// As it is assumed.
    pub after: WhatIfSide,
    /// Waiting jobs, where the lake has a listing of them.
    pub queue: Option<WaitingJobs>,
    /// Day by day, where a period is requested.
    pub course: Option<WhatIfCourse>,
    /// The factor to which recovery is computed.
    pub threshold: Option<f64>,
    /// What people must know besides.
    pub notes: Vec<String>,
}

impl FairshareWhatIf {
    /// Computes both sides.
    ///
    /// # Errors
    /// [`Kind::NoInput`] when the lake has no fairshare; [`Kind::Usage`] when it has several clusters and none is chosen, or the
    /// period has no day, and for shares on the command line of associations that no listing has; [`Kind::Config`] for shares of associations that no listing has and for what jobs cannot be counted by; as
    /// [`ClusterInstant::read`].
    pub fn of_lake(lake: &Lake, request: &WhatIfRequest) -> Result<Self> {
        let known = LakeFairshare::of_manifest(&lake.manifest);
        let plan = choose(&known, request.cluster.as_deref())?;
        let before = FairshareSide::of_plan(lake, &known, plan)?;
        let period = Period::of(lake, &known, &before.context, request)?;
        let at_s = match &period {
            Some(period) => lake.zone()?.begins_ms(period.last + 1).div_euclid(1000),
            None => instant_or_last(&known, &before.context.plan, request.at_s)?,
        };
        let (after, shares) = before.changed(lake, &known, &request.change, at_s)?;
        let mut assumptions = of_rules(&before, &after);
        assumptions.extend(of_shares(&shares));
        let mut notes = Vec::new();
        let queue = match queue::read(lake, &before, &after, &request.change)? {
            Some(Ok(queue)) => Some(queue),
            Some(Err(why)) => {
                notes.push(format!("waiting jobs are not compared: {why}"));
                None
            }
            None => None,
        };
        match &queue {
            Some(queue) => {
                assumptions.extend(of_weights(&queue.weights_before, &queue.weights_after));
                note_queue(queue, &mut notes);
            }
            None if request.change.weights.is_any() => {
                let message =
                    "[priority_weights] concern waiting jobs, and the lake has no listing of them that can be compared";
                return Err(Error::new(Kind::Usage, message));
            }
            None => {}
        }
        let of_before = before.instant(lake, at_s)?;
        let of_after = after.instant_like(lake, &before, &of_before)?;
        note_uncounted("before", &of_before, &mut notes);
        if !after.context.settings.counts_like(&before.context.settings) {
            note_uncounted("after", &of_after, &mut notes);
        }
        if OutcomeBasis::of(before.context.plan.algorithm, after.context.plan.algorithm) == OutcomeBasis::Rank {
            notes.push(
                "factors of two algorithms have different scales: who gains and who loses follows from ranks"
                    .to_owned(),
            );
        }
        let course = match &period {
            None => None,
            Some(period) => Some(WhatIfCourse {
                before: FactorCourse::read(before.scan(lake), period.since, period.first, period.last)?,
                after: FactorCourse::read(after.scan(lake), period.since, period.first, period.last)?,
            }),
        };
        Ok(Self {
            cluster: before.context.plan.cluster,
            at_s,
            assumptions,
            before: WhatIfSide::new(of_before, before.context.settings, request.recovery)?,
            after: WhatIfSide::new(of_after, after.context.settings, request.recovery)?,
            queue,
            course,
            threshold: request.recovery.map(|recovery| recovery.threshold),
            notes,
        })
    }

    /// What becomes of every association, in the order of the tree; `None` for those without a factor.
    pub fn outcomes(&self) -> impl Iterator<Item = Option<FactorOutcome>> {
        let pairs = self.before.standings.iter().zip(&self.after.standings);
        pairs.map(|(before, after)| FactorOutcome::of(*before, *after, self.basis()))
    }

    /// What outcomes follow from.
    #[must_use]
    pub fn basis(&self) -> OutcomeBasis {
        let algorithm = |side: &WhatIfSide| side.settings.method.algorithm;
        OutcomeBasis::of(algorithm(&self.before), algorithm(&self.after))
    }
}

impl WhatIfSide {
    fn new(instant: ClusterInstant, settings: FairshareSettings, recovery: Option<RecoveryRequest>) -> Result<Self> {
        let recoveries = recovery
            .map(|recovery| recoveries(&instant, &settings.method, settings.rule.decay, recovery))
            .transpose()?;
        Ok(Self {
            standings: standings(&instant.tree, &instant.scores)?,
            recoveries,
            instant,
            settings,
        })
    }
}

/// The days that are compared, and the first one of a job.
struct Period {
    since: Day,
    first: Day,
    last: Day,
}

impl Period {
    /// None where no period is requested.
    fn of(
        lake: &Lake,
        known: &LakeFairshare,
        context: &FairshareContext,
        request: &WhatIfRequest,
    ) -> Result<Option<Self>> {
        let days = &request.days;
        if days.from.is_none() && days.to.is_none() {
            return Ok(None);
        }
        let of_jobs = job_days(&lake.store, known, context)?;
        let Some((since, until)) = of_jobs.and_then(|of_jobs| of_jobs.from.zip(of_jobs.to)) else {
            return Err(Error::new(Kind::Data, "the lake has no job of the cluster"));
        };
        let (first, last) = (days.from.unwrap_or(since), days.to.unwrap_or(until));
        if last < first {
            let message = "the period has no day: the jobs of the cluster end before it begins, or begin after its end";
            return Err(Error::new(Kind::Usage, message));
        }
        Ok(Some(Self { since, first, last }))
    }
}

fn note_uncounted(side: &str, instant: &ClusterInstant, notes: &mut Vec<String>) {
    for (reason, job_n) in instant.uncounted.counts() {
        notes.push(format!("{side}: {job_n} jobs are not counted: {reason}"));
    }
    if side == "before" && !instant.unlisted_e6.is_empty() {
        notes.push(format!(
            "{} associations with usage are not in the listing of associations",
            instant.unlisted_e6.len()
        ));
    }
}

fn note_queue(queue: &WaitingJobs, notes: &mut Vec<String>) {
    if queue.without_priority_n > 0 {
        notes.push(format!(
            "{} waiting jobs have no priority: they are held, or their age does not count yet",
            queue.without_priority_n
        ));
    }
    if queue.unlisted_n > 0 {
        notes.push(format!(
            "{} waiting jobs are of no listed association",
            queue.unlisted_n
        ));
    }
}
