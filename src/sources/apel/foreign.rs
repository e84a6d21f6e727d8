//! Files of the APEL world that are not text messages. CAR is read; other XML (aggregated and storage records, OGF usage
//! records) and JSON (accelerators, addresses) are recognised and their records counted, so that the ledger names them.
//! Usage records of no known namespace are refused: a mistake in the namespace must not make jobs vanish.

use std::io::Read;

use memchr::memmem;

use super::acceptance::Acceptance;
use super::car;
use super::limits::ApelLimits;
use super::message::{MessageScratch, to_u64};
use super::record::ApelJob;
use crate::error::Result;
use crate::ledger::Reason;
use crate::numbers::{Extent, Part};
use crate::sources::options::ReaderOptions;
use crate::sources::refusal::{Refusal, without_nul};
use crate::sources::truncate::clip;
use crate::sources::{Position, Sink, Work};

/// Longest tag name looked at.
const NAME_LIMIT: usize = 256;

/// How much of a document is looked at for its root element.
const HEAD_BYTES: usize = 64 << 10;

/// Reads a document of CAR, which is judged as a message is; counts the record elements of any other XML, a block at a
/// time.
pub(super) fn xml(
    mut input: Box<dyn Read + Send>,
    options: &ReaderOptions,
    limits: ApelLimits,
    at: Position,
) -> Result<Work> {
    let mut head = Vec::new();
    input.by_ref().take(to_u64(HEAD_BYTES)).read_to_end(&mut head)?;
    let root = car::root(&head);
    let is_car = root.as_ref().is_some_and(|(of, _)| of == car::NAMESPACE);
    let kind = root.as_ref().and_then(|(of, name)| foreign_kind(of, name));
    let is_whole = if is_car {
        let left = limits.message.less(head.len());
        input.by_ref().take(to_u64(left)).read_to_end(&mut head)?;
        let mut next = Vec::new();
        input.by_ref().take(1).read_to_end(&mut next)?;
        let is_whole = next.is_empty() && head.len() <= limits.message;
        head.append(&mut next);
        is_whole
    } else {
        false
    };
    if is_whole {
        let acceptance = options.acceptance;
        return Ok(Box::new(move |sink: &mut dyn Sink| {
            judge(&head, at, acceptance, limits, sink);
        }));
    }
    let kept = head.get(..limits.kept).unwrap_or(&head).to_vec();
    let counter = count(head, input, limits)?;
    // A document of an unknown kind without any record we know is one row.
    let row_n = counter.record_n.max(1);
    let refused = if is_car {
        Some((
            Reason::TooLong,
            format!("the document is longer than {} bytes", limits.message),
        ))
    } else {
        let is_unknown = kind.is_none() && counter.has_usage_record;
        is_unknown.then(|| {
            (
                Reason::BadMessage,
                of_unknown_namespace(root.as_ref().map(|(of, _)| &**of)),
            )
        })
    };
    Ok(Box::new(move |sink: &mut dyn Sink| {
        sink.rows_read(row_n);
        match &refused {
            Some((reason, detail)) => sink.reject(*reason, at, row_n, detail, &kept),
            // Fallback: what has neither a known name nor usage records is of another type.
            None => sink.out_of_scope(kind.unwrap_or(Reason::OtherRecordType), row_n),
        }
    }))
}

/// Why usage records are refused whose document has no namespace, or none that is known.
fn of_unknown_namespace(namespace: Option<&[u8]>) -> String {
    let found = match namespace {
        None | Some(b"") => "no namespace".to_owned(),
        Some(other) => format!("the unknown namespace {:?}", clip(&String::from_utf8_lossy(other))),
    };
    let known = String::from_utf8_lossy(car::NAMESPACE);
    format!("usage records in a document with {found}: that of CAR is {known}")
}

/// Why records of another kind are left out; `None` for a kind that is unknown.
fn foreign_kind(namespace: &[u8], root: &[u8]) -> Option<Reason> {
    let has = |word: &[u8]| memmem::find(namespace, word).is_some();
    Some(match root {
        _ if has(b"aggregatedcomputerecord") => Reason::AggregatedRecord,
        _ if has(b"storagerecord") => Reason::StorageRecord,
        _ if has(b"/2003/09/urf") || has(b"ur-wg") => Reason::OgfUsageRecord,
        b"SummaryRecord" | b"SummaryRecords" => Reason::AggregatedRecord,
        b"StorageUsageRecord" | b"StorageUsageRecords" => Reason::StorageRecord,
        _ => return None,
    })
}

/// The record elements of a document.
fn count(head: Vec<u8>, mut input: Box<dyn Read + Send>, limits: ApelLimits) -> Result<Counter> {
    let mut counter = Counter::default();
    let mut buffer = head;
    loop {
        let before = buffer.len();
        input
            .by_ref()
            .take(to_u64(limits.block.max(1)))
            .read_to_end(&mut buffer)?;
        let is_ended = buffer.len() == before;
        let used = counter.feed(&buffer, is_ended);
        buffer.drain(..used.min(buffer.len()));
        if is_ended {
            return Ok(counter);
        }
    }
}

/// The verdict on a document of CAR.
fn judge(document: &[u8], at: Position, acceptance: Acceptance, limits: ApelLimits, sink: &mut dyn Sink) {
    let (found, failure) = car::read(document, at, limits);
    if found.is_empty() {
        // A document without a record gives no row; one that cannot be read is one row.
        if let Some(why) = failure {
            sink.rows_read(1);
            let kept = document.get(..limits.kept).unwrap_or(document);
            sink.reject(
                Reason::BadMessage,
                at,
                1,
                &format!("the XML cannot be read: {why}"),
                kept,
            );
        }
        return;
    }
    sink.rows_read(to_u64(found.len()));
    let jobs: Vec<Result<ApelJob<'_>, Refusal>> = (found.iter())
        .map(|found| {
            without_nul(document.part(found.span.clone()))?;
            found.car.as_ref().map_err(Clone::clone).and_then(car::Car::job)
        })
        .collect();
    let first_bad = found
        .iter()
        .zip(&jobs)
        .find_map(|(found, job)| Some((found.at.line, job.as_ref().err()?.reason)));
    let refused = match (first_bad, &failure) {
        (Some((line, reason)), _) => Some(format!(
            "the record at line {line} of the same document is refused ({reason})"
        )),
        (None, Some(why)) => Some(format!("the document cannot be read to its end: {why}")),
        (None, None) => None,
    };
    let mut scratch = MessageScratch::default();
    for (found, job) in found.iter().zip(&jobs) {
        let raw = document.part(found.span.clone());
        let raw = raw.get(..limits.kept).unwrap_or(raw);
        match (job, &refused) {
            (Err(bad), _) => sink.reject(bad.reason, found.at, 1, &bad.detail, raw),
            (Ok(_), Some(detail)) if acceptance == Acceptance::StrictApel => {
                sink.reject(Reason::MessageRefused, found.at, 1, detail, raw);
            }
            (Ok(job), _) => scratch.emit(job, found.at, sink),
        }
    }
}

#[derive(Default)]
struct Counter {
    record_n: u64,
    has_usage_record: bool,
    in_comment: bool,
}

impl Counter {
    /// Scans the tags of `bytes` and returns how many bytes are finished.
    fn feed(&mut self, bytes: &[u8], is_ended: bool) -> usize {
        let mut at = 0;
        loop {
            let rest = bytes.part(at..);
            if self.in_comment {
                let Some(end) = memmem::find(rest, b"-->") else {
                    return bytes.len().less(2).max(at);
                };
                self.in_comment = false;
                at += end + 3;
                continue;
            }
            let Some(open) = memchr::memchr(b'<', rest) else {
                return bytes.len();
            };
            let tag = rest.part(open + 1..);
            let window = tag.get(..NAME_LIMIT).unwrap_or(tag);
            let Some(end) = window
                .iter()
                .position(|b| b.is_ascii_whitespace() || matches!(b, b'>' | b'/' | b'<'))
            else {
                if window.len() < NAME_LIMIT && !is_ended {
                    return at + open;
                }
                at += open + 1;
                continue;
            };
            if window.starts_with(b"!--") {
                self.in_comment = true;
                at += open + 4;
                continue;
            }
            let name = window.part(..end);
            match name.rsplit(|&b| b == b':').next().unwrap_or(name) {
                b"UsageRecord" => {
                    self.record_n += 1;
                    self.has_usage_record = true;
                }
                b"UsageRecords" => self.has_usage_record = true,
                b"JobUsageRecord" | b"StorageUsageRecord" | b"SummaryRecord" => self.record_n += 1,
                _ => {}
            }
            at += open + 1;
        }
    }
}

/// Counts the records of a JSON message, which is read whole.
pub(super) fn json(input: Box<dyn Read + Send>, limits: ApelLimits, at: Position) -> Result<Work> {
    let mut bytes = Vec::new();
    input.take(to_u64(limits.message) + 1).read_to_end(&mut bytes)?;
    let is_too_long = bytes.len() > limits.message;
    let is_accelerator = memmem::find(&bytes, b"\"APEL-accelerator-message\"").is_some();
    let reason = if is_accelerator {
        Reason::AcceleratorRecord
    } else {
        Reason::OtherRecordType
    };
    let verdict = if is_too_long {
        let detail = format!("the JSON message is longer than {} bytes", limits.message);
        Err((Reason::TooLong, detail))
    } else {
        match serde_json::from_slice::<serde_json::Value>(&bytes) {
            Ok(value) => Ok(records(&value)),
            Err(error) => Err((Reason::BadMessage, format!("the JSON message is malformed: {error}"))),
        }
    };
    Ok(Box::new(move |sink: &mut dyn Sink| match verdict {
        Ok(rows) => {
            sink.rows_read(rows);
            sink.out_of_scope(reason, rows);
        }
        Err((reason, detail)) => {
            let raw = if is_too_long {
                bytes.get(..limits.kept).unwrap_or(&bytes)
            } else {
                &bytes
            };
            sink.rows_read(1);
            sink.reject(reason, at, 1, &detail, raw);
        }
    }))
}

/// The elements of `UsageRecords`, or of the array the message is, or one.
fn records(value: &serde_json::Value) -> u64 {
    let list = value.get("UsageRecords").unwrap_or(value);
    list.as_array().map_or(1, |list| to_u64(list.len()))
}
