//! What an award is counted in, and how much use one unit of it is.

use crate::charge::amount::CHARGE_SCALE;
use crate::charge::charged_tariff::is_same_unit;
use crate::charge::span::{spanned, times_over};
use crate::time::{Calendar, Day};

/// The word in the place of a policy that makes an award a maximum of stored bytes.
pub const STORAGE: &str = "storage";

const HOUR_S: i128 = 3600;
/// Units of an amount: it has so many places after the point.
const ONE_E9: i128 = 10_i128.pow(CHARGE_SCALE);

/// How long a core-year, GPU-year or RGU-year is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum YearLength {
    /// As long as the allocation year in which the award begins: 8760 hours, and 8784 with a leap day.
    #[default]
    AllocationYear,
    /// So many hours, whatever the year: 8760, or 8766 for the Julian year.
    Hours(i64),
}

impl YearLength {
    /// The word for the allocation year; other lengths are stated in hours.
    pub const ALLOCATION_YEAR: &'static str = "allocation-year";
    /// The words of the pipeline file.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        (Self::ALLOCATION_YEAR, Self::AllocationYear),
        ("8760", Self::Hours(8760)),
        ("8766", Self::Hours(8766)),
    ];

    /// Its seconds, for an award that begins on a day; `None` outside the years gridtally can name.
    #[must_use]
    pub fn seconds(self, calendar: &mut Calendar, day: Day) -> Option<i64> {
        match self {
            Self::Hours(hours) => hours.checked_mul(3600),
            Self::AllocationYear => {
                let from_ms = calendar.begins_ms(day);
                let year = calendar.period(from_ms)?.allocation_year;
                calendar.year_s(year)
            }
        }
    }

    /// The word of the pipeline file.
    #[must_use]
    pub fn text(self) -> String {
        match self {
            Self::AllocationYear => Self::ALLOCATION_YEAR.to_owned(),
            Self::Hours(hours) => hours.to_string(),
        }
    }
}

/// The bytes of a unit of storage: of thousands (TB) or of 1024 (TiB); `None` of another word.
#[must_use]
pub fn bytes_of(unit: &str) -> Option<i128> {
    const PREFIXES: [&str; 6] = ["", "k", "M", "G", "T", "P"];
    if matches!(unit, "byte" | "B") {
        return Some(1);
    }
    let place = |prefix: &str| {
        let place = PREFIXES
            .iter()
            .position(|own| own.eq_ignore_ascii_case(prefix) && !prefix.is_empty())?;
        u32::try_from(place).ok()
    };
    if let Some(prefix) = unit.strip_suffix("iB") {
        return 1024_i128.checked_pow(place(prefix)?);
    }
    1000_i128.checked_pow(place(unit.strip_suffix('B')?)?)
}

/// Which measure of use an award counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CountedUse {
    /// The charge of its policy, in units of 10^-9.
    Charge,
    /// Cores allocated times wall time, milliseconds, of the jobs in the scope of its policy.
    RawCore,
    /// GPUs allocated times the time they were held, seconds, likewise.
    RawGpu,
    /// Stored bytes: nothing that jobs state.
    Stored,
}

impl CountedUse {
    /// The word in datasets.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Charge => "charge",
            Self::RawCore => "raw core time",
            Self::RawGpu => "raw gpu time",
            Self::Stored => "stored bytes",
        }
    }
}

/// How use becomes units of an award.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwardMeasure {
    /// What is counted.
    pub counted: CountedUse,
    /// Name of the unit.
    pub unit: String,
    /// Billionths of the unit are what is counted, times this,
    pub factor: i128,
    /// over this.
    pub divisor: i128,
}

impl AwardMeasure {
    /// The measure of an award in a stated unit, whose policy charges in `charged_in`. Years are `year_s` long.
    ///
    /// # Errors
    /// A sentence for people when the policy's charge is not counted in that unit.
    pub fn of(stated: Option<&str>, charged_in: &str, year_s: i64) -> Result<Self, String> {
        let year_s = i128::from(year_s);
        let measure = |counted, unit: &str, factor, divisor| Self {
            counted,
            unit: unit.to_owned(),
            factor,
            divisor,
        };
        let per_core_s = ONE_E9 / 1000;
        let Some(unit) = stated.filter(|unit| !is_same_unit(unit, charged_in)) else {
            return Ok(measure(CountedUse::Charge, charged_in, 1, 1));
        };
        match unit {
            "raw_core_year" => return Ok(measure(CountedUse::RawCore, unit, per_core_s, year_s)),
            "raw_core_hour" => return Ok(measure(CountedUse::RawCore, unit, per_core_s, HOUR_S)),
            "raw_gpu_year" => return Ok(measure(CountedUse::RawGpu, unit, ONE_E9, year_s)),
            "raw_gpu_hour" => return Ok(measure(CountedUse::RawGpu, unit, ONE_E9, HOUR_S)),
            _ => {}
        }
        let span = spanned(charged_in);
        let of_policy = span.filter(|(held, _)| unit.strip_suffix("_year").is_some_and(|year| is_held(year, held)));
        if let Some((_, span_s)) = of_policy {
            return Ok(measure(CountedUse::Charge, unit, span_s, year_s));
        }
        let also = span.map_or_else(String::new, |(held, _)| format!(" or {held}_year"));
        Err(format!(
            "its policy counts in {charged_in}, not in {unit}; an award states {charged_in}{also}, or raw use: raw_core_year, \
             raw_core_hour, raw_gpu_year, raw_gpu_hour"
        ))
    }

    /// The measure of a maximum of stored bytes.
    #[must_use]
    pub fn stored(unit: &str) -> Self {
        Self {
            counted: CountedUse::Stored,
            unit: unit.to_owned(),
            factor: 1,
            divisor: 1,
        }
    }

    /// Counted use in billionths of the unit, to the nearest, a tie to the even one; `None` when it does not fit.
    #[must_use]
    pub fn in_units_e9(&self, counted: i128) -> Option<i128> {
        times_over(counted, self.factor, self.divisor)
    }

    /// Billionths of the unit as counted use; likewise.
    #[must_use]
    pub fn counted(&self, units_e9: i128) -> Option<i128> {
        times_over(units_e9, self.divisor, self.factor)
    }
}

/// Whether years of `year` are years of what a policy holds: a core-year is one of core equivalents where these are charged.
fn is_held(year: &str, held: &str) -> bool {
    year == held || held.strip_suffix("_equivalent") == Some(year)
}
