//! One piece of a dump: frames its rows, folds steps into their jobs, and gives every row its outcome.

use std::sync::Arc;

use super::assemble::{Assembled, RowExtent, assemble};
use super::clock::Clock;
use super::column::Role;
use super::delimiter_index::LineIndex;
use super::fields::{RowFields, RowLine, place, scan};
use super::job::{Read, SacctJob};
use super::job_id::{JobId, is_same};
use super::layout::ColumnLayout;
use super::open_job::{SacctOpen, Tail};
use super::projected_columns::ProjectedColumns;
use super::refusal::{Refusal, quoted};
use super::row::SacctRow;
use super::start::{self, RowStart};
use super::step::Steps;
use super::stretch::LineRange;
use crate::ledger::Reason;
use crate::numbers::{Extent, Part, count_u64};
use crate::record::Anomaly;
use crate::sources::buffer::BufferBlock;
use crate::sources::options::ReaderOptions;
use crate::sources::{Position, Sink};

/// Lines of one layout that begin with a job row, unless `is_continuation`.
pub(super) struct SacctPiece {
    /// The bytes.
    pub(super) text: BufferBlock,
    /// Their position in the file.
    pub(super) position: Position,
    /// Their layout.
    pub(super) layout: Arc<ColumnLayout>,
    /// The source.
    pub(super) options: Arc<ReaderOptions>,
    /// The job row its first steps belong to is in the piece before: the job's rows exceed the limit.
    pub(super) is_continuation: bool,
}

impl SacctPiece {
    /// Reads the piece.
    pub(super) fn read(&self, sink: &mut dyn Sink) {
        let projected = ProjectedColumns::new(&self.layout, sink.interest());
        let mut reader = SacctReader {
            text: &self.text,
            layout: &self.layout,
            projected: &projected,
            clock: Clock::new(self.options.zone.as_ref()),
            at: 0,
            position: self.position,
            open: SacctOpen::Nothing,
            job: Box::default(),
            next: Box::default(),
            tail: Tail::Closed,
            is_continuation: self.is_continuation,
            is_raw_first: projected
                .column(Role::JobIdRaw)
                .is_none_or(|raw| raw == self.layout.id_column),
            odd_cuts: Vec::new(),
            stretch: LineRange::default(),
        };
        let mut lines = LineIndex::new(&self.text, &self.layout);
        let has_nul = lines.has_nul();
        while reader.at < self.text.len() {
            let (line, cuts) = lines.at(reader.at);
            if has_nul && start::is_lost(&self.layout, self.text.part(line.start..line.end)) {
                reader.lost(line, cuts, sink);
            } else {
                reader.line(line, cuts, sink);
            }
        }
        reader.close(sink);
    }
}

struct SacctReader<'t> {
    text: &'t [u8],
    layout: &'t ColumnLayout,
    projected: &'t ProjectedColumns,
    clock: Clock<'t>,
    at: usize,
    /// Of `at`.
    position: Position,
    open: SacctOpen<'t>,
    /// The values of the row of the open job, if it is a job that started.
    job: Box<SacctJob<'t>>,
    /// The values of the current row.
    next: Box<SacctJob<'t>>,
    tail: Tail,
    is_continuation: bool,
    /// The first identifier of a row is the one that identifies steps.
    is_raw_first: bool,
    /// Delimiters of a row that is not one line with as many as there should be.
    odd_cuts: Vec<u32>,
    /// The lines around such a row.
    stretch: LineRange,
}

impl<'t> SacctReader<'t> {
    fn advance(&mut self, extent: RowExtent) {
        let moved = extent.next.less(self.at);
        self.position.byte_offset += count_u64(moved);
        self.position.line += extent.lines;
        self.at = extent.next;
    }

    fn raw(&self, end: usize) -> &'t [u8] {
        self.text.part(self.at..end)
    }

    /// Reads the row, or whatever it is, that begins at `at` with this line.
    fn line(&mut self, line: RowLine, cuts: &[u32], sink: &mut dyn Sink) {
        let layout = self.layout;
        let one = RowExtent {
            next: line.next,
            lines: 1,
        };
        let row = layout.exact(self.text, line, cuts).filter(|_| line.is_ended);
        let row = row.and_then(|fields| {
            let text = fields.get(layout.id_column)?;
            let id = JobId::of_job(text, self.open.base()).or_else(|| JobId::parse(text))?;
            Some((fields, id))
        });
        let Some((fields, id)) = row else {
            let mut own = std::mem::take(&mut self.odd_cuts);
            own.clear();
            own.extend_from_slice(cuts);
            self.odd(line, &mut own, sink);
            self.odd_cuts = own;
            return;
        };
        sink.rows_read(1);
        let mut row = SacctRow::with_id(layout, self.projected, fields, layout.id_column, id);
        if id.is_step && self.own_step(id.base, &mut row) {
            return self.advance(one);
        }
        match self.take(&mut row, one, sink) {
            Ok(()) => self.advance(one),
            Err(refusal) => {
                let mut own = cuts.to_vec();
                // The number of fields may be right by chance: the row may continue in the next line.
                if layout.has_free_text()
                    && let Some(kind) = start::of(layout, self.text, line, &own)
                    && let Assembled::Row { cuts, end, extent } =
                        assemble(layout, self.text, line, &mut own, kind, true)
                {
                    self.assembled(&cuts, end, extent, sink);
                } else {
                    self.refuse(refusal, &layout.fields(self.text, line, &own), one, sink);
                }
            }
        }
    }

    /// A line of which a part was lost, and lines before or behind it perhaps as well.
    fn lost(&mut self, line: RowLine, cuts: &[u32], sink: &mut dyn Sink) {
        let extent = RowExtent {
            next: line.next,
            lines: 1,
        };
        self.tail = Tail::Closed;
        match start::of(self.layout, self.text, line, cuts) {
            Some(RowStart::Job) => {
                if let Some(base) = self.base_before_nul(line, cuts) {
                    sink.rows_read(1);
                    self.open_refused(Refusal::lost_text(), base, extent, sink);
                    return self.advance(extent);
                }
                self.close(sink);
            }
            _ => {
                if let SacctOpen::Job { steps, .. } = &mut self.open {
                    steps.is_incomplete = true;
                }
            }
        }
        let Refusal { reason, detail } = Refusal::lost_text();
        self.reject(reason, &detail, extent, sink);
    }

    /// A line that is not a row by itself.
    fn odd(&mut self, line: RowLine, cuts: &mut Vec<u32>, sink: &mut dyn Sink) {
        let layout = self.layout;
        let content = self.text.part(line.start..line.end);
        let one = RowExtent {
            next: line.next,
            lines: 1,
        };
        if cuts.is_empty() && content.iter().all(u8::is_ascii_whitespace) {
            return self.advance(one);
        }
        if start::is_tool_message(content) {
            sink.rows_read(1);
            sink.tool_message(self.position, content);
            return self.advance(one);
        }
        if !line.is_ended {
            let detail = "the file ends within this row: the line has no end";
            self.reject(Reason::Truncated, detail, one, sink);
            return;
        }
        let kind = start::of(layout, self.text, line, cuts);
        let is_whole = kind.is_some_and(|kind| start::is_whole(layout, self.text, line, cuts, kind));
        if !is_whole && !self.stretch.covers(self.at) {
            self.stretch = LineRange::of(layout, self.text, self.at);
        }
        if let Some(found) = self.stretch.take(self.at) {
            sink.rows_read(1);
            return self.assembled(&found.cuts, found.end, found.extent, sink);
        }
        // Nothing reaches into a row that was found.
        let text = match self.text.get(..line.next) {
            Some(text) if is_whole => text,
            _ => self.stretch.before_next(self.text),
        };
        let Some(kind) = kind else {
            return self.stray(line, text, cuts, sink);
        };
        match assemble(layout, text, line, cuts, kind, false) {
            Assembled::Row { cuts, end, extent } => {
                sink.rows_read(1);
                self.assembled(&cuts, end, extent, sink);
            }
            Assembled::Refused { reason, detail, extent } => {
                self.tail = Tail::Closed;
                match self.leading_base(line, cuts) {
                    // The steps of a job row that cannot be read are refused with it.
                    Some(base) if kind == RowStart::Job && reason != Reason::Truncated => {
                        sink.rows_read(1);
                        self.open_refused(Refusal { reason, detail }, base, extent, sink);
                        self.advance(extent);
                    }
                    _ => {
                        // A row of another job ends the one before it, as the end of a piece does.
                        if kind == RowStart::Job {
                            self.close(sink);
                        }
                        self.reject(reason, &detail, extent, sink);
                    }
                }
            }
        }
    }

    /// A row put together from surplus fields or several lines; it has been counted.
    fn assembled(&mut self, cuts: &[u32], end: usize, extent: RowExtent, sink: &mut dyn Sink) {
        let fields = RowFields::new(self.text, self.at, end, cuts, self.layout.delimiter.len());
        let mut row = SacctRow::new(self.layout, self.projected, fields);
        row.note(Anomaly::Reassembled);
        match self.take(&mut row, extent, sink) {
            Ok(()) => self.advance(extent),
            Err(refusal) => self.refuse(refusal, &fields, extent, sink),
        }
    }

    /// A line that neither begins a row nor belongs to one that begins before it.
    /// `text` ends where the next row is known to begin.
    fn stray(&mut self, line: RowLine, text: &[u8], cuts: &mut Vec<u32>, sink: &mut dyn Sink) {
        let layout = self.layout;
        let mut extent = RowExtent {
            next: line.next,
            lines: 1,
        };
        if self.tail != Tail::Closed && cuts.len() < layout.delimiters() {
            self.continue_tail(line);
            return self.advance(extent);
        }
        let (reason, detail) = if let Some(fields) = layout.exact(self.text, line, cuts) {
            // Fallback: never taken, a row of all columns has that of its identifier.
            let value = fields.get(layout.id_column).unwrap_or_default();
            let role = match layout.column(Role::JobId) {
                Some(column) if column == layout.id_column => Role::JobId,
                _ => Role::JobIdRaw,
            };
            let why = "is not a job identifier";
            let refusal = Refusal::of(Reason::BadJobId, layout, role, value, why);
            (refusal.reason, refusal.detail)
        } else {
            let mut last = line;
            while cuts.len() < layout.delimiters() && last.next < text.len() {
                let before = cuts.len();
                let next = scan(text, last.next, &layout.delimiter, layout.is_crlf, cuts);
                let own = cuts.part(before..);
                let content = text.part(next.start..next.end);
                if !next.is_ended
                    || start::of(layout, text, next, own).is_some()
                    || start::is_no_row(layout, content)
                    || own.len() >= layout.delimiters()
                {
                    cuts.truncate(before);
                    break;
                }
                last = next;
                extent = RowExtent {
                    next: next.next,
                    lines: extent.lines + 1,
                };
            }
            let found = cuts.len() + usize::from(!layout.is_trailing);
            let begins = quoted(self.raw(line.end));
            let named = layout.width();
            let detail = format!("{begins} begins no row: {found} fields where the header names {named}");
            (Reason::FieldCount, detail)
        };
        self.tail = Tail::Closed;
        self.reject(reason, &detail, extent, sink);
    }

    /// Adds a line to the last column of the row before it.
    fn continue_tail(&mut self, line: RowLine) {
        match &mut self.open {
            SacctOpen::Job { .. } => {
                self.job.anomalies |= Anomaly::Reassembled.bit();
                let is_name_last = self.layout.column(Role::JobName).map(|c| c + 1) == Some(self.layout.width());
                let job = &mut self.job;
                if let Some((_, end)) = job.name.as_mut().filter(|_| is_name_last && self.tail == Tail::Job) {
                    *end = line.end;
                    job.is_name_longer = true;
                }
            }
            SacctOpen::Refused { end, .. } => *end = line.next,
            SacctOpen::NotStarted { .. } | SacctOpen::Nothing => {}
        }
    }

    /// Gives a counted row to its job, or makes it the open job.
    fn take(&mut self, row: &mut SacctRow<'t, '_>, extent: RowExtent, sink: &mut dyn Sink) -> Result<(), Refusal> {
        let (base, is_step) = row.base()?;
        self.tail = Tail::Closed;
        if is_step {
            self.step(row, base, extent)?;
        } else {
            let at = self.position;
            let read = self.next.read(row, &mut self.clock)?;
            self.close(sink);
            std::mem::swap(&mut self.job, &mut self.next);
            self.open = match read {
                Read::Started => SacctOpen::Job {
                    base,
                    steps: Steps::default(),
                    at,
                },
                Read::NotStarted => SacctOpen::NotStarted { base, rows: 1 },
            };
            self.is_continuation = false;
        }
        self.tail = self.tail_of(if is_step { Tail::Step } else { Tail::Job });
        Ok(())
    }

    /// The text that may follow a row.
    fn tail_of(&self, row: Tail) -> Tail {
        if self.layout.is_tail_open { row } else { Tail::Closed }
    }

    /// Folds a step into the open job where a quick check shows that it belongs to it, as for most rows; false where it
    /// is to be looked at.
    #[inline]
    fn own_step(&mut self, base: &'t [u8], row: &mut SacctRow<'t, '_>) -> bool {
        let SacctOpen::Job { base: own, steps, .. } = &mut self.open else {
            return false;
        };
        // What is read of the row is only added to the steps once all of it could be read.
        let is_own = self.is_raw_first && std::ptr::eq(*own, base) && steps.add(row).is_ok();
        if is_own {
            self.job.anomalies |= row.anomalies;
            self.tail = self.tail_of(Tail::Step);
        }
        is_own
    }

    fn step(&mut self, row: &mut SacctRow<'t, '_>, base: &'t [u8], extent: RowExtent) -> Result<(), Refusal> {
        match &mut self.open {
            SacctOpen::Job { base: own, steps, .. } if is_same(own, base) => {
                steps.add(row)?;
                self.job.anomalies |= row.anomalies;
                Ok(())
            }
            SacctOpen::Refused {
                base: own, rows, end, ..
            } if is_same(own, base) => {
                *rows += 1;
                *end = extent.next;
                Ok(())
            }
            SacctOpen::NotStarted { base: own, rows } if is_same(own, base) => {
                *rows += 1;
                Ok(())
            }
            SacctOpen::Nothing if self.is_continuation => Err(Refusal {
                reason: Reason::TooLong,
                detail: "the step rows of this job exceed the limit for one job".to_owned(),
            }),
            _ => Err(Refusal {
                reason: Reason::StepWithoutJob,
                detail: format!("no row of job {} precedes this step", quoted(base)),
            }),
        }
    }

    /// Refuses a counted row: a job row with the steps that follow, a step row alone.
    fn refuse(&mut self, refusal: Refusal, fields: &RowFields<'t, '_>, extent: RowExtent, sink: &mut dyn Sink) {
        self.tail = Tail::Closed;
        let row = SacctRow::new(self.layout, self.projected, *fields);
        match row.base() {
            Ok((base, false)) => {
                self.open_refused(refusal, base, extent, sink);
                self.tail = self.tail_of(Tail::Job);
            }
            refused => {
                if let (SacctOpen::Job { base: own, steps, .. }, Ok((base, _))) = (&mut self.open, refused)
                    && *own == base
                {
                    steps.is_incomplete = true;
                }
                sink.reject(refusal.reason, self.position, 1, &refusal.detail, self.raw(extent.next));
            }
        }
        self.advance(extent);
    }

    /// Keeps a refused job row open for its steps.
    fn open_refused(&mut self, refusal: Refusal, base: &'t [u8], extent: RowExtent, sink: &mut dyn Sink) {
        self.close(sink);
        self.is_continuation = false;
        self.open = SacctOpen::Refused {
            refusal,
            base,
            rows: 1,
            at: self.position,
            start: self.at,
            end: extent.next,
        };
    }

    /// The job number of a line whose first columns can be read though the rest cannot.
    fn leading_base(&self, line: RowLine, cuts: &[u32]) -> Option<&'t [u8]> {
        let layout = self.layout;
        let column = layout.column(Role::JobIdRaw).or(layout.column(Role::JobId))?;
        if layout.is_id_behind_free_text || column > layout.prefix_end {
            return None;
        }
        let fields = RowFields::new(self.text, line.start, line.end, cuts, layout.delimiter.len());
        fields.get(column).and_then(JobId::parse).map(|id| id.base)
    }

    /// The same of a line with NUL bytes, where all of the number is before them.
    fn base_before_nul(&self, line: RowLine, cuts: &[u32]) -> Option<&'t [u8]> {
        let nul = line.start + memchr::memchr(0, self.text.get(line.start..line.end)?)?;
        let closed_n = cuts.partition_point(|cut| place(*cut) < nul);
        let (end, cuts) = cuts.get(..closed_n)?.split_last()?;
        let closed = RowLine {
            end: place(*end),
            ..line
        };
        self.leading_base(closed, cuts)
    }

    /// Counts and rejects a line that is not a row.
    fn reject(&mut self, reason: Reason, detail: &str, extent: RowExtent, sink: &mut dyn Sink) {
        sink.rows_read(1);
        sink.reject(reason, self.position, 1, detail, self.raw(extent.next));
        self.advance(extent);
    }

    /// Hands over the open job.
    fn close(&mut self, sink: &mut dyn Sink) {
        match std::mem::replace(&mut self.open, SacctOpen::Nothing) {
            SacctOpen::Nothing => {}
            SacctOpen::Job { steps, at, .. } => self.job.emit(self.text, at, &steps, sink),
            SacctOpen::Refused {
                refusal,
                rows,
                at,
                start,
                end,
                ..
            } => {
                let raw = self.text.part(start..end);
                sink.reject(refusal.reason, at, rows, &refusal.detail, raw);
            }
            SacctOpen::NotStarted { rows, .. } => sink.out_of_scope(Reason::NotStarted, rows),
        }
    }
}
