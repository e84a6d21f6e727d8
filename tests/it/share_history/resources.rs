//! The columns of resource minutes, and jobs without a recorded billing.

use super::real::{lake, with_decay, without_decay};
use super::{DumpJob, HEAD, NO_DECAY, Scene, fairshare, pipeline};
use crate::support::collect::shared;

/// Columns of a dump with time limits.
const HEADER: &str = "JobIDRaw|Cluster|User|Account|Partition|QOS|State|Submit|Start|End|ElapsedRaw|NCPUS|NNodes|AllocTRES|TotalCPU|TimelimitRaw\n";

/// The cells of the row of an association, by column.
fn cell(printed: &str, account: &str, user: &str, column: &str) -> String {
    let mut lines = printed.lines().map(|line| line.split('|').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let place = header.iter().position(|name| *name == column);
    let place = place.unwrap_or_else(|| panic!("{column} is not in {header:?}"));
    let row = lines.find(|cells| cells[0].trim() == account && cells[1] == user);
    row.unwrap_or_else(|| panic!("{account}/{user} is not in {printed}"))[place].to_owned()
}

/// A job that ended, one that runs and one without a limit.
fn scene() -> Scene {
    let rows = "\
        1|oak|ann|lab|cpu|normal|COMPLETED|2026-03-01T00:00:00|2026-03-01T00:00:00|2026-03-01T01:00:00|3600|2|1|billing=2,cpu=2,gres/gpu:a100=1,gres/gpu=1,mem=3G,node=1|00:00:01|120\n\
        2|oak|ann|lab|cpu|normal|RUNNING|2026-03-01T02:00:00|2026-03-01T02:00:00|Unknown|1800|4|2|billing=4,cpu=4,mem=2G,node=2|00:00:01|60\n\
        3|oak|bob|lab|cpu|normal|RUNNING|2026-03-01T02:00:00|2026-03-01T02:00:00|Unknown|1800|1|1|billing=1,cpu=1,mem=1G,node=1|00:00:01|UNLIMITED\n";
    let listing = "Cluster|Account|ParentName|User|Partition|Share|GrpTRESMins\n\
        oak|root||||1|\noak|lab|root|||30|cpu=5000,gres/gpu=100\noak|lab||ann||2|\noak|lab||bob||1|cpu=10\n";
    let conf = "ClusterName=oak\nAccountingStorageTRES=gres/gpu,gres/gpu:a100,license/x\n";
    let scene = Scene::new(&[
        ("shares.txt", listing),
        ("jobs-1.txt", &format!("{HEADER}{rows}")),
        ("slurm.conf", conf),
    ]);
    scene.run(&format!(
        "{HEAD}[[inventory]]\nname = \"conf\"\npaths = [\"slurm.conf\"]\nsite = \"A\"\n{}",
        fairshare("oak", NO_DECAY)
    ));
    scene
}

#[test]
fn limits_and_minutes_of_resources_by_hand() {
    let at = "2026-03-01T02:20:00Z";
    let (printed, people) = scene().done(&[
        "report",
        "sshare",
        "lake",
        "--users",
        "--tres-raw",
        "--parsable",
        "--at",
        at,
    ]);
    let of = |user: &str, column: &str| cell(&printed, "lab", user, column);
    assert_eq!(of("", "GrpTRESMins"), "cpu=5000,gres/gpu=100");
    assert_eq!(
        (of("ann", "GrpTRESMins"), of("bob", "GrpTRESMins")),
        (String::new(), "cpu=10".to_owned())
    );
    // 40 minutes are left of the limit of an hour.
    let running = "cpu=160,mem=81920,energy=0,node=80,billing=160,fs/disk=0,vmem=0,pages=0,gres/gpu=0,gres/gpu:a100=0";
    assert_eq!(of("ann", "TRESRunMins"), running);
    assert_eq!(of("", "TRESRunMins"), running);
    assert_eq!(cell(&printed, "root", "", "TRESRunMins"), running);
    let none = "cpu=0,mem=0,energy=0,node=0,billing=0,fs/disk=0,vmem=0,pages=0,gres/gpu=0,gres/gpu:a100=0";
    assert_eq!(of("bob", "TRESRunMins"), none);
    // Two CPUs for an hour and four for twenty minutes.
    assert_eq!(
        of("ann", "GrpTRESRaw"),
        "cpu=200,mem=225280,energy=0,node=100,billing=200,fs/disk=0,vmem=0,pages=0,gres/gpu=60,gres/gpu:a100=60"
    );
    assert!(people.contains("1 running jobs have no known time limit"), "{people}");
    assert!(people.contains("the records do not hold license/x of jobs"), "{people}");
    // Columns of sshare -l do not have what was used.
    let (long, _) = scene().done(&["report", "sshare", "lake", "--long", "--parsable", "--at", at]);
    assert!(long.starts_with("Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS|GrpTRESMins|TRESRunMins\n"), "{long}");
}

#[test]
fn a_job_over_its_limit_and_one_that_ended_have_nothing_left() {
    let at = "2026-03-01T03:30:00Z";
    let (printed, _) = scene().done(&[
        "report",
        "sshare",
        "lake",
        "--users",
        "--long",
        "--parsable",
        "--at",
        at,
    ]);
    assert!(
        cell(&printed, "lab", "ann", "TRESRunMins").starts_with("cpu=0,mem=0,"),
        "{printed}"
    );
    // Before the first one ended it had an hour and a half of its two left.
    let at = "2026-03-01T00:30:00Z";
    let (printed, _) = scene().done(&[
        "report",
        "sshare",
        "lake",
        "--users",
        "--long",
        "--parsable",
        "--at",
        at,
    ]);
    assert!(
        cell(&printed, "lab", "ann", "TRESRunMins").starts_with("cpu=180,mem=276480,"),
        "{printed}"
    );
}

/// `GrpTRESMins` of `scontrol show assoc_mgr` has what was used in brackets.
fn stated_minutes(line: &str) -> Vec<(String, i64)> {
    let text = line.split(" GrpTRESMins=").nth(1).unwrap().split(' ').next().unwrap();
    let amounts = text.split(',').map(|amount| {
        let (name, amount) = amount.split_once('=').unwrap();
        let used = amount.split('(').nth(1).unwrap().trim_end_matches(')');
        (name.to_owned(), used.parse().unwrap())
    });
    amounts.collect()
}

/// Jobs run from the one listing to the other, and dumps print memory with two digits behind the point.
#[test]
fn used_minutes_of_real_clusters() {
    for of in [without_decay(), with_decay()] {
        let Some(folder) = shared("used_minutes_of_real_clusters", &format!("data/slurm/{}", of.release)) else {
            return;
        };
        let scene = lake(&folder, &of);
        let command = [
            "report",
            "sshare",
            "lake",
            "--users",
            "--tres-raw",
            "--parsable",
            "--at",
            of.at,
        ];
        let (printed, _) = scene.done(&command);
        let text = std::fs::read_to_string(folder.join("scontrol_assoc_mgr.txt")).unwrap();
        let mut compared = 0;
        for line in text.lines().filter(|line| line.starts_with("ClusterName=")) {
            let word = |name: &str| {
                line.split(name)
                    .nth(1)
                    .unwrap()
                    .split([' ', '('])
                    .next()
                    .unwrap()
                    .to_owned()
            };
            let (account, user) = (word(" Account="), word(" UserName="));
            let made = cell(&printed, &account, &user, "GrpTRESRaw");
            for (amount, (name, stated)) in made.split(',').zip(stated_minutes(line)) {
                let (made_name, made) = amount.split_once('=').unwrap();
                assert_eq!(made_name, name);
                let made: i64 = made.parse().unwrap();
                let tolerance = 1 + stated / 100;
                assert!(
                    (made - stated).abs() <= tolerance,
                    "{account}/{user} {name}: {made} is not {stated}"
                );
                compared += usize::from(stated > 0);
            }
        }
        assert!(compared > 30, "{compared}");
    }
}

#[test]
fn jobs_without_a_recorded_billing_are_counted_and_named() {
    let free = DumpJob::new(2, "lab", "bob", "2026-03-01T10:00:00", 60, 0);
    let scene = Scene::of_jobs(&[DumpJob::new(1, "lab", "ann", "2026-03-01T10:00:00", 60, 1), free]);
    let messages = scene.run_messages(&pipeline(NO_DECAY));
    let expected = "fairshare of oak: 1 jobs are not counted: no billing is recorded of them (first: job 2)";
    assert!(messages.iter().any(|message| message == expected), "{messages:#?}");
    let (_, people) = scene.done(&["report", "sshare", "lake"]);
    assert!(
        people.contains("1 jobs are not counted: no billing is recorded of them"),
        "{people}"
    );
}
