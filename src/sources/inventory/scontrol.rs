//! `scontrol show node` and `scontrol show partition`, one line each (`-o`) or several.

use super::fields::{InventoryFields, sorted_names};
use super::lines::{InventoryRecord, records};
use super::pairs::pairs;
use super::trouble::{cut_off, settle};
use crate::absent;
use crate::ledger::Reason;
use crate::numbers::count_u64;
use crate::reference::hostlist::Hostlist;
use crate::reference::inventory::{Gpus, InventoryRow, NodeRow, PartitionRow, state, weights};
use crate::sources::Sink;
use crate::sources::options::ReaderOptions;
use crate::sources::refusal::Refusal;

pub(super) fn nodes(bytes: &[u8], _: &ReaderOptions, sink: &mut dyn Sink) {
    each(bytes, "NodeName=", sink, |record| {
        node(&InventoryFields(pairs(record))).map(|row| InventoryRow::Node(Box::new(row)))
    });
}

pub(super) fn partitions(bytes: &[u8], _: &ReaderOptions, sink: &mut dyn Sink) {
    each(bytes, "PartitionName=", sink, |record| {
        partition(&InventoryFields(pairs(record))).map(|row| InventoryRow::Partition(Box::new(row)))
    });
}

/// Gives each record that begins with `key` its outcome.
pub(super) fn each(bytes: &[u8], key: &str, sink: &mut dyn Sink, read: impl Fn(&str) -> Result<InventoryRow, Refusal>) {
    let records = records(bytes, key);
    sink.rows_read(count_u64(records.len()));
    for record in &records {
        if is_message(&record.text) {
            sink.tool_message(record.at, record.text.as_bytes());
            continue;
        }
        // That there is no reservation is an answer.
        if record.text.starts_with(super::reservation::NONE) {
            sink.out_of_scope(Reason::ToolMessage, 1);
            continue;
        }
        settle(one(record, key, &read), record.at, record.text.as_bytes(), sink);
    }
}

/// Messages of Slurm's tools, captured with their output.
pub(super) fn is_message(line: &str) -> bool {
    ["scontrol: ", "sinfo: ", "sacctmgr: ", "sshare: ", "slurm_load_"]
        .iter()
        .any(|tool| line.starts_with(tool))
}

fn one(
    record: &InventoryRecord,
    key: &str,
    read: impl Fn(&str) -> Result<InventoryRow, Refusal>,
) -> Result<InventoryRow, Refusal> {
    if record.is_too_long {
        return Err(Refusal::new(
            Reason::TooLong,
            "the record is longer than a record can be",
        ));
    }
    if !record.is_ended {
        return Err(cut_off());
    }
    if !record.text.starts_with(key) {
        return Err(Refusal::new(
            Reason::FieldCount,
            format!("the record does not begin with {key}"),
        ));
    }
    read(&record.text)
}

fn node(fields: &InventoryFields<'_>) -> Result<NodeRow, Refusal> {
    let tres = fields.tres("CfgTRES")?;
    let of_gres =
        Gpus::of_gres(fields.value("Gres")).map_err(|why| Refusal::new(Reason::BadNumber, format!("Gres: {why}")))?;
    // The configured resources know only the types a site accounts; Gres knows the devices.
    let gpus = Gpus {
        untyped_n: tres.gpus.untyped_n.or(of_gres.untyped_n),
        models: if of_gres.models.is_empty() {
            tres.gpus.models
        } else {
            of_gres.models
        },
    };
    let (state, state_flags) = state::split(fields.value("State"));
    let cpu_n = fields.int("CPUTot")?.ok_or_else(|| super::trouble::missing("CPUTot"))?;
    Ok(NodeRow {
        cluster: None,
        node: fields.required("NodeName")?.to_owned(),
        as_of_ms: None,
        cpu_n: Some(cpu_n),
        effective_cpu_n: fields.int("CPUEfctv")?,
        socket_n: fields.int("Sockets")?,
        core_per_socket_n: fields.int("CoresPerSocket")?,
        thread_per_core_n: fields.int("ThreadsPerCore")?,
        memory_byte: fields.mebibytes("RealMemory")?,
        system_memory_byte: fields.mebibytes("MemSpecLimit")?,
        disk_byte: fields.mebibytes("TmpDisk")?,
        gpus: Some(gpus),
        gres: fields.text("Gres"),
        features: fields.text("AvailableFeatures"),
        weight_n: fields.int("Weight")?,
        partitions: sorted_names(fields.value("Partitions").split(',')),
        state,
        state_flags,
        reason: fields.get("Reason").map(|reason| without_author(reason).to_owned()),
        billing_n: tres.billing_n,
        slurm_version: fields.text("Version"),
    })
}

/// A reason without the `[user@time]` behind it.
fn without_author(reason: &str) -> &str {
    let author = reason
        .strip_suffix(']')
        .and_then(|text| text.rsplit_once('['))
        .filter(|(_, author)| author.contains('@') && !author.contains(' '));
    author.map_or(reason, |(text, _)| text.trim_end())
}

fn partition(fields: &InventoryFields<'_>) -> Result<PartitionRow, Refusal> {
    let tres = fields.tres("TRES")?;
    let printed = fields.get("TRESBillingWeights");
    let weights = weights::parse(absent::text(printed))
        .map_err(|why| Refusal::new(Reason::BadNumber, format!("TRESBillingWeights: {why}")))?;
    let nodes = fields.get("Nodes");
    let listed = nodes
        .map(|list| Hostlist::parse(list).map_err(|why| Refusal::new(Reason::BadHostlist, format!("Nodes: {why}"))))
        .transpose()?;
    let over_subscribe = fields.upper("OverSubscribe").or_else(|| fields.upper("Shared"));
    Ok(PartitionRow {
        cluster: None,
        partition: fields.required("PartitionName")?.to_owned(),
        as_of_ms: None,
        nodes: nodes.map(str::to_owned),
        node_n: fields
            .int("TotalNodes")?
            .or_else(|| listed.and_then(|list| i64::try_from(list.len()).ok())),
        cpu_n: fields.int("TotalCPUs")?.or(tres.cpu_n),
        memory_byte: tres.memory_byte,
        gpus: fields.has("TRES").then_some(tres.gpus),
        state: fields.upper("State"),
        is_default: fields.yes_no("Default"),
        is_exclusive: over_subscribe.as_deref().map(|sharing| sharing == "EXCLUSIVE"),
        over_subscribe,
        max_time_s: fields.seconds("MaxTime")?,
        priority_job_factor_n: fields.int("PriorityJobFactor")?,
        priority_tier_n: fields.int("PriorityTier")?,
        qos: fields.owned_name("QoS"),
        billing_weights: printed.map(str::to_owned),
        weights,
        billing_rule: None,
    })
}
