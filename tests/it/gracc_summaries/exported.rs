//! Documents of a lake in which received summaries count.

use std::collections::BTreeMap;
use std::fs;

use gridtally::compat::{PeerMode, PeerReportQuestion, remarks, report};
use gridtally::reference::site_rename::SiteRenames;
use gridtally::report::apel::MessageKind;
use gridtally::report::apel::publish::{ApelRequest, publish};
use gridtally::report::apel::users::Users;
use gridtally::report::gracc::table;
use gridtally::report::lake::{Lake, Selection};
use gridtally::report::render::objects;
use serde_json::{Value, json};

use super::{Scene, document, hit};

/// Two batch jobs and a payload of a day, and the summary of that day, of two jobs of other numbers.
fn scene(overlap: &str) -> Scene {
    let scene = Scene(tempfile::tempdir().unwrap());
    let job = |id: u32, view: &str| {
        json!({
            "SiteName": "EXAMPLE_CE", "ProbeName": "p", "LocalJobId": id.to_string(), "ResourceType": view,
            "StartTime": "2022-05-03T00:00:00Z", "EndTime": "2022-05-03T01:00:00Z", "WallDuration": 3600,
            "CpuDuration": 1800, "Processors": 2, "VOName": "reef"
        })
        .to_string()
    };
    let jobs = [job(1, "Batch"), job(2, "Batch"), job(3, "Payload")].join("\n") + "\n";
    fs::write(scene.0.path().join("jobs"), jobs).unwrap();
    fs::write(scene.0.path().join("sums"), hit(&document()) + "\n").unwrap();
    let head = format!("overlap = \"{overlap}\"\nmax_rejected = 1.0");
    scene.run("lake", &head, "", &["jobs", "sums"]).unwrap();
    scene
}

fn lake(scene: &Scene) -> String {
    scene.0.path().join("lake").to_str().unwrap().to_owned()
}

/// Jobs and seconds of wall time by resource type, and what was left out.
fn exported(output: &str) -> (BTreeMap<String, (i64, String)>, Vec<String>) {
    let lake = Lake::open(output).unwrap();
    let (table, left_out) = table(&lake, &Selection::default(), &Users::Keep).unwrap();
    let documents = objects(&table).unwrap().into_iter().map(|line| {
        let document: Value = serde_json::from_str(&line).unwrap();
        let kind = document["ResourceType"].as_str().unwrap().to_owned();
        (
            kind,
            (
                document["Count"].as_i64().unwrap(),
                document["WallDuration"].to_string(),
            ),
        )
    });
    (documents.collect(), left_out)
}

#[test]
fn summaries_of_a_day_are_exported_where_they_count() {
    let scene = scene("summaries");
    let (documents, left_out) = exported(&lake(&scene));
    assert_eq!(documents["Batch"], (2, "7200.0".to_owned()));
    // Payloads are other hours, of which there is no summary.
    assert_eq!(documents["Payload"].0, 1);
    assert_eq!((documents.len(), left_out.len()), (2, 0));
    let scene = self::scene("jobs");
    assert_eq!(exported(&lake(&scene)).0["Batch"].0, 2);
}

#[test]
fn summaries_of_a_month_are_counted_as_left_out() {
    let scene = Scene(tempfile::tempdir().unwrap());
    let summary = "APEL-summary-job-message: v0.2\nSite: EXAMPLE_CE\nMonth: 5\nYear: 2022\nVO: reef\nWallDuration: 9000\n\
                   CpuDuration: 8000\nNumberOfJobs: 7\nServiceLevelType: HEPSPEC\nServiceLevel: 10\nNodeCount: 1\nProcessors: 1\n%%\n";
    fs::write(scene.0.path().join("sums"), summary).unwrap();
    let text = "[pipeline]\nname = \"p\"\noutput = \"lake\"\n[[source]]\nname = \"a\"\nformat = \"apel\"\npaths = [\"sums\"]\n";
    let file = scene.0.path().join("p.toml");
    fs::write(&file, text).unwrap();
    let (plan, _) = gridtally::config::Plan::load(&file).unwrap();
    gridtally::run::stages::run(
        &plan,
        &gridtally::run::RunOptions::default(),
        &gridtally::runtime::progress::Silent,
    )
    .unwrap();
    let (documents, left_out) = exported(&lake(&scene));
    assert_eq!(documents.len(), 0);
    assert!(
        left_out.len() == 1 && left_out[0].starts_with("EXAMPLE_CE 2022-05: 7 jobs left out"),
        "{left_out:?}"
    );
}

/// Summaries of payloads displace no jobs, and are not written.
#[test]
fn summaries_of_other_views_are_counted_as_left_out() {
    let scene = Scene(tempfile::tempdir().unwrap());
    let mut payload = document();
    payload.insert("ResourceType".to_owned(), json!("Payload"));
    let text = [hit(&document()), hit(&payload)].join("\n") + "\n";
    fs::write(scene.0.path().join("sums"), text).unwrap();
    scene.run("lake", "", "", &["sums"]).unwrap();
    let (documents, left_out) = exported(&lake(&scene));
    assert_eq!(documents.into_keys().collect::<Vec<_>>(), ["Batch"]);
    assert_eq!(
        left_out,
        [
            "EXAMPLE_CE 2022-05: 2 jobs left out: their summaries are of the view payload, and those of batch alone are written"
        ]
    );
}

/// A publisher that takes no summaries publishes neither them nor the jobs that do not count.
#[test]
fn jobs_that_do_not_count_are_not_published() {
    let scene = scene("summaries");
    for (mode, jobs, is_noted) in [(PeerMode::Gracc, 0, true), (PeerMode::Native, 2, false)] {
        let question = PeerReportQuestion {
            mode,
            site_values: None,
            by: Some(Vec::new()),
            selection: &Selection::default(),
            renames: &SiteRenames::default(),
        };
        let report = report(&lake(&scene), &question).unwrap();
        let cells = report.json();
        let cells = cells["cells"].as_array().unwrap().clone();
        let published: i64 = cells.iter().map(|cell| cell["job_n"].as_i64().unwrap()).sum();
        assert_eq!(published, jobs, "{mode:?}");
        let is_in_remarks = remarks(&report)
            .iter()
            .any(|line| line.contains("2 jobs are in received summaries"));
        assert_eq!(is_in_remarks, is_noted, "{mode:?}");
    }
}

/// Without a benchmark it is missing: nothing arrived normalised.
#[test]
fn summaries_without_a_benchmark_lack_it() {
    let scene = Scene(tempfile::tempdir().unwrap());
    let mut day = document();
    day.remove("OIM_WLCGAPELNormalFactor");
    fs::write(scene.0.path().join("sums"), hit(&day) + "\n").unwrap();
    scene.run("lake", "", "", &["sums"]).unwrap();
    let request = ApelRequest {
        kinds: vec![MessageKind::SummaryV02],
        is_leaving_out: true,
        ..ApelRequest::default()
    };
    let lake = Lake::open(&lake(&scene)).unwrap();
    let published = publish(&lake, &request, &mut |_, _, _, _, _| Ok(())).unwrap();
    assert_eq!(
        published.left_out_lines(),
        ["summary-v0.2: 2 jobs left out: benchmark_missing"]
    );
}
