//! When the files of an inventory were true, where they do not state it.

use crate::sources::instant::rfc3339_ms;
use crate::time::{Local, Zone};

/// What `as_of` in the pipeline file means.
#[derive(Clone, Debug)]
pub enum AsOf {
    /// At this instant, Unix milliseconds.
    At(i64),
    /// At the beginning of the day in this zone that the path of the file names.
    Path(Zone),
}

impl AsOf {
    /// The word for [`Self::Path`].
    const PATH: &'static str = "path";

    /// Reads `path`, a day in `zone`, or an instant with its offset.
    #[must_use]
    pub fn parse(text: &str, zone: &Zone) -> Option<Self> {
        if text == Self::PATH {
            return Some(Self::Path(zone.clone()));
        }
        let at = if text.len() > 10 {
            rfc3339_ms(text)
        } else {
            midnight_ms(text, zone)
        };
        at.map(Self::At)
    }

    /// When the file at `path` was true, Unix milliseconds; `None` when its path should contain a day and does not.
    #[must_use]
    pub fn of(&self, path: &str) -> Option<i64> {
        match self {
            Self::At(ms) => Some(*ms),
            Self::Path(zone) => midnight_ms(&day_in(path)?, zone),
        }
    }

    /// The same, where the path decides.
    #[must_use]
    pub fn in_path(&self, path: &str) -> Option<i64> {
        match self {
            Self::At(_) => None,
            Self::Path(_) => self.of(path),
        }
    }

    /// What decides results.
    #[must_use]
    pub fn canonical(&self) -> String {
        match self {
            Self::At(ms) => ms.to_string(),
            Self::Path(zone) => format!("{} {}", Self::PATH, zone.name()),
        }
    }
}

/// Unix milliseconds of the first instant of a day (`YYYY-MM-DD`) in a zone.
fn midnight_ms(day: &str, zone: &Zone) -> Option<i64> {
    let midnight_ms = rfc3339_ms(&format!("{day}T00:00:00Z"))?;
    let unix_s = match zone.resolve(midnight_ms / 1000) {
        Local::Unique(unix_s) | Local::Gap(unix_s) => unix_s,
        Local::Fold { earlier, .. } => earlier,
    };
    Some(unix_s * 1000)
}

/// The last day a path names, as `YYYY-MM-DD`: `nodes-2026-11-01.txt`, `sinfo.20261101`, `2026/11/01/nodes.json`. A
/// time may follow it.
fn day_in(path: &str) -> Option<String> {
    let bytes = path.as_bytes();
    (0..bytes.len()).rev().find_map(|start| {
        let before = start.checked_sub(1).and_then(|at| bytes.get(at));
        if before.is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let (year, rest) = digits(bytes.get(start..)?, 4)?;
        let mark = rest.first().filter(|byte| b"-_./".contains(byte));
        let (month, rest) = digits(behind(mark, rest)?, 2)?;
        let (day, rest) = digits(behind(mark, rest)?, 2)?;
        let is_longer = mark.is_some() && rest.first().is_some_and(u8::is_ascii_digit);
        let text = format!("{year}-{month}-{day}");
        let is_day =
            !is_longer && ("1990".."2200").contains(&year) && rfc3339_ms(&format!("{text}T00:00:00Z")).is_some();
        is_day.then_some(text)
    })
}

/// What follows the mark between two parts of a date, which all have the same one, or none.
fn behind<'a>(mark: Option<&u8>, rest: &'a [u8]) -> Option<&'a [u8]> {
    match mark {
        None => Some(rest),
        Some(mark) => rest.strip_prefix(std::slice::from_ref(mark)),
    }
}

/// The first `n` bytes, if they are digits, and the others.
fn digits(bytes: &[u8], n: usize) -> Option<(&str, &[u8])> {
    let (digits, rest) = bytes.split_at_checked(n)?;
    let digits = std::str::from_utf8(digits).ok()?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then_some((digits, rest))
}
