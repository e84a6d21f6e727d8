//! Surplus fields: which columns do they belong to?
//!
//! The delimiter is never escaped, so a job name `a|b` makes one field too many. The columns around it have types: the
//! surplus goes to the free texts in the one way that leaves every other column with a text of its type. If there is
//! no such way, or more than one, the row is refused. Columns that `sacct` never leaves empty must have a text: what is
//! left of two damaged rows next to each other often has the types of one, but not both its beginning and its end.

use super::column::SacctKind;
use super::fields::RowFields;
use crate::numbers::Part;

/// Consecutive columns that are separated from their neighbours together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnGroup {
    /// One column with exactly one field.
    One(SacctKind),
    /// One column with exactly one field that is not empty.
    Stated(SacctKind),
    /// Columns of free text, and columns between them that nothing is read from: as many fields, or more.
    Free(usize),
}

/// What the grouping of columns depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupedColumn {
    /// The type of its text.
    pub(super) kind: SacctKind,
    /// It is read: its text is separated from those of its neighbours.
    pub(super) is_used: bool,
    /// `sacct` never leaves it empty.
    pub(super) is_always_stated: bool,
}

/// Groups the columns. Unused columns between two unused free texts are not separated, because no answer depends on
/// it. With `keys_by_form`, a workload key must look like a default key and has one field.
pub(super) fn groups(columns: &[GroupedColumn], keys_by_form: bool) -> Vec<ColumnGroup> {
    let is_free = |column: &GroupedColumn| match column.kind {
        SacctKind::Key => !keys_by_form,
        kind => kind.is_free(),
    };
    // A key taken by its form is an anchor: nothing may be merged across it.
    let is_anchor = |column: &GroupedColumn| column.is_used || keys_by_form && column.kind == SacctKind::Key;
    let mut groups = Vec::with_capacity(columns.len());
    let mut rest = columns;
    while let Some((column, behind)) = rest.split_first() {
        rest = behind;
        if !is_free(column) {
            groups.push(if column.is_always_stated {
                ColumnGroup::Stated(column.kind)
            } else {
                ColumnGroup::One(column.kind)
            });
        } else if column.is_used {
            groups.push(ColumnGroup::Free(1));
        } else {
            let run = behind.iter().take_while(|column| !is_anchor(column));
            let until_last_free = run.enumerate().filter(|(_, column)| is_free(column)).last();
            let merged_n = until_last_free.map_or(0, |(nth, _)| nth + 1);
            groups.push(ColumnGroup::Free(1 + merged_n));
            rest = behind.part(merged_n..);
        }
    }
    groups
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Solution {
    /// The positions of the delimiters that separate columns.
    Cuts(Vec<u32>),
    /// No way fits.
    None,
    /// Several ways fit.
    Several,
}

/// More surplus fields than this in one record are refused.
const MAX_SURPLUS: usize = 4096;

/// Gives `fields` to the columns of `groups`.
pub(super) fn solve(fields: &RowFields<'_, '_>, groups: &[ColumnGroup]) -> Solution {
    let width: usize = groups.iter().map(ColumnGroup::columns).sum();
    let Some(surplus) = fields.len().checked_sub(width).filter(|&n| n <= MAX_SURPLUS) else {
        return Solution::None;
    };
    // ways[s]: in how many ways (2 means more) the groups so far take their columns plus `s` surplus fields.
    let mut ways = vec![0_u8; surplus + 1];
    if let Some(first) = ways.first_mut() {
        *first = 1;
    }
    let mut history = Vec::with_capacity(groups.len());
    let mut column = 0;
    for group in groups {
        history.push(ways.clone());
        if let ColumnGroup::Free(_) = group {
            let mut total = 0_u8;
            for way in &mut ways {
                total = (total + *way).min(2);
                *way = total;
            }
        } else {
            for (s, way) in ways.iter_mut().enumerate().filter(|(_, way)| **way > 0) {
                if !fields.get(column + s).is_some_and(|text| group.accepts(text)) {
                    *way = 0;
                }
            }
        }
        column += group.columns();
    }
    match ways.last() {
        Some(1) => trace(fields, groups, &history, surplus).map_or(Solution::None, Solution::Cuts),
        Some(2..) => Solution::Several,
        _ => Solution::None,
    }
}

/// Walks the only way back and collects its delimiters.
fn trace(fields: &RowFields<'_, '_>, groups: &[ColumnGroup], history: &[Vec<u8>], surplus: usize) -> Option<Vec<u32>> {
    let mut cuts = Vec::new();
    let mut s = surplus;
    let mut column: usize = groups.iter().map(ColumnGroup::columns).sum();
    for (group, before) in groups.iter().zip(history).rev() {
        let columns = group.columns();
        let first = column - columns;
        let s_before = match group {
            ColumnGroup::One(_) | ColumnGroup::Stated(_) => s,
            ColumnGroup::Free(_) => before.iter().take(s + 1).position(|&way| way > 0)?,
        };
        // Within a group the last columns take one field each; which is which does not matter.
        for c in (first + 1..column).rev() {
            cuts.push(fields.cut_before(c + s)?);
        }
        if first > 0 {
            cuts.push(fields.cut_before(first + s_before)?);
        }
        s = s_before;
        column = first;
    }
    cuts.reverse();
    Some(cuts)
}

impl ColumnGroup {
    fn columns(&self) -> usize {
        match self {
            Self::One(_) | Self::Stated(_) => 1,
            Self::Free(columns) => *columns,
        }
    }

    /// Whether a field with this text can be in it.
    fn accepts(&self, text: &[u8]) -> bool {
        match self {
            Self::One(kind) => kind.accepts(text),
            Self::Stated(kind) => !text.is_empty() && kind.accepts(text),
            Self::Free(_) => true,
        }
    }
}

/// Whether the fields of a line can be the beginning of a row, up to and including column `until`, which is then field
/// number `Some(n)`; all columns before it are taken by their kind.
pub(super) fn prefix(fields: &RowFields<'_, '_>, kinds: &[SacctKind], until: usize) -> Option<usize> {
    let surplus = fields.len().checked_sub(until + 1)?.min(MAX_SURPLUS);
    let mut is_open = vec![false; surplus + 1];
    if let Some(first) = is_open.first_mut() {
        *first = true;
    }
    for (column, kind) in kinds.iter().enumerate().take(until + 1) {
        if kind.is_free() {
            let first = is_open.iter().position(|open| *open)?;
            is_open.iter_mut().skip(first).for_each(|open| *open = true);
        } else {
            for (s, open) in is_open.iter_mut().enumerate().filter(|(_, open)| **open) {
                *open = fields.get(column + s).is_some_and(|text| kind.accepts(text));
            }
        }
    }
    Some(until + is_open.iter().position(|open| *open)?)
}
