//! `report sprio`: the priorities of waiting jobs of a real cluster, and the term of associations.

use std::collections::BTreeMap;

use super::real_drift::variant;
use super::{DumpJob, HEAD, NO_DECAY, Scene, dump, fairshare};
use crate::support::collect::shared;

/// A line of `sprio -l`, by the names of its header.
type Line = BTreeMap<String, String>;

/// What a cluster printed. `PARTITION` is twice in its header.
fn printed(text: &str) -> Vec<Line> {
    const NAMES: [&str; 15] = [
        "JOBID",
        "PARTITION",
        "USER",
        "ACCOUNT",
        "PRIORITY",
        "SITE",
        "AGE",
        "ASSOC",
        "FAIRSHARE",
        "JOBSIZE",
        "PARTITION_TERM",
        "QOSNAME",
        "QOS",
        "NICE",
        "TRES",
    ];
    let lines = text.lines().skip(1).map(|line| {
        let cells = NAMES.iter().zip(line.split_whitespace());
        cells
            .map(|(name, cell)| ((*name).to_owned(), cell.to_owned()))
            .collect()
    });
    lines.collect()
}

/// What is computed.
fn computed(scene: &Scene) -> Vec<Line> {
    let (json, _) = scene.done(&["report", "sprio", "lake", "--users", "--format", "json"]);
    let rows: Vec<serde_json::Map<String, serde_json::Value>> = serde_json::from_str(&json).unwrap();
    let text = |value: serde_json::Value| match value {
        serde_json::Value::String(text) => text,
        serde_json::Value::Null => String::new(),
        other => other.to_string(),
    };
    let lines = rows
        .into_iter()
        .map(|row| row.into_iter().map(|(name, value)| (name, text(value))).collect());
    lines.collect()
}

fn sorted(mut lines: Vec<Line>) -> Vec<Line> {
    lines.sort_by_key(|line| (line["JOBID"].clone(), line["PARTITION"].clone()));
    lines
}

/// Terms without some of them.
fn without(lines: &[Line], terms: &[&str]) -> Vec<Line> {
    let mut lines = lines.to_vec();
    for line in &mut lines {
        line.retain(|name, _| !terms.contains(&name.as_str()));
    }
    lines
}

/// Points of fairshare of every line.
fn fairshare_points(lines: &[Line]) -> Vec<i64> {
    lines.iter().map(|line| line["FAIRSHARE"].parse().unwrap()).collect()
}

/// The fairshare is that of the jobs of the cluster up to the listing, not that of its own counters. Of 10 000 points those of
/// the variants in which the daemon had lost usage of two jobs differ ([`super::real_variants`]); every other term is equal.
#[test]
fn every_term_of_every_line_that_sprio_printed() {
    let Some(root) = shared("every_term_of_every_line_that_sprio_printed", "data/slurm") else {
        return;
    };
    let names = [
        "1-fairtree",
        "2-fairtree-tied-accounts-share0",
        "3-classic",
        "4-depth-oblivious",
    ];
    let settings = [
        ("", "2026-11-21T02:13:45Z", 0),
        ("", "2026-11-21T02:13:45Z", 0),
        ("algorithm = \"classic\"", "2026-11-21T02:21:18Z", 200),
        ("algorithm = \"depth-oblivious\"", "2026-11-21T02:21:26Z", 400),
    ];
    for (nth, (name, (keys, anchor, points))) in names.iter().zip(settings).enumerate() {
        let (scene, _) = variant(&root, name, &names[..nth], keys, anchor);
        let folder = root.join("24.11-fairshare-variants").join(name);
        let text = std::fs::read_to_string(folder.join("sprio_l.txt")).unwrap();
        let expected = sorted(printed(&text));
        assert_eq!(expected.len(), 7, "{name}");
        let open: &[&str] = if points == 0 { &[] } else { &["FAIRSHARE", "PRIORITY"] };
        let lines = sorted(computed(&scene));
        assert_eq!(without(&lines, open), without(&expected, open), "{name}");
        for (is, expected) in fairshare_points(&lines).into_iter().zip(fairshare_points(&expected)) {
            assert!((is - expected).abs() <= points, "{name}: {is} is not {expected}");
        }
    }
}

const HEADER: &str = "Cluster|Account|ParentName|User|Partition|Share|Priority\n";

/// A cluster with two waiting jobs, and the associations of a listing.
fn waiting(listing: &str, conf: &str) -> Scene {
    let job = |id: u32, account: &str, user: &str| {
        format!(
            "JobId={id} JobName=x UserId={user}(1) GroupId=g(1) Priority=1 Nice=0 Account={account} QOS=normal \
             JobState=PENDING Reason=Priority TimeLimit=01:00:00 SubmitTime=2026-03-02T00:00:00 \
             EligibleTime=2026-03-02T00:00:00 AccrueTime=2026-03-02T00:00:00 StartTime=Unknown EndTime=Unknown \
             Partition=cpu NumNodes=1-1 NumCPUs=1 NumTasks=1 ReqTRES=cpu=1,mem=1G,node=1,billing=1\n"
        )
    };
    let queue = job(7, "lab", "ann") + &job(8, "inst", "cid");
    let done = DumpJob::new(1, "lab", "ann", "2026-03-01T00:00:00", 3600, 1);
    let scene = Scene::new(&[
        ("shares.txt", &format!("{HEADER}{listing}")),
        ("jobs-1.txt", &dump(&[done])),
        ("queue.txt", &queue),
        ("slurm.conf", &format!("{CONF}{conf}")),
    ]);
    scene.run(&format!(
        "{HEAD}[[inventory]]\nname = \"queue\"\npaths = [\"queue.txt\"]\nsite = \"A\"\nas_of = \"2026-03-02T01:00:00Z\"\n\
         timezone = \"UTC\"\n[[inventory]]\nname = \"conf\"\npaths = [\"slurm.conf\"]\nsite = \"A\"\n{}",
        fairshare("oak", NO_DECAY)
    ));
    scene
}

const CONF: &str = "ClusterName=oak\nPriorityType=priority/multifactor\nPriorityWeightAssoc=1000\n\
    NodeName=n[1-4] CPUs=4 RealMemory=4096\nPartitionName=cpu Nodes=n[1-4] Default=YES MaxTime=1-00:00:00\n";

fn terms(scene: &Scene) -> Vec<(String, String)> {
    let lines = computed(scene).into_iter();
    lines
        .map(|line| (line["JOBID"].clone(), line["ASSOC"].clone()))
        .collect()
}

fn expected(lab: &str, inst: &str) -> Vec<(String, String)> {
    vec![("7".to_owned(), lab.to_owned()), ("8".to_owned(), inst.to_owned())]
}

#[test]
fn the_priority_of_an_association_is_a_part_of_the_highest_one() {
    let listing = "oak|root||||1|\noak|lab|root|||1|20\noak|inst|root|||1|40\noak|lab||ann||1|10\noak|inst||cid||1|\n";
    // The user cid has the priority of the account.
    let scene = waiting(listing, "");
    assert_eq!(terms(&scene), expected("250", "1000"));
    let plain = waiting(listing, "PriorityFlags=NO_NORMAL_ASSOC\n");
    assert_eq!(terms(&plain), expected("10000", "40000"));
}

#[test]
fn a_listing_without_priorities_is_named_where_they_have_a_weight() {
    let listing = "oak|root||||1|\noak|lab|root|||1|\noak|inst|root|||1|\noak|lab||ann||1|\noak|inst||cid||1|\n";
    let scene = waiting(listing, "");
    assert_eq!(terms(&scene), expected("0", "0"));
    let (_, people) = scene.done(&["report", "sprio", "lake"]);
    assert!(
        people.contains("no listing of associations states priorities"),
        "{people}"
    );
}

/// Slurm counts the nodes it planned for a job that takes whole nodes, which the lake does not have.
#[test]
fn the_size_of_jobs_that_take_whole_nodes_is_named_where_it_has_a_weight() {
    let listing = "oak|root||||1|\noak|lab|root|||1|20\noak|inst|root|||1|40\noak|lab||ann||1|10\noak|inst||cid||1|\n";
    let named = |conf: &str, options: &[&str]| {
        let scene = waiting(listing, conf);
        let (_, people) = scene.done(&[&["report", "sprio", "lake"], options].concat());
        people.contains("JOBSIZE is of requested CPUs: that of a job that takes whole nodes")
    };
    assert!(named("PriorityWeightJobSize=1000\n", &[]));
    assert!(!named("PriorityWeightJobSize=1000\n", &["--two-term"]));
    assert!(!named("", &[]));
}
