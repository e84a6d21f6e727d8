//! Partitions of `slurm.conf`.

use std::collections::BTreeSet;

use super::fields::InventoryFields;
use super::slurm_conf::{Conf, borrowed, hostlist_trouble};
use crate::absent;
use crate::ledger::Reason;
use crate::reference::hostlist::Hostlist;
use crate::reference::inventory::{NodeRow, PartitionRow, weights};
use crate::sources::refusal::Refusal;

/// Reads a partition; also gives the names of its nodes, where the file determines them.
pub(super) fn partition(
    fields: &InventoryFields<'_>,
    conf: &Conf,
) -> Result<(PartitionRow, Option<BTreeSet<String>>), Refusal> {
    let printed = fields.get("tresbillingweights");
    let weights = weights::parse(absent::text(printed))
        .map_err(|why| Refusal::new(Reason::BadNumber, format!("TRESBillingWeights: {why}")))?;
    let nodes = fields.get("nodes");
    let members = members(absent::text(nodes), conf)?;
    let known: Option<Vec<&NodeRow>> = members
        .as_ref()
        .and_then(|members| members.iter().map(|name| conf.nodes.get(name)).collect());
    let sum = |of: fn(&NodeRow) -> Option<i64>| {
        let nodes = known.as_ref()?;
        nodes.iter().try_fold(0_i64, |sum, node| sum.checked_add(of(node)?))
    };
    let over_subscribe = fields.upper("oversubscribe").or_else(|| fields.upper("shared"));
    let row = PartitionRow {
        cluster: conf.cluster.clone(),
        partition: fields.required("partitionname")?.to_owned(),
        as_of_ms: None,
        nodes: nodes.map(str::to_owned),
        node_n: members.as_ref().and_then(|members| i64::try_from(members.len()).ok()),
        cpu_n: sum(|node| node.cpu_n),
        memory_byte: sum(|node| node.memory_byte),
        gpus: None,
        state: Some(fields.upper("state").unwrap_or_else(|| "UP".to_owned())),
        is_default: Some(fields.yes_no("default").unwrap_or(false)),
        is_exclusive: Some(over_subscribe.as_deref() == Some("EXCLUSIVE")),
        over_subscribe,
        max_time_s: fields.seconds("maxtime")?,
        priority_job_factor_n: fields.int("priorityjobfactor")?,
        priority_tier_n: fields.int("prioritytier")?,
        qos: fields.owned_name("qos"),
        billing_weights: printed.map(str::to_owned),
        weights,
        billing_rule: conf.billing_rule(),
    };
    Ok((row, members))
}

/// The nodes a list names, sets of nodes replaced by theirs; `None` where included files would have to be known.
fn members(list: &str, conf: &Conf) -> Result<Option<BTreeSet<String>>, Refusal> {
    if list.eq_ignore_ascii_case("ALL") {
        return Ok((!conf.has_include).then(|| conf.nodes.keys().cloned().collect()));
    }
    let mut found = BTreeSet::new();
    for host in Hostlist::parse(list).map_err(hostlist_trouble("Nodes"))?.hosts() {
        let Some(set) = conf.node_sets.get(&*host) else {
            // A name that is not a node here may be a set of an included file.
            if conf.has_include && !conf.nodes.contains_key(&*host) {
                return Ok(None);
            }
            found.insert(host.into_owned());
            continue;
        };
        let set = InventoryFields(borrowed(set));
        if let Some(nodes) = set.get("nodes") {
            let nodes = Hostlist::parse(nodes).map_err(hostlist_trouble("NodeSet"))?;
            found.extend(nodes.hosts().map(std::borrow::Cow::into_owned));
        }
        if let Some(feature) = set.get("feature") {
            if conf.has_include {
                return Ok(None);
            }
            let has = |node: &&NodeRow| {
                let features = absent::text(node.features.as_deref());
                features.split(',').any(|one| one.trim() == feature)
            };
            found.extend(conf.nodes.values().filter(has).map(|node| node.node.clone()));
        }
    }
    Ok(Some(found))
}
