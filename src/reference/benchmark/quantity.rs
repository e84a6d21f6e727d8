//! Power and work that know their benchmark: what is measured on one scale cannot be added to what is measured on
//! another, nor power to work. The few ways from one scale to another have names.

use std::fmt::Debug;
use std::iter::Sum;
use std::marker::PhantomData;
use std::ops::{Add, AddAssign, Neg, Sub};

use super::kind::Benchmark;

mod sealed {
    pub trait Sealed {}
}

/// A scale that power is measured on.
pub trait QuantityUnit: sealed::Sealed + Copy + Debug + Ord {
    /// Its kind, as data name it.
    const KIND: Benchmark;
}

/// What is measured.
pub trait QuantityDimension: sealed::Sealed + Copy + Debug + Ord {
    /// Decimals of its integers.
    const DECIMALS: u32;
}

macro_rules! markers {
    ($($(#[$doc:meta])+ $name:ident: $what:ident = $constant:ident: $of:ty = $value:expr;)+) => {$(
        $(#[$doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name;

        impl sealed::Sealed for $name {}

        impl $what for $name {
            const $constant: $of = $value;
        }
    )+};
}

markers! {
    /// HEPSPEC06.
    Hs06: QuantityUnit = KIND: Benchmark = Benchmark::Hs06;
    /// `HEPscore23`.
    Hs23: QuantityUnit = KIND: Benchmark = Benchmark::Hs23;
    /// `SPECint2000`.
    Si00: QuantityUnit = KIND: Benchmark = Benchmark::Si00;
    /// Score: of a core, a node or a site.
    Score: QuantityDimension = DECIMALS: u32 = 4;
    /// Score times seconds.
    WorkDone: QuantityDimension = DECIMALS: u32 = 7;
}

/// An exact decimal of unit `U` and dimension `D`. Sums saturate at the ends of 127 bits, which no real lake reaches.
///
/// Quantities of different units or dimensions do not add, compare or convert into one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Quantity<U, D> {
    scaled: i128,
    of: PhantomData<(U, D)>,
}

/// A score in ten-thousandths: of a core as the jobs count them, or of more.
pub type Power<U> = Quantity<U, Score>;

/// Score times seconds, in units of 10^-7: milliseconds times ten-thousandths.
pub type WorkQuantity<U> = Quantity<U, WorkDone>;

impl<U: QuantityUnit, D: QuantityDimension> Quantity<U, D> {
    /// None of it.
    pub const ZERO: Self = Self::from_scaled(0);

    /// From an integer of the dimension's decimals, which is known to be of this unit.
    #[must_use]
    pub const fn from_scaled(scaled: i128) -> Self {
        Self {
            scaled,
            of: PhantomData,
        }
    }

    /// The integer, in the dimension's decimals. What it measured must be remembered elsewhere.
    #[must_use]
    pub const fn scaled(self) -> i128 {
        self.scaled
    }

    /// So many of it.
    #[must_use]
    pub fn times(self, count: i64) -> Self {
        Self::from_scaled(product(self.scaled, i128::from(count)))
    }

    /// An equal share for each of `count`, halves rounded up; `None` for a count of 0.
    #[must_use]
    pub fn shared_by(self, count: i64) -> Option<Self> {
        let count = i128::from(count);
        (count > 0).then(|| Self::from_scaled(round_half_up(self.scaled, count)))
    }
}

impl<U: QuantityUnit> Power<U> {
    /// From ten-thousandths.
    #[must_use]
    pub fn from_e4(e4: i64) -> Self {
        Self::from_scaled(i128::from(e4))
    }

    /// The work of so many milliseconds at this power.
    #[inline]
    #[must_use]
    pub fn over_ms(self, ms: i64) -> WorkQuantity<U> {
        WorkQuantity::from_scaled(match i64::try_from(self.scaled) {
            // As of every score of a job; one multiplication.
            Ok(scaled) => i128::from(scaled) * i128::from(ms),
            Err(_) => product(self.scaled, i128::from(ms)),
        })
    }

    /// The work of so many seconds at this power.
    #[must_use]
    pub fn over_s(self, s: i64) -> WorkQuantity<U> {
        const MS_PER_S: i128 = 1000;
        WorkQuantity::from_scaled(product(product(self.scaled, i128::from(s)), MS_PER_S))
    }
}

impl<U: QuantityUnit, D: QuantityDimension> Add for Quantity<U, D> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::from_scaled(exact_sum(self.scaled, other.scaled))
    }
}

impl<U: QuantityUnit, D: QuantityDimension> AddAssign for Quantity<U, D> {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<U: QuantityUnit, D: QuantityDimension> Neg for Quantity<U, D> {
    type Output = Self;

    fn neg(self) -> Self {
        Self::from_scaled(product(self.scaled, -1))
    }
}

impl<U: QuantityUnit, D: QuantityDimension> Sub for Quantity<U, D> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl<U: QuantityUnit, D: QuantityDimension> Sum for Quantity<U, D> {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::ZERO, Add::add)
    }
}

/// SI00 of one HEPSPEC06. By decree, not by measurement. Source: the WLCG agreement of 2009 that 1 kSI2K is 4 HS06, in
/// force in APEL's server and in every GRACC report since.
pub const SI00_PER_HS06: i64 = 250;

impl<D: QuantityDimension> Quantity<Hs06, D> {
    /// The same in SI00, exactly, by [`SI00_PER_HS06`].
    #[must_use]
    pub fn in_si00(self) -> Quantity<Si00, D> {
        Quantity::from_scaled(product(self.scaled, i128::from(SI00_PER_HS06)))
    }
}

impl<D: QuantityDimension> Quantity<Si00, D> {
    /// The same in HEPSPEC06 by [`SI00_PER_HS06`], halves of the last decimal rounded up.
    #[must_use]
    pub fn in_hs06(self) -> Quantity<Hs06, D> {
        Quantity::from_scaled(round_half_up(self.scaled, i128::from(SI00_PER_HS06)))
    }
}

/// The permission to add HEPSPEC06 and `HEPscore23` one to one, which is a policy and no conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneToOne {
    source: &'static str,
}

impl OneToOne {
    /// WLCG: the reference machine has the same score in both, so nodes keep the score they were bought with.
    pub const WLCG: Self = Self {
        source: "WLCG Management Board, 20 December 2022",
    };

    /// Who decided it.
    #[must_use]
    pub fn source(self) -> &'static str {
        self.source
    }

    /// Both, next to each other.
    #[must_use]
    pub fn pool<D: QuantityDimension>(self, hs06: Quantity<Hs06, D>, hs23: Quantity<Hs23, D>) -> Pooled<D> {
        Pooled {
            hs06,
            hs23,
            policy: self,
        }
    }
}

/// HEPSPEC06 and `HEPscore23` that a policy lets add up; each is still known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pooled<D> {
    /// The part in HEPSPEC06.
    pub hs06: Quantity<Hs06, D>,
    /// The part in `HEPscore23`.
    pub hs23: Quantity<Hs23, D>,
    /// Who lets them add up.
    pub policy: OneToOne,
}

impl<D: QuantityDimension> Pooled<D> {
    /// Their sum, in the dimension's decimals: a number on neither scale.
    #[must_use]
    pub fn total_scaled(&self) -> i128 {
        exact_sum(self.hs06.scaled, self.hs23.scaled)
    }
}

/// What is known on each scale; the scales do not mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Each<D> {
    /// HEPSPEC06.
    pub hs06: Option<Quantity<Hs06, D>>,
    /// `HEPscore23`.
    pub hs23: Option<Quantity<Hs23, D>>,
    /// SI00.
    pub si00: Option<Quantity<Si00, D>>,
}

impl<D> Default for Each<D> {
    fn default() -> Self {
        Self {
            hs06: None,
            hs23: None,
            si00: None,
        }
    }
}

impl<D: QuantityDimension> Each<D> {
    /// From integers of the dimension's decimals, in the order of [`Benchmark::ALL`].
    #[must_use]
    pub fn from_scaled([hs06, hs23, si00]: [Option<i128>; 3]) -> Self {
        Self {
            hs06: hs06.map(Quantity::from_scaled),
            hs23: hs23.map(Quantity::from_scaled),
            si00: si00.map(Quantity::from_scaled),
        }
    }

    /// Only one kind, from an integer of the dimension's decimals.
    #[must_use]
    pub fn only(kind: Benchmark, scaled: i128) -> Self {
        Self::from_scaled(Benchmark::ALL.map(|each| (each == kind).then_some(scaled)))
    }

    /// The integers, in the order of [`Benchmark::ALL`].
    #[must_use]
    pub fn scaled(self) -> [Option<i128>; 3] {
        [
            self.hs06.map(Quantity::scaled),
            self.hs23.map(Quantity::scaled),
            self.si00.map(Quantity::scaled),
        ]
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.hs06.is_none() && self.hs23.is_none() && self.si00.is_none()
    }

    /// What is known here, and of `other` what is not known here.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            hs06: self.hs06.or(other.hs06),
            hs23: self.hs23.or(other.hs23),
            si00: self.si00.or(other.si00),
        }
    }

    /// All but one kind.
    #[must_use]
    pub fn without(self, kind: Benchmark) -> Self {
        Self {
            hs06: self.hs06.filter(|_| kind != Benchmark::Hs06),
            hs23: self.hs23.filter(|_| kind != Benchmark::Hs23),
            si00: self.si00.filter(|_| kind != Benchmark::Si00),
        }
    }

    /// Adds what is known of `more`; unknown and known is known.
    #[inline]
    pub fn add(&mut self, more: Self) {
        add_known(&mut self.hs06, more.hs06);
        add_known(&mut self.hs23, more.hs23);
        add_known(&mut self.si00, more.si00);
    }

    /// What takes these out again.
    #[must_use]
    pub fn negated(self) -> Self {
        Self {
            hs06: self.hs06.map(Neg::neg),
            hs23: self.hs23.map(Neg::neg),
            si00: self.si00.map(Neg::neg),
        }
    }
}

impl Each<Score> {
    /// The work of so many milliseconds, on each scale whose power is known.
    #[inline]
    #[must_use]
    pub fn over_ms(self, ms: i64) -> Each<WorkDone> {
        Each {
            hs06: self.hs06.map(|power| power.over_ms(ms)),
            hs23: self.hs23.map(|power| power.over_ms(ms)),
            si00: self.si00.map(|power| power.over_ms(ms)),
        }
    }

    /// The work of so many seconds, on each scale whose power is known.
    #[must_use]
    pub fn over_s(self, s: i64) -> Each<WorkDone> {
        Each {
            hs06: self.hs06.map(|power| power.over_s(s)),
            hs23: self.hs23.map(|power| power.over_s(s)),
            si00: self.si00.map(|power| power.over_s(s)),
        }
    }
}

#[inline]
fn add_known<U: QuantityUnit, D: QuantityDimension>(sum: &mut Option<Quantity<U, D>>, more: Option<Quantity<U, D>>) {
    if let Some(more) = more {
        *sum = Some(sum.map_or(more, |sum| sum + more));
    }
}

/// `number` over a positive `divisor`, halves rounded up (towards the larger number).
fn round_half_up(number: i128, divisor: i128) -> i128 {
    let (whole, rest) = (number.div_euclid(divisor), number.rem_euclid(divisor));
    whole + i128::from(rest >= divisor - rest)
}

/// Scores have at most 40 bits (`dedupe::limits`), times of a month 63 (`summarise::budget`), so that work has 103, and sums
/// of it over all months of all sites fewer than 127.
#[inline]
fn product(a: i128, b: i128) -> i128 {
    // Fallback: never taken, 40 bits of score times 63 bits of time fit 127 bits.
    a.saturating_mul(b)
}

/// A sum of scores or work, with the bound of [`product`].
#[inline]
fn exact_sum(a: i128, b: i128) -> i128 {
    // Fallback: never taken, sums of work of 103 bits over 2^20 months fit 127 bits.
    a.saturating_add(b)
}
