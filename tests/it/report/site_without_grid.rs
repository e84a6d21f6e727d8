//! The page of a site whose jobs have no VO: accounts, partitions, QOS and users, of which each is named where it may be.

use std::process::Command;

use super::scene::Scene;
use crate::support::policy::{CHARGE_CORES, CORES};
use crate::support::sample::run;

const DUMP: &str = "JobIDRaw|Cluster|User|Account|Partition|QOS|Submit|Start|End|ElapsedRaw|State|NCPUS|AllocTRES|TotalCPU\n\
     1|ice|ann|snow|day|normal|2026-03-01T00:00:00|2026-03-01T00:00:00|2026-03-01T01:00:00|3600|COMPLETED|2|cpu=2,node=1|01:00:00\n\
     2|ice|ben|rain|day|high|2026-03-02T00:00:00|2026-03-02T00:00:00|2026-03-02T01:00:00|3600|COMPLETED|4|cpu=4,node=1|02:00:00\n\
     3|fog|ann|rain|night|normal|2026-03-03T00:00:00|2026-03-03T00:00:00|2026-03-03T01:00:00|3600|COMPLETED|8|cpu=8,node=1|03:00:00\n\
     4|fog|cat||night|normal|2026-04-03T00:00:00|2026-04-03T00:00:00|2026-04-03T01:00:00|3600|COMPLETED|16|cpu=16,node=1|03:00:00\n";

/// A lake of the dump with these benchmarks, and its page.
fn board(scene: &Scene, benchmarks: &str, rest: &str, words: &[&str]) -> String {
    scene.write("dump.txt", DUMP);
    scene.write(
        "benchmarks.csv",
        &format!("site,cluster,benchmark,value_per_core,valid_from,valid_to\n{benchmarks}"),
    );
    scene.write("cores.toml", CORES);
    scene.write(
        "p.toml",
        &format!(
            "[pipeline]\nname = \"p\"\noutput = \"lake\"\n\
             [[source]]\nname = \"s\"\nformat = \"sacct\"\npaths = [\"dump.txt\"]\nsite = \"S\"\ntimezone = \"UTC\"\n\
             [normalise]\nbenchmarks = \"benchmarks.csv\"\nmissing = \"null\"\n{CHARGE_CORES}{rest}"
        ),
    );
    let gridtally = || Command::new(env!("CARGO_BIN_EXE_gridtally"));
    run(gridtally()
        .arg("run")
        .arg(scene.path("p.toml"))
        .arg("--out")
        .arg(scene.path("lake")));
    run(gridtally()
        .args(["report", "site"])
        .arg(scene.path("lake"))
        .args(["--site", "S", "--out"])
        .arg(scene.path("board"))
        .args(words));
    std::fs::read_to_string(scene.path("board/index.html")).unwrap()
}

const BOTH: &str = "S,,hs06,10,2024-01-01,\nS,,hs23,11,2024-01-01,\n";

/// The text between a section's id and its end.
fn section<'p>(page: &'p str, id: &str) -> Option<&'p str> {
    let (_, rest) = page.split_once(&format!("<section id=\"{id}\">"))?;
    rest.split_once("</section>").map(|(section, _)| section)
}

/// The cells of each row of a section's first table.
fn rows(section: &str) -> Vec<Vec<&str>> {
    let (body, _) = section.split_once("</tbody>").unwrap();
    let rows = body.split("<tr>").skip(2);
    rows.map(|row| {
        let cells = row.split("<td").skip(1);
        cells
            .map(|cell| cell.split_once('>').unwrap().1.split('<').next().unwrap())
            .collect()
    })
    .collect()
}

#[test]
fn accounts_partitions_and_qos_are_where_no_vo_is_known() {
    let scene = Scene::new();
    let page = board(&scene, BOTH, "", &[]);
    assert!(page.contains("Core hours by account and month") && !page.contains("Usage by VO"));
    let table = |id: &str, n: usize| -> Vec<Vec<String>> {
        let rows = rows(section(&page, id).unwrap());
        rows.iter()
            .map(|row| row.iter().take(n).map(|cell| (*cell).to_owned()).collect())
            .collect()
    };
    assert_eq!(table("partition", 3), [["night", "2", "24.00"], ["day", "2", "6.00"]]);
    assert_eq!(table("qos", 2), [["normal", "3"], ["high", "1"]]);
    assert_eq!(table("usage", 3)[0], ["2026-03", "rain", "batch"]);
    let rows_charged = table("charges", 2);
    let names: Vec<&str> = rows_charged.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(names, ["(unknown)", "rain", "snow"]);
    let csv = |name: &str| std::fs::read_to_string(scene.path("board").join(name)).unwrap();
    assert!(
        csv("usage.csv").starts_with("month,account,view,jobs,"),
        "{}",
        csv("usage.csv")
    );
    assert!(csv("charges.csv").starts_with("policy,pool,unit,account,charge,"));
    // Every table and chart states its period and its attribution, once.
    for section in page
        .split("<section id=")
        .skip(1)
        .map(|rest| rest.split("</section>").next().unwrap())
    {
        let basis_n = section.matches("class=\"basis\"").count();
        let shown_n = section.matches("<table").count() + section.matches("<figure").count();
        let is_quality = section.starts_with("\"quality\"");
        assert_eq!(
            basis_n,
            if is_quality { 3 } else { usize::from(shown_n > 0) },
            "{section}"
        );
    }
    // Both axes of a chart have a title.
    let drawings: Vec<&str> = page.split("<svg width").skip(1).collect();
    assert_eq!(drawings.len(), 2);
    for (drawing, upwards) in drawings
        .into_iter()
        .zip(["\ncore hours\n", "\nCPU time of core time, %\n"])
    {
        let (drawing, _) = drawing.split_once("</svg>").unwrap();
        assert!(drawing.contains("\nmonth\n") && drawing.contains(upwards), "{drawing}");
    }
}

/// Names of people appear only where they are requested and where the lake has them.
#[test]
fn users_are_named_where_it_is_requested() {
    let scene = Scene::new();
    let page = board(&scene, BOTH, "", &[]);
    assert!(section(&page, "users").is_none());
    for name in ["ann", "ben", "cat"] {
        assert!(!page.contains(&format!(">{name}<")));
    }
    let page = board(&scene, BOTH, "", &["--users"]);
    let users = section(&page, "users").unwrap();
    let found = rows(users);
    assert_eq!(
        found,
        [
            vec!["fog", "cat", "", "16.00"],
            vec!["fog", "ann", "rain", "8.00"],
            vec!["ice", "ben", "rain", "4.00"],
            vec!["ice", "ann", "snow", "2.00"],
        ]
    );
    assert!(
        users.contains("2026-03 to 2026-04. At most ten of each cluster; core time of batch jobs"),
        "{users}"
    );
    let scene = Scene::new();
    let page = board(&scene, BOTH, "[privacy]\nuser = \"drop\"\n", &["--users"]);
    assert!(section(&page, "users").unwrap().contains("no names of users"));
}

/// A column without a value in any row is left out.
#[test]
fn columns_without_any_value_are_left_out() {
    let scene = Scene::new();
    let page = board(&scene, "T,,hs06,10,2024-01-01,\n", "", &[]);
    for word in [
        ">hs06 hours",
        ">hs23 hours",
        "<dt>HS06 hours</dt>",
        "<dt>HS23 hours</dt>",
    ] {
        assert!(!page.contains(word), "{word} in {page}");
    }
    assert!(page.contains("No job has a benchmark: work in HS06 and HS23 hours is unknown."));
    assert!(page.contains(">jobs without benchmark<"), "{page}");
    // The file next to the page keeps its columns.
    let csv = std::fs::read_to_string(scene.path("board/usage.csv")).unwrap();
    assert!(csv.contains("hs06_hours,hs23_hours"));
}

/// Hours in two benchmarks are shown together only where both are of the same jobs.
#[test]
fn one_benchmark_is_alone_where_jobs_lack_the_other() {
    let scene = Scene::new();
    let page = board(&scene, BOTH, "", &[]);
    assert!(page.contains("<dt>HS06 hours</dt>") && page.contains("<dt>HS23 hours</dt>"));
    assert!(!page.contains("Work is in"));
    let part = "S,,hs23,11,2024-01-01,\nS,ice,hs06,10,2024-01-01,\n";
    let page = board(&scene, part, "", &[]);
    assert!(!page.contains("HS06 hours</dt><dd") && !page.contains(">hs06 hours<"));
    assert!(page.contains("<dt>HS23 hours</dt>") && page.contains(">hs23 hours<"));
    let note = "Work is in HS23 hours, not in HS06 hours: of 4 jobs with a benchmark 2 have no HS06 value.";
    assert!(page.contains(note), "{page}");
    // The file next to the page has both.
    let csv = std::fs::read_to_string(scene.path("board/usage.csv")).unwrap();
    assert!(csv.contains("hs06_hours,hs23_hours"));
    let each = "S,fog,hs23,11,2024-01-01,2026-04-01\nS,ice,hs06,10,2024-01-01,\n";
    let page = board(&scene, each, "", &[]);
    let note = "Work is in HS06 hours, not in HS23 hours: of 3 jobs with a benchmark 2 have no HS23 value. \
                Jobs that have HS23 alone are not in these hours: 1.";
    assert!(page.contains(note), "{page}");
}
