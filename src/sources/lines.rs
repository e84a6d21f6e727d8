//! Logs of lines cut into pieces of whole records. A record is a line, or a line and its continuation lines.

use std::borrow::Cow;
use std::io::Read;
use std::sync::Arc;

use memchr::{memchr, memchr_iter, memrchr_iter};

use super::buffer::BufferBlock;
use super::byte_text::text_of;
use super::dialect::ReadSizes;
use super::input_stream::InputStream;
use super::refusal::{Refusal, holds_nul, without_nul};
use super::steps::{ReadStep, ReadSteps};
use super::{Pieces, Position, Sink, Work};
use crate::byte_order_mark::without_mark;
use crate::error::{Error, Result};
use crate::ledger::Reason;
use crate::numbers::{Extent, Part, count_u64};
use crate::record::Anomaly;

/// Sizes in bytes.
#[derive(Clone, Copy, Debug)]
pub struct LogLimits {
    /// How much is read at a time; a piece is about as large.
    pub block: usize,
    /// Longest record.
    pub record: usize,
    /// How much of a record that is too long is kept as raw text; at most `record`.
    pub kept: usize,
}

impl Default for LogLimits {
    fn default() -> Self {
        Self {
            block: 2 << 20,
            record: 4 << 20,
            kept: 64 << 10,
        }
    }
}

impl LogLimits {
    /// The default with other sizes.
    #[must_use]
    pub(in crate::sources) fn of(sizes: ReadSizes) -> Self {
        let own = Self::default();
        let record = sizes.record_byte.unwrap_or(own.record);
        Self {
            block: sizes.block_byte.unwrap_or(own.block),
            record,
            kept: own.kept.min(record),
        }
    }
}

/// The first bytes of a line that are enough for [`Grammar::begins`].
const LOOKAHEAD: usize = 64;

/// Why a record that can be read is refused all the same where the file ends behind it without a line end.
pub(super) const LAST_VALUE_CUT_OFF: &str = "the file ends without a line end, so the last value may be cut short";

/// One record as a grammar gets to see it.
pub(super) struct LogRecord<'a> {
    /// Its text without the line end; bytes that are not UTF-8 are written as escapes.
    pub(super) text: Cow<'a, str>,
    /// Where it begins.
    pub(super) at: Position,
    /// The file ends behind it without a line end: its last value may be cut short.
    pub(super) is_cut_off: bool,
}

impl LogRecord<'_> {
    /// The anomalies of the record as written: bits of [`Anomaly`].
    pub(super) fn anomalies(&self) -> u32 {
        match self.text {
            Cow::Owned(_) => Anomaly::InvalidText.bit(),
            Cow::Borrowed(_) => 0,
        }
    }

    /// Refuses a record that is cut off, unless it is certain that every value looked at is whole.
    pub(super) fn whole(&self, is_certain: bool) -> Result<(), Refusal> {
        if self.is_cut_off && !is_certain {
            return Err(Refusal::new(Reason::Truncated, LAST_VALUE_CUT_OFF));
        }
        Ok(())
    }
}

/// The format of a log, record by record.
pub(super) trait Grammar: Send + Sync + 'static {
    /// Whether records may continue over several lines. Only then are `begins` and `continues` called.
    const IS_MULTILINE: bool = false;

    /// Whether a line that begins with these (up to 64) bytes begins a record.
    fn begins(&self, line: &[u8]) -> bool {
        let _ = line;
        true
    }

    /// Whether a record has further lines after these.
    fn continues(&self, record: &[u8]) -> bool {
        let _ = record;
        false
    }

    /// Whether a line, not blank, is a row of data: comments and headers are none.
    fn is_row(&self, line: &[u8]) -> bool {
        let _ = line;
        true
    }

    /// Gives one record, already counted, its outcome: the refusal if it is returned, else the rows sent to the sink.
    fn record(&self, record: &LogRecord<'_>, sink: &mut dyn Sink) -> Result<(), Refusal>;
}

/// Puts records together that belong to one row, although other records, and ends of pieces, are between them.
pub(super) trait Fold: Send {
    /// Whether it keeps a record, which is no row of its piece then. It is shown all of them, in the order of the file.
    fn keeps(&mut self, record: &RawRecord<'_>) -> bool;

    /// What of all it kept is complete now, to be read on any thread; where no more records come, all that is left.
    fn complete(&mut self, is_ended: bool) -> Option<Work>;
}

/// The pieces of `input`, which begins at `at`.
pub(super) fn pieces<G: Grammar>(
    input: Box<dyn Read + Send>,
    grammar: Arc<G>,
    limits: LogLimits,
    at: Position,
) -> Pieces {
    Box::new(ReadSteps::new(LogLines::new(input, grammar, limits, at)))
}

/// As [`pieces`], with records that are put together; a file begins with the input.
pub(super) fn folded_pieces<G: Grammar>(
    input: Box<dyn Read + Send>,
    grammar: Arc<G>,
    limits: LogLimits,
    fold: Box<dyn Fold>,
) -> Pieces {
    let mut lines = LogLines::new(input, grammar, limits, Position::start());
    lines.fold = Some(fold);
    Box::new(ReadSteps::new(lines))
}

struct LogLines<G> {
    feed: InputStream,
    grammar: Arc<G>,
    limits: LogLimits,
    fold: Option<Box<dyn Fold>>,
    /// Inside a line that is too long and already counted.
    is_skipping: bool,
    is_done: bool,
    /// Why the input ended, once what was kept of it is given out.
    failure: Option<Error>,
}

impl<G: Grammar> LogLines<G> {
    fn new(input: Box<dyn Read + Send>, grammar: Arc<G>, limits: LogLimits, at: Position) -> Self {
        Self {
            feed: InputStream::new(input, at),
            grammar,
            limits,
            fold: None,
            is_skipping: false,
            is_done: false,
            failure: None,
        }
    }

    /// The beginning of the last record of the buffer, which may be incomplete.
    fn cut(&self) -> Option<usize> {
        if !G::IS_MULTILINE {
            return memchr::memrchr(b'\n', &self.feed).map(|end| end + 1);
        }
        memrchr_iter(b'\n', &self.feed).map(|end| end + 1).find(|&start| {
            let line = self.feed.part(start..);
            line.len() >= LOOKAHEAD && self.grammar.begins(head(line))
        })
    }

    fn work(&mut self, n: usize, is_last: bool) -> Work {
        let (bytes, from) = self.feed.take(n);
        let mut piece = LogPiece {
            bytes,
            from,
            limits: self.limits,
            is_last,
            kept: Vec::new(),
        };
        let grammar = Arc::clone(&self.grammar);
        let Some(fold) = &mut self.fold else {
            return Box::new(move |sink: &mut dyn Sink| piece.read(&*grammar, sink));
        };
        let has_nul = holds_nul(&piece.bytes);
        let is_whole =
            |record: &RawRecord<'_>| record.bytes.len() <= piece.limits.record && !(has_nul && holds_nul(record.bytes));
        let is_kept = |record: &RawRecord<'_>| is_whole(record) && fold.keeps(record);
        let kept = piece.records(&*grammar).filter(is_kept);
        piece.kept = kept.map(|record| record.at.byte_offset).collect();
        let complete = fold.complete(is_last);
        Box::new(move |sink: &mut dyn Sink| {
            piece.read(&*grammar, sink);
            if let Some(complete) = complete {
                complete(sink);
            }
        })
    }

    fn next_work(&mut self) -> Result<Option<Work>> {
        let block = self.limits.block.max(1);
        // A piece that ends in a long record is only cut where that is known not to be too long.
        let longest = self.limits.record.further(LOOKAHEAD);
        let mut want = block;
        loop {
            self.feed.fill(want)?;
            if self.is_skipping {
                let end = memchr(b'\n', &self.feed);
                self.feed.take(end.map_or(self.feed.len(), |end| end + 1));
                self.is_skipping = end.is_none();
                if self.feed.is_ended() && self.feed.is_empty() {
                    return Ok(None);
                }
                want = self.feed.len() + if self.is_skipping { block } else { 0 };
                continue;
            }
            if self.feed.is_ended() {
                self.is_done = true;
                return Ok(Some(self.work(self.feed.len(), true)));
            }
            if let Some(cut) = self.cut() {
                return Ok(Some(self.work(cut, false)));
            }
            let line = memchr(b'\n', &self.feed).map_or(self.feed.len(), |end| end + 1);
            if line > longest {
                self.is_skipping = line == self.feed.len();
                let (at, limits) = (self.feed.at(), self.limits);
                let text = behind_mark(&self.feed, at);
                let raw = text.get(..limits.kept).unwrap_or(text).to_vec();
                let refusal = too_long(&raw, limits);
                if !self.is_skipping {
                    self.feed.take(line);
                }
                return Ok(Some(Box::new(move |sink: &mut dyn Sink| {
                    sink.rows_read(1);
                    sink.reject(refusal.reason, at, 1, &refusal.detail, &raw);
                })));
            }
            if self.feed.len() > longest.times(2) {
                // Lines that begin nothing, more of them than a record may have: each is a row of its own. Of the last
                // few bytes it is not known yet whether one of them begins a record.
                let known = self.feed.part(..self.feed.len() - LOOKAHEAD);
                let end = memchr::memrchr(b'\n', known).map_or(line, |end| end + 1);
                return Ok(Some(self.work(end, false)));
            }
            want = self.feed.len() + block;
        }
    }
}

impl<G: Grammar> ReadStep for LogLines<G> {
    fn step(&mut self) -> Result<Option<Work>> {
        if self.is_done {
            return self.failure.take().map_or(Ok(None), Err);
        }
        let next = self.next_work();
        if self.is_done || matches!(next, Ok(Some(_))) {
            return next;
        }
        // It ends within a line that is too long, or cannot be read on: what was kept before is not lost.
        self.is_done = true;
        match self.fold.as_mut().and_then(|fold| fold.complete(true)) {
            Some(left) => {
                self.failure = next.err();
                Ok(Some(left))
            }
            None => next,
        }
    }
}

/// One record as it is in the file, without the line end.
#[derive(Clone, Copy)]
pub(super) struct RawRecord<'a> {
    /// Its bytes.
    pub(super) bytes: &'a [u8],
    /// Where it begins.
    pub(super) at: Position,
    /// As that of [`LogRecord`].
    pub(super) is_cut_off: bool,
}

impl<'a> RawRecord<'a> {
    /// The record as text.
    pub(super) fn log_record(&self) -> LogRecord<'a> {
        LogRecord {
            text: text_of(self.bytes),
            at: self.at,
            is_cut_off: self.is_cut_off,
        }
    }

    /// Gives it, already counted, the outcome of a refusal.
    pub(super) fn refuse(&self, refusal: &Refusal, sink: &mut dyn Sink) {
        if self.is_cut_off && refusal.reason != Reason::Truncated {
            let detail = format!("the file ends inside this record: {}", refusal.detail);
            sink.reject(Reason::Truncated, self.at, 1, &detail, self.bytes);
        } else {
            sink.reject(refusal.reason, self.at, 1, &refusal.detail, self.bytes);
        }
    }
}

/// Whole records that follow each other.
struct LogPiece {
    bytes: BufferBlock,
    from: Position,
    limits: LogLimits,
    /// The file ends with it.
    is_last: bool,
    /// Where records begin that were kept to be put together with others, ascending.
    kept: Vec<u64>,
}

impl LogPiece {
    fn records<'a, G: Grammar>(&'a self, grammar: &'a G) -> PieceRecords<'a, G> {
        PieceRecords {
            grammar,
            rest: &self.bytes,
            at: self.from,
            limits: self.limits,
            is_last: self.is_last,
        }
    }

    fn read<G: Grammar>(&self, grammar: &G, sink: &mut dyn Sink) {
        let has_nul = holds_nul(&self.bytes);
        let mut kept = self.kept.iter().copied().peekable();
        for record in self.records(grammar) {
            if kept.next_if_eq(&record.at.byte_offset).is_some() {
                continue;
            }
            let bytes = record.bytes;
            if bytes.len() > self.limits.record {
                sink.rows_read(1);
                let raw = bytes.get(..self.limits.kept).unwrap_or(bytes);
                let refusal = too_long(raw, self.limits);
                sink.reject(refusal.reason, record.at, 1, &refusal.detail, raw);
                continue;
            }
            let is_whole = if has_nul { without_nul(bytes) } else { Ok(()) };
            if is_whole.is_ok() && (bytes.trim_ascii().is_empty() || !grammar.is_row(bytes)) {
                continue;
            }
            sink.rows_read(1);
            if let Err(refusal) = is_whole.and_then(|()| grammar.record(&record.log_record(), sink)) {
                record.refuse(&refusal, sink);
            }
        }
    }
}

/// The records of a piece, blank ones and comments among them.
struct PieceRecords<'a, G> {
    grammar: &'a G,
    rest: &'a [u8],
    at: Position,
    limits: LogLimits,
    is_last: bool,
}

impl<'a, G: Grammar> Iterator for PieceRecords<'a, G> {
    type Item = RawRecord<'a>;

    fn next(&mut self) -> Option<RawRecord<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let mut end = line_end(self.rest, 0);
        if G::IS_MULTILINE && self.grammar.begins(head(self.rest)) {
            while end < self.rest.len() {
                let (so_far, more) = self.rest.split_at(end);
                let next = line_end(self.rest, end);
                if next > self.limits.record || self.grammar.begins(head(more)) || !self.grammar.continues(so_far) {
                    break;
                }
                end = next;
            }
        }
        let (record, after) = self.rest.split_at(end);
        let is_cut_off = self.is_last && after.is_empty() && !record.ends_with(b"\n");
        let at = self.at;
        self.at = at.after(record);
        self.rest = after;
        let record = record.strip_suffix(b"\n").unwrap_or(record);
        let record = record.strip_suffix(b"\r").unwrap_or(record);
        Some(RawRecord {
            bytes: behind_mark(record, at),
            at,
            is_cut_off,
        })
    }
}

/// The text of a line that begins at `at`: a file may begin with a byte order mark.
fn behind_mark(line: &[u8], at: Position) -> &[u8] {
    if at.byte_offset == 0 { without_mark(line) } else { line }
}

fn head(line: &[u8]) -> &[u8] {
    line.get(..LOOKAHEAD).unwrap_or(line)
}

/// The end, line end included, of the line that begins at `from`.
fn line_end(bytes: &[u8], from: usize) -> usize {
    let line = bytes.part(from..);
    memchr(b'\n', line).map_or(bytes.len(), |end| from + end + 1)
}

/// Why a record is refused for its length of which these bytes are kept: where it is cut into blocks, no more of it is known.
fn too_long(kept: &[u8], limits: LogLimits) -> Refusal {
    let detail = format!("the record is longer than {} bytes", limits.record);
    Refusal::new(Reason::TooLong, detail).or_lost_text(kept)
}

impl Position {
    /// The start of a file whose first `skipped` bytes (a byte order mark, header lines) were taken off.
    pub(super) fn start() -> Self {
        Self {
            line: 1,
            byte_offset: 0,
        }
    }

    /// The position behind `bytes`, which begin here.
    pub(super) fn after(self, bytes: &[u8]) -> Self {
        Self {
            line: self.line + to_u64(memchr_iter(b'\n', bytes).count()),
            byte_offset: self.byte_offset + to_u64(bytes.len()),
        }
    }
}

fn to_u64(n: usize) -> u64 {
    count_u64(n)
}
