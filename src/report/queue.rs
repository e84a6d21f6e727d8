//! The queue of a cluster as its newest listing states it, with what priorities are computed from.

use std::collections::BTreeMap;

use arrow::array::Array;

use super::lake::Lake;
use crate::config::fairshare_plan::FairsharePlan;
use crate::error::{Error, Kind, Result};
use crate::fairshare::priority::{
    FavoredSize, PriorityRule, PriorityScale, PriorityWeights, SizeBasis, TresScale, TresWeight,
};
use crate::schema::batch::{flag, int, number, text, time, word};
use crate::share_history::context::FairshareContext;
use crate::share_history::listed::newest;
use crate::store::Current;

/// Bytes in the unit in which Slurm counts memory.
const MEBIBYTE: i64 = 1 << 20;
/// Slurm's default of `PriorityMaxAge`: seven days.
const DEFAULT_MAX_AGE_S: i64 = 604_800;

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

/// A partition as far as priorities need it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueuePartition {
    /// `PriorityJobFactor`.
    pub factor: u32,
    /// CPUs.
    pub cpu_n: Option<i64>,
    /// Memory, bytes.
    pub memory_byte: Option<i64>,
    /// GPUs.
    pub gpu_n: Option<i64>,
    /// Longest time limit, seconds.
    pub max_time_s: Option<i64>,
}

/// The queue of one cluster.
#[derive(Clone, Debug)]
pub struct Queue {
    /// When it was listed, Unix milliseconds.
    pub as_of_ms: i64,
    /// Its jobs.
    pub jobs: Vec<QueuedJob>,
    /// Partitions by name.
    pub partitions: BTreeMap<String, QueuePartition>,
    /// Priority of each QOS.
    pub qos: BTreeMap<String, u32>,
    /// How priorities are computed.
    pub rule: PriorityRule,
}

impl Queue {
    /// Reads the newest listing of waiting jobs of a cluster, and the listings that priorities need.
    ///
    /// # Errors
    /// [`Kind::Data`] when the lake has no such listing, or it states no instant, or no listing has the nodes or the weights;
    /// [`Kind::Io`] when one cannot be read.
    pub fn read(lake: &Lake, context: &FairshareContext) -> Result<Self> {
        let files = |dataset: &str| Current::published(&lake.manifest, dataset);
        // The listings that fairshare is computed from, so that both take the same version of one that was overwritten.
        let (of, of_cluster) = (&context.plan, &context.files);
        let (as_of_ms, jobs) = waiting_jobs(lake, of)?;
        let partitions = newest(&lake.store, &files("partition"), of, "partition", |batch, row| {
            let of_row = |name| Ok::<_, Error>(number(int(batch, name)?, row));
            Ok(QueuePartition {
                // A partition without a factor has Slurm's default.
                factor: unsigned(of_row("priority_job_factor_n")?.unwrap_or(1))?,
                cpu_n: of_row("cpu_n")?,
                memory_byte: of_row("memory_byte")?,
                gpu_n: of_row("gpu_n")?,
                max_time_s: of_row("max_time_s")?,
            })
        })?;
        let qos = newest(&lake.store, &of_cluster.qos, of, "qos", |batch, row| {
            // Fallback: a QOS without a priority has Slurm's default of 0.
            unsigned(number(int(batch, "priority_n")?, row).unwrap_or(0))
        })?;
        let nodes = newest(&lake.store, &files("node"), of, "node", |batch, row| {
            Ok(number(int(batch, "cpu_n")?, row))
        })?;
        let settings = newest(&lake.store, &of_cluster.settings, of, "setting", |batch, row| {
            Ok(Setting {
                text: word(text(batch, "value")?, row).map(str::to_owned),
                value_s: number(int(batch, "value_s")?, row),
            })
        })?;
        let settings = Settings(settings);
        if !settings.0.keys().any(|name| name.starts_with("PriorityWeight")) {
            return Err(missing(
                "the weights of priorities",
                "scontrol show config or slurm.conf",
            ));
        }
        if nodes.is_empty() {
            return Err(missing("the nodes of the cluster", "scontrol show node or slurm.conf"));
        }
        let cpu_n = nodes
            .values()
            .flatten()
            .try_fold(0_i64, |sum, cpu_n| sum.checked_add(*cpu_n));
        let node_n = i64::try_from(nodes.len()).ok();
        let size = node_n.zip(cpu_n);
        let (node_n, cpu_n) = size.ok_or_else(|| Error::new(Kind::Data, "the CPUs of the nodes are too many"))?;
        // Fallback: without any priority the highest is 0, by which the rule makes every factor 0.
        let highest = |priorities: &mut dyn Iterator<Item = u32>| priorities.max().unwrap_or_default();
        let scale = |flag: &str, highest: u32| {
            if settings.has_flag(flag) {
                PriorityScale::Plain
            } else {
                PriorityScale::OfHighest(highest)
            }
        };
        let rule = PriorityRule {
            weights: settings.weights()?,
            max_age_s: unsigned(settings.seconds("PriorityMaxAge").unwrap_or(DEFAULT_MAX_AGE_S))?,
            favored_size: if settings.is_on("PriorityFavorSmall") {
                FavoredSize::Small
            } else {
                FavoredSize::Large
            },
            size_basis: if settings.has_flag("SMALL_RELATIVE_TO_TIME") {
                SizeBasis::PerMinute
            } else {
                SizeBasis::Part
            },
            association_scale: {
                let listed = context.listed_at(as_of_ms.div_euclid(1000))?;
                scale("NO_NORMAL_ASSOC", listed.highest_priority())
            },
            partition_scale: scale("NO_NORMAL_PART", highest(&mut partitions.values().map(|of| of.factor))),
            qos_scale: scale("NO_NORMAL_QOS", highest(&mut qos.values().copied())),
            tres_scale: if settings.has_flag("NO_NORMAL_TRES") {
                TresScale::Plain
            } else {
                TresScale::OfPartition
            },
            node_n: unsigned(node_n)?,
            cpu_n: unsigned(cpu_n)?,
        };
        Ok(Self {
            as_of_ms,
            jobs,
            partitions,
            qos,
            rule,
        })
    }
}

/// One setting as it is listed.
struct Setting {
    text: Option<String>,
    value_s: Option<i64>,
}

/// Settings by name.
struct Settings(BTreeMap<String, Setting>);

impl Settings {
    fn get(&self, name: &str) -> Option<&Setting> {
        let named = self.0.iter().find(|(setting, _)| setting.eq_ignore_ascii_case(name));
        named.map(|(_, setting)| setting)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(|setting| setting.text.as_deref())
    }

    fn seconds(&self, name: &str) -> Option<i64> {
        self.get(name).and_then(|setting| setting.value_s)
    }

    fn is_on(&self, name: &str) -> bool {
        let text = self.text(name);
        text.is_some_and(|text| ["yes", "true", "1"].iter().any(|word| text.eq_ignore_ascii_case(word)))
    }

    fn has_flag(&self, flag: &str) -> bool {
        let flags = self
            .text("PriorityFlags")
            .into_iter()
            .flat_map(|flags| flags.split(','));
        flags.map(str::trim).any(|stated| {
            let of_all = stated.eq_ignore_ascii_case("NO_NORMAL_ALL") && flag.starts_with("NO_NORMAL");
            stated.eq_ignore_ascii_case(flag) || of_all
        })
    }

    /// A weight; 0 where it is not stated, which is Slurm's default.
    fn weight(&self, name: &str) -> Result<u32> {
        let Some(text) = self.text(name) else {
            return Ok(0);
        };
        text.parse().map_err(|_| not_a_weight(name, text))
    }

    fn weights(&self) -> Result<PriorityWeights> {
        let mut tres = Vec::new();
        let stated = self
            .text("PriorityWeightTRES")
            .into_iter()
            .flat_map(|text| text.split(','));
        for weight in stated.filter(|weight| !weight.is_empty() && !weight.starts_with('(')) {
            let (name, of_name) = weight
                .split_once('=')
                .ok_or_else(|| not_a_weight("PriorityWeightTRES", weight))?;
            tres.push(TresWeight {
                name: name.to_ascii_lowercase(),
                weight: of_name
                    .parse()
                    .map_err(|_| not_a_weight("PriorityWeightTRES", weight))?,
            });
        }
        Ok(PriorityWeights {
            age: self.weight("PriorityWeightAge")?,
            association: self.weight("PriorityWeightAssoc")?,
            fairshare: self.weight("PriorityWeightFairShare")?,
            job_size: self.weight("PriorityWeightJobSize")?,
            partition: self.weight("PriorityWeightPartition")?,
            qos: self.weight("PriorityWeightQOS")?,
            tres,
        })
    }
}

fn not_a_weight(name: &str, text: &str) -> Error {
    Error::new(Kind::Data, format!("{name} = {text} is not a weight"))
}

fn missing(what: &str, listing: &str) -> Error {
    let message = format!("no listing of the lake contains {what}: add an [[inventory]] of {listing}");
    Error::new(Kind::Data, message)
}

fn unsigned(number: i64) -> Result<u32> {
    u32::try_from(number).map_err(|_| Error::new(Kind::Data, format!("{number} is beyond any cluster")))
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
        missing("waiting jobs of the cluster", "scontrol show job")
    })
}
