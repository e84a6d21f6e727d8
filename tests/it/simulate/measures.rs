//! Use, wait, slowdown, classes, trimmed ends, and methods compared.

use gridtally::simulate::engine::simulate;
use gridtally::simulate::job::{Job, JobEnd};
use gridtally::simulate::kiviat::{area, reciprocals, scaled};
use gridtally::simulate::metrics::{AbnormalRule, ClassBy, CompletedJobs, Interval, by_class, measure, power_classes};
use gridtally::simulate::schedule::Schedule;
use gridtally::simulate::settings::Settings;
use gridtally::simulate::verify::{placements, verify};

use super::{job, machine};

const DAY_S: i64 = 86_400;

/// Five jobs by hand, on 10 nodes and 20 GB:
/// 1 starts at 0, 2 backfills at 10 and ends with it, 3 waits for 1 until 100, 4 waits for 3 until 150, 5 starts at 160.
fn five() -> Vec<Job> {
    vec![
        job(1, 0, 100, 100, &[6, 10]),
        job(2, 10, 90, 90, &[2, 0]),
        job(3, 10, 50, 50, &[10, 5]),
        job(4, 20, 5, 5, &[10, 0]),
        job(5, 160, 40, 40, &[1, 20]),
    ]
}

fn schedule() -> Schedule {
    simulate(&five(), &machine(10, 20), &Settings::default()).unwrap()
}

#[test]
fn bb_16_five_jobs_measured_by_hand() {
    let (jobs, schedule) = (five(), schedule());
    let starts: Vec<_> = schedule.starts.iter().map(|start| start.unwrap().start_s).collect();
    assert_eq!(starts, [0, 10, 100, 150, 160]);
    let interval = Interval::whole(&jobs, &schedule);
    assert_eq!((interval.from_s, interval.until_s), (0, 200));
    let rule = AbnormalRule {
        shorter_than_s: 10,
        ..AbnormalRule::default()
    };
    let measures = measure(&jobs, &machine(10, 20), &schedule, interval, &rule);
    // Of 10 nodes in 200 s: 600 + 180 + 500 + 50 + 40. Of 20 GB: 1000 + 250 + 800.
    assert_eq!(measures.used_s[..2], [1_370, 2_050]);
    let sums = measures.jobs;
    assert_eq!((sums.job_n, sums.wait_s, sums.longest_wait_s), (5, 90 + 130, 130));
    // Slowdowns 1, 1, 140/50 = 2.8, 1; the fourth ran for less than 10 s and is abnormal.
    assert_eq!((sums.normal_n, sums.slowdown_e6), (4, 5_800_000));
    // Bounded by 10 s the fourth has 135/10.
    assert_eq!(sums.bounded_e6, 5_800_000 + 13_500_000);
}

#[test]
fn bb_16_use_is_clipped_to_the_interval_and_jobs_count_by_submission() {
    let (jobs, schedule) = (five(), schedule());
    let interval = Interval {
        from_s: 5,
        until_s: 120,
    };
    let measures = measure(&jobs, &machine(10, 20), &schedule, interval, &AbnormalRule::default());
    assert_eq!(measures.used_s[..2], [6 * 95 + 2 * 90 + 10 * 20, 10 * 95 + 5 * 20]);
    assert_eq!(measures.jobs.job_n, 3);
}

#[test]
fn bb_16_use_of_the_whole_schedule_is_what_jobs_request_times_what_they_run() {
    let (jobs, schedule) = (five(), schedule());
    let whole = Interval::whole(&jobs, &schedule);
    let measures = measure(&jobs, &machine(10, 20), &schedule, whole, &AbnormalRule::default());
    let stated = |kind| -> i128 {
        jobs.iter()
            .map(|job| i128::from(job.need.get(kind)) * i128::from(job.run_s))
            .sum()
    };
    assert_eq!(measures.used_s[..2], [stated(0), stated(1)]);
    let found = verify(&jobs, &machine(10, 20), &placements(&jobs, &schedule)).unwrap();
    assert_eq!(found.used_s, measures.used_s[..2]);
}

#[test]
fn bb_16_abnormal_jobs_are_stated_by_a_rule() {
    let of = |completed_too| AbnormalRule {
        shorter_than_s: 60,
        completed_too,
    };
    let short = job(1, 0, 59, 100, &[1]);
    let failed = Job {
        ended: JobEnd::Failed,
        ..short.clone()
    };
    assert!(of(CompletedJobs::AbnormalIfShort).is_abnormal(&short));
    assert!(!of(CompletedJobs::Normal).is_abnormal(&short));
    assert!(of(CompletedJobs::Normal).is_abnormal(&failed));
    assert!(!of(CompletedJobs::Normal).is_abnormal(&Job { run_s: 60, ..failed }));
}

#[test]
fn bb_17_the_first_and_last_half_month_are_left_out() {
    // Four months of submissions leave three.
    let jobs = [job(1, 0, 10, 10, &[1]), job(2, 120 * DAY_S, 10, 10, &[1])];
    let interval = Interval::without_half_months(&jobs).unwrap();
    assert_eq!((interval.from_s, interval.until_s), (15 * DAY_S, 105 * DAY_S));
    assert_eq!(interval.length_s(), 90 * DAY_S);
    // Of less than 45 days too little would be left.
    let short = [job(1, 0, 10, 10, &[1]), job(2, 45 * DAY_S - 1, 10, 10, &[1])];
    assert_eq!(Interval::without_half_months(&short), None);
    let no_jobs: [Job; 0] = [];
    assert_eq!(Interval::without_half_months(&no_jobs), None);
}

#[test]
fn classes_hold_every_job_once() {
    let (jobs, schedule) = (five(), schedule());
    let whole = Interval::whole(&jobs, &schedule);
    let upper = power_classes(10);
    assert_eq!(upper, [1, 2, 4, 8]);
    let rule = AbnormalRule::default();
    let classes = by_class(&jobs, &schedule, whole, ClassBy::Amount(0), &upper, &rule);
    let counts: Vec<_> = classes
        .iter()
        .map(|class| (class.from, class.to, class.jobs.job_n))
        .collect();
    assert_eq!(
        counts,
        [
            (0, Some(1), 1),
            (2, Some(2), 1),
            (3, Some(4), 0),
            (5, Some(8), 1),
            (9, None, 2)
        ]
    );
    let classes = by_class(&jobs, &schedule, whole, ClassBy::RunTime, &[40, 60], &rule);
    let counts: Vec<_> = classes
        .iter()
        .map(|class| (class.jobs.job_n, class.jobs.wait_s))
        .collect();
    assert_eq!(counts, [(2, 130), (1, 90), (2, 0)]);
}

#[test]
fn bb_24_axes_are_scaled_over_the_methods() {
    let is_near = |found: &[f64], expected: &[f64]| {
        let near = found
            .iter()
            .zip(expected)
            .all(|(one, other)| (one - other).abs() < 1e-12);
        found.len() == expected.len() && near
    };
    assert!(is_near(&scaled(&[10.0, 30.0, 20.0]), &[0.0, 1.0, 0.5]));
    assert!(is_near(&scaled(&[7.0, 7.0]), &[1.0, 1.0]));
    assert!(scaled(&[]).is_empty());
    // The least wait is best.
    let waits = scaled(&reciprocals(&[100.0, 200.0, 400.0]));
    assert!(is_near(&waits, &[1.0, 1.0 / 3.0, 0.0]));
    let with_none = scaled(&reciprocals(&[0.0, 50.0, 100.0]));
    assert!((with_none[0] - 1.0).abs() < 1e-12 && with_none[1] > with_none[2]);
}

#[test]
fn bb_24_the_area_depends_on_the_order_of_the_axes() {
    assert!((area(&[1.0; 4]) - 2.0).abs() < 1e-12);
    assert!((area(&[1.0; 6]) - 1.5 * 3.0_f64.sqrt()).abs() < 1e-12);
    assert!((area(&[1.0, 1.0, 0.0, 0.0]) - 0.5).abs() < 1e-12);
    assert!(area(&[1.0, 0.0, 1.0, 0.0]).abs() < 1e-12);
    assert!(area(&[1.0, 1.0]).abs() < 1e-12);
}
