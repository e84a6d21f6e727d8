//! Free canonical units of the jobs of a lake, worked out by hand.

use super::lake::{HEADER, Scene, stderr, stdout};
use super::reservations_of_lakes;

const COLUMNS: &str = "method,unit,free_unit_h,free_unit_change_h,overhead_core_h,stranded_core_h,allocated_core_h,unavailable_core_h,capacity_core_h,idle_node_d,without_place_job_n\n";

/// The answer of `--table overhead`.
fn overhead(scene: &Scene, more: &[&str]) -> String {
    stdout(&scene.simulate(&[&["lake", "--table", "overhead", "--format", "csv"], more].concat()))
}

/// An hour of all four cores of a node before an hour in which it is set aside, and one after it.
const AROUND: &str = "1|oak|u|lab|cpu|COMPLETED|2026-03-02T20:00:00|2026-03-02T20:00:00|2026-03-02T20:00:00|2026-03-02T21:00:00|3600|01:00:00|4|1|cpu=4,mem=1G,node=1|1|n1\n\
    2|oak|u|lab|cpu|COMPLETED|2026-03-02T20:30:00|2026-03-02T20:30:00|2026-03-02T22:00:00|2026-03-02T23:00:00|3600|01:00:00|4|1|cpu=4,mem=1G,node=1|1|n1\n";

/// A pipeline of jobs and nodes, the states of which are in a file of their own.
fn pipeline(state_file: &str) -> String {
    format!(
        "[pipeline]\nname = \"oak\"\noutput = \"lake\"\n[[source]]\nname = \"jobs\"\nformat = \"sacct\"\npaths = [\"jobs.txt\"]\n\
         site = \"A\"\ntimezone = \"UTC\"\nvo = {{ value = \"v\" }}\n[[inventory]]\nname = \"state\"\n\
         paths = [\"nodes.csv\", \"{state_file}\"]\nsite = \"A\"\ntimezone = \"UTC\"\nas_of = \"2026-01-01\"\n\
         [overhead]\n[[overhead.unit]]\nname = \"1core\"\ncore = 1\n"
    )
}

/// A lake of these jobs and of the nodes of two files.
fn scene(nodes: &str, state: (&str, &str)) -> Scene {
    let (state_file, state) = state;
    let jobs = format!("{HEADER}{AROUND}");
    Scene::new(
        &[("jobs.txt", &jobs), ("nodes.csv", nodes), (state_file, state)],
        &pipeline(state_file),
    )
}

const NODES: &str = "node,cluster,cpu_n,memory_byte,as_of\nn1,oak,4,17179869184,2026-01-01\n";

#[test]
fn hours_of_a_listed_reservation_are_no_free_units() {
    let reservation = "reservation,cluster,start,end,node_n,nodes,flags,as_of\n\
        upgrade,oak,2026-03-02T21:00:00Z,2026-03-02T22:00:00Z,1,n1,MAINT,2026-04-01\n";
    let event = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n\
        oak|n1|2026-03-02T21:00:00|2026-03-02T22:00:00|MAINT|x|root\n";
    let expected = format!(
        "{COLUMNS}recorded,1core,0.00,0.00,0.00,0.00,8.00,4.00,12.00,0.00,0\n\
         baseline,1core,0.00,0.00,0.00,0.00,8.00,4.00,12.00,0.00,0\n"
    );
    for state in [("reservation.csv", reservation), ("events.txt", event)] {
        assert_eq!(overhead(&scene(NODES, state), &[]), expected, "{}", state.0);
    }
    // All nodes take jobs at all times: the second job starts at 21:00, and the hour after it is free as the one before was.
    let scene = scene(NODES, ("reservation.csv", reservation));
    assert_eq!(
        overhead(&scene, &["--outages", "none"]),
        format!(
            "{COLUMNS}recorded,1core,4.00,0.00,4.00,0.00,8.00,0.00,12.00,0.04,0\n\
             baseline,1core,4.00,0.00,4.00,0.00,8.00,0.00,12.00,0.04,0\n"
        )
    );
}

/// Whichever of two nodes is reserved, a job inside and one outside are put where they can run.
#[test]
fn jobs_inside_a_reservation_are_put_on_its_nodes_and_others_are_not() {
    use reservations_of_lakes::{HEADER, listed, record, scene_of};
    for (free, reserved) in [("o1", "o2"), ("o2", "o1")] {
        let jobs = [
            HEADER.to_owned(),
            record(1, "a", ["20:30", "20:30", "22:30"], "02:00:00", &[free], ""),
            record(2, "b", ["20:00", "21:00", "22:00"], "01:00:00", &[reserved], "gold"),
            record(3, "a", ["20:00", "23:00", "23:30"], "00:30:00", &["o1", "o2"], ""),
        ];
        let gold = listed("gold", ["21:00", "23:00"], reserved, 4, "SPEC_NODES");
        let scene = scene_of(&jobs.concat(), &gold);
        // Three and a half hours of eight cores: sixteen were given to jobs, and of the eight that were reserved four were not.
        assert_eq!(
            overhead(&scene, &[]),
            format!(
                "{COLUMNS}recorded,1c,8.00,0.00,8.00,0.00,16.00,4.00,28.00,0.08,0\n\
                 baseline,1c,8.00,0.00,8.00,0.00,16.00,4.00,28.00,0.08,0\n"
            ),
            "{reserved}"
        );
    }
}

/// Nodes without memory and a unit of a core with 2 GiB: what more could have run is not known.
#[test]
fn free_units_of_what_no_inventory_states_are_empty() {
    let nodes = "node,cluster,cpu_n,as_of\nn1,oak,4,2026-01-01\n";
    let event = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n\
        oak|n1|2026-03-02T21:00:00|2026-03-02T21:30:00|MAINT|x|root\n";
    let jobs = format!("{HEADER}{AROUND}");
    let units = "\n[[overhead.unit]]\nname = \"1core+2GiB\"\ncore = 1\nmemory = \"2GiB\"\n";
    let scene = Scene::new(
        &[("jobs.txt", &jobs), ("nodes.csv", nodes), ("events.txt", event)],
        &(pipeline("events.txt") + units),
    );
    // Half an hour of four cores was set aside, and in another half more of the first unit could have run.
    let expected = format!(
        "{COLUMNS}recorded,1core,2.00,0.00,2.00,0.00,8.00,2.00,12.00,0.02,0\n\
         recorded,1core+2GiB,,,,,8.00,2.00,12.00,0.02,0\n\
         baseline,1core,2.00,0.00,2.00,0.00,8.00,2.00,12.00,0.02,0\n\
         baseline,1core+2GiB,,,,,8.00,2.00,12.00,0.02,0\n"
    );
    assert_eq!(overhead(&scene, &[]), expected);
    let stated = stderr(&scene.simulate(&["lake", "--table", "overhead", "--format", "csv"]));
    let note = "free units of 1core+2GiB are not known: of 1 nodes the inventory does not state everything that such a unit takes";
    assert!(stated.contains(note), "{stated}");
    assert!(!stated.contains("free units of 1core are"), "{stated}");
}

/// A machine that is stated has no nodes, and what is added is on none.
#[test]
fn free_units_are_of_nodes_alone_and_notes_state_what_is_on_none() {
    let event = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n\
        oak|n1|2026-03-02T21:00:00|2026-03-02T21:30:00|MAINT|x|root\n";
    let scene = scene(NODES, ("events.txt", event));
    let notes = |more: &[&str]| {
        let table = ["lake", "--table", "overhead", "--format", "csv"];
        stderr(&scene.simulate(&[&table, more].concat()))
    };
    let (stated, added) = ("the machine is stated, and has no nodes", "is on none of them");
    let machine = ["--machine", "cores=8"];
    assert_eq!(overhead(&scene, &machine), COLUMNS);
    assert!(notes(&machine).contains(stated), "{}", notes(&machine));
    let answer = stdout(&scene.simulate(&[&["lake"], &machine[..]].concat()));
    assert!(!answer.contains("node-days"), "{answer}");
    // Both jobs run at once on the eight cores, and have no place on the four of the node in that half hour.
    let cores = ["--add", "cores=4"];
    assert!(
        notes(&cores).contains("what is added (4 cores) is on none of them"),
        "{}",
        notes(&cores)
    );
    assert!(
        notes(&cores).contains("1 jobs have no place on the nodes"),
        "{}",
        notes(&cores)
    );
    for more in [&["--outages", "none"][..], &["--add", "licenses:x=3"], &[]] {
        let notes = notes(more);
        assert!(!notes.contains(stated) && !notes.contains(added), "{more:?}: {notes}");
    }
}
