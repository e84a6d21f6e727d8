//! Printed instants of `scontrol`, `sinfo` and `sacctmgr`.

use crate::numbers::Comparand;
use crate::sources::instant::{printed_s, rfc3339_ms};
use crate::time::{Local, Zone};

/// An instant, or the two a printed local time can mean. Unix milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PrintedInstant {
    pub(super) earlier_ms: i64,
    pub(super) later_ms: i64,
}

impl PrintedInstant {
    pub(super) fn is_double(self) -> bool {
        self.earlier_ms != self.later_ms
    }
}

/// Reads a time with an offset, without one (in `zone`), or in Unix seconds; `Ok(None)` for the words that mean
/// none. The error is the sentence after the value.
pub(super) fn read(text: &str, zone: Option<&Zone>) -> Result<Option<PrintedInstant>, &'static str> {
    if crate::reference::inventory::absent::is_absent(text) || text == "0" {
        return Ok(None);
    }
    let single = |ms| PrintedInstant {
        earlier_ms: ms,
        later_ms: ms,
    };
    if let Some(ms) = rfc3339_ms(text) {
        return Ok(Some(single(ms)));
    }
    if text.len() <= 12 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let seconds: i64 = text.parse().map_err(|_| "is not a time")?;
        return Ok(Some(single(seconds * 1000)));
    }
    let local_s = printed_s(text.as_bytes()).ok_or("is not a time (YYYY-MM-DDTHH:MM:SS, or Unix seconds)")?;
    local(local_s, zone)
        .ok_or("is a local time and the inventory has no `timezone`")
        .map(Some)
}

/// What seconds read off a clock in `zone` mean.
pub(super) fn local(local_s: i64, zone: Option<&Zone>) -> Option<PrintedInstant> {
    let (earlier, later) = match zone?.resolve(local_s) {
        Local::Unique(unix_s) | Local::Gap(unix_s) => (unix_s, unix_s),
        Local::Fold { earlier, later } => (earlier, later),
    };
    Some(PrintedInstant {
        earlier_ms: earlier.product_to_compare(1000),
        later_ms: later.product_to_compare(1000),
    })
}

/// The line `sinfo -l` begins with, `Sat Nov 21 02:05:54 2026`, as seconds read off a clock.
pub(super) fn long_date(line: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let [_, month, day, clock, year] = words.as_slice() else {
        return None;
    };
    let month = MONTHS.iter().position(|name| name == month)? + 1;
    let day: u32 = day.parse().ok()?;
    printed_s(format!("{year}-{month:02}-{day:02}T{clock}").as_bytes())
}

/// `[D-]HH:MM:SS`, `MM:SS`, `D-HH` and plain minutes as `Timelimit` and `MaxTime` are written; `None` for the words for
/// no limit.
pub(super) fn duration_s(text: &str) -> Result<Option<i64>, ()> {
    if crate::reference::inventory::absent::is_absent(text)
        || matches!(text.to_ascii_uppercase().as_str(), "UNLIMITED" | "INFINITE")
    {
        return Ok(None);
    }
    let number = |text: &str| -> Result<i64, ()> {
        if text.is_empty() || text.len() > 9 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(());
        }
        text.parse().map_err(|_| ())
    };
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(number(days)?), rest),
        None => (None, text),
    };
    let parts = rest.split(':').map(number).collect::<Result<Vec<_>, ()>>()?;
    let seconds = match (days, parts.as_slice()) {
        (None, [minutes]) => minutes * 60,
        (None, [minutes, seconds]) => minutes * 60 + seconds,
        (_, [hours, minutes, seconds]) => hours * 3600 + minutes * 60 + seconds,
        (Some(_), [hours]) => hours * 3600,
        (Some(_), [hours, minutes]) => hours * 3600 + minutes * 60,
        _ => return Err(()),
    };
    // Fallback: a duration that does not state days has none.
    Ok(Some(seconds + days.unwrap_or(0) * 86_400))
}
