//! A cell of `charges` is explained by its jobs: each once, whoever pays, and none at zero whose charge is unknown.

use gridtally::audit::explain::{cell, explain};
use gridtally::run::RunOptions;

use super::scene::Scene;

const HEADER: &str = "JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|AllocCPUS|TotalCPU|AllocTRES";

const POLICY: &str = "id = \"p\"\nversion = \"1\"\ntitle = \"P\"\nsource = \"a test\"\npool = \"cpu\"\nunit = \"su\"\n\
                      memory_unit = \"GiB\"\nformula = \"greatest(cores, memory / 1000) * seconds / 3600\"\n\
                      [[example]]\nname = \"one\"\nin = { cores = 1, memory = 1, seconds = 3600 }\nexpect = 1\n";

/// An hour from `start` on.
fn job(id: u32, cluster: &str, account: &str, cores: u32, memory: &str, [start, end]: [&str; 2]) -> String {
    format!(
        "{id}|{cluster}|u|{account}|COMPLETED|{start}|{start}|{end}|3600|{cores}|00:10:00|cpu={cores}{memory},node=1\n"
    )
}

/// A lake of jobs of one number on two clusters, of one that a correction moves to another account, and of one whose memory
/// is unknown.
fn scene(grain: &str) -> Scene {
    let scene = Scene::empty();
    let noon = ["2026-01-01T12:00:00", "2026-01-01T13:00:00"];
    let midnight = ["2026-01-01T23:30:00", "2026-01-02T00:30:00"];
    let jobs = [
        job(1, "c", "a", 4, ",mem=4G", noon),
        job(1, "c2", "a", 2, ",mem=4G", noon),
        job(2, "c", "b", 8, "", noon),
        job(3, "c", "d", 1, ",mem=4G", midnight),
    ];
    scene.write("dump.txt", format!("{HEADER}\n{}", jobs.concat()).as_bytes());
    scene.write("policy.toml", POLICY.as_bytes());
    scene.write(
        "corrections.csv",
        b"id,action,site,month,account,to_account,author,reason,date\n\
          C1,remap,S,,d,z,E. Office,moved,2026-06-01\n",
    );
    let pipeline = format!(
        "[pipeline]\nname = \"p\"\noutput = \"lake\"\ngrain = {grain:?}\ncalendar_timezone = \"UTC\"\n\
         corrections = \"corrections.csv\"\n[[source]]\nname = \"s\"\nformat = \"sacct\"\npaths = [\"dump.txt\"]\n\
         site = \"S\"\ntimezone = \"UTC\"\nvo = {{ value = \"v\" }}\n[[charge]]\npolicies = [\"policy.toml\"]\n"
    );
    scene.write("p.toml", pipeline.as_bytes());
    scene.run_file("p.toml", "lake", RunOptions::default()).unwrap();
    scene
}

#[test]
fn jobs_of_a_cell_are_counted_once_and_none_is_free_for_want_of_a_number() {
    let scene = scene("month");
    let out = scene.path("lake");
    let cells = cell(out.to_str().unwrap(), "charges/site=S/vo=v/allocation_year=2026", 10).unwrap();
    let [cell] = cells.as_slice() else { panic!("{cells:?}") };
    assert_eq!(
        (cell.job_n, cell.unpriced_job_n, cell.charge.as_str()),
        (3, 1, "7"),
        "{}",
        cell.text()
    );
    let lines: Vec<String> = cell.text().lines().map(|line| line.trim().to_owned()).collect();
    assert_eq!(
        lines,
        [
            "p 1: 7 su of 3 jobs, and 1 whose charge is unknown",
            "4  job 1 of c (a)",
            "2  job 1 of c2 (a)",
            "1  job 3 of c (z)",
            "unknown  job 2 of c (b): memory is unknown",
        ]
    );
}

#[test]
fn pieces_of_a_job_are_named_by_their_day_where_the_lake_has_days() {
    let scene = scene("day");
    let out = scene.path("lake");
    let pages = explain(out.to_str().unwrap(), "3", &scene.path("")).unwrap();
    let [page] = pages.as_slice() else { panic!("{pages:?}") };
    let days: Vec<&str> = page.usage.iter().filter_map(|used| used.day.as_deref()).collect();
    assert_eq!(days, ["2026-01-01", "2026-01-02"]);
    let reported = page.text();
    assert!(
        reported.contains("  2026-01-02: 1800000 of 3600000 ms from start to end"),
        "{reported}"
    );
    assert!(
        reported.contains("    2026-01-02: 0.5 su for 1800000 of 3600000 ms"),
        "{reported}"
    );
}
