//! Every dialect: how it is recognised, and what reads it.

use std::io::Read;
use std::sync::Arc;

use memchr::memmem;

use super::byte_order_mark::without_mark;
use super::dialect::Dialect;
use super::hints::SacctHeader;
use super::lines::LogLimits;
use super::options::ReaderOptions;
use super::sacct::FixedOrder;
use super::{Format, Pieces, inventory};
use crate::error::Result;

/// Bytes of unpacked input that are enough for [`recognise`].
pub const HEAD_BYTES: usize = 64 * 1024;

/// The dialect to read unpacked input as: a tar is one whatever its members are declared to be.
#[must_use]
pub fn choose(declared: Format, head: &[u8]) -> Option<Dialect> {
    if super::archive::is_tar(head) {
        return Some(Dialect::Archive);
    }
    Dialect::of(declared).or_else(|| recognise(head))
}

/// The dialect whose marks the first bytes (unpacked) bear.
#[must_use]
pub fn recognise(head: &[u8]) -> Option<Dialect> {
    if super::archive::is_tar(head) {
        return Some(Dialect::Archive);
    }
    if let Some(kind) = inventory::recognise(head) {
        return Some(Dialect::Inventory(kind));
    }
    let text = without_mark(head).trim_ascii_start();
    let has = |word: &str| memmem::find(text, word.as_bytes()).is_some();
    match text.first()? {
        b'{' | b'[' if has("\"APEL-") || has("\"UsageRecords\"") => Some(Dialect::Apel),
        b'{' | b'[' | b'<' | b'r' if super::gracc::recognise(text) => Some(Dialect::Gracc),
        b'A' if text.starts_with(b"APEL-") => Some(Dialect::Apel),
        b'<' if has("UsageRecord") || has("SummaryRecord") || has("StorageUsageRecord") => Some(Dialect::Apel),
        b'{' if super::sacct::json::recognise(text) => Some(Dialect::Sacct),
        b'{' if ["\"_index\"", "\"ProbeName\"", "\"RawXML\""].iter().any(|key| has(key)) => Some(Dialect::Gracc),
        b'{' | b'[' if super::htcondor::recognise(text) => Some(Dialect::Htcondor),
        b'{' | b'[' | b'<' => None,
        _ if SacctHeader::find(head).is_some() => Some(Dialect::Sacct),
        // Batch logs have stricter grammars than a dump without a header.
        _ => batch_log(text).or_else(|| FixedOrder::recognise(head).map(|_| Dialect::Sacct)),
    }
}

/// The batch system one of whose first lines this is. Each grammar is strict enough to exclude the others.
fn batch_log(text: &[u8]) -> Option<Dialect> {
    type Recognise = fn(&[u8]) -> bool;
    const LOGS: [(Dialect, Recognise); 6] = [
        (Dialect::Pbs, super::pbs::recognise),
        (Dialect::Blah, super::blah::recognise),
        (Dialect::Lsf, super::lsf::recognise),
        (Dialect::Sge, super::sge::recognise),
        (Dialect::Htcondor, super::htcondor::recognise),
        (Dialect::Swf, super::swf::recognise),
    ];
    LOGS.iter().find(|(_, is)| is(text)).map(|(dialect, _)| *dialect)
}

/// The first line of unpacked input that is an error or a warning of the tool that should have written it: line and text.
#[must_use]
pub fn tool_message(head: &[u8]) -> Option<(u64, String)> {
    let is_message = |line: &[u8]| super::sacct::is_tool_message(line) || inventory::is_tool_message(line);
    let mut lines = (1..).zip(head.split(|byte| *byte == b'\n'));
    let (at, line) = lines.find(|(_, line)| is_message(line))?;
    Some((at, String::from_utf8_lossy(line.trim_ascii_end()).into_owned()))
}

/// Cuts unpacked input of a dialect into pieces that can be parsed on any thread.
///
/// # Errors
/// What the reader of the dialect says.
pub fn pieces(dialect: Dialect, input: Box<dyn Read + Send>, options: Arc<ReaderOptions>) -> Result<Pieces> {
    match dialect {
        Dialect::Sacct => super::sacct::pieces(input, options),
        Dialect::Apel => super::apel::pieces(input, options),
        Dialect::Gracc => super::gracc::pieces(input, options),
        Dialect::Archive => super::archive::pieces(input, options),
        Dialect::Pbs => Ok(super::pbs::pieces(input, LogLimits::default())),
        Dialect::Sge => Ok(super::sge::pieces(input, LogLimits::default())),
        Dialect::Lsf => Ok(super::lsf::pieces(input, LogLimits::default())),
        Dialect::Htcondor => super::htcondor::pieces(input, LogLimits::default()),
        Dialect::Blah => Ok(super::blah::pieces(input, LogLimits::default())),
        Dialect::Swf => super::swf::pieces(input, &options, LogLimits::default()),
        Dialect::Inventory(kind) => inventory::pieces(kind, input, options),
    }
}
