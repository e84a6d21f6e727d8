//! What happened, as a schedule: the starts a trace recorded.

use super::jobs::JobList;
use super::schedule::{Schedule, Start, StartReason};
use crate::error::Result;
use crate::runtime::column::Column;

/// The recorded starts, and how many jobs have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The jobs with a recorded start.
    pub schedule: Schedule,
    /// Jobs without one.
    pub without_n: u64,
}

/// The recorded starts of jobs. They are no simulation: they may exceed the machine, if it was another one.
///
/// # Errors
/// [`crate::error::Kind::Io`] when those of many jobs cannot be put into a temporary file.
pub fn recorded<'a>(jobs: impl Into<JobList<'a>>) -> Result<Recorded> {
    let jobs = jobs.into();
    let mut without_n = 0;
    let starts = jobs.iter().map(|job| {
        without_n += u64::from(job.recorded_start_s.is_none());
        job.recorded_start_s.map(|start_s| Start {
            start_s,
            pass: 0,
            reason: StartReason::Recorded,
            head: None,
            large_node_n: 0,
        })
    });
    let starts = Column::of(starts, jobs.budget().part())?;
    Ok(Recorded {
        without_n,
        schedule: Schedule {
            starts,
            ..Schedule::default()
        },
    })
}

/// How alike two schedules of the same jobs are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Likeness {
    /// Jobs that start in both.
    pub both_n: u64,
    /// Jobs that start in the same second.
    pub same_n: u64,
    /// Sum of the differences between the starts, seconds, without sign.
    pub apart_s: i128,
}

/// One of two schedules of the same jobs, with those alone that start in both.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the starts of many jobs cannot be put into a temporary file.
pub fn started_in_both(own: &Schedule, other: &Schedule) -> Result<Schedule> {
    let both = own.starts.iter().zip(&other.starts);
    Ok(Schedule {
        starts: Column::of(both.map(|(start, other)| other.and(start)), own.starts.budget())?,
        ..Schedule::default()
    })
}

/// Compares the starts of two schedules of the same jobs.
#[must_use]
pub fn likeness(one: &Schedule, other: &Schedule) -> Likeness {
    let mut likeness = Likeness::default();
    for pair in one.starts.iter().zip(&other.starts) {
        if let (Some(one), Some(other)) = pair {
            likeness.both_n += 1;
            likeness.same_n += u64::from(one.start_s == other.start_s);
            likeness.apart_s += i128::from((one.start_s - other.start_s).abs());
        }
    }
    likeness
}
