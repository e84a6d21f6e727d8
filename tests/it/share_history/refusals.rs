//! Pipelines and listings that are wrong: each with its reason, and its line where it has one.

use gridtally::run::RunOptions;

use super::{DumpJob, HEAD, LABS, NO_DECAY, Scene, fairshare, listing, pipeline};
use crate::support::policy::{CHARGE_CORES, CORES};

/// Exit code of a mistake in a configuration.
const CONFIG: i32 = 78;

fn scene() -> Scene {
    let scene = Scene::of_jobs(&[DumpJob::new(1, "lab", "ann", "2026-03-01T10:00:00", 60, 1)]);
    scene.write("cores.toml", CORES);
    scene.write(
        "francs.toml",
        &CORES
            .replace("id = \"cores\"", "id = \"francs\"")
            .replace("core_hour", "chf"),
    );
    scene
}

/// The line of a pipeline that begins so; of several the last one.
fn line_of(pipeline: &str, start: &str) -> usize {
    let lines = pipeline.lines().zip(1..).filter(|(line, _)| line.starts_with(start));
    lines
        .last()
        .map_or_else(|| panic!("no line begins with {start}"), |(_, number)| number)
}

/// Checks what `gridtally check` prints of a pipeline: the line that begins with `start`, and the message.
#[track_caller]
fn assert_refused(pipeline: &str, start: &str, message: &str) {
    let scene = scene();
    scene.write("p.toml", pipeline);
    let output = scene.gridtally(&["check", "p.toml"]);
    let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(CONFIG), "{printed}");
    let place = format!("p.toml:{}", line_of(pipeline, start));
    let found = printed.lines().find(|line| line.contains(message));
    assert!(
        found.is_some_and(|line| line.contains(&place)),
        "{place}: {message} is not in\n{printed}"
    );
}

#[test]
fn settings_that_mean_nothing_are_refused_with_their_line() {
    for (keys, start, message) in [
        (
            "half_life = \"7\"",
            "half_life",
            "half_life = \"7\" is not a duration such as \"7-00:00:00\"",
        ),
        (
            "half_life = \"7 days\"",
            "half_life",
            "half_life = \"7 days\" is not a duration",
        ),
        (
            "half_life = \"0-00:00:00\"",
            "half_life",
            "half_life = \"0-00:00:00\" is not a duration",
        ),
        (
            "half_life = \"none\"\ncalc_period = \"5\"",
            "calc_period",
            "a bare number has no unit: slurm.conf counts it in minutes",
        ),
        (
            "half_life = \"none\"\ncalc_anchor = \"noon\"",
            "calc_anchor",
            "calc_anchor = \"noon\" is not an instant",
        ),
        (
            "half_life = \"12:00:00\"\ndecay = \"halving-steps\"",
            "half_life",
            "counts by whole days: half_life must be days",
        ),
        (
            "half_life = \"none\"\ndampening_factor = 0",
            "[[fairshare]]",
            "dampening_factor must be at least 1",
        ),
        (
            "half_life = \"none\"\ndampening_factor = 70000",
            "dampening_factor",
            "dampening_factor must be a whole number",
        ),
        (
            "half_life = \"none\"\npriority_weight = -1",
            "priority_weight",
            "priority_weight must be a whole number",
        ),
        ("half_life = \"none\"\nreset = \"hourly\"", "reset", "reset"),
        ("half_life = \"none\"\nalgorithm = \"fair\"", "algorithm", "algorithm"),
        (
            "half_life = \"none\"\nusage_factors = { low = \"half\" }",
            "usage_factors",
            "usage_factors: low: ",
        ),
        (
            "half_life = \"none\"\nusage_factors = { low = -1 }",
            "usage_factors",
            "usage_factors: low: ",
        ),
        ("half_life = \"none\"\nweight = 1", "weight", "weight"),
    ] {
        assert_refused(&pipeline(keys), start, message);
    }
}

#[test]
fn runs_and_dated_usage_that_mean_nothing_are_refused_with_their_line() {
    for (keys, start, message) in [
        (
            "half_life = \"none\"\ndaemon_runs = [\n{ start = \"noon\" },\n]",
            "{ start",
            "start = \"noon\" is not an instant",
        ),
        (
            "half_life = \"none\"\ndaemon_runs = [\n{ end = \"2026-03-01T00:00:00Z\" },\n]",
            "{ end",
            "has no start (when the daemon started",
        ),
        (
            "half_life = \"none\"\ndaemon_runs = [\n{ start = \"2026-03-01T00:00:00Z\", end = \"2026-02-01T00:00:00Z\" },\n]",
            "{ start",
            "daemon_runs: it ends before it starts",
        ),
        (
            "half_life = \"none\"\ndaemon_runs = [\n{ start = \"2026-03-01T00:00:00Z\", end = \"2026-03-02T00:00:00Z\", ended = \"crashed\" \
             },\n]",
            "{ start",
            "ended",
        ),
        (
            "half_life = \"none\"\ndaemon_runs = [\n{ start = \"2026-03-01T00:00:00Z\", ended = \"killed\" },\n]",
            "{ start",
            "state end, when it did, as well",
        ),
        (
            "half_life = \"none\"\ndaemon_runs = [\n{ start = \"2026-03-01T00:00:00Z\", end = \"2026-03-02T00:00:00Z\", usage_saved = \
             \"2026-03-01T12:00:00Z\" },\n]",
            "{ start",
            "usage_saved and last_calculation are of a run that was killed",
        ),
        (
            "half_life = \"none\"\ndaemon_runs = [\n{ start = \"2026-02-01T00:00:00Z\", end = \"2026-03-02T00:00:00Z\" },\n{ \
             start = \"2026-03-01T00:00:00Z\" },\n]",
            "{ start",
            "it starts while the run before it runs",
        ),
        (
            "half_life = \"none\"\ndecay = \"continuous\"\ndaemon_runs = [{ start = \"2026-02-01T00:00:00Z\" }]",
            "[[fairshare]]",
            "which only decay = \"slurm-steps\" follows",
        ),
        (
            "half_life = \"none\"\ndated_usage = [\n{ from = \"2026-03-01T00:00:00Z\", until = \"2026-02-01T00:00:00Z\", usage = \
             \"recorded-billing\" },\n]",
            "{ from",
            "dated_usage: it ends before it begins",
        ),
        (
            "half_life = \"none\"\ndated_usage = [\n{ from = \"2026-03-01T00:00:00Z\", usage = \"billing\" },\n]",
            "{ from",
            "usage = \"billing\" is neither",
        ),
        (
            "half_life = \"none\"\ndated_usage = [\n{ from = \"2026-02-01T00:00:00Z\", usage = \"recorded-billing\" },\n{ from = \
             \"2026-03-01T00:00:00Z\", usage = \"recorded-billing\" },\n]",
            "{ from",
            "it begins before the one stated before it has ended",
        ),
    ] {
        assert_refused(&pipeline(keys), start, message);
    }
}

#[test]
fn what_the_section_names_must_be_in_the_pipeline() {
    let text = pipeline(NO_DECAY);
    assert_refused(
        &text.replace("listing = \"shares\"", "listing = \"jobs\""),
        "listing",
        "listing = \"jobs\" is not the name of an [[inventory]]",
    );
    assert_refused(
        &text.replace("recorded-billing", "cores"),
        "usage",
        "usage = \"cores\" is neither \"recorded-billing\" nor the id of a policy that a [[charge]] names",
    );
    let charged = format!(
        "{HEAD}{}{}",
        CHARGE_CORES.replace("cores.toml", "francs.toml"),
        fairshare("oak", NO_DECAY)
    );
    assert_refused(
        &charged.replace("recorded-billing", "francs"),
        "usage",
        "usage = \"francs\" counts in chf, which is no amount for a time",
    );
    assert_refused(
        &format!("{text}{}", fairshare("oak", "half_life = \"1-00:00:00\"")),
        "[[fairshare]]",
        "two [[fairshare]] are of oak at A",
    );
    for key in ["site", "cluster", "listing", "usage"] {
        let section = fairshare("oak", NO_DECAY);
        let kept: Vec<&str> = section
            .lines()
            .filter(|line| !line.starts_with(&format!("{key} =")))
            .collect();
        assert_refused(&format!("{HEAD}{}\n", kept.join("\n")), "[[fairshare]]", key);
    }
}

/// The message of a run that fails, and its exit code.
fn failed(scene: &Scene, pipeline: &str) -> String {
    let before = scene.bytes("lake");
    let options = RunOptions {
        out: Some(scene.path("lake").to_str().unwrap().to_owned()),
        ..RunOptions::default()
    };
    let error = scene.try_run(pipeline, &options).expect_err("it is wrong");
    assert_eq!(error.kind().exit_code(), 78, "{error}");
    assert!(scene.bytes("lake") == before, "a run that fails publishes nothing");
    error.to_string()
}

#[test]
fn without_a_stated_or_listed_half_life_nothing_is_assumed() {
    let message = failed(&scene(), &pipeline(""));
    for part in [
        "the half-life of usage is unknown: state half_life in [[fairshare]]",
        "PriorityDecayHalfLife",
        "site A",
        "cluster oak",
    ] {
        assert!(message.contains(part), "{part} is not in {message}");
    }
}

/// A stated half-life is refused by its line; one of a listing when it is read.
#[test]
fn halving_steps_are_not_counted_by_a_listed_half_life_that_is_no_days() {
    let scene = scene();
    scene.write(
        "shares.conf",
        "ClusterName=oak\nPriorityDecayHalfLife=1-12\nNodeName=c1 CPUs=2\n",
    );
    let head = HEAD.replace("\"shares*.txt\"", "\"shares.txt\", \"shares.conf\"");
    let pipeline = format!("{head}{}", fairshare("oak", "decay = \"halving-steps\""));
    let message = failed(&scene, &pipeline);
    assert!(
        message.contains("halving steps count by whole days, and the listed half-life is 129600 seconds"),
        "{message}"
    );
}

#[test]
fn listings_that_are_no_tree_are_refused_with_their_lines() {
    let scene = scene();
    scene.run(&pipeline(NO_DECAY));
    for (rows, parts) in [
        (
            format!("{LABS}a|b|||1\nb|a|||1\n"),
            ["accounts are above themselves: a under b", "(line 9 of "],
        ),
        (
            "root||||1\nlab||||30\ninst||||10\nlab||ann||2\n".to_owned(),
            [
                "account lab has no parent, and another account is the root already (line 3 of ",
                "accounts_without_parent = \"under-root\"",
            ],
        ),
        (
            format!("{LABS}attic|cellar|||1\n"),
            ["account cellar above account attic is not listed", "(line 9 of "],
        ),
        (
            format!("{LABS}lab||bob||1\n"),
            ["user bob of account lab is listed twice", "(line 9 of "],
        ),
        (
            format!("{LABS}attic||bob||1\n"),
            ["the account of user bob of account attic", "(line 9 of "],
        ),
    ] {
        scene.write("shares.txt", &listing("oak", &rows));
        let message = failed(&scene, &pipeline(NO_DECAY));
        for part in parts.into_iter().chain(["shares.txt)"]) {
            assert!(message.contains(part), "{part} is not in {message}");
        }
    }
    // Without parents it is a tree where the pipeline states so.
    scene.write(
        "shares.txt",
        &listing("oak", "root||||1\nlab||||30\ninst||||10\nlab||ann||2\n"),
    );
    scene.run(&pipeline(&format!(
        "{NO_DECAY}\naccounts_without_parent = \"under-root\""
    )));
    assert_eq!(
        scene.row("2026-03-01", "lab").unwrap().parent_account.as_deref(),
        Some("root")
    );
}

#[test]
fn a_cluster_without_a_listing_is_refused() {
    let scene = scene();
    scene.write("shares.txt", &listing("elm", LABS));
    let message = failed(&scene, &pipeline(NO_DECAY));
    assert!(
        message.contains("no listing of associations of \"shares\" is of cluster oak"),
        "{message}"
    );
}

#[test]
fn options_of_the_report_that_mean_nothing_are_refused() {
    let scene = scene();
    scene.run(&pipeline(NO_DECAY));
    for (options, message) in [
        (&["--half-life", "7"][..], "not a duration such as 7-00:00:00"),
        (&["--at", "yesterday"], "not an instant such as"),
        (&["--decay", "slow"], "one of slurm-steps, continuous, halving-steps"),
        (
            &["--algorithm", "fair"],
            "one of fair-tree, fair-tree-merged-ties, classic, depth-oblivious",
        ),
        (
            &["--decay", "halving-steps", "--half-life", "12:00:00"],
            "halving steps count by whole days",
        ),
        (
            &["--cluster", "elm"],
            "the lake has no fairshare of that cluster; it has that of oak",
        ),
    ] {
        let output = scene.gridtally(&[&["report", "sshare", "lake"], options].concat());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{options:?}: {stderr}");
        assert!(stderr.contains(message), "{options:?}: {stderr}");
    }
}
