//! BLAH accounting logs of a CE: who submitted which job to the batch system. They hold no usage; a source of a batch
//! system's log that names them (`blah = [..]`) gives its jobs the identities in them.
//!
//! One line is `"timestamp=2014-05-18 00:00:58" "userDN=..." "userFQAN=..." .. "ceID=..." "jobID=..." "lrmsID=..."
//! "localUser=..."`; timestamps are UTC. Of several `userFQAN` the first is the primary one.

use std::io::Read;
use std::sync::Arc;

use super::dialect::{
    Certainty, Content, Dialect, DialectRow, PlacingInstant, RawLayout, SiteNaming, StatedIdentity, UnfinishedJobs,
    VersionRule, VoNaming,
};
use super::hints::Hints;
use super::lines::{Grammar, LogLimits, LogRecord};
use super::refusal::{Refusal, known};
use super::truncate::clip;
use super::{GridIdentity, Pieces, Position, Sink, instant, lines};
use crate::ledger::Reason;
use crate::sources::head::first_line_of;

/// The dialect.
pub const DIALECT: Dialect = Dialect::of(&ROW);

static ROW: DialectRow = DialectRow {
    word: "blah",
    aliases: &["blahp", "cream"],
    help: "BLAH logs of a CE: grid identities, no usage",
    page: "Accounting logs of BLAH, in which a CE states which grid user submitted which job of the batch system. They hold no usage: a source of a batch log names them in `blah`.",
    content: Content::GridIdentities,
    recognise: |head| (!head.is_markup() && recognise(head.text)).then_some(Certainty::Grammar),
    reader: |input, _, sizes| Ok(pieces(input, LogLimits::of(sizes))),
    hints: |_| Hints {
        problems: vec![
            "a CE log holds no usage: name it in the blah = [..] of the source that reads the batch system's log"
                .to_owned(),
        ],
        ..Hints::default()
    },
    site: SiteNaming::Source,
    vo: VoNaming::Record,
    identity: StatedIdentity::Nothing,
    placed_by: PlacingInstant::End,
    version_rule: VersionRule::LastRead,
    unfinished: UnfinishedJobs::ABSENT,
    has_job_numbers: false,
    options: &[],
    proposal: &[],
    raw: Some(RawLayout::LINES),
    fingerprint: &[],
};

/// Whether the first line is one of a BLAH log.
#[must_use]
pub fn recognise(head: &[u8]) -> bool {
    let line = first_line_of(head);
    let has = |word: &[u8]| memchr::memmem::find(line, word).is_some();
    line.starts_with(b"\"timestamp=") && has(b"\"lrmsID=")
}

/// Cuts a decompressed log into pieces of whole lines. Rows and rejects do not depend on `limits.block`.
#[must_use]
pub fn pieces(input: Box<dyn Read + Send>, limits: LogLimits) -> Pieces {
    lines::pieces(input, Arc::new(Blah), limits, Position::start())
}

struct Blah;

impl Grammar for Blah {
    fn record(&self, record: &LogRecord<'_>, sink: &mut dyn Sink) -> Result<(), Refusal> {
        let line = record.text.trim();
        let inner = line
            .strip_prefix('"')
            .and_then(|line| line.strip_suffix('"'))
            .ok_or_else(|| Refusal::new(Reason::FieldCount, "the line is not \"key=value\" \"key=value\" .."))?;
        let mut time = None;
        let mut identity = GridIdentity {
            job_id: "",
            submit_ms: 0,
            global_user: None,
            fqan: None,
            submit_host: None,
            global_job_id: None,
        };
        for field in inner.split("\" \"") {
            let (key, value) = field
                .split_once('=')
                .ok_or_else(|| Refusal::new(Reason::FieldCount, format!("{:?} is not key=value", clip(field))))?;
            let value = value.trim();
            match key.trim() {
                "timestamp" => time = known(value),
                "userDN" => identity.global_user = known(value),
                "userFQAN" => identity.fqan = identity.fqan.or(known(value)),
                "ceID" => identity.submit_host = known(value),
                "jobID" => identity.global_job_id = known(value),
                "lrmsID" => identity.job_id = value,
                _ => {}
            }
        }
        if identity.job_id.is_empty() {
            return Err(Refusal::missing("lrmsID"));
        }
        let time = time.ok_or_else(|| Refusal::missing("timestamp"))?;
        identity.submit_ms = utc_ms(time).ok_or_else(|| {
            Refusal::new(
                Reason::BadTime,
                format!("timestamp {:?} is not a time such as 2014-05-18 00:00:58", clip(time)),
            )
        })?;
        sink.grid_identity(&identity, record.at);
        Ok(())
    }
}

/// `YYYY-MM-DD HH:MM:SS` as Unix milliseconds.
fn utc_ms(text: &str) -> Option<i64> {
    let (day, time) = text.split_once(' ')?;
    instant::rfc3339_ms(&format!("{day}T{time}Z"))
}
