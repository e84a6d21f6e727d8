//! Priorities of the jobs of a log: weights are stated, and its groups are accounts with equal shares.

use std::collections::{BTreeMap, BTreeSet};

use super::input::SimulationInput;
use super::stated_priorities::StatedPriorities;
use crate::config::fairshare_change::{FairshareChange, PriorityWeightChange};
use crate::config::fairshare_plan::{DecayMode, HalfLifeSetting};
use crate::error::{Error, Kind, Result};
use crate::fairshare::priority::{
    FavoredSize, PriorityFacts, PriorityRule, PriorityScale, PriorityWeights, SizeBasis, TresScale,
};
use crate::fairshare::{
    AssociationKey, AssociationTree, CalculationTimes, DecaySteps, FairshareMethod, HalfLife, ParentlessAccounts,
    RawShares, TreeRow, UsageDecay, UsageRule,
};
use crate::share_history::listed_priorities::DEFAULT_MAX_AGE_S;
use crate::simulate::job::Job;
use crate::simulate::multifactor::Multifactor;
use crate::simulate::shares::{DatedTree, JobUsage, SimulatedShares};

/// One unit of the first kind of resource counts as one unit of usage a second, 10^-9.
const ONE_E9: i128 = 1_000_000_000;
/// Seconds of a minute.
const MINUTE_S: i64 = 60;

/// Priorities of the jobs of a log.
///
/// # Errors
/// [`Kind::Config`] when no weight is stated; [`Kind::Usage`] for weights of what a log does not state.
pub(super) fn log_priorities(stated: &StatedPriorities, input: &mut SimulationInput) -> Result<Multifactor> {
    let rule = stated_rule(stated, input)?;
    let PriorityWeightChange {
        association,
        partition,
        qos,
        ..
    } = stated.change.weights;
    let unknown = [("association", association), ("partition", partition), ("qos", qos)];
    if let Some((name, _)) = unknown
        .iter()
        .find(|(_, weight)| weight.is_some_and(|weight| weight > 0))
    {
        let why = format!("a log states no priority of {name}: leave out --weight {name}=N");
        return Err(Error::new(Kind::Usage, why));
    }
    let facts = (input.trace.jobs.iter()).map(|job| PriorityFacts {
        node_n: whole(job.need.first()),
        limit_min: whole(job.limit_s.div_euclid(MINUTE_S)),
        ..PriorityFacts::default()
    });
    let facts = facts.collect();
    let shares = if rule.weights.fairshare > 0 {
        Some(log_shares(&stated.change, input)?)
    } else {
        None
    };
    Ok(Multifactor {
        rule,
        times: times()?,
        facts,
        shares,
    })
}

/// The rule of what is stated alone, for a cluster of the size of the machine.
///
/// # Errors
/// [`Kind::Config`] when no weight is above zero.
pub(super) fn stated_rule(stated: &StatedPriorities, input: &SimulationInput) -> Result<PriorityRule> {
    let mut weights = PriorityWeights::default();
    stated.change.weigh(&mut weights);
    if weights == PriorityWeights::default() {
        let why = "the order multifactor needs the weights of priorities: state them, such as --weight age=1000 --weight \
                   fairshare=10000; a lake has them from [[fairshare]] and an [[inventory]] of slurm.conf or scontrol show config";
        return Err(Error::config(why));
    }
    let machine = &input.machine;
    let cores = machine.kind("cores").map_or(0, |kind| machine.capacity().get(kind));
    Ok(PriorityRule {
        weights,
        // Fallback: an age that is not stated ends at Slurm's default.
        max_age_s: stated.max_age_s.unwrap_or(DEFAULT_MAX_AGE_S),
        // Fallback: Slurm's default favours large jobs.
        favored_size: stated.favored_size.unwrap_or(FavoredSize::Large),
        size_basis: SizeBasis::Part,
        association_scale: PriorityScale::OfHighest(0),
        partition_scale: PriorityScale::OfHighest(0),
        qos_scale: PriorityScale::OfHighest(0),
        tres_scale: TresScale::OfPartition,
        node_n: whole(machine.capacity().first()),
        cpu_n: whole(cores),
    })
}

/// Slurm's default: every five minutes.
pub(super) fn times() -> Result<CalculationTimes> {
    let times = CalculationTimes::new(CalculationTimes::DEFAULT_PERIOD_S, 0);
    times.ok_or_else(|| Error::internal("the default period of calculations is zero"))
}

/// A size as priorities count it; what is beyond all clusters counts as the largest.
pub(super) fn whole(amount: i64) -> u32 {
    // Fallback: an amount beyond 32 bits is the largest one.
    u32::try_from(amount.max(0)).unwrap_or(u32::MAX)
}

/// Groups and users of a log as accounts and users with one share each.
fn log_shares(change: &FairshareChange, input: &mut SimulationInput) -> Result<SimulatedShares> {
    let key = |job: &Job| {
        let user = job.user?;
        // Fallback: users of no group are in one account.
        let group = job.group.map_or_else(|| "none".to_owned(), |group| group.to_string());
        Some(AssociationKey::user(group.as_str(), user.to_string().as_str()))
    };
    let keys: Vec<Option<AssociationKey>> = input.trace.jobs.iter().map(|job| key(&job)).collect();
    let known: BTreeSet<&AssociationKey> = keys.iter().flatten().collect();
    let accounts: BTreeSet<&str> = known.iter().map(|key| key.account.as_str()).collect();
    let without_n = keys.iter().filter(|key| key.is_none()).count();
    if without_n > 0 {
        input
            .notes
            .push(format!("{without_n} jobs state no user: their fairshare is 0"));
    }
    input.notes.push(format!(
        "fairshare: {} groups of the log are accounts with one share each, and so are their {} users; a unit of {} counts one a second",
        accounts.len(),
        known.len(),
        input.machine.kinds().first().map_or("the machine", |kind| &kind.name)
    ));
    let row = |key: AssociationKey| TreeRow {
        key,
        parent_account: None,
        shares: RawShares::Number(1),
    };
    let mut rows: Vec<TreeRow> = accounts
        .iter()
        .map(|account| row(AssociationKey::account(*account)))
        .collect();
    rows.extend(known.iter().map(|key| row((*key).clone())));
    let tree = AssociationTree::of_rows(&rows, ParentlessAccounts::UnderRoot)
        .map_err(|_| Error::internal("groups and users of a log are no tree"))?;
    let places: BTreeMap<&AssociationKey, usize> = known.iter().enumerate().map(|(place, key)| (*key, place)).collect();
    let jobs = keys.iter().zip(&input.trace.jobs).map(|(key, job)| {
        let association = *places.get(key.as_ref()?)?;
        Some(JobUsage {
            association,
            rate_e9: i128::from(job.need.first()) * ONE_E9,
            factor_e9: ONE_E9,
        })
    });
    Ok(SimulatedShares {
        method: match change.algorithm {
            Some(algorithm) => FairshareMethod::new(algorithm),
            None => FairshareMethod::fair_tree(),
        },
        rule: UsageRule::of_decay(stated_decay(change)?),
        jobs: jobs.collect(),
        associations: known.into_iter().cloned().collect(),
        trees: vec![DatedTree { from_s: i64::MIN, tree }],
        recorded: Vec::new(),
    })
}

fn stated_decay(change: &FairshareChange) -> Result<UsageDecay> {
    let half_life = match change.half_life {
        Some(HalfLifeSetting::None) => return Ok(UsageDecay::NONE),
        Some(HalfLifeSetting::Seconds(seconds)) => {
            let why = "a half-life of zero is none: state --half-life none";
            HalfLife::of_seconds(seconds).ok_or_else(|| Error::new(Kind::Usage, why))?
        }
        Some(HalfLifeSetting::Listed) | None => HalfLife::SEVEN_DAYS,
    };
    Ok(match change.decay {
        None | Some(DecayMode::SlurmSteps) => UsageDecay::steps(DecaySteps::at(half_life, times()?)),
        Some(DecayMode::Continuous) => UsageDecay::continuous(half_life),
        Some(DecayMode::HalvingSteps) => UsageDecay::HalvingSteps(half_life),
    })
}
