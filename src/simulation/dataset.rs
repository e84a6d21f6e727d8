//! The `simulate` dataset: every job once for each method, with its start and the decision that made it.

use arrow::array::ArrayRef;

use super::run::{MethodRun, Simulation};
use crate::error::{Error, Result};
use crate::numbers::index;
use crate::schema;
use crate::schema::batch::{identities, ints, texts};
use crate::simulate::job::Job;
use crate::simulate::schedule::Start;
use crate::store::{TableOptions, TableWriter};

/// What is stated of a job that never starts.
const NEVER: &str = "waits_for_ever";

/// A job under a method.
struct ScheduledJob<'a> {
    method: &'a str,
    job: &'a Job,
    start: Option<Start>,
    name: String,
}

/// The dataset as a Parquet file.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when the schema declares a column nothing fills.
pub fn simulate_parquet(simulation: &Simulation) -> Result<Vec<u8>> {
    let dataset = schema::dataset("simulate")?;
    let options = TableOptions {
        sorting: dataset.sort.iter().map(String::as_str).collect(),
        ..TableOptions::default()
    };
    let mut table = TableWriter::create(Vec::new(), dataset.arrow(), &options)?;
    let mut runs: Vec<&MethodRun> = simulation.runs.iter().collect();
    runs.sort_by_key(|run| run.word);
    for run in runs {
        let jobs = simulation.input.trace.jobs.iter().zip(&run.schedule.starts);
        let mut rows: Vec<ScheduledJob<'_>> = jobs
            .map(|(job, start)| ScheduledJob {
                method: run.word,
                job,
                start: *start,
                name: simulation.input.name(job.id),
            })
            .collect();
        rows.sort_by(|a, b| (a.job.submit_s, &a.name).cmp(&(b.job.submit_s, &b.name)));
        let columns = dataset
            .columns
            .iter()
            .map(|column| array(simulation, &column.name, &rows));
        table.write(&dataset.batch(columns.collect::<Result<_>>()?)?)?;
    }
    let (_, bytes) = table.finish()?;
    Ok(bytes)
}

fn array(simulation: &Simulation, name: &str, rows: &[ScheduledJob<'_>]) -> Result<ArrayRef> {
    let input = &simulation.input;
    let known = |row: &ScheduledJob<'_>| input.lake.as_ref().and_then(|lake| lake.jobs.of(row.job.id));
    let whole = |of: &dyn Fn(&ScheduledJob<'_>) -> Option<i64>| Ok(ints(rows.iter().map(of)));
    match name {
        "method" => Ok(texts(rows.iter().map(|row| Some(row.method)))),
        "job_id" => Ok(texts(rows.iter().map(|row| Some(row.name.as_str())))),
        "record_id" => identities(rows.iter().map(|row| known(row).map(|job| job.record_id))),
        "account" => Ok(texts(rows.iter().map(|row| known(row)?.account.as_deref()))),
        "vo" => Ok(texts(rows.iter().map(|row| known(row)?.vo.as_deref()))),
        "resource" => {
            let first = input.machine.kinds().first().map(|kind| kind.name.as_str());
            Ok(texts(rows.iter().map(|_| first)))
        }
        "resource_n" => whole(&|row| Some(row.job.need.first())),
        "submit_s" => whole(&|row| Some(row.job.submit_s)),
        "start_s" => whole(&|row| row.start.map(|start| start.start_s)),
        "end_s" => whole(&|row| row.start.map(|start| start.start_s + row.job.run_s)),
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
        "first_waiting_job_id" => Ok(texts(rows.iter().map(|row| {
            let head = row.start.and_then(|start| start.head)?;
            Some(input.name(input.trace.jobs.get(index(head))?.id))
        }))),
        other => Err(Error::internal(format!("no simulated job fills the column {other}"))),
    }
}
