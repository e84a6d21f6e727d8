//! Counts that sites sent, held against what arrived.

use std::collections::BTreeMap;

use gridtally::audit::summary_diff;

use super::lake::Scene;
use super::{SYNC, V02, record};
use crate::support::collect::shared;

fn job(id: u32, host: &str, end: i64) -> String {
    format!(
        "Site: S\nLocalJobId: {id}\nSubmitHost: {host}\nFQAN: /reef\nWallDuration: 10\nCpuDuration: 5\nProcessors: 2\n\
         StartTime: {}\nEndTime: {end}\nServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n",
        end - 10
    )
}

fn sent(site: &str, host: &str, month: u8, job_n: u32) -> String {
    format!("Site: {site}\nSubmitHost: {host}\nNumberOfJobs: {job_n}\nMonth: {month}\nYear: 2017\n%%\n")
}

/// 2017-02-03T00:00:00Z
const FEBRUARY: i64 = 1_486_080_000;

fn reported(scene: &Scene) -> String {
    summary_diff::report(scene.path().join("lake").to_str().unwrap())
        .unwrap()
        .text()
}

#[test]
fn counts_that_differ_are_named() {
    let scene = Scene::new();
    let jobs: String = (1..=3)
        .map(|id| job(id, "ce1", FEBRUARY))
        .chain([job(4, "ce2", FEBRUARY), job(5, "ce3", FEBRUARY)])
        // January: nobody counts it.
        .chain([job(6, "ce1", FEBRUARY - 20 * 86_400)])
        .collect();
    scene.write("in/1", &format!("APEL-individual-job-message: v0.3\n{jobs}"));
    // Another spelling of the site is the same site, and a later count replaces an earlier one.
    let counts = [sent("S", "ce1", 2, 9), sent("s", "ce2", 2, 2), sent("S", "ce9", 2, 7)];
    scene.write("in/2", &format!("{SYNC}{}", counts.concat()));
    scene.write("in/3", &format!("{SYNC}{}", sent("S", "ce1", 2, 3)));
    // March came as summaries.
    scene.write("in/4", &format!("{V02}{}", record(3, "SubmitHost: ce1\nServiceLevelType: HEPSPEC\nServiceLevel: 10\nEarliestEndTime: 1488800000\nLatestEndTime: 1488900000\n")));
    scene.write("in/5", &format!("{SYNC}{}", sent("S", "ce1", 3, 2)));
    scene.run("lake", "", "", &["in"]).unwrap();
    let reported = reported(&scene);
    let counted = reported.split_once("counts sent").unwrap().1;
    assert_eq!(
        counted,
        " by sites: 2 of 5 agree with what arrived\n\
         \x20   s 2017-02 ce2: 2 sent, 1 records, 0 in summaries\n\
         \x20   S 2017-02 ce3: none sent, 1 records, 0 in summaries\n\
         \x20   S 2017-02 ce9: 7 sent, 0 records, 0 in summaries\n"
    );
}

/// The real server's messages and tables: what it was sent as counts, and the jobs it stored.
#[test]
fn golden_counts_are_in_addition_to_golden_jobs() {
    let Some(folder) = shared("golden_counts_stand_beside_golden_jobs", "data/apel/golden") else {
        return;
    };
    let scene = Scene::new();
    let messages = folder.join("messages");
    scene
        .run("lake", "overlap = \"jobs\"", "", &[messages.to_str().unwrap()])
        .unwrap();
    let table = |name: &str| -> Vec<BTreeMap<String, String>> {
        let mut reader = csv::Reader::from_path(folder.join(name)).unwrap();
        reader.deserialize().map(Result::unwrap).collect()
    };
    let mut stored: BTreeMap<(String, String, String), i64> = BTreeMap::new();
    for job in table("VJobRecords.csv") {
        let host = job["SubmitHost"].clone();
        *stored
            .entry((job["Site"].to_lowercase(), host, job["EndTime"][..7].to_owned()))
            .or_default() += 1;
    }
    let reported = summary_diff::report(scene.path().join("lake").to_str().unwrap())
        .unwrap()
        .sync;
    let mut sent_n = 0;
    for row in table("VSyncRecords.csv") {
        let month = format!("{}-{:0>2}", row["Year"], row["Month"]);
        let (site, host) = (row["Site"].to_lowercase(), row["SubmitHost"].clone());
        let count = reported
            .iter()
            .find(|count| {
                (
                    count.site.to_lowercase().as_str(),
                    count.submit_host.as_deref(),
                    count.month.as_str(),
                ) == (&site, Some(host.as_str()), &month)
            })
            .unwrap();
        assert_eq!(count.sent_job_n, row["NumberOfJobs"].parse().ok());
        assert_eq!(
            Some(count.record_n),
            stored.get(&(site, host, month)).copied(),
            "{count:?}"
        );
        sent_n += 1;
    }
    assert_eq!(sent_n, 20);
    assert_eq!(reported.iter().filter(|count| count.sent_job_n.is_some()).count(), 20);
}
