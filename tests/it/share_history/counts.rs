//! What counts, what does not, and that all of it adds up.

use std::collections::BTreeMap;

use gridtally::time::Day;

use super::{DumpJob, E6, HEAD, HOUR_S, NO_DECAY, Row, Scene, day, dump, fairshare, pipeline};
use crate::support::policy::{CHARGE_CORES, CORES};

/// Checks the sums of every day: of own usage over all rows, and of what is below each listed association.
fn assert_sums(rows: &[Row]) {
    let mut days: BTreeMap<Day, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        days.entry(row.day).or_default().push(row);
    }
    for (day, rows) in days {
        let listed: Vec<&&Row> = rows.iter().filter(|row| row.is_listed).collect();
        let is_account = |row: &&&Row, name: Option<&String>| row.user.is_none() && Some(&row.account) == name;
        let root = listed.iter().find(|row| row.parent_account.is_none()).unwrap();
        let own: i128 = rows.iter().map(|row| row.own_e6).sum();
        // Users that are not listed count for their account; accounts that are not listed for nothing.
        let outside = rows.iter().filter(|row| !row.is_listed && row.parent_account.is_none());
        let outside: i128 = outside.map(|row| row.own_e6).sum();
        assert_eq!(own, root.usage_e6 + outside, "day {day}");
        for account in listed.iter().filter(|row| row.user.is_none()) {
            let below = rows
                .iter()
                .filter(|row| row.parent_account.as_ref() == Some(&account.account));
            let below: i128 = below.map(|row| row.usage_e6).sum();
            assert_eq!(
                account.usage_e6,
                account.own_e6 + below,
                "{} on day {day}",
                account.name()
            );
            assert!(is_account(account, Some(&account.account)));
        }
        for user in listed.iter().filter(|row| row.user.is_some()) {
            assert_eq!(user.usage_e6, user.own_e6, "{} on day {day}", user.name());
        }
        assert!(rows.iter().all(|row| row.is_listed == row.norm_shares_e9.is_some()));
    }
}

#[test]
fn own_usage_of_all_rows_is_the_usage_of_the_root_and_of_accounts_without_shares() {
    let mut gpu = DumpJob::new(6, "lab", "ann", "2026-03-02T01:00:00", 3_000, 7);
    gpu.partition = "gpu";
    let jobs = [
        DumpJob::new(1, "lab", "ann", "2026-03-01T10:00:00", 90_000, 3),
        DumpJob::new(2, "lab", "bob", "2026-03-01T11:00:00", 1_234, 1),
        DumpJob::new(3, "inst", "cid", "2026-03-03T23:00:00", 7_200, 2),
        DumpJob::new(4, "lab", "eva", "2026-03-02T10:00:00", 500, 4),
        DumpJob::new(5, "guest", "flo", "2026-03-02T10:00:00", 600, 4),
        gpu,
    ];
    let scene = Scene::of_jobs(&jobs);
    for keys in [
        NO_DECAY,
        "half_life = \"1-00:00:00\"",
        "half_life = \"05:00:00\"\ndecay = \"continuous\"\nalgorithm = \"classic\"",
        "half_life = \"1-00:00:00\"\ndecay = \"halving-steps\"\nalgorithm = \"depth-oblivious\"",
    ] {
        scene.run(&pipeline(keys));
        let rows = scene.rows("lake", "oak");
        assert_sums(&rows);
        let days = rows.iter().map(|row| row.day);
        assert_eq!(
            (days.clone().min(), days.max()),
            (Some(day("2026-03-01")), Some(day("2026-03-04")))
        );
    }
    scene.run(&pipeline(NO_DECAY));
    // Nothing is lost: all billing seconds of all jobs.
    let last: i128 = (scene.rows("lake", "oak").iter())
        .filter(|row| row.day == day("2026-03-04"))
        .map(|row| row.own_e6)
        .sum();
    let all: i64 = jobs.iter().map(|job| job.wall_s * job.billing).sum();
    assert_eq!(last, i128::from(all) * E6);
    // A job on gpu counts for the association of that partition, others for the one without.
    assert_eq!(scene.own_s("2026-03-04", "lab/ann/gpu"), Some(21_000));
    assert_eq!(scene.own_s("2026-03-04", "lab/ann"), Some(270_000));
    let eva = scene.row("2026-03-04", "lab/eva").unwrap();
    assert!(!eva.is_listed && eva.parent_account.as_deref() == Some("lab") && eva.factor_e9.is_none());
    let flo = scene.row("2026-03-04", "guest/flo").unwrap();
    assert!(!flo.is_listed && flo.parent_account.is_none() && flo.share_n.is_none());
    // Before they used anything they have no row, and listed ones have one.
    assert_eq!(scene.row("2026-03-01", "guest/flo"), None);
    assert_eq!(scene.own_s("2026-03-01", "inst/cid"), Some(0));
}

#[test]
fn jobs_that_cannot_be_counted_are_reported_by_number() {
    let job = |id, account, user| DumpJob::new(id, account, user, "2026-03-01T10:00:00", 60, 2);
    let mut text = dump(&[
        job(1, "lab", "ann"),
        job(2, "", "ann"),
        job(3, "", "bob"),
        job(4, "lab", "gus"),
    ]);
    text.push_str(&job(5, "lab", "bob").row().replace("billing=2,cpu=1,mem=1G,node=1", ""));
    let start = "2026-03-01T10:00:00|";
    text.push_str(
        &job(6, "lab", "bob")
            .row()
            .replace(&format!("{start}{start}"), &format!("{start}Unknown|")),
    );
    let scene = Scene::of_jobs(&[]);
    scene.write("jobs-1.txt", &text);
    let messages = scene.run_messages(&pipeline(NO_DECAY));
    for stated in [
        "fairshare of oak: 2 jobs are not counted: they have no account (first: job ",
        "fairshare of oak: 1 jobs are not counted: what they are counted by is unknown (first: job 5)",
        "fairshare of oak: 1 jobs are not counted: when they ran is unknown (first: job 6)",
    ] {
        assert!(
            messages.iter().any(|message| message.starts_with(stated)),
            "{stated} is not in {messages:#?}"
        );
    }
    let report = scene.run_into(&pipeline(NO_DECAY), "other", None);
    let uncounted: Vec<(&str, u64)> = (report.fairshare_uncounted.iter())
        .map(|of| (of.reason, of.job_n))
        .collect();
    assert_eq!(
        uncounted,
        [
            ("they have no account", 2),
            ("what they are counted by is unknown", 1),
            ("when they ran is unknown", 1)
        ]
    );
    assert_eq!(scene.own_s("2026-03-01", "lab/ann"), Some(120));
    assert_eq!(scene.own_s("2026-03-01", "lab/bob"), Some(0));
    let (printed, people) = scene.done(&["report", "sshare", "lake", "--users", "--parsable"]);
    assert!(
        people.contains("2 jobs are not counted: they have no account"),
        "{people}"
    );
    assert!(
        people.contains("1 associations with usage are not in the listing of associations"),
        "{people}"
    );
    assert!(!printed.contains("gus"), "sshare lists associations alone: {printed}");
    assert!(
        printed.contains(" lab||30|0.750000|240|1.000000|"),
        "gus counts for lab: {printed}"
    );
}

#[test]
fn a_running_job_counts_up_to_its_wall_time_and_then_as_it_ended() {
    let whole = DumpJob::new(1, "lab", "ann", "2026-03-01T22:00:00", 5 * HOUR_S, 2);
    let mut running = whole.clone();
    (running.end_s, running.wall_s) = (None, 3 * HOUR_S);
    let scene = Scene::of_jobs(&[running]);
    scene.run(&pipeline(NO_DECAY));
    assert_eq!(scene.own_s("2026-03-01", "lab/ann"), Some(4 * 3_600));
    assert_eq!(scene.own_s("2026-03-02", "lab/ann"), Some(6 * 3_600));
    scene.write("jobs-2.txt", &dump(&[whole]));
    scene.run(&pipeline(NO_DECAY));
    assert_eq!(scene.own_s("2026-03-01", "lab/ann"), Some(4 * 3_600));
    assert_eq!(scene.own_s("2026-03-02", "lab/ann"), Some(10 * 3_600));
}

#[test]
fn usage_of_a_policy_is_what_it_charges_for_a_second() {
    let scene = Scene::of_jobs(&[DumpJob::new(1, "lab", "ann", "2026-03-01T23:00:00", 2 * HOUR_S, 9)]);
    scene.write("cores.toml", CORES);
    let section = fairshare("oak", NO_DECAY).replace("recorded-billing", "cores");
    scene.run(&format!("{HEAD}{CHARGE_CORES}{section}"));
    // One core, in core seconds.
    assert_eq!(scene.own_s("2026-03-01", "lab/ann"), Some(3_600));
    assert_eq!(scene.own_s("2026-03-02", "lab/ann"), Some(7_200));
}

#[test]
fn usage_factors_of_a_qos_multiply_and_points_are_cut() {
    let mut low = DumpJob::new(1, "lab", "ann", "2026-03-01T10:00:00", 1_000, 3);
    low.qos = "low";
    let mut free = DumpJob::new(2, "lab", "ann", "2026-03-01T10:00:00", 1_000, 3);
    free.qos = "free";
    let other = DumpJob::new(3, "lab", "bob", "2026-03-01T10:00:00", 1_000, 3);
    let scene = Scene::of_jobs(&[low, free, other]);
    let keys = format!("{NO_DECAY}\nusage_factors = {{ low = \"0.25\", free = 0 }}\npriority_weight = 1000");
    scene.run(&pipeline(&keys));
    assert_eq!(scene.own_s("2026-03-01", "lab/ann"), Some(750));
    assert_eq!(scene.own_s("2026-03-01", "lab/bob"), Some(3_000));
    // The order of the four users: cid of an idle account first, then within lab ann on gpu, ann, bob.
    for (name, points) in [
        ("inst/cid", 1000),
        ("lab/ann/gpu", 750),
        ("lab/ann", 500),
        ("lab/bob", 250),
    ] {
        assert_eq!(
            scene.row("2026-03-01", name).unwrap().priority_n,
            Some(points),
            "{name}"
        );
    }
    assert_eq!(scene.row("2026-03-01", "lab").unwrap().priority_n, None);
}
