//! Fields of a document as typed values, tolerant of the spelling: a number may be a string, a count may be `8.0`.

use std::borrow::Cow;

use super::document::{GraccDocument, Key};
use crate::ledger::Reason;
use crate::record::anomaly::Anomaly;
use crate::sources::json::Scalar;
use crate::sources::refusal::Refusal;
use crate::sources::truncate::clip;
use crate::sources::{decimal, instant};

/// Reads fields and remembers what it noticed.
pub(super) struct GraccFields<'d, 'a> {
    document: &'d GraccDocument<'a>,
    pub(super) anomalies: u32,
}

impl<'d, 'a> GraccFields<'d, 'a> {
    pub(super) fn new(document: &'d GraccDocument<'a>) -> Self {
        let anomalies = if document.is_invalid() {
            Anomaly::InvalidText.bit()
        } else {
            0
        };
        Self { document, anomalies }
    }

    pub(super) fn notice(&mut self, anomaly: Anomaly) {
        self.anomalies |= anomaly.bit();
    }

    /// The text of a string or number; blank text is unknown.
    pub(super) fn text(&mut self, key: Key) -> Result<Option<Cow<'a, str>>, Refusal> {
        match self.document.get(key) {
            Scalar::Absent | Scalar::Null => Ok(None),
            Scalar::Bool(value) => Ok(Some(Cow::Borrowed(if value { "true" } else { "false" }))),
            Scalar::Number(ascii) => Ok(Some(String::from_utf8_lossy(ascii))),
            Scalar::Text(text) => {
                let (text, is_invalid) = text.decode();
                if is_invalid {
                    self.notice(Anomaly::InvalidText);
                }
                Ok(Some(text).filter(|text| text.bytes().any(|b| !b.is_ascii_whitespace())))
            }
            Scalar::Nested => Err(Refusal {
                reason: Reason::NotARecord,
                detail: format!(
                    "{} is a list or an object, and not one of the nested layout of May 2016",
                    key.name()
                ),
            }),
        }
    }

    /// A decimal number times ten to the `places`.
    fn scaled(&mut self, key: Key, places: u32, reason: Reason) -> Result<Option<decimal::Scaled>, Refusal> {
        if let Some(bytes) = self.document.get(key).bytes()
            && let Some(scaled) = decimal::scaled_ascii(bytes, places)
        {
            return Ok(Some(scaled));
        }
        let Some(text) = self.text(key)? else { return Ok(None) };
        match decimal::scaled(text.trim(), places) {
            Some(scaled) => Ok(Some(scaled)),
            None => Err(Refusal {
                reason,
                detail: format!("{} {:?} is not a number, or too large", key.name(), clip(&text)),
            }),
        }
    }

    /// Seconds as milliseconds, rounded half up.
    pub(super) fn duration_ms(&mut self, key: Key) -> Result<Option<i64>, Refusal> {
        let value = self.scaled(key, 3, Reason::BadDuration)?.map(|scaled| scaled.value);
        match value {
            Some(ms) if ms < 0 => Err(Refusal {
                reason: Reason::BadDuration,
                detail: format!("{} is negative: {ms} ms", key.name()),
            }),
            _ => Ok(value),
        }
    }

    /// A number in thousandths, rounded half up.
    pub(super) fn milli(&mut self, key: Key) -> Result<Option<i64>, Refusal> {
        Ok(self.scaled(key, 3, Reason::BadNumber)?.map(|scaled| scaled.value))
    }

    /// A whole number.
    pub(super) fn whole(&mut self, key: Key) -> Result<Option<i64>, Refusal> {
        match self.scaled(key, 0, Reason::BadNumber)? {
            Some(scaled) if !scaled.is_exact => Err(Refusal {
                reason: Reason::BadNumber,
                detail: format!("{} is not a whole number", key.name()),
            }),
            scaled => Ok(scaled.map(|scaled| scaled.value)),
        }
    }

    /// A whole number that is at least zero; others are read as unknown.
    pub(super) fn count(&mut self, key: Key) -> Result<Option<i64>, Refusal> {
        let value = self.whole(key)?;
        if value.is_some_and(|n| n < 0) {
            self.notice(Anomaly::ValueDropped);
        }
        Ok(value.filter(|&n| n >= 0))
    }

    /// A field that is not part of the usage: a value that cannot be read is unknown.
    pub(super) fn optional<T>(
        &mut self,
        key: Key,
        read: impl Fn(&mut Self, Key) -> Result<Option<T>, Refusal>,
    ) -> Option<T> {
        read(self, key).unwrap_or_else(|_| {
            self.notice(Anomaly::ValueDropped);
            None
        })
    }

    /// An RFC 3339 time, Unix milliseconds.
    pub(super) fn time_ms(&mut self, key: Key) -> Result<Option<i64>, Refusal> {
        if let Some(bytes) = self.document.get(key).bytes()
            && let Some(ms) = instant::rfc3339_ascii_ms(bytes)
        {
            return Ok(Some(ms));
        }
        let Some(text) = self.text(key)? else { return Ok(None) };
        match instant::rfc3339_ms(text.trim()) {
            Some(ms) => Ok(Some(ms)),
            None => Err(Refusal {
                reason: Reason::BadTime,
                detail: format!(
                    "{} {:?} is not a time such as 2016-06-24T23:54:52Z",
                    key.name(),
                    clip(&text)
                ),
            }),
        }
    }

    /// `Memory` in bytes by `Memory_storageUnit`.
    pub(super) fn memory_byte(&mut self) -> Result<Option<i64>, Refusal> {
        self.byte_n(Key::Memory, Key::MemoryUnit, None)
    }

    /// `Network` in bytes by `Network_storageUnit`: in bytes where the unit is missing, as all known probes write it.
    pub(super) fn network_byte(&mut self) -> Result<Option<i64>, Refusal> {
        self.byte_n(Key::Network, Key::NetworkUnit, Some("b"))
    }

    /// An amount in bytes by its storage unit, in which `b` is a byte as well. In an unknown unit it is unknown.
    fn byte_n(&mut self, key: Key, unit: Key, silent: Option<&str>) -> Result<Option<i64>, Refusal> {
        let Some(value) = self.scaled(key, 3, Reason::BadNumber)? else {
            return Ok(None);
        };
        let unit = self.text(unit)?;
        let factor: i128 = match unit.as_deref().map(str::trim).or(silent) {
            Some("B" | "b") => 1,
            Some("K" | "KB" | "kB" | "k" | "KiB") => 1 << 10,
            Some("M" | "MB" | "MiB") => 1 << 20,
            Some("G" | "GB" | "GiB") => 1 << 30,
            _ => {
                self.notice(Anomaly::ValueDropped);
                return Ok(None);
            }
        };
        let bytes = i64::try_from(i128::from(value.value) * factor / 1000).ok();
        if bytes.is_none_or(|n| n < 0) {
            self.notice(Anomaly::ValueDropped);
        }
        Ok(bytes.filter(|&n| n >= 0))
    }
}
