//! The Debian package on a machine that systemd started: nights that succeed, fail, are missed, are stopped and are tried again.
//!
//! systemd is process 1 of a container (`boot.sh`), in which `nights.sh` notes facts that this file judges.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, Output};

use super::debian::{package, small_binary};
use super::site::{Site, executable, words_of};
use super::skipped;
use crate::support::sample::repository;

const TEST: &str = "nights_under_systemd";

/// Seconds until a container is killed that does not end.
const PATIENCE: &str = "300";

/// A container in which systemd runs one program and ends with its exit code.
fn boot(site: &Site, program: &str) -> Output {
    let layer = site.path("layer");
    fs::create_dir_all(&layer).unwrap();
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "timeout", "--kill-after=10", PATIENCE, "bash"])
        .arg(repository("tests/it/deploy/boot.sh"))
        .args([site.path("exchange"), layer])
        .arg(format!("systemd.run={program}"))
        .args(["systemd.run_success_action=exit", "systemd.run_failure_action=exit"])
        .stdin(std::process::Stdio::null());
    command.output().unwrap()
}

/// Why no container boots here, if none does.
fn obstacle(site: &Site) -> Option<String> {
    if fs::metadata(site.path("exchange")).unwrap().uid() != 0 {
        return Some("only root boots a container".to_owned());
    }
    for program in ["systemd-nspawn", "dpkg", "unshare", "timeout", "python3"] {
        if Command::new(program).arg("--version").output().is_err() {
            return Some(format!("there is no {program}"));
        }
    }
    let tried = boot(site, "/bin/true");
    let ends_well = tried.status.success();
    (!ends_well).then(|| format!("systemd boots in no container here: {}", words_of(&tried)))
}

struct Facts(BTreeMap<String, String>);

impl Facts {
    fn of(site: &Site) -> Self {
        let text = site.text("exchange/facts");
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        Self(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    fn get(&self, name: &str) -> &str {
        let fact = self.0.get(name);
        fact.unwrap_or_else(|| panic!("no fact {name} in {:#?}", self.0))
    }

    /// The facts of one event, by their names after it.
    fn are(&self, event: &str, wanted: &[(&str, &str)]) {
        for (name, value) in wanted {
            let found = self.get(&format!("{event}.{name}"));
            assert_eq!(found, *value, "{event}.{name} in {:#?}", self.0);
        }
    }
}

const SUCCESS: [(&str, &str); 3] = [("result", "success"), ("status", "0"), ("nagios", "0")];

#[test]
fn nights_under_systemd() {
    let site = Site::new();
    let exchange = site.path("exchange");
    fs::create_dir(&exchange).unwrap();
    if let Some(why) = obstacle(&site) {
        return skipped(TEST, &why);
    }
    drop(package(&small_binary(&site), &exchange));
    let script = fs::read_to_string(repository("tests/it/deploy/nights.sh")).unwrap();
    executable(&exchange.join("nights.sh"), &script);
    let booted = boot(&site, "/mnt/exchange/nights.sh");
    let journal = fs::read_to_string(exchange.join("journal")).unwrap_or_else(|_| words_of(&booted));
    let facts = Facts::of(&site);
    assert_eq!(facts.get("end"), "reached", "{journal}");
    assert_eq!(facts.0.get("timeout"), None, "{journal}");
    assert!(booted.status.success(), "{journal}");
    assert_eq!(facts.get("process_1"), "systemd");
    assert_eq!(facts.get("dpkg"), "0", "{}", site.text("exchange/dpkg"));
    assert_eq!(facts.get("owner"), "gridtally");

    // The timer starts a night, which writes where the unit lets it, and to the server of lineage.
    facts.are(
        "timer",
        &[
            ("enabled", "enabled"),
            ("before", ""),
            ("triggered_by", "gridtally@zoo.timer"),
        ],
    );
    facts.are("night", &SUCCESS);
    facts.are(
        "night",
        &[
            ("restarts", "0"),
            ("owner", "gridtally:644"),
            ("metrics", "1"),
            ("lineage", "START,COMPLETE"),
            ("journal", "1"),
            ("warnings", "0"),
            (
                "files_elsewhere",
                "/var/lib/prometheus/node-exporter/gridtally-zoo.prom",
            ),
        ],
    );
    facts.are("missed", &[("runs", "1"), ("next", "30")]);
    // Metrics in a folder that the unit does not name are a warning, whatever the permissions of the folder.
    facts.are("confined", &SUCCESS);
    facts.are("confined", &[("files", ""), ("warnings", "1")]);

    // Broken data: no other try, and the hook mails the lines of this run alone.
    facts.are(
        "failed",
        &[
            ("start", "1"),
            ("result", "exit-code"),
            ("status", "65"),
            ("restarts", "0"),
            ("nagios", "1"),
            ("lake", "same"),
        ],
    );
    let hook = site.text("exchange/hook");
    assert!(hook.contains("mail -s gridtally: the run of zoo failed on "), "{hook}");
    assert!(hook.contains("the last run failed with 65"), "{hook}");
    assert!(
        hook.contains("mailed: gridtally: more was refused than the pipeline allows"),
        "{hook}"
    );
    assert!(
        hook.contains("mailed: gridtally@zoo.service: Main process exited"),
        "{hook}"
    );
    assert!(
        !hook.contains("zoo: published"),
        "a run before this one is mailed: {hook}"
    );

    // A write that fails is tried again, three times at most.
    facts.are("retried", &SUCCESS);
    facts.are("retried", &[("restarts", "1"), ("lake", "new")]);
    facts.are("exhausted", &[("status", "74"), ("tries", "4"), ("hooks", "1")]);

    // `systemctl stop` in the middle of a run is no failure, and the next run is clean.
    facts.are(
        "stopped",
        &[
            ("while", "start"),
            ("result", "success"),
            ("status", "143"),
            ("lake", "same"),
            ("staged", ""),
            ("verify", "0"),
        ],
    );
    let stopped_ms: u64 = facts.get("stopped.ms").parse().unwrap();
    assert!(stopped_ms < 5_000, "{stopped_ms} ms");
    facts.are("next", &SUCCESS);
    facts.are("next", &[("lake", "new"), ("verify", "0")]);
}
