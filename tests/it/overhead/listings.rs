//! Listings of the nodes, one after another: which nodes there were, and in which state.

use gridtally::config::Plan;
use gridtally::run::{RunOptions, stages};
use gridtally::runtime::progress::Silent;

use super::Scene;
use super::lake::{HEADER, UNITS};
use crate::support::events::messages;

const HEAD: &str = "[pipeline]\nname = \"oak\"\noutput = \"lake\"\n[[source]]\nname = \"jobs\"\nformat = \"sacct\"\n\
    paths = [\"jobs.txt\"]\nsite = \"A\"\ntimezone = \"UTC\"\nvo = { value = \"v\" }\n";
const JOB: &str = "1|oak|u|a|cpu|COMPLETED|2026-10-30T00:00:00|2026-10-30T00:00:00|2026-10-30T12:00:00|43200|00:00:00|2|1|\
    cpu=2,mem=4G,node=1|00:10:00|o1\n";

fn pipeline(inventories: &str) -> String {
    format!("{HEAD}{inventories}[overhead]\nperiod = {{ from = \"2026-10-01\", to = \"2026-11-01\" }}\n{UNITS}")
}

fn inventory(name: &str, paths: &str, keys: &str) -> String {
    format!("[[inventory]]\nname = \"{name}\"\npaths = [\"{paths}\"]\nas_of = \"path\"\n{keys}\n")
}

fn scene(listings: &[(&str, &str)]) -> Scene {
    let scene = Scene::new(&[("jobs.txt", &format!("{HEADER}{JOB}"))]);
    for (name, nodes) in listings {
        let of_node = |node: &str| {
            let (name, state) = node.split_once(':').unwrap_or((node, "IDLE"));
            format!("NodeName={name} CPUTot=4 RealMemory=8192 Partitions=cpu State={state}\n")
        };
        scene.write(name, &nodes.split(' ').map(of_node).collect::<String>());
    }
    scene
}

/// Days of October that each node was there, was down and was reserved.
fn days(scene: &Scene) -> Vec<String> {
    scene.ask(
        "SELECT node, sum(capacity_core_s) // 4 // 86400, sum(down_core_s) // 4 // 86400, \
         sum(reserved_core_s) // 4 // 86400 FROM overhead WHERE unit = '1c2g' GROUP BY node ORDER BY node",
    )
}

const OCTOBER: [(&str, &str); 3] = [
    ("nodes-2026-10-01.txt", "o1 o2 o4:MAINT o5:MAINT o6 o7 o8:DOWN"),
    ("nodes-2026-10-11.txt", "o1 o3 o4 o5:MAINT o6:DOWN o7 o8:MAINT"),
    ("nodes-2026-10-21.txt", "o1 o3 o4 o5 o6:DOWN o7:DOWN o8 o2"),
];

#[test]
fn a_complete_listing_closes_the_life_of_nodes_it_does_not_name() {
    let scene = scene(&OCTOBER);
    scene.run(&pipeline(&inventory("nodes", "nodes-*.txt", "")));
    // o2 was away for ten days, o3 came on the eleventh. States hold where two listings agree: o5 was in maintenance from
    // the first to the eleventh, o6 down from the eleventh to the twenty-first, o8 took no jobs, for whatever reason.
    assert_eq!(
        days(&scene),
        [
            "o1 31 0 0",
            "o2 21 0 0",
            "o3 21 0 0",
            "o4 31 0 0",
            "o5 31 0 10",
            "o6 31 10 0",
            "o7 31 0 0",
            "o8 31 10 0"
        ]
    );
    // A listing of some nodes does not affect the others.
    scene.run(&pipeline(&inventory("nodes", "nodes-*.txt", "complete = false")));
    let some = days(&scene);
    assert_eq!((some[1].as_str(), some[2].as_str()), ("o2 31 0 0", "o3 31 0 0"));
}

#[test]
fn a_state_of_an_earlier_listing_does_not_hold_for_months() {
    let scene = scene(&[
        ("nodes-2026-08-30.txt", "o1:MAINT o2"),
        ("nodes-2026-12-01.txt", "o1 o2"),
    ]);
    scene.run(&pipeline(&inventory("nodes", "nodes-*.txt", "")));
    assert_eq!(days(&scene), ["o1 31 0 0", "o2 31 0 0"]);
}

#[test]
fn an_event_states_it_between_listings_and_ends_as_the_later_export_reports() {
    let scene = scene(&[("nodes-2026-09-30.txt", "o1 o2"), ("nodes-2026-11-02.txt", "o1 o2")]);
    let header = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason\n";
    scene.write(
        "events-1.txt",
        &format!("{header}oak|o2|2026-10-05T00:00:00|Unknown|DOWN|fan\n"),
    );
    let events = "[[inventory]]\nname = \"events\"\npaths = [\"events-*.txt\"]\ntimezone = \"UTC\"\n";
    let text = pipeline(&format!("{}{events}", inventory("nodes", "nodes-*.txt", "")));
    scene.run(&text);
    assert_eq!(days(&scene), ["o1 31 0 0", "o2 31 27 0"]);
    scene.write(
        "events-2.txt",
        &format!("{header}oak|o2|2026-10-05T00:00:00|2026-10-07T00:00:00|DOWN|fan\n"),
    );
    scene.run(&text);
    assert_eq!(days(&scene), ["o1 31 0 0", "o2 31 2 0"]);
}

#[test]
fn an_event_of_a_node_leaves_the_listed_states_of_the_others() {
    let scene = scene(&[
        ("nodes-2026-10-01.txt", "o1:DOWN o2 o3:DOWN"),
        ("nodes-2026-10-11.txt", "o1:DOWN o2 o3:DOWN"),
        ("nodes-2026-10-21.txt", "o1 o2 o3"),
    ]);
    // The event of o3 states more exactly than both listings when it was down.
    scene.write(
        "events.txt",
        "Cluster|NodeName|TimeStart|TimeEnd|State|Reason\n\
         oak|o2|2026-10-15T00:00:00|2026-10-16T00:00:00|DOWN|fan\n\
         oak|o3|2026-09-30T00:00:00|2026-10-04T00:00:00|DOWN|fan\n",
    );
    let events = "[[inventory]]\nname = \"events\"\npaths = [\"events.txt\"]\ntimezone = \"UTC\"\n";
    scene.run(&pipeline(&format!("{}{events}", inventory("nodes", "nodes-*.txt", ""))));
    assert_eq!(days(&scene), ["o1 31 10 0", "o2 31 1 0", "o3 31 3 0"]);
}

#[test]
fn an_amount_that_a_listing_leaves_out_is_that_of_the_nearest_one() {
    let scene = scene(&[]);
    scene.write(
        "nodes.csv",
        "node,cluster,cpu_n,memory_byte,as_of\n\
         o1,oak,4,8589934592,2026-10-01T00:00:00Z\n\
         o1,oak,8,8589934592,2026-10-11T00:00:00Z\n\
         o1,oak,,8589934592,2026-10-21T00:00:00Z\n\
         o2,oak,,8589934592,2026-10-01T00:00:00Z\n\
         o2,oak,4,8589934592,2026-10-11T00:00:00Z\n\
         o2,oak,8,8589934592,2026-10-21T00:00:00Z\n",
    );
    scene.run(&pipeline("[[inventory]]\nname = \"nodes\"\npaths = [\"nodes.csv\"]\n"));
    // In days of four cores: ten and twice twenty-one; and twenty and twice eleven.
    assert_eq!(days(&scene), ["o1 52 0 0", "o2 42 0 0"]);
}

#[test]
fn listings_of_other_parts_of_a_machine_are_in_parallel() {
    let scene = scene(&[
        ("cpu-2026-10-01.txt", "o1 o2"),
        ("gpu-2026-10-05.txt", "g1 g2"),
        ("cpu-2026-10-11.txt", "o1"),
        ("gpu-2026-10-15.txt", "g1 g2"),
    ]);
    let both = inventory("cpu", "cpu-*.txt", "") + &inventory("gpu", "gpu-*.txt", "");
    scene.run(&pipeline(&both));
    let apart = ["g1 31 0 0", "g2 31 0 0", "o1 31 0 0", "o2 10 0 0"];
    assert_eq!(days(&scene), apart);
    // The same in one inventory; and where the pipeline sets that a listing names all nodes, all others are gone.
    scene.run(&pipeline(&inventory("all", "*u-*.txt", "")));
    assert_eq!(days(&scene), apart);
    let whole = inventory("cpu", "cpu-*.txt", "complete = true") + &inventory("gpu", "gpu-*.txt", "complete = false");
    scene.run(&pipeline(&whole));
    assert_eq!(days(&scene)[..2], ["g1 23 0 0", "g2 23 0 0"]);
}

#[test]
fn a_table_of_changes_names_all_nodes_at_none_of_its_instants() {
    let scene = scene(&[]);
    scene.write(
        "nodes.csv",
        "node,cluster,cpu_n,memory_byte,gpus,partitions,as_of\n\
         o1,oak,4,8589934592,,cpu,2026-10-01T00:00:00Z\n\
         o2,oak,4,8589934592,,cpu,2026-10-01T00:00:00Z\n\
         o1,oak,8,8589934592,,cpu,2026-10-11T00:00:00Z\n",
    );
    scene.run(&pipeline("[[inventory]]\nname = \"nodes\"\npaths = [\"nodes.csv\"]\n"));
    assert_eq!(days(&scene), ["o1 52 0 0", "o2 31 0 0"]);
}

#[test]
fn nodes_that_are_gone_are_reported() {
    let scene = scene(&OCTOBER[..2]);
    scene.write(
        "p.toml",
        &pipeline(&inventory("nodes", "nodes-*.txt", "cluster = \"oak\"")),
    );
    let (plan, _) = Plan::load(&scene.path("p.toml")).unwrap();
    let reported = || {
        let run = || stages::run(&plan, &RunOptions::default(), &Silent).unwrap();
        let mut messages = messages(|| drop(run()));
        messages.retain(|message| message.contains("do not name"));
        messages
    };
    let notes = reported();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(
        notes[0].contains("1 nodes") && notes[0].contains("o2 of oak until 2026-10-11"),
        "{notes:?}"
    );
    assert!(reported().is_empty(), "once");
}

const RESERVATIONS: &str =
    "[[inventory]]\nname = \"reserved\"\nformat = \"csv-reservation\"\npaths = [\"reserved.csv\"]\n";

#[test]
fn nodes_of_a_reservation_are_reserved_from_its_start_to_its_end() {
    let scene = scene(&[
        ("nodes-2026-09-30.txt", "o1 o2 o3 o4"),
        ("nodes-2026-11-02.txt", "o1 o2 o3 o4"),
    ]);
    // The later listing of the window counts; a window of two of eight cores leaves room, and one that had not begun when it was
    // listed was a plan. Nodes that no listing has are of nobody.
    scene.write(
        "reserved.csv",
        "reservation,cluster,start,end,core_n,nodes,flags,as_of\n\
         upgrade,oak,2026-10-05T00:00:00Z,2026-10-09T00:00:00Z,,\"o[1-2],x9\",MAINT,2026-10-05T12:00:00Z\n\
         upgrade,oak,2026-10-05T00:00:00Z,2026-10-07T00:00:00Z,,\"o[1-2],x9\",MAINT,2026-10-06T12:00:00Z\n\
         course,oak,2026-10-12T00:00:00Z,2026-10-13T00:00:00Z,8,\"o[2-3]\",,2026-11-01\n\
         corner,oak,2026-10-20T00:00:00Z,2026-10-21T00:00:00Z,2,\"o[3-4]\",,2026-11-01\n\
         plan,oak,2026-10-25T00:00:00Z,2026-10-26T00:00:00Z,,o4,MAINT,2026-10-24\n",
    );
    let inventories = format!("{}{RESERVATIONS}", inventory("nodes", "nodes-*.txt", ""));
    scene.run(&pipeline(&inventories));
    assert_eq!(days(&scene), ["o1 31 0 2", "o2 31 0 3", "o3 31 0 1", "o4 31 0 0"]);
    // What a job holds of it is allocated: the job has two cores of o1 for half a day.
    scene.write(
        "reserved.csv",
        "reservation,cluster,start,end,nodes\nours,oak,2026-10-30T00:00:00Z,2026-10-31T00:00:00Z,o1\n",
    );
    scene.run(&pipeline(&inventories));
    let parts = scene.ask(
        "SELECT sum(allocated_core_s) // 3600, sum(reserved_core_s) // 3600, sum(overhead_core_s) // 3600 FROM overhead \
         WHERE unit = '1c2g' AND node = 'o1' AND day = '2026-10-30'",
    );
    assert_eq!(parts, ["24 72 0"]);
}

#[test]
fn a_unit_for_a_partition_that_no_listing_has_is_named() {
    let scene = scene(&[("nodes-2026-10-01.txt", "o1")]);
    let unit = "[[overhead.unit]]\nname = \"typo\"\ncore = 1\npartition = [\"cpu\", \"cpuu\"]\n";
    let report = scene.run(&(pipeline(&inventory("nodes", "nodes-*.txt", "")) + unit));
    let unlisted = report.overhead.as_ref().unwrap().unlisted_partitions.iter();
    let unlisted: Vec<_> = unlisted.map(|of| (of.unit.as_str(), of.partition.as_str())).collect();
    assert_eq!(unlisted, [("typo", "cpuu")]);
    let line = "overhead: the unit typo is for the partition cpuu, which no listing has";
    assert!(report.text().contains(line), "{}", report.text());
}
