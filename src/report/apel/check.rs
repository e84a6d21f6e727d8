//! A message held against the rules of APEL's server: what we write before it leaves, and what was received.
//!
//! Written from the server's documented behaviour and not from the reader of this program, so that the two can be held
//! against each other.

use std::collections::BTreeMap;

use super::dictionary::{is_number, picked};
use super::kind::MessageKind;
use super::rules::{ApelForm, ApelRule, FieldRule, JOB, NORMALISED, SUMMARY, SYNC};
use crate::numbers::Comparand;
use crate::time::Month;
use crate::time::instant::parse_instant_s;

/// The largest integer the server's procedures take.
const INT_MAX: i128 = 2_147_483_647;
/// The longest job id its column holds, in characters.
const JOB_ID_CHARS: usize = 255;
/// Longest infrastructure description and type.
const DESCRIPTION_CHARS: usize = 100;
const INFRASTRUCTURE_CHARS: usize = 20;
/// A job may end this much later than now.
const FUTURE_S: i64 = 2 * 86_400;

/// Whether the server would refuse a job that ends then, Unix seconds; never where it is not known what time it is.
pub(super) fn is_future(end_s: i64, now_s: Option<i64>) -> bool {
    now_s.is_some_and(|now_s| end_s > now_s.sum_to_compare(FUTURE_S))
}

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageCheckFinding {
    /// 1-based number of the record; 0 is the message itself.
    pub record: usize,
    /// Rule.
    pub rule: ApelRule,
    /// Field and value, in a sentence.
    pub detail: String,
}

fn broken(rule: ApelRule, detail: impl Into<String>) -> MessageCheckFinding {
    MessageCheckFinding {
        record: 0,
        rule,
        detail: detail.into(),
    }
}

/// Everything wrong with a message: the first broken rule of each record. Empty means the server loads it. `now_s`
/// (Unix seconds) is needed for the rules about the future, which are not checked without it.
#[must_use]
pub fn message(text: &str, now_s: Option<i64>) -> Vec<MessageCheckFinding> {
    let text = text.trim();
    let (header, body) = text.split_once('\n').unwrap_or((text, ""));
    let Some(kind) = MessageKind::of_header(header) else {
        let mut detail = format!("{:?} is not a header the server knows", clip(header));
        let further = (2_usize..)
            .zip(body.lines())
            .find(|(_, line)| MessageKind::of_header(line.trim()).is_some());
        if let Some((number, line)) = further {
            let further = format!("; {:?} is on line {number} and must be the first", clip(line.trim()));
            detail.push_str(&further);
        }
        return vec![broken(ApelRule::Header, detail)];
    };
    let mut findings = Vec::new();
    let mut record_n = 0;
    for text in body.split("%%").map(str::trim).filter(|text| !text.is_empty()) {
        record_n += 1;
        if let Err(mut finding) = record(text, kind, now_s) {
            finding.record = record_n;
            findings.push(finding);
        }
    }
    if record_n == 0 {
        findings.push(broken(ApelRule::Empty, "the message has no record"));
    }
    findings
}

/// One record, without the `%%`.
///
/// # Errors
/// The first rule it breaks.
pub fn record(text: &str, kind: MessageKind, now_s: Option<i64>) -> Result<(), MessageCheckFinding> {
    let fields = match kind {
        MessageKind::JobV03 | MessageKind::JobV04 => JOB,
        MessageKind::SummaryV02 | MessageKind::SummaryV04 => SUMMARY,
        MessageKind::NormalisedV03 | MessageKind::NormalisedV04 => NORMALISED,
        MessageKind::Sync => SYNC,
    };
    let record = MessageCheckRecord::read(text, fields)?;
    for &FieldRule { key, form, is_required } in fields {
        if is_required && record.get(key).is_none() {
            return Err(broken(ApelRule::Mandatory, format!("{key} is missing")));
        }
        if let Some(value) = record.get(key) {
            well_formed(key, value, form, kind)?;
        }
    }
    if kind.is_job() {
        job(&record, kind, now_s)
    } else if kind == MessageKind::Sync {
        within_int(&record, "NumberOfJobs")
    } else {
        summary(&record, kind, now_s)
    }
}

/// The fields of a record; null words are gone.
struct MessageCheckRecord<'a>(BTreeMap<&'static str, &'a str>);

impl<'a> MessageCheckRecord<'a> {
    fn read(text: &'a str, fields: &[FieldRule]) -> Result<Self, MessageCheckFinding> {
        let mut values = BTreeMap::new();
        for line in text.lines() {
            let Some((key, value)) = line.split_once(':') else {
                return Err(broken(
                    ApelRule::Line,
                    format!("the line {:?} has no colon", clip(line)),
                ));
            };
            let (key, value) = (key.trim(), value.trim());
            if MessageKind::of_header(line.trim()).is_some() {
                let detail = format!(
                    "the header {:?} is inside a message: the server takes one message per file",
                    clip(line.trim())
                );
                return Err(broken(ApelRule::Header, detail));
            }
            let Some(known) = fields.iter().find(|known| known.key == key) else {
                return Err(broken(
                    ApelRule::Key,
                    format!("{:?} is not a key of this kind of record", clip(key)),
                ));
            };
            let is_null = ["", "none", "null"].iter().any(|null| value.eq_ignore_ascii_case(null));
            if is_null {
                values.remove(known.key);
            } else {
                values.insert(known.key, value);
            }
        }
        Ok(Self(values))
    }

    fn get(&self, key: &str) -> Option<&'a str> {
        self.0.get(key).copied()
    }

    fn int(&self, key: &str) -> Option<i128> {
        self.get(key).and_then(integer)
    }

    fn time_s(&self, key: &str) -> Option<i64> {
        self.get(key).and_then(instant)
    }
}

/// What Python's `int()` takes: digits, a sign, underscores between digits.
fn integer(text: &str) -> Option<i128> {
    let digits = text.trim().trim_start_matches(['+', '-']);
    let is_plain = digits
        .split('_')
        .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    if !is_plain || text.trim().len() > digits.len() + 1 {
        return None;
    }
    text.trim().replace('_', "").parse().ok()
}

fn instant(text: &str) -> Option<i64> {
    if let Some(seconds) = integer(text) {
        return i64::try_from(seconds).ok();
    }
    let is_utc = text.len() == "2026-03-01T00:00:00Z".len() && text.ends_with('Z');
    parse_instant_s(text).filter(|_| is_utc)
}

fn well_formed(key: &str, value: &str, form: ApelForm, kind: MessageKind) -> Result<(), MessageCheckFinding> {
    let wrong = |rule: ApelRule, what: &str| Err(broken(rule, format!("{key} {:?} {what}", clip(value))));
    match form {
        ApelForm::Int | ApelForm::Work
            if (form == ApelForm::Int || !kind.has_dictionary()) && integer(value).is_none() =>
        {
            wrong(ApelRule::Integer, "is not an integer")
        }
        ApelForm::Time if instant(value).is_none() => {
            wrong(ApelRule::Time, "is neither Unix seconds nor YYYY-MM-DDTHH:MM:SSZ")
        }
        ApelForm::Level | ApelForm::Work if kind.has_dictionary() => match picked(value) {
            Ok(_) => Ok(()),
            Err(why) => wrong(ApelRule::Benchmark, why),
        },
        ApelForm::Level if !is_number(value) => wrong(ApelRule::Number, "is not a number"),
        ApelForm::Text | ApelForm::Ignored | ApelForm::Int | ApelForm::Time | ApelForm::Level | ApelForm::Work => {
            Ok(())
        }
    }
}

fn within_int(record: &MessageCheckRecord<'_>, key: &str) -> Result<(), MessageCheckFinding> {
    match record.int(key) {
        Some(value) if value.abs() > INT_MAX => Err(broken(
            ApelRule::Database,
            format!("{key} {value} does not fit 32 bits"),
        )),
        _ => Ok(()),
    }
}

fn not_negative(record: &MessageCheckRecord<'_>, keys: &[&str]) -> Result<(), MessageCheckFinding> {
    for key in keys {
        if let Some(value) = record.int(key).filter(|value| *value < 0) {
            return Err(broken(ApelRule::Negative, format!("{key} {value} is negative")));
        }
    }
    Ok(())
}

fn not_longer(record: &MessageCheckRecord<'_>, key: &str, chars: usize) -> Result<(), MessageCheckFinding> {
    match record.get(key) {
        Some(value) if value.chars().count() > chars => Err(broken(
            ApelRule::Database,
            format!("{key} {:?} is longer than {chars} characters", clip(value)),
        )),
        _ => Ok(()),
    }
}

fn job(record: &MessageCheckRecord<'_>, kind: MessageKind, now_s: Option<i64>) -> Result<(), MessageCheckFinding> {
    let (start_s, end_s) = (record.time_s("StartTime"), record.time_s("EndTime"));
    if start_s.zip(end_s).is_some_and(|(start, end)| end < start) {
        return Err(broken(ApelRule::Order, "EndTime is before StartTime"));
    }
    if end_s.is_some_and(|end_s| is_future(end_s, now_s)) {
        return Err(broken(ApelRule::Future, "EndTime is more than two days in the future"));
    }
    let (kind_word, level) = (record.get("ServiceLevelType"), record.get("ServiceLevel"));
    if kind == MessageKind::JobV04 {
        let Some(level) = level else {
            // The real loader dies of this one and leaves the message locked.
            return Err(broken(ApelRule::Mandatory, "ServiceLevel is missing"));
        };
        let (benchmark, _) = picked(level).map_err(|why| broken(ApelRule::Benchmark, why))?;
        if kind_word.is_some_and(|word| !word.eq_ignore_ascii_case(benchmark)) {
            return Err(broken(ApelRule::Benchmark, "ServiceLevelType names another benchmark"));
        }
    } else {
        // With neither, the server puts in the type `custom`, which its own second check refuses.
        let (Some(word), Some(_)) = (kind_word, level) else {
            return Err(broken(
                ApelRule::Mandatory,
                "ServiceLevelType or ServiceLevel is missing",
            ));
        };
        if !["si2k", "hepspec", "hepscore23"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(word))
        {
            return Err(broken(
                ApelRule::Benchmark,
                format!("ServiceLevelType {:?} is not known", clip(word)),
            ));
        }
    }
    not_negative(record, &["WallDuration", "CpuDuration"])?;
    for key in [
        "WallDuration",
        "CpuDuration",
        "Processors",
        "NodeCount",
        "MemoryReal",
        "MemoryVirtual",
    ] {
        within_int(record, key)?;
    }
    not_longer(record, "LocalJobId", JOB_ID_CHARS)?;
    not_longer(record, "LocalUserId", JOB_ID_CHARS)?;
    not_longer(record, "InfrastructureDescription", DESCRIPTION_CHARS)?;
    not_longer(record, "InfrastructureType", INFRASTRUCTURE_CHARS)
}

fn summary(record: &MessageCheckRecord<'_>, kind: MessageKind, now_s: Option<i64>) -> Result<(), MessageCheckFinding> {
    let month = record
        .int("Year")
        .zip(record.int("Month"))
        .and_then(|(year, month)| Month::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?));
    let Some(month) = month else {
        return Err(broken(ApelRule::Month, "there is no such month"));
    };
    let midnight_s = |month: Month| i64::from(month.first_day()) * 86_400;
    let (first_s, next_s) = (midnight_s(month), midnight_s(month.next()));
    if now_s.is_some_and(|now| first_s > now) {
        return Err(broken(ApelRule::Future, format!("{month} is in the future")));
    }
    let ends = [record.time_s("EarliestEndTime"), record.time_s("LatestEndTime")];
    // The first instant of the next month is legal.
    if ends.iter().flatten().any(|end| !(first_s..=next_s).contains(end)) {
        return Err(broken(ApelRule::Ends, format!("an end is not in {month}")));
    }
    if let [Some(earliest), Some(latest)] = ends
        && earliest > latest
    {
        return Err(broken(ApelRule::Ends, "EarliestEndTime is after LatestEndTime"));
    }
    let durations = [
        "WallDuration",
        "CpuDuration",
        "NormalisedWallDuration",
        "NormalisedCpuDuration",
    ];
    not_negative(record, &durations)?;
    // It passes the parser, and the database has an unsigned column for it.
    not_negative(record, &["NumberOfJobs"])?;
    if kind == MessageKind::NormalisedV04 {
        let benchmarks = ["NormalisedWallDuration", "NormalisedCpuDuration"].map(|key| {
            // Fallback: a key that is absent is refused as an empty dictionary is.
            let value = record.get(key).unwrap_or_default();
            picked(value).map_err(|why| broken(ApelRule::Benchmark, why))
        });
        let [wall, cpu] = benchmarks;
        let ((wall, _), (cpu, _)) = (wall?, cpu?);
        let other = record
            .get("ServiceLevelType")
            .is_some_and(|word| !word.eq_ignore_ascii_case(wall));
        if wall != cpu || other {
            return Err(broken(ApelRule::Benchmark, "the work is of different benchmarks"));
        }
    }
    for key in ["NumberOfJobs", "NodeCount", "Processors"] {
        within_int(record, key)?;
    }
    Ok(())
}

/// The start of a text, for a sentence.
fn clip(text: &str) -> &str {
    const CHARS: usize = 80;
    text.char_indices()
        .nth(CHARS)
        .map_or(text, |(at, _)| text.get(..at).unwrap_or(text))
}
