//! The jobs of a batch of `records`, as far as copies of jobs are looked for among them.

use arrow_array::{Array as _, FixedSizeBinaryArray, Int64Array, RecordBatch, TimestampMillisecondArray};
use xxhash_rust::xxh3::xxh3_64;

use super::dialects::RowDialects;
use super::job_facts::JobFacts;
use super::voided::VoidedJobs;
use crate::error::Result;
use crate::numbers::Comparand;
use crate::schema::batch::{ColumnWords, id, identity, int, number, time, words};
use crate::sources::dialect::Dialect;

/// A job that took time.
pub(super) struct JobRow<'a> {
    /// Of its number and duration.
    pub(super) key: u64,
    /// Of its number.
    pub(super) number: u64,
    /// Of the end of its number: in a sample of level `n` its last `n` bits are zero.
    pub(super) spread: u64,
    /// What else it states.
    pub(super) facts: JobFacts,
    pub(super) start_ms: i64,
    pub(super) wall_s: i64,
    /// It has no end: its dump is of a time when it ran.
    pub(super) is_open: bool,
    /// None where its cores are unknown.
    pub(super) core_s: u64,
    pub(super) file_id: &'a str,
    pub(super) cluster: Option<&'a str>,
    pub(super) dialect: Dialect,
    /// Hash of its view.
    pub(super) view: u64,
}

/// The columns of a batch that jobs are compared in.
pub(super) struct JobRows<'a> {
    /// Jobs that are left out.
    voided: &'a VoidedJobs,
    record_ids: &'a FixedSizeBinaryArray,
    ids: ColumnWords<'a>,
    raw_ids: ColumnWords<'a>,
    users: ColumnWords<'a>,
    files: ColumnWords<'a>,
    clusters: ColumnWords<'a>,
    views: ColumnWords<'a>,
    dialects: RowDialects<'a>,
    starts: &'a TimestampMillisecondArray,
    submits: &'a TimestampMillisecondArray,
    ends: &'a TimestampMillisecondArray,
    seconds: &'a Int64Array,
    fractions: &'a Int64Array,
    cores: &'a Int64Array,
    cpus: &'a Int64Array,
}

impl<'a> JobRows<'a> {
    /// Of a batch of `records`, without those that are `voided`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when it is not what the schema declares.
    pub(super) fn new(batch: &'a RecordBatch, voided: &'a VoidedJobs) -> Result<Self> {
        Ok(Self {
            voided,
            record_ids: id(batch, "record_id")?,
            ids: words(batch, "job_id")?,
            raw_ids: words(batch, "raw_job_id")?,
            users: words(batch, "user")?,
            files: words(batch, "file_id")?,
            clusters: words(batch, "cluster")?,
            views: words(batch, "view")?,
            dialects: RowDialects::new(batch)?,
            starts: time(batch, "start_utc")?,
            submits: time(batch, "submit_utc")?,
            ends: time(batch, "end_utc")?,
            seconds: int(batch, "wall_s")?,
            fractions: int(batch, "wall_fraction_ms")?,
            cores: int(batch, "alloc_core_n")?,
            cpus: int(batch, "cpu_ms")?,
        })
    }

    /// The job of a row, if it has a number of a batch system; `None` where it is not in the sample of `level`, or is none
    /// that is compared.
    pub(super) fn numbered_job(&mut self, row: usize, level: u32) -> Option<JobRow<'a>> {
        self.job(row, level).filter(|job| job.dialect.has_job_numbers())
    }

    /// The job of a row of any dialect; `None` as above.
    pub(super) fn job(&mut self, row: usize, level: u32) -> Option<JobRow<'a>> {
        let id = self.raw_ids.get(row).unwrap_or_else(|| self.ids.value(row));
        self.numbered(row, level, id)
    }

    /// The same by the number it is displayed with (`12_3`, `12+1`), where that is another one: a dump without `JobIDRaw`
    /// knows it by no other.
    pub(super) fn displayed(&mut self, row: usize, level: u32) -> Option<JobRow<'a>> {
        let id = self.ids.value(row);
        let raw_id = self.raw_ids.get(row)?;
        if raw_id == id {
            return None;
        }
        self.numbered(row, level, id)
    }

    fn is_voided(&self, row: usize) -> bool {
        let is_of = |record_id| self.voided.contains(self.files.value(row), record_id);
        !self.voided.is_empty() && identity(self.record_ids, row).is_ok_and(is_of)
    }

    fn numbered(&mut self, row: usize, level: u32, id: &str) -> Option<JobRow<'a>> {
        let spread = spread(id.as_bytes());
        if spread.trailing_zeros() < level {
            return None;
        }
        if self.is_voided(row) {
            return None;
        }
        let start_ms = number(self.starts, row)?;
        let wall_s = number(self.seconds, row).filter(|wall_s| *wall_s > 0)?;
        let dialect = self.dialects.of(row)?;
        let duration = duration(wall_s, number(self.fractions, row));
        let wait_ms = number(self.submits, row).map(|submit_ms| start_ms.difference_to_compare(submit_ms));
        let core_n = number(self.cores, row);
        let number_hash = xxh3_64(id.as_bytes());
        Some(JobRow {
            key: number_hash ^ duration.wrapping_mul(SPREADING),
            number: number_hash,
            spread,
            facts: JobFacts::new(self.users.get(row), core_n, number(self.cpus, row), wait_ms),
            start_ms,
            wall_s,
            is_open: self.ends.is_null(row),
            core_s: core_s(wall_s, core_n),
            file_id: self.files.value(row),
            cluster: self.clusters.get(row),
            dialect,
            view: xxh3_64(self.views.value(row).as_bytes()),
        })
    }
}

/// An odd number that spreads the numbers it is multiplied with over all bits.
const SPREADING: u64 = 0x9e37_79b9_7f4a_7c15;

/// A number of its own for each duration: whole seconds, and thousandths where they are known.
fn duration(wall_s: i64, fraction_ms: Option<i64>) -> u64 {
    let thousandths = fraction_ms.unwrap_or(1000);
    wall_s.wrapping_mul(1001).wrapping_add(thousandths).cast_unsigned()
}

/// Core seconds of a job, which `limits` bounds far within the type; none where its cores are unknown.
fn core_s(wall_s: i64, core_n: Option<i64>) -> u64 {
    core_n.map_or(0, |core_n| wall_s.product_to_compare(core_n).unsigned_abs())
}

/// Spreads job numbers evenly: those of neighbours differ in their last digits.
fn spread(id: &[u8]) -> u64 {
    let tail = id.last_chunk::<8>().map_or_else(
        || id.iter().fold(0, |sum: u64, byte| sum << 8 | u64::from(*byte)),
        |tail| u64::from_be_bytes(*tail),
    );
    let mixed = tail.wrapping_mul(SPREADING);
    mixed.rotate_left(32) ^ mixed
}
