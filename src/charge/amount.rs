//! Decimal amounts: read, rounded, printed.

use std::cmp::Ordering;
use std::num::NonZeroU32;

use crate::expr::SCALE;
use crate::expr::decimal::{Rest, divided, half_even, nearest, parse, short_divided};

/// Decimal places of a stored charge.
pub const CHARGE_SCALE: u32 = 9;
/// The same as the scale of a column.
pub const CHARGE_PLACES: u8 = 9;
const _: () = assert!(CHARGE_SCALE == CHARGE_PLACES as u32);

/// How digits that are cut off count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RoundingMode {
    /// To the nearest, a tie to the even digit.
    #[default]
    HalfEven,
    /// To the nearest, a tie away from zero.
    HalfUp,
    /// Towards zero: they are cut off.
    Down,
    /// Away from zero.
    Up,
}

impl RoundingMode {
    /// The words of a policy file.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("half-even", Self::HalfEven),
        ("half-up", Self::HalfUp),
        ("down", Self::Down),
        ("up", Self::Up),
    ];

    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::WORDS
            .iter()
            .find(|(_, mode)| *mode == self)
            .map_or("", |(word, _)| *word)
    }

    /// Whether what is left of a unit rounds away from zero.
    fn is_away(self, rest: Rest) -> bool {
        match self {
            Self::Down => false,
            Self::Up => true,
            Self::HalfUp => rest.half != Ordering::Less,
            Self::HalfEven => half_even(rest),
        }
    }
}

/// Rounding of a charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounding {
    /// Decimal places that stay, at most [`CHARGE_SCALE`].
    pub digits: u32,
    /// How.
    pub mode: RoundingMode,
}

impl Default for Rounding {
    fn default() -> Self {
        Self {
            digits: CHARGE_SCALE,
            mode: RoundingMode::HalfEven,
        }
    }
}

/// Rounds amounts from one number of decimal places to another.
#[derive(Clone, Copy, Debug)]
pub struct Rounder {
    change: PlaceChange,
    mode: RoundingMode,
}

/// Rounds amounts of 64 bits to fewer decimal places: nearly all charges are such amounts.
#[derive(Clone, Copy, Debug)]
pub struct ShortRounder {
    /// The value is divided by this.
    unit: NonZeroU32,
    mode: RoundingMode,
}

impl ShortRounder {
    /// A value, rounded.
    #[inline]
    #[must_use]
    pub fn round(self, value: i64) -> i64 {
        short_divided(value, i64::from(self.unit.get()), |rest| self.mode.is_away(rest))
    }
}

/// How the number of decimal places changes.
#[derive(Clone, Copy, Debug)]
enum PlaceChange {
    /// There are more: the value is this many times as large.
    More(i128),
    /// There are fewer: the value is divided by this.
    Fewer(i128),
}

impl Rounder {
    /// Takes values in units of 10^-`from` and gives them in units of 10^-`digits`.
    #[must_use]
    pub fn new(from: u32, digits: u32, mode: RoundingMode) -> Self {
        let change = match from.checked_sub(digits) {
            None | Some(0) => PlaceChange::More(10_i128.pow(digits - from)),
            Some(cut) => PlaceChange::Fewer(10_i128.pow(cut)),
        };
        Self { change, mode }
    }

    /// The same for values of 64 bits; `None` where they do not lose decimal places, or more than nine.
    #[must_use]
    pub fn short(&self) -> Option<ShortRounder> {
        let PlaceChange::Fewer(unit) = self.change else {
            return None;
        };
        // Fallback: a unit of more than 32 bits is for the general way.
        let unit = u32::try_from(unit).ok().and_then(NonZeroU32::new)?;
        Some(ShortRounder { unit, mode: self.mode })
    }

    /// A value, rounded.
    #[inline]
    #[must_use]
    pub fn round(&self, value: i128) -> i128 {
        match self.change {
            // Fallback: beyond 128 bits is beyond what any charge is checked against afterwards.
            PlaceChange::More(times) => value.saturating_mul(times),
            PlaceChange::Fewer(unit) => divided(value, unit, |rest| self.mode.is_away(rest)),
        }
    }
}

/// `value` in units of 10^-`from`, rounded to `digits` places and expressed in units of 10^-`digits`.
#[must_use]
pub fn round(value: i128, from: u32, digits: u32, mode: RoundingMode) -> i128 {
    Rounder::new(from, digits, mode).round(value)
}

/// `numerator * 10^SCALE / denominator`, a tie to the even digit; `None` when it does not fit.
#[must_use]
pub fn ratio(numerator: i128, denominator: i128) -> Option<i128> {
    let scaled = numerator.checked_mul(10_i128.pow(SCALE))?;
    match denominator.signum() {
        0 => None,
        1 => Some(nearest(scaled, denominator)),
        _ => Some(nearest(scaled.checked_neg()?, denominator.checked_neg()?)),
    }
}

/// A number of units as a decimal of [`SCALE`] places.
#[must_use]
pub fn whole(value: i64) -> i128 {
    i128::from(value) * 10_i128.pow(SCALE)
}

/// A decimal text with the number of places it is written with.
#[must_use]
pub fn written(text: &str) -> Option<(i128, u32)> {
    let value = parse(text)?;
    let places = text.split_once('.').map_or(0, |(_, places)| places.len());
    Some((value, u32::try_from(places).ok()?))
}

/// A unit of memory. A policy states which it means: 1 GB is 1 000 000 000 bytes, 1 GiB is 1 073 741 824.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryUnit {
    /// 10^6 bytes.
    Mb,
    /// 10^9 bytes.
    Gb,
    /// 10^12 bytes.
    Tb,
    /// 2^20 bytes.
    Mib,
    /// 2^30 bytes.
    Gib,
    /// 2^40 bytes.
    Tib,
}

impl MemoryUnit {
    /// The words of a policy file.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("MB", Self::Mb),
        ("GB", Self::Gb),
        ("TB", Self::Tb),
        ("MiB", Self::Mib),
        ("GiB", Self::Gib),
        ("TiB", Self::Tib),
    ];

    /// The unit of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::WORDS
            .iter()
            .find(|(known, _)| *known == word)
            .map(|(_, unit)| *unit)
    }

    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::WORDS
            .iter()
            .find(|(_, unit)| *unit == self)
            .map_or("", |(word, _)| *word)
    }

    /// How many bytes it has.
    #[must_use]
    pub fn byte_n(self) -> i128 {
        match self {
            Self::Mb => 1_000_000,
            Self::Gb => 1_000_000_000,
            Self::Tb => 1_000_000_000_000,
            Self::Mib => 1 << 20,
            Self::Gib => 1 << 30,
            Self::Tib => 1 << 40,
        }
    }
}
