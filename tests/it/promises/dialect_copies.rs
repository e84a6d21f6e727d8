//! Jobs that two dialects state, such as a batch system's own dump and the messages a site makes of it.

use std::fmt::Write as _;

use super::copies::{NIGHT, night, scene};
use super::scene::{Pipeline, Source};

/// APEL's messages of jobs of [`night`], whose CPU time is in whole seconds and whose users are named otherwise.
fn messages(first: i64, n: i64, cores_more: i64) -> String {
    let mut text = String::from("APEL-individual-job-message: v0.3\n");
    for id in first..first + n {
        let (wall_s, start_s) = (100 + id * 37 % 5000, NIGHT + (id - first) * 211 + 60 + id % 7);
        let _ = writeln!(
            text,
            "Site: ZOO\nSubmitHost: ce1\nLocalJobId: {id}\nLocalUserId: pool{id}\nWallDuration: {wall_s}\nCpuDuration: 7\n\
             StartTime: {start_s}\nEndTime: {}\nProcessors: {}\nServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%",
            start_s + wall_s,
            1 + id % 4 + cores_more,
        );
    }
    text
}

fn pipeline() -> Pipeline {
    let source = |name, path: &str, keys: &str| Source {
        name,
        paths: vec![path.to_owned()],
        keys: keys.to_owned(),
    };
    let sacct = source("sacct", "data/jobs.txt", "format = \"sacct\"\nsite = \"ZOO\"\n");
    Pipeline {
        sources: vec![sacct.clone(), source("apel", "data/messages", "format = \"apel\"\n")],
        ..Pipeline::of(sacct)
    }
}

#[test]
fn jobs_of_two_dialects_are_a_warning() {
    let dump = night("zoo", (100, 40), NIGHT, 0);
    let scene = scene(&[("jobs.txt", dump), ("messages", messages(100, 40, 0))]);
    let report = scene.run(&pipeline(), "lake");
    let [possible] = &report.possible_copies[..] else {
        panic!("{}", report.text())
    };
    assert_eq!((possible.job_n, possible.of_job_n, possible.shift_s), (40, 40, 0));
    let mut formats = [possible.format, possible.of_format];
    formats.sort_unstable();
    assert_eq!(formats, [Some("apel"), Some("sacct")]);
    let last = report.text();
    let words = "with the same number, start and duration, and the same cores as far as both state them, as ";
    assert!(
        last.contains("perhaps counted twice: ") && last.contains(words),
        "{last}"
    );
}

#[test]
fn other_jobs_of_another_dialect_are_no_copies() {
    let dump = night("zoo", (100, 40), NIGHT, 0);
    // Other numbers, or other cores.
    for others in [messages(5000, 40, 0), messages(100, 40, 1)] {
        let scene = scene(&[("jobs.txt", dump.clone()), ("messages", others)]);
        let report = scene.run(&pipeline(), "lake");
        assert!(report.possible_copies.is_empty(), "{}", report.text());
    }
}
