//! Other rules: what they make of the jobs is what a lake of such a pipeline has.

use std::collections::BTreeMap;

use super::{RULE, associations, jobs, name_of, number, scene, table};
use crate::share_history::{DAY_S, DumpJob, HEAD, HOUR_S, Scene, at, day, fairshare, listing, pipeline, real};
use crate::support::policy::{CHARGE_CORES, CORES};

/// Half of the ninth digit, and a little for the double.
const DIGITS: f64 = 6e-10;

/// A factor by day and user.
type Factors = BTreeMap<(String, String), f64>;

/// Those of the `fairshare` dataset of a lake.
fn published(scene: &Scene, lake: &str) -> Factors {
    let rows = scene.rows(lake, "oak").into_iter().filter(|row| row.user.is_some());
    let first = day("2026-03-01");
    let factors = rows.filter_map(|row| {
        let date = format!("2026-03-{:02}", row.day - first + 1);
        Some(((date, row.name()), real(row.factor_e9?) / 1e9))
    });
    factors.collect()
}

/// Those of one side of a what-if.
fn compared(scene: &Scene, side: &str, args: &[&str]) -> Factors {
    let period = ["--from", "2026-03-01", "--to", "2026-03-05"];
    let rows = table(scene, "days", &[args, &period].concat());
    let users = rows.iter().filter(|row| row["user"].is_string());
    let of_day = |row: &BTreeMap<String, serde_json::Value>| (row["day"].as_str().unwrap().to_owned(), name_of(row));
    users
        .map(|row| (of_day(row), number(row, &format!("factor_{side}"))))
        .collect()
}

#[track_caller]
fn assert_alike(are: &Factors, expected: &Factors) {
    assert_eq!(are.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    assert_eq!(are.len(), 5 * 4);
    for (of, is) in are {
        assert!(
            (is - expected[of]).abs() < DIGITS,
            "{of:?}: {is} is not {}",
            expected[of]
        );
    }
}

#[test]
fn the_days_of_a_what_if_are_those_of_a_lake_of_such_a_pipeline() {
    let rules = [
        "half_life = \"10:00:00\"\nalgorithm = \"classic\"",
        "half_life = \"2-00:00:00\"\ncalc_period = \"01:00:00\"\ncalc_anchor = \"2026-03-01T00:17:00Z\"\nalgorithm = \"classic\"",
        "half_life = \"1-00:00:00\"\ndecay = \"continuous\"\nalgorithm = \"depth-oblivious\"\ndampening_factor = 3",
        "half_life = \"1-00:00:00\"\ndecay = \"halving-steps\"\nalgorithm = \"classic\"\nreset = \"weekly\"",
        "half_life = \"none\"\nreset = \"daily\"\nalgorithm = \"fair-tree\"\nusage_factors = { normal = \"0.5\" }",
    ];
    let scene = scene(RULE);
    let before = published(&scene, "lake");
    for rule in rules {
        scene.write("rule.toml", rule);
        let what_if = ["--what-if", "rule.toml"];
        assert_alike(&compared(&scene, "before", &what_if), &before);
        scene.run_into(&pipeline(rule), "other", None);
        assert_alike(&compared(&scene, "after", &what_if), &published(&scene, "other"));
    }
    let shares = [
        "--shares",
        "inst=25",
        "--shares",
        "lab/ann=+4",
        "--shares",
        "lab/bob=parent",
    ];
    let after = compared(&scene, "after", &shares);
    let labs =
        "root||||1\nlab|root|||30\ninst|root|||25\nlab||ann||6\nlab||bob||parent\nlab||ann|gpu|5\ninst||cid||parent\n";
    scene.write("shares.txt", &listing("oak", labs));
    scene.run_into(&pipeline(RULE), "other", None);
    assert_alike(&after, &published(&scene, "other"));
}

#[test]
fn usage_by_a_policy_is_that_of_a_lake_that_counts_by_it() {
    let scene = Scene::of_jobs(&jobs());
    scene.write("cores.toml", CORES);
    let by_cores = fairshare("oak", RULE).replace("recorded-billing", "cores");
    scene.run_into(&format!("{HEAD}{CHARGE_CORES}{by_cores}"), "other", None);
    let expected = published(&scene, "other");
    // Charged by the policy, and counted by the recorded billing.
    scene.run(&format!("{HEAD}{CHARGE_CORES}{}", fairshare("oak", RULE)));
    assert_ne!(published(&scene, "lake"), expected);
    scene.write("named.toml", "usage = \"cores\"\n");
    scene.write("priced.toml", "policy = \"cores.toml\"\n");
    for file in ["named.toml", "priced.toml"] {
        let what_if = ["--what-if", file];
        assert_alike(&compared(&scene, "after", &what_if), &expected);
        let stated = table(&scene, "assumptions", &what_if);
        let before = stated.iter().map(|row| (row["what"].as_str(), row["before"].as_str()));
        assert_eq!(before.collect::<Vec<_>>(), [(Some("usage"), Some("recorded-billing"))]);
    }
}

/// A policy whose version of the third of March charges in hours in place of minutes.
#[test]
fn versions_in_two_units_are_one_policy_of_usage() {
    let scene = Scene::of_jobs(&jobs());
    scene.write("cores.toml", CORES);
    let minutes = CORES
        .replace("unit = \"core_hour\"", "unit = \"core_minute\"\nvalid_to = 2026-03-03")
        .replace("/ 3600", "/ 60")
        .replace("expect = 4", "expect = 240");
    let hours = CORES.replace("version = \"1\"", "version = \"2\"\nvalid_from = 2026-03-03");
    scene.write("minutes.toml", &minutes);
    scene.write("hours.toml", &hours);
    let charge = "[[charge]]\npolicies = [\"minutes.toml\", \"hours.toml\"]\n";
    scene.run(&format!("{HEAD}{charge}{}", fairshare("oak", RULE)));
    scene.write("named.toml", "usage = \"cores\"\n");
    scene.write("priced.toml", "policy = \"cores.toml\"\n");
    let priced = compared(&scene, "after", &["--what-if", "priced.toml"]);
    assert_alike(&compared(&scene, "after", &["--what-if", "named.toml"]), &priced);
}

/// Two accounts of one user each, so that the classic formula is flat: what each job is worth is an integral in closed form.
#[test]
fn another_half_life_is_what_the_integral_of_its_decay_gives() {
    let jobs = [
        DumpJob::new(1, "lab", "bob", "2026-03-01T06:00:00", 3 * HOUR_S, 4),
        DumpJob::new(2, "inst", "cid", "2026-03-05T00:00:00", 5 * HOUR_S, 2),
    ];
    let scene = Scene::of_jobs(&jobs);
    scene.run(&pipeline(
        "half_life = \"7-00:00:00\"\ndecay = \"continuous\"\nalgorithm = \"classic\"",
    ));
    let at_s = at("2026-03-06T00:00:00");
    for half_life_day in [7_i64, 1] {
        let args = [
            "--at",
            "2026-03-06T00:00:00Z",
            "--half-life",
            &format!("{half_life_day}-00:00:00"),
        ];
        let rows = associations(&scene, &args);
        let half_life_s = real(half_life_day * DAY_S);
        // Integral of 2^(-age / H) over the seconds of the job, times its billing.
        let worth = |job: &DumpJob| {
            let weight = |unix_s: i64| (-real(at_s - unix_s) / half_life_s).exp2();
            half_life_s / std::f64::consts::LN_2
                * (weight(job.end_s.unwrap()) - weight(job.start_s))
                * real(job.billing)
        };
        let (lab, inst) = (worth(&jobs[0]), worth(&jobs[1]));
        for (name, own, part) in [("lab", lab, 0.75), ("inst", inst, 0.25)] {
            let used = own / (lab + inst);
            assert!(
                (number(&rows[name], "effective_usage_after") - used).abs() < 1e-9,
                "{name}"
            );
            let factor = (-used / part).exp2();
            assert!((number(&rows[name], "factor_after") - factor).abs() < 2e-9, "{name}");
        }
        let expected = if half_life_day == 7 { "same" } else { "gains" };
        assert_eq!(rows["lab"]["outcome"], expected, "older usage counts less");
    }
}

#[test]
fn priority_points_follow_the_factor_and_its_weight() {
    let scene = scene(RULE);
    scene.write("weight.toml", "priority_weight = 20_000_000\n");
    for row in associations(&scene, &["--what-if", "weight.toml"]).values() {
        let factor = number(row, "factor_before");
        assert!((number(row, "priority_before") - (10_000.0 * factor).floor()).abs() <= 1.0);
        assert!((number(row, "priority_after") - (20_000_000.0 * factor).floor()).abs() <= 1.0);
        let difference = number(row, "priority_after") - number(row, "priority_before");
        assert!((number(row, "priority_difference") - difference).abs() < 1e-6);
        assert_eq!(row["outcome"], "same", "the factor is");
    }
}

/// Three parts of the usage against one with equal shares are equal after log2(3) half-lives.
#[test]
fn recovery_is_in_closed_form_where_a_site_is_flat() {
    let jobs = [
        DumpJob::new(1, "lab", "bob", "2026-03-01T00:00:00", HOUR_S, 3),
        DumpJob::new(2, "inst", "cid", "2026-03-01T00:00:00", HOUR_S, 1),
    ];
    let scene = Scene::new(&[
        (
            "shares.txt",
            &listing(
                "oak",
                "root||||1\nlab|root|||10\ninst|root|||10\nlab||bob||parent\ninst||cid||parent\n",
            ),
        ),
        ("jobs-1.txt", &super::super::dump(&jobs)),
    ]);
    scene.run(&pipeline(
        "half_life = \"7-00:00:00\"\ndecay = \"continuous\"\nalgorithm = \"classic\"",
    ));
    let command = ["report", "sshare", "lake", "--users", "--parsable"];
    let plain = scene.done(&command).0;
    assert!(
        plain.starts_with("Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare\n"),
        "{plain}"
    );
    let (text, _) = scene.done(&[&command[..], &["--recovery", "0.5"]].concat());
    let last_two = |account: &str, user: &str| {
        let found = text
            .lines()
            .find(|line| line.trim_start().starts_with(&format!("{account}|{user}|")));
        let cells: Vec<&str> = found
            .unwrap_or_else(|| panic!("{account}: {text}"))
            .split('|')
            .collect();
        [cells[cells.len() - 2].to_owned(), cells[cells.len() - 1].to_owned()]
    };
    // Rounded up to a hundredth of a day.
    let expected = format!("{:.2}", (7.0 * 3_f64.log2() * 100.0).ceil() / 100.0);
    assert_eq!(last_two("lab", ""), [expected.as_str(), "when-idle"]);
    assert_eq!(last_two("lab", "bob"), [expected.as_str(), "when-idle"]);
    assert_eq!(last_two("inst", ""), ["", "above"]);
    // Without decay it is never back; with a half of the half-life in half the days.
    let (never, _) = scene.done(&[&command[..], &["--recovery", "0.5", "--half-life", "none"]].concat());
    assert!(
        never
            .lines()
            .any(|line| line.contains("lab||") && line.ends_with("||never")),
        "{never}"
    );
    let rows = table(
        &scene,
        "associations",
        &["--half-life", "3-12:00:00", "--recovery", "0.5"],
    );
    let lab = rows.iter().find(|row| name_of(row) == "lab").unwrap();
    assert_eq!(
        (&lab["recovery_before"], &lab["recovery_after"]),
        (&"when-idle".into(), &"when-idle".into())
    );
    let (before, after) = (number(lab, "recovery_days_before"), number(lab, "recovery_days_after"));
    assert!((before - 2.0 * after).abs() <= 0.02, "{before} {after}");
    let output = scene.gridtally(&[&command[..], &["--recovery", "0.5", "--decay", "halving-steps"]].concat());
    assert_eq!(output.status.code(), Some(2));
}
