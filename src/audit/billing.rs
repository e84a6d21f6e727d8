//! Billing weights a lake knows of, as a policy.

use std::collections::{BTreeMap, BTreeSet};

use crate::charge::weights::{self, WeightBilling};
use crate::error::{Error, Kind, Result};
use crate::schema::batch::{decimal, int, number, text, time, word};
use crate::store::{Manifest, read_table};

/// The policy of the billing weights of a cluster, as recorded by the lake's inventories; of several listings the last.
///
/// # Errors
/// [`Kind::NoInput`] when there is no lake, or it knows no partition of the cluster; [`Kind::Usage`] when it knows
/// several clusters and none is named.
pub fn policy(output: &str, cluster: Option<&str>) -> Result<String> {
    let (store, manifest) = Manifest::open(output)?;
    // By cluster and partition: the time of the last listing, and what it bills.
    let mut known: BTreeMap<(String, String), (i64, WeightBilling)> = BTreeMap::new();
    let mut reported: BTreeMap<(String, String), i64> = BTreeMap::new();
    for file in manifest.dataset("partition") {
        for batch in read_table(store.reader(&file.path)?, None, 16_384)? {
            let batch = batch?;
            let (clusters, partitions) = (text(&batch, "cluster")?, text(&batch, "partition")?);
            let (rules, as_of) = (text(&batch, "billing_rule")?, time(&batch, "as_of_utc")?);
            for row in 0..batch.num_rows() {
                let place = (
                    word(clusters, row).unwrap_or("").to_owned(),
                    partitions.value(row).to_owned(),
                );
                let at = known_since(number(as_of, row));
                let (last, billing) = known
                    .entry(place.clone())
                    .or_insert((i64::MIN, WeightBilling::default()));
                *last = at.max(*last);
                // Listings of partitions do not contain the rule; the configuration does.
                if let Some(rule) = word(rules, row) {
                    let reported = reported.entry(place).or_insert(i64::MIN);
                    if at >= *reported {
                        *reported = at;
                        rule.clone_into(&mut billing.rule);
                    }
                }
            }
        }
    }
    for file in manifest.dataset("billing_weight") {
        for batch in read_table(store.reader(&file.path)?, None, 16_384)? {
            let batch = batch?;
            let (clusters, partitions) = (text(&batch, "cluster")?, text(&batch, "partition")?);
            let (tres, as_of) = (text(&batch, "tres")?, time(&batch, "as_of_utc")?);
            let (weight, per_n) = (decimal(&batch, "weight")?, int(&batch, "per_n")?);
            for row in 0..batch.num_rows() {
                let place = (
                    word(clusters, row).unwrap_or("").to_owned(),
                    partitions.value(row).to_owned(),
                );
                let at = known_since(number(as_of, row));
                if let Some((_, billing)) = known.get_mut(&place).filter(|(last, _)| at >= *last) {
                    let weight = (weight.value(row), per_n.value(row));
                    billing.weights.insert(tres.value(row).to_lowercase(), weight);
                }
            }
        }
    }
    let clusters: BTreeSet<&str> = known.keys().map(|(cluster, _)| cluster.as_str()).collect();
    let cluster = match (cluster, clusters.iter().copied().collect::<Vec<_>>().as_slice()) {
        (Some(named), _) => named,
        (None, [only]) => only,
        (None, []) => return Err(no_partition(output, "")),
        (None, several) => {
            let message = format!("name one of the clusters: --cluster {}", several.join(", "));
            return Err(Error::new(Kind::Usage, message));
        }
    };
    let partitions: BTreeMap<String, WeightBilling> = known
        .iter()
        .filter(|((of, _), _)| of == cluster)
        .map(|((_, partition), (_, billing))| (partition.clone(), billing.clone()))
        .collect();
    if partitions.is_empty() {
        return Err(no_partition(output, &format!(" of {cluster}")));
    }
    weights::policy(cluster, &partitions).map_err(Error::config)
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
