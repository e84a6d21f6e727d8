//! What waiting jobs will use at most: what they request, to their time limits, at the prices of the lake's policies.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;

use super::array_tasks::ArrayTasks;
use super::award_use::UsedAmounts;
use super::lake::Lake;
use super::left_queue::{LeftJobs, ListedQueue};
use super::running_use::JobUse;
use crate::charge::amount::whole;
use crate::charge::charged_tariff::BalanceTariff;
use crate::charge::facts::Facts;
use crate::charge::policy::Subject;
use crate::charge::{Tariff, price};
use crate::error::{Error, Kind, Result};
use crate::expr::Value;
use crate::overhead::bills::is_policy;
use crate::run::charges::POLICIES;
use crate::schema::batch::{int, number, text, time, word};
use crate::time::{DAY_MS, Day};

/// Jobs count as Slurm's own record of them will.
pub(super) const VIEW: &str = "batch";
/// The state in which they will be charged.
const STATE: &str = "COMPLETED";

/// What all waiting jobs of a lake will use: of each cluster those of its newest listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PendingJobs {
    /// By job and policy.
    pub uses: Vec<JobUse>,
    /// The last UTC day of which they are known; `None` where no listing states waiting jobs with its instant.
    pub known_on: Option<Day>,
    /// Waiting jobs without a site, an account, a time limit or a charge under a policy that may be for them: what they will
    /// use is unknown.
    pub unknown_n: u64,
}

/// The newest listing of one cluster.
struct ClusterQueue {
    as_of_ms: i64,
    jobs: Vec<PendingJob>,
}

impl ClusterQueue {
    /// Which of the jobs wait no longer by the end of a day, as their records state.
    fn left(&self, key: &QueueKey, lake: &Lake, on: Day) -> Result<LeftJobs> {
        // Jobs without a site are unknown, whether they wait or not.
        let Some(site) = &key.site else {
            return Ok(LeftJobs::default());
        };
        let mut listed = ListedQueue::new(site, key.cluster.as_deref(), self.as_of_ms);
        for (place, job) in self.jobs.iter().enumerate() {
            match (&job.array_job_id, &job.array_tasks) {
                (Some(array), Some(tasks)) => listed.add_tasks(place, array, tasks.clone()),
                _ => listed.add(place, &job.job_id),
            }
        }
        listed.left(lake, on)
    }
}

/// A job that waits.
struct PendingJob {
    job_id: String,
    array_job_id: Option<String>,
    /// Its tasks of that array, where they can be read.
    array_tasks: Option<ArrayTasks>,
    /// What its site and cluster are, as far as the listing states them.
    site: Option<String>,
    cluster: Option<String>,
    account: Option<String>,
    user: Option<String>,
    partition: Option<String>,
    qos: Option<String>,
    time_limit_s: Option<i64>,
    node_n: Option<i64>,
    cpu_n: Option<i64>,
    memory_byte: Option<i64>,
    gpu_n: Option<i64>,
    /// GPUs by model, where the models are requested.
    gpus: Vec<(String, i64)>,
    billing_n: Option<i64>,
    /// Tasks of an array that wait as one row; `None` where that cannot be counted.
    task_n: Option<u32>,
}

impl PendingJobs {
    /// Reads the listings of waiting jobs, and what they would be charged. Jobs that have started by the end of a day, or ended
    /// without a start, as their records state, do not wait any more.
    ///
    /// # Errors
    /// [`Kind::Io`] when the lake cannot be read; [`Kind::Data`] when an amount does not fit; [`Kind::Config`] when this version
    /// does not understand a policy of the lake.
    pub fn read(lake: &Lake, on: Day) -> Result<Self> {
        let queues = queues(lake)?;
        let mut pending = Self::default();
        if queues.is_empty() {
            return Ok(pending);
        }
        let tariffs = tariffs(lake)?;
        for (key, mut queue) in queues {
            let day = Day::try_from(queue.as_of_ms.div_euclid(DAY_MS)).ok();
            pending.known_on = pending.known_on.max(day);
            let left = queue.left(&key, lake, on)?;
            for (place, job) in queue.jobs.iter_mut().enumerate() {
                // Tasks that cannot be counted are one job.
                let listed_n = job.task_n.unwrap_or(1);
                let waiting_n = left.waiting_n(place, listed_n);
                job.task_n = job.task_n.map(|_| waiting_n);
                if waiting_n > 0 && !pending.add(job, &tariffs, queue.as_of_ms)? {
                    pending.unknown_n += 1;
                }
            }
        }
        Ok(pending)
    }

    /// Adds what a job will use under each policy that is for it; whether all of that is known.
    fn add(&mut self, job: &PendingJob, tariffs: &[PooledTariff], as_of_ms: i64) -> Result<bool> {
        let day = Day::try_from(as_of_ms.div_euclid(DAY_MS)).ok();
        let known = (&job.site, &job.account, job.time_limit_s, job.task_n);
        let (Some(site), Some(account), Some(limit_s), Some(task_n)) = known else {
            return Ok(false);
        };
        let facts = job.facts(site, limit_s)?;
        let mut is_known = true;
        for of in tariffs {
            let policy = &of.tariff.policy;
            let holds = day.is_some_and(|day| {
                policy.valid_from.is_none_or(|from| from <= day) && policy.valid_to.is_none_or(|to| day < to)
            });
            if !holds {
                continue;
            }
            let priced = price(policy, &of.tariff.options, &facts, false)?;
            if !priced.is_in_scope.first().is_some_and(|is_in_scope| *is_in_scope) {
                continue;
            }
            let Some(charge_e9) = priced.charge.first().copied().flatten() else {
                is_known = false;
                continue;
            };
            let of_tasks = |of_one: i128| {
                let misfit = || Error::new(Kind::Data, "what a waiting job will use is too large").at("site", site);
                of_one.checked_mul(i128::from(task_n)).ok_or_else(misfit)
            };
            let held_s = |amount_n: Option<i64>| {
                // Fallback: what a job does not request it does not hold.
                i128::from(amount_n.unwrap_or_default()) * i128::from(limit_s)
            };
            self.uses.push(JobUse {
                site: site.clone(),
                cluster: job.cluster.clone(),
                account: account.clone(),
                submitter: job.user.clone(),
                tariff: of.name.clone(),
                from_ms: as_of_ms,
                left_s: limit_s,
                to_come: UsedAmounts {
                    job_n: 0,
                    unpriced_job_n: 0,
                    unpriced_core_ms: 0,
                    core_ms: of_tasks(held_s(job.cpu_n) * 1000)?,
                    gpu_s: of_tasks(held_s(job.gpu_n))?,
                    charge_e9: of_tasks(charge_e9)?,
                },
            });
        }
        Ok(is_known)
    }
}

impl PendingJob {
    /// What a policy is given of the job: that it ran to its limit with all that it requests.
    fn facts(&self, site: &str, limit_s: i64) -> Result<Facts> {
        let mut known = BTreeMap::new();
        let numbers = [
            ("cores", self.cpu_n),
            ("nodes", self.node_n),
            ("gpus", self.gpu_n),
            ("memory", self.memory_byte),
            ("requested_memory", self.memory_byte),
            ("seconds", Some(limit_s)),
            ("limit_seconds", Some(limit_s)),
            ("suspended_seconds", Some(0)),
            ("billing", self.billing_n.filter(|billing_n| *billing_n > 0)),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                known.insert(name.to_owned(), Value::Number(whole(number)));
            }
        }
        let texts = [
            ("site", Some(site)),
            ("cluster", self.cluster.as_deref()),
            ("partition", self.partition.as_deref()),
            ("qos", self.qos.as_deref()),
            ("account", self.account.as_deref()),
            ("username", self.user.as_deref()),
            ("state", Some(STATE)),
            ("view", Some(VIEW)),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                known.insert(name.to_owned(), Value::Text(text.to_owned()));
            }
        }
        Ok(Facts::of_example(&known, &self.gpus)?.stated_in_part())
    }
}

/// A policy of the lake, and how awards name it.
struct PooledTariff {
    tariff: Tariff,
    name: BalanceTariff,
}

/// The policies that jobs of the lake are charged under.
fn tariffs(lake: &Lake) -> Result<Vec<PooledTariff>> {
    let mut tariffs = Vec::new();
    if lake.manifest.file(POLICIES).is_none() {
        return Ok(tariffs);
    }
    for batch in lake.batches(POLICIES, None)? {
        let batch = batch?;
        let of = |name: &str| text(&batch, name);
        let (ids, texts, chosen) = (of("id")?, of("text")?, of("options")?);
        let (pools, units) = (of("pool")?, of("unit")?);
        // What jobs are billed of their nodes depends on the jobs that run next to them.
        for row in (0..batch.num_rows()).filter(|row| !is_policy(ids.value(*row))) {
            let tariff = Tariff::restored(POLICIES, texts.value(row), chosen.value(row))?;
            if tariff.policy.subject != Subject::Jobs {
                continue;
            }
            tariffs.push(PooledTariff {
                name: BalanceTariff {
                    pool: pools.value(row).to_owned(),
                    policy: ids.value(row).to_owned(),
                    options: chosen.value(row).to_owned(),
                    unit: units.value(row).to_owned(),
                },
                tariff,
            });
        }
    }
    Ok(tariffs)
}

/// What listings are of: a source's listings of a site and cluster, as far as these are stated.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct QueueKey {
    site: Option<String>,
    cluster: Option<String>,
}

/// The newest listing of each cluster. One that does not state its instant counts nowhere: it may be of any day.
fn queues(lake: &Lake) -> Result<BTreeMap<QueueKey, ClusterQueue>> {
    let mut queues: BTreeMap<QueueKey, ClusterQueue> = BTreeMap::new();
    for file in lake.manifest.dataset("queued_job") {
        for batch in lake.batches(&file.path, None)? {
            let batch = batch?;
            let as_of = time(&batch, "as_of_utc")?;
            for row in 0..batch.num_rows() {
                let Some(as_of_ms) = number(as_of, row) else { continue };
                let job = pending_job(&batch, row)?;
                let key = QueueKey {
                    site: job.site.clone(),
                    cluster: job.cluster.clone(),
                };
                let queue = queues.entry(key).or_insert_with(|| ClusterQueue {
                    as_of_ms,
                    jobs: Vec::new(),
                });
                if queue.as_of_ms < as_of_ms {
                    *queue = ClusterQueue {
                        as_of_ms,
                        jobs: Vec::new(),
                    };
                }
                if queue.as_of_ms == as_of_ms {
                    queue.jobs.push(job);
                }
            }
        }
    }
    Ok(queues)
}

fn pending_job(batch: &RecordBatch, row: usize) -> Result<PendingJob> {
    let word_of = |name: &str| Ok::<_, Error>(word(text(batch, name)?, row).map(str::to_owned));
    let number_of = |name: &str| Ok::<_, Error>(number(int(batch, name)?, row));
    let partitions = word_of("partitions")?;
    let requested = word_of("req_tres")?;
    let printed_tasks = word_of("array_tasks")?;
    let array_tasks = printed_tasks.as_deref().and_then(ArrayTasks::parse);
    Ok(PendingJob {
        job_id: text(batch, "job_id")?.value(row).to_owned(),
        array_job_id: word_of("array_job_id")?,
        site: word_of("site")?,
        cluster: word_of("cluster")?,
        account: word_of("account")?,
        user: word_of("user")?,
        // It starts in one of them; which one is unknown, and most jobs name one.
        partition: partitions.and_then(|names| names.split(',').next().map(str::to_owned)),
        qos: word_of("qos")?,
        time_limit_s: number_of("time_limit_s")?,
        node_n: number_of("min_node_n")?,
        cpu_n: number_of("cpu_n")?,
        memory_byte: number_of("memory_byte")?,
        gpu_n: number_of("gpu_n")?,
        gpus: requested.as_deref().map_or_else(Vec::new, models),
        billing_n: number_of("billing_n")?,
        task_n: match printed_tasks {
            Some(_) => array_tasks.as_ref().and_then(ArrayTasks::task_n),
            None => Some(1),
        },
        array_tasks,
    })
}

/// GPUs of requested resources by model.
fn models(requested: &str) -> Vec<(String, i64)> {
    let of_entry = |entry: &str| {
        let (model, count) = entry.strip_prefix("gres/gpu:")?.split_once('=')?;
        Some((model.to_owned(), count.parse().ok()?))
    };
    requested.split(',').filter_map(of_entry).collect()
}
