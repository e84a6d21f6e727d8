//! The units of systemd: by its own checker where it is there, and their settings and commands in any case.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};

use super::command_lines::run_options;
use super::site::{Site, deployed, executable, words_of};
use super::{final_codes, numbers, skipped};

const UNITS: [&str; 3] = ["gridtally@.service", "gridtally@.timer", "gridtally-failure@.service"];

/// Lowest exposure that is refused, in tenths, as `systemd-analyze security` counts it (of 100).
const EXPOSURE: &str = "--threshold=20";

fn unit(name: &str) -> String {
    deployed(&format!("systemd/{name}"))
}

/// The values of a setting in a section, in their order.
fn settings(unit: &str, section: &str, name: &str) -> Vec<String> {
    let mut here = "";
    let mut found = Vec::new();
    for line in unit.lines() {
        if let Some(head) = line.strip_prefix('[') {
            here = head.trim_end_matches(']');
        } else if let Some((key, value)) = line.split_once('=')
            && here == section
            && key == name
        {
            found.push(value.to_owned());
        }
    }
    found
}

fn analyze(words: &[&str], files: &[PathBuf]) -> Output {
    let mut command = Command::new("systemd-analyze");
    command.args(words).args(files).output().unwrap()
}

fn has_systemd(test: &str) -> bool {
    let is_there = Command::new("systemd-analyze").arg("--version").output().is_ok();
    if !is_there {
        skipped(test, "there is no systemd-analyze");
    }
    is_there
}

#[test]
fn systemd_accepts_the_units() {
    if !has_systemd("systemd_accepts_the_units") {
        return;
    }
    let site = Site::new();
    // Only the program moves: the folders are what systemd makes.
    let place = |name: &str, text: &str| {
        let path = site.path(name);
        fs::write(
            &path,
            text.replace("/usr/bin/gridtally", env!("CARGO_BIN_EXE_gridtally")),
        )
        .unwrap();
        path
    };
    let files: Vec<PathBuf> = UNITS.iter().map(|name| place(name, &unit(name))).collect();
    let accepted = analyze(&["verify", "--man=no"], &files);
    assert!(
        accepted.status.success() && accepted.stderr.is_empty(),
        "{}",
        words_of(&accepted)
    );
    // Another version of these units is not accepted: the checker looks at them.
    for (written, wrong) in [
        ("RestartSec=", "RestartSeconds="),
        ("Restart=on-failure", "RestartForceExitStatus=74 75"),
        ("OnFailure=", "OnFailing="),
    ] {
        let text = unit("gridtally@.service");
        assert!(text.contains(written));
        let file = place("gridtally@.service", &text.replace(written, wrong));
        let refused = analyze(&["verify", "--man=no"], &[file]);
        assert!(!refused.stderr.is_empty(), "{wrong} is accepted");
    }
}

#[test]
fn the_service_is_confined() {
    if !has_systemd("the_service_is_confined") {
        return;
    }
    let site = Site::new();
    let file = site.path("gridtally@.service");
    let text = unit("gridtally@.service").replace("/usr/bin/gridtally", env!("CARGO_BIN_EXE_gridtally"));
    fs::write(&file, &text).unwrap();
    let words = ["security", "--offline=true", "--no-pager", EXPOSURE];
    let judged = analyze(&words, std::slice::from_ref(&file));
    assert!(judged.status.success(), "{}", words_of(&judged));
    fs::write(
        &file,
        text.replace("ProtectSystem=strict\n", "")
            .replace("NoNewPrivileges=yes\n", ""),
    )
    .unwrap();
    assert!(!analyze(&words, &[file]).status.success(), "an open service passes");
}

#[test]
fn the_units_state_what_ends_mean() {
    let service = unit("gridtally@.service");
    let one = |section: &str, name: &str| {
        let found = settings(&service, section, name);
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        found[0].clone()
    };
    assert_eq!(one("Service", "Type"), "oneshot");
    assert_eq!(one("Service", "Restart"), "on-failure");
    assert_eq!(numbers(&one("Service", "RestartPreventExitStatus")), final_codes());
    assert_eq!(one("Service", "SuccessExitStatus"), "143");
    assert_eq!(one("Service", "TimeoutStopSec"), "30s");
    assert_eq!(one("Service", "StateDirectory"), "gridtally/%i");
    assert_eq!(one("Service", "EnvironmentFile"), "-/etc/gridtally/%i.env");
    assert_eq!(one("Unit", "OnFailure"), "gridtally-failure@%i.service");
    let timer = unit("gridtally@.timer");
    assert_eq!(settings(&timer, "Timer", "Persistent"), ["true"]);
    assert_eq!(settings(&timer, "Timer", "Unit"), ["gridtally@%i.service"]);
    // Its process table hides the processes of other users, which the lock of a bucket looks for.
    assert!(settings(&service, "Service", "ProtectProc").is_empty());
}

/// In a root of their own: the user exists, and has the folders that cron, Slurm and the service write to.
#[test]
fn the_user_has_the_folders_of_the_runs() {
    const TEST: &str = "the_user_has_the_folders_of_the_runs";
    if Command::new("systemd-tmpfiles").arg("--version").output().is_err() {
        return skipped(TEST, "there is no systemd-tmpfiles");
    }
    let root = tempfile::tempdir().unwrap();
    if fs::metadata(root.path()).unwrap().uid() != 0 {
        return skipped(TEST, "only root makes folders of others");
    }
    for (kind, folder) in [
        ("sysusers", "usr/lib/sysusers.d"),
        ("tmpfiles", "usr/lib/tmpfiles.d"),
        ("", "etc"),
        ("", "var"),
    ] {
        fs::create_dir_all(root.path().join(folder)).unwrap();
        if !kind.is_empty() {
            let text = deployed(&format!("systemd/gridtally.{kind}"));
            fs::write(root.path().join(folder).join("gridtally.conf"), text).unwrap();
        }
    }
    for words in [&["systemd-sysusers"][..], &["systemd-tmpfiles", "--create"]] {
        let mut command = Command::new(words[0]);
        command
            .arg("--root")
            .arg(root.path())
            .args(&words[1..])
            .arg("gridtally.conf");
        let made = command.output().unwrap();
        assert!(made.status.success(), "{}", words_of(&made));
    }
    let users = fs::read_to_string(root.path().join("etc/passwd")).unwrap();
    let id: u32 = users
        .lines()
        .find_map(|line| line.strip_prefix("gridtally:x:")?.split(':').next()?.parse().ok())
        .unwrap();
    for folder in [
        "lib/gridtally",
        "lib/gridtally/dumps",
        "cache/gridtally",
        "log/gridtally",
    ] {
        assert_eq!(
            fs::metadata(root.path().join("var").join(folder)).unwrap().uid(),
            id,
            "{folder}"
        );
    }
}

#[test]
fn the_command_of_the_service_runs() {
    let site = Site::new();
    let service = unit("gridtally@.service").replace("%i", "site");
    let start = settings(&service, "Service", "ExecStart");
    let line = start[0].replace("$GRIDTALLY_RUN_OPTIONS", &run_options().join(" "));
    for status in ["published", "unchanged"] {
        let placed = site.placed(&line);
        let mut words = placed.split_whitespace();
        let ran = site.command(words.next().unwrap()).args(words).output().unwrap();
        assert!(ran.status.success() && ran.stderr.is_empty(), "{}", words_of(&ran));
        let summary: serde_json::Value =
            serde_json::from_slice(ran.stdout.trim_ascii().rsplit(|byte| *byte == b'\n').next().unwrap()).unwrap();
        assert_eq!(summary["status"], status);
    }
    assert!(site.has_lake());
    let metrics = site.text("metrics/gridtally-site.prom");
    assert!(
        metrics.contains("gridtally_run_last_exit_code{pipeline=\"site\"} 0\n"),
        "{metrics}"
    );
}

#[test]
fn the_hook_of_a_failure_gets_the_name_of_the_pipeline() {
    let site = Site::new();
    let unit = unit("gridtally-failure@.service").replace("%i", "site");
    let start = settings(&unit, "Service", "ExecStart");
    let hook = site.placed(&start[1]);
    let script = hook
        .strip_prefix("/bin/sh -c '")
        .unwrap()
        .strip_suffix("' sh site")
        .unwrap();
    let run = || {
        site.command("/bin/sh")
            .args(["-c", script, "sh", "site"])
            .output()
            .unwrap()
    };
    assert!(run().status.success(), "no hook is none");
    // The hook of the folder, with programs that show what they get.
    site.program("journalctl", "echo \"$@\"");
    site.program("mail", "echo \"$@\"; cat");
    executable(&site.path("etc/on-failure"), &deployed("systemd/on-failure"));
    let mailed = run();
    let words = words_of(&mailed);
    assert!(mailed.status.success(), "{words}");
    assert!(words.contains("-s gridtally: the run of site failed on "), "{words}");
    assert!(words.contains(" root\n--unit gridtally@site.service "), "{words}");
}
