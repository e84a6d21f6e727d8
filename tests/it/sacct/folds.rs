//! Times of the hour that a change of clocks repeats, next to a submission.

use gridtally::record::Anomaly;

use super::read_in;

/// 2026-10-25T00:00:00Z: the clocks of Zurich go back an hour later.
const MIDNIGHT_S: i64 = 1_792_886_400;

/// Submission, start, end (seconds after midnight) and wall time of a job, and whether it is ambiguous.
fn job(state: &str, submit: &str, start: &str, end: &str, elapsed_s: &str) -> ([Option<i64>; 4], bool) {
    let of_day = |clock: &str| match clock {
        "Unknown" => clock.to_owned(),
        _ => format!("2026-10-25T{clock}:00"),
    };
    let dump = format!(
        "JobID|State|Submit|Eligible|Start|End|ElapsedRaw\n1|{state}|{}|{}|{}|{}|{elapsed_s}\n",
        of_day(submit),
        of_day(submit),
        of_day(start),
        of_day(end)
    );
    let found = read_in(dump, "Europe/Zurich");
    assert!(found.rejects.is_empty(), "{found:#?}");
    let job = found.jobs.first().unwrap();
    let since = |ms: Option<i64>| ms.map(|ms| ms / 1000 - MIDNIGHT_S);
    let row = &job.row;
    assert_eq!(row.eligible_ms, row.submit_ms);
    let wall_s = row.wall_ms.map(|ms| ms / 1000);
    (
        [since(row.submit_ms), since(row.start_ms), since(row.end_ms), wall_s],
        job.has(Anomaly::AmbiguousTime),
    )
}

#[test]
fn a_job_does_not_start_before_its_submission_where_another_reading_fits() {
    let times = |submit_s, start_s, end_s, wall_s| [Some(submit_s), Some(start_s), end_s, Some(wall_s)];
    assert_eq!(
        job("RUNNING", "02:55", "02:05", "Unknown", "600"),
        (times(3300, 3900, None, 600), false)
    );
    // The length alone fits both times of the hour.
    assert_eq!(
        job("COMPLETED", "02:55", "02:05", "02:30", "1500"),
        (times(3300, 3900, Some(5400), 1500), false)
    );
    // The length fits neither.
    assert_eq!(
        job("COMPLETED", "02:55", "02:05", "03:30", "5"),
        (times(3300, 3900, Some(9000), 5), false)
    );
    // Both may have been in either.
    assert_eq!(
        job("RUNNING", "02:05", "02:55", "Unknown", "600"),
        (times(300, 3300, None, 600), true)
    );
}

#[test]
fn a_job_that_was_resized_in_the_repeated_hour_starts_with_its_submission() {
    // Elapsed time counts from the start of the job, by which it was before the change.
    let (times, _) = job("COMPLETED", "02:55", "02:05", "03:30", "8700");
    assert_eq!(times, [Some(3300), Some(3300), Some(9000), Some(5700)]);
}

#[test]
fn a_job_of_unknown_length_does_not_end_before_it_starts() {
    assert_eq!(
        job("COMPLETED", "01:55", "02:50", "02:10", ""),
        ([Some(-300), Some(3000), Some(4200), Some(1200)], true)
    );
}
