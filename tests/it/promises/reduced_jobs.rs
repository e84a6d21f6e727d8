//! Dumps whose window cuts jobs off: steps that are missing in the row that counts.

use serde_json::json;

use super::copies::{HEADER, NIGHT, pipeline, scene};
use super::scene::Scene;

/// Job 120 with `steps` of it, the batch step last.
fn long_job(state: &str, end: &str, cpu: &str, steps: &[&str]) -> String {
    let row = |id: &str, cpu: &str| {
        let elapsed_s = end.parse().map_or(600, |end_s: i64| end_s - NIGHT);
        format!("{id}|{id}|zoo|u1|bio|{NIGHT}|{NIGHT}|{end}|{elapsed_s}|{state}|4|{cpu}\n")
    };
    let steps = steps.iter().map(|step| row(&format!("120.{step}"), "00:01.000"));
    row("120", cpu) + &steps.collect::<String>()
}

fn other_job(id: i64, cpu: &str) -> String {
    let start_s = NIGHT + 10 * id;
    format!(
        "{id}|{id}|zoo|u1|bio|{NIGHT}|{start_s}|{}|60|COMPLETED|1|{cpu}\n",
        start_s + 60
    )
}

/// Three dumps: while the job runs, after it has ended with a window that begins in it, and all of it.
fn dumps() -> Scene {
    let ended = (NIGHT + 900).to_string();
    scene(&[
        (
            "1.txt",
            HEADER.to_owned()
                + &long_job("RUNNING", "Unknown", "00:04.758", &["0", "batch"])
                + &other_job(7, "00:09.900"),
        ),
        (
            "2.txt",
            // Of job 7 only the fraction of a second is missing.
            HEADER.to_owned() + &long_job("COMPLETED", &ended, "00:01.540", &["batch"]) + &other_job(7, "00:09"),
        ),
        (
            "3.txt",
            HEADER.to_owned() + &long_job("COMPLETED", &ended, "00:06.298", &["0", "batch"]),
        ),
    ])
}

#[test]
fn a_row_that_lost_steps_of_its_job_is_a_warning() {
    let scene = dumps();
    let in_one_go = scene.run(&pipeline(&["1.txt", "2.txt"]), "lake");
    let first = scene.run(&pipeline(&["1.txt"]), "nightly");
    assert!(first.reduced_jobs.is_empty(), "{}", first.text());
    let second = scene.run(&pipeline(&["1.txt", "2.txt"]), "nightly");
    // The other way round: what runs does not replace what has ended, and had more.
    scene.run(&pipeline(&["2.txt"]), "backwards");
    let backwards = scene.run(&pipeline(&["1.txt", "2.txt"]), "backwards");
    for report in [in_one_go, second, backwards] {
        assert_eq!(
            serde_json::to_value(&report.reduced_jobs).unwrap(),
            json!([{
                "site": "ZOO",
                "job_n": 1,
                "first": [{
                    "job_id": "120",
                    "accepted": {"cpu_ms": 1540, "step_n": 1},
                    "most": {"cpu_ms": 4758, "step_n": 2},
                }],
            }])
        );
        let text = report.text();
        assert!(
            text.contains("ZOO: 1 job has less CPU time or fewer steps")
                && text.contains("120 with 1.540 s of CPU time and 1 step, before 4.758 s of CPU time and 2 steps")
                && text.contains("sacct -S"),
            "{text}"
        );
    }
    let third = scene.run(&pipeline(&["1.txt", "2.txt", "3.txt"]), "nightly");
    assert!(third.reduced_jobs.is_empty(), "{}", third.text());
    let all = scene.run(&pipeline(&["1.txt", "2.txt", "3.txt"]), "all");
    assert!(all.reduced_jobs.is_empty(), "{}", all.text());
}
