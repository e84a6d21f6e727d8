//! A row whose line does not have the right number of delimiters: the lines that belong to it, and its fields.

use super::fields::{RowFields, RowLine, place, scan};
use super::layout::ColumnLayout;
use super::solve::{self, Solution};
use super::start::{self, RowStart};
use crate::ledger::Reason;
use crate::numbers::Part;

/// Lines one row may be spread over, and how often its fields are assigned again: bounds for hostile input.
const MAX_LINES: u64 = 10_000;
pub(super) const MAX_ATTEMPTS: usize = 32;

/// What became of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Assembled {
    /// One field per column.
    Row {
        /// The delimiters that separate columns.
        cuts: Vec<u32>,
        /// Behind the last byte of the last field.
        end: usize,
        /// Behind the row.
        extent: RowExtent,
    },
    /// The assignment is ambiguous.
    Refused {
        /// Too few fields, too many ways, or cut off.
        reason: Reason,
        /// In a sentence.
        detail: String,
        /// Behind what is refused.
        extent: RowExtent,
    },
}

/// How far a row reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowExtent {
    /// First byte behind it.
    pub(super) next: usize,
    /// Physical lines.
    pub(super) lines: u64,
}

/// Puts together the row that begins with `first`, whose delimiters are `cuts`, from `text`, which ends where the next
/// row is known to begin. With `is_one_line_tried`, the line alone has been read and refused.
pub(super) fn assemble(
    layout: &ColumnLayout,
    text: &[u8],
    first: RowLine,
    cuts: &mut Vec<u32>,
    kind: RowStart,
    is_one_line_tried: bool,
) -> Assembled {
    let mut last = first;
    let mut extent = RowExtent {
        next: first.next,
        lines: 1,
    };
    let mut enough: Option<(RowExtent, usize, Solution)> = None;
    let mut attempts = 0;
    loop {
        if cuts.len() >= layout.delimiters() && !(is_one_line_tried && extent.lines == 1) {
            attempts += 1;
            let (solution, end) = share_out(layout, text, first.start, last.end, cuts, kind);
            if let Solution::Cuts(cuts) = solution {
                return Assembled::Row { cuts, end, extent };
            }
            enough.get_or_insert((extent, cuts.len(), solution));
        }
        if extent.lines >= MAX_LINES || attempts >= MAX_ATTEMPTS || last.next >= text.len() {
            break;
        }
        let before = cuts.len();
        let next = scan(text, last.next, &layout.delimiter, layout.is_crlf, cuts);
        let own = cuts.part(before..);
        let line = text.part(next.start..next.end);
        if start::of(layout, text, next, own).is_some() || start::is_no_row(layout, line) {
            cuts.truncate(before);
            break;
        }
        if !next.is_ended {
            if enough.is_some() {
                cuts.truncate(before);
                break;
            }
            return Assembled::Refused {
                reason: Reason::Truncated,
                detail: "the file ends within this row".to_owned(),
                extent: RowExtent {
                    next: next.next,
                    lines: extent.lines + 1,
                },
            };
        }
        last = next;
        extent = RowExtent {
            next: next.next,
            lines: extent.lines + 1,
        };
    }
    let (extent, delimiters, solution) = enough.unwrap_or((extent, cuts.len(), Solution::None));
    let found = delimiters + usize::from(!layout.is_trailing);
    let named = layout.width();
    let detail = match solution {
        Solution::Several => {
            format!("{found} fields where the header names {named}, and more than one way to share them out")
        }
        _ if found > named => format!("{found} fields where the header names {named}, and no way to share them out"),
        _ if found == named => format!("{found} fields as the header names, but not of the types of their columns"),
        _ => format!("{found} fields where the header names {named}"),
    };
    Assembled::Refused {
        reason: Reason::FieldCount,
        detail,
        extent,
    }
}

/// Which delimiters of the bytes `start..end` separate columns, and where the last column ends.
pub(super) fn share_out(
    layout: &ColumnLayout,
    text: &[u8],
    start: usize,
    end: usize,
    cuts: &[u32],
    kind: RowStart,
) -> (Solution, usize) {
    let (cuts, end) = match (layout.is_trailing, cuts) {
        (false, cuts) => (cuts, end),
        (true, [cuts @ .., last]) if place(*last) + layout.delimiter.len() == end => (cuts, place(*last)),
        (true, _) => return (Solution::None, end),
    };
    let fields = RowFields::new(text, start, end, cuts, layout.delimiter.len());
    let solution = match kind {
        RowStart::Step => solve::solve(&fields, &layout.step_groups),
        RowStart::Job | RowStart::Unsure => match solve::solve(&fields, &layout.job_groups) {
            Solution::None => solve::solve(&fields, &layout.loose_job_groups),
            found => found,
        },
    };
    (solution, end)
}
