//! Values of messages as a run reads them: a lake that was made of messages is no different from these messages.

use gridtally::report::lake::Selection;
use gridtally::report::reconcile::compare::{ReconcileComparison, compare};
use gridtally::report::reconcile::usage_source::UsageSource;
use gridtally::report::work_scale::WorkScale;

use super::super::scene::Scene;

const V02: &str = "APEL-summary-job-message: v0.2";
const V03: &str = "APEL-summary-job-message: v0.3";
const V04: &str = "APEL-summary-job-message: v0.4";
const JOB: &str = "APEL-individual-job-message: v0.3";

/// A summary with more fields.
fn summary(header: &str, more: &str) -> String {
    format!(
        "{header}\nSite: S\nMonth: 3\nYear: 2024\nSubmitHost: ce\nNodeCount: 1\nProcessors: 8\nWallDuration: 3600\n\
         CpuDuration: 20000\nNumberOfJobs: 2\n{more}\n%%\n"
    )
}

/// A lake made of messages, against them.
fn compared(messages: &[String]) -> ReconcileComparison {
    let scene = Scene::new();
    for (nth, message) in messages.iter().enumerate() {
        scene.write(&format!("in/{nth}.msg"), message);
    }
    let folder = scene.path("in");
    let paths = [folder.to_str().unwrap()];
    let source = format!("format = \"apel\"\npaths = {paths:?}\nacceptance = \"salvage\"");
    scene.lake("lake", &source, "[normalise]\nmissing = \"null\"");
    let side = |name: &str| {
        let path = scene.path(name);
        UsageSource::open(path.to_str().unwrap(), None, &Selection::default(), WorkScale::Hs06).unwrap()
    };
    compare(&side("lake"), &side("in"), 0).unwrap()
}

#[test]
fn a_lake_agrees_with_the_messages_it_was_made_of() {
    let level = |level: &str| {
        summary(
            V02,
            &format!("VO: reef\nServiceLevelType: HEPSPEC\nServiceLevel: {level}"),
        )
    };
    let of_job = |end: &str| {
        format!(
            "{JOB}\nSite: S\nLocalJobId: 7\nVO: reef\nWallDuration: 60\nCpuDuration: 50\nProcessors: 1\n\
             StartTime: 2024-03-10T00:00:00Z\nEndTime: {end}\nServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n"
        )
    };
    let work = "NormalisedWallDuration: 36000\nNormalisedCpuDuration: 200000";
    let spelled = "ServiceLevel: {hepspec: 10.5, HEPSPEC: 12.25}";
    for messages in [
        // Work, with the benchmark it is in and no value of it.
        vec![summary(V03, &format!("VO: reef\nServiceLevelType: HEPSPEC\n{work}"))],
        vec![level("12.3456")],
        vec![level("1e1")],
        vec![level("1_0")],
        vec![level("-3.5")],
        vec![summary(V04, &format!("VO: reef\n{spelled}"))],
        vec![of_job("2024-03-10T01:00:00Z")],
        vec![of_job("1710032400")],
        // Versions of one kind, whose keys differ in letter case.
        vec![
            level("10.5"),
            summary(V04, "VO: REEF\nNumberOfJobs: 3\nServiceLevel: {HEPSPEC: 10.5}"),
        ],
        // Summaries of before 2014, in hours.
        vec![summary(V02, &format!("Group: reef\n{work}"))],
    ] {
        let found = compared(&messages);
        assert_eq!(found.compared_n, 1, "{messages:?}: {found:?}");
        assert_eq!(found.differences, [], "{messages:?}");
        let is_left_out = found.notes.iter().any(|note| note.contains("left out"));
        assert!(!is_left_out, "{messages:?}: {:?}", found.notes);
    }
}

/// That work is compared, and not unknown to one side.
#[test]
fn work_of_normalised_summaries_is_compared() {
    let of = |wall: u32| {
        format!("VO: reef\nServiceLevelType: HEPSPEC\nNormalisedWallDuration: {wall}\nNormalisedCpuDuration: 200000")
    };
    let found = compared(&[summary(V03, &of(36_000))]);
    assert!(!found.is_without_work, "{:?}", found.notes);
}
