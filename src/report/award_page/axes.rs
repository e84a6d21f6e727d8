//! The axes of the page's charts: days to the right, a scale of round steps upwards.

use crate::charge::span::times_over;
use crate::error::Result;
use crate::report::drawing::{ChartFrame, ChartPoint, ChartShape, drawn, round_up};
use crate::report::shown::shown;
use crate::report::table::Cell;
use crate::time::{Day, Month};

/// Pixels of a chart.
const WIDTH: u32 = 960;
/// Places upwards of a step of the scale.
const STEP_PLACES: i128 = 200;
/// Steps of a scale, about.
const STEPS: i128 = 5;
/// Months with a label, at most.
const LABELS: usize = 13;

/// A scale upwards whose steps are round numbers.
pub(super) struct ChartScale {
    step: i128,
    low_steps: i128,
    high_steps: i128,
}

impl ChartScale {
    pub(super) fn of(low: i128, high: i128) -> Self {
        let extent = high.max(-low).max(1);
        let step = round_up(extent.div_euclid(STEPS).max(1));
        let steps = |value: i128| value.max(0).div_euclid(step) + i128::from(value.max(0).rem_euclid(step) > 0);
        Self {
            step,
            low_steps: steps(-low),
            high_steps: steps(high).max(1),
        }
    }

    pub(super) fn place(&self, value: i128) -> i32 {
        let places = times_over(value, STEP_PLACES, self.step).and_then(|places| i32::try_from(places).ok());
        let end = if value < 0 { i32::MIN } else { i32::MAX };
        // Fallback: what is far outside of a chart is drawn at its edge.
        places.unwrap_or(end)
    }

    /// The lowest place.
    pub(super) fn bottom(&self) -> i32 {
        // Fallback: never taken, a scale has about ten steps.
        i32::try_from(-self.low_steps * STEP_PLACES).unwrap_or(i32::MIN)
    }

    /// The highest place.
    pub(super) fn top(&self) -> i32 {
        // Fallback: never taken, a scale has about ten steps.
        i32::try_from(self.high_steps * STEP_PLACES).unwrap_or(i32::MAX)
    }

    /// The number at a place that is a step; empty between steps. Values have so many digits after the point, of which those
    /// that the step has are shown.
    fn label(&self, place: i32, digits: u8) -> String {
        let place = i128::from(place);
        if place.rem_euclid(STEP_PLACES) != 0 {
            return String::new();
        }
        let value = place.div_euclid(STEP_PLACES) * self.step;
        let is_enough = |kept: &u8| self.step % 10_i128.pow(u32::from(digits - kept)) == 0;
        let kept = (0..=digits).find(is_enough);
        shown(&Cell::Decimal { value, scale: digits }, None, kept).text
    }
}

/// The days a chart shows.
#[derive(Clone, Copy)]
pub(super) struct ChartDays {
    /// First day.
    pub(super) from: Day,
    /// The day after the last one.
    pub(super) until: Day,
}

impl ChartDays {
    pub(super) fn x(self, day: Day) -> i32 {
        day.clamp(self.from, self.until) - self.from
    }

    pub(super) fn has(self, day: Day) -> bool {
        (self.from..=self.until).contains(&day)
    }

    /// Months that begin within these days.
    fn months(self) -> Vec<Month> {
        let mut months = Vec::new();
        let mut month = Month::of_day(self.from);
        while let Some(at) = month.filter(|month| month.first_day() < self.until) {
            if self.from <= at.first_day() {
                months.push(at);
            }
            month = Some(at.next());
        }
        months
    }
}

/// Draws shapes over the days.
pub(super) fn draw(
    days: ChartDays,
    height: u32,
    scale: &ChartScale,
    digits: u8,
    unit: &str,
    shapes: &[ChartShape<'_>],
) -> Result<String> {
    let months = days.months();
    let every = months.len().div_ceil(LABELS).max(1);
    let labelled: Vec<(i32, String)> = months
        .iter()
        .step_by(every)
        .map(|month| (days.x(month.first_day()), month.to_string()))
        .collect();
    let x_name = |x: i32| {
        let found = labelled.iter().find(|(at, _)| *at == x);
        // Fallback: a place without a month has an empty name.
        found.map(|(_, name)| name.clone()).unwrap_or_default()
    };
    let y_name = |y: i32| scale.label(y, digits);
    let x_n = days.x(days.until);
    // Fallback: never taken, a scale has about ten steps.
    let steps = usize::try_from(scale.low_steps + scale.high_steps).unwrap_or(usize::MAX - 1);
    drawn(
        &ChartFrame {
            size: (WIDTH, height),
            x_n,
            y_from: scale.bottom(),
            y_n: scale.top(),
            left: 104,
            x_name: &x_name,
            y_name: &y_name,
            // A label for every day, of which most are empty.
            x_label_n: usize::try_from(x_n).map_or(1, |x_n| x_n + 1),
            y_label_n: steps + 1,
            x_title: "first of month",
            y_title: unit,
        },
        shapes,
    )
}

/// A line upwards at a day.
pub(super) fn upright<'i>(days: ChartDays, day: Day, scale: &ChartScale, ink: &'i str, width: u32) -> ChartShape<'i> {
    let x = days.x(day);
    let ends = [scale.bottom(), scale.top()];
    ChartShape::Line {
        points: ends.into_iter().map(|y| ChartPoint { x, y }).collect(),
        ink,
        width,
    }
}

/// A value at a day, before it is a place of a chart.
#[derive(Clone, Copy)]
pub(super) struct DayValue {
    /// The day, at its begin.
    pub(super) day: Day,
    /// The value.
    pub(super) value: i128,
}

/// The part of a line within the days of a chart: it begins with what it came to before them.
pub(super) fn within(line: &[DayValue], days: ChartDays, scale: &ChartScale) -> Vec<ChartPoint> {
    let before = line.iter().rfind(|point| point.day < days.from);
    let begun = before.map(|point| DayValue {
        day: days.from,
        value: point.value,
    });
    let inside = line.iter().copied().filter(|point| days.has(point.day));
    begun
        .into_iter()
        .chain(inside)
        .map(|point| ChartPoint {
            x: days.x(point.day),
            y: scale.place(point.value),
        })
        .collect()
}
