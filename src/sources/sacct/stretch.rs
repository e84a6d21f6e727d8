//! A stretch of lines between two whole rows: which of them make up a row together?
//!
//! What follows a line break in a name may look like the beginning of a row, so neighbours cannot be distinguished line by
//! line. Of all ways to share out the lines of a stretch, the one counts that leaves the fewest lines without a row. A
//! line that may begin a row only becomes the middle of another one where the lines add up to exactly the columns, or
//! where it begins none; when two ways leave as many lines, it begins a row: rows are never merged on a guess.

use super::assemble::{MAX_ATTEMPTS, RowExtent, share_out};
use super::fields::{RowLine, scan};
use super::layout::ColumnLayout;
use super::solve::Solution;
use super::start::{self, RowStart};
use crate::numbers::{Extent, Part, count_u64};

/// Lines looked at together.
const MAX_LINES: usize = 10_000;

/// What the lines were found to be.
#[derive(Debug, Default)]
pub(super) struct LineRange {
    /// Rows of several lines or of surplus fields, the last one first.
    rows: Vec<RowFound>,
    /// Behind the last line.
    end: usize,
    /// The file ends within the line behind it.
    is_cut_off: bool,
}

/// A row.
#[derive(Debug)]
pub(super) struct RowFound {
    start: usize,
    kind: RowStart,
    /// The delimiters that separate columns.
    pub(super) cuts: Vec<u32>,
    /// Behind the last byte of the last field.
    pub(super) end: usize,
    /// Behind the row.
    pub(super) extent: RowExtent,
}

/// A line with where its delimiters begin among all.
struct RangePart {
    line: RowLine,
    cuts_from: usize,
    kind: Option<RowStart>,
    /// How many lines may begin a row, up to this one.
    start_n: usize,
    is_blank: bool,
}

/// The best way to share out the lines from one on.
struct Best {
    /// Lines without a row.
    left_n: usize,
    /// The row it begins with, and its last line.
    row: Option<(usize, RowFound)>,
    /// The first line, of these, that may begin a row and does.
    next_row: usize,
}

impl LineRange {
    /// The stretch of `text` that begins at `start`.
    pub(super) fn of(layout: &ColumnLayout, text: &[u8], start: usize) -> Self {
        let mut parts = Vec::new();
        let mut cuts = Vec::new();
        let mut start_n = 0;
        let mut is_cut_off = false;
        let mut at = start;
        while at < text.len() && parts.len() < MAX_LINES {
            let before = cuts.len();
            let line = scan(text, at, &layout.delimiter, layout.is_crlf, &mut cuts);
            let own = cuts.part(before..);
            let content = text.part(line.start..line.end);
            let kind = start::of(layout, text, line, own);
            let is_whole = kind.is_some_and(|kind| start::is_whole(layout, text, line, own, kind))
                || start::holds_id(layout, text, line, own);
            if is_whole || !line.is_ended || start::is_no_row(layout, content) {
                cuts.truncate(before);
                is_cut_off = !line.is_ended;
                break;
            }
            start_n += usize::from(kind.is_some());
            parts.push(RangePart {
                line,
                cuts_from: before,
                kind,
                start_n,
                is_blank: content.iter().all(u8::is_ascii_whitespace),
            });
            at = line.next;
        }
        let is_cut_short = parts.len() == MAX_LINES;
        let rows = RangeLines {
            layout,
            text,
            parts: &parts,
            cuts: &cuts,
        }
        .shared_out();
        let mut stretch = Self {
            rows,
            end: at,
            is_cut_off,
        };
        if is_cut_short && stretch.rows.len() > 1 {
            stretch.drop_last();
        }
        stretch
    }

    /// Forgets the last row: what comes behind it is not known yet.
    fn drop_last(&mut self) {
        if let Some(last) = (!self.rows.is_empty()).then(|| self.rows.remove(0)) {
            self.end = last.start;
        }
    }

    /// Whether the line at `at` was looked at.
    pub(super) fn covers(&self, at: usize) -> bool {
        at < self.end
    }

    /// The row that begins at `at`.
    pub(super) fn take(&mut self, at: usize) -> Option<RowFound> {
        while self.rows.last().is_some_and(|row| row.start < at) {
            self.rows.pop();
        }
        self.rows.pop_if(|row| row.start == at)
    }

    /// The text up to where the next row begins, or the stretch ends.
    pub(super) fn before_next<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let until = match self.rows.last() {
            Some(row) => row.start,
            None if self.is_cut_off => text.len(),
            None => self.end,
        };
        text.get(..until).unwrap_or(text)
    }

    /// The beginning of its last job row that is followed by others.
    pub(super) fn last_job(mut self) -> Option<usize> {
        self.drop_last();
        self.rows
            .iter()
            .find(|row| row.kind == RowStart::Job)
            .map(|row| row.start)
    }
}

/// The lines of a stretch, none of which is a whole row.
struct RangeLines<'a> {
    layout: &'a ColumnLayout,
    text: &'a [u8],
    parts: &'a [RangePart],
    /// Delimiters of all of them.
    cuts: &'a [u32],
}

impl RangeLines<'_> {
    /// The rows, the last one first.
    fn shared_out(&self) -> Vec<RowFound> {
        let n = self.parts.len();
        // From the last line to the first: what is best from a line on depends only on what follows it.
        let mut bests: Vec<Best> = Vec::with_capacity(n + 1);
        bests.push(Best {
            left_n: 0,
            row: None,
            next_row: n,
        });
        for first in (0..n).rev() {
            let best = self.best_from(first, &bests);
            bests.push(best);
        }
        let mut rows = Vec::new();
        let mut at = 0;
        while at < n {
            // Line `at` is `at` entries before the end of the list.
            let Some(best) = bests.get_mut(n - at) else { break };
            match best.row.take() {
                Some((last, row)) => {
                    rows.push(row);
                    at = last + 1;
                }
                None => at += 1,
            }
        }
        rows.reverse();
        rows
    }

    /// `bests` are those of the lines behind `first`, the last one first.
    fn best_from(&self, first: usize, bests: &[Best]) -> Best {
        let from = |line: usize| bests.get(self.parts.len() - line);
        let left_from = |line: usize| from(line).map_or(usize::MAX, |best| best.left_n);
        let begin = self.parts.get(first);
        let is_blank = begin.is_none_or(|part| part.is_blank);
        let next_row = from(first + 1).map_or(usize::MAX, |best| best.next_row);
        let mut best = Best {
            left_n: left_from(first + 1).further(usize::from(!is_blank)),
            row: None,
            next_row,
        };
        if let Some((last, is_across, row)) = self.row_from(first, next_row) {
            if begin.is_some_and(|part| part.kind.is_some()) {
                best.next_row = first;
            }
            let left_n = left_from(last + 1);
            if left_n < best.left_n || left_n == best.left_n && !is_across {
                best.left_n = left_n;
                best.row = Some((last, row));
            }
        }
        best
    }

    /// The shortest row that begins with line `first`: its last line, whether a line within may begin a row, and the
    /// row. The line `next_row` is the next that begins one.
    fn row_from(&self, first: usize, next_row: usize) -> Option<(usize, bool, RowFound)> {
        let behind = self.parts.get(first..)?;
        let begin = behind.first().filter(|part| !part.is_blank)?;
        let wanted = self.layout.delimiters();
        if self.cuts.len() - begin.cuts_from < wanted {
            return None;
        }
        // The first line with which there are enough delimiters.
        let enough = behind.partition_point(|part| part.cuts_from - begin.cuts_from < wanted);
        let enough = first + enough.less(1);
        for (last, part) in self.parts.iter().enumerate().skip(enough).take(MAX_ATTEMPTS) {
            if last > enough && part.kind.is_some() {
                break;
            }
            let until = self.parts.get(last + 1).map_or(self.cuts.len(), |next| next.cuts_from);
            let cuts = self.cuts.part(begin.cuts_from..until);
            if cuts.len() > wanted && (next_row <= last || begin.kind.is_none()) {
                break;
            }
            // Across what may begin a row, every column must have a text of its type.
            let is_across = part.start_n > begin.start_n;
            let kind = begin.kind.filter(|_| !is_across).unwrap_or(RowStart::Unsure);
            let (start, end) = (begin.line.start, part.line.end);
            let (solution, end) = share_out(self.layout, self.text, start, end, cuts, kind);
            if let Solution::Cuts(cuts) = solution {
                let row = RowFound {
                    start: begin.line.start,
                    kind: begin.kind.unwrap_or(RowStart::Unsure),
                    cuts,
                    end,
                    extent: RowExtent {
                        next: part.line.next,
                        lines: count_u64(last + 1 - first),
                    },
                };
                return Some((last, is_across, row));
            }
        }
        None
    }
}
