//! Values in the shapes the plugins give them.

use std::borrow::Cow;

use crate::sources::decimal;
use crate::sources::json::{JsonText, Malformed, Scalar, Scanner};
use crate::sources::sacct::scalar;

/// A number as far as it can be understood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Number<'a> {
    /// The key does not occur, or states that there is no value.
    #[default]
    Absent,
    /// Without limit.
    Infinite,
    /// A value.
    Is(i64),
    /// One of Slurm's stand-ins for no value, or a negative number where none can be.
    StandIn,
    /// No whole number.
    Bad(Scalar<'a>),
}

impl<'a> Number<'a> {
    /// Reads `5`, `null`, `"5"` or `{"set": true, "infinite": false, "number": 5}`.
    pub(super) fn read(scanner: &mut Scanner<'a>) -> Result<Self, Malformed> {
        if scanner.peek() != Some(b'{') {
            return Ok(Self::of(scanner.scalar()?));
        }
        let (mut is_set, mut is_infinite, mut number) = (true, false, Self::Absent);
        scanner.object(|scanner, key| {
            let value = scanner.scalar()?;
            match key.plain() {
                Some(b"set") => is_set = value != Scalar::Bool(false),
                Some(b"infinite") => is_infinite = value == Scalar::Bool(true),
                Some(b"number") => number = Self::of(value),
                _ => {}
            }
            Ok(())
        })?;
        Ok(match (is_infinite, is_set) {
            (true, _) => Self::Infinite,
            (false, true) => number,
            (false, false) => Self::Absent,
        })
    }

    fn of(value: Scalar<'a>) -> Self {
        let digits = match value {
            Scalar::Absent | Scalar::Null => return Self::Absent,
            Scalar::Number(digits) => digits,
            Scalar::Text(text) => match text.plain() {
                Some(b"") => return Self::Absent,
                Some(plain) => plain,
                None => return Self::Bad(value),
            },
            Scalar::Bool(_) | Scalar::Nested => return Self::Bad(value),
        };
        match scalar::int(digits) {
            Some(scalar::Int::Value(number)) => Self::Is(number),
            Some(scalar::Int::Dropped) => Self::StandIn,
            // `5.0`, `1e3`: serialisers differ.
            None => match std::str::from_utf8(digits)
                .ok()
                .and_then(|text| decimal::scaled(text, 0))
            {
                Some(scaled) if scaled.is_exact && scaled.value >= 0 => Self::Is(scaled.value),
                _ => Self::Bad(value),
            },
        }
    }

    /// The value, if it is one.
    pub(super) fn known(self) -> Option<i64> {
        match self {
            Self::Is(number) => Some(number),
            _ => None,
        }
    }
}

/// What a value is, for a sentence.
pub(super) fn shown(value: Scalar<'_>) -> String {
    match value {
        Scalar::Absent | Scalar::Null => "nothing".to_owned(),
        Scalar::Bool(value) => value.to_string(),
        Scalar::Number(digits) => crate::sources::truncate::clip(&String::from_utf8_lossy(digits)).to_owned(),
        Scalar::Text(text) => format!("{:?}", crate::sources::truncate::clip(&text.decode().0)),
        Scalar::Nested => "a list or an object".to_owned(),
    }
}

/// A text; absent when it is `null`, empty or no text.
pub(super) fn text<'a>(scanner: &mut Scanner<'a>) -> Result<Option<JsonText<'a>>, Malformed> {
    Ok(match scanner.scalar()? {
        Scalar::Text(text) if text.plain() != Some(b"") => Some(text),
        _ => None,
    })
}

/// A text decoded; whether something in it is no text is noted.
pub(super) fn decode<'a>(text: Option<JsonText<'a>>, is_invalid: &mut bool) -> Option<Cow<'a, str>> {
    let (text, has_other_bytes) = text?.decode();
    *is_invalid |= has_other_bytes;
    Some(text)
}
