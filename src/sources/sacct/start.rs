//! Does a line begin a row? The answer depends on the line alone.
//!
//! A line that holds all of a row certainly does: a damaged row never swallows the next one, and a file cut at such a
//! line reads the same. Of a shorter line it is only likely, because what follows a line break in a name may look like
//! the first columns of a row ([`super::stretch`] decides).

use super::assemble::share_out;
use super::fields::{RowFields, RowLine};
use super::job_id::JobId;
use super::layout::ColumnLayout;
use super::solve::{self, Solution};
use crate::sources::refusal::holds_nul;

/// What kind of row a line begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowStart {
    /// A job row.
    Job,
    /// A step row.
    Step,
    /// A row whose identifier is on a later line: its typed columns show it.
    Unsure,
}

/// Whether `line` begins a row of `layout`; `cuts` are the delimiters of this line.
pub(super) fn of(layout: &ColumnLayout, text: &[u8], line: RowLine, cuts: &[u32]) -> Option<RowStart> {
    let fields = RowFields::new(text, line.start, line.end, cuts, layout.delimiter.len());
    if cuts.len() == layout.delimiters() || !layout.is_id_behind_free_text {
        let is_typed = || {
            (0..=layout.prefix_end).all(|c| {
                let kind = layout.kinds.get(c).copied();
                // The field before the first delimiter of a line could be anything: it must be closed.
                let is_closed = c < cuts.len() || c + 1 == layout.width();
                is_closed
                    && kind
                        .zip(fields.get(c))
                        .is_some_and(|(kind, text)| kind.is_free() || kind.accepts(text))
            })
        };
        if let Some(id) = fields.get(layout.id_column).and_then(JobId::parse)
            && is_typed()
        {
            return Some(kind(id));
        }
    }
    if !layout.is_id_behind_free_text {
        return None;
    }
    if let Some(n) = solve::prefix(&fields, &layout.kinds, layout.id_column) {
        return fields.get(n).and_then(JobId::parse).map(kind);
    }
    is_broken_off(layout, &fields).then_some(RowStart::Unsure)
}

/// Whether `line`, which may begin a row of this kind, holds all of it.
pub(super) fn is_whole(layout: &ColumnLayout, text: &[u8], line: RowLine, cuts: &[u32], kind: RowStart) -> bool {
    if !line.is_ended || cuts.len() < layout.delimiters() {
        return false;
    }
    if cuts.len() > layout.delimiters() {
        let (solution, _) = share_out(layout, text, line.start, line.end, cuts, kind);
        return matches!(solution, Solution::Cuts(_));
    }
    holds_id(layout, text, line, cuts)
}

/// Whether `line` has one field per column, and an identifier where it belongs: such a line is a row by itself.
pub(super) fn holds_id(layout: &ColumnLayout, text: &[u8], line: RowLine, cuts: &[u32]) -> bool {
    let fields = layout.exact(text, line, cuts).filter(|_| line.is_ended);
    fields.is_some_and(|fields| fields.get(layout.id_column).and_then(JobId::parse).is_some())
}

fn kind(id: JobId<'_>) -> RowStart {
    if id.is_step { RowStart::Step } else { RowStart::Job }
}

/// The line stops in a free text before the identifier, and enough columns before it have texts of their type.
fn is_broken_off(layout: &ColumnLayout, fields: &RowFields<'_, '_>) -> bool {
    const EVIDENCE: usize = 3;
    let last = fields.len() - 1;
    if last >= layout.id_column || !layout.kinds.get(last).is_some_and(|kind| kind.is_free()) {
        return false;
    }
    let mut evidence = 0;
    for (c, kind) in layout.kinds.iter().enumerate().take(last) {
        let Some(text) = fields.get(c) else { return false };
        if !kind.is_free() && !kind.accepts(text) {
            return false;
        }
        evidence += usize::from(kind.is_strict() && !text.is_empty());
    }
    evidence >= EVIDENCE
}

/// Whether a part of a line was lost: it has NUL bytes, as a file has where a machine stopped before its text was on disk.
pub(super) fn is_lost(layout: &ColumnLayout, line: &[u8]) -> bool {
    holds_nul(line) && !layout.delimiter.contains(&0)
}

/// Whether a line is part of no row, whatever is before it.
pub(super) fn is_no_row(layout: &ColumnLayout, line: &[u8]) -> bool {
    is_tool_message(line) || is_lost(layout, line)
}

/// A line `sacct` writes to its error stream, which is often captured with the rows.
pub(in crate::sources) fn is_tool_message(line: &[u8]) -> bool {
    [&b"sacct: "[..], b"Conversion error", b"slurmdbd: ", b"slurm_"]
        .iter()
        .any(|prefix| line.starts_with(prefix))
}
