//! One job in the periods it ran in: what `usage` counts of it in each.

use super::apportion::apportion;
use super::attribution::Attribution;
use super::periods::PeriodSplitter;
use super::sums::time_held;
use super::view::RecordView;
use crate::schema::batch::{addend, number};
use crate::time::Calendar;
use crate::time::calendar::Period;

/// What a period has of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeriodShare {
    /// The period.
    pub period: Period,
    /// Its first instant in the period, Unix milliseconds.
    pub from_ms: i64,
    /// How long it ran in the period, milliseconds.
    pub ran_ms: i64,
    /// How long it ran in all periods, milliseconds.
    pub of_ms: i64,
    /// Its part of the wall time, seconds.
    pub wall_s: i64,
    /// That times the cores.
    pub alloc_core_s: i64,
    /// What whole seconds leave of the wall time, milliseconds, times the cores: in the period of its end.
    pub alloc_core_fraction_ms: i64,
    /// Its part of the CPU time, milliseconds.
    pub cpu_ms: Option<i64>,
    /// Whether the job is counted here: it ended here.
    pub is_counted: bool,
}

/// Splits jobs as a run does.
pub struct ShareSplitter {
    cutter: PeriodSplitter,
}

impl ShareSplitter {
    /// For the attribution and the calendar of a run.
    #[must_use]
    pub fn new(attribution: Attribution, calendar: Calendar) -> Self {
        Self {
            cutter: PeriodSplitter::of(attribution, calendar),
        }
    }

    /// The calendar.
    #[must_use]
    pub fn calendar(&self) -> &Calendar {
        &self.cutter.calendar
    }

    /// The shares of a row of `records`, in the order of time; none when there is nothing to attribute.
    pub fn shares(&mut self, view: &RecordView<'_>, row: usize) -> Vec<PeriodShare> {
        let end_ms = number(view.end_utc, row);
        let Some(end_piece) = self.cutter.cut(view, row, end_ms) else {
            return Vec::new();
        };
        let weights = &self.cutter.weights;
        let (mut walls, mut cpus) = (Vec::new(), Vec::new());
        let cpu_ms = number(view.cpu_ms, row);
        apportion(view.wall_s.value(row), weights, &mut walls);
        apportion(addend(cpu_ms), weights, &mut cpus);
        let core_n = addend(number(view.alloc_core_n, row));
        let fraction_ms = time_held(view.wall_fraction_ms.value(row), core_n);
        let of_ms = weights.iter().sum();
        let pieces = self.cutter.pieces.iter().zip(weights).zip(walls.iter().zip(&cpus));
        let shares = pieces
            .enumerate()
            .map(|(at, ((period, ran_ms), (wall_s, cpu)))| PeriodShare {
                period: *period,
                from_ms: if at == 0 { self.cutter.from_ms } else { period.from_ms },
                ran_ms: *ran_ms,
                of_ms,
                wall_s: *wall_s,
                alloc_core_s: time_held(*wall_s, core_n),
                alloc_core_fraction_ms: if at == end_piece { fraction_ms } else { 0 },
                cpu_ms: cpu_ms.map(|_| *cpu),
                is_counted: end_ms.is_some() && at == end_piece,
            });
        shares.collect()
    }
}
