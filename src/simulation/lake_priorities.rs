//! Priorities of the jobs of a lake: weights, partitions and QOS of its listings, and the fairshare of its pipeline with usage
//! that follows the simulated schedule.

use std::collections::{BTreeMap, HashMap};

use ahash::RandomState;

use super::input::SimulationInput;
use super::lake_source::LakeSource;
use super::log_priorities::{stated_rule, times, whole};
use super::stated_priorities::StatedPriorities;
use crate::config::fairshare_change::FairshareChange;
use crate::config::fairshare_plan::FairsharePlan;
use crate::error::{Error, Kind, Result};
use crate::fairshare::priority::{PriorityFacts, TresAmount};
use crate::fairshare::{ChainedDecay, UsageDecay};
use crate::lake::calendar_fact::rule;
use crate::numbers::index;
use crate::share_history::LakeFairshare;
use crate::share_history::context::FairshareContext;
use crate::share_history::listed_priorities::{ListedPartition, ListedPriorities};
use crate::share_history::simulated_usage::ClusterUse;
use crate::simulate::job::Job;
use crate::simulate::multifactor::Multifactor;
use crate::simulate::shares::{DatedTree, JobUsage, RecordedUsage, SimulatedShares};
use crate::store::{Manifest, Store};

/// Bytes of a MiB.
const MIB: i64 = 1 << 20;
/// Seconds of a minute.
const MINUTE_S: i64 = 60;

/// Priorities of the jobs of a lake.
///
/// # Errors
/// [`Kind::Config`] when weights, shares or the half-life are not stated; [`Kind::Data`] when a listing is wrong;
/// [`Kind::Usage`] for another usage; [`Kind::Io`].
pub(super) fn lake_priorities(
    store: &Store,
    manifest: &Manifest,
    stated: &StatedPriorities,
    input: &mut SimulationInput,
) -> Result<Multifactor> {
    let source = input
        .lake
        .as_ref()
        .ok_or_else(|| Error::internal("priorities of a lake without one"))?;
    let known = LakeFairshare::of_manifest(manifest);
    let own = (known.plans())
        .find(|plan| plan.site == source.site && Some(&plan.cluster) == source.cluster.as_ref())
        .cloned();
    let Some(plan) = own else {
        return without_plan(stated, input);
    };
    if stated.change.usage.is_some() {
        let why =
            "a simulation counts usage as [[fairshare]] of the pipeline does: leave out usage and policy of --what-if";
        return Err(Error::new(Kind::Usage, why));
    }
    // Fallback: jobs of a trace have a first submission.
    let first_s = input.trace.jobs.first().map_or(0, |job| job.submit_s);
    let context = context(store, manifest, &known, &stated.change, &plan, first_s)?;
    let mut listed = ListedPriorities::read(store, manifest, &context, first_s)?;
    stated.change.weigh(&mut listed.rule.weights);
    if !listed.has_weights {
        listed.rule.weights = stated_rule(stated, input)?.weights;
    }
    // Fallback: what is not stated stays as it is listed.
    listed.rule.max_age_s = stated.max_age_s.unwrap_or(listed.rule.max_age_s);
    // Fallback: as above.
    listed.rule.favored_size = stated.favored_size.unwrap_or(listed.rule.favored_size);
    if !listed.has_nodes {
        let size = stated_rule(stated, input)?;
        (listed.rule.node_n, listed.rule.cpu_n) = (size.node_n, size.cpu_n);
    }
    let mut notes = Vec::new();
    let facts = facts(&listed, &context, source, input, &mut notes)?;
    let shares = if listed.rule.weights.fairshare > 0 {
        Some(shares(store, &context, source, input, &mut notes)?)
    } else {
        None
    };
    let times = match (context.settings.calculations.known(), context.settings.rule.decay) {
        (Some(times), _) => times,
        (None, UsageDecay::Chained(ChainedDecay::Steps(steps))) => steps.times(),
        (None, _) => times()?,
    };
    input.notes.append(&mut notes);
    Ok(Multifactor {
        rule: listed.rule,
        times,
        facts,
        shares,
    })
}

/// Priorities of a cluster without `[[fairshare]]`: of age and size alone.
fn without_plan(stated: &StatedPriorities, input: &SimulationInput) -> Result<Multifactor> {
    let rule = stated_rule(stated, input)?;
    let weights = &rule.weights;
    if weights.fairshare > 0 || weights.association > 0 || weights.partition > 0 || weights.qos > 0 {
        return Err(Error::config(
            "shares, and priorities of associations, partitions and QOS, are those of the listings of a [[fairshare]], and the \
             pipeline of this lake has none of the cluster: add one, or state only --weight age=N and --weight job_size=N",
        ));
    }
    let mut known = input.names();
    let facts = input.trace.jobs.iter().map(|job| {
        let of = known.known(&job);
        PriorityFacts {
            node_n: whole(crate::schema::batch::addend(of.and_then(|of| of.node_n))),
            cpu_n: whole(amount(input, "cores", &job)),
            limit_min: whole(job.limit_s.div_euclid(MINUTE_S)),
            ..PriorityFacts::default()
        }
    });
    Ok(Multifactor {
        facts: facts.collect(),
        rule,
        times: times()?,
        shares: None,
    })
}

fn context(
    store: &Store,
    manifest: &Manifest,
    known: &LakeFairshare,
    change: &FairshareChange,
    plan: &FairsharePlan,
    first_s: i64,
) -> Result<FairshareContext> {
    let plan = change.applied_to(plan)?;
    let zone = rule(&manifest.facts)?.zone;
    let mut context = FairshareContext::read(known, manifest, store, &zone, plan)?.at(first_s);
    (context.trees, _) = context.trees.with_shares(&change.shares, first_s)?;
    Ok(context)
}

/// How much of a kind of resource a job requests; 0 where the machine does not have it.
fn amount(input: &SimulationInput, kind: &str, job: &Job) -> i64 {
    input.machine.kind(kind).map_or(0, |kind| job.need.get(kind))
}

/// Jobs with something priorities cannot know.
#[derive(Default)]
struct UnknownTerms {
    partitions: BTreeMap<String, u64>,
    qos: BTreeMap<String, u64>,
}

fn facts(
    listed: &ListedPriorities,
    context: &FairshareContext,
    source: &LakeSource,
    input: &SimulationInput,
    notes: &mut Vec<String>,
) -> Result<Vec<PriorityFacts>> {
    let mut unknown = UnknownTerms::default();
    let mut facts = Vec::with_capacity(input.trace.jobs.len());
    // Fallback: jobs of a trace have a first submission.
    let first_s = input.trace.jobs.first().map_or(0, |job| job.submit_s);
    let tree = context.listed_at(first_s)?;
    let mut known = source.jobs.reader();
    for job in &input.trace.jobs {
        let of = known.of(&job);
        let partition = of.and_then(|of| of.owner.partition.as_ref());
        let of_partition = partition.and_then(|name| listed.partitions.get(name));
        if listed.rule.weights.partition > 0 && of_partition.is_none() {
            let name = partition.map_or("-", |name| name);
            *unknown.partitions.entry(name.to_owned()).or_default() += 1;
        }
        let qos = of.and_then(|of| of.owner.qos.as_ref());
        let of_qos = qos.and_then(|name| listed.qos.get(name)).copied();
        if listed.rule.weights.qos > 0 && of_qos.is_none() {
            let name = qos.map_or("-", |name| name);
            *unknown.qos.entry(name.to_owned()).or_default() += 1;
        }
        let association = of.and_then(|of| {
            // Fallback: a job without a partition has no association of one.
            let partition = partition.map_or("", |partition| partition);
            tree.tree
                .of_job(of.account.as_deref()?, of.owner.user.as_deref()?, partition)
        });
        facts.push(PriorityFacts {
            node_n: whole(crate::schema::batch::addend(of.and_then(|of| of.node_n))),
            cpu_n: whole(amount(input, "cores", &job)),
            limit_min: whole(job.limit_s.div_euclid(MINUTE_S)),
            association_priority: association.map_or(0, |id| tree.priority(id)),
            partition_priority: of_partition.map_or(0, |of| of.factor),
            // Fallback: a job of a QOS that no listing has counts like one without.
            qos_priority: of_qos.unwrap_or(0),
            tres: tres(&job, of_partition, input),
            ..PriorityFacts::default()
        });
    }
    let mut note = |what: &str, names: &BTreeMap<String, u64>| {
        for (name, job_n) in names {
            notes.push(format!(
                "priorities: {job_n} jobs of the {what} {name}, which no listing has: its factor is 0"
            ));
        }
    };
    note("partition", &unknown.partitions);
    note("QOS", &unknown.qos);
    for weight in &listed.rule.weights.tres {
        if !["cpu", "mem", "gres/gpu"].contains(&weight.name.as_str()) {
            notes.push(format!(
                "priorities: no record states {}, which PriorityWeightTRES weighs: its term is 0",
                weight.name
            ));
        }
    }
    Ok(facts)
}

/// What a job requests of what its partition has.
fn tres(job: &Job, of: Option<&ListedPartition>, input: &SimulationInput) -> Vec<TresAmount> {
    let Some(of) = of else { return Vec::new() };
    let all = [
        ("cpu", amount(input, "cores", job), of.cpu_n),
        (
            "mem",
            amount(input, "memory_mib", job),
            of.memory_byte.map(|byte_n| byte_n / MIB),
        ),
        ("gres/gpu", amount(input, "gpus", job), of.gpu_n),
    ];
    let known = all.into_iter().filter_map(|(name, amount, of_partition)| {
        Some(TresAmount {
            name: name.to_owned(),
            amount: u64::try_from(amount).ok()?,
            of_partition: u64::try_from(of_partition?).ok()?,
        })
    });
    known.collect()
}

/// Shares, and who uses what: simulated jobs when they start in the simulation, others as they ran.
fn shares(
    store: &Store,
    context: &FairshareContext,
    source: &LakeSource,
    input: &SimulationInput,
    notes: &mut Vec<String>,
) -> Result<SimulatedShares> {
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    let used = ClusterUse::read(store, context, threads)?;
    for (reason, job_n) in used.uncounted.counts() {
        notes.push(format!("fairshare: {job_n} jobs are not counted: {reason}"));
    }
    let mut known = source.jobs.reader();
    let places: HashMap<u128, u32, RandomState> = (0_u32..)
        .zip(&input.trace.jobs)
        .filter_map(|(place, job)| Some((known.of(&job)?.record_id, place)))
        .collect();
    let mut jobs = vec![None; input.trace.jobs.len()];
    let mut recorded = Vec::new();
    for job in used.jobs {
        match places.get(&job.record_id).and_then(|place| jobs.get_mut(index(*place))) {
            Some(of) => {
                *of = Some(JobUsage {
                    association: job.association,
                    rate_e9: job.segment.rate_e9,
                    factor_e9: job.segment.factor_e9,
                });
            }
            None => recorded.push(RecordedUsage {
                association: job.association,
                segment: job.segment,
            }),
        }
    }
    recorded.sort_by_key(|recorded| {
        (
            recorded.segment.span.start_s,
            recorded.segment.span.end_s,
            recorded.association,
        )
    });
    if !recorded.is_empty() {
        notes.push(format!(
            "fairshare: {} jobs that are not simulated count for usage as they ran",
            recorded.len()
        ));
    }
    let trees: Vec<DatedTree> = (context.trees_since())
        .map(|since| DatedTree {
            from_s: since.from_s,
            tree: since.tree.clone(),
        })
        .collect();
    let is_user = |association: usize| {
        let key = used.associations.get(association);
        let listed = key.zip(trees.last()).and_then(|(key, last)| {
            let place = last.tree.place_of(key)?;
            last.tree.get(place)
        });
        listed.is_some_and(|listed| listed.key.is_user())
    };
    let without_n = jobs
        .iter()
        .filter(|job: &&Option<JobUsage>| job.is_none_or(|job| !is_user(job.association)));
    let without_n = without_n.count();
    if without_n > 0 {
        notes.push(format!(
            "fairshare: {without_n} simulated jobs are of no listed user, or not counted: a factor of their account, or 0, stands for theirs"
        ));
    }
    Ok(SimulatedShares {
        method: context.settings.method,
        rule: context.settings.rule.clone(),
        associations: used.associations,
        trees,
        jobs,
        recorded,
    })
}
