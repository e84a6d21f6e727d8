//! Summaries of one usage at several levels of aggregation: all of them count, and the run warns.

use gridtally::run::run_report::RunReport;

use super::lake::{Scene, normalised};
use super::{V02, V03, V04, record};

const LEVEL: &str = "ServiceLevelType: HEPSPEC\nServiceLevel: 10\n";

/// A summary document of GRACC, which has the kind of APEL's summaries and no key in common with them.
const DOCUMENT: &str = r#"{"_index": "gracc.osg.summary4-2017", "_id": "1", "_source": {"EndTime": "2017-03-03T00:00:00.000Z", "VOName": "reef", "Processors": 8, "ResourceType": "Batch", "ProbeName": "p:x", "SiteName": "B", "Grid": "OSG", "WallDuration": 100, "CpuDuration": 50, "Count": 5}}"#;

fn summary(header: &str, site: &str, month: u8, more: &str) -> String {
    format!("{header}{}", record(month, &format!("Site: {site}\n{more}")))
}

fn scene() -> Scene {
    let scene = Scene::new();
    scene.write(
        "levelled/1",
        &(summary(V02, "B", 3, LEVEL) + &summary(V02, "C", 3, LEVEL)),
    );
    scene.write(
        "levelled/2",
        &summary(V04, "B", 3, "VO: kelp\nServiceLevel: {hepspec: 10}\n"),
    );
    let of_april = summary(
        V03,
        "C",
        4,
        "NormalisedWallDuration: 1000\nNormalisedCpuDuration: 500\n",
    );
    scene.write("normalised/1", &format!("{V03}{}", normalised("b", 3, "u", 3)));
    scene.write("normalised/2", &of_april);
    scene.write("gracc/1.json", DOCUMENT);
    scene
}

/// A line for each site and month: of each kind its name, format and jobs.
fn kinds(report: &RunReport) -> Vec<String> {
    let lines = report.summary_kinds.iter().map(|of| {
        let kinds = of.kinds.iter();
        let kinds = kinds.map(|kind| format!(" {} {} {}", kind.kind, kind.format, kind.job_n));
        format!("{} {}:{}", of.site, of.month, kinds.collect::<String>())
    });
    lines.collect()
}

#[test]
fn a_month_with_summaries_of_two_kinds_is_a_warning() {
    let scene = scene();
    let report = scene.run("lake", "", "", &["levelled", "normalised"]).unwrap();
    assert_eq!(kinds(&report), ["B 2017-03: summary apel 4 normalised_summary apel 3"]);
    assert_eq!(report.summary_kinds[0].view, "batch");
    let text = report.text();
    assert!(
        text.contains(
            "  warning: B 2017-03, view batch: all of summaries of apel (source apel): 4 jobs and normalised summaries of apel \
             (source apel): 3 jobs count"
        ),
        "{text}"
    );
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(
        json.pointer("/summary_kinds/0/kinds/1/job_n"),
        Some(&serde_json::json!(3))
    );
    // Whichever came in an earlier run.
    scene.run("nightly", "", "", &["normalised"]).unwrap();
    let second = scene.run("nightly", "", "", &["levelled", "normalised"]).unwrap();
    assert_eq!(kinds(&second), kinds(&report));
}

#[test]
fn summaries_of_two_formats_are_of_two_kinds() {
    let scene = scene();
    let gracc = "[[source]]\nname = \"osg\"\nformat = \"gracc\"\npaths = [\"gracc\"]\n";
    let report = scene.run("lake", "", gracc, &["levelled"]).unwrap();
    assert_eq!(kinds(&report), ["B 2017-03: summary apel 4 summary gracc 5"]);
    assert!(
        report.text().contains("summaries of gracc (source osg): 5 jobs count"),
        "{}",
        report.text()
    );
}

/// Versions of one kind have one key, and a summary of no jobs takes one back.
#[test]
fn what_does_not_count_twice_is_no_warning() {
    let scene = scene();
    let one_kind = scene.run("one", "", "", &["levelled"]).unwrap();
    assert_eq!(kinds(&one_kind), Vec::<String>::new());
    let of_none = summary(V02, "B", 3, &format!("{LEVEL}NumberOfJobs: 0\n"));
    scene.write("levelled/1", &of_none);
    scene.write("levelled/2", &of_none);
    let taken_back = scene.run("back", "", "", &["levelled", "normalised"]).unwrap();
    assert_eq!(kinds(&taken_back), Vec::<String>::new());
    assert!(!taken_back.text().contains("warning"), "{}", taken_back.text());
}
