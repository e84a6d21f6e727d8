//! Jobs that ran when one dump was printed, and that the next one has under another identity.

use gridtally::run::RunOptions;
use gridtally::run::run_report::RunReport;

use super::copies::{HEADER, HOUR, NIGHT, pipeline, scene, stopped};
use super::few_copies::without_cluster;

/// The end of the first day, when its dump was printed.
const FIRST_END: i64 = NIGHT + 24 * HOUR;

/// A job that starts on the morning of the first night and ends after `wall_s`.
fn row(cluster: &str, id: i64, wall_s: i64, shift_s: i64) -> String {
    let start_s = NIGHT + (2 + id % 10) * HOUR + shift_s;
    let submit_s = start_s - 100 - id;
    let (user, end_s) = (id % 3, start_s + wall_s);
    format!("{id}|{id}|{cluster}|u{user}|bio|{submit_s}|{start_s}|{end_s}|{wall_s}|COMPLETED|4|00:01.000\n")
}

/// Such jobs, which run when they are printed.
fn running(cluster: &str, ids: std::ops::Range<i64>, shift_s: i64, printed_s: i64) -> String {
    let rows = ids.map(|id| {
        let start_s = NIGHT + (2 + id % 10) * HOUR;
        let row = row(cluster, id, printed_s - start_s, shift_s);
        let end = format!("|{}|", printed_s + shift_s);
        row.replace(&end, "|Unknown|").replace("COMPLETED", "RUNNING")
    });
    HEADER.to_owned() + &rows.collect::<String>()
}

/// The same jobs when they have ended, and jobs of the next day.
fn ended(cluster: &str, ids: std::ops::Range<i64>, shift_s: i64) -> String {
    let next_day = (500..530).map(|id| row(cluster, id, 100 + id, shift_s + 24 * HOUR));
    let rows = ids.map(|id| row(cluster, id, 90_000 + id, shift_s)).chain(next_day);
    HEADER.to_owned() + &rows.collect::<String>()
}

/// Both nights stop the run, in whatever order they come; the lake is as before.
fn both_stop(first: &str, second: &str, stated: &str) {
    let both = ["1.txt", "2.txt"];
    let scene = scene(&[("1.txt", first.to_owned()), ("2.txt", second.to_owned())]);
    let why = stopped(&scene, &both);
    assert!(why.contains("2.txt: 20 of ") && why.contains(stated), "{why}");
    assert!(
        why.contains("with the same number and wait, without an end in one of them"),
        "{why}"
    );
    for (known, lake) in [("1.txt", "nightly"), ("2.txt", "backwards")] {
        scene.run(&pipeline(&[known]), lake);
        let before = scene.lake(lake);
        let stopped = scene.try_run(&pipeline(&both), lake, RunOptions::default());
        let why = stopped.unwrap_err().to_string();
        assert!(why.contains("txt: 20 of "), "{why}");
        assert_eq!(scene.lake(lake), before);
    }
}

#[test]
fn running_jobs_that_end_in_another_zone_stop_the_run() {
    for (shift_s, stated) in [
        (HOUR, "1:00 h earlier there"),
        (-HOUR, "1:00 h later there"),
        (5 * HOUR + 2700, "5:45 h earlier there"),
    ] {
        let first = running("zoo", 100..120, 0, FIRST_END);
        both_stop(&first, &ended("zoo", 100..120, shift_s), stated);
        // They run still.
        both_stop(
            &first,
            &running("zoo", 100..120, shift_s, FIRST_END + 24 * HOUR),
            stated,
        );
    }
}

#[test]
fn running_jobs_of_another_cluster_or_of_none_stop_the_run() {
    let first = running("zoo", 100..120, 0, FIRST_END);
    let renamed = ended("tierpark", 100..120, 0);
    both_stop(&first, &renamed, "of cluster zoo there and tierpark here");
    let unnamed = without_cluster(&ended("zoo", 100..120, 0));
    both_stop(&first, &unnamed, "of cluster zoo there and without a name here");
}

/// The reports of the second night, read alone and in one go with the first.
fn second_night(first: &str, second: &str) -> [RunReport; 2] {
    let scene = scene(&[("1.txt", first.to_owned()), ("2.txt", second.to_owned())]);
    let both = pipeline(&["1.txt", "2.txt"]);
    scene.run(&pipeline(&["1.txt"]), "nightly");
    [scene.run(&both, "nightly"), scene.run(&both, "lake")]
}

#[test]
fn few_running_jobs_that_were_shifted_are_a_warning() {
    for n in [1, 2] {
        let ids = 100..100 + n;
        for report in second_night(&running("zoo", ids.clone(), 0, FIRST_END), &ended("zoo", ids, HOUR)) {
            let [possible] = &report.possible_copies[..] else {
                panic!("{}", report.text())
            };
            let of = (possible.job_n, possible.of_job_n, possible.shift_s);
            assert_eq!(of, (u64::try_from(n).unwrap(), 30 + u64::try_from(n).unwrap(), HOUR));
            assert!(possible.is_open && report.copied_jobs.is_empty(), "{}", report.text());
            assert!(report.text().contains("perhaps counted twice: "), "{}", report.text());
        }
    }
    // Where nothing differs but the cluster, which one dump does not name, one job is proof.
    let scene = scene(&[
        ("1.txt", running("zoo", 100..101, 0, FIRST_END)),
        ("2.txt", without_cluster(&ended("zoo", 100..101, 0))),
    ]);
    assert!(stopped(&scene, &["1.txt", "2.txt"]).contains("2.txt: 1 of 31 jobs of ZOO"));
}

#[test]
fn running_jobs_that_the_pipeline_keeps_are_named() {
    let scene = scene(&[
        ("1.txt", running("zoo", 100..120, 0, FIRST_END)),
        ("2.txt", ended("zoo", 100..120, HOUR)),
    ]);
    let keep = pipeline(&["1.txt", "2.txt"]).with("copied_jobs", "\"keep\"");
    let report = scene.run(&keep, "lake");
    let [copied] = &report.copied_jobs[..] else {
        panic!("{}", report.text())
    };
    assert_eq!((copied.job_n, copied.of_job_n, copied.is_open), (20, 50, true));
    // Of the rows without an end: of each, 4 cores from its start to the end of the day.
    let hours: i64 = (100..120).map(|id| 24 - 2 - id % 10).sum();
    assert_eq!(copied.core_hour_tenths, u128::try_from(hours * 4 * 10).unwrap());
}

#[test]
fn other_jobs_and_runs_of_the_same_number_are_no_copies() {
    let alike = |first: &str, second: &str| {
        for report in second_night(first, second) {
            assert!(
                report.copied_jobs.is_empty() && report.possible_copies.is_empty(),
                "{}",
                report.text()
            );
        }
    };
    let first = running("zoo", 100..120, 0, FIRST_END);
    // Ended in the zone in which they ran.
    alike(&first, &ended("zoo", 100..120, 0));
    // Another cluster with the same numbers, users and cores, whose jobs were submitted at other times.
    let of_other_cluster: Vec<String> = (100..120)
        .map(|id| {
            let start_s = NIGHT + id * 617;
            let submit_s = start_s - 100 - id;
            format!(
                "{id}|{id}|tierpark|u{}|bio|{submit_s}|{start_s}|{}|5000|COMPLETED|4|00:01.000\n",
                id % 3,
                start_s + 5000
            )
        })
        .collect();
    alike(&first, &(HEADER.to_owned() + &of_other_cluster.concat()));
    // Siblings of a federation, which are revoked when another cluster starts the job.
    let revoked: Vec<String> = (100..120)
        .map(|id| {
            let start_s = NIGHT + (2 + id % 10) * HOUR;
            let submit_s = start_s - 100 - id;
            format!(
                "{id}|{id}|tierpark|u{}|bio|{submit_s}|{start_s}|{start_s}|0|REVOKED|4|00:00.000\n",
                id % 3
            )
        })
        .collect();
    alike(&first, &(HEADER.to_owned() + &revoked.concat()));
    // Requeued an hour later, in a dump without the first runs: each was submitted again and waited for two minutes.
    let requeued: Vec<String> = (100..120)
        .map(|id| {
            let start_s = NIGHT + (3 + id % 10) * HOUR;
            format!(
                "{id}|{id}|zoo|u{}|bio|{}|{start_s}|{}|7000|COMPLETED|4|00:01.000\n",
                id % 3,
                start_s - 121,
                start_s + 7000
            )
        })
        .collect();
    alike(&first, &(HEADER.to_owned() + &requeued.concat()));
}
