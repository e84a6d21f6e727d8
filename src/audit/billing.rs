//! Billing weights a lake knows of, as a policy.

use std::collections::{BTreeMap, BTreeSet};

use crate::charge::weights::{self, WeightBilling};
use crate::error::{Error, Kind, Result};
use crate::reference::inventory::weights::billing_rule;
use crate::schema::batch::{decimal, int, number, text, time, word};
use crate::store::{Manifest, Store, read_table};

/// The setting that states how weighted resources become one number.
const PRIORITY_FLAGS: &str = "PriorityFlags";

/// A partition of a cluster; a cluster that no listing names is the empty text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PartitionName {
    cluster: String,
    partition: String,
}

/// What the listings of a partition state; of several the last counts.
#[derive(Clone, Debug)]
struct ListedBilling {
    /// The time of the last listing.
    at_ms: i64,
    /// The time of the last listing that states the rule.
    rule_at_ms: i64,
    billing: WeightBilling,
}

impl ListedBilling {
    /// Takes a rule, unless a later listing states one.
    fn set_rule(&mut self, rule: &str, at_ms: i64) {
        if at_ms >= self.rule_at_ms {
            self.rule_at_ms = at_ms;
            self.billing.rule = Some(rule.to_owned());
        }
    }
}

/// The policy of the billing weights of a cluster, as recorded by the lake's inventories; of several listings the last.
///
/// # Errors
/// [`Kind::NoInput`] when there is no lake, it knows no partition of the cluster, or it does not know the rule that weights
/// are added up by; [`Kind::Usage`] when it knows several clusters and none is named.
pub fn policy(output: &str, cluster: Option<&str>) -> Result<String> {
    let (store, manifest) = Manifest::open(output)?;
    let mut listed = partitions(&store, &manifest)?;
    add_weights(&store, &manifest, &mut listed)?;
    add_settings(&store, &manifest, &mut listed)?;
    let clusters: BTreeSet<&str> = listed.keys().map(|name| name.cluster.as_str()).collect();
    let cluster = match (cluster, clusters.iter().copied().collect::<Vec<_>>().as_slice()) {
        (Some(named), _) => named,
        (None, [only]) => only,
        (None, []) => return Err(no_partition(output, "")),
        (None, several) => {
            let message = format!("name one of the clusters: --cluster {}", several.join(", "));
            return Err(Error::new(Kind::Usage, message));
        }
    };
    let of_cluster = listed.iter().filter(|(name, _)| name.cluster == cluster);
    let partitions: BTreeMap<String, WeightBilling> = of_cluster
        .map(|(name, listed)| (name.partition.clone(), listed.billing.clone()))
        .collect();
    if partitions.is_empty() {
        return Err(no_partition(output, &format!(" of {cluster}")));
    }
    if partitions.values().any(WeightBilling::needs_rule) {
        let message = format!(
            "{output} knows billing weights of {cluster}, but not its {PRIORITY_FLAGS}, which state whether weighted resources are \
             added or the largest counts (MAX_TRES, MAX_TRES_GRES): it needs an [[inventory]] with scontrol show config"
        );
        return Err(Error::new(Kind::NoInput, message));
    }
    weights::policy(cluster, &partitions).map_err(Error::config)
}

/// The partitions that are listed, with the rule where a configuration lists them.
fn partitions(store: &Store, manifest: &Manifest) -> Result<BTreeMap<PartitionName, ListedBilling>> {
    let mut listed: BTreeMap<PartitionName, ListedBilling> = BTreeMap::new();
    for file in manifest.dataset("partition") {
        for batch in read_table(store.reader(&file.path)?, None, 16_384)? {
            let batch = batch?;
            let (clusters, partitions) = (text(&batch, "cluster")?, text(&batch, "partition")?);
            let (rules, as_of) = (text(&batch, "billing_rule")?, time(&batch, "as_of_utc")?);
            for row in 0..batch.num_rows() {
                let name = PartitionName {
                    cluster: word(clusters, row).unwrap_or("").to_owned(),
                    partition: partitions.value(row).to_owned(),
                };
                let at_ms = known_since(number(as_of, row));
                let listed = listed.entry(name).or_insert(ListedBilling {
                    at_ms: i64::MIN,
                    rule_at_ms: i64::MIN,
                    billing: WeightBilling::default(),
                });
                listed.at_ms = at_ms.max(listed.at_ms);
                // Listings of partitions do not contain the rule; the configuration does.
                if let Some(rule) = word(rules, row) {
                    listed.set_rule(rule, at_ms);
                }
            }
        }
    }
    Ok(listed)
}

/// Adds the weights of the last listing of each partition.
fn add_weights(store: &Store, manifest: &Manifest, listed: &mut BTreeMap<PartitionName, ListedBilling>) -> Result<()> {
    for file in manifest.dataset("billing_weight") {
        for batch in read_table(store.reader(&file.path)?, None, 16_384)? {
            let batch = batch?;
            let (clusters, partitions) = (text(&batch, "cluster")?, text(&batch, "partition")?);
            let (tres, as_of) = (text(&batch, "tres")?, time(&batch, "as_of_utc")?);
            let (weight, per_n) = (decimal(&batch, "weight")?, int(&batch, "per_n")?);
            for row in 0..batch.num_rows() {
                let name = PartitionName {
                    cluster: word(clusters, row).unwrap_or("").to_owned(),
                    partition: partitions.value(row).to_owned(),
                };
                let at_ms = known_since(number(as_of, row));
                if let Some(listed) = listed.get_mut(&name).filter(|listed| at_ms >= listed.at_ms) {
                    let weight = (weight.value(row), per_n.value(row));
                    listed.billing.weights.insert(tres.value(row).to_lowercase(), weight);
                }
            }
        }
    }
    Ok(())
}

/// Adds the rule that the settings of each cluster state, unless a later configuration states one.
fn add_settings(store: &Store, manifest: &Manifest, listed: &mut BTreeMap<PartitionName, ListedBilling>) -> Result<()> {
    for file in manifest.dataset("scheduler_setting") {
        for batch in read_table(store.reader(&file.path)?, None, 16_384)? {
            let batch = batch?;
            let (clusters, settings) = (text(&batch, "cluster")?, text(&batch, "setting")?);
            let (values, as_of) = (text(&batch, "value")?, time(&batch, "as_of_utc")?);
            for row in (0..batch.num_rows()).filter(|row| settings.value(*row) == PRIORITY_FLAGS) {
                let cluster = word(clusters, row).unwrap_or("");
                // Flags that are stated to be empty are none.
                let rule = billing_rule(word(values, row).unwrap_or(""));
                let at_ms = known_since(number(as_of, row));
                for (_, listed) in listed.iter_mut().filter(|(name, _)| name.cluster == cluster) {
                    listed.set_rule(rule, at_ms);
                }
            }
        }
    }
    Ok(())
}

/// That a lake has no listing of partitions, or none of a cluster.
fn no_partition(output: &str, of_cluster: &str) -> Error {
    let message =
        format!("{output} knows no partition{of_cluster}: it needs an [[inventory]] with scontrol or slurm.conf");
    Error::new(Kind::NoInput, message)
}

/// When a listing was made, for a comparison of listings.
fn known_since(as_of_ms: Option<i64>) -> i64 {
    // Fallback: a listing without an instant is older than every other.
    as_of_ms.unwrap_or(i64::MIN)
}
