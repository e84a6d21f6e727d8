//! Which of jobs and summaries count is decided by view: accounts of other hours are no rivals.

use std::collections::BTreeMap;
use std::fs;

use gridtally::store::{Manifest, Store, read_table};
use serde_json::json;

use super::{Scene, document, hit};

/// What one view of a site and month is told by says nothing about another.
#[test]
fn summaries_of_one_view_hide_no_jobs_of_another() {
    const POLICY: &str = "id = \"cores\"\nversion = \"1\"\ntitle = \"Cores\"\nsource = \"ours\"\npool = \"cpu\"\n\
        unit = \"core_hour\"\nformula = \"cores * hours\"\n[[example]]\nname = \"one\"\n\
        in = { cores = 1, hours = 2 }\nexpect = 2\n";
    let scene = Scene(tempfile::tempdir().unwrap());
    let write = |name: &str, text: &str| fs::write(scene.0.path().join(name), text).unwrap();
    write("cores.toml", POLICY);
    let job = |id: u32, view: &str| {
        json!({
            "SiteName": "EXAMPLE_CE", "ProbeName": "p", "LocalJobId": id.to_string(), "ResourceType": view,
            "StartTime": "2022-05-03T00:00:00Z", "EndTime": "2022-05-03T01:00:00Z", "WallDuration": 3600,
            "CpuDuration": 1800, "Processors": 2, "VOName": "reef"
        })
    };
    write(
        "jobs",
        &[job(1, "Batch"), job(2, "Batch"), job(3, "Storage")]
            .map(|job| job.to_string() + "\n")
            .concat(),
    );
    let mut batch = document();
    batch.insert("WallDuration".to_owned(), json!(7200));
    let mut payload = batch.clone();
    payload.insert("ResourceType".to_owned(), json!("Payload"));
    write("payloads", &(hit(&payload) + "\n"));
    write("batches", &(hit(&batch) + "\n"));
    let charge = "[[charge]]\npolicies = [\"cores.toml\"]";
    let charged = |lake: &str| -> BTreeMap<String, i64> {
        use gridtally::schema::batch::{int, text};
        let store = Store::open_existing(scene.0.path().join(lake).to_str().unwrap()).unwrap();
        let manifest = Manifest::load(&store).unwrap().unwrap();
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
    };
    let bytes = |lake: &str| -> BTreeMap<String, String> {
        let store = Store::open_existing(scene.0.path().join(lake).to_str().unwrap()).unwrap();
        let manifest = Manifest::load(&store).unwrap().unwrap();
        let files = manifest.files().filter(|file| file.dataset != "runs");
        files.map(|file| (file.path.clone(), file.blake3.clone())).collect()
    };
    let views = |lake: &str| -> BTreeMap<String, i64> {
        let usage = scene.usage(lake).into_iter();
        usage.map(|((.., view), sums)| (view, sums[0])).collect()
    };
    let told = |pairs: &[(&str, i64)]| -> BTreeMap<String, i64> {
        pairs.iter().map(|(view, n)| ((*view).to_owned(), *n)).collect()
    };
    // Payloads are other hours than those of batch jobs: nothing to decide, whichever came first.
    let report = scene.run("apart", "", charge, &["jobs", "payloads"]).unwrap();
    assert_eq!(report.overlaps, []);
    assert_eq!(
        views("apart"),
        told(&[("batch", 2), ("storage", 1), ("summary_payload", 2)])
    );
    assert_eq!(charged("apart"), told(&[("batch", 2), ("storage", 1)]));
    for (lake, first) in [("jobs-first", "jobs"), ("payloads-first", "payloads")] {
        scene.run(lake, "", charge, &[first]).unwrap();
        scene.run(lake, "", charge, &["jobs", "payloads"]).unwrap();
        assert_eq!(bytes(lake), bytes("apart"), "{lake}");
    }
    // With summaries of batch jobs as well there is, for that view alone.
    let all = ["jobs", "payloads", "batches"];
    let none = scene.run("none", "", charge, &all).unwrap_err().to_string();
    assert!(
        none.contains("EXAMPLE_CE 2022-05 (batch)") && !none.contains("payload"),
        "{none}"
    );
    for (overlap, lost, n, counted, charges) in [
        (
            "jobs",
            "out_of_scope/jobs_count",
            1,
            told(&[("batch", 2), ("storage", 1), ("summary_payload", 2)]),
            told(&[("batch", 2), ("storage", 1)]),
        ),
        (
            "reject",
            "rejected/overlaps_jobs",
            1,
            told(&[("batch", 2), ("storage", 1), ("summary_payload", 2)]),
            told(&[("batch", 2), ("storage", 1)]),
        ),
        (
            "summaries",
            "out_of_scope/summaries_count",
            2,
            told(&[("storage", 1), ("summary", 2), ("summary_payload", 2)]),
            told(&[("storage", 1)]),
        ),
    ] {
        let head = format!("overlap = \"{overlap}\"\nmax_rejected = 1.0");
        let lake = format!("by-{overlap}");
        let report = scene.run(&lake, &head, charge, &all).unwrap();
        assert_eq!(report.reasons[lost], n, "{overlap}");
        let overlaps: Vec<_> = report
            .overlaps
            .iter()
            .map(|of| (&*of.month, &*of.view, of.overlap))
            .collect();
        assert_eq!(overlaps, [("2022-05", "batch", overlap)]);
        assert_eq!(views(&lake), counted, "{overlap}");
        assert_eq!(charged(&lake), charges, "{overlap}");
        // One after the other, in every order.
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let nightly = format!("{lake}-{order:?}");
            for upto in 1..=3 {
                let so_far: Vec<&str> = order.iter().take(upto).map(|at| all[*at]).collect();
                scene.run(&nightly, &head, charge, &so_far).unwrap();
            }
            // The order of sources' files is told by their names, whenever they came.
            scene.run(&nightly, &head, charge, &all).unwrap();
            assert_eq!(bytes(&nightly), bytes(&lake), "{nightly}");
        }
    }
}
