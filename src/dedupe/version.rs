//! A row of a job, ranked against the other rows of it.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, TimestampMillisecondArray, UInt64Array};

use super::dialects::RowDialects;
use super::file_order::FileOrder;
use super::reduced::RowAmounts;
use crate::error::Result;
use crate::numbers::count_i64;
use crate::schema::batch::{ColumnWords, int, number, uint, words};
use crate::sources::dialect::VersionRule;

/// How much a version of a job is worth; the larger wins, compared in the order of the fields.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct VersionWorth {
    /// Of the fullest: 1 for a job that has ended, else 0. Of the last received: when that was, Unix milliseconds.
    first: i64,
    wall_s: i64,
    cpu_ms: i64,
    /// Measured fields that have a value.
    known_n: i64,
    /// Of its file.
    rank: u32,
    line: i64,
}

/// One row of a job that may have others.
pub(super) struct RecordVersion {
    /// Its weight.
    pub(super) worth: VersionWorth,
    /// Input file.
    pub(super) file_id: Arc<str>,
    /// Line.
    pub(super) line: i64,
    /// Steps that came with it.
    pub(super) step_n: i64,
    /// Content.
    pub(super) content_hash: u64,
}

impl RecordVersion {
    /// What its row has, as far as versions are weighed by it.
    pub(super) fn amounts(&self) -> RowAmounts {
        RowAmounts {
            cpu_ms: self.worth.cpu_ms,
            step_n: self.step_n,
        }
    }
}

/// The columns of a batch, published or gathered, that versions are weighed by.
pub(super) struct Versions<'a> {
    dialects: RowDialects<'a>,
    file: ColumnWords<'a>,
    // A gathered batch leaves out what no row has.
    end: Option<&'a ArrayRef>,
    received: Option<&'a TimestampMillisecondArray>,
    cpu: Option<&'a Int64Array>,
    wall: &'a Int64Array,
    line: &'a Int64Array,
    steps: &'a Int64Array,
    hash: &'a UInt64Array,
    measured: Vec<&'a ArrayRef>,
}

impl<'a> Versions<'a> {
    /// The columns of `batch`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the batch is not what the schema declares.
    pub(super) fn new(batch: &'a RecordBatch) -> Result<Self> {
        let optional = |name: &str| batch.column_by_name(name);
        Ok(Self {
            dialects: RowDialects::new(batch)?,
            file: words(batch, "file_id")?,
            end: optional("end_utc"),
            received: optional("received_utc").and_then(|column| column.as_primitive_opt()),
            cpu: optional("cpu_ms").and_then(|column| column.as_primitive_opt()),
            wall: int(batch, "wall_s")?,
            line: int(batch, "line")?,
            steps: int(batch, "step_n")?,
            hash: uint(batch, "content_hash")?,
            measured: MEASURED.iter().filter_map(|name| optional(name)).collect(),
        })
    }

    /// The content of a row.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] for a file no ledger knows.
    pub(super) fn version(&mut self, row: usize, order: &FileOrder) -> Result<RecordVersion> {
        let (file_id, rank) = order.known(self.file.value(row))?;
        let line = self.line.value(row);
        let dialect = self.dialects.of(row);
        let rule = dialect.map_or(VersionRule::LastRead, |dialect| dialect.row().version_rule);
        let last_read = VersionWorth {
            first: 0,
            wall_s: 0,
            cpu_ms: 0,
            known_n: 0,
            rank,
            line,
        };
        let worth = match rule {
            // A finished job beats a running one, a longer look a shorter one (a window edge loses steps and with
            // them CPU time), more known fields fewer.
            VersionRule::Fullest => {
                let cpu_ms = self.cpu.and_then(|cpu| number(cpu, row)).unwrap_or(-1);
                let known = self.measured.iter().filter(|column| column.is_valid(row)).count();
                let known_n = count_i64(known);
                let is_ended = self.end.is_some_and(|end| end.is_valid(row));
                VersionWorth {
                    first: i64::from(is_ended),
                    wall_s: self.wall.value(row),
                    cpu_ms,
                    known_n,
                    ..last_read
                }
            }
            // The collector stores what it receives last.
            VersionRule::LastReceived => {
                let received = self.received.and_then(|received| number(received, row));
                VersionWorth {
                    // Fallback: a version without an instant was received before all others.
                    first: received.unwrap_or(i64::MIN),
                    ..last_read
                }
            }
            // The APEL server replaces the whole row: the last one loaded wins.
            VersionRule::LastRead => last_read,
        };
        Ok(RecordVersion {
            worth,
            file_id: Arc::clone(file_id),
            line,
            step_n: self.steps.value(row),
            content_hash: self.hash.value(row),
        })
    }
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
    "jobstats",
    "jobstats_memory_total_byte",
    "energy_j",
    "requested_dependency",
    "requested_exclusive",
    "burst_buffer_byte",
    "licenses",
];
