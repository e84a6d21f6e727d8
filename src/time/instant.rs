//! Instants as text, and now. Instants are Unix milliseconds or seconds, UTC.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};

/// Years whose instants have a text.
const YEARS_MS: std::ops::RangeInclusive<i64> = -377_705_116_800_000..=253_402_300_799_999;

fn of_ms(ms: i64) -> Option<DateTime<Utc>> {
    YEARS_MS
        .contains(&ms)
        .then(|| DateTime::from_timestamp_millis(ms))
        .flatten()
}

/// Now, Unix milliseconds.
#[must_use]
pub(crate) fn now_ms() -> i64 {
    Utc::now().timestamp_millis()
}

/// `2026-03-01T12:00:00Z`, with as many decimals of the second as it needs; `None` outside the years -9999 to 9999.
#[must_use]
pub fn instant_text(ms: i64) -> Option<String> {
    let text = of_ms(ms)?.format("%Y-%m-%dT%H:%M:%S").to_string();
    let fraction = match ms.rem_euclid(1000) {
        0 => String::new(),
        rest => format!(".{rest:03}").trim_end_matches('0').to_owned(),
    };
    Some(format!("{text}{fraction}Z"))
}

/// As [`instant_text`], of Unix seconds.
#[must_use]
pub fn instant_text_s(s: i64) -> Option<String> {
    instant_text(s.checked_mul(1000)?)
}

/// `2026-03-01T12:00:00Z`, parts of seconds cut off.
#[must_use]
pub fn second_text(ms: i64) -> Option<String> {
    Some(of_ms(ms)?.format("%Y-%m-%dT%H:%M:%SZ").to_string())
}

/// `2026-03-01 12:00:00`, parts of seconds cut off.
#[must_use]
pub fn spaced_text(ms: i64) -> Option<String> {
    Some(of_ms(ms)?.format("%Y-%m-%d %H:%M:%S").to_string())
}

/// The Unix second of an instant with an offset or `Z` (RFC 3339), rounded down.
#[must_use]
pub fn parse_instant_s(text: &str) -> Option<i64> {
    DateTime::parse_from_rfc3339(text).ok().map(|at| at.timestamp())
}

/// What a time without an offset reads on the clock: milliseconds since 1970-01-01T00:00 of that clock. A day alone is
/// its midnight; minutes and seconds may be absent.
#[must_use]
pub fn parse_local_ms(text: &str) -> Option<i64> {
    let Some((day, time)) = text.split_once(['T', 't', ' ']) else {
        let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
        return Some(day.and_time(NaiveTime::MIN).and_utc().timestamp_millis());
    };
    let time = match time.len() {
        2 => format!("{time}:00:00"),
        5 => format!("{time}:00"),
        _ => time.to_owned(),
    };
    let local = NaiveDateTime::parse_from_str(&format!("{day}T{time}"), "%Y-%m-%dT%H:%M:%S%.f").ok()?;
    Some(local.and_utc().timestamp_millis())
}
