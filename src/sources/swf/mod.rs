//! The Standard Workload Format of the Parallel Workloads Archive (version 2.2): comments with `;`, then 18 columns of
//! numbers, -1 for unknown. Alea's dialect appends the node of every processor, queue and node specification.

mod diagnosis;
mod header;
mod job;
mod options;
mod row;

use std::io::{Cursor, Read};
use std::sync::Arc;

use super::dialect::{
    Certainty, Content, Dialect, DialectRow, PlacingInstant, RawHeader, RawLayout, SiteNaming, StatedIdentity,
    UnfinishedJob, UnfinishedJobs, VersionRule, VoNaming,
};
use super::lines::{self, Grammar, LogLimits, LogRecord};
use super::options::ReaderOptions;
use super::refusal::Refusal;
use super::{Pieces, Position, Sink, decimal};
use crate::error::{Error, Kind, Result};
use crate::ledger::Reason;

pub use header::SwfHeader;
pub use options::{START_FROM, SwfOptions, UNIX_START_TIME};
pub use row::{COLUMNS, SwfColumn, SwfRow, SwfWhole};

/// The dialect.
pub const DIALECT: Dialect = Dialect::of(&ROW);

static ROW: DialectRow = DialectRow {
    word: "swf",
    aliases: &["pwa"],
    help: "Standard Workload Format",
    page: "Traces in the Standard Workload Format of the Parallel Workloads Archive. Times count from `UnixStartTime` of the header, or from `unix_start_time` of the source. Burst buffer in column 19 is not kept; `simulate` reads it where the header has `BurstBuffer`.",
    content: Content::Jobs,
    recognise: |head| (!head.is_markup() && recognise(head.text)).then_some(Certainty::Grammar),
    reader: |input, options, sizes| pieces(input, &options, LogLimits::of(sizes)),
    hints: diagnosis::hints,
    site: SiteNaming::Source,
    vo: VoNaming::Record,
    identity: StatedIdentity::Nothing,
    placed_by: PlacingInstant::StartOrSubmit,
    version_rule: VersionRule::LastRead,
    unfinished: UnfinishedJobs {
        never_ran: UnfinishedJob::OutOfScope(Reason::NoRunTime),
        pending: UnfinishedJob::Absent,
        running: UnfinishedJob::Refused(Reason::BadDuration),
    },
    has_job_numbers: true,
    options: &[],
    proposal: &[],
    raw: Some(RawLayout {
        header: RawHeader::All(|line| line.starts_with(b";")),
        row_end: None,
    }),
    fingerprint: &[],
};

/// Longest header.
const HEAD: u64 = 1 << 20;

/// Whether the file begins with a header of the format, or with a line of 18 numbers.
#[must_use]
pub fn recognise(head: &[u8]) -> bool {
    let lines = head.split(|&byte| byte == b'\n');
    let mut lines = lines.filter(|line| !line.trim_ascii().is_empty());
    let has_header = head.starts_with(b";") && SwfHeader::of(head).is_known();
    let first = lines.find(|line| !line.trim_ascii_start().starts_with(b";"));
    let is_row = |line: &[u8]| {
        let numbers = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty())
            .take(COLUMNS);
        let mut n = 0;
        let are_numbers = numbers.into_iter().all(|word| {
            n += 1;
            std::str::from_utf8(word).is_ok_and(|word| decimal::scaled(word, 3).is_some())
        });
        are_numbers && n == COLUMNS
    };
    has_header || first.is_some_and(is_row)
}

/// Whether `head` has jobs and none of them has a wait time.
#[must_use]
pub fn lacks_waits(head: &[u8]) -> bool {
    let lines = head
        .split_inclusive(|&byte| byte == b'\n')
        .filter(|line| line.ends_with(b"\n"));
    let mut waits = lines
        .filter(|line| !line.trim_ascii_start().starts_with(b";"))
        .filter_map(|line| {
            line.split(u8::is_ascii_whitespace)
                .filter(|word| !word.is_empty())
                .nth(SwfColumn::WAIT.place)
        })
        .peekable();
    waits.peek().is_some() && waits.all(|wait| wait.starts_with(b"-"))
}

/// Cuts a decompressed workload into pieces of whole lines. Rows and rejects do not depend on `limits.block`.
///
/// # Errors
/// [`Kind::Data`] when neither the header nor the source states when the workload begins; [`Kind::Io`] when reading
/// fails.
pub fn pieces(mut input: Box<dyn Read + Send>, options: &ReaderOptions, limits: LogLimits) -> Result<Pieces> {
    let mut head = Vec::new();
    input.by_ref().take(HEAD).read_to_end(&mut head)?;
    let header = SwfHeader::of(&head);
    let Some(start_s) = header.unix_start_s.or(options.swf.unix_start_time) else {
        let why = "the header has no UnixStartTime, so its times have no date: set unix_start_time in the source \
                   (0 when submit times are Unix seconds)";
        return Err(Error::new(Kind::Data, why).at("source", &options.source));
    };
    let swf = Swf {
        header,
        start_s,
        options: options.swf,
    };
    let input = Box::new(Cursor::new(head).chain(input));
    Ok(lines::pieces(input, Arc::new(swf), limits, Position::start()))
}

struct Swf {
    header: SwfHeader,
    /// Unix second at which its times begin.
    start_s: i64,
    options: SwfOptions,
}

impl Grammar for Swf {
    fn is_row(&self, line: &[u8]) -> bool {
        !line.trim_ascii_start().starts_with(b";")
    }

    fn record(&self, record: &LogRecord<'_>, sink: &mut dyn Sink) -> Result<(), Refusal> {
        let columns: Vec<&str> = record.text.split_ascii_whitespace().collect();
        job::take(&columns, self, record, sink)
    }
}
