//! One piece of a file of messages: framing of records and the verdict on each message.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt::Write as _;

use super::acceptance::Acceptance;
use super::frames::{ApelFrame, Frames};
use super::header::{HeaderKind, HeaderSearch, next_header};
use super::limits::ApelLimits;
use super::record::{ApelJob, RecordCache};
use super::summary;
use super::values::ApelText;
use crate::ledger::Reason;
use crate::numbers::{Comparand, Part, count_u64};
use crate::record::{Anomaly, JobRow};
use crate::sources::buffer::BufferBlock;
use crate::sources::byte_text::text_of;
use crate::sources::refusal::{Refusal, holds_nul, without_nul};
use crate::sources::{Position, Sink, lines};

/// Whole messages, or records of one message too large to be kept together.
#[expect(
    clippy::struct_excessive_bools,
    reason = "five independent facts about the bytes, each with its name"
)]
pub(super) struct MessagePiece {
    pub(super) bytes: BufferBlock,
    /// Position of its first byte.
    pub(super) at: Position,
    /// Kind of the message that continues here; `None` when the piece starts with a header or the start of the file.
    pub(super) within: Option<HeaderKind>,
    /// The message at the start is longer than a message may be, so the strict rule refuses all of it.
    pub(super) is_over_long: bool,
    /// The file does not begin with a header.
    pub(super) is_headless: bool,
    /// The first byte starts a line.
    pub(super) starts_line: bool,
    /// The file ends with this piece.
    pub(super) is_last: bool,
    /// No header starts behind its first byte.
    pub(super) is_alone: bool,
}

/// A message of more jobs than this leaves no room behind.
const ROOM_JOBS: usize = 4096;

thread_local! {
    /// Room for the jobs of a message, which the next one uses again: all of them are read before the first is sent.
    static ROOM: Cell<Vec<ApelJob<'static>>> = const { Cell::new(Vec::new()) };
}

/// Keeps the memory of sent jobs for the next message.
fn leave(mut jobs: Vec<ApelJob<'_>>) {
    if jobs.capacity() > ROOM_JOBS {
        return;
    }
    jobs.clear();
    // An empty list of jobs of another lifetime reuses the same memory.
    let room = jobs.into_iter().map(|_| ApelJob::default()).collect();
    // A thread that ends has no use for it.
    let _ = ROOM.try_with(|kept| kept.set(room));
}

/// How many line ends there are.
pub(super) fn line_ends(bytes: &[u8]) -> u64 {
    to_u64(memchr::memchr_iter(b'\n', bytes).count())
}

pub(super) fn to_u64(n: usize) -> u64 {
    count_u64(n)
}

impl MessagePiece {
    /// Judges every message of the piece.
    pub(super) fn parse(&self, acceptance: Acceptance, limits: ApelLimits, sink: &mut dyn Sink) {
        let mut scratch = MessageScratch::default();
        let mut start = 0;
        let mut line = self.at.line;
        while start < self.bytes.len() {
            let is_first = start == 0;
            // The rest of a message is not a header, even if it looks like one.
            let continues = is_first && self.within.is_some();
            let has_header = !continues && self.header_at_or_after(start) == HeaderSearch::Found(start);
            let next = (!self.is_alone).then(|| self.header_at_or_after(start + 1));
            let end = match next {
                Some(HeaderSearch::Found(at)) => at,
                Some(HeaderSearch::Pending(_)) | None => self.bytes.len(),
            };
            let message = self.bytes.part(start..end);
            let (kind, body_from) = if has_header {
                let line_end = memchr::memchr2(b'\n', b'\r', message).unwrap_or(message.len());
                if line_end > limits.record {
                    // A header line without an end is not a header.
                    (HeaderKind::Missing, 0)
                } else {
                    let line = message.part(..line_end);
                    (HeaderKind::of(line, acceptance), line_end)
                }
            } else {
                (
                    self.within.clone().filter(|_| is_first).unwrap_or(HeaderKind::Missing),
                    0,
                )
            };
            let is_over_long = (is_first && self.is_over_long) || message.len() > limits.message;
            let is_open = self.is_last && end == self.bytes.len();
            let at = Position {
                line,
                byte_offset: self.at.byte_offset + to_u64(start + body_from),
            };
            let body = message.part(body_from..);
            let frames = Frames::new(body, at, is_open, limits);
            sink.rows_read(to_u64(frames.records.len()));
            if self.is_headless && matches!(kind, HeaderKind::Job { .. } | HeaderKind::Summary(_)) {
                refuse_all(&frames, &headless(), sink);
            } else {
                judge(&kind, &frames, acceptance, limits, is_over_long, &mut scratch, sink);
            }
            line += frames.line_n;
            start = end;
        }
    }

    fn header_at_or_after(&self, from: usize) -> HeaderSearch {
        next_header(&self.bytes, from, self.starts_line, true)
    }
}

/// Why every record of a message that is too long is refused under the strict rule.
pub(super) fn over_long(limits: ApelLimits) -> Refusal {
    Refusal::new(
        Reason::TooLong,
        format!(
            "the message is longer than {} bytes: too long to be accepted or refused as a whole",
            limits.message
        ),
    )
}

/// Why a record is too long.
pub(super) fn too_long(limits: ApelLimits) -> Refusal {
    Refusal::new(
        Reason::TooLong,
        format!("the record is longer than {} bytes", limits.record),
    )
}

/// The reason for refusing what follows a header when the file begins with something else: part of a message would count as
/// all of it.
pub(super) fn headless() -> Refusal {
    Refusal::new(
        Reason::BadMessage,
        "the file does not begin with a header line \"APEL-...-message: ...\", which follows further down: the server refuses \
         all of it; put the line where it belongs"
            .to_owned(),
    )
}

/// Why every record of a message without a usable header is refused; `None` when the header is fine.
pub(super) fn bad_header(kind: &HeaderKind) -> Option<Refusal> {
    match kind {
        HeaderKind::Unknown(header) if header.contains('\0') => Some(Refusal::lost_text()),
        HeaderKind::Unknown(header) => Some(Refusal::new(
            Reason::BadMessage,
            match header.strip_prefix("APEL-summary-job-message:").map(str::trim) {
                Some("v0.1") => {
                    format!("the header {header:?} is none the server knows; acceptance = \"salvage\" reads it as v0.2")
                }
                _ => format!("the header {header:?} is none the server knows"),
            },
        )),
        HeaderKind::Missing => Some(Refusal::new(
            Reason::BadMessage,
            "there is no header line \"APEL-...-message: ...\" before this record".to_owned(),
        )),
        HeaderKind::Job { .. } | HeaderKind::Summary(_) | HeaderKind::Other => None,
    }
}

fn judge(
    kind: &HeaderKind,
    frames: &Frames<'_>,
    acceptance: Acceptance,
    limits: ApelLimits,
    is_over_long: bool,
    scratch: &mut MessageScratch,
    sink: &mut dyn Sink,
) {
    match kind {
        HeaderKind::Other => return sink.out_of_scope(Reason::CloudRecord, to_u64(frames.records.len())),
        HeaderKind::Unknown(_) | HeaderKind::Missing => {
            if let Some(bad) = bad_header(kind) {
                refuse_all(frames, &bad, sink);
            }
            return;
        }
        HeaderKind::Job { .. } | HeaderKind::Summary(_) => {}
    }
    if is_over_long && acceptance == Acceptance::StrictApel {
        return refuse_all(frames, &over_long(limits), sink);
    }
    let texts = Texts::new(frames);
    if let HeaderKind::Summary(shape) = kind {
        verdict(
            &texts,
            acceptance,
            limits,
            Vec::new(),
            |text, _, row| {
                *row = summary::parse(text.whole, *shape, acceptance)?;
                Ok(())
            },
            |row, at, sink| sink.summary(row, at),
            sink,
        );
    } else {
        let is_v04 = matches!(kind, HeaderKind::Job { is_v04: true });
        let mut habits = RecordCache::default();
        let jobs = verdict(
            &texts,
            acceptance,
            limits,
            // Fallback: a thread that ends keeps no room for jobs, new room is made.
            ROOM.try_with(Cell::take).unwrap_or_default(),
            |text, is_repaired, job| {
                job.read(text, is_v04, acceptance, &mut habits)?;
                if is_repaired {
                    job.anomalies |= Anomaly::InvalidText.bit();
                }
                Ok(())
            },
            |job, at, sink| scratch.emit(job, at, sink),
            sink,
        );
        leave(jobs);
    }
}

/// Reads every record of a message, and then gives each its outcome. `read` is given whether it has bytes that are
/// not text, and stores the record where it stays until it is sent. `records` is empty, with capacity for all.
fn verdict<'a, R: Default>(
    texts: &'a Texts<'a>,
    acceptance: Acceptance,
    limits: ApelLimits,
    mut records: Vec<R>,
    mut read: impl FnMut(ApelText<'a>, bool, &mut R) -> Result<(), Refusal>,
    mut emit: impl FnMut(&R, Position, &mut dyn Sink),
    sink: &mut dyn Sink,
) -> Vec<R> {
    let frames = &texts.frames.records;
    let has_nul = holds_nul(texts.frames.body);
    let mut refused = Vec::new();
    records.resize_with(frames.len(), R::default);
    for ((nth, frame), record) in frames.iter().enumerate().zip(&mut records) {
        let read = if frame.is_too_long {
            Err(too_long(limits))
        } else {
            let (text, is_repaired) = texts.of(nth, frame);
            let read = read(text, is_repaired, record);
            if frame.is_closed {
                read
            } else {
                Err(cut_off(read.err()))
            }
        };
        // What else is wrong with a record comes from the text that it lost.
        let read = if has_nul {
            without_nul(frame.raw).and(read)
        } else {
            read
        };
        if let Err(bad) = read {
            refused.push((nth, bad));
        }
    }
    let first = refused
        .first()
        .and_then(|(nth, bad)| Some((frames.get(*nth)?.at.line, bad.reason)));
    let mut refused = refused.iter().peekable();
    for ((nth, frame), record) in frames.iter().enumerate().zip(&records) {
        if let Some((_, bad)) = refused.next_if(|(refused, _)| *refused == nth) {
            sink.reject(bad.reason, frame.at, 1, &bad.detail, frame.raw);
            continue;
        }
        match first {
            Some((line, reason)) if acceptance == Acceptance::StrictApel => {
                let detail = format!("the record at line {line} of the same message is refused ({reason})");
                sink.reject(Reason::MessageRefused, frame.at, 1, &detail, frame.raw);
            }
            _ => emit(record, frame.at, sink),
        }
    }
    records
}

/// Why the last record of a file is refused that ends neither with `%%` nor with a line end: what is wrong with the record, or
/// that its last value may be a part of what it was.
fn cut_off(bad: Option<Refusal>) -> Refusal {
    let detail = match bad {
        Some(bad) => format!("the file ends inside its last record: {}", bad.detail),
        None => lines::LAST_VALUE_CUT_OFF.to_owned(),
    };
    Refusal::new(Reason::Truncated, detail)
}

/// The records of a message as text.
struct Texts<'a> {
    frames: &'a Frames<'a>,
    /// All of the message, when it is text.
    whole: Option<&'a str>,
    /// Each record, with bytes that are not text written as escapes.
    repaired: Vec<Cow<'a, str>>,
}

impl<'a> Texts<'a> {
    fn new(frames: &'a Frames<'a>) -> Self {
        // Checking first is several times faster than decoding piece by piece.
        let whole = std::str::from_utf8(frames.body).ok();
        let repaired = match whole {
            Some(_) => Vec::new(),
            None => (frames.records.iter()).map(|frame| text_of(frame.raw)).collect(),
        };
        Self {
            frames,
            whole,
            repaired,
        }
    }

    /// The text of record number `nth`, and whether it has bytes that are not text.
    fn of(&'a self, nth: usize, frame: &ApelFrame<'_>) -> (ApelText<'a>, bool) {
        let text = |whole, line_ends| ApelText { whole, line_ends };
        if let Some(whole) = self.whole {
            let whole = whole.part(frame.from..frame.from + frame.raw.len());
            return (text(whole, Some((self.frames.line_ends(frame), frame.from))), false);
        }
        let repaired = self.repaired.get(nth);
        let is_repaired = matches!(repaired, Some(Cow::Owned(_)));
        (text(repaired.map_or("", |text| text), None), is_repaired)
    }
}

fn refuse_all(frames: &Frames<'_>, bad: &Refusal, sink: &mut dyn Sink) {
    for frame in &frames.records {
        let bad = bad.clone().or_lost_text(frame.raw);
        sink.reject(bad.reason, frame.at, 1, &bad.detail, frame.raw);
    }
}

/// Buffers reused from record to record.
#[derive(Default)]
pub(super) struct MessageScratch {
    identity: String,
}

impl MessageScratch {
    pub(super) fn emit(&mut self, job: &ApelJob<'_>, at: Position, sink: &mut dyn Sink) {
        // The server compares its key (site, job id, end) without regard to case.
        self.identity.clear();
        if job.local_job_id.is_ascii() {
            self.identity.push_str(job.local_job_id);
            self.identity.make_ascii_lowercase();
        } else {
            self.identity.push_str(&job.local_job_id.to_lowercase());
        }
        self.identity.push('|');
        match job.end_digits {
            Some(digits) => self.identity.push_str(digits),
            // A string takes everything.
            None => drop(write!(self.identity, "{}", job.end_s)),
        }
        let kb = |value: Option<i64>| value.map(|kb| kb.product_to_compare(1024));
        let row = JobRow {
            view: "batch",
            site: Some(job.site),
            cluster: job.machine_name,
            submit_host: job.submit_host,
            job_id: job.local_job_id,
            identity_key: Some(&self.identity),
            fqan: job.fqan,
            vo: job.vo,
            vo_group: job.vo_group,
            vo_role: job.vo_role,
            user: job.local_user_id,
            global_user: job.global_user_name,
            partition: job.queue,
            infrastructure: job.infrastructure,
            start_ms: Some(job.start_s.product_to_compare(1000)),
            end_ms: Some(job.end_s.product_to_compare(1000)),
            wall_ms: Some(job.wall_s.product_to_compare(1000)),
            cpu_ms: Some(job.cpu_s.product_to_compare(1000)),
            alloc_core_n: job.core_n,
            alloc_node_n: job.node_n,
            max_rss_byte: kb(job.memory_real_kb),
            max_virtual_byte: kb(job.memory_virtual_kb),
            benchmark: job.service_level.map(|level| level.benchmark),
            benchmark_milli_per_core: job.service_level.map(|level| level.milli_per_core),
            anomalies: job.anomalies,
            repeats: job.repeats,
            row_byte_n: job.row_byte_n,
            ..JobRow::default()
        };
        sink.job(&row, at, 0);
    }
}
