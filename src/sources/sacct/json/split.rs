//! A stream of JSON cut into pieces of whole jobs.

use std::io::Read;

use super::{job, value};
use crate::error::{Error, Kind, Result};
use crate::ledger::Reason;
use crate::numbers::{Extent, Part};
use crate::sources::dialect::ReadSizes;
use crate::sources::input_stream::{InputStream, StreamPlace};
use crate::sources::json::Scanner;
use crate::sources::json::frames::{JsonEnding, JsonFrame, JsonFramer};
use crate::sources::refusal::{Refusal, holds_nul};
use crate::sources::steps::ReadStep;
use crate::sources::truncate::clip;
use crate::sources::{Position, Sink, Work};

/// The lists of a document: jobs, and what the tool reports to have gone wrong.
const LISTS: [&str; 2] = ["jobs", "errors"];
const ERRORS: usize = 1;

/// Sizes in bytes.
#[derive(Clone, Copy, Debug)]
pub struct SacctJsonLimits {
    /// How much is read at a time; a piece is about as large.
    pub block: usize,
    /// Longest job, with its steps.
    pub job: usize,
    /// How much of a job that is too long is kept as raw text; at most `job`.
    pub kept: usize,
}

impl Default for SacctJsonLimits {
    fn default() -> Self {
        Self {
            block: 2 << 20,
            // A step takes some 7 kB: room for more steps than Slurm lets a script start in days.
            job: 128 << 20,
            kept: 64 << 10,
        }
    }
}

impl SacctJsonLimits {
    /// The default with other sizes.
    #[must_use]
    pub(in crate::sources) fn of(sizes: ReadSizes) -> Self {
        let own = Self::default();
        let job = sizes.record_byte.unwrap_or(own.job);
        Self {
            block: sizes.block_byte.unwrap_or(own.block),
            job,
            kept: own.kept.min(job),
        }
    }
}

/// The pieces of one dump, in order.
pub(super) struct SacctJsonSplitter {
    feed: InputStream,
    limits: SacctJsonLimits,
    framer: JsonFramer,
    frames: Vec<JsonFrame>,
    /// Inside a job that is too long and already refused.
    is_skipping: bool,
    is_done: bool,
}

impl SacctJsonSplitter {
    pub(super) fn new(input: Box<dyn Read + Send>, mut limits: SacctJsonLimits, at: Position) -> Self {
        limits.block = limits.block.clamp(1, limits.job.max(1));
        limits.kept = limits.kept.min(limits.job);
        Self {
            feed: InputStream::new(input, at),
            limits,
            framer: JsonFramer::new(&LISTS),
            frames: Vec::new(),
            is_skipping: false,
            is_done: false,
        }
    }

    /// Forgets what the framer has let go of.
    fn forget(&mut self, n: usize) {
        self.framer.cut(n);
        self.feed.take(n);
    }

    fn next_work(&mut self) -> Result<Option<Work>> {
        let block = self.limits.block;
        let mut want = block;
        loop {
            self.feed.fill(want)?;
            self.framer.scan(&self.feed, self.feed.is_ended(), &mut self.frames);
            if self.is_skipping {
                self.after_skipped();
            }
            if self.feed.is_ended() {
                return self.finish();
            }
            if !self.frames.is_empty() {
                return Ok(Some(self.piece(None)));
            }
            if let Some(start) = self.framer.open().filter(|_| !self.is_skipping)
                && self.framer.at().less(start) > self.limits.job
            {
                return Ok(Some(self.too_long(start)));
            }
            if self.is_skipping && self.framer.open().is_some() {
                let gone = self.framer.let_go();
                self.feed.take(gone);
            } else {
                self.forget(self.framer.kept_from());
            }
            want = self.feed.len() + block;
        }
    }

    /// The end of a job that was refused already gives no second row.
    fn after_skipped(&mut self) {
        if !self.frames.is_empty() {
            self.frames.remove(0);
            self.is_skipping = false;
        }
    }

    /// Everything framed so far, and how the file ends if it does.
    fn piece(&mut self, end: Option<SacctJsonEnd>) -> Work {
        let frames = std::mem::take(&mut self.frames);
        let cut = match end {
            None => frames.last().map_or(0, |frame| frame.end),
            Some(_) => self.feed.len(),
        };
        self.framer.cut(cut);
        let (bytes, at) = self.feed.take(cut);
        let limits = self.limits;
        Box::new(move |sink: &mut dyn Sink| read(&bytes, at, &frames, end, limits, sink))
    }

    fn too_long(&mut self, start: usize) -> Work {
        self.forget(start);
        self.is_skipping = true;
        let raw = self.feed.get(..self.limits.kept).unwrap_or(&self.feed).to_vec();
        let (at, limits) = (self.feed.at(), self.limits);
        Box::new(move |sink: &mut dyn Sink| {
            sink.rows_read(1);
            too_long(&raw, at, limits, sink);
        })
    }

    fn finish(&mut self) -> Result<Option<Work>> {
        self.is_done = true;
        if self.framer.list_n() == 0 {
            let why = "this JSON has no list of jobs, so it is not what sacct --json prints";
            return Err(Error::new(Kind::Data, why));
        }
        let end = match (self.framer.open(), self.framer.last()) {
            (Some(_), _) if self.is_skipping => Some(SacctJsonEnd::Skipped),
            (Some(start), _) => Some(SacctJsonEnd::InJob(start)),
            (None, last) => {
                // Behind an object that was too long there is no second row either.
                self.frames.extend(last.filter(|_| !self.is_skipping));
                let is_in_list = self.framer.is_in_list() && self.framer.list() != ERRORS;
                if is_in_list {
                    Some(SacctJsonEnd::InList)
                } else if self.framer.is_before_rows() {
                    Some(SacctJsonEnd::BeforeList)
                } else {
                    self.framer.has_stray_text().then_some(SacctJsonEnd::Stray)
                }
            }
        };
        if self.frames.is_empty() && end.is_none() {
            return Ok(None);
        }
        Ok(Some(self.piece(end)))
    }
}

impl ReadStep for SacctJsonSplitter {
    fn step(&mut self) -> Result<Option<Work>> {
        if self.is_done {
            return Ok(None);
        }
        self.next_work()
    }
}

/// Where a file ends that was cut off.
#[derive(Clone, Copy, Debug)]
enum SacctJsonEnd {
    /// In the job that begins here.
    InJob(usize),
    /// Between two jobs.
    InList,
    /// In a document, before its list.
    BeforeList,
    /// Not in a document, and there is other text than documents.
    Stray,
    /// In a job that was too long.
    Skipped,
}

/// Reads the jobs of one piece.
fn read(
    bytes: &[u8],
    from: Position,
    frames: &[JsonFrame],
    end: Option<SacctJsonEnd>,
    limits: SacctJsonLimits,
    sink: &mut dyn Sink,
) {
    let mut place = StreamPlace::new(bytes, from);
    let has_nul = holds_nul(bytes);
    for frame in frames {
        let at = place.go_to(frame.start);
        let raw = bytes.part(frame.start..frame.end);
        if frame.list == ERRORS {
            sink.rows_read(1);
            let detail = format!("sacct reports an error, jobs may be missing: {}", described(raw));
            sink.reject(Reason::Truncated, at, 1, &detail, raw);
        } else if raw.len() > limits.job {
            sink.rows_read(1);
            too_long(raw, at, limits, sink);
        } else if has_nul && holds_nul(raw) {
            let Refusal { reason, detail } = Refusal::lost_text();
            sink.rows_read(1);
            sink.reject(reason, at, 1, &detail, raw);
        } else if frame.ending == JsonEnding::Broken {
            sink.rows_read(1);
            let detail = "the brackets of this job do not match; it was given up where the next one begins";
            sink.reject(Reason::BadJson, at, 1, detail, raw);
        } else {
            job::take(raw, at, sink);
        }
    }
    let (start, reason, detail) = match end {
        None | Some(SacctJsonEnd::Skipped) => return,
        Some(SacctJsonEnd::InJob(start)) => (start, Reason::Truncated, "the file ends inside this job"),
        Some(SacctJsonEnd::InList) => (
            bytes.len(),
            Reason::Truncated,
            "the file ends inside the list of jobs: some may be missing",
        ),
        Some(SacctJsonEnd::BeforeList) => (
            bytes.len(),
            Reason::Truncated,
            "the file ends inside a document, before its list of jobs: they are missing",
        ),
        Some(SacctJsonEnd::Stray) => (
            bytes.len(),
            Reason::BadJson,
            "there is text outside of the documents of this file: jobs may be missing",
        ),
    };
    let at = place.go_to(start);
    let raw = bytes.part(start..);
    sink.rows_read(1);
    if raw.len() > limits.job {
        // Whether its end is missing was not known where pieces are smaller.
        return too_long(raw, at, limits, sink);
    }
    sink.reject(reason, at, 1, detail, raw);
}

/// What an error of the tool describes; the object itself where it describes nothing.
fn described(raw: &[u8]) -> String {
    let mut description = None;
    let read = Scanner::new(raw).object(|scanner, key| {
        let text = value::text(scanner)?;
        if key.plain() == Some(b"description") {
            description = text;
        }
        Ok(())
    });
    let mut is_invalid = false;
    let described = value::decode(description.filter(|_| read.is_ok()), &mut is_invalid);
    described.map_or_else(
        || clip(&String::from_utf8_lossy(raw)).to_owned(),
        |text| clip(&text).to_owned(),
    )
}

/// Refuses a counted job for its length. What is looked at is what is kept of it: where it is cut into blocks, no more is known.
fn too_long(raw: &[u8], at: Position, limits: SacctJsonLimits, sink: &mut dyn Sink) {
    let detail = format!("the job is longer than {} bytes", limits.job);
    let raw = raw.get(..limits.kept).unwrap_or(raw);
    let Refusal { reason, detail } = Refusal::new(Reason::TooLong, detail).or_lost_text(raw);
    sink.reject(reason, at, 1, &detail, raw);
}
