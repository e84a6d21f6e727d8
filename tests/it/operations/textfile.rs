//! `run --textfile`: what `node_exporter` collects.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use gridtally::monitor::textfile::METRICS;

use super::{Scene, job, stderr};
use crate::support::python::package;
use crate::support::sample::run;

const RUN: [&str; 4] = ["run", "oak.toml", "--textfile", "metrics/gridtally.prom"];

/// The samples by series. Fails for a line that the format does not allow, or that the collector refuses.
fn samples(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut metric = String::new();
    let mut seen = BTreeSet::new();
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            help.split(' ').next().unwrap().clone_into(&mut metric);
            assert!(seen.insert(metric.clone()), "{metric} is there twice");
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            assert_eq!(kind, format!("{metric} gauge"));
        } else {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let name = series.split('{').next().unwrap();
            assert_eq!(name, metric, "a sample follows its metric");
            assert!(series == name || series.ends_with("\"}"), "{line}: a timestamp?");
            assert!(value.parse::<f64>().is_ok(), "{line}");
            let former = found.insert(series.to_owned(), value.to_owned());
            assert!(former.is_none(), "{series} is there twice");
        }
    }
    assert!(text.ends_with('\n'));
    found
}

fn number(text: &str) -> f64 {
    text.parse().unwrap()
}

fn scene() -> Scene {
    let scene = Scene::new();
    std::fs::create_dir(scene.path().join("metrics")).unwrap();
    scene
}

fn files(scene: &Scene) -> Vec<String> {
    let entries = std::fs::read_dir(scene.path().join("metrics")).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn a_run_writes_the_metrics_of_its_end_and_of_its_lake() {
    let scene = scene();
    let ran = scene.gridtally(&RUN);
    assert!(ran.status.success(), "{}", stderr(&ran));
    let text = scene.text("metrics/gridtally.prom");
    let found = samples(&text);
    assert_eq!(found["gridtally_run_last_exit_code"], "0");
    assert_eq!(found["gridtally_rows{outcome=\"accepted\"}"], "1");
    assert_eq!(found["gridtally_rejected_ratio"], "0");
    assert_eq!(
        found["gridtally_source_newest_record_timestamp_seconds{source=\"oak\"}"],
        "1793318400"
    );
    assert!(number(&found["gridtally_lake_bytes"]) > 1000.0);
    assert!(number(&found["gridtally_run_duration_seconds"]) >= 0.0);
    let end = &found["gridtally_run_last_completion_timestamp_seconds"];
    assert_eq!(&found["gridtally_run_last_success_timestamp_seconds"], end);
    let version = format!("gridtally_build_info{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"));
    assert_eq!(found[&version], "1");
    for metric in METRICS {
        assert!(
            text.contains(&format!("# HELP {} {}\n", metric.name, metric.help)),
            "{}",
            metric.name
        );
    }
    assert_eq!(files(&scene), ["gridtally.prom"], "nothing else is left in the folder");
}

#[test]
fn a_run_that_fails_keeps_the_last_success_and_what_is_known_of_the_lake() {
    let scene = scene();
    assert!(scene.gridtally(&RUN).status.success());
    let before = samples(&scene.text("metrics/gridtally.prom"));
    scene.dump("dump2.txt", &["broken\n".to_owned()]);
    assert_eq!(scene.gridtally(&RUN).status.code(), Some(65));
    let after = samples(&scene.text("metrics/gridtally.prom"));
    assert_eq!(after["gridtally_run_last_exit_code"], "65");
    let (success, end) = (
        "gridtally_run_last_success_timestamp_seconds",
        "gridtally_run_last_completion_timestamp_seconds",
    );
    assert_eq!(after[success], before[success]);
    assert!(number(&after[end]) > number(&before[end]));
    assert_eq!(after["gridtally_rows{outcome=\"accepted\"}"], "1");
    // A pipeline that cannot be read names no lake: the former file has what is known.
    std::fs::write(scene.path().join("oak.toml"), "[pipeline").unwrap();
    assert_eq!(scene.gridtally(&RUN).status.code(), Some(78));
    let broken = samples(&scene.text("metrics/gridtally.prom"));
    assert_eq!(broken["gridtally_run_last_exit_code"], "78");
    for (series, value) in after {
        if series.starts_with("gridtally_rows") || series.contains("newest") || series == success {
            assert_eq!(broken[&series], value, "{series}");
        }
    }
}

#[test]
fn a_lost_file_gets_the_last_success_from_the_lake() {
    let scene = scene();
    assert!(scene.gridtally(&RUN).status.success());
    let success = "gridtally_run_last_success_timestamp_seconds";
    let before = samples(&scene.text("metrics/gridtally.prom"))[success].clone();
    std::fs::remove_file(scene.path().join("metrics/gridtally.prom")).unwrap();
    scene.dump("dump2.txt", &["broken\n".to_owned()]);
    assert_eq!(scene.gridtally(&RUN).status.code(), Some(65));
    let after = samples(&scene.text("metrics/gridtally.prom"))[success].clone();
    assert_eq!(Some(after.as_str()), before.split('.').next(), "to the second");
}

#[test]
fn metrics_that_cannot_be_written_are_a_warning() {
    let scene = Scene::new();
    let ran = scene.gridtally(&RUN);
    assert_eq!(ran.status.code(), Some(0));
    let stated = stderr(&ran);
    assert!(
        stated.contains("warning: the metrics of the run could not be written"),
        "{stated}"
    );
}

#[test]
fn files_of_several_pipelines_have_a_label_of_their_own() {
    let scene = scene();
    let labelled = [&RUN[..], &["--textfile-label", "pipeline=o\"k"]].concat();
    assert!(scene.gridtally(&labelled).status.success());
    scene.dump("dump2.txt", &["broken\n".to_owned()]);
    assert_eq!(scene.gridtally(&labelled).status.code(), Some(65));
    let text = scene.text("metrics/gridtally.prom");
    for series in samples(&text).keys() {
        assert!(series.contains("{pipeline=\"o\\\"k\""), "{series}");
    }
    assert!(
        text.contains("gridtally_rows{pipeline=\"o\\\"k\",outcome=\"accepted\"} 1\n"),
        "{text}"
    );
    for label in ["1a=b", "a", "a=", "__name=x", "a b=c"] {
        let refused = scene.gridtally(&[&RUN[..], &["--textfile-label", label]].concat());
        assert_eq!(refused.status.code(), Some(2), "{label}");
    }
}

/// As `node_exporter` does: the whole file is refused for a line that does not parse.
#[test]
fn the_client_library_of_prometheus_reads_the_metrics() {
    const SCRIPT: &str = "
import sys
from prometheus_client.parser import text_string_to_metric_families
for family in text_string_to_metric_families(open(sys.argv[1]).read()):
    assert family.type == 'gauge', family
    for sample in family.samples:
        assert sample.timestamp is None, sample
        print(sample.name, sorted(sample.labels.items()), sample.value)
";
    let scene = scene();
    scene.dump("dump2.txt", &[job(2, 31), "broken\n".to_owned()]);
    scene.pipeline("paths = [\"dump*.txt\"]\nmax_rejected = 0.9\n");
    let ran = scene.gridtally(&[&RUN[..], &["--textfile-label", "pipeline=a\\b\"c"]].concat());
    assert!(ran.status.success(), "{}", stderr(&ran));
    let mut python = Command::new("python3");
    python
        .args(["-c", SCRIPT])
        .arg(scene.path().join("metrics/gridtally.prom"));
    python.env("PYTHONPATH", package("prometheus_client==0.26.0"));
    let read = run(&mut python);
    assert!(
        read.contains("gridtally_rows [('outcome', 'rejected'), ('pipeline', 'a\\\\b\"c')] 1\n"),
        "{read}"
    );
    let metrics: BTreeSet<&str> = read.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(metrics, METRICS.iter().map(|metric| metric.name).collect());
}
