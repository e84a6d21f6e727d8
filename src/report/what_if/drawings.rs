//! Factors before and after as charts.

use super::super::drawing::{ChartFrame, ChartMark, ChartPoint, ChartShape, LegendEntry, drawn, figure};
use super::super::site::chart::SERIES_INKS;
use super::data::{FairshareWhatIf, WhatIfCourse};
use crate::error::Result;
use crate::fairshare::AssociationKey;
use crate::fairshare::standing::{FactorOutcome, Standing};
use crate::numbers::Extent;
use crate::reference::node_type::day_text;
use crate::share_history::changed_shares::name_of;

/// Associations in one chart, at most; those whose factor changes most.
const MOST_ROWS: usize = 40;
/// Lines of one chart, at most: there are no more inks that people distinguish.
const MOST_LINES: usize = 6;
/// Places of a row upwards.
const ROW_PLACES: i32 = 10;
/// Places of a factor of one.
const FACTOR_PLACES: i32 = 1000;
/// The unit of factors in a place.
const PLACE_E9: i64 = 1_000_000;
/// Pixels of a row.
const ROW_PIXELS: u32 = 22;
/// Pixels of a drawing without rows.
const FRAME_PIXELS: u32 = 76;
const WIDTH: u32 = 960;
/// Inks of outcomes, and of what is before.
const GAINS: &str = "series2";
const LOSES: &str = "series5";
const SAME: &str = "series0";
const BEFORE: &str = "unknown";
/// Labels of days, at most.
const DAY_LABELS: usize = 10;

/// The factor of one association on both sides.
struct FactorPair {
    name: String,
    before_e9: i64,
    after_e9: i64,
    outcome: Option<FactorOutcome>,
}

impl FactorPair {
    fn change_e9(&self) -> i64 {
        (self.after_e9 - self.before_e9).abs()
    }

    fn ink(&self) -> &'static str {
        match self.outcome {
            Some(FactorOutcome::Gains) => GAINS,
            Some(FactorOutcome::Loses) => LOSES,
            Some(FactorOutcome::Same) | None => SAME,
        }
    }
}

fn place(factor_e9: i64) -> i32 {
    // Fallback: never taken, a factor is at most one.
    i32::try_from(factor_e9 / PLACE_E9).unwrap_or(FACTOR_PLACES)
}

fn nth_place(nth: usize) -> i32 {
    // Fallback: never taken, a drawing has fewer rows than 31 bits count.
    i32::try_from(nth).unwrap_or(i32::MAX / ROW_PLACES)
}

/// A factor as a label.
fn factor_name(place: i32) -> String {
    format!("{}.{}", place / FACTOR_PLACES, place % FACTOR_PLACES / 100)
}

impl FairshareWhatIf {
    /// A bar from the factor before to the one after for every account, or every user; nothing where there is none.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when it cannot be drawn.
    pub(super) fn factors_drawing(&self, of: DrawnAssociations) -> Result<String> {
        let mut pairs = self.pairs(of);
        if pairs.is_empty() {
            return Ok(String::new());
        }
        let all_n = pairs.len();
        // The order of the tree is kept; of too many those that change least are left out.
        let mut changes: Vec<i64> = pairs.iter().map(FactorPair::change_e9).collect();
        changes.sort_unstable_by(|one, other| other.cmp(one));
        if let Some(least) = changes.get(MOST_ROWS) {
            pairs.retain(|pair| pair.change_e9() > *least);
        }
        pairs.truncate(MOST_ROWS);
        let left_out = if pairs.len() < all_n {
            format!("; {} that change less are left out", all_n - pairs.len())
        } else {
            String::new()
        };
        if pairs.is_empty() {
            return Ok(String::new());
        }
        let row_n = nth_place(pairs.len());
        let middle = |nth: usize| (row_n - nth_place(nth)) * ROW_PLACES - ROW_PLACES / 2;
        let mut shapes = Vec::new();
        for (nth, pair) in pairs.iter().enumerate() {
            let (before, after, y) = (place(pair.before_e9), place(pair.after_e9), middle(nth));
            shapes.push(ChartShape::Mark(ChartMark {
                left: before.min(after),
                bottom: y - 1,
                right: before.max(after),
                top: y + 1,
                ink: pair.ink(),
            }));
            for (x, radius, ink) in [(before, 4, BEFORE), (after, 6, pair.ink())] {
                let at = ChartPoint { x, y };
                shapes.push(ChartShape::Dot { at, radius, ink });
            }
        }
        let name = |y: i32| {
            let is_middle = y.rem_euclid(ROW_PLACES) == ROW_PLACES / 2;
            let nth = usize::try_from(row_n - 1 - y / ROW_PLACES).ok().filter(|_| is_middle);
            let pair = nth.and_then(|nth| pairs.get(nth));
            pair.map_or_else(String::new, |pair| pair.name.clone())
        };
        let longest = pairs.iter().map(|pair| pair.name.chars().count()).max();
        // Fallback: more characters than 31 bits count leave the most room there is.
        let left = longest.and_then(|n| u32::try_from(n).ok()).unwrap_or(u32::MAX).min(30) * 8 + 24;
        // Fallback: never taken, there are at most forty rows.
        let rows = u32::try_from(pairs.len()).unwrap_or(0);
        let frame = ChartFrame {
            size: (WIDTH, FRAME_PIXELS + rows * ROW_PIXELS),
            x_n: FACTOR_PLACES,
            y_from: 0,
            y_n: row_n * ROW_PLACES,
            left,
            x_name: &factor_name,
            y_name: &name,
            x_label_n: 11,
            // A label for every place, of which most are empty.
            y_label_n: pairs.len() * 10 + 1,
            x_title: "factor",
            y_title: "",
        };
        let svg = drawn(&frame, &shapes)?;
        let entries = [
            LegendEntry {
                ink: BEFORE,
                word: "before",
            },
            LegendEntry {
                ink: GAINS,
                word: "after: gains",
            },
            LegendEntry {
                ink: LOSES,
                word: "after: loses",
            },
            LegendEntry {
                ink: SAME,
                word: "after: same",
            },
        ];
        let caption = format!("Factors of {} before and after{left_out}", of.word());
        let alt = format!("Factors of {}, before and after. The table has all numbers.", of.word());
        Ok(figure(&caption, &entries, &alt, &svg))
    }

    fn pairs(&self, of: DrawnAssociations) -> Vec<FactorPair> {
        let rows = self.before.instant.tree.iter();
        let standings = (self.before.standings.iter())
            .zip(&self.after.standings)
            .zip(self.outcomes());
        let wanted = rows.zip(standings).filter(|((_, association), _)| {
            association.parent.is_some() && association.key.is_user() == (of == DrawnAssociations::Users)
        });
        let pairs = wanted.filter_map(|((_, association), ((before, after), outcome))| {
            Some(FactorPair {
                name: name_of(&association.key),
                before_e9: before.factor_e9?,
                after_e9: after.factor_e9?,
                outcome,
            })
        });
        pairs.collect()
    }

    /// The factors of the accounts that change most, day by day; nothing where no period is requested.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when it cannot be drawn.
    pub(super) fn course_drawing(&self) -> Result<String> {
        let Some(course) = &self.course else {
            return Ok(String::new());
        };
        let accounts = most_changed(course);
        if accounts.is_empty() {
            return Ok("<p>The factor of no account changes on any day.</p>\n".to_owned());
        }
        let mut lines = Vec::new();
        for (key, ink) in accounts.iter().zip(SERIES_INKS) {
            for (side, width) in [(&course.before, 1), (&course.after, 3)] {
                let of_days = side.standings.get(*key).map_or(&[][..], Vec::as_slice);
                lines.extend(
                    segments(of_days)
                        .into_iter()
                        .map(|points| ChartShape::Line { points, ink, width }),
                );
            }
        }
        let days = &course.before.days;
        let every = days.len().div_ceil(DAY_LABELS).max(1);
        let x_name = |x: i32| {
            let nth = usize::try_from(x).ok().filter(|nth| nth.is_multiple_of(every));
            nth.and_then(|nth| days.get(nth))
                .map_or_else(String::new, |day| day_text(Some(*day), ""))
        };
        let frame = ChartFrame {
            size: (WIDTH, 360),
            // Room for the label of the last day.
            x_n: nth_place(days.len().less(1) + days.len() / 16),
            y_from: 0,
            y_n: FACTOR_PLACES,
            left: 72,
            x_name: &x_name,
            y_name: &factor_name,
            x_label_n: days.len() + days.len() / 16 + 1,
            y_label_n: 6,
            x_title: "day",
            y_title: "factor",
        };
        let svg = drawn(&frame, &lines)?;
        let names: Vec<String> = accounts.iter().map(|key| name_of(key)).collect();
        let entries: Vec<LegendEntry<'_>> = (SERIES_INKS.into_iter().zip(&names))
            .map(|(ink, word)| LegendEntry { ink, word })
            .collect();
        let caption = "Factors at the end of each day: the thin line is before, the thick one after";
        let alt = format!("Factors of {} by day, before and after.", names.join(", "));
        Ok(figure(caption, &entries, &alt, &svg))
    }
}

/// Which associations are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DrawnAssociations {
    /// Accounts.
    Accounts,
    /// Users.
    Users,
}

impl DrawnAssociations {
    fn word(self) -> &'static str {
        match self {
            Self::Accounts => "accounts",
            Self::Users => "users",
        }
    }
}

/// The accounts whose factor changes most over all days, the first one first.
fn most_changed(course: &WhatIfCourse) -> Vec<&AssociationKey> {
    let mut changed: Vec<ChangedAccount<'_>> = Vec::new();
    for (key, before) in course.before.standings.iter().filter(|(key, _)| !key.is_user()) {
        let Some(after) = course.after.standings.get(key) else {
            continue;
        };
        let pairs = before
            .iter()
            .zip(after)
            .filter_map(|(before, after)| before.factor_e9.zip(after.factor_e9));
        let sum_e9: i128 = pairs
            .map(|(before, after)| i128::from(after) - i128::from(before))
            .map(i128::abs)
            .sum();
        if sum_e9 > 0 {
            changed.push(ChangedAccount { key, sum_e9 });
        }
    }
    changed.sort_by(|one, other| other.sum_e9.cmp(&one.sum_e9).then(one.key.cmp(other.key)));
    changed.into_iter().take(MOST_LINES).map(|of| of.key).collect()
}

/// An account with how much its factor changes.
struct ChangedAccount<'a> {
    key: &'a AssociationKey,
    sum_e9: i128,
}

/// Lines through the days that have a factor.
fn segments(of_days: &[Standing]) -> Vec<Vec<ChartPoint>> {
    let mut segments: Vec<Vec<ChartPoint>> = Vec::new();
    let mut is_open = false;
    for (nth, standing) in of_days.iter().enumerate() {
        let Some(factor_e9) = standing.factor_e9 else {
            is_open = false;
            continue;
        };
        let point = ChartPoint {
            x: nth_place(nth),
            y: place(factor_e9),
        };
        match segments.last_mut().filter(|_| is_open) {
            Some(segment) => segment.push(point),
            None => segments.push(vec![point]),
        }
        is_open = true;
    }
    segments
}
