//! The identity of a job, the instant that places it, and the hash of its content.

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::hashed_bytes::HashedBytes;
use crate::record::details::{Exclusivity, JobDetails};
use crate::record::row::JobRow;
use crate::record::unchanged_columns::UnchangedColumns;
use crate::sources::dialect::{Dialect, PlacingInstant};

/// The instant that places a record, which is part of its identity and never changes between versions of it.
#[must_use]
pub fn record_ms(dialect: Dialect, row: &JobRow<'_>) -> Option<i64> {
    match dialect.row().placed_by {
        PlacingInstant::StartOrSubmit => row.start_ms.or(row.submit_ms),
        PlacingInstant::End => row.end_ms,
    }
}

/// Identity of the attempt. `scratch` is reused between calls.
///
/// Slurm: site, cluster, raw job number and start (or submit): requeued attempts of one job number start at different
/// times, and job numbers wrap over the years. APEL and GRACC: site and the reader's key (the server's own key; view,
/// probe, job id and times, or without a job id all that was measured, which all encodings of a record share).
#[must_use]
pub fn record_id(dialect: Dialect, site: &str, row: &JobRow<'_>, record_ms: i64, scratch: &mut HashedBytes) -> u128 {
    scratch.clear();
    scratch.text(dialect.as_str());
    scratch.text(site);
    if let Some(key) = row.identity_key {
        scratch.push(*b"k");
        scratch.text(key);
    } else {
        scratch.push(if row.start_ms.is_some() { *b"s" } else { *b"q" });
        // Fallback: the identity of a job without a cluster holds an empty one.
        scratch.text(row.cluster.unwrap_or_default());
        scratch.text(row.raw_job_id.unwrap_or(row.job_id));
        scratch.number(record_ms);
    }
    xxh3_128(scratch.as_slice())
}

/// Of the number of a job, and of the seconds in which it started and ended: what dumps of one job have in common, whatever site and
/// cluster they are read for. `scratch` as above.
#[must_use]
pub fn job_hash(row: &JobRow<'_>, start_ms: i64, end_ms: i64, scratch: &mut HashedBytes) -> u64 {
    scratch.clear();
    scratch.text(row.raw_job_id.unwrap_or(row.job_id));
    scratch.number(start_ms.div_euclid(1000));
    scratch.number(end_ms.div_euclid(1000));
    xxh3_64(scratch.as_slice())
}

/// What is accounted of one row, written down to be hashed; most of it is as in the row before.
#[derive(Debug, Default)]
pub struct IdentityContent {
    bytes: HashedBytes,
    /// Nothing but the numbers and texts that every row has is in them.
    is_plain: bool,
}

/// The texts every row has in its content.
const CONTENT: UnchangedColumns = UnchangedColumns::VO
    .and(UnchangedColumns::FQAN)
    .and(UnchangedColumns::VO_GROUP)
    .and(UnchangedColumns::VO_ROLE)
    .and(UnchangedColumns::ACCOUNT)
    .and(UnchangedColumns::USER)
    .and(UnchangedColumns::PARTITION)
    .and(UnchangedColumns::QOS)
    .and(UnchangedColumns::WCKEY)
    .and(UnchangedColumns::STATE)
    .and(UnchangedColumns::BENCHMARK)
    .and(UnchangedColumns::VIEW);

/// A text that no job has, behind its length.
const UNKNOWN_TEXT: [u8; 9] = [1, 0, 0, 0, 0, 0, 0, 0, 0];

impl IdentityContent {
    /// Hash of everything that is accounted: two rows of one job with equal hashes are duplicates, with different hashes
    /// one supersedes the other. Names that no number depends on (job name, node list) are left out, so that two
    /// renderings of one job are not taken for two versions. `repeats` are texts that are as in the row hashed before.
    pub fn hash(&mut self, row: &JobRow<'_>, wall_ms: i64, vo: Option<&str>, repeats: UnchangedColumns) -> u64 {
        let numbers = [
            written(row.submit_ms),
            written(row.start_ms),
            written(row.end_ms),
            wall_ms.to_le_bytes(),
            written(row.suspended_s),
            written(row.cpu_ms),
            written(row.alloc_core_n),
            written(row.alloc_node_n),
            written(row.alloc_gpu_n),
            written(row.alloc_memory_byte),
            written(row.max_rss_byte),
            written(row.network_byte),
            written(row.alloc_billing_n),
            written(row.exit_code),
            written(row.exit_signal),
            written(row.benchmark_milli_per_core),
        ];
        let scaled = [row.scaled_cpu_ms, row.scaled_wall_ms];
        // An unknown figure is no fact of the job, and dumps differ in how they print it.
        let energy_j = row.energy.and_then(|energy| energy.energy_j);
        let is_plain = row.gpus.is_empty()
            && scaled == [None, None]
            && row.reservation.is_none()
            && row.jobstats.is_none()
            && row.details.is_none()
            && energy_j.is_none();
        let is_alike = is_plain && self.is_plain && repeats.has(CONTENT);
        if !is_alike {
            self.bytes.clear();
        }
        self.bytes.put_first(numbers);
        if !is_alike {
            self.add_texts(row, vo);
            for number in scaled.into_iter().flatten() {
                self.bytes.number(number);
            }
            if let Some(reservation) = row.reservation {
                self.bytes.text(reservation);
            }
            if let Some(wckey) = row.wckey {
                self.bytes.text(wckey);
            }
            for name in [row.vo_name, row.reportable_vo, row.fqan].into_iter().flatten() {
                self.bytes.text(name);
            }
            if let Some(jobstats) = &row.jobstats {
                self.bytes.text(jobstats.outcome.as_str());
                for number in jobstats.numbers() {
                    self.bytes.push(written(number));
                }
            }
            if let Some(energy_j) = energy_j {
                self.bytes.text("energy");
                self.bytes.number(energy_j);
            }
            if let Some(details) = row.details {
                self.add_details(details);
            }
            self.is_plain = is_plain;
        }
        xxh3_64(self.bytes.as_slice())
    }

    fn add_details(&mut self, details: &JobDetails<'_>) {
        let exclusive = details.exclusive.map(Exclusivity::as_str);
        for (name, stated) in [("dependency", details.dependency), ("exclusive", exclusive)] {
            if let Some(stated) = stated {
                self.bytes.text(name);
                self.bytes.text(stated);
            }
        }
        for (what, named) in [("bb", details.burst_buffers), ("license", details.licenses)] {
            for (name, amount) in named {
                self.bytes.text(what);
                self.bytes.text(name);
                self.bytes.number(*amount);
            }
        }
    }

    fn add_texts(&mut self, row: &JobRow<'_>, vo: Option<&str>) {
        for word in [
            vo,
            row.vo_group,
            row.vo_role,
            row.account,
            row.user,
            row.partition,
            row.qos,
            row.state,
            row.benchmark,
        ] {
            match word {
                Some(word) => self.bytes.text(word),
                None => self.bytes.push(UNKNOWN_TEXT),
            }
        }
        self.bytes.text(row.view);
        for (model, device_n) in row.gpus {
            self.bytes.text(model);
            self.bytes.number(*device_n);
        }
    }
}

/// A number as it is hashed.
#[inline]
fn written(number: Option<i64>) -> [u8; size_of::<i64>()] {
    // Fallback: unknown is a number that no job has.
    number.unwrap_or(i64::MIN).to_le_bytes()
}
