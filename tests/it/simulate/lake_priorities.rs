//! The order of priorities over jobs of a lake: weights, partitions and QOS of its listings, usage of its fairshare.

use super::lake::{Scene, rows, stderr, stdout};

const HEADER: &str =
    "JobIDRaw|Cluster|User|Account|Partition|QOS|State|Submit|Start|End|ElapsedRaw|Timelimit|NCPUS|NNodes|AllocTRES\n";

/// A job of one core that was submitted at midnight, or ran the day before; it is billed as stated.
fn line(id: u32, owner: &str, submit: &str, start: &str, end: &str, billing: u32) -> String {
    format!(
        "{id}|oak|{owner}|COMPLETED|{submit}|{start}|{end}|3600|01:00:00|1|1|billing={billing},cpu=1,mem=1G,node=1\n"
    )
}

/// Two jobs of each lab at midnight; 9 is of the day before.
fn jobs() -> String {
    let midnight = "2026-03-02T00:00:00";
    let of = |id, owner, start: &str, end: &str| line(id, owner, midnight, start, end, 1);
    [
        HEADER.to_owned(),
        of(1, "ann|lab|cpu|normal", midnight, "2026-03-02T01:00:00"),
        of(2, "ann|lab|cpu|normal", "2026-03-02T01:00:00", "2026-03-02T02:00:00"),
        of(3, "cid|inst|cpu|normal", "2026-03-02T02:00:00", "2026-03-02T03:00:00"),
        of(4, "cid|inst|cpu|high", "2026-03-02T03:00:00", "2026-03-02T04:00:00"),
        line(
            9,
            "cid|inst|cpu|normal",
            "2026-03-01T00:00:00",
            "2026-03-01T00:00:00",
            "2026-03-01T01:00:00",
            9,
        ),
    ]
    .concat()
}

const SHARES: &str = "Cluster|Account|ParentName|User|Partition|Share\noak|root||||1\noak|lab|root|||1\noak|inst|root|||1\n\
    oak|lab||ann||1\noak|inst||cid||1\n";
const CONF: &str = "ClusterName=oak\nPriorityType=priority/multifactor\nPriorityWeightFairShare=1000\n\
    NodeName=n1 CPUs=1 RealMemory=4096\nPartitionName=cpu Nodes=n1 Default=YES MaxTime=1-00:00:00\n";
const QOS: &str = "Name|Priority|UsageFactor\nnormal|0|1.000000\nhigh|10|1.000000\n";

fn scene(conf: &str, fairshare: &str) -> Scene {
    let pipeline = format!(
        "[pipeline]\nname = \"oak\"\noutput = \"lake\"\n[[source]]\nname = \"jobs\"\nformat = \"sacct\"\npaths = [\"jobs.txt\"]\n\
         site = \"A\"\ntimezone = \"UTC\"\nvo = {{ value = \"v\" }}\n\
         [[inventory]]\nname = \"shares\"\npaths = [\"shares.txt\"]\nsite = \"A\"\nas_of = \"2026-01-01\"\n\
         [[inventory]]\nname = \"conf\"\npaths = [\"slurm.conf\"]\nsite = \"A\"\nas_of = \"2026-01-01\"\n\
         [[inventory]]\nname = \"qos\"\npaths = [\"qos.txt\"]\nsite = \"A\"\nas_of = \"2026-01-01\"\n{fairshare}"
    );
    Scene::new(
        &[
            ("jobs.txt", &jobs()),
            ("shares.txt", SHARES),
            ("slurm.conf", conf),
            ("qos.txt", QOS),
        ],
        &pipeline,
    )
}

const FAIRSHARE: &str = "[[fairshare]]\nsite = \"A\"\ncluster = \"oak\"\nlisting = \"shares\"\nusage = \"recorded-billing\"\n\
    half_life = \"none\"\n";

/// Jobs in the order of their simulated starts, and what was noted.
fn order(scene: &Scene, args: &[&str]) -> (Vec<String>, String) {
    let common = [
        "lake",
        "--machine",
        "cores=1",
        "--order",
        "multifactor",
        "--table",
        "schedule",
        "--format",
        "csv",
    ];
    let output = scene.simulate(&[&common, args].concat());
    let text = stdout(&output);
    let mut starts: Vec<(i64, String)> = rows(&text)
        .into_iter()
        .filter(|row| row[0] == "baseline")
        .map(|row| (row[3].parse().unwrap(), row[1].clone()))
        .collect();
    starts.sort();
    (starts.into_iter().map(|(_, job)| job).collect(), stderr(&output))
}

#[test]
fn fairshare_of_the_lake_decides_and_usage_follows_the_simulated_schedule() {
    let scene = scene(CONF, FAIRSHARE);
    // All of 2 March: cid used nine hours the day before, so that ann has both of her jobs first.
    let (all, notes) = order(&scene, &[]);
    assert_eq!(all, ["9", "1", "2", "3", "4"]);
    assert!(!notes.contains("not simulated count"), "{notes}");
    // Without that day it counts all the same, as it ran.
    let (day, notes) = order(&scene, &["--from", "2026-03-02"]);
    assert_eq!(day, ["1", "2", "3", "4"]);
    assert!(
        notes.contains("fairshare: 1 jobs that are not simulated count for usage as they ran"),
        "{notes}"
    );
    // With a half-life of an hour the nine hours of the day before are less than a second of them at midnight, and what was
    // used last decides: in turns.
    let (short, _) = order(
        &scene,
        &[
            "--from",
            "2026-03-02",
            "--half-life",
            "01:00:00",
            "--decay",
            "continuous",
        ],
    );
    assert_eq!(short, ["1", "3", "2", "4"]);
}

#[test]
fn a_file_of_what_is_assumed_and_weights_change_the_order() {
    let scene = scene(CONF, FAIRSHARE);
    std::fs::write(scene.folder.path().join("more.toml"), "[shares]\ninst = 100\n").unwrap();
    // With a hundred shares the nine hours are little: inst is at 9 / 100 after lab's first hour, and lab at 1.
    let (order_of_file, _) = order(&scene, &["--what-if", "more.toml"]);
    assert_eq!(order_of_file, ["9", "1", "3", "4", "2"]);
    // With QOS alone the one job of QOS high is first at midnight.
    let (qos, _) = order(&scene, &["--weight", "fairshare=0", "--weight", "qos=1000"]);
    assert_eq!(qos, ["9", "4", "1", "2", "3"]);
    // Age alone is first come, first served.
    let (age, _) = order(&scene, &["--weight", "fairshare=0", "--weight", "age=1000"]);
    assert_eq!(age, ["9", "1", "2", "3", "4"]);
}

#[test]
fn what_priorities_lack_is_reported() {
    let without = scene(CONF, "");
    let refused = |scene: &Scene, args: &[&str]| {
        let output = scene.simulate(&[&["lake", "--machine", "cores=1", "--order", "multifactor"], args].concat());
        assert!(!output.status.success());
        stderr(&output)
    };
    assert!(refused(&without, &[]).contains("--weight age=1000"));
    assert!(refused(&without, &["--weight", "fairshare=1"]).contains("[[fairshare]]"));
    let (age, _) = order(&without, &["--weight", "age=1000"]);
    assert_eq!(age, ["9", "1", "2", "3", "4"]);
    let named = scene(&CONF.replace("PartitionName=cpu", "PartitionName=gpu"), FAIRSHARE);
    let (_, notes) = order(&named, &["--weight", "partition=10"]);
    assert!(
        notes.contains("priorities: 5 jobs of the partition cpu, which no listing has"),
        "{notes}"
    );
    // All jobs are of one day: in steps of a week all usage counts in full, as without decay.
    let halving = ["--decay", "halving-steps", "--half-life", "7-00:00:00"];
    assert_eq!(order(&named, &halving).0, order(&named, &[]).0);
    let unordered = named.simulate(&["lake", "--machine", "cores=1", "--weight", "age=1"]);
    assert!(stderr(&unordered).contains("--order multifactor"));
}

#[test]
fn groups_of_a_log_are_accounts() {
    let scene = scene(CONF, FAIRSHARE);
    let job =
        |id: u32, user: u32, group: u32| format!("{id} 0 0 3600 1 -1 -1 1 3600 -1 1 {user} {group} -1 1 -1 -1 -1\n");
    let log = [job(1, 1, 1), job(2, 1, 1), job(3, 2, 2), job(4, 2, 2)].concat();
    std::fs::write(scene.folder.path().join("log.swf"), log).unwrap();
    let run = |args: &[&str]| {
        let common = [
            "log.swf",
            "--machine",
            "processors=1",
            "--order",
            "multifactor",
            "--format",
            "csv",
            "--table",
            "schedule",
        ];
        scene.simulate(&[&common, args].concat())
    };
    let output = run(&["--weight", "fairshare=100"]);
    let text = stdout(&output);
    let mut starts: Vec<(i64, String)> = (rows(&text).into_iter())
        .filter(|row| row[0] == "baseline")
        .map(|row| (row[3].parse().unwrap(), row[1].clone()))
        .collect();
    starts.sort();
    let order: Vec<&str> = starts.iter().map(|(_, job)| job.as_str()).collect();
    assert_eq!(order, ["1", "3", "2", "4"]);
    assert!(
        stderr(&output).contains("2 groups of the log are accounts"),
        "{}",
        stderr(&output)
    );
    assert!(stderr(&run(&[])).contains("--weight age=1000"));
    assert!(stderr(&run(&["--weight", "qos=1"])).contains("--weight qos=N"));
    assert!(stderr(&run(&["--weight", "luck=1"])).contains("the terms are age"));
    assert!(stderr(&run(&["--weight", "age=1", "--what-if", "p.toml"])).contains("--half-life"));
}
