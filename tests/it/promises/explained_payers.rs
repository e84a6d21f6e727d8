//! What `explain` states of jobs that a correction gave to others, and of rows and jobs that do not count.

use gridtally::audit::explain::explain;

use super::scene::{Pipeline, Scene, Source};
use crate::support::policy::CORES;

const HEADER: &str =
    "JobIDRaw|Cluster|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|NCPUS|NNodes|AllocTRES\n";

/// An hour of two cores; by its number: in a month of summaries, moved, refused, still running.
const JOBS: [&str; 4] = [
    "1|fir|ada|a|batch|COMPLETED|2026-01-05T00:00:00|2026-01-05T00:00:00|2026-01-05T01:00:00|3600|2|1|cpu=2\n",
    "2|fir|ada|b|batch|COMPLETED|2026-02-05T00:00:00|2026-02-05T00:00:00|2026-02-05T01:00:00|3600|2|1|cpu=2\n",
    "3|elm|ada|a|batch|COMPLETED|2026-02-05T00:00:00|2026-02-05T00:00:00|2026-02-05T01:00:00|3600|2|1|cpu=2\n",
    "4|fir|eve|a|batch|RUNNING|2026-02-06T00:00:00|2026-02-06T00:00:00|Unknown|3600|2|1|cpu=2\n",
];

const SUMMARY: &str = "APEL-summary-job-message: v0.2\nSite: ZOO\nMonth: 1\nYear: 2026\nVO: zoo\nSubmitHost: fir\nNodeCount: 1\n\
     Processors: 2\nWallDuration: 3600\nCpuDuration: 1800\nNumberOfJobs: 1\nServiceLevelType: HEPSPEC\nServiceLevel: 10\n\
     EarliestEndTime: 1767571200\nLatestEndTime: 1767574800\n%%\n";

const BENCHMARKS: &str = "site,cluster,benchmark,value_per_core,valid_from,valid_to\nZOO,fir,hs06,10,2020-01-01,\n";

const CORRECTIONS: &str = "id,action,site,account,to_vo,to_account,author,reason,date\n\
     C1,remap,ZOO,b,reef,lab,E. Office,moved,2026-04-02\n";

/// A policy by account, with other keys; what `lab` pays is thrice what `b` pays.
fn by_account(id: &str, keys: &str) -> String {
    format!(
        "id = \"{id}\"\nversion = \"1\"\ntitle = \"By account\"\nsource = \"invented\"\npool = \"{id}\"\nunit = \"core_hour\"\n\
         formula = \"cores * seconds / 3600 * CASE account WHEN 'lab' THEN 3 WHEN 'b' THEN 1 END\"\n{keys}\
         [[example]]\nname = \"one\"\nin = {{ cores = 2, hours = 2, account = \"lab\" }}\nexpect = 12\n"
    )
}

fn scene(attribution: &str) -> Scene {
    let scene = Scene::empty();
    let running = "4|fir|eve|a|batch|RUNNING|2026-02-06T00:00:00|2026-02-06T00:00:00|Unknown|60|2|1|cpu=2\n";
    for (name, text) in [
        ("earlier.txt", &format!("{HEADER}{running}")),
        ("jobs.txt", &format!("{HEADER}{}", JOBS.concat())),
        ("sums", &SUMMARY.to_owned()),
        ("benchmarks.csv", &BENCHMARKS.to_owned()),
        ("corrections.csv", &CORRECTIONS.to_owned()),
        ("cores.toml", &CORES.to_owned()),
        ("rates.toml", &by_account("rates", "")),
        ("lab.toml", &by_account("lab", "[scope]\naccount = [\"lab\"]\n")),
    ] {
        scene.write(name, text.as_bytes());
    }
    let source = |name, paths: &[&str], keys: &str| Source {
        name,
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        keys: keys.to_owned(),
    };
    let mut pipeline = Pipeline::sample()
        .with("attribution", &format!("\"{attribution}\""))
        .with("overlap", "\"summaries\"")
        .with("corrections", "\"corrections.csv\"");
    pipeline.sources = vec![
        source(
            "jobs",
            &["earlier.txt", "jobs.txt"],
            "format = \"sacct\"\nsite = \"ZOO\"\ntimezone = \"UTC\"\nvo = { value = \"zoo\" }\n",
        ),
        source("sums", &["sums"], "format = \"apel\"\n"),
    ];
    pipeline.normalise = Some(
        "benchmarks = \"benchmarks.csv\"\nmissing = \"reject\"\n\
         [[charge]]\npolicies = [\"cores.toml\", \"rates.toml\", \"lab.toml\"]\n"
            .to_owned(),
    );
    scene.run(&pipeline, "lake");
    scene
}

fn page(scene: &Scene, job: &str) -> String {
    let lake = scene.path("lake");
    let pages = explain(lake.to_str().unwrap(), job, &scene.path("")).unwrap();
    let [page] = pages.as_slice() else {
        panic!("{} pages of {job}", pages.len())
    };
    page.text()
}

#[test]
fn a_job_that_was_given_to_another_account_is_priced_as_its_own() {
    let page = page(&scene("prorated"), "2");
    let charges = page.split_once("\nCharges\n").unwrap().1;
    assert!(!charges.contains("unknown"), "{page}");
    // The lines of a policy are indented below its name.
    let part = |policy: &str| {
        let lines = charges
            .lines()
            .skip_while(|line| !line.starts_with(&format!("  {policy} 1: ")));
        let own = lines.skip(1).take_while(|line| line.starts_with("    "));
        own.collect::<Vec<_>>().join("\n")
    };
    // A price by account: as recorded, and as given.
    let rates = part("rates");
    let recorded = rates
        .find("CASE 'b' WHEN 'lab' THEN 3 WHEN 'b' THEN 1 END = 2")
        .unwrap();
    let given = rates.find("given to reef, lab by correction C1:").unwrap();
    let other = rates
        .find("CASE 'lab' WHEN 'lab' THEN 3 WHEN 'b' THEN 1 END = 6")
        .unwrap();
    assert!(recorded < given && given < other, "{page}");
    // A policy for the other account alone: as given only.
    let lab = part("lab");
    assert!(
        lab.contains("given to reef, lab by correction C1:") && !lab.contains("'b' WHEN"),
        "{page}"
    );
    // A price that no account changes is explained once.
    assert!(!part("cores").contains("given to"), "{page}");
}

#[test]
fn jobs_that_do_not_count_are_not_charged_and_the_page_states_why() {
    for attribution in ["prorated", "by-end"] {
        let scene = scene(attribution);
        let ended = "it has not ended, and the lake counts jobs when they end";
        for (job, why) in [
            ("1", Some("summaries of its site, month and view count in its place")),
            ("2", None),
            ("3", Some("the record is refused (benchmark_missing, see rejects)")),
            ("4", Some(ended).filter(|_| attribution == "by-end")),
        ] {
            let page = page(&scene, job);
            let Some(why) = why else {
                assert!(
                    !page.contains("none: ") && page.contains("charge = "),
                    "{attribution}: {page}"
                );
                continue;
            };
            assert!(
                page.contains(&format!("  none: {why}; it is not charged either\n")),
                "{attribution}: {page}"
            );
            assert!(
                page.contains(&format!("\nCharges\n  none: {why}\n")),
                "{attribution}: {page}"
            );
        }
    }
}

#[test]
fn a_row_that_was_replaced_is_not_charged() {
    let page = page(&scene("prorated"), "4");
    let row = "  superseded: earlier.txt line 2; that row does not count and is not charged\n";
    assert!(page.contains(row), "{page}");
}
