//! The `CronJob`, by the published schemas of Kubernetes and by what a nightly run needs of it.

use std::process::Command;

use super::htcondor::tools;
use super::site::{Site, words_of};
use super::{final_codes, skipped};
use crate::support::sample::repository;

const FILE: &str = "pipelines/deploy/kubernetes/cronjob.yaml";

/// Oldest and newest version whose schemas must accept the file: `podFailurePolicy` is stable since the first.
const VERSIONS: [&str; 2] = ["1.31", "1.37"];

const TO_JSON: &str = "
import json, sys, yaml
print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))
";

#[test]
fn kubernetes_accepts_the_cron_job() {
    let programs = match tools() {
        Ok(programs) => programs,
        Err(why) => return skipped("kubernetes_accepts_the_cron_job", &why),
    };
    let site = Site::new();
    let text = std::fs::read_to_string(repository(FILE)).unwrap();
    let validate = |version: &str, text: &str| {
        let file = site.path("cronjob.yaml");
        std::fs::write(&file, text).unwrap();
        let mut command = Command::new(programs.join("kubernetes-validate"));
        command
            .args(["--strict", "--kubernetes-version", version])
            .arg(file)
            .output()
            .unwrap()
    };
    for version in VERSIONS {
        let accepted = validate(version, &text);
        assert!(accepted.status.success(), "{version}: {}", words_of(&accepted));
    }
    for (written, wrong) in [
        ("concurrencyPolicy:", "concurrentPolicy:"),
        ("backoffLimit: 3", "backoffLimit: three"),
    ] {
        assert!(text.contains(written));
        assert!(
            !validate(VERSIONS[1], &text.replace(written, wrong)).status.success(),
            "{wrong}"
        );
    }

    let mut python = Command::new(programs.join("python"));
    let read = python.args(["-c", TO_JSON]).arg(repository(FILE)).output().unwrap();
    let documents: serde_json::Value =
        serde_json::from_slice(&read.stdout).unwrap_or_else(|_| panic!("{}", words_of(&read)));
    states_what_a_run_needs(&documents[1]);
    let pipeline = documents[0]["data"]["site.toml"].as_str().unwrap();
    std::fs::write(
        site.path("etc/site.toml"),
        pipeline.replace("/dumps/", "../dumps/").replace("/lake/", "lake/"),
    )
    .unwrap();
    let mut check = Command::new(env!("CARGO_BIN_EXE_gridtally"));
    let checked = check.arg("check").arg(site.path("etc/site.toml")).output().unwrap();
    assert!(checked.status.success(), "{}", words_of(&checked));
}

fn states_what_a_run_needs(job: &serde_json::Value) {
    let at = |path: &str| {
        let found = job.pointer(path);
        found.unwrap_or_else(|| panic!("no {path}")).clone()
    };
    assert_eq!(at("/kind"), "CronJob");
    assert_eq!(at("/spec/concurrencyPolicy"), "Forbid");
    let spec = "/spec/jobTemplate/spec";
    assert!(at(&format!("{spec}/activeDeadlineSeconds")).as_u64().unwrap() > 0);
    let policy = at(&format!("{spec}/podFailurePolicy/rules/0"));
    assert_eq!(policy["action"], "FailJob");
    assert_eq!(policy["onExitCodes"]["values"], serde_json::json!(final_codes()));
    let pod = at(&format!("{spec}/template/spec"));
    assert_eq!(pod["restartPolicy"], "Never", "podFailurePolicy needs it");
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    let container = &pod["containers"][0];
    assert_eq!(policy["onExitCodes"]["containerName"], container["name"]);
    assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
    assert_eq!(
        container["securityContext"]["capabilities"]["drop"],
        serde_json::json!(["ALL"])
    );
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(container["image"], format!("gridtally:{version}"));
    // With a root that cannot be written to, what is written is in a volume: the lake, and what does not fit in memory.
    let mounts: Vec<&str> = container["volumeMounts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|mount| mount["mountPath"].as_str().unwrap())
        .collect();
    assert!(
        mounts.contains(&container["env"][0]["value"].as_str().unwrap()),
        "TMPDIR is not mounted"
    );
    let volumes: Vec<&serde_json::Value> = pod["volumes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|volume| &volume["name"])
        .collect();
    for mount in container["volumeMounts"].as_array().unwrap() {
        assert!(volumes.contains(&&mount["name"]), "{mount}");
    }
}
