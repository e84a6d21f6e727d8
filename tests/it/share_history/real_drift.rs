//! `report sshare --drift` on real clusters: Slurm's counters are what the dumps come to.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use gridtally::time::instant::instant_text_s;

use super::real::{RealCluster, lake, with_decay, without_decay};
use super::{HEADER, Scene, listing};
use crate::support::collect::shared;

/// The rows of the report: counter and cause of each, and what is in doubt.
fn causes(scene: &Scene, options: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let command = [
        &["report", "sshare", "lake", "--drift", "--users", "--format", "csv"],
        options,
    ]
    .concat();
    let (csv, _) = scene.done(&command);
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let lines: Vec<&str> = csv.lines().skip(1).collect();
    assert!(lines.len() >= 17, "{csv}");
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        found
            .entry(cells[3].to_owned())
            .or_default()
            .insert(cells[8].to_owned());
    }
    found
}

fn agrees() -> BTreeSet<String> {
    BTreeSet::from(["agrees".to_owned()])
}

#[test]
fn all_counters_of_two_releases_agree() {
    for of in [without_decay(), with_decay()] {
        let Some(folder) = shared(
            "all_counters_of_two_releases_agree",
            &format!("data/slurm/{}", of.release),
        ) else {
            return;
        };
        let scene = lake(&folder, &of);
        let found = causes(&scene, &["--long"]);
        for counter in ["RawUsage", "NormShares", "EffectvUsage", "FairShare", "LevelFS"] {
            assert_eq!(found.get(counter), Some(&agrees()), "{} {found:#?}", of.release);
        }
        scene.done(&["report", "sshare", "lake", "--drift", "--long", "--strict"]);
    }
}

/// The listing of a real cluster with one counter changed: exactly that association, and those it is in, are reported.
#[test]
fn a_changed_counter_of_a_real_cluster_is_reported() {
    let of = without_decay();
    let Some(folder) = shared(
        "a_changed_counter_of_a_real_cluster",
        &format!("data/slurm/{}", of.release),
    ) else {
        return;
    };
    let printed = std::fs::read_to_string(folder.join("sshare_l_P.txt")).unwrap();
    let changed = printed.replace("chem|frank|1|1.000000|1306|", "chem|frank|1|1.000000|0|");
    assert_ne!(changed, printed);
    let scene = lake(&folder, &of);
    scene.write("changed.txt", &changed);
    let head = std::fs::read_to_string(scene.path("p.toml")).unwrap();
    let of_counters = folder.join("sshare_l_P.txt").to_str().unwrap().to_owned();
    scene.run(&head.replace(&of_counters, "changed.txt"));
    let (csv, _) = scene.done(&["report", "sshare", "lake", "--drift", "--users", "--format", "csv"]);
    let drifting: Vec<&str> = csv.lines().filter(|line| line.contains(",reset,")).collect();
    assert!(drifting.len() == 1 && drifting[0].contains("frank"), "{csv}");
}

/// Jobs that `scontrol show job` lists and the dump does not have, or had while they ran.
fn later_jobs(folders: &[&Path]) -> String {
    let mut rows: BTreeMap<String, String> = BTreeMap::new();
    for folder in folders {
        let text = std::fs::read_to_string(folder.join("jobs.txt")).unwrap();
        for line in text.lines() {
            let words = line.split_whitespace().filter_map(|word| word.split_once('='));
            let of: BTreeMap<&str, &str> = words.collect();
            let id: u32 = of["JobId"].parse().unwrap();
            let is_later = id >= 331 || id == 321 || id == 324;
            if !is_later || of["JobState"] == "PENDING" || of["StartTime"] == "Unknown" {
                continue;
            }
            let run: Vec<u32> = of["RunTime"].split(':').map(|part| part.parse().unwrap()).collect();
            let is_running = of["JobState"] == "RUNNING";
            let user = of["UserId"].split('(').next().unwrap();
            let mut row = String::new();
            let _ = writeln!(
                row,
                "{id}|zoo24|{user}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|00:00:01",
                of["Account"],
                of["Partition"],
                of["QOS"],
                of["JobState"],
                of["SubmitTime"],
                of["StartTime"],
                if is_running { "Unknown" } else { of["EndTime"] },
                run[0] * 3600 + run[1] * 60 + run[2],
                of["NumCPUs"],
                of["NumNodes"],
                of["AllocTRES"],
            );
            // The state in the last listing holds.
            rows.insert(of["JobId"].to_owned(), row);
        }
    }
    rows.values().fold(HEADER.to_owned(), |text, row| text + row)
}

/// The shares of a variant, which no listing of associations has: those that sshare printed.
pub(super) fn tree_of(printed: &str) -> String {
    let (mut rows, mut above) = (String::new(), Vec::<&str>::new());
    for line in printed.lines().skip(1) {
        let cells: Vec<&str> = line.split('|').collect();
        let (account, user, share) = (cells[0].trim(), cells[1], cells[2]);
        let depth = cells[0].len() - account.len();
        let parent = above.get(depth.wrapping_sub(1)).copied().filter(|_| user.is_empty());
        let share = if share.is_empty() { "1" } else { share };
        let _ = writeln!(rows, "{account}|{}|{user}||{share}", parent.unwrap_or_default());
        if user.is_empty() {
            above.truncate(depth);
            above.push(account);
        }
    }
    listing("zoo24", &rows)
}

/// The lake of a variant of fair share: the dump of the cluster, and what ran after it.
pub(super) fn variant(root: &Path, name: &str, before: &[&str], keys: &'static str, anchor: &str) -> (Scene, String) {
    let folder = root.join("24.11-fairshare-variants").join(name);
    let epoch: i64 = std::fs::read_to_string(folder.join("EPOCH"))
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    let at = instant_text_s(epoch).unwrap();
    let mut folders: Vec<_> = before
        .iter()
        .map(|name| root.join("24.11-fairshare-variants").join(name))
        .collect();
    folders.push(folder.clone());
    let folders: Vec<&Path> = folders.iter().map(std::path::PathBuf::as_path).collect();
    let tree = tree_of(&std::fs::read_to_string(folder.join("sshare_l_P.txt")).unwrap());
    let scene = Scene::new(&[("later.txt", &later_jobs(&folders)), ("tree.txt", &tree)]);
    let of = RealCluster { keys, ..with_decay() };
    let of_cluster = root.join("24.11");
    let file = |folder: &Path, name: &str| folder.join(name).to_str().unwrap().to_owned();
    let keys = format!(
        "half_life = \"00:30:00\"\ncalc_period = \"00:01:00\"\ncalc_anchor = \"{anchor}\"\n{}",
        of.keys
    );
    let head = super::real::head(
        &[file(&of_cluster, "sacct_all_D_P.txt.xz"), "later.txt".to_owned()],
        of.timezone,
        "tree.txt",
        &file(&folder, "slurm.conf"),
        &file(&folder, "sshare_l_P.txt"),
        &at,
    );
    let section = |name: &str, path: &str| {
        format!(
            "[[inventory]]\nname = \"{name}\"\npaths = [{path:?}]\nsite = \"ZOO\"\nas_of = \"{at}\"\ntimezone = \
             \"Europe/Zurich\"\n"
        )
    };
    let more = [
        section("queue", &file(&folder, "jobs.txt")),
        section("qos", &file(&of_cluster, "sacctmgr_qos_P.txt")),
        section("partitions", &file(&of_cluster, "scontrol_part.txt")),
        section("nodes", &file(&of_cluster, "scontrol_node.txt")),
    ];
    super::real::run(&scene, &head, of.cluster, &format!("{keys}\n{}", more.concat()));
    (scene, at)
}

const CLASSIC: &str = "algorithm = \"classic\"";
const OBLIVIOUS: &str = "algorithm = \"depth-oblivious\"";

/// While the daemon was started again between them, the decay of one calculation is within the tolerance.
#[test]
fn usage_of_variants_agrees_but_for_what_runs() {
    let Some(root) = shared("usage_of_variants_agrees_but_for_what_runs", "data/slurm") else {
        return;
    };
    let names = [
        "1-fairtree",
        "2-fairtree-tied-accounts-share0",
        "3-classic",
        "4-depth-oblivious",
    ];
    let keys = ["", "", CLASSIC, OBLIVIOUS];
    for (nth, (name, keys)) in names.iter().zip(keys).enumerate() {
        let (scene, _) = variant(&root, name, &names[..nth], keys, "2026-11-21T02:13:45Z");
        let found = causes(&scene, &[]);
        let allowed = BTreeSet::from(["agrees".to_owned(), "running".to_owned()]);
        assert!(found["RawUsage"].is_subset(&allowed), "{name} {found:#?}");
        let (csv, _) = scene.done(&["report", "sshare", "lake", "--drift", "--users", "--format", "csv"]);
        let running: Vec<&str> = csv.lines().filter(|line| line.contains(",running,")).collect();
        // The job of frank, in the account chem.
        assert!(
            running
                .iter()
                .all(|line| line.contains("chem") || line.contains("root,")),
            "{name} {running:#?}"
        );
    }
}
