//! Drawings inside pages: SVG whose colours follow the scheme of the page.

use std::fmt::Write as _;

use plotters::chart::ChartBuilder;
use plotters::drawing::IntoDrawingArea;
use plotters::element::{Circle, PathElement, Polygon, Rectangle};
use plotters::prelude::SVGBackend;
use plotters::style::{Color, IntoFont, RGBColor};

use super::html::escape;
use crate::error::{Error, Result};

/// Colours of drawings: names of variables of the page's style.
const INKS: [&str; 21] = [
    "ink",
    "line",
    "allocated",
    "overhead",
    "stranded",
    "down",
    "reserved",
    "unknown",
    "heat0",
    "heat1",
    "heat2",
    "heat3",
    "heat4",
    "heat5",
    "series0",
    "series1",
    "series2",
    "series3",
    "series4",
    "series5",
    "series6",
];

/// While it is drawn, each is represented by a colour that no drawing uses otherwise.
fn ink(name: &str) -> RGBColor {
    // Fallback: a name that is no ink is drawn in the first.
    let at = INKS.iter().position(|ink| *ink == name).unwrap_or(0);
    // Fallback: never taken, there are fewer than 256 inks.
    RGBColor(0xF1, 0xD0, u8::try_from(at).unwrap_or(0))
}

fn themed(mut svg: String) -> String {
    // Inside a page the name space may be omitted, and nothing of a page shall look like an address.
    svg = svg.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1);
    for name in INKS {
        let RGBColor(red, green, blue) = ink(name);
        svg = svg.replace(
            &format!("\"#{red:02X}{green:02X}{blue:02X}\""),
            &format!("\"var(--{name})\""),
        );
    }
    svg
}

fn failed(why: impl std::fmt::Display) -> Error {
    Error::internal(format!("a chart cannot be drawn: {why}"))
}

/// What a drawing looks like besides its marks.
pub struct ChartFrame<'a> {
    /// Pixels.
    pub size: (u32, u32),
    /// End of the axis to the right, which begins with 0.
    pub x_n: i32,
    /// Begin of the axis upwards: 0, or less where there are values below.
    pub y_from: i32,
    /// End of the axis upwards.
    pub y_n: i32,
    /// Pixels for the labels of the axis upwards.
    pub left: u32,
    /// Words for a place to the right; empty where there shall be none.
    pub x_name: &'a dyn Fn(i32) -> String,
    /// Words for a place upwards.
    pub y_name: &'a dyn Fn(i32) -> String,
    /// The most places on the horizontal axis whose label is requested.
    pub x_label_n: usize,
    /// The most places on the vertical axis whose label is requested.
    pub y_label_n: usize,
    /// What the axis to the right is.
    pub x_title: &'a str,
    /// The label of the vertical axis, drawn next to it.
    pub y_title: &'a str,
}

/// A rectangle, in places of the axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChartMark<'a> {
    /// Its left edge.
    pub left: i32,
    /// Its lower edge.
    pub bottom: i32,
    /// Its right edge.
    pub right: i32,
    /// Its upper edge.
    pub top: i32,
    /// The name of its ink.
    pub ink: &'a str,
}

/// A place of the axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChartPoint {
    /// To the right.
    pub x: i32,
    /// Upwards.
    pub y: i32,
}

/// A shape of a drawing; later shapes lie above earlier ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChartShape<'a> {
    /// A rectangle.
    Mark(ChartMark<'a>),
    /// A line through points.
    Line {
        /// The points.
        points: Vec<ChartPoint>,
        /// The name of its ink.
        ink: &'a str,
        /// Pixels.
        width: u32,
    },
    /// A pale area within points.
    Area {
        /// The points.
        points: Vec<ChartPoint>,
        /// The name of its ink.
        ink: &'a str,
    },
    /// A disc.
    Dot {
        /// Its middle.
        at: ChartPoint,
        /// Pixels.
        radius: u32,
        /// The name of its ink.
        ink: &'a str,
    },
}

/// How much of an area is covered by its ink.
const AREA_ALPHA: f64 = 0.2;

/// Draws rectangles.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when they cannot be drawn.
pub fn rectangles(frame: &ChartFrame<'_>, marks: &[ChartMark<'_>]) -> Result<String> {
    let shapes: Vec<ChartShape<'_>> = marks.iter().copied().map(ChartShape::Mark).collect();
    drawn(frame, &shapes)
}

/// Draws shapes, one above the other.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when they cannot be drawn.
pub fn drawn(frame: &ChartFrame<'_>, shapes: &[ChartShape<'_>]) -> Result<String> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, frame.size).into_drawing_area();
        // Fallback: never taken, an axis begins far below the end of the type.
        let end = frame.y_n.max(frame.y_from.saturating_add(1));
        let mut chart = ChartBuilder::on(&area)
            .margin(8)
            .x_label_area_size(if frame.x_title.is_empty() { 28 } else { 44 })
            .y_label_area_size(frame.left)
            .build_cartesian_2d(0..frame.x_n.max(1), frame.y_from..end)
            .map_err(failed)?;
        let x_name = |x: &i32| (frame.x_name)(*x);
        let y_name = |y: &i32| (frame.y_name)(*y);
        let words = ("sans-serif", 13).into_font().color(&ink("ink"));
        chart
            .configure_mesh()
            .disable_mesh()
            .axis_style(ink("line"))
            .label_style(words.clone())
            .axis_desc_style(words)
            .x_desc(frame.x_title)
            .y_desc(frame.y_title)
            .x_labels(frame.x_label_n)
            .y_labels(frame.y_label_n)
            .x_label_formatter(&x_name)
            .y_label_formatter(&y_name)
            .draw()
            .map_err(failed)?;
        let places = |points: &[ChartPoint]| -> Vec<(i32, i32)> {
            let inside = |point: &ChartPoint| (point.x.clamp(0, frame.x_n.max(1)), point.y.clamp(frame.y_from, end));
            points.iter().map(inside).collect()
        };
        for shape in shapes {
            let of_series = match shape {
                ChartShape::Mark(mark) => {
                    let corners = [(mark.left, mark.bottom), (mark.right, mark.top)];
                    let rectangle = Rectangle::new(corners, ink(mark.ink).filled());
                    chart.draw_series(std::iter::once(rectangle)).map(|_| ())
                }
                ChartShape::Line {
                    points,
                    ink: name,
                    width,
                } => {
                    let path = PathElement::new(places(points), ink(name).stroke_width(*width));
                    chart.draw_series(std::iter::once(path)).map(|_| ())
                }
                ChartShape::Area { points, ink: name } => {
                    let polygon = Polygon::new(places(points), ink(name).mix(AREA_ALPHA).filled());
                    chart.draw_series(std::iter::once(polygon)).map(|_| ())
                }
                ChartShape::Dot { at, radius, ink: name } => {
                    let dots = places(std::slice::from_ref(at)).into_iter();
                    let discs = dots.map(|middle| Circle::new(middle, *radius, ink(name).filled()));
                    chart.draw_series(discs).map(|_| ())
                }
            };
            of_series.map_err(failed)?;
        }
        area.present().map_err(failed)?;
    }
    Ok(themed(without_empty_labels(&svg)))
}

/// A drawing without the ticks of places that have no name.
fn without_empty_labels(svg: &str) -> String {
    let mut out = String::with_capacity(svg.len());
    let mut rest = svg;
    while let Some((before, text)) = rest.split_once("<text ") {
        out.push_str(before);
        let Some((inside, after)) = text.split_once("</text>\n") else {
            out.push_str("<text ");
            rest = text;
            break;
        };
        let is_named = inside.split_once('>').is_none_or(|(_, name)| !name.trim().is_empty());
        // The tick of a label follows it.
        let tick = after
            .split_once("/>\n")
            .filter(|(tick, _)| !is_named && tick.starts_with("<polyline "));
        if let Some((_, after)) = tick {
            rest = after;
        } else {
            let kept = ["<text ", inside, "</text>\n"].concat();
            out.push_str(&kept);
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// The next of 1, 2, 5, 10, 20, ... that is not smaller.
#[must_use]
pub fn round_up(value: i128) -> i128 {
    let mut power: i128 = 1;
    loop {
        for step in [1, 2, 5] {
            // Fallback: a scale at the end of the type is above every value.
            let candidate = power.saturating_mul(step);
            if candidate >= value {
                return candidate;
            }
        }
        // Fallback: as for the candidate, it is above every value.
        power = power.saturating_mul(10);
    }
}

/// What an ink of a drawing stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LegendEntry<'a> {
    /// The ink.
    pub ink: &'a str,
    /// What it stands for.
    pub word: &'a str,
}

/// A drawing with its caption and its legend. `alt` describes the drawing in words.
#[must_use]
pub fn figure(caption: &str, inks: &[LegendEntry<'_>], alt: &str, svg: &str) -> String {
    let svg = described(caption, alt, svg);
    format!(
        "<figure><figcaption>{}</figcaption>{}<div class=\"scroll\" tabindex=\"0\" role=\"img\" aria-label=\"{}\">{svg}</div></figure>\n",
        escape(caption),
        legend(inks),
        escape(alt)
    )
}

/// The drawing with its title and description, for programs that read drawings without the page around them.
fn described(title: &str, alt: &str, svg: &str) -> String {
    let Some((head, rest)) = svg.split_once('>') else {
        return svg.to_owned();
    };
    format!(
        "{head}><title>{}</title><desc>{}</desc>{rest}",
        escape(title),
        escape(alt)
    )
}

fn legend(entries: &[LegendEntry<'_>]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let mut html = String::from("<ul class=\"legend\">");
    for LegendEntry { ink, word } in entries {
        // Writing to a string cannot fail.
        let _ = write!(
            html,
            "<li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect width=\"10\" height=\"10\" fill=\"var(--{ink})\"/></svg>{}</li>",
            escape(word)
        );
    }
    html.push_str("</ul>\n");
    html
}

/// Something that is shown when requested.
#[must_use]
pub fn details(summary: &str, body: &str) -> String {
    format!("<details><summary>{}</summary>\n{body}</details>\n", escape(summary))
}
