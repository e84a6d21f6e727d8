//! The identity of a job, the instant that places it, and the hash of its content.

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

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
pub fn record_id(dialect: Dialect, site: &str, row: &JobRow<'_>, record_ms: i64, scratch: &mut Vec<u8>) -> u128 {
    scratch.clear();
    text(scratch, dialect.as_str());
    text(scratch, site);
    if let Some(key) = row.identity_key {
        scratch.push(b'k');
        text(scratch, key);
    } else {
        scratch.push(if row.start_ms.is_some() { b's' } else { b'q' });
        // Fallback: the identity of a job without a cluster holds an empty one.
        text(scratch, row.cluster.unwrap_or_default());
        text(scratch, row.raw_job_id.unwrap_or(row.job_id));
        scratch.extend_from_slice(&record_ms.to_le_bytes());
    }
    xxh3_128(scratch)
}

/// Of the number of a job, and of the seconds in which it started and ended: what dumps of one job have in common, whatever site and
/// cluster they are read for. `scratch` as above.
#[must_use]
pub fn job_hash(row: &JobRow<'_>, start_ms: i64, end_ms: i64, scratch: &mut Vec<u8>) -> u64 {
    scratch.clear();
    text(scratch, row.raw_job_id.unwrap_or(row.job_id));
    scratch.extend_from_slice(&start_ms.div_euclid(1000).to_le_bytes());
    scratch.extend_from_slice(&end_ms.div_euclid(1000).to_le_bytes());
    xxh3_64(scratch)
}

/// What is accounted of one row, written down to be hashed; most of it is as in the row before.
#[derive(Debug, Default)]
pub struct IdentityContent {
    bytes: Vec<u8>,
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

/// Bytes of the numbers every row has in its content.
const NUMBER_BYTES: usize = 16 * size_of::<i64>();

impl IdentityContent {
    /// Hash of everything that is accounted: two rows of one job with equal hashes are duplicates, with different hashes
    /// one supersedes the other. Names that no number depends on (job name, node list) are left out, so that two
    /// renderings of one job are not taken for two versions. `repeats` are texts that are as in the row hashed before.
    pub fn hash(&mut self, row: &JobRow<'_>, wall_ms: i64, vo: Option<&str>, repeats: UnchangedColumns) -> u64 {
        let numbers = [
            row.submit_ms,
            row.start_ms,
            row.end_ms,
            Some(wall_ms),
            row.suspended_s,
            row.cpu_ms,
            row.alloc_core_n,
            row.alloc_node_n,
            row.alloc_gpu_n,
            row.alloc_memory_byte,
            row.max_rss_byte,
            row.network_byte,
            row.alloc_billing_n,
            row.exit_code,
            row.exit_signal,
            row.benchmark_milli_per_core,
        ];
        // Fallback: unknown is a number that no job has in what is hashed.
        let numbers = numbers.map(|number| number.unwrap_or(i64::MIN).to_le_bytes());
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
        if let Some(known) = self.bytes.first_chunk_mut::<NUMBER_BYTES>().filter(|_| is_alike) {
            known.copy_from_slice(numbers.as_flattened());
        } else {
            self.bytes.clear();
            self.bytes.extend_from_slice(numbers.as_flattened());
            self.add_texts(row, vo);
            for number in scaled.into_iter().flatten() {
                self.bytes.extend_from_slice(&number.to_le_bytes());
            }
            if let Some(reservation) = row.reservation {
                text(&mut self.bytes, reservation);
            }
            if let Some(wckey) = row.wckey {
                text(&mut self.bytes, wckey);
            }
            for name in [row.vo_name, row.reportable_vo, row.fqan].into_iter().flatten() {
                text(&mut self.bytes, name);
            }
            if let Some(jobstats) = &row.jobstats {
                text(&mut self.bytes, jobstats.outcome.as_str());
                for number in jobstats.numbers() {
                    // Fallback: an unknown number of Jobstats is one that no job has.
                    self.bytes.extend_from_slice(&number.unwrap_or(i64::MIN).to_le_bytes());
                }
            }
            if let Some(energy_j) = energy_j {
                text(&mut self.bytes, "energy");
                self.bytes.extend_from_slice(&energy_j.to_le_bytes());
            }
            if let Some(details) = row.details {
                self.add_details(details);
            }
            self.is_plain = is_plain;
        }
        xxh3_64(&self.bytes)
    }

    fn add_details(&mut self, details: &JobDetails<'_>) {
        let exclusive = details.exclusive.map(Exclusivity::as_str);
        for (name, stated) in [("dependency", details.dependency), ("exclusive", exclusive)] {
            if let Some(stated) = stated {
                text(&mut self.bytes, name);
                text(&mut self.bytes, stated);
            }
        }
        for (what, named) in [("bb", details.burst_buffers), ("license", details.licenses)] {
            for (name, amount) in named {
                text(&mut self.bytes, what);
                text(&mut self.bytes, name);
                self.bytes.extend_from_slice(&amount.to_le_bytes());
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
            text(&mut self.bytes, word.unwrap_or("\u{0}"));
        }
        text(&mut self.bytes, row.view);
        for (model, device_n) in row.gpus {
            text(&mut self.bytes, model);
            self.bytes.extend_from_slice(&device_n.to_le_bytes());
        }
    }
}

fn text(into: &mut Vec<u8>, value: &str) {
    into.extend_from_slice(&value.len().to_le_bytes());
    into.extend_from_slice(value.as_bytes());
}
