//! Which of jobs and summaries count is decided by view: accounts of other hours are no rivals.

use std::collections::BTreeMap;
use std::fs;

use gridtally::store::{Manifest, Store, read_table};
use serde_json::{Value, json};

use super::{Scene, document, hit};
use crate::support::policy::{CHARGE_CORES, CORES};

fn job(id: u32, view: &str) -> Value {
    json!({
        "SiteName": "EXAMPLE_CE", "ProbeName": "p", "LocalJobId": id.to_string(), "ResourceType": view,
        "StartTime": "2022-05-03T00:00:00Z", "EndTime": "2022-05-03T01:00:00Z", "WallDuration": 3600,
        "CpuDuration": 1800, "Processors": 2, "VOName": "reef"
    })
}

/// Two batch jobs and a transfer; the same day of pilots and of payloads, added up.
fn scene() -> Scene {
    let scene = Scene(tempfile::tempdir().unwrap());
    let write = |name: &str, text: &str| fs::write(scene.0.path().join(name), text).unwrap();
    write("cores.toml", CORES);
    let jobs = [job(1, "Batch"), job(2, "Batch"), job(3, "Storage")];
    write("jobs", &jobs.map(|job| job.to_string() + "\n").concat());
    let mut payload = document();
    payload.insert("ResourceType".to_owned(), json!("Payload"));
    write("payloads", &(hit(&payload) + "\n"));
    write("batches", &(hit(&document()) + "\n"));
    scene
}

fn manifest(scene: &Scene, lake: &str) -> (Store, Manifest) {
    let store = Store::open_existing(scene.0.path().join(lake).to_str().unwrap()).unwrap();
    let manifest = Manifest::load(&store).unwrap().unwrap();
    (store, manifest)
}

/// Jobs charged, by view.
fn charged(scene: &Scene, lake: &str) -> BTreeMap<String, i64> {
    use gridtally::schema::batch::{int, text};
    let (store, manifest) = manifest(scene, lake);
    let mut jobs = BTreeMap::new();
    for file in manifest.dataset("charges") {
        for batch in read_table(store.reader(&file.path).unwrap(), None, 1024).unwrap() {
            let batch = batch.unwrap();
            for (view, n) in text(&batch, "view").unwrap().iter().zip(int(&batch, "job_n").unwrap()) {
                *jobs.entry(view.unwrap().to_owned()).or_default() += n.unwrap();
            }
        }
    }
    jobs
}

fn bytes(scene: &Scene, lake: &str) -> BTreeMap<String, String> {
    let (_, manifest) = manifest(scene, lake);
    let files = manifest.files().filter(|file| file.dataset != "runs");
    files.map(|file| (file.path.clone(), file.blake3.clone())).collect()
}

/// Jobs of usage, by view.
fn views(scene: &Scene, lake: &str) -> BTreeMap<String, i64> {
    let usage = scene.usage(lake).into_iter();
    usage.map(|((.., view), sums)| (view, sums[0])).collect()
}

fn reported(pairs: &[(&str, i64)]) -> BTreeMap<String, i64> {
    pairs.iter().map(|(view, n)| ((*view).to_owned(), *n)).collect()
}

/// Payloads are other hours than those of batch jobs: nothing to decide, whichever came first.
#[test]
fn summaries_of_one_view_hide_no_jobs_of_another() {
    let scene = scene();
    let report = scene.run("apart", "", CHARGE_CORES, &["jobs", "payloads"]).unwrap();
    assert_eq!(report.overlaps, []);
    assert_eq!(
        views(&scene, "apart"),
        reported(&[("batch", 2), ("storage", 1), ("summary_payload", 2)])
    );
    assert_eq!(charged(&scene, "apart"), reported(&[("batch", 2), ("storage", 1)]));
    for (lake, first) in [("jobs-first", "jobs"), ("payloads-first", "payloads")] {
        scene.run(lake, "", CHARGE_CORES, &[first]).unwrap();
        scene.run(lake, "", CHARGE_CORES, &["jobs", "payloads"]).unwrap();
        assert_eq!(bytes(&scene, lake), bytes(&scene, "apart"), "{lake}");
    }
}

/// With summaries of batch jobs as well there is, for that view alone.
#[test]
fn summaries_and_jobs_of_one_view_are_one_usage() {
    let scene = scene();
    let all = ["jobs", "payloads", "batches"];
    let none = scene.run("none", "", CHARGE_CORES, &all).unwrap_err().to_string();
    assert!(
        none.contains("EXAMPLE_CE 2022-05 (batch)") && !none.contains("payload"),
        "{none}"
    );
    let by_jobs = (
        reported(&[("batch", 2), ("storage", 1), ("summary_payload", 2)]),
        reported(&[("batch", 2), ("storage", 1)]),
    );
    let by_summaries = (
        reported(&[("storage", 1), ("summary", 2), ("summary_payload", 2)]),
        reported(&[("storage", 1)]),
    );
    for (overlap, lost, n, (counted, charges)) in [
        ("jobs", "out_of_scope/jobs_count", 1, &by_jobs),
        ("reject", "rejected/overlaps_jobs", 1, &by_jobs),
        ("summaries", "out_of_scope/summaries_count", 2, &by_summaries),
    ] {
        let head = format!("overlap = \"{overlap}\"\nmax_rejected = 1.0");
        let lake = format!("by-{overlap}");
        let report = scene.run(&lake, &head, CHARGE_CORES, &all).unwrap();
        assert_eq!(report.reasons[lost], n, "{overlap}");
        let overlaps: Vec<_> = (report.overlaps.iter())
            .map(|of| (&*of.month, &*of.view, of.overlap))
            .collect();
        assert_eq!(overlaps, [("2022-05", "batch", overlap)]);
        assert_eq!(&views(&scene, &lake), counted, "{overlap}");
        assert_eq!(&charged(&scene, &lake), charges, "{overlap}");
        // One after the other, in every order.
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let nightly = format!("{lake}-{order:?}");
            for upto in 1..=3 {
                let there = |at: &usize| order.iter().take(upto).any(|of| of == at);
                let so_far: Vec<&str> = (0..3).filter(there).map(|at| all[at]).collect();
                scene.run(&nightly, &head, CHARGE_CORES, &so_far).unwrap();
            }
            assert_eq!(bytes(&scene, &nightly), bytes(&scene, &lake), "{nightly}");
        }
    }
}
