//! `scontrol show partition --json` (23.02 and later), or `--yaml`.

use serde::Deserialize;
use serde_json::Value;

use super::document::{self, number, word};
use super::trouble::{missing, settle};
use crate::absent;
use crate::ledger::Reason;
use crate::numbers::count_u64;
use crate::reference::hostlist::Hostlist;
use crate::reference::inventory::tres::Tres;
use crate::reference::inventory::{InventoryRow, PartitionRow, weights};
use crate::sources::Sink;
use crate::sources::options::ReaderOptions;
use crate::sources::refusal::Refusal;

#[derive(Deserialize)]
struct PartitionDocument {
    partitions: Vec<Value>,
    #[serde(default)]
    last_update: Value,
    #[serde(default)]
    meta: Value,
}

pub(super) fn read(bytes: &[u8], _: &ReaderOptions, sink: &mut dyn Sink) {
    let Some(document) = document::read::<PartitionDocument>(bytes, "partitions", sink) else {
        return;
    };
    sink.rows_read(count_u64(document.partitions.len()));
    let as_of_ms = document::as_of_ms(&document.last_update);
    let cluster = document::cluster(&document.meta);
    for (nth, element) in document.partitions.iter().enumerate() {
        let row = partition(element, cluster).map(|row| PartitionRow { as_of_ms, ..row });
        settle(
            row.map(|row| InventoryRow::Partition(Box::new(row))),
            document::element(nth),
            b"",
            sink,
        );
    }
}

/// A partition as `scontrol` and `sinfo` render it. Neither states which one is the default.
pub(super) fn partition(value: &Value, cluster: Option<&str>) -> Result<PartitionRow, Refusal> {
    let at = |path: &str| value.pointer(path).unwrap_or(&Value::Null);
    let text = |path: &str| word(at(path)).map(str::to_owned);
    let count = |path: &str| match number(at(path)) {
        Some(n) if n < 0 => Err(Refusal::new(Reason::BadNumber, format!("{path} {n} is negative"))),
        n => Ok(n),
    };
    let name = at("/name").as_str().filter(|name| !name.is_empty());
    let tres = word(at("/tres/configured"));
    let configured = Tres::parse(absent::text(tres))
        .map_err(|why| Refusal::new(Reason::BadNumber, format!("tres/configured: {why}")))?;
    let printed = text("/tres/billing_weights");
    let weights = weights::parse(absent::text(printed.as_deref()))
        .map_err(|why| Refusal::new(Reason::BadNumber, format!("tres/billing_weights: {why}")))?;
    let nodes = text("/nodes/configured");
    let listed = nodes
        .as_deref()
        .map(|list| {
            Hostlist::parse(list).map_err(|why| Refusal::new(Reason::BadHostlist, format!("nodes/configured: {why}")))
        })
        .transpose()?
        .and_then(|list| i64::try_from(list.len()).ok());
    let over_subscribe = over_subscribe(at("/maximums/oversubscribe"));
    let max_time_s = count("/maximums/time")?
        .map(|minutes| {
            minutes
                .checked_mul(60)
                .ok_or_else(|| Refusal::new(Reason::BadDuration, "maximums/time is too long"))
        })
        .transpose()?;
    Ok(PartitionRow {
        cluster: text("/cluster").or_else(|| cluster.map(str::to_owned)),
        partition: name.ok_or_else(|| missing("name"))?.to_owned(),
        as_of_ms: None,
        nodes,
        node_n: count("/nodes/total")?.or(listed),
        cpu_n: count("/cpus/total")?.or(configured.cpu_n),
        memory_byte: configured.memory_byte,
        gpus: tres.is_some().then_some(configured.gpus),
        state: at("/partition/state")
            .pointer("/0")
            .and_then(word)
            .map(str::to_uppercase),
        is_default: None,
        is_exclusive: over_subscribe.as_deref().map(|sharing| sharing == "EXCLUSIVE"),
        over_subscribe,
        max_time_s,
        priority_job_factor_n: count("/priority/job_factor")?,
        priority_tier_n: count("/priority/tier")?,
        // A QOS may be named "none".
        qos: (at("/qos/assigned").as_str())
            .filter(|name| !matches!(*name, "" | "N/A" | "(null)"))
            .map(str::to_owned),
        billing_weights: printed,
        weights,
        billing_rule: None,
    })
}

/// Sharing of resources in the words of the text form: how many jobs may share them, 0 being a job alone.
fn over_subscribe(value: &Value) -> Option<String> {
    let job_n = number(value.get("jobs")?)?;
    let flags = value.get("flags").and_then(Value::as_array);
    let is_forced = flags.is_some_and(|flags| {
        flags
            .iter()
            .filter_map(word)
            .any(|flag| flag.eq_ignore_ascii_case("force"))
    });
    Some(match job_n {
        0 => "EXCLUSIVE".to_owned(),
        n if is_forced => format!("FORCE:{n}"),
        1 => "NO".to_owned(),
        n => format!("YES:{n}"),
    })
}
