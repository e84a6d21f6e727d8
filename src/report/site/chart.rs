//! Charts as SVG, drawn with whole numbers: the same numbers give the same picture.

use std::fmt::Write as _;

use crate::report::html::escape;

/// Colours that people with any colour vision tell apart (Okabe and Ito), and grey for the rest.
const COLOURS: [&str; 7] = [
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a929b",
];

const WIDTH: i128 = 960;
const HEIGHT: i128 = 320;
const LEFT: i128 = 80;
const RIGHT: i128 = 10;
const TOP: i128 = 12;
const BOTTOM: i128 = 34;

/// Values of one series, one for each label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: Vec<i128>,
}

/// The next of 1, 2, 5, 10, 20, ... that is not smaller.
fn round_up(value: i128) -> i128 {
    let mut power: i128 = 1;
    loop {
        for step in [1, 2, 5] {
            let candidate = power.saturating_mul(step);
            if candidate >= value {
                return candidate;
            }
        }
        power = power.saturating_mul(10);
    }
}

/// Thousands apart.
fn grouped(value: i128) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    if value < 0 { format!("\u{2212}{out}") } else { out }
}

struct Frame {
    top: i128,
    label_n: i128,
}

impl Frame {
    fn x(&self, at: usize) -> i128 {
        LEFT + (WIDTH - LEFT - RIGHT) * i128::try_from(at).unwrap_or(0) / self.label_n
    }

    fn y(&self, value: i128) -> i128 {
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / self.top
    }
}

fn open(out: &mut String, id: &str, title: &str, description: &str) {
    let _ = writeln!(
        out,
        "<figure>\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\n\
         <title id=\"{id}-t\">{}</title>\n<desc id=\"{id}-d\">{}</desc>",
        escape(title),
        escape(description)
    );
}

fn axes(out: &mut String, frame: &Frame, labels: &[String], unit: &str) {
    for step in 0..=4_i128 {
        let value = frame.top * step / 4;
        let y = frame.y(value);
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\" class=\"grid\"/>\
             <text x=\"{}\" y=\"{}\" class=\"tick end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 8,
            y + 4,
            grouped(value)
        );
    }
    let every = labels.len().div_ceil(14).max(1);
    for (at, label) in labels.iter().enumerate().filter(|(at, _)| at.is_multiple_of(every)) {
        let middle = i128::midpoint(frame.x(at), frame.x(at + 1));
        let _ = writeln!(
            out,
            "<text x=\"{middle}\" y=\"{}\" class=\"tick mid\">{}</text>",
            HEIGHT - BOTTOM + 20,
            escape(label)
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" class=\"tick\">{}</text>",
        LEFT + 4,
        TOP + 8,
        escape(unit)
    );
}

/// Bars on top of one another, one stack for each label.
#[must_use]
pub fn stacked(id: &str, title: &str, unit: &str, labels: &[String], series: &[Series]) -> String {
    let total = |at: usize| -> i128 {
        let values = series.iter().filter_map(|one| one.values.get(at));
        values.filter(|value| **value > 0).sum()
    };
    let largest = (0..labels.len()).map(total).max().unwrap_or(0);
    let frame = Frame {
        top: round_up(largest.max(4)),
        label_n: i128::try_from(labels.len().max(1)).unwrap_or(1),
    };
    let mut out = String::new();
    let names: Vec<&str> = series.iter().map(|one| one.name.as_str()).collect();
    open(
        &mut out,
        id,
        title,
        &format!("{unit} by month; from below: {}", names.join(", ")),
    );
    axes(&mut out, &frame, labels, unit);
    for (at, label) in labels.iter().enumerate() {
        let (left, right) = (frame.x(at), frame.x(at + 1));
        let gap = ((right - left) / 6).max(1);
        let mut below = 0;
        for (one, colour) in series.iter().zip(COLOURS.iter().cycle()) {
            let value = one.values.get(at).copied().unwrap_or(0);
            if value <= 0 {
                continue;
            }
            let (bottom, top) = (frame.y(below), frame.y(below + value));
            below += value;
            let _ = writeln!(
                out,
                "<rect x=\"{}\" y=\"{top}\" width=\"{}\" height=\"{}\" fill=\"{colour}\"><title>{} {}: {} {}</title></rect>",
                left + gap,
                (right - left - 2 * gap).max(1),
                bottom - top,
                escape(label),
                escape(&one.name),
                grouped(value),
                escape(unit)
            );
        }
    }
    out.push_str("</svg>\n<figcaption>");
    for (one, colour) in series.iter().zip(COLOURS.iter().cycle()) {
        let _ = write!(
            out,
            "<span class=\"key\"><svg viewBox=\"0 0 12 12\" aria-hidden=\"true\"><rect width=\"12\" height=\"12\" \
             fill=\"{colour}\"/></svg>{}</span> ",
            escape(&one.name)
        );
    }
    out.push_str("</figcaption>\n</figure>\n");
    out
}

/// Shares of a whole, in percent, as one bar for each label.
#[must_use]
pub fn percentages(id: &str, title: &str, labels: &[String], tenths: &[Option<i128>]) -> String {
    let largest = tenths.iter().flatten().copied().max().unwrap_or(0) / 10;
    let frame = Frame {
        top: if largest > 100 { round_up(largest) } else { 100 },
        label_n: i128::try_from(labels.len().max(1)).unwrap_or(1),
    };
    let mut out = String::new();
    open(&mut out, id, title, "CPU time in percent of core time, by month");
    axes(&mut out, &frame, labels, "%");
    for (at, (label, value)) in labels.iter().zip(tenths).enumerate() {
        let Some(value) = value.filter(|value| *value >= 0) else {
            continue;
        };
        let (left, right) = (frame.x(at), frame.x(at + 1));
        let gap = ((right - left) / 6).max(1);
        let (bottom, top) = (
            frame.y(0),
            HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / (frame.top * 10),
        );
        let shown = format!("{}.{}", value / 10, value % 10);
        let _ = writeln!(
            out,
            "<rect x=\"{}\" y=\"{top}\" width=\"{}\" height=\"{}\" fill=\"{}\"><title>{}: {shown} %</title></rect>\
             <text x=\"{}\" y=\"{}\" class=\"tick mid\">{shown}</text>",
            left + gap,
            (right - left - 2 * gap).max(1),
            (bottom - top).max(0),
            COLOURS.first().copied().unwrap_or("#000"),
            escape(label),
            i128::midpoint(left, right),
            (top - 4).max(TOP + 8)
        );
    }
    out.push_str("</svg>\n</figure>\n");
    out
}
