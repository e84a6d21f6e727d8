//! Files of the APEL world that are not text messages: XML (CAR, aggregated and storage records, OGF usage records) and
//! JSON (accelerators, addresses). They are recognised and their records counted, so that the ledger names them.

use std::io::Read;

use memchr::memmem;

use super::limits::Limits;
use super::message::to_u64;
use crate::error::Result;
use crate::ledger::Reason;
use crate::sources::{Position, Sink, Work};

/// Longest tag name looked at.
const NAME_LIMIT: usize = 256;

/// Counts the record elements of an XML file, a block at a time.
pub(super) fn xml(mut input: Box<dyn Read + Send>, limits: Limits) -> Result<Work> {
    let mut counter = Counter::default();
    let mut buffer = Vec::new();
    loop {
        let read = input
            .by_ref()
            .take(to_u64(limits.block.max(1)))
            .read_to_end(&mut buffer)?;
        let is_ended = read == 0;
        let used = counter.feed(&buffer, is_ended);
        buffer.drain(..used.min(buffer.len()));
        if is_ended {
            break;
        }
    }
    let (jobs, summaries) = (counter.others, counter.summaries);
    Ok(Box::new(move |sink: &mut dyn Sink| {
        // A document of an unknown kind without any record element we know is one row.
        let others = if jobs + summaries == 0 { 1 } else { jobs };
        sink.rows_read(others + summaries);
        if others > 0 {
            sink.out_of_scope(Reason::OtherRecordType, others);
        }
        if summaries > 0 {
            sink.out_of_scope(Reason::Summary, summaries);
        }
    }))
}

#[derive(Default)]
struct Counter {
    others: u64,
    summaries: u64,
    in_comment: bool,
}

impl Counter {
    /// Looks at the tags of `bytes` and says how many bytes are done with.
    fn feed(&mut self, bytes: &[u8], is_ended: bool) -> usize {
        let mut at = 0;
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            if self.in_comment {
                let Some(end) = memmem::find(rest, b"-->") else {
                    return bytes.len().saturating_sub(2).max(at);
                };
                self.in_comment = false;
                at += end + 3;
                continue;
            }
            let Some(open) = memchr::memchr(b'<', rest) else {
                return bytes.len();
            };
            let tag = rest.get(open + 1..).unwrap_or_default();
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
            let name = window.get(..end).unwrap_or_default();
            match name.rsplit(|&b| b == b':').next().unwrap_or(name) {
                b"UsageRecord" | b"JobUsageRecord" | b"StorageUsageRecord" => self.others += 1,
                b"SummaryRecord" => self.summaries += 1,
                _ => {}
            }
            at += open + 1;
        }
    }
}

/// Counts the records of a JSON message, which is read whole.
pub(super) fn json(input: Box<dyn Read + Send>, limits: Limits, at: Position) -> Result<Work> {
    let mut bytes = Vec::new();
    input.take(to_u64(limits.message) + 1).read_to_end(&mut bytes)?;
    let is_too_long = bytes.len() > limits.message;
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
            sink.out_of_scope(Reason::OtherRecordType, rows);
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
