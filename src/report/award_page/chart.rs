//! The chart of an award: what is left of it, with the bands of its projections.

use super::axes::{ChartDays, ChartScale, DayValue, draw, upright, within};
use super::data::{AwardPage, PageAward};
use super::downtime::DowntimeKind;
use crate::award::projection::ProjectionMethod;
use crate::charge::span::times_over;
use crate::error::Result;
use crate::reference::node_type::day_text;
use crate::report::drawing::{ChartPoint, ChartShape, LegendEntry, figure};
use crate::report::table::Cell;
use crate::time::Day;

/// Pixels.
const HEIGHT: u32 = 320;
/// Digits after the point of amounts.
const DIGITS: u8 = 9;
/// Days of an award that is drawn as a whole; of longer ones the allocation year is drawn.
const WHOLE_DAYS: i32 = 800;

/// The ink of a method.
fn ink_of(method: ProjectionMethod) -> &'static str {
    match method {
        ProjectionMethod::ConstantRate => "series5",
        ProjectionMethod::RecentWindow => "series2",
        ProjectionMethod::JobsToLimits => "series3",
    }
}

/// The days drawn of an award: all of them, or those of the allocation year where they are many.
fn days_of(page: &AwardPage<'_>, award: &PageAward<'_>) -> ChartDays {
    let from = award.state.award.from;
    // What an expiry took away is shown as well.
    let until = award
        .state
        .award
        .reference_until
        .map_or(award.end, |until| until.max(award.end));
    let is_long = until.checked_sub(from).is_none_or(|days| days > WHOLE_DAYS);
    let of_year = ChartDays {
        from: from.max(page.first),
        until: until.min(page.after),
    };
    if is_long && of_year.from < of_year.until {
        of_year
    } else {
        ChartDays { from, until }
    }
}

/// What is left, as a line: entries are upright steps at the begin of their day, use goes down until its end.
fn remaining(award: &PageAward<'_>) -> Vec<DayValue> {
    let mut line = Vec::new();
    let mut before: Option<(i128, i128)> = None;
    for point in &award.points {
        // Fallback: before the first entry nothing was granted.
        let (granted, used) = before.unwrap_or_default();
        if before.is_some() {
            line.push(DayValue {
                day: point.day,
                value: granted - used,
            });
        }
        line.push(DayValue {
            day: point.day,
            value: point.granted_e9 - used,
        });
        line.push(DayValue {
            day: point.day + 1,
            value: point.remaining_e9(),
        });
        before = Some((point.granted_e9, point.used_e9));
    }
    line
}

/// Even use of what is granted, from entry to entry.
fn even(award: &PageAward<'_>) -> Vec<DayValue> {
    let state = &award.state;
    let from = state.award.from;
    let Some(days) = state.award.reference_until.and_then(|until| until.checked_sub(from)) else {
        return Vec::new();
    };
    let left = |amount: i128, day: Day| times_over(amount, i128::from(days) - i128::from(day - from), days.into());
    let mut edges: Vec<Day> = award
        .points
        .iter()
        .filter(|point| !point.entries.is_empty())
        .map(|point| point.day)
        .collect();
    edges.push(award.end);
    let mut line = Vec::new();
    for (begin, end) in edges.iter().zip(edges.iter().skip(1)) {
        let amount = award
            .points
            .iter()
            .rfind(|point| point.day <= *begin)
            .map(|point| point.granted_e9);
        for day in [begin, end] {
            if let Some(value) = amount.and_then(|amount| left(amount, *day)) {
                line.push(DayValue { day: *day, value });
            }
        }
    }
    line
}

/// A drawing in the making: shapes from the lowest up, and what their inks stand for.
struct BurnDrawing<'p> {
    days: ChartDays,
    scale: ChartScale,
    shapes: Vec<ChartShape<'p>>,
    legend: Vec<(&'static str, String)>,
}

impl<'p> BurnDrawing<'p> {
    fn new(page: &AwardPage<'_>, award: &PageAward<'_>, line: &[DayValue]) -> Self {
        let amount = award.state.amount_e9;
        let values = || line.iter().map(|point| point.value);
        let most = values().chain([amount, 1]).fold(0, i128::max);
        let ends = award.forecasts.iter().flat_map(|forecast| {
            let band = forecast.band.map(|band| [band.low_e9, band.high_e9]);
            band.into_iter().flatten().chain([forecast.projected_e9])
        });
        // Use far beyond an award would leave no room for the rest: as much as the award is drawn below zero.
        let least = values()
            .chain(ends.map(|used| amount - used))
            .fold(0, i128::min)
            .max(-most);
        Self {
            days: days_of(page, award),
            scale: ChartScale::of(least, most),
            shapes: Vec::new(),
            legend: Vec::new(),
        }
    }

    fn means(&mut self, ink: &'static str, word: impl Into<String>) {
        self.legend.push((ink, word.into()));
    }

    fn line(&mut self, points: Vec<ChartPoint>, ink: &'p str, width: u32) {
        if points.len() > 1 {
            self.shapes.push(ChartShape::Line { points, ink, width });
        }
    }

    fn downtimes(&mut self, page: &AwardPage<'_>, award: &PageAward<'_>) {
        for (kind, ink, word) in [
            (DowntimeKind::Unused, "unknown", "no job used anything"),
            (DowntimeKind::Maintenance, "down", "maintenance"),
        ] {
            let here = page
                .downtimes
                .iter()
                .filter(|downtime| downtime.is_of(award.state.award) && downtime.kind == kind);
            let mut days: Vec<Day> = here
                .map(|downtime| downtime.day)
                .filter(|day| self.days.has(*day))
                .collect();
            days.dedup();
            for span in days.chunk_by(|day, next| day + 1 == *next) {
                if let (Some(first), Some(last)) = (span.first(), span.last()) {
                    let (left, right) = (self.days.x(*first), self.days.x(last + 1));
                    let (bottom, top) = (self.scale.bottom(), self.scale.top());
                    let corners = [(left, bottom), (right, bottom), (right, top), (left, top)];
                    let points = corners.map(|(x, y)| ChartPoint { x, y }).to_vec();
                    self.shapes.push(ChartShape::Area { points, ink });
                }
            }
            if !days.is_empty() {
                self.means(ink, word);
            }
        }
    }

    /// Projections go straight from the last settled day to the end, or to the edge of the drawing.
    fn forecasts(&mut self, award: &PageAward<'_>, last: DayValue) {
        let edge = self.days.until.min(award.end);
        let (all, drawn) = (award.end - last.day, edge - last.day);
        let (days, amount) = (self.days, award.state.amount_e9);
        if drawn <= 0 {
            return;
        }
        for forecast in &award.forecasts {
            let ink = ink_of(forecast.method);
            let scale = &self.scale;
            let start = ChartPoint {
                x: days.x(last.day),
                y: scale.place(last.value),
            };
            let at_edge = |used_e9: i128| {
                let left = amount - used_e9;
                let change = times_over(left - last.value, drawn.into(), all.into());
                ChartPoint {
                    x: days.x(edge),
                    y: scale.place(change.map_or(left, |change| last.value + change)),
                }
            };
            let middle = at_edge(forecast.projected_e9);
            let ends = forecast.band.map(|band| [band.low_e9, band.high_e9].map(at_edge));
            let how = if ends.is_some() {
                "with its past errors"
            } else {
                "not tested on the past"
            };
            if let Some([low, high]) = ends {
                let points = vec![start, low, high];
                self.shapes.push(ChartShape::Area { points, ink });
            }
            self.line(vec![start, middle], ink, 2);
            self.means(ink, format!("{}, {how}", forecast.method.as_str()));
        }
    }

    /// Upright lines at later entries, at the end, and after the last settled day.
    fn marks(&mut self, award: &PageAward<'_>, settled: Day) {
        let begin = award.state.award.from;
        let later = award
            .points
            .iter()
            .filter(|point| !point.entries.is_empty() && point.day > begin);
        let later: Vec<Day> = later.map(|point| point.day).filter(|day| self.days.has(*day)).collect();
        for day in &later {
            self.shapes.push(upright(self.days, *day, &self.scale, "series4", 1));
        }
        if !later.is_empty() {
            self.means("series4", "entry of the ledger");
        }
        if award.end < self.days.until {
            self.shapes
                .push(upright(self.days, award.end, &self.scale, "overhead", 2));
            self.means("overhead", "end of the award");
        }
        if settled < award.end && self.days.has(settled) {
            self.shapes.push(upright(self.days, settled, &self.scale, "ink", 1));
            self.means("ink", format!("settled up to {}", day_text(Some(settled - 1), "")));
        }
    }
}

/// What is left of an award, with its projections.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when it cannot be drawn.
pub(super) fn burn_down(page: &AwardPage<'_>, award: &PageAward<'_>) -> Result<String> {
    let state = &award.state;
    let line = remaining(award);
    let Some(last) = line.last().copied() else {
        return Ok(String::new());
    };
    let mut drawing = BurnDrawing::new(page, award, &line);
    let days = drawing.days;
    drawing.downtimes(page, award);
    let zero = [days.from, days.until].map(|day| ChartPoint { x: days.x(day), y: 0 });
    drawing.line(zero.to_vec(), "line", 1);
    let even_line = within(&even(award), days, &drawing.scale);
    if !even_line.is_empty() {
        drawing.line(even_line, "series6", 2);
        drawing.means("series6", "left at even use");
    }
    drawing.forecasts(award, last);
    let left_line = within(&line, days, &drawing.scale);
    drawing.line(left_line, "series0", 3);
    drawing.means("series0", "left");
    drawing.marks(award, last.day);
    let projected: Vec<String> = (award.forecasts.iter())
        .map(|forecast| format!("{} {}", forecast.method.as_str(), short(forecast.projected_e9)))
        .collect();
    let projected = if projected.is_empty() {
        "Nothing is projected.".to_owned()
    } else {
        format!("Projected use at the end: {}.", projected.join(", "))
    };
    let alt = format!(
        "What is left of {} from {} to {}: of {} {} that were granted, {} are left. {projected} The tables have all numbers.",
        state.award.id,
        day_text(Some(days.from), ""),
        day_text(Some(days.until - 1), ""),
        short(state.amount_e9),
        state.measure.unit,
        short(last.value),
    );
    let unit = state.measure.unit.replace('_', " ");
    let svg = draw(days, HEIGHT, &drawing.scale, DIGITS, &unit, &drawing.shapes)?;
    let legend = drawing.legend.iter().map(|(ink, word)| LegendEntry { ink, word });
    let title = format!("What is left of {}", state.award.id);
    Ok(figure(&title, &legend.collect::<Vec<_>>(), &alt, &svg))
}

/// An amount in words: three places.
fn short(amount_e9: i128) -> String {
    Cell::ratio(amount_e9, 1_000_000_000, 3).to_string()
}
