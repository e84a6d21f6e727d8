//! One piece of a file of messages: framing of records and the verdict on each message.

use std::borrow::Cow;
use std::fmt::Write as _;

use memchr::memmem;

use super::header::{Kind, Search, next_header};
use super::limits::Limits;
use super::record::{Habits, Job};
use super::summary;
use crate::ledger::Reason;
use crate::pipeline::plan::Acceptance;
use crate::records::{Anomaly, JobRow, SummaryRow};
use crate::sources::buffer::Block;
use crate::sources::refusal::Refusal;
use crate::sources::{Position, Sink};

/// Whole messages, or records of one message too large to be kept together.
pub(super) struct Piece {
    pub(super) bytes: Block,
    /// Position of its first byte.
    pub(super) at: Position,
    /// Kind of the message that goes on here; `None` when the piece starts with a header or the start of the file.
    pub(super) within: Option<Kind>,
    /// The message at the start is longer than a message may be, so the strict rule refuses all of it.
    pub(super) is_over_long: bool,
    /// The first byte starts a line.
    pub(super) starts_line: bool,
    /// The file ends with this piece.
    pub(super) is_last: bool,
}

/// One framed record: text between two `%%`, without the blanks around it.
struct Frame<'a> {
    /// Its text; only the start of it when it is too long.
    raw: &'a [u8],
    at: Position,
    /// Longer than a record may be.
    is_too_long: bool,
    /// It ends with `%%`, with the next header, or with a line end.
    is_closed: bool,
}

/// Counts lines from a known position forwards.
struct Cursor<'a> {
    bytes: &'a [u8],
    base: Position,
    reached: usize,
    lines: u64,
}

impl Cursor<'_> {
    /// The position of the byte at `index`, which must not go backwards.
    fn at(&mut self, index: usize) -> Position {
        let between = self.bytes.get(self.reached..index).unwrap_or_default();
        self.lines += line_ends(between);
        self.reached = self.reached.max(index);
        Position {
            line: self.base.line + self.lines,
            byte_offset: self.base.byte_offset + to_u64(index),
        }
    }
}

/// How many line ends there are.
pub(super) fn line_ends(bytes: &[u8]) -> u64 {
    to_u64(memchr::memchr_iter(b'\n', bytes).count())
}

pub(super) fn to_u64(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

impl Piece {
    /// Judges every message of the piece.
    pub(super) fn parse(&self, acceptance: Acceptance, limits: Limits, sink: &mut dyn Sink) {
        let mut cursor = Cursor {
            bytes: &self.bytes,
            base: self.at,
            reached: 0,
            lines: 0,
        };
        let mut scratch = Scratch::default();
        let mut start = 0;
        while start < self.bytes.len() {
            let is_first = start == 0;
            let has_header = match self.header_at_or_after(start) {
                Search::Found(at) => at == start,
                Search::Pending(_) => false,
            };
            let search_from = if has_header { start + 1 } else { start };
            let end = match self.header_at_or_after(search_from) {
                Search::Found(at) => at,
                Search::Pending(_) => self.bytes.len(),
            };
            let message = self.bytes.get(start..end).unwrap_or_default();
            let (kind, body_from) = if has_header {
                let line_end = memchr::memchr2(b'\n', b'\r', message).unwrap_or(message.len());
                if line_end > limits.record {
                    // A header line without an end is no header.
                    (Kind::Missing, start)
                } else {
                    (Kind::of(message.get(..line_end).unwrap_or_default()), start + line_end)
                }
            } else {
                (self.within.clone().filter(|_| is_first).unwrap_or(Kind::Missing), start)
            };
            let is_over_long = (is_first && self.is_over_long) || message.len() > limits.message;
            let is_open = self.is_last && end == self.bytes.len();
            let frames = self.frames(body_from, end, is_open, limits, &mut cursor);
            sink.rows_read(to_u64(frames.len()));
            judge(&kind, &frames, acceptance, is_over_long, limits, &mut scratch, sink);
            start = end;
        }
    }

    fn header_at_or_after(&self, from: usize) -> Search {
        next_header(&self.bytes, from, self.starts_line, true)
    }

    fn frames<'a>(
        &'a self,
        from: usize,
        to: usize,
        is_open: bool,
        limits: Limits,
        cursor: &mut Cursor<'_>,
    ) -> Vec<Frame<'a>> {
        let mut frames = Vec::new();
        let body = self.bytes.get(from..to).unwrap_or_default();
        let mut start = 0;
        let mut ends = memmem::find_iter(body, b"%%");
        loop {
            let mark = ends.next();
            let chunk = body.get(start..mark.unwrap_or(body.len())).unwrap_or_default();
            let text = chunk.trim_ascii_start();
            if !text.is_empty() {
                let offset = from + start + (chunk.len() - text.len());
                let is_unended = is_open && mark.is_none() && !text.ends_with(b"\n");
                let is_too_long = text.len() > limits.record;
                frames.push(Frame {
                    raw: if is_too_long {
                        text.get(..limits.kept).unwrap_or(text)
                    } else {
                        text.trim_ascii_end()
                    },
                    at: cursor.at(offset),
                    is_too_long,
                    is_closed: !is_unended,
                });
            }
            match mark {
                Some(mark) => start = mark + 2,
                None => return frames,
            }
        }
    }
}

/// Why every record of a message that is too long is refused under the strict rule.
pub(super) fn over_long(limits: Limits) -> Refusal {
    Refusal::new(
        Reason::TooLong,
        format!(
            "the message is longer than {} bytes: too long to be accepted or refused as a whole",
            limits.message
        ),
    )
}

/// Why a record is too long.
pub(super) fn too_long(limits: Limits) -> Refusal {
    Refusal::new(
        Reason::TooLong,
        format!("the record is longer than {} bytes", limits.record),
    )
}

/// Why every record of a message without a usable header is refused; `None` when the header is fine.
pub(super) fn bad_header(kind: &Kind) -> Option<Refusal> {
    match kind {
        Kind::Unknown(header) => Some(Refusal::new(
            Reason::BadMessage,
            format!("the header {header:?} is none the server knows"),
        )),
        Kind::Missing => Some(Refusal::new(
            Reason::BadMessage,
            "there is no header line \"APEL-...-message: ...\" before this record".to_owned(),
        )),
        Kind::Job { .. } | Kind::Summary(_) | Kind::Other => None,
    }
}

fn judge(
    kind: &Kind,
    frames: &[Frame<'_>],
    acceptance: Acceptance,
    is_over_long: bool,
    limits: Limits,
    scratch: &mut Scratch,
    sink: &mut dyn Sink,
) {
    match kind {
        Kind::Other => return sink.out_of_scope(Reason::CloudRecord, to_u64(frames.len())),
        Kind::Unknown(_) | Kind::Missing => {
            if let Some(bad) = bad_header(kind) {
                refuse_all(frames, &bad, sink);
            }
            return;
        }
        Kind::Job { .. } | Kind::Summary(_) => {}
    }
    if is_over_long && acceptance == Acceptance::StrictApel {
        return refuse_all(frames, &over_long(limits), sink);
    }
    let texts: Vec<Cow<'_, str>> = frames.iter().map(|frame| text_of(frame.raw)).collect();
    let mut habits = Habits::default();
    let records: Vec<Result<Record<'_>, Refusal>> = frames
        .iter()
        .zip(&texts)
        .map(|(frame, text)| {
            let mut record = parse(frame, text, kind, (acceptance, limits), &mut habits)?;
            if let (Record::Job(job), Cow::Owned(_)) = (&mut record, text) {
                job.anomalies |= Anomaly::InvalidText.bit();
            }
            Ok(record)
        })
        .collect();
    let first_bad = frames.iter().zip(&records).find_map(|(frame, record)| {
        let bad = record.as_ref().err()?;
        Some((frame.at.line, bad.reason))
    });
    for (frame, record) in frames.iter().zip(&records) {
        match (record, first_bad) {
            (Err(bad), _) => sink.reject(bad.reason, frame.at, 1, &bad.detail, frame.raw),
            (Ok(_), Some((line, reason))) if acceptance == Acceptance::StrictApel => {
                let detail = format!("the record at line {line} of the same message is refused ({reason})");
                sink.reject(Reason::MessageRefused, frame.at, 1, &detail, frame.raw);
            }
            (Ok(Record::Job(job)), _) => scratch.emit(job, frame.at, sink),
            (Ok(Record::Summary(row)), _) => sink.summary(row, frame.at),
        }
    }
}

fn text_of(raw: &[u8]) -> Cow<'_, str> {
    // Checking first is several times faster than decoding piece by piece.
    std::str::from_utf8(raw).map_or_else(|_| String::from_utf8_lossy(raw), Cow::Borrowed)
}

/// One sound record.
enum Record<'a> {
    Job(Box<Job<'a>>),
    Summary(Box<SummaryRow<'a>>),
}

fn parse<'a>(
    frame: &Frame<'_>,
    text: &'a str,
    kind: &Kind,
    (acceptance, limits): (Acceptance, Limits),
    habits: &mut Habits<'a>,
) -> Result<Record<'a>, Refusal> {
    if frame.is_too_long {
        return Err(too_long(limits));
    }
    let record = if let Kind::Summary(shape) = kind {
        summary::parse(text, *shape, acceptance).map(|row| Record::Summary(Box::new(row)))
    } else {
        let is_v04 = matches!(kind, Kind::Job { is_v04: true });
        Job::parse(text, is_v04, acceptance, habits).map(Record::Job)
    };
    record.map_err(|bad| {
        if frame.is_closed {
            bad
        } else {
            Refusal::new(
                Reason::Truncated,
                format!("the file ends inside its last record: {}", bad.detail),
            )
        }
    })
}

fn refuse_all(frames: &[Frame<'_>], bad: &Refusal, sink: &mut dyn Sink) {
    for frame in frames {
        sink.reject(bad.reason, frame.at, 1, &bad.detail, frame.raw);
    }
}

/// Buffers reused from record to record.
#[derive(Default)]
pub(super) struct Scratch {
    identity: String,
}

impl Scratch {
    pub(super) fn emit(&mut self, job: &Job<'_>, at: Position, sink: &mut dyn Sink) {
        // The server compares its key (site, job id, end) without regard to case.
        self.identity.clear();
        if job.local_job_id.is_ascii() {
            self.identity.push_str(job.local_job_id);
            self.identity.make_ascii_lowercase();
        } else {
            self.identity.push_str(&job.local_job_id.to_lowercase());
        }
        // A string takes everything.
        let _ = write!(self.identity, "|{}", job.end_s);
        let kb = |value: Option<i64>| value.map(|kb| kb.saturating_mul(1024));
        let row = JobRow {
            view: "batch",
            site: Some(job.site),
            cluster: job.machine_name,
            submit_host: job.submit_host,
            job_id: job.local_job_id,
            identity_key: Some(&self.identity),
            vo: job.vo,
            vo_group: job.vo_group,
            vo_role: job.vo_role,
            user: job.local_user_id,
            global_user: job.global_user_name,
            partition: job.queue,
            infrastructure: job.infrastructure,
            start_ms: Some(job.start_s.saturating_mul(1000)),
            end_ms: Some(job.end_s.saturating_mul(1000)),
            wall_ms: Some(job.wall_s.saturating_mul(1000)),
            cpu_ms: Some(job.cpu_s.saturating_mul(1000)),
            alloc_core_n: job.core_n,
            alloc_node_n: job.node_n,
            max_rss_byte: kb(job.memory_real_kb),
            max_virtual_byte: kb(job.memory_virtual_kb),
            benchmark: job.service_level.map(|level| level.benchmark),
            benchmark_milli_per_core: job.service_level.map(|level| level.milli_per_core),
            anomalies: job.anomalies,
            ..JobRow::default()
        };
        sink.job(&row, at, 0);
    }
}
