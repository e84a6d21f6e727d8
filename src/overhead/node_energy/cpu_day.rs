//! The CPU time of jobs by node and day.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;

use crate::error::{Error, Kind, Result};
use crate::overhead::job_spans::{JobColumns, SPAN_COLUMNS, span};
use crate::reference::job_hosts::job_hosts;
use crate::schema::batch::{addend, int, number};
use crate::summarise::apportion::apportion;
use crate::time::calendar::Period;
use crate::time::{Calendar, Day, MsSpan};

/// Columns of `records` that CPU time is read from.
pub(super) fn columns() -> Vec<&'static str> {
    SPAN_COLUMNS.into_iter().chain(["cpu_ms"]).collect()
}

/// The CPU time of jobs on a node on a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuDay {
    /// Milliseconds.
    pub cpu_ms: i64,
    /// Jobs there whose CPU time is unknown.
    pub unknown_job_n: u64,
}

impl CpuDay {
    /// Milliseconds; `None` where that of a job is unknown.
    #[must_use]
    pub fn known_ms(self) -> Option<i64> {
        (self.unknown_job_n == 0).then_some(self.cpu_ms)
    }
}

/// By node and day, of the nodes that have a meter.
pub(super) struct CpuDays<'a> {
    /// Nodes with the days of their jobs.
    nodes: BTreeMap<&'a str, BTreeMap<Day, CpuDay>>,
    /// The month, and how it is cut into days.
    month: Period,
    calendar: Calendar,
}

impl<'a> CpuDays<'a> {
    /// Of nodes in a month; `calendar` is of days.
    pub(super) fn new(nodes: impl Iterator<Item = &'a str>, month: Period, calendar: Calendar) -> Self {
        Self {
            nodes: nodes.map(|node| (node, BTreeMap::new())).collect(),
            month,
            calendar,
        }
    }

    /// Of a node on a day; `None` where no job ran.
    pub(super) fn of(&self, node: &str, day: Day) -> Option<CpuDay> {
        self.nodes.get(node)?.get(&day).copied()
    }

    /// Adds a batch of `records`.
    pub(super) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let (jobs, cpu_ms) = (JobColumns::of(batch)?, int(batch, "cpu_ms")?);
        let (mut of_nodes, mut of_days) = (Vec::new(), Vec::new());
        for row in 0..batch.num_rows() {
            let (Some(held), Some(list)) = (span(&jobs, row), jobs.list(row)) else {
                continue;
            };
            let (from_ms, until_ms) = (held.start_s * 1000, held.end_s * 1000);
            if from_ms >= self.month.until_ms || until_ms <= self.month.from_ms {
                continue;
            }
            let days = self.days(from_ms, until_ms)?;
            let weights: Vec<i64> = days.iter().map(|day| day.part_ms).collect();
            let hosts = job_hosts(list);
            let cpu_ms = number(cpu_ms, row);
            let parts: Vec<i64> = hosts.iter().map(|host| host.part_n).collect();
            apportion(addend(cpu_ms), &parts, &mut of_nodes);
            for (host, of_node) in hosts.iter().map(|host| &*host.name).zip(&of_nodes) {
                let short = || host.split_once('.').map(|(short, _)| short);
                let name = Some(host).filter(|name| self.nodes.contains_key(name)).or_else(short);
                let Some(node) = name.and_then(|name| self.nodes.get_mut(name)) else {
                    continue;
                };
                apportion(*of_node, &weights, &mut of_days);
                for (day, part_ms) in days.iter().zip(&of_days) {
                    let Some(day) = day.day else { continue };
                    let sum = node.entry(day).or_default();
                    let more = sum.cpu_ms.checked_add(*part_ms);
                    sum.cpu_ms = more.ok_or_else(|| {
                        Error::new(
                            Kind::Data,
                            format!("the CPU time of jobs on node {host} does not fit 63 bits"),
                        )
                    })?;
                    sum.unknown_job_n += u64::from(cpu_ms.is_none());
                }
            }
        }
        Ok(())
    }

    /// The days of a run, with what is before and behind the month as parts of no day.
    fn days(&mut self, from_ms: i64, until_ms: i64) -> Result<Vec<RunDay>> {
        let mut days = Vec::new();
        if from_ms < self.month.from_ms {
            days.push(RunDay {
                day: None,
                part_ms: self.month.from_ms - from_ms,
            });
        }
        let end_ms = until_ms.min(self.month.until_ms);
        let within = MsSpan {
            from_ms: from_ms.max(self.month.from_ms),
            until_ms: end_ms,
        };
        let parts = self.calendar.parts(within);
        let parts = parts.ok_or_else(|| Error::internal("a month without days"))?;
        days.extend(parts.iter().map(|part| RunDay {
            day: part.period.day,
            part_ms: part.length_ms,
        }));
        if until_ms > end_ms {
            days.push(RunDay {
                day: None,
                part_ms: until_ms - end_ms,
            });
        }
        Ok(days)
    }
}

/// A part of the run of a job.
#[derive(Clone, Copy, Debug)]
struct RunDay {
    /// The day; `None` outside of the month.
    day: Option<Day>,
    part_ms: i64,
}
