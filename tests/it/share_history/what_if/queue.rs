//! Waiting jobs: their priorities and their order before and after.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{RULE, jobs, table};
use crate::share_history::{Scene, pipeline};

/// Two jobs that wait for an hour, and a held one.
const QUEUE: &str = "JobId=21 JobName=a UserId=bob(8) GroupId=g(1) Priority=1 Nice=0 Account=lab QOS=normal JobState=PENDING \
    Reason=Resources TimeLimit=01:00:00 SubmitTime=2026-03-05T20:00:00 EligibleTime=2026-03-05T20:00:00 \
    AccrueTime=2026-03-05T20:00:00 Partition=cpu NumNodes=1 NumCPUs=4 ReqTRES=cpu=4,mem=1G,node=1\n\
    JobId=22 JobName=b UserId=cid(9) GroupId=g(1) Priority=1 Nice=0 Account=inst QOS=normal JobState=PENDING \
    Reason=Resources TimeLimit=01:00:00 SubmitTime=2026-03-05T20:00:00 EligibleTime=2026-03-05T20:00:00 \
    AccrueTime=2026-03-05T20:00:00 Partition=cpu NumNodes=1 NumCPUs=4 ReqTRES=cpu=4,mem=1G,node=1\n\
    JobId=23 JobName=c UserId=cid(9) GroupId=g(1) Priority=0 Nice=0 Account=inst QOS=normal JobState=PENDING \
    Reason=JobHeldUser TimeLimit=01:00:00 SubmitTime=2026-03-05T20:00:00 EligibleTime=Unknown AccrueTime=Unknown \
    Partition=cpu NumNodes=1 NumCPUs=4 ReqTRES=cpu=4,mem=1G,node=1\n";
const CONF: &str = "ClusterName=oak\nPriorityType=priority/multifactor\nPriorityWeightAge=1000\nPriorityWeightFairshare=10000\n\
    PriorityMaxAge=1-00:00:00\nNodeName=n[1-4] CPUs=8 RealMemory=64000\nPartitionName=cpu Nodes=n[1-4]\n";

fn scene() -> Scene {
    let scene = Scene::of_jobs(&jobs());
    scene.write("queue.txt", QUEUE);
    scene.write("slurm.conf", CONF);
    let listings = [
        ("queue", "queue.txt", "\"2026-03-05T21:00:00Z\""),
        ("machine", "slurm.conf", "\"2026-03-05\""),
    ];
    let inventory = |(name, file, as_of): &(&str, &str, &str)| {
        format!(
            "[[inventory]]\nname = \"{name}\"\npaths = [\"{file}\"]\nsite = \"A\"\ncluster = \"oak\"\n\
             timezone = \"UTC\"\nas_of = {as_of}\n"
        )
    };
    let inventories = listings.iter().map(inventory).collect::<Vec<_>>().concat();
    scene.run(&pipeline(RULE).replace("[[fairshare]]", &format!("{inventories}[[fairshare]]")));
    scene
}

fn job<'a>(rows: &'a [BTreeMap<String, Value>], id: &str) -> &'a BTreeMap<String, Value> {
    rows.iter()
        .find(|row| row["job"] == id)
        .unwrap_or_else(|| panic!("{id} is not in {rows:#?}"))
}

#[test]
fn more_shares_bring_a_waiting_job_before_another() {
    let scene = scene();
    let (listed, notes) = scene.done(&["report", "sprio", "lake", "--format", "json"]);
    let sprio: Vec<BTreeMap<String, Value>> = serde_json::from_str(&listed).unwrap();
    assert!(notes.contains("1 waiting jobs have no priority"), "{notes}");
    let rows = table(&scene, "queue", &["--shares", "lab=1000"]);
    assert_eq!((rows.len(), sprio.len()), (2, 2), "{rows:#?}");
    for of in &sprio {
        let id = of["JOBID"].as_str().unwrap();
        assert_eq!(of["PRIORITY"], job(&rows, id)["priority_before"], "{id}");
    }
    for (id, places, order) in [("21", [2, 1], "earlier"), ("22", [1, 2], "later")] {
        let row = job(&rows, id);
        assert_eq!(
            [&row["place_before"], &row["place_after"]].map(|place| place.as_i64().unwrap()),
            places,
            "{id}"
        );
        assert_eq!(row["order"], order);
        let [before, after, difference] =
            ["before", "after", "difference"].map(|side| row[&format!("priority_{side}")].as_i64().unwrap());
        assert_eq!(after - before, difference);
    }
    for row in table(&scene, "queue", &["--shares", "inst=10"]) {
        assert_eq!(row["order"], "same");
        assert_eq!(row["priority_difference"], 0);
    }
}

#[test]
fn other_weights_of_priorities_are_stated_and_counted() {
    let scene = scene();
    scene.write("w.toml", "priority_weight = 0\n[priority_weights]\nage = 24000\n");
    let stated = table(&scene, "assumptions", &["--what-if", "w.toml"]);
    let what: Vec<&str> = stated.iter().map(|row| row["what"].as_str().unwrap()).collect();
    assert_eq!(what, ["priority_weight", "priority_weights.age"]);
    for row in table(&scene, "queue", &["--what-if", "w.toml"]) {
        // One of 24 hours, as of the last calculation up to the listing.
        assert_eq!(row["priority_after"], 1000, "{row:?}");
        assert_eq!(row["place_after"], 1);
    }
    let (text, notes) = scene.done(&["report", "fairshare", "lake", "--what-if", "w.toml"]);
    assert!(text.contains("Waiting jobs of oak at 2026-03-05T21:00:00Z"), "{text}");
    assert!(notes.contains("1 waiting jobs have no priority"), "{notes}");
}
