//! Nodes as a CSV of a site's own, under the names the lake has for them:
//! `node,cluster,as_of,cpu_n,memory_byte,gpu_n,gpus,partitions,state`. `node` may be a host list in quotes, `gpus` is
//! written like `Gres` (`gpu:a100:4`), several partitions are separated by blanks or semicolons. Only `node` and one of the
//! amounts must be there; an empty cell is unknown. Lines that begin with `#` are comments. A line that lists a node otherwise than an earlier one of
//! the same cluster and instant is refused.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::fields::{InventoryFields, sorted_names};
use super::lines::lines;
use super::trouble::{cut_off, missing};
use crate::ledger::Reason;
use crate::reference::csv_table::OtherSeparator;
use crate::reference::hostlist::{Hostlist, HostlistError};
use crate::reference::inventory::{Gpus, InventoryRow, NodeRow, state};
use crate::reference::table_columns::{NODE_LISTING, names};
use crate::sources::Sink;
use crate::sources::options::ReaderOptions;
use crate::sources::refusal::Refusal;

/// The cells of a line.
pub(super) fn cells(line: &str) -> Option<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .trim(csv::Trim::All)
        .from_reader(line.as_bytes());
    // Fallback: a line that is no CSV has no cells, and its caller refuses it.
    let record = reader.records().next()?.ok()?;
    Some(record.iter().map(str::to_owned).collect())
}

/// Whether a line is the header of such a table.
pub(super) fn is_header(line: &str) -> bool {
    cells(line).is_some_and(|columns| {
        let has = |name: &str| columns.iter().any(|column| column == name);
        has("node") && ["cpu_n", "memory_byte", "gpu_n", "gpus"].into_iter().any(has)
    })
}

/// The header of a table, once it was met.
#[derive(Default)]
pub(super) struct NodeTableHeader {
    columns: Option<Vec<String>>,
    /// Why what was met cannot be used.
    why_not: Option<String>,
}

impl NodeTableHeader {
    /// Takes the first line that is a header, also one whose columns something else separates than commas; true if this one
    /// is.
    pub(super) fn take(&mut self, line: &str, is_header: impl Fn(&str) -> bool) -> bool {
        if self.columns.is_some() || self.why_not.is_some() {
            return false;
        }
        if is_header(line) {
            self.columns = cells(line);
        } else {
            self.why_not = misread(line, is_header).map(|other| other.message());
        }
        self.columns.is_some() || self.why_not.is_some()
    }

    /// The columns.
    pub(super) fn columns(&self) -> Result<&[String], Refusal> {
        self.columns.as_deref().ok_or_else(|| {
            let why_not = self.why_not.as_deref();
            let why_not = why_not.unwrap_or("no header precedes this row");
            Refusal::new(Reason::FieldCount, why_not)
        })
    }
}

/// A line that would be a header if commas separated its columns.
pub(super) fn misread(line: &str, is_header: impl Fn(&str) -> bool) -> Option<OtherSeparator> {
    OtherSeparator::of(&cells(line)?).filter(|other| is_header(&other.commas))
}

/// A node at an instant.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct NodeInstant {
    node: String,
    cluster: Option<String>,
    as_of_ms: Option<i64>,
}

/// What a line lists, without the name of the node.
struct ListedLine {
    of_any: NodeRow,
    line: u64,
}

/// The nodes of the lines so far.
#[derive(Default)]
struct ListedNodes(BTreeMap<NodeInstant, Rc<ListedLine>>);

impl ListedNodes {
    /// Takes the nodes of a line, of which none may be listed otherwise before.
    fn take(&mut self, rows: Vec<NodeRow>, line: u64) -> Result<Vec<NodeRow>, Refusal> {
        let Some(first) = rows.first() else {
            return Ok(rows);
        };
        let of_any = NodeRow {
            node: String::new(),
            ..first.clone()
        };
        let instant = |row: &NodeRow| NodeInstant {
            node: row.node.clone(),
            cluster: row.cluster.clone(),
            as_of_ms: row.as_of_ms,
        };
        for row in &rows {
            if let Some(known) = self.0.get(&instant(row)).filter(|known| known.of_any != of_any) {
                let detail = format!("{} differs from line {}", row.node, known.line);
                return Err(Refusal::new(Reason::Contradiction, detail));
            }
        }
        let own = Rc::new(ListedLine { of_any, line });
        for row in &rows {
            self.0.entry(instant(row)).or_insert_with(|| Rc::clone(&own));
        }
        Ok(rows)
    }
}

pub(super) fn read(bytes: &[u8], options: &ReaderOptions, sink: &mut dyn Sink) {
    let mut header = NodeTableHeader::default();
    let mut listed = ListedNodes::default();
    for line in lines(bytes) {
        let text = line.text();
        if line.is_blank() || text.starts_with('#') {
            continue;
        }
        if header.take(&text, is_header) {
            continue;
        }
        sink.rows_read(1);
        let rows = match header.columns() {
            _ if !line.is_ended => Err(cut_off()),
            Err(trouble) => Err(trouble),
            Ok(columns) => named(&text, columns, &names(NODE_LISTING), |fields| nodes(fields, options)),
        };
        let rows = rows.and_then(|rows| listed.take(rows, line.at.line));
        match rows {
            Ok(rows) => {
                for (nth, row) in rows.into_iter().enumerate() {
                    // The line is one row of the file, whatever it lists.
                    sink.inventory(&InventoryRow::Node(Box::new(row)), line.at, u64::from(nth == 0));
                }
            }
            Err(Refusal { reason, detail }) => sink.reject(reason, line.at, 1, &detail, line.bytes),
        }
    }
}

/// What `read` makes of a row's cells by the names of their columns, all of which must be `known`.
pub(super) fn named<T>(
    text: &str,
    columns: &[String],
    known: &[&str],
    read: impl FnOnce(&InventoryFields<'_>) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    if let Some(unknown) = columns.iter().find(|name| !known.contains(&name.as_str())) {
        let known = known.join(", ");
        return Err(Refusal::new(
            Reason::UnknownField,
            format!("the header has a column \"{unknown}\"; known are {known}"),
        ));
    }
    let Some(cells) = cells(text) else {
        return Err(Refusal::new(Reason::FieldCount, "the row cannot be read as CSV"));
    };
    if cells.len() != columns.len() {
        let detail = format!("{} cells where the header has {}", cells.len(), columns.len());
        return Err(Refusal::new(Reason::FieldCount, detail));
    }
    let named: BTreeMap<&str, &str> = columns
        .iter()
        .map(String::as_str)
        .zip(cells.iter().map(String::as_str))
        .collect();
    read(&InventoryFields(named))
}

fn nodes(fields: &InventoryFields<'_>, options: &ReaderOptions) -> Result<Vec<NodeRow>, Refusal> {
    let hosts = Hostlist::parse(fields.required("node")?).map_err(|why| match why {
        HostlistError::Syntax(why) | HostlistError::Limit(why) => Refusal::new(Reason::BadHostlist, why),
    })?;
    if hosts.is_empty() {
        return Err(missing("node"));
    }
    let gpus = match fields.gpus()? {
        Some(gpus) => Some(gpus),
        None => fields.int("gpu_n")?.map(|n| Gpus {
            models: Vec::new(),
            untyped_n: Some(n),
        }),
    };
    let (state, state_flags) = state::split(fields.value("state"));
    let row = NodeRow {
        cluster: fields.text("cluster"),
        as_of_ms: as_of_ms(fields, options)?,
        cpu_n: fields.int("cpu_n")?,
        memory_byte: fields.int("memory_byte")?,
        gpus,
        partitions: fields
            .get("partitions")
            .and_then(|names| sorted_names(names.split([' ', ';']))),
        state,
        state_flags,
        ..NodeRow::default()
    };
    let of = hosts.hosts().map(|host| NodeRow {
        node: host.into_owned(),
        ..row.clone()
    });
    Ok(of.collect())
}

/// A day begins with its first instant in the inventory's zone, UTC without one.
pub(super) fn as_of_ms(fields: &InventoryFields<'_>, options: &ReaderOptions) -> Result<Option<i64>, Refusal> {
    let text = fields.value("as_of");
    let (text, zone) = if text.len() == 10 {
        let zone = options.zone.clone().unwrap_or_else(crate::time::Zone::utc);
        (format!("{text}T00:00:00"), Some(zone))
    } else {
        (text.to_owned(), options.zone.clone())
    };
    let named = BTreeMap::from([("as_of", text.as_str())]);
    let moment = InventoryFields(named).moment("as_of", zone.as_ref())?;
    Ok(moment.map(|moment| moment.earlier_ms))
}
