//! `sinfo -N`: one line per node **and partition**; the lines of a node become one row.
//!
//! The long form (`-l`) cuts values off at the width of their column, digits included, so a value that fills its column
//! may be another one and is unknown here: from the sixth digit on that is the memory. A format with `|` cuts nothing:
//! `sinfo -N -o '%N|%P|%T|%c|%X|%Y|%Z|%m|%G|%f|%w|%E'`, read with its header or, in this order, without (`-h`).

use std::collections::BTreeMap;

use super::fields::{InventoryFields, sorted_names};
use super::lines::{InventoryLine, lines};
use super::moment;
use super::scontrol::is_message;
use super::trouble::cut_off;
use crate::absent;
use crate::ledger::Reason;
use crate::reference::inventory::{Gpus, InventoryRow, NodeRow, state};
use crate::sources::options::ReaderOptions;
use crate::sources::refusal::Refusal;
use crate::sources::{Position, Sink};

/// Columns of the format that may occur without a header.
const ORDER: [&str; 12] = [
    "NODELIST",
    "PARTITION",
    "STATE",
    "CPUS",
    "SOCKETS",
    "CORES",
    "THREADS",
    "MEMORY",
    "GRES",
    "AVAIL_FEATURES",
    "WEIGHT",
    "REASON",
];

/// Widths at which the long form cuts; the first column is as wide as it must be.
const WIDTHS: &[(&str, usize)] = &[
    ("PARTITION", 9),
    ("STATE", 11),
    ("CPUS", 4),
    ("S:C:T", 8),
    ("MEMORY", 6),
    ("TMP_DISK", 8),
    ("WEIGHT", 6),
    ("AVAIL_FE", 8),
    ("REASON", 20),
];

/// Whether a line is the header of a listing by node.
pub(super) fn is_header(line: &str) -> bool {
    let delimiter = if line.contains('|') { "|" } else { " " };
    let columns: Vec<&str> = line
        .split(delimiter)
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .collect();
    let has = |name: &str| columns.contains(&name);
    // Without -N the lines are groups of nodes, and AVAIL is present.
    has("NODELIST") && has("STATE") && has("CPUS") && !has("AVAIL")
}

/// Whether a line is one of the known order without a header.
pub(super) fn is_headerless(line: &str) -> bool {
    let fields: Vec<&str> = line.trim_end().split('|').collect();
    let is_number = |nth: usize| {
        let field = fields.get(nth).map(|field| field.trim());
        field.is_some_and(|field| !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit()))
    };
    matches!(fields.len(), 11 | 12) && [3, 4, 5, 6, 7, 10].into_iter().all(is_number)
}

/// How the fields of a line are found.
enum SinfoForm {
    /// Between `|`, named.
    Columns(Vec<String>),
    /// Between blanks, named, and cut at widths.
    Widths(Vec<String>),
}

/// A node and what is folded into it.
struct Folded {
    row: NodeRow,
    /// `None` when one of them may be cut off.
    partitions: Option<Vec<String>>,
    at: Position,
    line_n: u64,
}

pub(super) fn read(bytes: &[u8], options: &ReaderOptions, sink: &mut dyn Sink) {
    let mut form: Option<SinfoForm> = None;
    let mut as_of_ms = None;
    let mut nodes: BTreeMap<String, Folded> = BTreeMap::new();
    for line in lines(bytes) {
        if line.is_blank() {
            continue;
        }
        let text = line.text();
        if is_header(&text) {
            form = Some(header(&text));
            continue;
        }
        if let Some(local_s) = moment::long_date(&text) {
            as_of_ms = moment::local(local_s, options.zone.as_ref()).map(|moment| moment.earlier_ms);
            continue;
        }
        sink.rows_read(1);
        if is_message(&text) {
            sink.tool_message(line.at, line.bytes);
            continue;
        }
        let form = form.get_or_insert_with(|| SinfoForm::Columns(ORDER.map(str::to_owned).to_vec()));
        if let Err(Refusal { reason, detail }) = add(&line, &text, form, &mut nodes) {
            sink.reject(reason, line.at, 1, &detail, line.bytes);
        }
    }
    for folded in nodes.into_values() {
        let names = folded.partitions.as_ref();
        let row = NodeRow {
            as_of_ms,
            partitions: names.and_then(|names| sorted_names(names.iter().map(String::as_str))),
            ..folded.row
        };
        sink.inventory(&InventoryRow::Node(Box::new(row)), folded.at, folded.line_n);
    }
}

fn header(text: &str) -> SinfoForm {
    if text.contains('|') {
        return SinfoForm::Columns(text.trim_end().split('|').map(|name| name.trim().to_owned()).collect());
    }
    SinfoForm::Widths(text.split_ascii_whitespace().map(str::to_owned).collect())
}

fn add(
    line: &InventoryLine<'_>,
    text: &str,
    form: &SinfoForm,
    nodes: &mut BTreeMap<String, Folded>,
) -> Result<(), Refusal> {
    if !line.is_ended {
        return Err(cut_off());
    }
    let count = |found: usize, wanted: usize| {
        let detail = format!("{found} fields where {wanted} are expected");
        Err(Refusal::new(Reason::FieldCount, detail))
    };
    let (fields, is_cut) = match form {
        SinfoForm::Columns(columns) => {
            // The reason comes last and may hold anything.
            let values: Vec<&str> = text.splitn(columns.len(), '|').map(str::trim).collect();
            let is_short_form = columns.len() == ORDER.len() && values.len() + 1 == ORDER.len();
            if values.len() != columns.len() && !is_short_form {
                return count(values.len(), columns.len());
            }
            (columns.iter().map(String::as_str).zip(values).collect(), false)
        }
        SinfoForm::Widths(columns) => {
            let mut values: Vec<&str> = text.split_ascii_whitespace().collect();
            let reason_at = columns.iter().position(|name| name == "REASON");
            if let Some(last) = reason_at.filter(|last| values.len() > *last) {
                values.truncate(last); // several words, and cut off
            }
            let wanted = reason_at.unwrap_or(columns.len());
            if values.len() != wanted {
                return count(values.len(), wanted);
            }
            (columns.iter().map(String::as_str).zip(values).collect(), true)
        }
    };
    fold(
        &Whole {
            fields: InventoryFields(fields),
            is_cut,
        },
        line.at,
        nodes,
    )
}

/// Fields, without those that may be cut off.
struct Whole<'t> {
    fields: InventoryFields<'t>,
    is_cut: bool,
}

impl<'t> Whole<'t> {
    fn is_sure(&self, key: &str) -> bool {
        let width = WIDTHS
            .iter()
            .find(|(name, _)| *name == key)
            .map_or(usize::MAX, |(_, width)| *width);
        !self.is_cut || self.fields.get(key).is_none_or(|value| value.chars().count() < width)
    }

    fn get(&self, key: &str) -> Option<&'t str> {
        self.fields.get(key).filter(|_| self.is_sure(key))
    }

    fn int(&self, key: &str) -> Result<Option<i64>, Refusal> {
        if self.is_sure(key) {
            self.fields.int(key)
        } else {
            Ok(None)
        }
    }

    fn mebibytes(&self, key: &str) -> Result<Option<i64>, Refusal> {
        if self.is_sure(key) {
            self.fields.mebibytes(key)
        } else {
            Ok(None)
        }
    }
}

fn fold(fields: &Whole<'_>, at: Position, nodes: &mut BTreeMap<String, Folded>) -> Result<(), Refusal> {
    let node = fields.fields.required("NODELIST")?;
    let topology: Vec<&str> = absent::text(fields.get("S:C:T")).split(':').collect();
    let topology = |nth: usize, key: &str| -> Result<Option<i64>, Refusal> {
        match topology.get(nth).filter(|_| topology.len() == 3) {
            Some(value) => InventoryFields([(key, *value)].into()).int(key),
            None => fields.int(key),
        }
    };
    // What may be cut off is unknown, which is not none.
    let gpus = (fields.fields.has("GRES") && fields.is_sure("GRES"))
        .then(|| Gpus::of_gres(fields.fields.value("GRES")))
        .transpose()
        .map_err(|why| Refusal::new(Reason::BadNumber, format!("GRES: {why}")))?;
    let (state, state_flags) = state::split(absent::text(fields.get("STATE")));
    let row = NodeRow {
        node: node.to_owned(),
        cpu_n: fields.int("CPUS")?,
        socket_n: topology(0, "SOCKETS")?,
        core_per_socket_n: topology(1, "CORES")?,
        thread_per_core_n: topology(2, "THREADS")?,
        memory_byte: fields.mebibytes("MEMORY")?,
        disk_byte: fields.mebibytes("TMP_DISK")?,
        gpus,
        gres: fields.get("GRES").map(str::to_owned),
        features: ["AVAIL_FEATURES", "AVAIL_FE"]
            .iter()
            .find_map(|key| fields.get(key))
            .map(str::to_owned),
        weight_n: fields.int("WEIGHT")?,
        state,
        state_flags,
        reason: fields.get("REASON").map(str::to_owned),
        ..NodeRow::default()
    };
    let partition = fields.fields.get("PARTITION").map(str::to_owned);
    let is_sure = fields.is_sure("PARTITION");
    let folded = nodes.entry(node.to_owned()).or_insert_with(|| Folded {
        row: row.clone(),
        partitions: Some(Vec::new()),
        at,
        line_n: 0,
    });
    if folded.row != row {
        let detail = format!("{node} differs from line {}", folded.at.line);
        return Err(Refusal::new(Reason::Contradiction, detail));
    }
    folded.line_n += 1;
    match (&mut folded.partitions, partition) {
        (Some(names), Some(name)) if is_sure => names.push(name),
        (_, None) => {}
        (names, Some(_)) => *names = None,
    }
    Ok(())
}
