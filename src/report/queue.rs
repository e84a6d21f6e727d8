//! The queue of a cluster as its newest listing states it, with what priorities are computed from.

use std::collections::BTreeMap;

use arrow_array::Array;

use super::lake::Lake;
use crate::config::fairshare_plan::FairsharePlan;
use crate::error::{Error, Kind, Result};
use crate::fairshare::priority::PriorityRule;
use crate::schema::batch::{flag, int, number, text, time, word};
use crate::share_history::context::FairshareContext;
use crate::share_history::listed_priorities::{ListedPartition, ListedPriorities, missing_listing};

/// Bytes in the unit in which Slurm counts memory.
const MEBIBYTE: i64 = 1 << 20;

/// A job that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedJob {
    /// Number of the job.
    pub job_id: String,
    /// Account.
    pub account: Option<String>,
    /// User.
    pub user: Option<String>,
    /// Partitions it may run in.
    pub partitions: Vec<String>,
    /// Quality of service.
    pub qos: Option<String>,
    /// Its age counts from here, Unix milliseconds.
    pub accrue_ms: Option<i64>,
    /// Time limit, seconds.
    pub time_limit_s: Option<i64>,
    /// Fewest nodes it can run on.
    pub node_n: Option<i64>,
    /// CPUs.
    pub cpu_n: Option<i64>,
    /// Memory, bytes.
    pub memory_byte: Option<i64>,
    /// GPUs.
    pub gpu_n: Option<i64>,
    /// What is subtracted from its priority.
    pub nice: i64,
    /// A person holds it.
    pub is_held: bool,
}

/// The queue of one cluster.
#[derive(Clone, Debug)]
pub struct Queue {
    /// When it was listed, Unix milliseconds.
    pub as_of_ms: i64,
    /// Its jobs.
    pub jobs: Vec<QueuedJob>,
    /// Partitions by name.
    pub partitions: BTreeMap<String, ListedPartition>,
    /// Priority of each QOS.
    pub qos: BTreeMap<String, u32>,
    /// How priorities are computed.
    pub rule: PriorityRule,
}

impl Queue {
    /// Reads the newest listing of waiting jobs of a cluster, and the listings that priorities need.
    ///
    /// # Errors
    /// [`Kind::NoInput`] when the lake has no such listing, or none with the nodes or the weights; [`Kind::Data`] when it
    /// states no instant; [`Kind::Io`] when one cannot be read.
    pub fn read(lake: &Lake, context: &FairshareContext) -> Result<Self> {
        let (as_of_ms, jobs) = waiting_jobs(lake, &context.plan)?;
        let at_s = as_of_ms.div_euclid(1000);
        let listed = ListedPriorities::read(&lake.store, &lake.manifest, context, at_s)?.complete()?;
        Ok(Self {
            as_of_ms,
            jobs,
            partitions: listed.partitions,
            qos: listed.qos,
            rule: listed.rule,
        })
    }
}

/// Megabytes of memory as Slurm counts it.
pub(super) fn mebibytes(bytes: i64) -> i64 {
    bytes / MEBIBYTE
}

/// The jobs of the newest listing of a cluster, and when it was made.
fn waiting_jobs(lake: &Lake, of: &FairsharePlan) -> Result<(i64, Vec<QueuedJob>)> {
    let mut listed: Option<(i64, Vec<QueuedJob>)> = None;
    let mut has_undated = false;
    for file in lake.manifest.dataset("queued_job") {
        for batch in lake.batches(&file.path, None)? {
            let batch = batch?;
            let (site, cluster) = (text(&batch, "site")?, text(&batch, "cluster")?);
            let as_of = time(&batch, "as_of_utc")?;
            let words = |name: &str| text(&batch, name);
            let (job_id, account, user) = (words("job_id")?, words("account")?, words("user")?);
            let (partitions, qos) = (words("partitions")?, words("qos")?);
            let numbers = |name: &str| int(&batch, name);
            let (limit, nodes, cpus) = (numbers("time_limit_s")?, numbers("min_node_n")?, numbers("cpu_n")?);
            let (memory, gpus, nice) = (numbers("memory_byte")?, numbers("gpu_n")?, numbers("nice_n")?);
            let (accrue, held) = (time(&batch, "accrue_utc")?, flag(&batch, "is_held")?);
            for row in 0..batch.num_rows() {
                if !of.may_be_of(word(site, row), word(cluster, row)) {
                    continue;
                }
                let Some(at) = number(as_of, row) else {
                    has_undated = true;
                    continue;
                };
                let jobs = match &mut listed {
                    Some((known, _)) if *known > at => continue,
                    Some((known, jobs)) if *known == at => jobs,
                    _ => &mut listed.insert((at, Vec::new())).1,
                };
                let owned = |column, row| word(column, row).map(str::to_owned);
                let named = word(partitions, row).into_iter().flat_map(|names| names.split(','));
                jobs.push(QueuedJob {
                    job_id: word(job_id, row).unwrap_or("?").to_owned(),
                    account: owned(account, row),
                    user: owned(user, row),
                    partitions: named.map(str::to_owned).collect(),
                    qos: owned(qos, row),
                    accrue_ms: number(accrue, row),
                    time_limit_s: number(limit, row),
                    node_n: number(nodes, row),
                    cpu_n: number(cpus, row),
                    memory_byte: number(memory, row),
                    gpu_n: number(gpus, row),
                    // Fallback: a job without a stated adjustment has none, which is 0.
                    nice: number(nice, row).unwrap_or(0),
                    is_held: held.is_valid(row) && held.value(row),
                });
            }
        }
    }
    listed.ok_or_else(|| {
        if has_undated {
            let message = "the listing of waiting jobs does not state when it was made: set as_of in its [[inventory]]";
            return Error::new(Kind::Data, message);
        }
        missing_listing("waiting jobs of the cluster", "scontrol show job")
    })
}
