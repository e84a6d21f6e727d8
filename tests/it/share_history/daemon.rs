//! Runs of the daemon and times of other charges, stated in a pipeline: reports of an instant by hand, and the days beside them.

use super::{DumpJob, HEAD, NO_DECAY, Scene, fairshare, pipeline};
use crate::support::policy::{CHARGE_CORES, CORES};

/// Exit code of a mistake in a configuration.
const CONFIG: i32 = 78;

/// Usage of `lab/ann` at an instant, and what is reported for people.
fn listed(scene: &Scene, at: &str) -> (i64, String) {
    let command = ["report", "sshare", "lake", "--users", "--parsable", "--at", at];
    let (text, words) = scene.done(&command);
    let line = text
        .lines()
        .find(|line| line.trim_start().starts_with("lab|ann|"))
        .unwrap();
    (line.split('|').nth(4).unwrap().parse().unwrap(), words)
}

/// What is left after so many seconds of a half-life of a day.
fn left(seconds: i32) -> f64 {
    (1.0 - 0.693 / 86_400.0_f64).powi(seconds)
}

fn piece(seconds: i32) -> f64 {
    f64::from(seconds) * left(seconds)
}

#[track_caller]
fn assert_cut(found: i64, expected: f64) {
    assert_eq!(found.to_string(), format!("{:.0}", expected.floor()), "{expected}");
}

/// A job of four runs all day; calculations every half hour.
#[test]
fn reports_follow_the_runs_of_the_pipeline_and_days_do_not() {
    const KEYS: &str =
        "half_life = \"1-00:00:00\"\ncalc_period = \"00:30:00\"\ncalc_anchor = \"2026-03-01T00:00:00Z\"\n";
    let scene = Scene::of_jobs(&[DumpJob::new(1, "lab", "ann", "2026-03-01T10:00:00", 36_000, 4)]);
    scene.run(&pipeline(KEYS));
    let before = scene.bytes("lake");
    let (usage, words) = listed(&scene, "2026-03-01T11:00:00Z");
    assert_cut(usage, 4.0 * piece(1800) * (1.0 + left(1800)));
    assert!(!words.contains("daemon_runs"), "{words}");

    // Started again at 10:40, with its first calculation ten seconds later.
    let restarted = format!(
        "{KEYS}daemon_runs = [{{ start = \"2026-03-01T10:40:00Z\", first_calculation = \"2026-03-01T10:40:10Z\" }}]\n"
    );
    let report = scene.run(&pipeline(&restarted));
    assert!(
        report.written.iter().all(|path| !path.starts_with("fairshare/")),
        "{:?}",
        report.written
    );
    assert!(scene.bytes("lake") == before, "no day follows the daemon");
    let (usage, words) = listed(&scene, "2026-03-01T11:00:00Z");
    assert_cut(usage, 4.0 * (piece(1800) * left(610) + piece(610)));
    assert!(
        words.contains("daemon_runs states 1 runs of the daemon, listings of settings 0 more"),
        "{words}"
    );
    let (usage, words) = listed(&scene, "2026-03-01T10:35:00Z");
    assert_cut(usage, 4.0 * piece(1800));
    assert!(!words.contains("daemon_runs"), "it had not started: {words}");

    // Killed at 11:20 after a calculation at 11:10:10, which it had not saved, and started again at 11:30.
    let killed = restarted.replace(
        "\"2026-03-01T10:40:10Z\" }",
        "\"2026-03-01T10:40:10Z\", end = \"2026-03-01T11:20:00Z\", ended = \"killed\", usage_saved = \"2026-03-01T11:00:00Z\" }, \
         { start = \"2026-03-01T11:30:00Z\" }",
    );
    scene.run(&pipeline(&killed));
    let (usage, words) = listed(&scene, "2026-03-01T11:31:00Z");
    let saved = piece(1800) * left(610) + piece(610);
    assert_cut(usage, 4.0 * (saved * left(1190) + piece(1190)));
    assert!(words.contains("left out 1800 seconds of decay"), "{words}");
    assert!(scene.bytes("lake") == before);
}

#[test]
fn a_listing_that_states_a_start_during_a_stated_run_is_refused() {
    let scene = Scene::of_jobs(&[DumpJob::new(1, "lab", "ann", "2026-03-01T10:00:00", 60, 1)]);
    scene.write(
        "config.txt",
        "Configuration data as of 2026-03-02T00:00:00\nBOOT_TIME = 2026-03-01T12:00:00\nClusterName = oak\n",
    );
    let inventory = "[[inventory]]\nname = \"config\"\npaths = [\"config.txt\"]\nsite = \"A\"\ntimezone = \"UTC\"\n";
    let runs = |end: &str| {
        format!("{NO_DECAY}\ndaemon_runs = [{{ start = \"2026-03-01T00:00:00Z\", end = \"2026-03-01T{end}Z\" }}]")
    };
    scene.run(&format!("{HEAD}{inventory}{}", fairshare("oak", &runs("11:00:00"))));
    let (_, words) = listed(&scene, "2026-03-01T13:00:00Z");
    assert!(
        words.contains("daemon_runs states 1 runs of the daemon, listings of settings 1 more"),
        "{words}"
    );
    scene.run(&format!("{HEAD}{inventory}{}", fairshare("oak", &runs("13:00:00"))));
    let refused = scene.gridtally(&["report", "sshare", "lake"]);
    let words = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(CONFIG), "{words}");
    assert!(words.contains("started at 2026-03-01T12:00:00Z (BOOT_TIME)"), "{words}");
    assert!(words.contains("it starts while the run before it runs"), "{words}");
}

/// An hour of a job on one CPU whose recorded billing is four, by CPUs from half past on.
#[test]
fn seconds_of_a_job_are_counted_by_what_holds_then() {
    let jobs = [
        DumpJob::new(1, "lab", "ann", "2026-03-01T10:00:00", 3600, 4),
        DumpJob::new(2, "lab", "bob", "2026-03-01T08:00:00", 3600, 4),
    ];
    let scene = Scene::of_jobs(&jobs);
    scene.write("cores.toml", CORES);
    let dated = |until: &str| {
        let keys =
            format!("{NO_DECAY}\ndated_usage = [{{ from = \"2026-03-01T10:30:00Z\"{until}, usage = \"cores\" }}]");
        format!("{HEAD}{CHARGE_CORES}{}", fairshare("oak", &keys))
    };
    scene.run(&dated(""));
    assert_eq!(scene.own_s("2026-03-01", "lab/ann"), Some(1800 * 4 + 1800));
    assert_eq!(scene.own_s("2026-03-01", "lab/bob"), Some(3600 * 4));
    let (usage, words) = listed(&scene, "2026-03-01T11:00:00Z");
    assert_eq!(usage, 1800 * 4 + 1800);
    assert!(
        words.contains("dated_usage states 1 times in which jobs are counted by something else"),
        "{words}"
    );
    // For ten minutes alone, and the days are made again.
    scene.run(&dated(", until = \"2026-03-01T10:40:00Z\""));
    assert_eq!(scene.own_s("2026-03-01", "lab/ann"), Some(3000 * 4 + 600));
    assert_eq!(scene.own_s("2026-03-01", "lab/bob"), Some(3600 * 4));
}
