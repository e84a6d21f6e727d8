//! Summaries of months to come: the server of APEL refuses them, a run publishes them and warns.

use gridtally::report::completeness::of_last_months;
use gridtally::report::lake::Lake;

use super::scene::{Pipeline, Scene, Source};

/// A message of one summary.
fn summary(year: i64, month: i64, end_s: i64) -> String {
    format!(
        "APEL-summary-job-message: v0.2\nSite: S\nMonth: {month}\nYear: {year}\nVO: atlas\nSubmitHost: h\n\
         InfrastructureType: grid\nServiceLevelType: HEPSPEC\nServiceLevel: 10\nNodeCount: 1\nProcessors: 1\n\
         EarliestEndTime: {end_s}\nLatestEndTime: {end_s}\nWallDuration: 100\nCpuDuration: 90\nNumberOfJobs: 3\n%%\n"
    )
}

#[test]
fn months_of_summaries_in_the_future_are_found() {
    let scene = Scene::empty();
    // 2026-03-10, 2027-03-02 and 2099-03-02.
    let ends_s = [(2026, 1_773_100_800), (2027, 1_803_945_600), (2099, 4_076_092_800)];
    for (year, end_s) in ends_s {
        scene.write(&format!("data/{year}"), summary(year, 3, end_s).as_bytes());
    }
    let source = Source {
        name: "apel",
        paths: vec!["data".to_owned()],
        keys: "format = \"apel\"\n".to_owned(),
    };
    scene.run(&Pipeline::of(source), "lake");
    let lake = Lake::open(scene.path("lake").to_str().unwrap()).unwrap();
    let months_at = |now_s: i64| {
        let found = of_last_months(&lake, now_s * 1000).unwrap();
        let months = found.future_summary_months.iter().map(ToString::to_string);
        months.collect::<Vec<_>>()
    };
    assert_eq!(months_at(1_790_000_000), ["2027-03", "2099-03"]);
    // Tomorrow is no future: sites are in zones.
    assert_eq!(months_at(1_803_772_800), ["2099-03"]);
    assert_eq!(months_at(4_100_000_000), [""; 0]);
}
