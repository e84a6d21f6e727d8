//! CC-13, CC-15, CC-19 and CC-21: rows of Compute Canada's page with their own numbers, from a dump to the report.

use std::collections::BTreeMap;

use super::scene::{HEADER, Scene, job};

/// As the other jobs, with the CPU time that was used.
const HEADER_WITH_CPU: &str =
    "JobID|User|Account|Cluster|Partition|Submit|Start|End|ElapsedRaw|State|NCPUS|NNodes|AllocTRES|TotalCPU\n";

fn lake(jobs: &str, awards: &str) -> Scene {
    let scene = Scene::new();
    scene.write("jobs.txt", jobs);
    scene.write(
        "awards.csv",
        &format!("award,account,policy,amount,unit,valid_from,valid_to,cluster\n{awards}"),
    );
    scene.pipeline("[awards]\ntable = \"awards.csv\"\n");
    scene.run();
    scene
}

fn award(rows: &[BTreeMap<String, String>], name: &str) -> BTreeMap<String, String> {
    rows.iter().find(|row| row["award"] == name).unwrap().clone()
}

#[test]
fn cc_13_four_cores_that_were_requested_are_charged_where_one_was_used() {
    // Requested for ten hours, ran for one, and one of the four cores computed for an hour.
    let jobs = format!(
        "{HEADER_WITH_CPU}1|ada|rrg-ice|cedar|cpu|2025-05-01T00:00:00|2025-05-01T00:00:00|2025-05-01T01:00:00|3600|\
         COMPLETED|4|1|billing=4,cpu=4,mem=16G,node=1|01:00:00\n"
    );
    let scene = lake(
        &jobs,
        "A,rrg-ice,ce,100,core_equivalent_hour,2025-04-01,2026-04-01,cedar\n",
    );
    let row = award(&scene.rows(&["--on", "2025-05-31"]), "A");
    assert_eq!([&row["used"], &row["remaining"]], ["4.000000000", "96.000000000"]);
}

#[test]
fn cc_15_two_hours_over_the_first_of_april_are_one_hour_of_each_year() {
    let jobs = format!(
        "{HEADER}{}",
        job(1, "ada", "rrg-ice", "cedar", "2025-03-31T23:00:00", 2, 1)
    );
    let scene = lake(
        &jobs,
        "old,rrg-ice,ce,10,core_equivalent_hour,2024-04-01,2025-04-01,cedar\n\
         new,rrg-ice,ce,10,core_equivalent_hour,2025-04-01,2026-04-01,cedar\n",
    );
    for (year, name) in [("2024", "old"), ("2025", "new")] {
        let rows = scene.rows(&["--on", "2025-04-30", "--year", year]);
        assert_eq!(award(&rows, name)["used"], "1.000000000", "{year}: {rows:?}");
    }
}

#[test]
fn cc_19_fifty_of_two_hundred_core_years_after_a_fifth_of_the_year() {
    // 438 hours of 1000 cores are 50 years of 8760 hours; 73 of 365 days went by.
    let jobs = format!(
        "{HEADER}{}",
        job(1, "ada", "rrg-ice", "cedar", "2025-05-01T00:00:00", 438, 1000)
    );
    let scene = lake(&jobs, "A,rrg-ice,ce,200,core_year,2025-04-01,2026-04-01,cedar\n");
    let row = award(&scene.rows(&["--on", "2025-06-12"]), "A");
    for (column, value) in [
        ("allocated", "200.000000000"),
        ("used", "50.000000000"),
        ("utilisation", "25.0"),
        ("projected", "250.000000000"),
        ("projected_utilisation", "125.0"),
    ] {
        assert_eq!(row[column], value, "{column}: {row:?}");
    }
}

#[test]
fn cc_21_both_drill_downs_of_an_award_add_up_to_its_row() {
    let parts = [
        HEADER.to_owned(),
        job(1, "ada", "rrg-ice", "cedar", "2025-04-30T22:00:00", 7, 3),
        job(2, "bo", "rrg-ice", "cedar", "2025-05-31T12:00:00", 31, 1),
        job(3, "cy", "rrg-ice", "cedar", "2025-06-02T00:00:00", 11, 7),
    ];
    let scene = lake(
        &parts.concat(),
        "A,rrg-ice,ce,1,core_year,2025-04-01,2026-04-01,cedar\n",
    );
    let e9 = |row: &BTreeMap<String, String>| row["used"].replace('.', "").parse::<i128>().unwrap();
    let whole = e9(&award(&scene.rows(&["--on", "2025-06-12"]), "A"));
    assert!(whole > 0);
    for (detail, part_n) in [("monthly", 3), ("submitter", 3)] {
        let rows = scene.rows(&["--on", "2025-06-12", "--detail", detail]);
        let own: Vec<i128> = rows.iter().filter(|row| row["award"] == "A").map(e9).collect();
        assert_eq!(own.len(), part_n, "{detail}: {rows:?}");
        assert_eq!(own.iter().sum::<i128>(), whole, "{detail}: {own:?}");
    }
}

/// What the two pages leave open or state twice is answered on the manual's pages, by its id.
#[test]
fn every_inconsistency_of_the_pages_is_answered_by_its_id() {
    let page = |name: &str| {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/explanation/");
        std::fs::read_to_string(format!("{path}{name}")).unwrap()
    };
    let awards = page("awards.md");
    for nth in 1..=6 {
        assert!(awards.contains(&format!("**CC-I{nth}: ")), "CC-I{nth}");
    }
    let fairshare = page("fairshare.md");
    for nth in 1..=9 {
        let row = fairshare
            .lines()
            .find(|line| line.starts_with(&format!("| FS-I{nth} |")));
        // The question, the answer, and the option where there is one.
        assert_eq!(row.map(|row| row.matches('|').count()), Some(5), "FS-I{nth}");
    }
}
