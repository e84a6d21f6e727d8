//! One bucket at a time: which row of each job is accepted, and what becomes of the others.
//!
//! The order among versions of one job is total and does not depend on when a row was read, so a lake built night by
//! night holds what a lake built in one go holds.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, RecordBatch, new_null_array};
use arrow::compute::interleave;

use crate::error::{Error, Result};
use crate::ledger::Outcome;
use crate::schema;
use crate::schema::batch::{column, id, identity, int, number, text, time, uint};

/// Ranks input files by arrival: later ones hold the later word. The order is that of (arrival in the name, path).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileOrder {
    rank: HashMap<Arc<str>, u32>,
}

impl FileOrder {
    /// The order of `files`: (file id, arrival in the name, path).
    #[must_use]
    pub fn new(mut files: Vec<(Arc<str>, Option<i64>, String)>) -> Self {
        files.sort_by(|a, b| (a.1, &a.2, &a.0).cmp(&(b.1, &b.2, &b.0)));
        let rank = files.into_iter().zip(0..).map(|((id, ..), at)| (id, at)).collect();
        Self { rank }
    }

    /// Rank of a file id.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] for a file no ledger knows.
    pub fn rank(&self, file_id: &str) -> Result<u32> {
        let known = self.rank.get(file_id).copied();
        known.ok_or_else(|| Error::internal(format!("no ledger knows the input file {file_id}")))
    }
}

/// A row that lost, as `history` keeps it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loser {
    /// Instant that places it.
    pub record_ms: i64,
    /// Identity.
    pub record_id: u128,
    /// Input file.
    pub file_id: Arc<str>,
    /// Line.
    pub line: i64,
    /// Steps that came with it.
    pub step_n: i64,
    /// Content.
    pub content_hash: u64,
    /// Duplicate or superseded.
    pub outcome: Outcome,
}

/// A bucket, resolved.
pub struct Merged {
    /// The accepted rows, sorted by (`record_utc`, `record_id`).
    pub winners: RecordBatch,
    /// The others, sorted.
    pub losers: Vec<Loser>,
}

/// How much a version of a job is worth; the larger wins.
type Worth = (i64, i64, i64, i64, u32, i64);

struct Candidate {
    record_ms: i64,
    record_id: u128,
    worth: Worth,
    line: i64,
    step_n: i64,
    content_hash: u64,
    file_id: Arc<str>,
    batch: usize,
    row: usize,
}

/// Resolves one bucket: `batches` hold the accepted rows of earlier runs and the candidates of this one, `earlier`
/// the rows that lost before. A row read again (same file, same line) is the same row, not a duplicate.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when a batch is not what the schema declares.
pub fn merge(batches: &[RecordBatch], earlier: Vec<Loser>, order: &FileOrder) -> Result<Merged> {
    let mut candidates = Vec::with_capacity(batches.iter().map(RecordBatch::num_rows).sum());
    for (at, batch) in batches.iter().enumerate() {
        collect(batch, at, order, &mut candidates)?;
    }
    candidates.sort_unstable_by(|a, b| {
        (a.record_ms, a.record_id)
            .cmp(&(b.record_ms, b.record_id))
            .then_with(|| b.worth.cmp(&a.worth))
    });
    let mut lost: HashMap<u128, Vec<Loser>> = HashMap::new();
    for loser in earlier {
        lost.entry(loser.record_id).or_default().push(loser);
    }
    let mut rows = Vec::with_capacity(candidates.len());
    let mut losers = Vec::new();
    for versions in candidates.chunk_by(|a, b| a.record_id == b.record_id) {
        let Some((winner, others)) = versions.split_first() else {
            continue;
        };
        rows.push((winner.batch, winner.row));
        let mut known = lost.remove(&winner.record_id).unwrap_or_default();
        let mut previous = (&winner.file_id, winner.line);
        for other in others {
            // Equal worth means equal file and line: the same row, read again.
            let this = (&other.file_id, other.line);
            if this == previous || known.iter().any(|l| (&l.file_id, l.line) == this) {
                continue;
            }
            previous = this;
            losers.push(Loser {
                record_ms: other.record_ms,
                record_id: other.record_id,
                file_id: Arc::clone(&other.file_id),
                line: other.line,
                step_n: other.step_n,
                content_hash: other.content_hash,
                outcome: outcome(other.content_hash, winner.content_hash),
            });
        }
        for loser in &mut known {
            loser.outcome = outcome(loser.content_hash, winner.content_hash);
        }
        losers.append(&mut known);
    }
    if !lost.is_empty() {
        return Err(Error::internal("history knows a job that records has lost"));
    }
    losers.sort_unstable();
    let winners = pick(batches, &rows)?;
    Ok(Merged { winners, losers })
}

/// The rows picked from the batches. A dialect leaves a third of the columns empty: those are made, not copied.
fn pick(batches: &[RecordBatch], rows: &[(usize, usize)]) -> Result<RecordBatch> {
    let schema = schema::dataset("records")?.arrow();
    let columns = schema.fields().iter().enumerate().map(|(at, field)| {
        let arrays: Vec<&dyn Array> = batches
            .iter()
            .filter_map(|batch| Some(batch.columns().get(at)?.as_ref()))
            .collect();
        if arrays.iter().all(|array| array.null_count() == array.len()) {
            return Ok(new_null_array(field.data_type(), rows.len()));
        }
        Ok(interleave(&arrays, rows)?)
    });
    Ok(RecordBatch::try_new(
        Arc::clone(&schema),
        columns.collect::<Result<_>>()?,
    )?)
}

fn outcome(content: u64, winner: u64) -> Outcome {
    if content == winner {
        Outcome::Duplicate
    } else {
        Outcome::Superseded
    }
}

fn collect(batch: &RecordBatch, at: usize, order: &FileOrder, into: &mut Vec<Candidate>) -> Result<()> {
    let (record_id, record_utc) = (id(batch, "record_id")?, time(batch, "record_utc")?);
    let (format, file) = (text(batch, "format")?, text(batch, "file_id")?);
    let (end, received) = (time(batch, "end_utc")?, time(batch, "received_utc")?);
    let (wall, cpu) = (int(batch, "wall_s")?, int(batch, "cpu_ms")?);
    let (line, steps) = (int(batch, "line")?, int(batch, "step_n")?);
    let hash = uint(batch, "content_hash")?;
    let measured: Vec<_> = MEASURED.iter().map(|name| column(batch, name)).collect::<Result<_>>()?;
    let mut last_file: Option<(Arc<str>, u32)> = None;
    for row in 0..batch.num_rows() {
        let file_id = file.value(row);
        let (file_id, rank) = match &last_file {
            Some((id, rank)) if &**id == file_id => (Arc::clone(id), *rank),
            _ => {
                let fresh = (Arc::<str>::from(file_id), order.rank(file_id)?);
                last_file = Some(fresh.clone());
                fresh
            }
        };
        let worth = match format.value(row) {
            // A finished job beats a running one, a longer look a shorter one (a window edge loses steps and with
            // them CPU time), more known fields fewer.
            "sacct" => {
                let cpu_ms = number(cpu, row).unwrap_or(-1);
                let known = measured.iter().filter(|column| column.is_valid(row)).count();
                let known = i64::try_from(known).unwrap_or(i64::MAX);
                (
                    i64::from(end.is_valid(row)),
                    wall.value(row),
                    cpu_ms,
                    known,
                    rank,
                    line.value(row),
                )
            }
            // The collector stores what it receives last.
            "gracc" => {
                let received = number(received, row).unwrap_or(i64::MIN);
                (received, 0, 0, 0, rank, line.value(row))
            }
            // The APEL server replaces the whole row: the last one loaded wins.
            _ => (0, 0, 0, 0, rank, line.value(row)),
        };
        into.push(Candidate {
            record_ms: record_utc.value(row),
            record_id: identity(record_id, row)?,
            worth,
            line: line.value(row),
            step_n: steps.value(row),
            content_hash: hash.value(row),
            file_id,
            batch: at,
            row,
        });
    }
    Ok(())
}

/// Fields that make one version of a Slurm job fuller than another.
const MEASURED: &[&str] = &[
    "submit_utc",
    "eligible_utc",
    "account",
    "user",
    "partition",
    "qos",
    "alloc_core_n",
    "alloc_node_n",
    "alloc_gpu_n",
    "alloc_memory_byte",
    "max_rss_byte",
    "alloc_billing_n",
    "node_list",
    "state",
    "exit_code",
];
