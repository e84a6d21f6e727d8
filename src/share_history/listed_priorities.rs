//! What the priorities of a cluster follow from, as its newest listings state it: weights, partitions, QOS and size.

use std::collections::BTreeMap;

use super::context::FairshareContext;
use super::listed::newest;
use crate::error::{Error, Kind, Result};
use crate::fairshare::priority::{
    FavoredSize, PriorityRule, PriorityScale, PriorityWeights, SizeBasis, TresScale, TresWeight,
};
use crate::schema::batch::{int, number, text, word};
use crate::store::{Current, Manifest, Store};

/// Slurm's default of `PriorityMaxAge`: seven days.
pub const DEFAULT_MAX_AGE_S: u32 = 604_800;

/// A partition as far as priorities need it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedPartition {
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

/// What priorities of a cluster follow from.
#[derive(Clone, Debug)]
pub struct ListedPriorities {
    /// Partitions by name.
    pub partitions: BTreeMap<String, ListedPartition>,
    /// Priority of each QOS.
    pub qos: BTreeMap<String, u32>,
    /// How priorities are computed; without a listing of nodes the cluster has none, and without settings no weight.
    pub rule: PriorityRule,
    /// Whether a listing of settings states a weight.
    pub has_weights: bool,
    /// Whether a listing has the nodes.
    pub has_nodes: bool,
}

impl ListedPriorities {
    /// Reads the listings, with the associations of an instant.
    ///
    /// # Errors
    /// [`Kind::Data`] when a number is beyond any cluster, or a weight is not one; [`Kind::Io`] when a listing cannot be read.
    pub fn read(store: &Store, manifest: &Manifest, context: &FairshareContext, at_s: i64) -> Result<Self> {
        let files = |dataset: &str| Current::published(manifest, dataset);
        // The listings that fairshare is computed from, so that both take the same version of one that was overwritten.
        let (of, of_cluster) = (&context.plan, &context.files);
        let partitions = newest(store, &files("partition"), of, "partition", |batch, row| {
            let of_row = |name| Ok::<_, Error>(number(int(batch, name)?, row));
            Ok(ListedPartition {
                // A partition without a factor has Slurm's default.
                factor: unsigned(of_row("priority_job_factor_n")?.unwrap_or(1))?,
                cpu_n: of_row("cpu_n")?,
                memory_byte: of_row("memory_byte")?,
                gpu_n: of_row("gpu_n")?,
                max_time_s: of_row("max_time_s")?,
            })
        })?;
        let qos = newest(store, &of_cluster.qos, of, "qos", |batch, row| {
            // Fallback: a QOS without a priority has Slurm's default of 0.
            unsigned(number(int(batch, "priority_n")?, row).unwrap_or(0))
        })?;
        let nodes = newest(store, &files("node"), of, "node", |batch, row| {
            Ok(number(int(batch, "cpu_n")?, row))
        })?;
        let settings = newest(store, &of_cluster.settings, of, "setting", |batch, row| {
            Ok(Setting {
                text: word(text(batch, "value")?, row).map(str::to_owned),
                value_s: number(int(batch, "value_s")?, row),
            })
        })?;
        let settings = Settings(settings);
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
        let max_age_s = settings.seconds("PriorityMaxAge").map(unsigned).transpose()?;
        let rule = PriorityRule {
            weights: settings.weights()?,
            max_age_s: max_age_s.unwrap_or(DEFAULT_MAX_AGE_S),
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
                let listed = context.listed_at(at_s)?;
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
            partitions,
            qos,
            rule,
            has_weights: settings.0.keys().any(|name| name.starts_with("PriorityWeight")),
            has_nodes: node_n > 0,
        })
    }

    /// Refuses listings without weights or nodes.
    ///
    /// # Errors
    /// [`Kind::NoInput`] with what is missing.
    pub fn complete(self) -> Result<Self> {
        if !self.has_weights {
            return Err(missing_listing(
                "the weights of priorities",
                "scontrol show config or slurm.conf",
            ));
        }
        if !self.has_nodes {
            return Err(missing_listing(
                "the nodes of the cluster",
                "scontrol show node or slurm.conf",
            ));
        }
        Ok(self)
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

/// A lake that lacks a listing, with what to add.
pub(crate) fn missing_listing(what: &str, listing: &str) -> Error {
    let message = format!("no listing of the lake contains {what}: add an [[inventory]] of {listing}");
    Error::new(Kind::NoInput, message)
}

fn unsigned(number: i64) -> Result<u32> {
    u32::try_from(number).map_err(|_| Error::new(Kind::Data, format!("{number} is beyond any cluster")))
}
