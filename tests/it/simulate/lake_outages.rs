//! Nodes of a lake that go down, come back or come after the last recorded end.

use std::fmt::Write as _;

use super::lake::{HEADER, Scene, pipeline, rows, stderr, stdout};

/// Two nodes of four cores at the end of October, and a job of November.
const JOBS: &str = "\
    1|oak|u|a|cpu|COMPLETED|2026-10-31T22:00:00|2026-10-31T22:00:00|2026-10-31T22:00:00|2026-10-31T22:21:00|1260|00:30:00|4|1|cpu=4,mem=4G,node=1||o2\n\
    2|oak|u|b|cpu|COMPLETED|2026-10-31T22:10:00|2026-10-31T22:10:00|2026-10-31T22:20:00|2026-10-31T22:21:00|60|00:10:00|8|2|cpu=8,mem=8G,node=2||o1,o2\n\
    3|oak|u|b|cpu|COMPLETED|2026-10-31T22:11:00|2026-10-31T22:11:00|2026-10-31T22:20:00|2026-10-31T22:21:00|60|00:10:00|8|2|cpu=8,mem=8G,node=2||o1,o2\n\
    4|oak|u|a|cpu|COMPLETED|2026-11-03T10:00:00|2026-11-03T10:00:00|2026-11-03T10:00:00|2026-11-03T10:01:00|60|00:10:00|4|1|cpu=4,mem=4G,node=1||o1\n";

fn listed(names: &[&str]) -> String {
    let each = names.iter().map(|name| {
        format!("NodeName={name} CPUTot=4 Sockets=1 CoresPerSocket=4 RealMemory=16384 Partitions=cpu State=IDLE\n\n")
    });
    each.collect()
}

/// A lake of these jobs in which the first node is down in these times, and a third one comes on 2 November.
fn scene(downs: &[[&str; 2]]) -> Scene {
    let jobs = format!("{HEADER}{JOBS}");
    let (first, later) = (listed(&["o1", "o2"]), listed(&["o1", "o2", "o3"]));
    let mut events = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason\n".to_owned();
    for [from, until] in downs {
        writeln!(events, "oak|o1|2026-10-31T{from}|{until}|DOWN|board").unwrap();
    }
    let inventory = |name: &str, file: &str, as_of: &str| {
        format!("[[inventory]]\nname = \"{name}\"\npaths = [\"{file}\"]\ntimezone = \"UTC\"\nas_of = \"{as_of}\"\n")
    };
    let more = [
        inventory("first", "first.txt", "2026-10-01"),
        inventory("later", "later.txt", "2026-11-02"),
        inventory("events", "events.txt", "2026-10-01"),
    ];
    let files = [
        ("jobs.txt", jobs.as_str()),
        ("first.txt", &first),
        ("later.txt", &later),
        ("events.txt", &events),
    ];
    Scene::new(&files, &pipeline(&more.concat()))
}

const OCTOBER: [&str; 5] = ["lake", "--from", "2026-10-31", "--to", "2026-10-31"];

/// The simulated starts in seconds from 22:00, and the notes.
fn starts(scene: &Scene) -> (Vec<Option<i64>>, String) {
    let output = scene.simulate(&[&OCTOBER[..], &["--table", "schedule", "--format", "csv"]].concat());
    let text = stdout(&output);
    let simulated = rows(&text).into_iter().filter(|row| row[0] == "baseline");
    let start = |row: Vec<String>| row[3].parse::<i64>().ok().map(|start_s| start_s - 1_793_484_000);
    (simulated.map(start).collect(), stderr(&output))
}

#[test]
fn a_node_comes_back_after_the_last_recorded_end() {
    let scene = scene(&[["22:05:00", "2026-10-31T23:30:00"]]);
    let (found, notes) = starts(&scene);
    assert_eq!(found, [Some(0), Some(5400), Some(5460)], "{notes}");
    let explained = stdout(&scene.simulate(&[&OCTOBER[..], &["--explain", "2"]].concat()));
    assert!(
        explained.contains("from 2026-10-31T22:05:00Z to 2026-10-31T23:30:00Z 4 of 8 cores"),
        "{explained}"
    );
}

#[test]
fn an_outage_after_the_last_recorded_end_holds_jobs_that_would_start_in_it() {
    // The second job runs from 22:21 to 22:22, the third one would follow.
    let (found, notes) = starts(&scene(&[["22:21:30", "2026-10-31T23:30:00"]]));
    assert_eq!(found, [Some(0), Some(1260), Some(5400)], "{notes}");
    assert!(
        notes.contains("nodes took no jobs 1 times, 1 of them after the last recorded end"),
        "{notes}"
    );
}

#[test]
fn a_node_that_comes_after_the_last_recorded_end_is_not_of_the_machine() {
    let (found, notes) = starts(&scene(&[["22:05:00", "Unknown"]]));
    // The third node would be in the place of the first.
    assert_eq!(found, [Some(0), None, None], "{notes}");
    assert!(notes.contains("with 8 cores"), "{notes}");
}

#[test]
fn jobs_that_never_start_are_compared_with_nothing_and_counted() {
    let jobs = format!("{HEADER}{JOBS}");
    let events = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason\noak|o1|2026-10-31T22:05:00|Unknown|DOWN|board\n";
    let nodes = listed(&["o1", "o2"]);
    let mut files = vec![
        ("jobs.txt", jobs.as_str()),
        ("nodes.txt", &nodes),
        ("events.txt", events),
    ];
    files.extend(super::lake::PRICES);
    let more = "[[inventory]]\nname = \"nodes\"\npaths = [\"nodes.txt\"]\ntimezone = \"UTC\"\nas_of = \"2026-10-01\"\n\
        [[inventory]]\nname = \"events\"\npaths = [\"events.txt\"]\ntimezone = \"UTC\"\nas_of = \"2026-10-01\"\n\
        [[charge]]\npolicies = [\"old.toml\", \"new.toml\"]\n";
    let scene = Scene::new(&files, &pipeline(more));
    let text = stdout(&scene.simulate(&OCTOBER));
    // The two jobs of all cores are those that waited.
    let sentence = "baseline would have saved 0 s of waits, where there were none, charged nobody differently under cores and \
        freed 0.0 node-days. 2 of 3 jobs never start under it and are not compared.";
    assert!(text.contains(sentence), "{text}");
    let charges = stdout(&scene.simulate(&[&OCTOBER[..], &["--table", "charges", "--format", "csv"]].concat()));
    assert_eq!(
        charges,
        "method,policy,unit,account,vo,job_n,unpriced_job_n,recorded_charge,charge,change,change_percent\n\
         baseline,cores,core_hour,a,v,1,0,1.400000000,1.400000000,0.000000000,0.00\n"
    );
}

#[test]
fn all_attempts_of_a_job_are_explained() {
    let attempts = "\
        7|oak|u|a|cpu|NODE_FAIL|2026-10-31T22:00:00|2026-10-31T22:00:00|2026-10-31T22:00:00|2026-10-31T22:10:00|600|00:30:00|4|1|cpu=4,mem=4G,node=1||o1\n\
        7|oak|u|a|cpu|COMPLETED|2026-10-31T22:12:00|2026-10-31T22:12:00|2026-10-31T22:15:00|2026-10-31T22:45:00|1800|00:30:00|4|1|cpu=4,mem=4G,node=1||o1\n";
    let (jobs, nodes) = (format!("{HEADER}{attempts}"), listed(&["o1"]));
    let more = "[[inventory]]\nname = \"nodes\"\npaths = [\"nodes.txt\"]\ntimezone = \"UTC\"\nas_of = \"2026-10-01\"\n";
    let scene = Scene::new(&[("jobs.txt", &jobs), ("nodes.txt", &nodes)], &pipeline(more));
    let text = stdout(&scene.simulate(&["lake", "--explain", "7"]));
    for ran in ["ran 600 s", "ran 1800 s"] {
        assert!(text.contains(ran), "{ran}: {text}");
    }
    assert_eq!(text.matches("baseline: it starts").count(), 2, "{text}");
}
