//! `sacctmgr -P show event`: intervals in which nodes were down or drained, and what the cluster consisted of.

use super::fields::InventoryFields;
use super::table;
use super::trouble::missing;
use crate::ledger::Reason;
use crate::reference::inventory::{EventRow, InventoryRow, state};
use crate::sources::Sink;
use crate::sources::options::ReaderOptions;
use crate::sources::refusal::Refusal;
use crate::time::Zone;

/// Whether a line is the header of a listing of events.
pub(super) fn is_header(line: &str) -> bool {
    let columns = table::columns(line);
    let has = |name: &str| columns.iter().any(|column| column == name);
    // A listing of reservations has a name in each row, and may have `NodeName` too.
    has("nodename") && !has("name") && (has("timestart") || has("start"))
}

pub(super) fn read(bytes: &[u8], options: &ReaderOptions, sink: &mut dyn Sink) {
    table::read(bytes, is_header, "reason", sink, |fields| {
        event(fields, options.zone.as_ref()).map(|row| InventoryRow::Event(Box::new(row)))
    });
}

fn event(fields: &InventoryFields<'_>, zone: Option<&Zone>) -> Result<EventRow, Refusal> {
    let key = |long: &'static str, short: &'static str| if fields.has(long) { long } else { short };
    let start = fields
        .moment(key("timestart", "start"), zone)?
        .ok_or_else(|| missing("TimeStart"))?;
    let end = fields.moment(key("timeend", "end"), zone)?;
    let start_ms = start.earlier_ms;
    let end_ms = end.map(|end| {
        if end.earlier_ms < start_ms {
            end.later_ms
        } else {
            end.earlier_ms
        }
    });
    if end_ms.is_some_and(|end_ms| end_ms < start_ms) {
        return Err(Refusal::new(Reason::BadTime, "the event ends before it begins"));
    }
    let tres = fields.tres("tres")?;
    let (state, state_flags) = state::split(fields.value("state"));
    Ok(EventRow {
        cluster: fields.text("cluster"),
        node: fields.text("nodename"),
        cluster_nodes: fields.text("clusternodes"),
        start_ms,
        end_ms,
        is_ambiguous: start.is_double() || end.is_some_and(super::moment::PrintedInstant::is_double),
        state,
        state_flags,
        reason: fields.text("reason"),
        user: fields.text("user"),
        tres: fields.text("tres"),
        cpu_n: tres.cpu_n,
        node_n: tres.node_n,
        memory_byte: tres.memory_byte,
        billing_n: tres.billing_n,
        gpus: fields.get("tres").map(|_| tres.gpus),
    })
}
