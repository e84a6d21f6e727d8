//! A `timezone` that the times of the dump disprove.

use gridtally::run::run_report::RunReport;

use super::copies::scene;
use super::scene::{Pipeline, Source};

/// Jobs around the hour in which the clocks of Zurich went back, as printed there, one of the day before, and a row of
/// nonsense that no zone explains.
const DUMP: &str = "Cluster|JobIDRaw|JobID|Account|User|Submit|Start|End|ElapsedRaw|State|NCPUS|TotalCPU\n\
    oak|1|1|a|u|2025-10-25T10:00:00|2025-10-26T02:50:00|2025-10-26T02:10:00|1200|COMPLETED|1|00:00:01\n\
    oak|2|2|a|u|2025-10-25T10:00:00|2025-10-26T01:30:00|2025-10-26T02:10:00|2400|COMPLETED|1|00:00:01\n\
    oak|3|3|a|u|2025-10-25T10:00:00|2025-10-26T01:30:00|2025-10-26T02:10:00|6000|COMPLETED|1|00:00:01\n\
    oak|4|4|a|u|2025-10-25T10:00:00|2025-10-25T11:00:00|2025-10-25T12:00:00|3600|COMPLETED|1|00:00:01\n\
    oak|5|5|a|u|2025-10-25T10:00:00|2025-10-25T12:00:00|2025-10-24T12:00:00|600|COMPLETED|1|00:00:01\n";

fn run(zone: &str) -> RunReport {
    let scene = scene(&[("dump.txt", DUMP.to_owned())]);
    let pipeline = Pipeline::of(Source {
        name: "oak",
        paths: vec!["data/dump.txt".to_owned()],
        keys: format!("format = \"sacct\"\nsite = \"OAK\"\ntimezone = \"{zone}\"\n"),
    });
    scene.run(&pipeline, "lake")
}

#[test]
fn a_zone_that_the_times_disprove_is_a_warning() {
    let report = run("UTC");
    let times = report.sources["oak"].times;
    assert_eq!((times.end_before_start_n, times.hour_unlike_span_n), (1, 2));
    let text = report.text();
    assert!(
        text.contains(
            "  warning: the timezone of the source oak may be wrong: jobs that end up to an hour before they start: 1, jobs \
             whose wall time is an hour more or less than from start to end: 2"
        ),
        "{text}"
    );
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(
        json.pointer("/sources/oak/times/hour_unlike_span_n"),
        Some(&serde_json::json!(2))
    );
    let right = run("Europe/Zurich");
    assert!(right.sources["oak"].times.is_empty(), "{}", right.text());
    assert!(!right.text().contains("timezone"), "{}", right.text());
}
