//! The charts of the page: stacks of hours and shares of a whole, by month.

use crate::error::Result;
use crate::report::drawing::{ChartFrame, ChartMark, LegendEntry, figure, rectangles, round_up};
use crate::report::shown::grouped;

/// Inks of series, the last for the rest. Colours that people with any colour vision distinguish (Okabe and Ito).
pub const SERIES_INKS: [&str; 7] = [
    "series0", "series1", "series2", "series3", "series4", "series5", "series6",
];

const SIZE: (u32, u32) = (960, 320);
/// Places of a month to the right: six are drawn, one stays free on either side.
const MONTH_PLACES: i32 = 8;
/// Places upwards.
const HEIGHT_PLACES: i32 = 1000;
/// The least top of a scale: of this and all that [`round_up`] gives, a fifth is a whole number, and is printed next to it.
const LEAST_TOP: i128 = 5;
/// Months with a label, at most.
const LABELS: usize = 14;

/// Seconds of an hour.
const HOUR_S: i128 = 3600;

/// Seconds of one series, one for each label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its seconds.
    pub values: Vec<i128>,
}

fn place(nth: usize) -> i32 {
    i32::try_from(nth).unwrap_or(i32::MAX / MONTH_PLACES)
}

/// The height of a value on a scale up to a top.
fn height(value: i128, top: i128) -> i32 {
    i32::try_from(value.max(0) * i128::from(HEIGHT_PLACES) / top.max(1)).unwrap_or(HEIGHT_PLACES)
}

fn draw(labels: &[String], top: i128, unit: &str, marks: &[ChartMark<'_>]) -> Result<String> {
    let every = labels.len().div_ceil(LABELS).max(1);
    let x_name = |x: i32| {
        let is_middle = x.rem_euclid(MONTH_PLACES) == MONTH_PLACES / 2;
        let nth = usize::try_from(x / MONTH_PLACES).ok();
        let nth = nth.filter(|nth| is_middle && nth.is_multiple_of(every));
        // Fallback: a place without a month has an empty name.
        nth.and_then(|nth| labels.get(nth)).cloned().unwrap_or_default()
    };
    let y_name = |y: i32| grouped(i128::from(y) * top / i128::from(HEIGHT_PLACES));
    rectangles(
        &ChartFrame {
            size: SIZE,
            x_n: place(labels.len()) * MONTH_PLACES,
            y_from: 0,
            y_n: HEIGHT_PLACES,
            left: 104,
            x_name: &x_name,
            y_name: &y_name,
            // A label for every place, of which most are empty.
            x_label_n: labels.len() * 8 + 1,
            y_label_n: 6,
            x_title: "month",
            y_title: unit,
        },
        marks,
    )
}

/// Bars of hours on top of one another, one stack for each label, with a legend.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when it cannot be drawn.
pub fn stacked(title: &str, unit: &str, labels: &[String], series: &[Series]) -> Result<String> {
    let total = |at: usize| -> i128 {
        let values = series.iter().filter_map(|one| one.values.get(at));
        values.filter(|value| **value > 0).sum()
    };
    // Fallback: a chart without months has the least scale.
    let largest_s = (0..labels.len()).map(total).max().unwrap_or(0);
    // The next whole hour, so that nothing is above the scale.
    let top = round_up((largest_s + HOUR_S - 1).div_euclid(HOUR_S).max(LEAST_TOP));
    let mut marks = Vec::new();
    for at in 0..labels.len() {
        let left = place(at) * MONTH_PLACES + 1;
        let mut below = 0;
        for (one, ink) in series.iter().zip(SERIES_INKS.iter().cycle()) {
            // Fallback: a line without a value at a month is drawn at the bottom.
            let value = one.values.get(at).copied().unwrap_or(0).max(0);
            let [low, high] = [below, below + value].map(|s| height(s, top * HOUR_S));
            below += value;
            if high > low {
                marks.push(ChartMark {
                    left,
                    bottom: low,
                    right: left + MONTH_PLACES - 2,
                    top: high,
                    ink,
                });
            }
        }
    }
    let names: Vec<&str> = series.iter().map(|one| one.name.as_str()).collect();
    let alt = format!(
        "{unit} by month; from below: {}. The table has all numbers.",
        names.join(", ")
    );
    let inks = SERIES_INKS.iter().copied().cycle().zip(names.iter().copied());
    let entries: Vec<_> = inks.map(|(ink, word)| LegendEntry { ink, word }).collect();
    Ok(figure(title, &entries, &alt, &draw(labels, top, unit, &marks)?))
}

/// Shares of a whole, in tenths of a percent, as one bar for each label.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when it cannot be drawn.
pub fn percentages(title: &str, what: &str, labels: &[String], tenths: &[Option<i128>]) -> Result<String> {
    // Fallback: a chart without values has the least scale.
    let largest = tenths.iter().flatten().copied().max().unwrap_or(0).div_euclid(10) + 1;
    let top = round_up(largest.max(LEAST_TOP));
    let top = if (51..=100).contains(&largest) { 100 } else { top };
    let mut marks = Vec::new();
    for (at, value) in tenths.iter().enumerate() {
        let Some(value) = value.filter(|value| *value > 0) else {
            continue;
        };
        let left = place(at) * MONTH_PLACES + 1;
        let high = height(value, top * 10).max(1);
        marks.push(ChartMark {
            left,
            bottom: 0,
            right: left + MONTH_PLACES - 2,
            top: high,
            ink: "series0",
        });
    }
    let alt = format!("{what}, in percent, by month. The table has all numbers.");
    Ok(figure(
        title,
        &[],
        &alt,
        &draw(labels, top, &format!("{what}, %"), &marks)?,
    ))
}
