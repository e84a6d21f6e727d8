//! The workloads of the paper: shares, ranges and seeds.

use gridtally::simulate::job::Job;
use gridtally::simulate::trace::Trace;
use gridtally::simulate::workload::{BurstBufferPool, TB_GB, Workload, WorkloadKinds, generate};

use super::job;

const KINDS: WorkloadKinds = WorkloadKinds {
    burst_buffer: 1,
    large_ssd: Some(2),
};

fn jobs(n: i64) -> Vec<Job> {
    (1..=n).map(|id| job(id, id, 10, 10, &[id % 7 + 1])).collect()
}

fn pool() -> BurstBufferPool {
    BurstBufferPool::Requests(vec![1, 900, 6 * TB_GB, 5 * TB_GB, 30 * TB_GB, 165 * TB_GB, 20 * TB_GB])
}

fn drawn(workload: Workload, pool: &BurstBufferPool, seed: u64) -> Vec<Job> {
    let mut jobs = jobs(20_000);
    generate(&mut jobs, workload, pool, KINDS, seed).unwrap();
    jobs
}

fn requests(jobs: &[Job]) -> Vec<i64> {
    jobs.iter().map(|job| job.need.get(1)).filter(|gb| *gb > 0).collect()
}

#[test]
fn bb_20_shares_and_ranges_are_those_of_the_paper() {
    let expected = [
        (Workload::S1, 0.50, vec![6, 20, 30, 165]),
        (Workload::S2, 0.75, vec![6, 20, 30, 165]),
        (Workload::S3, 0.50, vec![30, 165]),
        (Workload::S4, 0.75, vec![30, 165]),
        (Workload::S5, 0.75, vec![6, 20, 30, 165]),
    ];
    for (workload, share, values_tb) in expected {
        let requests = requests(&drawn(workload, &pool(), 1));
        let found = f64::from(u32::try_from(requests.len()).unwrap()) / 20_000.0;
        assert!((found - share).abs() < 0.015, "{workload:?} {found}");
        let mut values: Vec<_> = requests.iter().map(|gb| gb / TB_GB).collect();
        values.sort_unstable();
        values.dedup();
        assert_eq!(values, values_tb, "{workload:?}");
    }
}

#[test]
fn bb_20_local_storage_is_drawn_in_two_bands() {
    for (workload, share) in [(Workload::S5, 0.8), (Workload::S6, 0.5), (Workload::S7, 0.2)] {
        let jobs = drawn(workload, &pool(), 1);
        let small_n = jobs.iter().filter(|job| job.ssd_gb <= 128).count();
        let found = f64::from(u32::try_from(small_n).unwrap()) / 20_000.0;
        assert!((found - share).abs() < 0.015, "{workload:?} {found}");
        assert!(jobs.iter().all(|job| (0..=256).contains(&job.ssd_gb)));
        for job in &jobs {
            let large_n = if job.ssd_gb > 128 { job.need.first() } else { 0 };
            assert_eq!(job.need.get(2), large_n);
        }
    }
    // Both ends of both bands occur.
    let jobs = drawn(Workload::S6, &pool(), 1);
    for gb in [0, 128, 129, 256] {
        assert!(jobs.iter().any(|job| job.ssd_gb == gb), "{gb}");
    }
    assert!(drawn(Workload::S4, &pool(), 1).iter().all(|job| job.ssd_gb == 0));
}

#[test]
fn bb_20_a_part_of_a_trace_has_the_same_requests() {
    let whole = drawn(Workload::S6, &pool(), 5);
    let mut part: Vec<Job> = jobs(20_000).into_iter().filter(|job| job.id % 3 == 0).rev().collect();
    generate(&mut part, Workload::S6, &pool(), KINDS, 5).unwrap();
    let part = Trace::of_jobs(part).unwrap().jobs.to_vec();
    let same: Vec<&Job> = whole.iter().filter(|job| job.id % 3 == 0).collect();
    assert_eq!(part.iter().collect::<Vec<_>>(), same);
    assert_ne!(drawn(Workload::S6, &pool(), 6), whole);
}

#[test]
fn bb_20_without_requests_in_a_trace_they_are_log_uniform() {
    let parametric = BurstBufferPool::LogUniform { most_gb: 285 * TB_GB };
    let requests = requests(&drawn(Workload::S3, &parametric, 1));
    assert!(requests.iter().all(|gb| (20 * TB_GB + 1..=285 * TB_GB).contains(gb)));
    // Each of the five doublings is as likely as another: two of them are below 65 536 GB.
    let below = requests.iter().filter(|gb| **gb < 65_536).count();
    assert!((3_800..4_200).contains(&below), "{below}");
}

#[test]
fn bb_20_a_workload_that_cannot_be_drawn_is_refused() {
    let small = BurstBufferPool::Requests(vec![5 * TB_GB]);
    let error = generate(&mut jobs(3), Workload::S1, &small, KINDS, 1).unwrap_err();
    assert!(error.to_string().contains("more than 5000 GB"), "{error}");
    let kinds = WorkloadKinds {
        large_ssd: None,
        ..KINDS
    };
    let error = generate(&mut jobs(3), Workload::S7, &pool(), kinds, 1).unwrap_err();
    assert!(error.to_string().contains("local storage"), "{error}");
}
