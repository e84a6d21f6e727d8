//! Usage that arrived as sums, treated as on APEL's server.

use super::group::PeerKey;
use super::mode::{E10, PeerMode, WORK, e10};
use super::names::PeerNames;
use super::rules::{PeerNumbers, apel_work};
use crate::amounts::product;
use crate::error::Result;
use crate::record::{Summary, SummaryKind};
use crate::reference::benchmark::Benchmark;
use crate::schema::batch::addend;

/// Where a summary counts.
pub(super) fn key(row: &Summary, names: &mut PeerNames) -> PeerKey {
    let words = &row.words;
    let words = [
        &words.vo,
        &words.vo_group,
        &words.vo_role,
        &words.global_user,
        &words.submit_host,
        &words.infrastructure,
    ];
    PeerKey {
        month: row.month,
        words: words.map(|word| names.number(word.as_deref())),
        kind: row.words.benchmark.as_deref().and_then(Benchmark::parse),
        // Work that arrives normalised has no level any more.
        level_e3: match row.kind {
            SummaryKind::Summary => addend(row.numbers.benchmark_per_core),
            SummaryKind::NormalisedSummary | SummaryKind::Sync => 0,
        },
        node_n: addend(row.numbers.alloc_node_n).max(0),
        core_n: addend(row.numbers.alloc_core_n).max(0),
    }
}

/// What is published of it: work of its own benchmark, or the work it arrived with.
///
/// # Errors
/// [`crate::error::Kind::Data`] when its work is too large.
pub(super) fn numbers(mode: PeerMode, row: &Summary, key: &PeerKey) -> Result<PeerNumbers> {
    let wall_s = i128::from(addend(row.numbers.wall_s));
    let cpu_s = (i128::from(addend(row.numbers.cpu_ms)) + 500).div_euclid(1000);
    let is_normalised = row.kind == SummaryKind::NormalisedSummary;
    let stated = |work_s: Option<i64>| product(i128::from(addend(work_s)), E10, WORK);
    let exact = |seconds: i128| {
        // An unknown type counts as HEPSPEC06.
        let work_e7 = product(product(seconds, i128::from(key.level_e3), WORK)?, 10_000, WORK)?;
        e10(work_e7, key.kind.unwrap_or(Benchmark::Hs06))
    };
    let native = if is_normalised {
        (
            stated(row.numbers.normalised_wall_s)?,
            stated(row.numbers.normalised_cpu_s)?,
        )
    } else {
        (exact(wall_s)?, exact(cpu_s)?)
    };
    let published = match (mode, is_normalised) {
        (PeerMode::Native, _) | (_, true) => native,
        _ => {
            let work = |s| product(apel_work(mode, s, key.kind, key.level_e3)?, E10, WORK);
            (work(wall_s)?, work(cpu_s)?)
        }
    };
    let cores = i128::from(key.core_n.max(1));
    let job_n = addend(row.numbers.job_n);
    Ok(PeerNumbers {
        job_n,
        core_unknown_job_n: if key.core_n == 0 { job_n } else { 0 },
        native_unknown_job_n: 0,
        wall_s,
        cpu_s,
        core_wall_s: product(wall_s, cores, "core_wall_s")?,
        wall_e10: published.0,
        cpu_e10: published.1,
        core_wall_e10: product(published.0, cores, WORK)?,
        native_wall_e10: native.0,
        native_cpu_e10: native.1,
        native_core_wall_e10: product(native.0, cores, WORK)?,
        earliest_ms: row.numbers.earliest_end_utc,
        latest_ms: row.numbers.latest_end_utc,
    })
}
