//! Surplus fields: which columns do they belong to?
//!
//! The delimiter is never escaped, so a job name `a|b` makes one field too many. The columns around it have types: the
//! surplus goes to the free texts in the one way that leaves every other column with a text of its type. If there is
//! no such way, or more than one, the row is refused.

use super::column::SacctKind;
use super::fields::RowFields;

/// Consecutive columns that are separated from their neighbours together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnGroup {
    /// One column with exactly one field.
    One(SacctKind),
    /// Columns of free text, and columns between them that nothing is read from: as many fields, or more.
    Free(usize),
}

/// Groups the columns. Unused columns between two unused free texts are not separated, because no answer depends on
/// it. With `keys_by_form`, a workload key must look like a default key and has one field.
pub(super) fn groups(kinds: &[SacctKind], is_used: &[bool], keys_by_form: bool) -> Vec<ColumnGroup> {
    let free = |i: usize| match kinds.get(i) {
        Some(SacctKind::Key) => !keys_by_form,
        Some(kind) => kind.is_free(),
        None => false,
    };
    let used = |i: usize| is_used.get(i).copied().unwrap_or(true);
    let mut groups = Vec::with_capacity(kinds.len());
    let mut i = 0;
    while let Some(&kind) = kinds.get(i) {
        if !free(i) {
            groups.push(ColumnGroup::One(kind));
            i += 1;
        } else if used(i) {
            groups.push(ColumnGroup::Free(1));
            i += 1;
        } else {
            // A key taken by its form is an anchor: nothing may be merged across it.
            let is_anchor = |c: usize| used(c) || keys_by_form && kinds.get(c) == Some(&SacctKind::Key);
            let run_end = (i..kinds.len()).find(|&c| is_anchor(c)).unwrap_or(kinds.len());
            let last_free = (i..run_end).rev().find(|&c| free(c)).unwrap_or(i);
            groups.push(ColumnGroup::Free(last_free - i + 1));
            i = last_free + 1;
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
        match group {
            ColumnGroup::One(kind) => {
                for (s, way) in ways.iter_mut().enumerate().filter(|(_, way)| **way > 0) {
                    if !fields.get(column + s).is_some_and(|text| kind.accepts(text)) {
                        *way = 0;
                    }
                }
            }
            ColumnGroup::Free(_) => {
                let mut total = 0_u8;
                for way in &mut ways {
                    total = (total + *way).min(2);
                    *way = total;
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
            ColumnGroup::One(_) => s,
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
            Self::One(_) => 1,
            Self::Free(columns) => *columns,
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
