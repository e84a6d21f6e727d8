//! The drawings of the report.

use std::collections::BTreeMap;

use super::data::{Ledger, OverheadPageSums, OverheadView};
use super::tables::{bars, day_name, permille};
use crate::absent;
use crate::error::Result;
use crate::numbers::tally;
use crate::report::drawing::{ChartFrame, ChartMark, LegendEntry, figure, rectangles};
use crate::time::Day;

const SIZE: (u32, u32) = (640, 280);
/// Columns of a drawing over time.
const COLUMN_N: usize = 120;
/// Rows of the heat map.
const ROW_N: usize = 40;
/// Classes of heat: shares of overhead in tenths of a percent from which they begin.
const HEATS: [(i32, &str, &str); 6] = [
    (0, "heat0", "under 5 %"),
    (50, "heat1", "5 to 20 %"),
    (200, "heat2", "20 to 40 %"),
    (400, "heat3", "40 to 60 %"),
    (600, "heat4", "60 to 80 %"),
    (800, "heat5", "80 % and more"),
];

/// Places of a bar or a row, so that its name is at its middle and the axis has a mark there and at its edges.
const PLACE_N: i32 = 10;

fn place(nth: usize) -> i32 {
    // Fallback: never taken, a drawing has fewer bars than 31 bits count.
    i32::try_from(nth).unwrap_or(i32::MAX)
}

fn share(permille: i32) -> String {
    format!("{} %", permille / 10)
}

/// The bar or row whose middle is at a place.
fn in_middle(place: i32) -> Option<usize> {
    let is_middle = place.rem_euclid(PLACE_N) == PLACE_N / 2;
    usize::try_from(place / PLACE_N).ok().filter(|_| is_middle)
}

/// How many units nodes had free, by share of the time.
pub(super) fn histogram(view: &OverheadView) -> Result<String> {
    let bars = bars(&view.histogram);
    let all: i128 = bars.iter().map(|(_, time_s)| time_s).sum();
    let shares: Vec<i32> = bars
        .iter()
        // Fallback: of no time at all every share is none.
        .map(|(_, time_s)| permille(*time_s, all).unwrap_or(0))
        .collect();
    // Fallback: a drawing without bars has the least scale.
    let top = shares.iter().copied().max().unwrap_or(0).clamp(100, 1000);
    // A place stays free on either side.
    let marks: Vec<_> = shares
        .iter()
        .enumerate()
        .map(|(nth, share)| {
            let left = place(nth) * PLACE_N;
            ChartMark {
                left: left + 1,
                bottom: 0,
                right: left + PLACE_N - 1,
                top: *share,
                ink: if nth == 0 { "series6" } else { "overhead" },
            }
        })
        .collect();
    let name = |x: i32| {
        let bar = in_middle(x).and_then(|nth| bars.get(nth));
        absent::phrase(bar.map(|(label, _)| label.clone()))
    };
    let frame = ChartFrame {
        size: SIZE,
        x_n: place(bars.len()) * PLACE_N,
        y_from: 0,
        y_n: top,
        left: 72,
        x_name: &name,
        y_name: &share,
        x_label_n: bars.len() * 2 + 1,
        y_label_n: 6,
        x_title: "units free on a node",
        y_title: "share of the time",
    };
    // Fallback: a histogram without a first bar has no time without waiting.
    let none = shares.first().copied().unwrap_or(0);
    Ok(figure(
        "Units free on a node, share of the time in which nodes took jobs.",
        &[
            LegendEntry {
                ink: "series6",
                word: "none",
            },
            LegendEntry {
                ink: "overhead",
                word: "some: one more job of that shape would have fitted",
            },
        ],
        &format!(
            "Bars: no unit was free for {} of the time; the table below has all numbers.",
            share(none)
        ),
        &rectangles(&frame, &marks)?,
    ))
}

/// Days put together so that they fit a drawing: the name of the first and their sums.
fn columns(days: &BTreeMap<Day, OverheadPageSums>) -> Vec<(String, OverheadPageSums)> {
    let width = days.len().div_ceil(COLUMN_N).max(1);
    let mut columns: Vec<(String, OverheadPageSums)> = Vec::new();
    for (nth, (day, sums)) in days.iter().enumerate() {
        if nth % width == 0 {
            columns.push((day_name(*day), OverheadPageSums::default()));
        }
        if let Some((_, column)) = columns.last_mut() {
            column.add(sums);
        }
    }
    columns
}

/// A part of a bar.
#[derive(Clone, Copy)]
struct BarPart {
    ink: &'static str,
    word: &'static str,
    of: fn(&Ledger) -> i128,
}

impl BarPart {
    const fn new(ink: &'static str, word: &'static str, of: fn(&Ledger) -> i128) -> Self {
        Self { ink, word, of }
    }
}

/// What the capacity was, over time.
pub(super) fn ledger(view: &OverheadView) -> Result<String> {
    let lead = view.lead();
    let columns = columns(&view.days);
    let parts: [BarPart; 6] = [
        BarPart::new("allocated", "allocated to jobs", |ledger| ledger.allocated),
        BarPart::new("overhead", "overhead", |ledger| ledger.overhead),
        BarPart::new("stranded", "stranded", |ledger| ledger.stranded),
        BarPart::new("down", "down", |ledger| ledger.down),
        BarPart::new("reserved", "reserved", |ledger| ledger.reserved),
        BarPart::new("unknown", "not known", |ledger| ledger.unknown),
    ];
    let mut marks = Vec::new();
    for (nth, (_, sums)) in columns.iter().enumerate() {
        let ledger = tally(sums.ledgers.get(lead).copied());
        let (mut below, mut sum) = (0, 0);
        for part in parts {
            sum += (part.of)(&ledger);
            // Fallback: of no capacity nothing is drawn.
            let above = permille(sum, ledger.capacity).unwrap_or(0);
            if above > below {
                marks.push(ChartMark {
                    left: place(nth),
                    bottom: below,
                    right: place(nth) + 1,
                    top: above,
                    ink: part.ink,
                });
            }
            below = above;
        }
    }
    let name = |x: i32| {
        let column = usize::try_from(x).ok().and_then(|nth| columns.get(nth));
        absent::phrase(column.map(|(name, _)| name.clone()))
    };
    let frame = ChartFrame {
        size: SIZE,
        x_n: place(columns.len()),
        y_from: 0,
        y_n: 1000,
        left: 72,
        x_name: &name,
        y_name: &share,
        x_label_n: 5,
        y_label_n: 6,
        x_title: "day",
        y_title: "share of the capacity",
    };
    // Fallback: never taken, there are three resources.
    let resource = ["cores", "memory", "GPUs"].get(lead).copied().unwrap_or_default();
    let entries = parts.map(|BarPart { ink, word, .. }| LegendEntry { ink, word });
    let shown: Vec<_> = entries
        .into_iter()
        .filter(|entry| marks.iter().any(|mark| mark.ink == entry.ink))
        .collect();
    Ok(figure(
        &format!("Where the capacity of the {resource} was, over time."),
        &shown,
        "Stacked shares of the capacity, day by day; the table below has all numbers.",
        &rectangles(&frame, &marks)?,
    ))
}

/// Overhead by node and time.
pub(super) fn heat(view: &OverheadView) -> Result<String> {
    let lead = view.lead();
    let of = |sums: &OverheadPageSums| tally(sums.ledgers.get(lead).copied());
    let mut nodes: Vec<(&String, &OverheadPageSums)> = view.nodes.iter().collect();
    nodes.sort_by(|a, b| of(b.1).overhead.cmp(&of(a.1).overhead).then_with(|| a.0.cmp(b.0)));
    let node_n = nodes.len();
    nodes.truncate(ROW_N);
    nodes.sort_by(|a, b| b.0.cmp(a.0));
    let mut marks = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for (row, (node, _)) in nodes.iter().enumerate() {
        let days = view.days.keys().map(|day| {
            let sums = view.node_days.get(&((*node).clone(), *day)).copied();
            (*day, tally(sums))
        });
        let columns = columns(&days.collect());
        for (nth, (_, sums)) in columns.iter().enumerate() {
            let ledger = of(sums);
            // What is not known has no colour.
            let Some(share) = permille(ledger.overhead, ledger.capacity).filter(|_| ledger.unknown == 0) else {
                continue;
            };
            let class = HEATS.iter().rev().find(|(from, ..)| share >= *from);
            let ink = class.map_or("heat0", |(_, ink, _)| ink);
            let (left, below) = (place(nth), place(row) * PLACE_N);
            marks.push(ChartMark {
                left,
                bottom: below,
                right: left + 1,
                top: below + PLACE_N,
                ink,
            });
        }
        names = columns.into_iter().map(|(name, _)| name).collect();
    }
    let x_name = |x: i32| {
        let name = usize::try_from(x).ok().and_then(|nth| names.get(nth));
        absent::phrase(name.cloned())
    };
    let y_name = |y: i32| {
        let node = in_middle(y).and_then(|nth| nodes.get(nth));
        absent::phrase(node.map(|(name, _)| name.chars().take(12).collect()))
    };
    let row_n = u32::try_from(nodes.len()).unwrap_or(1);
    let frame = ChartFrame {
        size: (SIZE.0, 88 + 16 * row_n),
        x_n: place(names.len()),
        y_from: 0,
        y_n: place(nodes.len()) * PLACE_N,
        left: 116,
        x_name: &x_name,
        y_name: &y_name,
        x_label_n: 5,
        y_label_n: nodes.len() * 2 + 1,
        x_title: "day",
        y_title: "node",
    };
    let caption = if node_n > ROW_N {
        format!("Overhead by node and time: the {ROW_N} of {node_n} nodes with the most.")
    } else {
        "Overhead by node and time.".to_owned()
    };
    Ok(figure(
        &caption,
        &HEATS.map(|(_, ink, word)| LegendEntry { ink, word }),
        "A map of nodes against days; the further from the background, the more could still have run. The tables contain the sums.",
        &rectangles(&frame, &marks)?,
    ))
}
