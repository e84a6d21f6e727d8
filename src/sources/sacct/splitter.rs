//! Cuts a dump into pieces at job rows and header lines, so that steps stay with their job.

use std::io::Read;
use std::sync::Arc;

use memchr::memmem::Finder;

use super::delimiter_index::BlockStats;
use super::fields::scan;
use super::fixed::{self, FixedOrder};
use super::layout::{self, ColumnLayout, Header};
use super::piece::SacctPiece;
use super::recent_layout::layout_of;
use super::refusal::Refusal;
use super::start::{self, RowStart};
use super::stretch::LineRange;
use super::zone_check;
use crate::byte_order_mark::{BYTE_ORDER_MARK, without_mark};
use crate::error::{Error, Kind, Result};
use crate::ledger::Reason;
use crate::numbers::{Extent, Part, count_u64};
use crate::sources::buffer::{Buffer, BufferBlock};
use crate::sources::options::ReaderOptions;
use crate::sources::steps::ReadStep;
use crate::sources::{Position, Sink, Work};

/// So many bytes without a row of one line are put together to see where a row begins.
const STRETCH_BYTE: usize = 1 << 20;

/// A line end may be this far behind the first byte of a header or of a preamble.
const MAX_HEADER_BYTE: usize = 64 * 1024;

/// The pieces of one dump, in order.
pub(super) struct SacctSplitter {
    input: Box<dyn Read + Send>,
    options: Arc<ReaderOptions>,
    block_byte: usize,
    limit_byte: usize,
    /// Read and not yet given out.
    text: Buffer,
    /// Of the first byte of `text`.
    position: Position,
    is_at_end: bool,
    /// `None` before the first header.
    layout: Option<Arc<ColumnLayout>>,
    /// No row of this layout has shown yet what its times look like.
    is_zone_unchecked: bool,
    /// The next piece begins with steps of the piece before.
    is_continuation: bool,
    finders: Vec<Finder<'static>>,
}

impl SacctSplitter {
    /// Pieces of about `block_byte`; no row may be longer than `limit_byte`, nor all rows of one job together.
    pub(super) fn new(
        input: Box<dyn Read + Send>,
        options: Arc<ReaderOptions>,
        block_byte: usize,
        limit_byte: usize,
    ) -> Self {
        Self {
            input,
            options,
            block_byte: block_byte.clamp(1, limit_byte.max(1)),
            limit_byte: limit_byte.max(1),
            text: Buffer::default(),
            position: Position {
                line: 1,
                byte_offset: 0,
            },
            is_at_end: false,
            layout: None,
            is_zone_unchecked: true,
            is_continuation: false,
            finders: ["JobID", "jobid", "JOBID", "JobId"]
                .into_iter()
                .map(|name| Finder::new(name.as_bytes()).into_owned())
                .collect(),
        }
    }

    /// Reads until `text` has `want` bytes or the input ends.
    fn fill(&mut self, want: usize) -> Result<()> {
        let missing = want.less(self.text.len());
        if missing == 0 || self.is_at_end {
            return Ok(());
        }
        self.is_at_end = !self.text.fill(&mut self.input, want)?;
        Ok(())
    }

    /// Takes the first `n` bytes off.
    fn cut(&mut self, n: usize) -> (BufferBlock, Position) {
        let feed_n = feed_n(self.text.get(..n).unwrap_or(&self.text));
        self.take(SacctHead { byte_n: n, feed_n })
    }

    fn take(&mut self, head: SacctHead) -> (BufferBlock, Position) {
        let text = self.text.take(head.byte_n);
        let position = self.position;
        self.position.byte_offset += count_u64(text.len());
        self.position.line += count_u64(head.feed_n);
        (text, position)
    }

    fn next_work(&mut self) -> Result<Option<Work>> {
        loop {
            let Some(layout) = self.layout.clone() else {
                match self.preamble()? {
                    Preamble::Again => continue,
                    Preamble::Message(work) => return Ok(Some(work)),
                    Preamble::Nothing => return Ok(None),
                }
            };
            let mut want = self.text.len().further(self.block_byte).min(self.limit_byte);
            let head = loop {
                self.fill(want)?;
                if self.text.is_empty() {
                    return Ok(None);
                }
                if let Some(work) = self.header_at_front(&layout)? {
                    return Ok(Some(work));
                }
                if !self.layout.as_ref().is_some_and(|now| Arc::ptr_eq(now, &layout)) {
                    break None;
                }
                if let Some(head) = self.find_head(&layout) {
                    break Some(head);
                }
                if self.text.len() >= self.limit_byte {
                    return self.over_limit(&layout).map(Some);
                }
                want = self.text.len().times(2).min(self.limit_byte);
            };
            let Some(head) = head else { continue };
            let is_continuation = std::mem::take(&mut self.is_continuation);
            let (text, position) = self.take(head);
            if self.is_zone_unchecked && self.options.zone.is_none() {
                self.is_zone_unchecked = !zone_check::check(&layout, &text)?;
            }
            let piece = SacctPiece {
                text,
                position,
                layout,
                options: Arc::clone(&self.options),
                is_continuation,
            };
            return Ok(Some(Box::new(move |sink: &mut dyn Sink| piece.read(sink))));
        }
    }

    /// The piece that begins `text`: it ends before a header, before the last job row, or at the end of the input.
    fn find_head(&self, layout: &ColumnLayout) -> Option<SacctHead> {
        let whole = if self.is_at_end {
            self.text.len()
        } else {
            memchr::memrchr(b'\n', &self.text)? + 1
        };
        let region = self.text.get(..whole)?;
        let block_stats = BlockStats::at(region);
        let header = block_stats.may_name_job_id.then(|| self.find_header(region)).flatten();
        let byte_n = match header {
            Some(header) => header,
            None if self.is_at_end => whole,
            None => Self::last_job(layout, region)?,
        };
        let behind = region.part(byte_n..);
        Some(SacctHead {
            byte_n,
            feed_n: block_stats.feed_n - feed_n(behind),
        })
    }

    /// The last line, behind the front of `region`, that certainly begins a job row: it holds all of it, or the line
    /// before it holds all of a row.
    fn last_job(layout: &ColumnLayout, region: &[u8]) -> Option<usize> {
        let mut cuts = Vec::new();
        let mut end = region.len();
        let mut likely = None;
        while let Some(feed) = memchr::memrchr(b'\n', region.get(..end.checked_sub(1)?)?) {
            let start = feed + 1;
            let (kind, is_whole) = look(layout, region, start, &mut cuts);
            if let Some(behind) = likely.filter(|_| is_whole) {
                return Some(behind);
            }
            likely = (kind == Some(RowStart::Job)).then_some(start);
            if likely.is_some() && is_whole {
                return likely;
            }
            end = start;
        }
        let (_, is_whole) = look(layout, region, 0, &mut cuts);
        if is_whole && likely.is_some() {
            return likely;
        }
        // Names with line breaks in every row, such as those of a job array.
        let begin = if is_whole { end } else { 0 };
        (region.len() >= STRETCH_BYTE)
            .then(|| LineRange::of(layout, region, begin).last_job())
            .flatten()
            .filter(|at| *at > 0)
    }

    /// The last line that begins a row of the wanted kind, behind the front of `text` and before `end`.
    fn last_start(&self, layout: &ColumnLayout, mut end: usize, is_wanted: fn(RowStart) -> bool) -> Option<usize> {
        let mut cuts = Vec::new();
        loop {
            let start = memchr::memrchr(b'\n', self.text.get(..end.checked_sub(1)?)?)? + 1;
            cuts.clear();
            let line = scan(&self.text, start, &layout.delimiter, layout.is_crlf, &mut cuts);
            if start::of(layout, &self.text, line, &cuts).is_some_and(is_wanted) {
                return Some(start);
            }
            end = start;
        }
    }

    /// The first header line behind the front of `region`.
    fn find_header(&self, region: &[u8]) -> Option<usize> {
        let declared = self.options.sacct.delimiter.as_deref().map(str::as_bytes);
        let mut first: Option<usize> = None;
        for finder in &self.finders {
            let mut from = 0;
            while let Some(found) = region.get(from..).and_then(|rest| finder.find(rest)) {
                let at = from + found;
                if first.is_some_and(|first| at >= first) {
                    break;
                }
                let start = memchr::memrchr(b'\n', region.get(..at)?).map_or(0, |line| line + 1);
                let end = memchr::memchr(b'\n', region.get(at..)?).map_or(region.len(), |line| at + line);
                if start > 0 && is_header(region.get(start..end)?, declared) {
                    first = Some(start);
                    break;
                }
                from = end;
            }
        }
        first
    }

    /// Takes a header line off the front; a header that repeats the layout is a row of its own.
    fn header_at_front(&mut self, layout: &ColumnLayout) -> Result<Option<Work>> {
        let Some(end) = memchr::memchr(b'\n', self.text.part(..self.text.len().min(MAX_HEADER_BYTE))) else {
            return Ok(None);
        };
        let line = self.text.part(..end);
        let line = without_mark(line);
        let is_same = line.strip_suffix(b"\r").unwrap_or(line) == layout.header;
        let declared = self.options.sacct.delimiter.as_deref().map(str::as_bytes);
        if !is_same && !is_header(line, declared) {
            return Ok(None);
        }
        let Some(found) = layout_of(line, declared).map_err(|e| e.at("line", self.position.line))? else {
            return Ok(None);
        };
        let is_changed = !is_same || found.is_crlf != layout.is_crlf;
        self.cut(end + 1);
        self.is_continuation = false;
        if is_changed {
            self.layout = Some(found);
            self.is_zone_unchecked = true;
        }
        Ok(is_same.then(repeated_header))
    }

    /// Reads up to the first header line.
    fn preamble(&mut self) -> Result<Preamble> {
        self.fill(MAX_HEADER_BYTE)?;
        if self.position.byte_offset == 0 && self.text.starts_with(BYTE_ORDER_MARK) {
            let line = self.position.line;
            self.cut(BYTE_ORDER_MARK.len());
            self.position.line = line;
        }
        let first = self.text.iter().position(|byte| !byte.is_ascii_whitespace());
        if first.is_none() && self.is_at_end {
            return Ok(Preamble::Nothing);
        }
        // All blank lines at once: a dump may begin with millions of them.
        let blank = self.text.part(..first.unwrap_or(self.text.len()));
        if let Some(end) = memchr::memrchr(b'\n', blank) {
            self.cut(end + 1);
            return Ok(Preamble::Again);
        }
        let end = memchr::memchr(b'\n', &self.text);
        let line = self.text.part(..end.unwrap_or(self.text.len()));
        let next = end.map_or(self.text.len(), |end| end + 1);
        if start::is_tool_message(line) {
            let message = message(self.position, line);
            self.cut(next);
            return Ok(Preamble::Message(message));
        }
        let declared = self.options.sacct.delimiter.as_deref().map(str::as_bytes);
        let found = layout_of(line, declared).map_err(|e| e.at("line", self.position.line))?;
        let Some(found) = found else {
            let Some(order) = self.options.sacct.layout else {
                return Err(no_header(line, &self.text));
            };
            // The dump has no header: its first line is a row already.
            let delimiter = declared.unwrap_or(b"|").to_vec();
            let is_trailing = fixed::is_trailing(&self.text, &delimiter);
            let fixed = ColumnLayout::fixed(order, delimiter, is_trailing, line.ends_with(b"\r"))?;
            self.layout = Some(Arc::new(fixed));
            return Ok(Preamble::Again);
        };
        self.layout = Some(found);
        self.cut(next);
        Ok(Preamble::Again)
    }

    /// No job row within the limit: either one job has very many steps, or one row is very long.
    fn over_limit(&mut self, layout: &Arc<ColumnLayout>) -> Result<Work> {
        // Before the last step row, else before the line that is too long.
        let whole = memchr::memrchr(b'\n', &self.text).map_or(0, |at| at + 1);
        let cut = self.last_start(layout, whole, |_| true).unwrap_or(whole);
        if cut > 0 {
            let is_continuation = std::mem::replace(&mut self.is_continuation, true);
            let (text, position) = self.cut(cut);
            let piece = SacctPiece {
                text,
                position,
                layout: Arc::clone(layout),
                options: Arc::clone(&self.options),
                is_continuation,
            };
            return Ok(Box::new(move |sink: &mut dyn Sink| piece.read(sink)));
        }
        let (text, position) = self.cut(self.text.len());
        let skipped = self.skip_to_row(layout)?;
        let layout = Arc::clone(layout);
        let limit_byte = self.limit_byte;
        Ok(Box::new(move |sink: &mut dyn Sink| {
            let detail = format!(
                "a row longer than the limit of {limit_byte} bytes; {skipped} more bytes up to the next row were skipped"
            );
            let mut refusal = Refusal::new(Reason::TooLong, detail);
            if start::is_lost(&layout, &text) {
                refusal = Refusal::lost_text();
            }
            sink.rows_read(1);
            sink.reject(refusal.reason, position, 1, &refusal.detail, &text);
        }))
    }

    /// Drops bytes up to the next line that begins a row.
    fn skip_to_row(&mut self, layout: &ColumnLayout) -> Result<u64> {
        let from = self.position.byte_offset;
        let mut cuts = Vec::new();
        // The rest of the line the limit fell into is never a row.
        let mut is_within_line = true;
        loop {
            self.fill(self.block_byte.max(MAX_HEADER_BYTE))?;
            if self.text.is_empty() {
                break;
            }
            let line_end = memchr::memchr(b'\n', &self.text);
            if !is_within_line && (line_end.is_some() || self.is_at_end) {
                cuts.clear();
                let line = scan(&self.text, 0, &layout.delimiter, layout.is_crlf, &mut cuts);
                let declared = self.options.sacct.delimiter.as_deref().map(str::as_bytes);
                let content = self.text.part(..line.end);
                if start::of(layout, &self.text, line, &cuts).is_some() || is_header(content, declared) {
                    break;
                }
            }
            is_within_line = line_end.is_none();
            let n = line_end.map_or(self.text.len(), |end| end + 1);
            self.cut(n);
        }
        Ok(self.position.byte_offset - from)
    }
}

/// What kind of row the line at `start` begins, and whether it holds all of it.
fn look(layout: &ColumnLayout, text: &[u8], start: usize, cuts: &mut Vec<u32>) -> (Option<RowStart>, bool) {
    cuts.clear();
    let line = scan(text, start, &layout.delimiter, layout.is_crlf, cuts);
    let kind = start::of(layout, text, line, cuts);
    let is_whole = kind.is_some_and(|kind| start::is_whole(layout, text, line, cuts, kind));
    (kind, is_whole)
}

/// Why the first line, which names no columns, is none to begin a dump with.
fn no_header(line: &[u8], head: &[u8]) -> Error {
    let shown = super::refusal::quoted(line);
    let advice = FixedOrder::recognise(head).map_or_else(
        || {
            "write the dump with -P or -p and without --noheader, name the `delimiter`, or name the `layout` if its \
             columns have a known order"
                .to_owned()
        },
        |order| {
            let word = order.as_str();
            format!("its columns look like the fixed order of layout = \"{word}\": name it in the source")
        },
    );
    Error::new(
        Kind::Data,
        format!("the first line of a sacct dump must name its columns, and this is none: {shown}; {advice}"),
    )
}

/// The first bytes of the text.
#[derive(Clone, Copy)]
struct SacctHead {
    byte_n: usize,
    /// Line feeds in it.
    feed_n: usize,
}

fn feed_n(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}

enum Preamble {
    /// A blank line, or the header, was read.
    Again,
    /// A message of the tool before it.
    Message(Work),
    /// The input holds nothing.
    Nothing,
}

/// A header that repeats the one before it: one row without a job.
fn repeated_header() -> Work {
    Box::new(|sink: &mut dyn Sink| {
        sink.rows_read(1);
        sink.out_of_scope(Reason::ToolMessage, 1);
    })
}

/// A message of the tool: one row without a job.
fn message(at: Position, text: &[u8]) -> Work {
    let text = text.to_vec();
    Box::new(move |sink: &mut dyn Sink| {
        sink.rows_read(1);
        sink.tool_message(at, &text);
    })
}

/// Whether a line within a dump is a header.
pub(super) fn is_header(line: &[u8], declared: Option<&[u8]>) -> bool {
    let line = without_mark(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    matches!(layout::header(line, declared), Header::Names { .. })
}

impl ReadStep for SacctSplitter {
    fn step(&mut self) -> Result<Option<Work>> {
        self.next_work()
    }
}
