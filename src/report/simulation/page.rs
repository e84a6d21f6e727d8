//! The page of a simulation: one file that fetches nothing, with drawings of use and waits.

use std::fmt::Write as _;

use super::super::board::{PageTerm, board, definitions, section};
use super::super::drawing::{ChartFrame, ChartPoint, ChartShape, LegendEntry, drawn, figure};
use super::super::html::{self, escape};
use super::super::shown::grouped;
use super::super::site::chart::SERIES_INKS;
use super::super::table::Cell;
use super::{SimulationTable, sentences};
use crate::error::Result;
use crate::numbers::{count_i64, count_u64};
use crate::simulation::run::{MethodRun, Simulation};
use crate::time::instant::second_text;

/// Pixels of a drawing.
const SIZE: (u32, u32) = (960, 320);
/// Parts of the time that use is averaged over.
const PARTS: i64 = 120;
/// Labels of the time, at most.
const LABELS: usize = 7;
/// Places upwards of all there is.
const ALL: i32 = 1000;
/// Upper ends of waits, seconds, and what they are called.
const WAITS: [(i64, &str); 8] = [
    (0, "none"),
    (60, "1 min"),
    (600, "10 min"),
    (3_600, "1 h"),
    (14_400, "4 h"),
    (43_200, "12 h"),
    (86_400, "1 d"),
    (604_800, "1 week"),
];

const TERMS: [(&str, &str); 6] = [
    (
        "recorded",
        "What happened: the starts of the lake or log. It is no simulation, and may exceed the machine where that was another.",
    ),
    (
        "baseline",
        "The base policy: jobs in order, others before them where backfilling allows it, no window.",
    ),
    (
        "back-test",
        "The base policy against what happened. Where it is far from it, the scheduler of the site was another one, and methods \
         are to be compared with baseline alone.",
    ),
    (
        "wait",
        "From submission to start; from the time a job was eligible where a dependency or a hold kept it.",
    ),
    (
        "bounded slowdown",
        "Wait and run over run, runs below 10 s taken for 10 s; at least 1. The slowdown leaves out jobs that ran less than 60 s.",
    ),
    (
        "free canonical units",
        "How many more jobs of that shape nodes could have run, by the sweep of the node ledger over jobs put on nodes by one rule.",
    ),
];

/// A line of a drawing: one value in thousandths for each place to the right.
struct DrawnLine<'a> {
    name: &'a str,
    values: Vec<i32>,
}

/// The page.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when a chart cannot be drawn; as [`SimulationTable::of`].
pub fn page(simulation: &Simulation, title: &str) -> Result<String> {
    let mut body = String::new();
    figures(&mut body, simulation);
    if let Some(answers) = &simulation.answers {
        for sentence in sentences(answers).lines() {
            let _ = writeln!(body, "<p class=\"basis\">{}</p>", escape(sentence));
        }
    }
    for note in &simulation.input.notes {
        let _ = writeln!(body, "<p class=\"note\">{}</p>", escape(note));
    }
    for trial in SimulationTable::TRIAL {
        add(&mut body, simulation, trial, "")?;
    }
    let first = simulation.input.machine.kinds().first();
    let name = first.map_or("", |kind| kind.name.as_str());
    let drawings = format!("{}{}", use_drawing(simulation, name)?, wait_drawing(simulation)?);
    add(&mut body, simulation, SimulationTable::Methods, &drawings)?;
    for table in [SimulationTable::Sizes, SimulationTable::Runtimes] {
        add(&mut body, simulation, table, "")?;
    }
    if simulation.answers.is_some() {
        for table in SimulationTable::OF_LAKE {
            add(&mut body, simulation, table, "")?;
        }
    }
    add(&mut body, simulation, SimulationTable::Lines, "")?;
    let terms = definitions(TERMS.map(|(term, meaning)| PageTerm { term, meaning }));
    section(&mut body, "definitions", "What the terms mean", &terms);
    Ok(board(&format!("What if: {title}"), &body))
}

/// Adds a table that has rows as a section of its own.
fn add(body: &mut String, simulation: &Simulation, which: SimulationTable, before: &str) -> Result<()> {
    let table = which.of(simulation)?;
    if table.rows.is_empty() {
        return Ok(());
    }
    let inside = format!("{before}{}", html::table(&table.without_empty_columns())?);
    section(body, which.id(), &table.title, &inside);
    Ok(())
}

/// What matters most, large.
fn figures(body: &mut String, simulation: &Simulation) {
    let mut figures = vec![
        (
            "jobs",
            grouped(i128::from(count_u64(simulation.input.trace.jobs.len()))),
        ),
        (
            "violations of capacity by recorded starts",
            grouped(i128::from(simulation.replay.beyond_n())),
        ),
    ];
    for run in &simulation.runs {
        let jobs = &run.measures.jobs;
        let mean = Cell::ratio(jobs.wait_s, i128::from(jobs.job_n), 0).to_string();
        figures.push((run.word, format!("{mean} s mean wait")));
    }
    body.push_str("<dl class=\"figures\">\n");
    for (name, value) in figures {
        // Writing to a string cannot fail.
        let _ = writeln!(body, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(&value));
    }
    body.push_str("</dl>\n");
}

/// A value on the axis upwards.
fn height(part: i128, of: i128) -> i32 {
    let all = i128::from(ALL);
    // Fallback: never taken, what is limited to a thousand fits.
    i32::try_from((part * all / of.max(1)).clamp(0, all * 2)).unwrap_or(ALL)
}

/// Use of the first kind of resource over time, the mean of each part of the time.
fn use_drawing(simulation: &Simulation, name: &str) -> Result<String> {
    let jobs = &simulation.input.trace.jobs;
    let spans = simulation.runs.iter().flat_map(|run| run.schedule.started(jobs));
    let until_s = spans.map(|started| started.end_s()).max();
    let from_s = jobs.iter().map(|job| job.submit_s).min();
    let (Some(from_s), Some(until_s)) = (from_s, until_s) else {
        return Ok(String::new());
    };
    let part_s = ((until_s - from_s) / PARTS + 1).max(1);
    let capacity = i128::from(simulation.input.machine.capacity().first());
    let lines = simulation.runs.iter().map(|run| DrawnLine {
        name: run.word,
        values: used(run, simulation, from_s, part_s)
            .into_iter()
            .map(|used_s| height(used_s, capacity * i128::from(part_s)))
            .collect(),
    });
    let lines: Vec<DrawnLine<'_>> = lines.collect();
    let is_lake = simulation.input.lake.is_some();
    let label = |part: usize| {
        let at_s = from_s + count_i64(part) * part_s;
        if is_lake {
            let day = second_text(at_s * 1000).map(|text| text.chars().take(10).collect());
            // Fallback: an instant beyond the calendar has no label.
            day.unwrap_or_default()
        } else {
            format!("day {}", at_s / 86_400)
        }
    };
    lines_drawing(
        &format!("{name} in use"),
        &format!("{name} in use, percent of the machine"),
        &label,
        &lines,
    )
}

/// Amount of the first kind times seconds in each part of the time.
fn used(run: &MethodRun, simulation: &Simulation, from_s: i64, part_s: i64) -> Vec<i128> {
    let mut used = Vec::new();
    for started in run.schedule.started(&simulation.input.trace.jobs) {
        let (start_s, end_s) = (started.start.start_s.max(from_s), started.end_s());
        let mut at_s = start_s;
        while at_s < end_s {
            let part = (at_s - from_s) / part_s;
            let next_s = (from_s + (part + 1) * part_s).min(end_s);
            // Fallback: never taken, no job starts before the first submission.
            let part = usize::try_from(part).unwrap_or(0);
            if used.len() <= part {
                used.resize(part + 1, 0);
            }
            if let Some(sum) = used.get_mut(part) {
                *sum += i128::from(started.job.need.first()) * i128::from(next_s - at_s);
            }
            at_s = next_s;
        }
    }
    used
}

/// How many jobs waited at most so long.
fn wait_drawing(simulation: &Simulation) -> Result<String> {
    let jobs = &simulation.input.trace.jobs;
    let lines = simulation.runs.iter().map(|run| {
        let mut at_most_n = vec![0_i128; WAITS.len()];
        let mut all_n = 0;
        for started in run.schedule.started(jobs) {
            all_n += 1;
            for (n, (most_s, _)) in at_most_n.iter_mut().zip(WAITS) {
                *n += i128::from(started.wait_s() <= most_s);
            }
        }
        let values = at_most_n.iter().map(|n| height(*n, all_n));
        DrawnLine {
            name: run.word,
            values: values.collect(),
        }
    });
    let lines: Vec<DrawnLine<'_>> = lines.collect();
    let label = |place: usize| {
        WAITS
            .get(place)
            .map_or_else(String::new, |(_, name)| (*name).to_owned())
    };
    lines_drawing("Waits", "jobs that waited at most so long, percent", &label, &lines)
}

fn lines_drawing(title: &str, unit: &str, label: &dyn Fn(usize) -> String, lines: &[DrawnLine<'_>]) -> Result<String> {
    let place_n = lines.iter().map(|line| line.values.len()).max();
    let Some(place_n) = place_n.filter(|n| *n > 1) else {
        return Ok(String::new());
    };
    let every = if place_n <= WAITS.len() {
        1
    } else {
        place_n.div_ceil(LABELS)
    };
    let mut shapes = Vec::new();
    for (line, ink) in lines.iter().zip(SERIES_INKS.iter().cycle()) {
        let points = (0_i32..).zip(&line.values).map(|(x, y)| ChartPoint { x, y: *y });
        shapes.push(ChartShape::Line {
            points: points.collect(),
            ink,
            width: 2,
        });
    }
    let x_name = |x: i32| {
        let place = usize::try_from(x).ok().filter(|place| place.is_multiple_of(every));
        place.map_or_else(String::new, label)
    };
    let highest = lines.iter().flat_map(|line| line.values.iter().copied()).max();
    // Fallback: a drawing without values shows all there is.
    let y_n = highest.unwrap_or(ALL).max(ALL);
    let y_name = |y: i32| (y / 10).to_string();
    let frame = ChartFrame {
        size: SIZE,
        // Fallback: never taken, a drawing has fewer places than 31 bits count.
        x_n: i32::try_from(place_n - 1).unwrap_or(i32::MAX),
        y_from: 0,
        y_n,
        left: 72,
        x_name: &x_name,
        y_name: &y_name,
        // A label for every place, of which most are empty.
        x_label_n: place_n + 1,
        y_label_n: 6,
        x_title: "",
        y_title: unit,
    };
    let svg = drawn(&frame, &shapes)?;
    let inks = SERIES_INKS.iter().copied().cycle().zip(lines);
    let entries: Vec<LegendEntry<'_>> = inks.map(|(ink, line)| LegendEntry { ink, word: line.name }).collect();
    let alt = format!("{unit}, by method. The tables have the numbers.");
    Ok(figure(title, &entries, &alt, &svg))
}
