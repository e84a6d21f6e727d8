//! Tables of `sacctmgr -P` and `sshare -P`: a header, then fields between `|`.

use std::collections::BTreeMap;

use super::fields::InventoryFields;
use super::lines::lines;
use super::scontrol::is_message;
use super::trouble::{cut_off, settle};
use crate::ledger::Reason;
use crate::numbers::Part;
use crate::reference::inventory::InventoryRow;
use crate::sources::Sink;
use crate::sources::refusal::Refusal;

/// A column's name without blanks, in lower case: `Cluster Nodes` and `ClusterNodes` are one column.
fn normal(name: &str) -> String {
    name.chars()
        .filter(|letter| !letter.is_whitespace())
        .flat_map(char::to_lowercase)
        .collect()
}

/// The normal names of a header's columns.
pub(super) fn columns(line: &str) -> Vec<String> {
    let line = line.trim_end();
    line.strip_suffix('|').unwrap_or(line).split('|').map(normal).collect()
}

/// Reads every row with `read`. Surplus fields belong to the column `free`, the only one that can hold a `|`.
pub(super) fn read(
    bytes: &[u8],
    is_header: impl Fn(&str) -> bool,
    free: &str,
    sink: &mut dyn Sink,
    read: impl Fn(&InventoryFields<'_>) -> Result<InventoryRow, Refusal>,
) {
    let mut header: Option<Vec<String>> = None;
    for line in lines(bytes) {
        if line.is_blank() {
            continue;
        }
        let text = line.text();
        if is_header(&text) {
            header = Some(columns(&text));
            continue;
        }
        sink.rows_read(1);
        if is_message(&text) {
            sink.tool_message(line.at, line.bytes);
            continue;
        }
        let row = match &header {
            _ if !line.is_ended => Err(cut_off()),
            None => Err(Refusal::new(Reason::FieldCount, "no header precedes this row")),
            Some(columns) => fields(&text, columns, free).and_then(|fields| read(&fields)),
        };
        settle(row, line.at, line.bytes, sink);
    }
}

fn fields<'t>(text: &'t str, columns: &'t [String], free: &str) -> Result<InventoryFields<'t>, Refusal> {
    let cells = cells(text, columns, free)?;
    Ok(InventoryFields(
        cells.into_iter().map(|(name, cell)| (name, cell.trim())).collect(),
    ))
}

/// The cells of a row by column, with the blanks around them.
pub(super) fn cells<'t>(
    text: &'t str,
    columns: &'t [String],
    free: &str,
) -> Result<BTreeMap<&'t str, &'t str>, Refusal> {
    let bars: Vec<usize> = memchr::memchr_iter(b'|', text.as_bytes()).collect();
    let count = |n: usize| {
        let detail = format!("{n} fields where the header has {}", columns.len());
        Refusal::new(Reason::FieldCount, detail)
    };
    let found_n = bars.len() + 1;
    // `-p` ends every line with a delimiter.
    let is_closed = text.ends_with('|') && found_n == columns.len() + 1;
    let surplus = if is_closed {
        0
    } else {
        found_n.checked_sub(columns.len()).ok_or_else(|| count(found_n))?
    };
    let free_at = columns.iter().position(|name| name == free);
    if surplus > 0 && free_at.is_none() {
        return Err(count(found_n));
    }
    let mut values = BTreeMap::new();
    let (mut from, mut bar) = (0, 0);
    for (nth, name) in columns.iter().enumerate() {
        if Some(nth) == free_at {
            bar += surplus;
        }
        let end = bars.get(bar).copied().unwrap_or(text.len());
        values.insert(name.as_str(), text.part(from..end));
        (from, bar) = (end + 1, bar + 1);
    }
    Ok(values)
}
