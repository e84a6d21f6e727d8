//! Whole runs over the real logs of batch systems and workloads: every row somewhere, and hours as the logs add up.

use std::collections::BTreeMap;

use super::scene::{Pipeline, Scene, Source};
use super::tables::{all, sum};
use crate::support::collect::shared;

fn source(name: &'static str, path: &str, keys: &str) -> Source {
    Source {
        name,
        paths: vec![path.to_owned()],
        keys: format!("site = \"FELL\"\n{keys}\n"),
    }
}

#[test]
fn core_hours_of_workloads_are_what_their_columns_add_up_to() {
    let test = "core_hours_of_workloads_are_what_their_columns_add_up_to";
    for (name, keys, jobs, core_s, rejected) in [
        ("KTH-SP2-1996-2.1-cln", "format = \"auto\"", 27_992, 1_972_976_954, 0),
        ("SDSC-SP2-5K-sample", "format = \"swf\"", 4606, 387_596_226, 0),
        (
            "wagap-2013",
            "format = \"swf\"\nunix_start_time = 0",
            17_898,
            9_647_254_226,
            2,
        ),
    ] {
        let Some(path) = shared(test, &format!("data/traces/swf/{name}.swf.gz")) else {
            return;
        };
        let scene = Scene::empty();
        let report = scene.run(&Pipeline::of(source("trace", path.to_str().unwrap(), keys)), "lake");
        assert_eq!(report.reasons.get("accepted/job"), Some(&jobs), "{name}");
        let refused = report.reasons.get("rejected/bad_duration").copied().unwrap_or(0);
        assert_eq!(refused, rejected, "{name}");
        assert_eq!(
            sum(&all(&scene.path("lake"), "usage"), "alloc_core_s"),
            core_s,
            "{name}"
        );
        assert_eq!(scene.findings("lake"), [], "{name}");
    }
}

/// A workload that does not state when it begins is refused by name, not dated.
#[test]
fn a_workload_without_a_start_is_refused() {
    let scene = Scene::empty();
    scene.write("data/trace.swf", b"1 0 0 60 4 50 2048 8 120 512 1 12 4 -1 3 -1 -1 -1\n");
    let mut pipeline = Pipeline::of(source("trace", "data/trace.swf", "format = \"swf\""));
    let report = scene.run(&pipeline, "lake");
    assert_eq!(
        report.reasons,
        BTreeMap::from([("rejected/unreadable_file".to_owned(), 1)])
    );
    // Once configured, it is read again.
    pipeline.sources[0].keys.push_str("unix_start_time = 1_700_000_000\n");
    let report = scene.run(&pipeline, "lake");
    assert_eq!(report.reasons, BTreeMap::from([("accepted/job".to_owned(), 1)]));
}

#[test]
fn every_row_of_the_real_logs_ends_somewhere() {
    let test = "every_row_of_the_real_logs_ends_somewhere";
    let Some(folder) = shared(test, "data/apel/batch-logs") else {
        return;
    };
    let path = |name: &str| folder.join(format!("{name}.log")).to_str().unwrap().to_owned();
    let scene = Scene::empty();
    let mut pipeline = Pipeline::sample();
    pipeline.normalise = None;
    pipeline.sources = [
        ("pbs", "format = \"auto\""),
        ("sge", "format = \"auto\""),
        ("lsf", "format = \"auto\""),
        ("htcondor", "format = \"auto\""),
        ("blah", "format = \"auto\""),
        ("mixed", "format = \"auto\""),
    ]
    .map(|(name, keys)| source(name, &path(name), keys))
    .into();
    let report = scene.run(&pipeline, "lake");
    let rows: u64 = report.reasons.values().sum();
    assert_eq!(rows, 10 + 6 + 7 + 9 + 2 + 8, "{:?}", report.reasons);
    assert_eq!(scene.findings("lake"), []);
    for (reason, n) in [
        ("accepted/job", 23),
        ("duplicate/same_content", 2),
        ("superseded/fuller_record", 3),
        ("rejected/missing_field", 1),
        // One event of LSF, and seven of eight lines of the mixed file, which is read as what its first line is.
        ("rejected/field_count", 8),
        ("out_of_scope/grid_identity", 3),
        ("out_of_scope/other_record_type", 2),
    ] {
        assert_eq!(report.reasons.get(reason), Some(&n), "{reason}");
    }
}
