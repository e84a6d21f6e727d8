//! What jobs are charged: traceable to the job, in pieces that add up, next to raw usage, in any order of work.

use std::collections::BTreeMap;

use arrow_array::{Array, RecordBatch};
use gridtally::audit::reprice;
use gridtally::charge::Tariff;
use gridtally::config::Plan;
use gridtally::error::Kind;
use gridtally::run::RunOptions;
use gridtally::run::run_report::Status;
use gridtally::schema::batch::{decimal, id};

use super::scene::{Pipeline, Scene, assert_same};
use super::tables::{all, files, forge, int, sum, text};

const NANO: i128 = 1_000_000_000;

/// Core hours times a price; the version of summer costs double.
fn cores(version: &str, validity: &str, price: i64) -> String {
    format!(
        "id = \"cores\"\nversion = \"{version}\"\ntitle = \"Cores\"\nsource = \"invented\"\npool = \"cpu\"\nunit = \"core_hour\"\n{validity}\n\
         formula = \"cores * {price} * seconds / 3600\"\n[[example]]\nname = \"one\"\nin = {{ cores = 1, hours = 2 }}\nexpect = {}\n",
        2 * price
    )
}

const MEMORY: &str = r#"
id = "memory"
version = "1"
title = "Memory"
source = "invented"
pool = "memory"
unit = "gib_hour"
memory_unit = "GiB"
formula = "CASE WHEN fee = 'yes' THEN 2 ELSE 1 END * memory * hours"
[scope]
site = ["ALP-T2"]
[[option]]
name = "fee"
values = ["yes", "no"]
default = "no"
[round]
digits = 3
mode = "up"
[[example]]
name = "one"
in = { site = "ALP-T2", memory = 2, hours = 2 }
expect = 4
"#;

pub(super) fn charged() -> Pipeline {
    let mut pipeline = Pipeline::sample();
    pipeline.normalise.as_mut().unwrap().push_str(
        "[[charge]]\npolicies = [\"policies\"]\n[[charge]]\npolicies = [\"memory.toml\"]\noptions = { fee = \"yes\" }\n\
         [[charge]]\npolicies = [\"memory.toml\"]\n",
    );
    pipeline
}

pub(super) fn scene() -> Scene {
    let scene = Scene::sample();
    scene.write(
        "policies/winter.toml",
        cores("winter", "valid_to = 2026-03-15", 1).as_bytes(),
    );
    scene.write(
        "policies/summer.toml",
        cores("summer", "valid_from = 2026-03-15", 2).as_bytes(),
    );
    scene.write("memory.toml", MEMORY.as_bytes());
    scene
}

/// 2026-03-15 in Zurich.
const CHANGE_MS: i64 = 1_773_529_200_000;

fn charge(batch: &RecordBatch, row: usize) -> Option<i128> {
    let charges = decimal(batch, "charge").unwrap();
    charges.is_valid(row).then(|| charges.value(row))
}

/// Record, policy, version and options.
type Paid = (Vec<u8>, String, String, String);

#[test]
fn every_charge_is_its_jobs_and_pieces_add_up() {
    let scene = scene();
    scene.run(&charged(), "lake");
    assert_eq!(scene.findings("lake"), []);
    let lake = scene.path("lake");
    let (records, jobs) = (all(&lake, "records"), all(&lake, "job_charges"));
    let mut pieces: BTreeMap<Paid, (i128, i64)> = BTreeMap::new();
    let ids = id(&jobs, "record_id").unwrap();
    for row in 0..jobs.num_rows() {
        let of = |name: &str| text(&jobs, name, row).unwrap();
        let key = (
            ids.value(row).to_vec(),
            of("policy"),
            of("policy_version"),
            of("options"),
        );
        let sum = pieces.entry(key).or_default();
        sum.0 += charge(&jobs, row).unwrap_or(0);
        sum.1 += int(&jobs, "alloc_core_s", row).unwrap();
    }
    let record_ids = id(&records, "record_id").unwrap();
    let (mut spanning, mut with_memory) = (0, 0);
    for row in 0..records.num_rows() {
        let number = |name: &str| int(&records, name, row);
        let paid = |policy: &str, version: &str, options: &str| {
            let key = (
                record_ids.value(row).to_vec(),
                policy.to_owned(),
                version.to_owned(),
                options.to_owned(),
            );
            pieces.get(&key).copied()
        };
        let (Some(cores), Some(end)) = (number("alloc_core_n"), number("end_utc")) else {
            continue;
        };
        let (start, wall) = (number("start_utc").unwrap_or(end), number("wall_s").unwrap());
        let whole = i128::from(cores * wall) * NANO;
        let (before, after) = ((CHANGE_MS.min(end) - start).max(0), (end - CHANGE_MS.max(start)).max(0));
        let (winter, summer) = (paid("cores", "winter", ""), paid("cores", "summer", ""));
        // Each version charges the whole job at its price, for its share of the time: to the last billionth.
        for (paid, part, price) in [(winter, before, 1), (summer, after, 2)] {
            let Some((paid, _)) = paid else {
                assert_eq!(part, 0, "row {row}");
                continue;
            };
            let all = i128::from((before + after).max(1));
            let exact = whole * price * i128::from(part);
            let off = (paid * 3600 * all - exact).abs();
            assert!(
                end == start || off <= 3600 * all,
                "row {row}: {paid} for {part} of {all} ms"
            );
            if part > 0 && part == before + after {
                assert!(
                    (paid * 3600 - whole * price).abs() <= 1800,
                    "row {row}: a whole job is rounded once"
                );
            }
        }
        spanning += i32::from(before > 0 && after > 0);
        let raw = [winter, summer]
            .into_iter()
            .flatten()
            .map(|(_, core_s)| core_s)
            .sum::<i64>();
        assert_eq!(raw, cores * wall, "row {row}: raw usage is not the charge");
        if let Some(memory) = number("alloc_memory_byte").filter(|_| paid("memory", "1", "fee=no").is_some()) {
            let exact = i128::from(memory) * i128::from(wall) * NANO;
            let unit = (1_i128 << 30) * 3600;
            for (fee, options) in [(1, "fee=no"), (2, "fee=yes")] {
                let (paid, _) = paid("memory", "1", options).unwrap();
                let over = paid * unit - exact * fee;
                assert!(
                    (-unit..unit * 1_001_000).contains(&over) && paid % 1_000_000 == 0,
                    "row {row} {options}"
                );
            }
            with_memory += 1;
        }
    }
    assert!(spanning > 0 && with_memory > 100, "{spanning} {with_memory}");
}

#[test]
fn charges_are_in_addition_to_the_raw_usage_they_are_made_of() {
    let scene = scene();
    scene.run(&charged(), "lake");
    let lake = scene.path("lake");
    let (charges, usage) = (all(&lake, "charges"), all(&lake, "usage"));
    let of = |policy: &str, name: &str| -> i64 {
        (0..charges.num_rows())
            .filter(|row| text(&charges, "policy", *row).as_deref() == Some(policy))
            .filter_map(|row| int(&charges, name, row))
            .sum()
    };
    assert_eq!(of("cores", "alloc_core_s"), sum(&usage, "alloc_core_s"));
    assert_eq!(
        of("cores", "job_n") + of("cores", "unpriced_job_n"),
        sum(&usage, "job_n")
    );
    for row in 0..charges.num_rows() {
        let unit = text(&charges, "unit", row).unwrap();
        let pool = text(&charges, "pool", row).unwrap();
        assert!(matches!(
            (pool.as_str(), unit.as_str()),
            ("cpu", "core_hour") | ("memory", "gib_hour")
        ));
        assert_eq!(int(&charges, "year_s", row), Some(365 * 86_400));
    }
    let policies = all(&lake, "policies/policies.parquet");
    assert_eq!(policies.num_rows(), 4);
    assert_eq!(text(&policies, "options", 2).as_deref(), Some("fee=no"));
}

#[test]
fn order_threads_and_nights_change_nothing() {
    let scene = scene();
    let pipeline = charged();
    let one = RunOptions {
        threads: Some(1),
        ..RunOptions::default()
    };
    scene.run_with(&pipeline, "lake", one);
    assert_eq!(scene.run(&pipeline, "lake").status, Status::Unchanged);
    let mut all_files = pipeline.files();
    super::scene::shuffle(&mut all_files, 7);
    let half = all_files.len() / 2;
    scene.run(&pipeline.only(&all_files[..half]), "nights");
    scene.run(&pipeline, "nights");
    assert_same(&scene.lake("lake"), &scene.lake("nights"), "nights");
}

#[test]
fn new_policies_charge_again_and_none_takes_the_charges_away() {
    let scene = scene();
    scene.run(&charged(), "lake");
    scene.write(
        "policies/summer.toml",
        cores("summer", "valid_from = 2026-03-15", 3).as_bytes(),
    );
    assert_eq!(scene.run(&charged(), "lake").files_read_n, 0);
    scene.run(&charged(), "fresh");
    assert_same(&scene.lake("fresh"), &scene.lake("lake"), "new price");
    scene.run(&Pipeline::sample(), "lake");
    scene.run(&Pipeline::sample(), "without");
    assert_same(&scene.lake("without"), &scene.lake("lake"), "no policy");
}

/// Doubling every price changes no part; charging memory instead of cores does, and the parts are still the whole.
#[test]
fn two_policies_are_compared_by_their_parts() {
    let scene = scene();
    scene.run(&charged(), "lake");
    let tariff = |text: &str| Tariff::restored("p.toml", text, "").unwrap();
    let out = scene.path("lake");
    let compare = |a: &str, b: &str| reprice::compare(out.to_str().unwrap(), &tariff(a), &tariff(b)).unwrap();
    let same = compare(&cores("a", "", 1), &cores("b", "", 2));
    assert!(same.reassignments.len() > 3 && same.reassignments.iter().all(|payer| payer.change_e4 == 0));
    let core_s: i64 = sum(&all(&out, "usage"), "alloc_core_s");
    let total: i128 = same
        .reassignments
        .iter()
        .map(|payer| gridtally::expr::decimal::parse(&payer.a).unwrap())
        .sum();
    // Each job is rounded to billionths of an hour.
    assert!((total * 3600 - i128::from(core_s) * 10_i128.pow(12)).abs() < 3600 * 1000 * 1000);
    let priced = reprice::all(
        out.to_str().unwrap(),
        &[tariff(&cores("a", "", 1)), tariff(&cores("b", "", 2)), tariff(MEMORY)],
    )
    .unwrap();
    let sums: Vec<i128> = priced
        .iter()
        .map(|priced| {
            let charges = priced.accounts.iter().map(|account| &account.charge);
            charges
                .map(|charge| gridtally::expr::decimal::parse(charge).unwrap())
                .sum()
        })
        .collect();
    assert_eq!(sums[0], total, "alone or with others");
    assert!((sums[1] - 2 * sums[0]).abs() < 1000 * 1000 * 1000 && sums[2] > 0);
    assert!(priced[2].job_n < priced[0].job_n);
    let other = compare(&cores("a", "", 1), MEMORY);
    assert!(
        other.reassignments.iter().any(|payer| payer.change_e4 > 0)
            && other.reassignments.iter().any(|payer| payer.change_e4 < 0)
    );
    assert!(other.job_n[1] > 0, "the second is for one site alone");
    assert!(other.text().contains("jobs priced by both"));
}

#[test]
fn verify_finds_a_charge_that_is_not_its_jobs() {
    let scene = scene();
    scene.run(&charged(), "lake");
    let lake = scene.path("lake");
    let path = files(&lake, "charges")[0]
        .strip_prefix(&lake)
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    forge(&lake, &path, |batch| batch.slice(1, batch.num_rows() - 1));
    let findings = scene.findings("lake");
    assert!(findings.iter().any(|(place, _)| place == "charges"), "{findings:?}");
}

#[test]
fn days_between_two_versions_of_a_policy_are_named() {
    let scene = scene();
    let winter = cores("winter", "valid_to = 2026-03-15", 1);
    for (valid_to, has_gap) in [("2026-03-15", false), ("2026-03-10", true)] {
        let version = winter.replace("2026-03-15", valid_to);
        scene.write("policies/winter.toml", version.as_bytes());
        let (_, warnings) = Plan::load(&scene.file(&charged())).unwrap();
        let gap = "no version of cores holds from 2026-03-10 until before 2026-03-15: what jobs use then is not charged by it";
        assert_eq!(warnings.iter().any(|text| text.contains(gap)), has_gap, "{warnings:?}");
    }
}

#[test]
fn policies_that_fail_or_clash_are_refused() {
    let scene = scene();
    let refused = |what: &str| {
        let error = scene.try_run(&charged(), "lake", RunOptions::default()).unwrap_err();
        assert_eq!(error.kind(), Kind::Config);
        assert!(error.to_string().contains(what), "{what} is not in {error}");
    };
    let winter = cores("winter", "valid_to = 2026-03-15", 1);
    scene.write(
        "policies/winter.toml",
        winter.replace("expect = 2", "expect = 3").as_bytes(),
    );
    refused("policies/winter.toml:9: example \"one\" fails: expected 3, but the policy gives 2");
    scene.write(
        "policies/winter.toml",
        winter.replace("2026-03-15", "2026-03-16").as_bytes(),
    );
    refused("two versions of cores hold at once");
    scene.write(
        "policies/winter.toml",
        winter.replace("\"winter\"", "\"summer\"").as_bytes(),
    );
    refused("the policy cores summer is named twice");
    let storage = winter.replace("pool =", "charges_for = \"storage\"\npool =");
    scene.write("policies/winter.toml", storage.as_bytes());
    // Named alone it is a mistake; in a folder it is left out.
    let mut alone = Pipeline::sample();
    let charge = "[[charge]]\npolicies = [\"policies/winter.toml\"]\n";
    alone.normalise.as_mut().unwrap().push_str(charge);
    let error = scene.try_run(&alone, "lake", RunOptions::default()).unwrap_err();
    let reported = error.to_string();
    assert!(
        reported.contains("cores charges for storage, which no input contains"),
        "{reported}"
    );
    scene.write("policies/winter.toml", winter.as_bytes());
    scene.run(&charged(), "lake");
}
