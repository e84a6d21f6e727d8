//! Slurm's own tables, as `sreport` prints them: from records, cut to the period whatever the lake's attribution, after
//! signed corrections. A measure that no job states is empty, not zero.

mod accounts;
pub mod answer;
mod events;
mod gathered;
mod jobs;
mod period;
mod planned;
mod reserved;
mod sizes;
mod tree;
mod unit;
mod used;
mod users;
mod utilization;
mod windows;

use gathered::Gathered;
use jobs::SreportJobs;
use reserved::Reserved;
use tree::Trees;

use super::lake::{Lake, Selection};
use super::sreport::answer::{SreportAnswer, SreportKind, SreportRequest, Wholes};
use crate::error::Result;
use crate::schema::batch::addend;
use crate::time::DaySpan;

pub use period::SreportPeriod;
pub use unit::TimeUnit;

/// Makes a table.
///
/// # Errors
/// [`Kind::Io`] when the lake cannot be read; [`Kind::Data`] when it does not state in which zone its months are cut;
/// [`Kind::Usage`] when the request has no answer.
pub fn answer(lake: &Lake, request: &SreportRequest) -> Result<SreportAnswer> {
    request.check()?;
    let jobs = SreportJobs::new(lake, &request.selection, request.period)?;
    let mut answer = match request.kind {
        SreportKind::SizesByAccount => sizes::answer(&jobs, request)?,
        SreportKind::Utilization => utilization::answer(&jobs, request)?,
        kind => {
            let trees = Trees::read(lake)?;
            let windows = windows::read(lake, &request.selection, request.period, &trees)?;
            let reserved = Reserved::new(windows, request.period);
            let gathered = Gathered::read(&jobs, &reserved)?;
            let wholes = Wholes::read(&jobs, request)?;
            let mut answer = match kind {
                SreportKind::TopUsage | SreportKind::UserUtilizationByAccount => {
                    users::answer(&gathered, &wholes, request)
                }
                _ => accounts::answer(&gathered, &trees, &wholes, request),
            };
            answer.notes.extend(gathered.notes);
            answer.notes.extend(wholes.notes);
            answer
        }
    };
    answer.notes.extend(of_summaries(&jobs)?);
    Ok(answer)
}

/// Summaries describe jobs added up, which cannot be cut to a period or distinguished by user.
fn of_summaries(jobs: &SreportJobs<'_>) -> Result<Option<String>> {
    let rows = jobs.lake.summaries(&Selection {
        days: DaySpan::default(),
        ..jobs.selection.clone()
    })?;
    let own = rows
        .iter()
        .filter(|row| row.is_usage() && jobs.period.touches(row.month, &jobs.zone));
    let (mut row_n, mut job_n) = (0_u64, 0_i64);
    for row in own {
        row_n += 1;
        job_n += addend(row.numbers.job_n);
    }
    Ok((row_n > 0).then(|| format!("{row_n} summaries of {job_n} jobs are left out: they name no single jobs")))
}
