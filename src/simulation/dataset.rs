//! The `simulate` dataset: every job once for each method, with its start and the decision that made it.

use std::io::Write;

use arrow_array::ArrayRef;

use super::lake_trace::LakeJob;
use super::run::{MethodRun, Simulation};
use crate::error::{Error, Result};
use crate::numbers::index;
use crate::schema;
use crate::schema::batch::{identities, ints, texts};
use crate::simulate::job::Job;
use crate::simulate::jobs::JobList;
use crate::simulate::schedule::{Start, StartedJob};
use crate::store::{TableOptions, TableWriter};

/// What is stated of a job that never starts.
const NEVER: &str = "waits_for_ever";

/// Rows that are written at once.
const BATCH_ROWS: usize = 16_384;

/// A job under a method.
struct ScheduledJob<'a> {
    method: &'a str,
    job: Job,
    start: Option<Start>,
    name: String,
    known: Option<LakeJob>,
    /// Name of the first job that was still waiting when it started.
    head: Option<String>,
}

/// Writes the dataset as a Parquet file, and gives the writer back.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when the schema declares a column nothing fills; [`crate::error::Kind::Io`].
pub fn write_simulated<W: Write + Send>(simulation: &Simulation, writer: W) -> Result<W> {
    let dataset = schema::dataset("simulate")?;
    let options = TableOptions {
        sorting: dataset.sort.iter().map(String::as_str).collect(),
        ..TableOptions::default()
    };
    let mut table = TableWriter::create(writer, dataset.arrow(), &options)?;
    let mut runs: Vec<&MethodRun> = simulation.runs.iter().collect();
    runs.sort_by_key(|run| run.word);
    let mut write = |rows: &mut Vec<ScheduledJob<'_>>| {
        let columns = dataset
            .columns
            .iter()
            .map(|column| array(simulation, &column.name, rows));
        table.write(&dataset.batch(columns.collect::<Result<_>>()?)?)?;
        rows.clear();
        Ok::<(), Error>(())
    };
    let jobs = &simulation.input.trace.jobs;
    for run in runs {
        let mut heads = JobList::from(jobs).reader();
        let (mut names, mut head_names) = (simulation.input.names(), simulation.input.names());
        let mut rows: Vec<ScheduledJob<'_>> = Vec::new();
        // Jobs are sorted by submission; those of one second are sorted by name.
        let mut same_from = 0;
        for (job, start) in jobs.iter().zip(&run.schedule.starts) {
            let is_later = rows.last().is_some_and(|last| last.job.submit_s != job.submit_s);
            if is_later {
                sort_by_name(&mut rows, same_from);
                if rows.len() >= BATCH_ROWS {
                    write(&mut rows)?;
                }
                same_from = rows.len();
            }
            let head = start.and_then(|start| start.head);
            let head = head.and_then(|head| heads.get(index(head)).map(|head| head_names.of(head)));
            rows.push(ScheduledJob {
                method: run.word,
                name: names.of(&job),
                known: names.known(&job).cloned(),
                job,
                start,
                head,
            });
        }
        sort_by_name(&mut rows, same_from);
        write(&mut rows)?;
    }
    let (_, writer) = table.finish()?;
    Ok(writer)
}

/// Sorts the last rows, from a place on.
fn sort_by_name(rows: &mut [ScheduledJob<'_>], from: usize) {
    if let Some(same) = rows.get_mut(from..) {
        same.sort_by(|a, b| a.name.cmp(&b.name));
    }
}

fn array(simulation: &Simulation, name: &str, rows: &[ScheduledJob<'_>]) -> Result<ArrayRef> {
    let input = &simulation.input;
    let whole = |of: &dyn Fn(&ScheduledJob<'_>) -> Option<i64>| Ok(ints(rows.iter().map(of)));
    match name {
        "method" => Ok(texts(rows.iter().map(|row| Some(row.method)))),
        "job_id" => Ok(texts(rows.iter().map(|row| Some(row.name.as_str())))),
        "record_id" => identities(rows.iter().map(|row| row.known.as_ref().map(|job| job.record_id))),
        "account" => Ok(texts(rows.iter().map(|row| row.known.as_ref()?.account.as_deref()))),
        "vo" => Ok(texts(rows.iter().map(|row| row.known.as_ref()?.vo.as_deref()))),
        "resource" => {
            let first = input.machine.kinds().first().map(|kind| kind.name.as_str());
            Ok(texts(rows.iter().map(|_| first)))
        }
        "resource_n" => whole(&|row| Some(row.job.need.first())),
        "submit_s" => whole(&|row| Some(row.job.submit_s)),
        "start_s" => whole(&|row| row.start.map(|start| start.start_s)),
        "end_s" => whole(&|row| row.start.map(|start| StartedJob::new(row.job.clone(), start).end_s())),
        "limit_s" => whole(&|row| Some(row.job.limit_s)),
        "recorded_start_s" => whole(&|row| row.job.recorded_start_s),
        "decision" => {
            let words = rows
                .iter()
                .map(|row| Some(row.start.map_or(NEVER, |start| start.reason.word())));
            Ok(texts(words))
        }
        "pass_n" => whole(&|row| {
            let pass = row.start.map(|start| start.pass)?;
            (pass > 0).then(|| i64::from(pass))
        }),
        "first_waiting_job_id" => Ok(texts(rows.iter().map(|row| row.head.as_deref()))),
        other => Err(Error::internal(format!("no simulated job fills the column {other}"))),
    }
}
