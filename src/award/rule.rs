//! A period rule: how an award is assigned over its days, and what becomes of what is not used.

use std::path::Path;

use super::read_rule;
use crate::diagnostics::Problems;
use crate::small_file;
use crate::time::month::{date_of, day_of};
use crate::time::{Date, Day};

/// Parts of a whole that percentages are counted in: ten-thousandths of a percent.
pub const PERCENT_E4: i128 = 1_000_000;

/// How long periods are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeriodLength {
    /// One period: the days of the award.
    Whole,
    /// So many periods of the award.
    Parts(u32),
    /// So many months each, counted from the first day of the award; the last one ends with the award.
    Months(u32),
    /// So many calendar months each, from January on; the first and the last one may be shorter.
    CalendarMonths(u32),
}

/// What decides how large a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartShare {
    /// All parts are equal.
    Equal,
    /// Parts are as large as their periods have days.
    ByDays,
}

impl PartShare {
    /// The words of a rule file.
    pub const WORDS: &'static [(&'static str, Self)] = &[("equal", Self::Equal), ("days", Self::ByDays)];
}

/// Where that goes which a division leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemainderPlace {
    /// To the first part.
    First,
    /// To the last part.
    Last,
    /// One step to each of the first parts.
    Spread,
}

impl RemainderPlace {
    /// The words of a rule file.
    pub const WORDS: &'static [(&'static str, Self)] =
        &[("first", Self::First), ("last", Self::Last), ("spread", Self::Spread)];
}

/// What a period leaves to the one after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carry {
    /// Nothing: what is not used is lost.
    Nothing,
    /// All that is not used.
    All,
    /// What is not used, at most so much of the period's own part (ten-thousandths of a percent).
    Limited(i128),
    /// What is not used, halved over time.
    Decayed {
        /// Days after which half of it is left.
        half_life_days: u32,
        /// Days it is halved over; the length of the period where none are stated.
        decay_days: Option<u32>,
    },
    /// The part of the period less its use, where the use is halved over time; at most what is not used.
    DecayedUse {
        /// Days after which half of the use is forgotten.
        half_life_days: u32,
        /// Days it is halved over; the length of the period where none are stated.
        decay_days: Option<u32>,
    },
}

/// What is taken from awards that were little used by a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// Month of the day.
    pub month: i8,
    /// Day of the month: what was used before it counts.
    pub day: i8,
    /// Used more than this, in ten-thousandths of a percent of the award; `None` is from nothing on.
    pub above_e4: Option<i128>,
    /// And at most this.
    pub at_most_e4: i128,
    /// So much of the rest is taken, in ten-thousandths of a percent.
    pub loses_e4: i128,
}

/// A period rule.
#[derive(Clone, Debug)]
pub struct PeriodRule {
    /// Name that stays over all versions.
    pub id: String,
    /// Which version.
    pub version: String,
    /// One line for people.
    pub title: String,
    /// Where the centre publishes it.
    pub source: String,
    /// What a reader should know.
    pub note: Option<String>,
    /// How long periods are.
    pub length: PeriodLength,
    /// How large parts are.
    pub share: PartShare,
    /// Places after the point that parts have.
    pub digits: u32,
    /// Where the remainder of the division goes.
    pub remainder: RemainderPlace,
    /// What a period leaves to the next one.
    pub carry: Carry,
    /// How much of the part of the next period may be used ahead, in ten-thousandths of a percent.
    pub borrow_e4: i128,
    /// How far use may go beyond what is available before it counts as over, likewise.
    pub grace_e4: i128,
    /// What is taken from awards that were little used.
    pub reductions: Vec<Reduction>,
    /// Its worked examples.
    pub examples: Vec<RuleExample>,
    /// The file.
    pub file: String,
    /// Its text.
    pub text: String,
}

/// A worked example of a rule.
#[derive(Clone, Debug)]
pub struct RuleExample {
    /// Its name.
    pub name: String,
    /// Line of the file.
    pub line: usize,
    /// The award, in billionths.
    pub amount_e9: i128,
    /// Its first day.
    pub from: Day,
    /// First day no longer.
    pub until: Day,
    /// Use of days, in billionths.
    pub used: Vec<RuleUse>,
    /// The day as of which it is applied.
    pub on: Day,
    /// What it should come to.
    pub expected: Vec<RuleExpectation>,
    /// What the centre prints, and of which value.
    pub printed: Option<RulePrinted>,
    /// Remark.
    pub note: Option<String>,
}

/// Use of one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleUse {
    /// The day.
    pub day: Day,
    /// How much, in billionths.
    pub used_e9: i128,
}

/// A value that an example expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleExpectation {
    /// Name of the value: `available`, `lost`, ...; with a number in front of it that of a period: `2.carried_in`.
    pub name: String,
    /// What it should be, in billionths.
    pub value_e9: i128,
    /// Places it is written with.
    pub places: u32,
}

/// The figure a centre prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulePrinted {
    /// As it is printed.
    pub text: String,
    /// Which value it is.
    pub of: String,
    /// In billionths.
    pub value_e9: i128,
}

impl PeriodRule {
    /// Reads a rule file; everything that is wrong with it is reported, then there is no rule.
    pub fn load(path: &Path, file: &str, problems: &mut Problems) -> Option<Self> {
        match small_file::text(path) {
            Ok(text) => read_rule::rule(file, &text, problems),
            Err(why) => {
                problems.mistake(file, 0, format!("cannot be read: {why}"));
                None
            }
        }
    }

    /// Reads the text of a rule file; likewise.
    pub fn parse(file: &str, text: &str, problems: &mut Problems) -> Option<Self> {
        read_rule::rule(file, text, problems)
    }

    /// Whether the text of a file is that of a period rule, and not of a charge policy.
    #[must_use]
    pub fn is_rule(text: &str) -> bool {
        text.lines().any(|line| line.trim_end() == "[periods]")
    }

    /// The days on which the periods of an award begin, and last the day after it.
    #[must_use]
    pub fn edges(&self, from: Day, until: Day) -> Option<Vec<Day>> {
        let mut edges = vec![from];
        match self.length {
            PeriodLength::Whole => {}
            PeriodLength::Parts(parts) => edges.extend(parts_of(from, until, parts)?),
            PeriodLength::Months(months) => {
                let months = i32::try_from(months).ok()?;
                let mut nth = months;
                while let Some(edge) = months_after(from, nth).filter(|edge| *edge < until) {
                    edges.push(edge);
                    nth = nth.checked_add(months)?;
                }
            }
            PeriodLength::CalendarMonths(months) => {
                let months = i32::try_from(months).ok()?;
                let date = date_of(from)?;
                let begun = (i32::from(date.month()) - 1) / months * months;
                let first = day_of(Date::new(date.year(), i8::try_from(begun + 1).ok()?, 1)?);
                let mut nth = months;
                while let Some(edge) = months_after(first, nth).filter(|edge| *edge < until) {
                    edges.push(edge);
                    nth = nth.checked_add(months)?;
                }
            }
        }
        edges.push(until);
        Some(edges)
    }
}

/// The inner edges of so many parts: months where the award has a multiple of them, else days, with the remainder of the
/// division in the last part.
fn parts_of(from: Day, until: Day, parts: u32) -> Option<Vec<Day>> {
    let parts = i32::try_from(parts).ok()?;
    let (first, end) = (date_of(from)?, date_of(until)?);
    let months =
        (i32::from(end.year()) - i32::from(first.year())) * 12 + i32::from(end.month()) - i32::from(first.month());
    if first.day() == end.day() && months % parts == 0 && months > 0 {
        return (1..parts).map(|nth| months_after(from, months / parts * nth)).collect();
    }
    let days = until.checked_sub(from)? / parts;
    Some((1..parts).map(|nth| from + days * nth).collect())
}

/// The same day of the month, so many months later; the last one of a month that is too short.
fn months_after(day: Day, months: i32) -> Option<Day> {
    let date = date_of(day)?;
    let month = i32::from(date.month()) - 1 + months;
    let year = i16::try_from(i32::from(date.year()) + month.div_euclid(12)).ok()?;
    let number = i8::try_from(month.rem_euclid(12) + 1).ok()?;
    let last = (28..=date.day()).rev().chain([28.min(date.day())]);
    let mut days = std::iter::once(date.day()).chain(last);
    days.find_map(|day| Date::new(year, number, day)).map(day_of)
}
