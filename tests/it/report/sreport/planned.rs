//! What waiting jobs requested.

use gridtally::report::sreport::answer::SreportKind;

use super::{ask, inventory};
use crate::report::scene::Scene;

const EVENTS: &str = "Cluster|NodeName|Cluster Nodes|TimeStart|TimeEnd|State|Reason|User|TRES\n\
    oak||n[1-2]|2026-03-02T00:00:00|2026-04-01T00:00:00||Cluster Registered TRES||billing=16,cpu=16,node=2\n";

/// A job: number, reservation, when it was eligible, started and ended on days of March, and the cores it requested.
fn line(id: u32, reservation: &str, [eligible, start, end]: [&str; 3], asked: &str) -> String {
    let time = |text: &str| {
        let is_time = text.contains('T');
        if is_time {
            format!("2026-03-{text}")
        } else {
            text.to_owned()
        }
    };
    let (state, nodes, tres) = if start == "None" {
        ("CANCELLED by 1001", "None assigned", "")
    } else {
        ("COMPLETED", "n1", "cpu=2,node=1")
    };
    let at = |text: &str| time(text).parse::<jiff::civil::DateTime>().unwrap();
    let elapsed_s = if start == "None" {
        0
    } else {
        at(start).duration_until(at(end)).as_secs()
    };
    format!(
        "{id}|oak|ann|fir|{reservation}|{state}|2026-03-01T00:00:00|{}|{}|{}|{elapsed_s}|{nodes}|{asked}|{tres}\n",
        time(eligible),
        time(start),
        time(end),
    )
}

fn lake(scene: &Scene, lines: &str) -> gridtally::report::lake::Lake {
    scene.write(
        "jobs.txt",
        &format!(
            "JobIDRaw|Cluster|User|Account|Reservation|State|Submit|Eligible|Start|End|ElapsedRaw|NodeList|ReqCPUS|AllocTRES\n{lines}"
        ),
    );
    scene.write("events.txt", EVENTS);
    scene.write(
        "corrections.csv",
        "id,action,site,month,cluster,account,user,job_id,to_account,job_n,wall_s,alloc_core_s,author,reason,date\n\
         C1,void,OAK,2026-03,,,,6,,,,,E. Office,broken node,2026-04-02\n",
    );
    scene.write(
        "oak.toml",
        &format!(
            "[pipeline]\nname = \"oak\"\noutput = \"oak\"\ncalendar_timezone = \"UTC\"\ncorrections = \"corrections.csv\"\n\
             [[source]]\nname = \"oak\"\nformat = \"sacct\"\npaths = [\"jobs.txt\"]\nsite = \"OAK\"\ntimezone = \"UTC\"\n{}",
            inventory("events")
        ),
    );
    scene.run("oak")
}

fn jobs() -> Vec<String> {
    vec![
        // Requested more than it was given.
        line(1, "", ["10T00:10:00", "10T00:40:00", "10T01:00:00"], "4"),
        // Given up, in the third hour.
        line(2, "", ["10T00:30:00", "None", "10T02:30:00"], "3"),
        // Held all the time: it was never eligible.
        line(3, "", ["Unknown", "None", "10T05:00:00"], "100"),
        // No more can be planned than there is.
        line(4, "", ["10T10:00:00", "10T11:00:00", "10T11:10:00"], "1000"),
        // It waited for its reservation.
        line(5, "people", ["10T12:00:00", "10T13:00:00", "10T13:10:00"], "5"),
        // Voided.
        line(6, "", ["10T14:00:00", "10T15:00:00", "10T15:10:00"], "7"),
        // The cluster was registered in the second of two hours.
        line(7, "", ["01T23:00:00", "02T01:00:00", "02T01:10:00"], "2"),
    ]
}

#[test]
fn waiting_jobs_are_planned_for_as_slurm_does() {
    let scene = Scene::new();
    let lake = lake(&scene, &jobs().concat());
    let answer = ask(&lake, SreportKind::Utilization, |_| {});
    let row: Vec<String> = answer.table.rows[0].iter().map(ToString::to_string).collect();
    let planned = 4 * 1800 + 3 * 7200 + 16 * 3600 + 2 * 3600;
    let allocated = 2 * (1200 + 3 * 600);
    let reported = 16 * 30 * 86_400;
    let left = reported - allocated;
    let expected = [allocated, 0, 0, left - planned, planned, left, reported].map(|n: i64| n.to_string());
    assert_eq!(row[2..], expected);
    assert_eq!(answer.notes, [""; 0]);
}

/// A job that waited and does not state for what, or since when, leaves both unknown: they are summed, and a line states
/// why.
#[test]
fn planned_and_idle_stand_together_where_a_dump_lacks_what_was_asked() {
    let unasked = line(8, "", ["10T16:00:00", "10T17:00:00", "10T17:10:00"], "");
    let undated = line(8, "", ["Unknown", "10T17:00:00", "10T17:10:00"], "4");
    for more in [unasked, undated] {
        let scene = Scene::new();
        let mut lines = jobs();
        lines.push(more);
        let lake = lake(&scene, &lines.concat());
        let answer = ask(&lake, SreportKind::Utilization, |_| {});
        let row: Vec<String> = answer.table.rows[0].iter().map(ToString::to_string).collect();
        let left = 16 * 30 * 86_400 - 2 * (1200 + 4 * 600);
        assert_eq!(row[5..8], [String::new(), String::new(), left.to_string()]);
        let note = "Planned and Idle of cpu of oak are summed in Idle or Planned: 1 jobs do not state since when they were \
                    eligible, or how many cores they requested";
        assert_eq!(answer.notes, [note]);
    }
}

/// A job that waits still is in no record, and that is reported.
#[test]
fn jobs_that_wait_still_are_stated_to_be_missing() {
    let scene = Scene::new();
    let waits = line(9, "", ["10T16:00:00", "None", "Unknown"], "4").replace("CANCELLED by 1001", "PENDING");
    let mut lines = jobs();
    lines.push(waits);
    let answer = ask(&lake(&scene, &lines.concat()), SreportKind::Utilization, |_| {});
    assert_eq!(answer.notes.len(), 1, "{:?}", answer.notes);
    assert!(
        answer.notes[0].starts_with("1 rows of jobs that had not started"),
        "{:?}",
        answer.notes
    );
}
