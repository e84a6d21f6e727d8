//! Reservations: `scontrol show reservation`, `sacctmgr -P show reservation`, and a CSV of a site's own.
//!
//! The CSV has the columns `reservation,cluster,start,end,node_n,core_n,memory_byte,gpus,nodes,partition,accounts,flags,
//! as_of`, of which the first, `start` and `end` must be there. `gpus` is written like `Gres`.

use super::fields::InventoryFields;
use super::lines::lines;
use super::pairs::{RESERVATION_KEYS, pairs_of};
use super::trouble::{cut_off, missing, settle};
use super::{csv_nodes, scontrol, table};
use crate::ledger::Reason;
use crate::reference::hostlist::Hostlist;
use crate::reference::inventory::{InventoryRow, ReservationRow};
use crate::reference::table_columns::{RESERVATION_LISTING, names};
use crate::sources::Sink;
use crate::sources::options::ReaderOptions;
use crate::sources::refusal::Refusal;
use crate::time::Zone;

/// The output of `scontrol` when there is none.
pub(super) const NONE: &str = "No reservations in the system";

/// Names of a row's fields.
struct Keys {
    name: &'static str,
    cluster: &'static str,
    start: &'static str,
    end: &'static str,
    nodes: &'static str,
    node_n: &'static str,
    core_n: &'static str,
    tres: &'static str,
    partition: &'static str,
    accounts: &'static str,
    users: &'static str,
    flags: &'static str,
    state: &'static str,
}

const SCONTROL: Keys = Keys {
    name: "ReservationName",
    cluster: "",
    start: "StartTime",
    end: "EndTime",
    nodes: "Nodes",
    node_n: "NodeCnt",
    core_n: "CoreCnt",
    tres: "TRES",
    partition: "PartitionName",
    accounts: "Accounts",
    users: "Users",
    flags: "Flags",
    state: "State",
};

const SACCTMGR: Keys = Keys {
    name: "name",
    cluster: "cluster",
    start: "timestart",
    end: "timeend",
    nodes: "nodenames",
    node_n: "",
    core_n: "",
    tres: "tres",
    partition: "",
    accounts: "",
    users: "",
    flags: "flags",
    state: "",
};

const CSV: Keys = Keys {
    name: "reservation",
    cluster: "cluster",
    start: "start",
    end: "end",
    nodes: "nodes",
    node_n: "node_n",
    core_n: "core_n",
    tres: "",
    partition: "partition",
    accounts: "accounts",
    users: "",
    flags: "flags",
    state: "",
};

/// Whether a line is the header of `sacctmgr show reservation`.
pub(super) fn is_header(line: &str) -> bool {
    let columns = table::columns(line);
    let has = |name: &str| columns.iter().any(|column| column == name);
    has("name") && (has("timestart") || has("start")) && (has("timeend") || has("end")) && has("tres")
}

/// Whether a line is the header of a CSV of reservations.
pub(super) fn is_csv_header(line: &str) -> bool {
    csv_nodes::cells(line).is_some_and(|columns| {
        let mut names = ["reservation", "start", "end"].into_iter();
        names.all(|name| columns.iter().any(|column| column == name))
    })
}

pub(super) fn of_scontrol(bytes: &[u8], options: &ReaderOptions, sink: &mut dyn Sink) {
    scontrol::each(bytes, "ReservationName=", sink, |record| {
        row(
            &InventoryFields(pairs_of(record, RESERVATION_KEYS)),
            &SCONTROL,
            options.zone.as_ref(),
        )
    });
}

pub(super) fn of_sacctmgr(bytes: &[u8], options: &ReaderOptions, sink: &mut dyn Sink) {
    table::read(bytes, is_header, "comment", sink, |fields| {
        let keys = Keys {
            start: if fields.has("timestart") { "timestart" } else { "start" },
            end: if fields.has("timeend") { "timeend" } else { "end" },
            // The column `NodeNames` is called `NodeName` in the header of 22.05.
            nodes: if fields.has("nodenames") {
                "nodenames"
            } else {
                "nodename"
            },
            ..SACCTMGR
        };
        row(fields, &keys, options.zone.as_ref())
    });
}

pub(super) fn of_csv(bytes: &[u8], options: &ReaderOptions, sink: &mut dyn Sink) {
    let mut header = csv_nodes::NodeTableHeader::default();
    for line in lines(bytes) {
        let text = line.text();
        if line.is_blank() || text.starts_with('#') || header.take(&text, is_csv_header) {
            continue;
        }
        sink.rows_read(1);
        let read = match header.columns() {
            _ if !line.is_ended => Err(cut_off()),
            Err(trouble) => Err(trouble),
            Ok(columns) => csv_nodes::named(&text, columns, &names(RESERVATION_LISTING), |fields| {
                let row = row(fields, &CSV, options.zone.as_ref())?;
                Ok(match row {
                    InventoryRow::Reservation(mut row) => {
                        row.as_of_ms = csv_nodes::as_of_ms(fields, options)?;
                        row.memory_byte = fields.int("memory_byte")?;
                        InventoryRow::Reservation(row)
                    }
                    other => other,
                })
            }),
        };
        settle(read, line.at, line.bytes, sink);
    }
}

fn row(fields: &InventoryFields<'_>, keys: &Keys, zone: Option<&Zone>) -> Result<InventoryRow, Refusal> {
    let start = fields.moment(keys.start, zone)?.ok_or_else(|| missing(keys.start))?;
    let end = fields.moment(keys.end, zone)?.ok_or_else(|| missing(keys.end))?;
    let end_ms = if end.earlier_ms < start.earlier_ms {
        end.later_ms
    } else {
        end.earlier_ms
    };
    if end_ms < start.earlier_ms {
        return Err(Refusal::new(Reason::BadTime, "the reservation ends before it begins"));
    }
    let nodes = fields.get(keys.nodes);
    let listed = nodes
        .map(|list| {
            Hostlist::parse(list).map_err(|why| Refusal::new(Reason::BadHostlist, format!("{}: {why}", keys.nodes)))
        })
        .transpose()?;
    let tres = fields.tres(keys.tres)?;
    let gpus = match fields.gpus()? {
        Some(gpus) => Some(gpus),
        None => fields.get(keys.tres).map(|_| tres.gpus),
    };
    Ok(InventoryRow::Reservation(Box::new(ReservationRow {
        cluster: fields.text(keys.cluster),
        reservation: fields.required(keys.name)?.to_owned(),
        as_of_ms: None,
        start_ms: start.earlier_ms,
        end_ms,
        is_ambiguous: start.is_double() || end.is_double(),
        nodes: nodes.map(str::to_owned),
        node_n: fields
            .int(keys.node_n)?
            .or_else(|| listed.and_then(|list| i64::try_from(list.len()).ok())),
        core_n: tres.cpu_n.or(fields.int(keys.core_n)?),
        memory_byte: tres.memory_byte,
        gpus,
        partition: fields.text(keys.partition),
        accounts: fields.owned_name(keys.accounts),
        users: fields.text(keys.users),
        flags: fields.upper(keys.flags),
        state: fields.upper(keys.state),
    })))
}
