//! Who is the same job: identity, the instant that places it, and the hash of what is said about it.

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::row::JobRow;
use crate::pipeline::Format;

/// Unix milliseconds of a day.
pub const DAY_MS: i64 = 86_400_000;

/// The instant that places a record, which is part of its identity and never changes between versions of it:
/// start, or submit of a job that never started (sacct, where a running job has no end yet; SWF, where a cancelled one
/// has none); end (APEL, GRACC and the logs of batch systems, which only know ended jobs and key them by their end).
#[must_use]
pub fn record_ms(format: Format, row: &JobRow<'_>) -> Option<i64> {
    match format {
        Format::Sacct | Format::Auto | Format::Inventory(_) | Format::Swf => row.start_ms.or(row.submit_ms),
        Format::Apel | Format::Gracc | Format::Pbs | Format::Sge | Format::Lsf | Format::Htcondor | Format::Blah => {
            row.end_ms
        }
    }
}

/// Identity of the attempt. `scratch` is reused between calls.
///
/// Slurm: site, cluster, raw job number and start (or submit): requeued attempts of one job number start at different
/// times, and job numbers wrap over the years. APEL and GRACC: site and the reader's key (the server's own key; view,
/// probe, job id and times, which all encodings of a record share).
#[must_use]
pub fn record_id(format: Format, site: &str, row: &JobRow<'_>, record_ms: i64, scratch: &mut Vec<u8>) -> u128 {
    scratch.clear();
    text(scratch, format.as_str());
    text(scratch, site);
    if let Some(key) = row.identity_key {
        scratch.push(b'k');
        text(scratch, key);
    } else {
        scratch.push(if row.start_ms.is_some() { b's' } else { b'q' });
        text(scratch, row.cluster.unwrap_or_default());
        text(scratch, row.raw_job_id.unwrap_or(row.job_id));
        scratch.extend_from_slice(&record_ms.to_le_bytes());
    }
    xxh3_128(scratch)
}

/// Hash of everything that is accounted: two rows of one job with equal hashes are duplicates, with different hashes
/// one supersedes the other. Names that no number depends on (job name, node list) are left out, so that two
/// renderings of one job are not taken for two versions.
#[must_use]
pub fn content_hash(row: &JobRow<'_>, wall_ms: i64, vo: Option<&str>, scratch: &mut Vec<u8>) -> u64 {
    scratch.clear();
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
    let numbers = numbers.map(|number| number.unwrap_or(i64::MIN).to_le_bytes());
    scratch.extend_from_slice(numbers.as_flattened());
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
        text(scratch, word.unwrap_or("\u{0}"));
    }
    text(scratch, row.view);
    for (model, device_n) in row.gpus {
        text(scratch, model);
        scratch.extend_from_slice(&device_n.to_le_bytes());
    }
    for number in [row.scaled_cpu_ms, row.scaled_wall_ms].into_iter().flatten() {
        scratch.extend_from_slice(&number.to_le_bytes());
    }
    if let Some(reservation) = row.reservation {
        text(scratch, reservation);
    }
    xxh3_64(scratch)
}

fn text(into: &mut Vec<u8>, value: &str) {
    into.extend_from_slice(&value.len().to_le_bytes());
    into.extend_from_slice(value.as_bytes());
}
