//! Corrections reach charges: taken back to the last digit, priced again under the name they move to, undone to the byte.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use arrow_array::{Array, Int64Array, RecordBatch, UInt32Array};
use arrow_select::take::take_record_batch;
use gridtally::run::run_report::Status;
use gridtally::schema::batch::{decimal, id};
use gridtally::store::Fact;

use super::charges::{charged, scene};
use super::scene::{Pipeline, Scene, assert_same, published};
use super::tables::{all, forge, int, text};
use crate::support::forge::forge_manifest;
use crate::support::order::out_of_order;

/// The price depends on the account, and what is small is dear: no amount below zero follows from this formula.
const PAID: &str = r#"
id = "paid"
version = "1"
title = "Paid"
source = "invented"
pool = "paid"
unit = "coin"
formula = "cores * price * seconds / 3600"
minimum_charge = 0.5
[[table]]
by = ["account"]
gives = ["price"]
rows = [["moraene", 3]]
missing = [1]
[round]
digits = 2
mode = "up"
[[example]]
name = "one"
in = { account = "moraene", cores = 1, seconds = 3600 }
expect = 3
"#;

const HEAD: &str = "id,action,site,month,vo,account,job_id,to_vo,to_account,job_n,wall_s,alloc_core_s,alloc_memory_byte,\
                    undoes,author,reason,date\n";

fn sign(scene: &Scene, rows: &[&str]) {
    let mut table = HEAD.to_owned();
    for cells in rows {
        let given = cells.split(',').count();
        writeln!(table, "{cells}{}E. Office,as agreed,2026-06-01", ",".repeat(15 - given)).unwrap();
    }
    scene.write("corrections.csv", table.as_bytes());
}

fn house() -> (Scene, Pipeline) {
    let scene = scene();
    scene.write("paid.toml", PAID.as_bytes());
    let mut pipeline = charged().with("corrections", "\"corrections.csv\"");
    pipeline
        .normalise
        .as_mut()
        .unwrap()
        .push_str("[[charge]]\npolicies = [\"paid.toml\"]\n");
    (scene, pipeline)
}

const CENT: i128 = 10_000_000;

/// The charge of `paid` for some core seconds at a price: at least half a coin, and cents rounded up.
fn paid(core_s: i64, price: i64) -> i128 {
    let cents = (i128::from(core_s) * i128::from(price) * 100 + 3599).div_euclid(3600);
    cents.max(50) * CENT
}

fn charge(batch: &RecordBatch, row: usize) -> Option<i128> {
    let charges = decimal(batch, "charge").unwrap();
    charges.is_valid(row).then(|| charges.value(row))
}

/// Charges by policy of the rows a test is about.
fn by_policy(batch: &RecordBatch, takes: impl Fn(usize) -> bool) -> BTreeMap<String, i128> {
    let mut sums = BTreeMap::new();
    for row in (0..batch.num_rows()).filter(|row| takes(*row)) {
        let policy = ["policy", "policy_version", "options"].map(|name| text(batch, name, row).unwrap());
        *sums.entry(policy.join(" ")).or_insert(0) += charge(batch, row).unwrap_or(0);
    }
    sums
}

/// 2026-03-01 as days since 1970.
const MARCH: i64 = 20_513;

#[test]
fn what_is_taken_is_what_was_charged_and_what_is_given_is_priced_again() {
    let (scene, pipeline) = house();
    sign(
        &scene,
        &[
            "C1,void,ALP-T2,2026-03,,firn",
            "C2,remap,,,,lawine,,,moraene",
            "C3,void,,2026-04,,moraene",
            "C4,add,ALP-T2,2026-04,firn,moraene,,,,6,3600,7200",
            "C5,add,ALP-T2,2026-04,firn,moraene,,,,-1,-36,-36",
            "C6,add,ALP-T2,2026-04,firn,firn,,,,1,3600,3600,2147483648",
        ],
    );
    scene.run(&pipeline, "lake");
    assert_eq!(scene.findings("lake"), []);
    let lake = scene.path("lake");
    let (jobs, charges) = (all(&lake, "job_charges"), all(&lake, "charges"));
    let is = |name: &'static str, value: Option<&'static str>| {
        let jobs = jobs.clone();
        move |row: usize| text(&jobs, name, row).as_deref() == value
    };
    // C1 takes what the account was charged in March, under every policy.
    let (recorded, of_firn) = (is("correction_id", None), is("account", Some("firn")));
    let in_march = |row: usize| int(&jobs, "month", row) == Some(MARCH);
    let at_alp = |row: usize| !text(&jobs, "source", row).unwrap().starts_with("bay");
    let was = by_policy(&jobs, |row| {
        recorded(row) && of_firn(row) && in_march(row) && at_alp(row)
    });
    let c1 = by_policy(&jobs, is("correction_id", Some("C1")));
    assert_eq!(was.len(), 5, "{was:?}");
    assert_eq!(c1, was.iter().map(|(policy, sum)| (policy.clone(), -sum)).collect());
    // C2 leaves nothing to pay for lawine.
    let of_lawine = is("account", Some("lawine"));
    assert!(by_policy(&jobs, &of_lawine).values().all(|sum| *sum == 0));
    // What it gives is the formula under the new name, not three times what was rounded or raised to the minimum.
    let records = all(&lake, "records");
    let ids = id(&records, "record_id").unwrap();
    let paid_ids = id(&jobs, "record_id").unwrap();
    let mut given: BTreeMap<Vec<u8>, i128> = BTreeMap::new();
    for row in
        (0..jobs.num_rows()).filter(|row| is("correction_id", Some("C2"))(*row) && is("policy", Some("paid"))(*row))
    {
        if is("account", Some("moraene"))(row) {
            *given.entry(paid_ids.value(row).to_vec()).or_default() += charge(&jobs, row).unwrap_or(0);
        }
    }
    let (mut seen, mut raised) = (0, 0);
    for row in 0..records.num_rows() {
        let Some(given) = given.get(ids.value(row)) else {
            continue;
        };
        let Some(cores) = int(&records, "alloc_core_n", row) else {
            assert_eq!(*given, 0);
            continue;
        };
        let held_s = cores * int(&records, "wall_s", row).unwrap();
        assert_eq!(*given, paid(held_s, 3), "row {row}");
        seen += 1;
        raised += i32::from(*given != 3 * paid(held_s, 1));
    }
    assert!(seen > 20 && raised > 3, "{seen} {raised}");
    // C3 sees what C2 moved and what was there, at its price.
    let of_april = |row: usize| int(&jobs, "month", row) == Some(MARCH + 31);
    let of_moraene = is("account", Some("moraene"));
    let left = by_policy(&jobs, |row| {
        let correction = text(&jobs, "correction_id", row);
        of_moraene(row) && of_april(row) && correction.is_none_or(|id| id == "C2" || id == "C3")
    });
    assert!(left.values().all(|sum| *sum == 0), "{left:?}");
    // Six jobs of ten minutes on two cores at 3 coins; one of 36 seconds on a core is given back at the minimum.
    let of = |id: &'static str| by_policy(&jobs, is("correction_id", Some(id)));
    assert_eq!(of("C4")["paid 1 "], 6 * paid(1200, 3));
    assert_eq!(of("C4")["cores summer "], 4_000_000_002);
    assert_eq!(of("C5")["paid 1 "], -50 * CENT);
    // Memory nobody stated is unknown, and counted; stated, it costs.
    let unknown =
        (0..jobs.num_rows()).find(|row| is("correction_id", Some("C4"))(*row) && is("policy", Some("memory"))(*row));
    assert_eq!(int(&jobs, "unpriced_job_n", unknown.unwrap()), Some(6));
    assert_eq!(
        text(&jobs, "why_unpriced", unknown.unwrap()).as_deref(),
        Some("memory is unknown")
    );
    assert_eq!(of("C6")["memory 1 fee=yes"], 4_000_000_000);
    // All of it is in `charges`, under the ids.
    for id in ["C1", "C2", "C3", "C4", "C5", "C6"] {
        let there = by_policy(&charges, |row| {
            text(&charges, "correction_id", row).as_deref() == Some(id)
        });
        assert_eq!(there, by_policy(&jobs, is("correction_id", Some(id))), "{id}");
    }
    assert_eq!(out_of_order(&scene.path("lake")), Vec::<String>::new());
    assert_eq!(scene.run(&pipeline, "lake").status, Status::Unchanged);
}

#[test]
fn undoing_a_correction_restores_the_bytes_of_charges() {
    let (scene, pipeline) = house();
    let bytes = || -> BTreeMap<String, Vec<u8>> {
        let lake = scene.path("lake");
        let folders = ["charges", "charge_part", "job_charges"].map(|dataset| lake.join(dataset));
        let files = folders.iter().flat_map(|folder| published(folder));
        files
            .map(|path| (path.to_str().unwrap().to_owned(), std::fs::read(path).unwrap()))
            .collect()
    };
    sign(&scene, &[]);
    scene.run(&pipeline, "lake");
    let plain = bytes();
    let rows = [
        "C1,remap,,,kelp,,,tide.example",
        "C2,add,NEW-SITE,2024-04,x,,,,,1,60,60",
        "C3,void,ALP-T2,2026-03,,firn",
        "U1,undo,,,,,,,,,,,,C1",
        "U2,undo,,,,,,,,,,,,C2",
        "U3,undo,,,,,,,,,,,,C3",
    ];
    let mut states = Vec::new();
    for upto in 1..=rows.len() {
        sign(&scene, &rows[..upto]);
        assert_eq!(scene.run(&pipeline, "lake").files_read_n, 0);
        assert_eq!(scene.findings("lake"), [], "{upto}");
        states.push(bytes());
    }
    assert!(states[1].keys().any(|path| path.contains("charges/site=NEW-SITE")));
    assert!(plain != states[0] && states[0] != states[1] && states[1] != states[2]);
    let same = |a: &BTreeMap<String, Vec<u8>>, b: &BTreeMap<String, Vec<u8>>| {
        assert!(a.keys().eq(b.keys()), "{:?}\n{:?}", a.keys(), b.keys());
        for (path, bytes) in a {
            assert!(bytes == &b[path], "{path}");
        }
    };
    same(&plain, &states[5]);
    scene.run(&pipeline, "fresh");
    assert_same(&scene.lake("fresh"), &scene.lake("lake"), "in one go");
}

/// What is held against the order that files state notices another one.
#[test]
fn charges_in_another_order_are_noticed() {
    let (scene, pipeline) = house();
    sign(&scene, &[]);
    scene.run(&pipeline, "lake");
    let lake = scene.path("lake");
    let path = super::tables::files(&lake, "job_charges").remove(0);
    let path = path.strip_prefix(&lake).unwrap().to_str().unwrap().to_owned();
    forge(&lake, &path, |batch| {
        let backwards = (0..u32::try_from(batch.num_rows()).unwrap()).rev();
        take_record_batch(&batch, &UInt32Array::from_iter_values(backwards)).unwrap()
    });
    assert_eq!(out_of_order(&lake), [path]);
}

/// A refund that is not what was charged is found, though all sums agree.
#[test]
fn verify_finds_a_refund_of_another_amount() {
    let (scene, pipeline) = house();
    sign(&scene, &["C1,void,ALP-T2,2026-03,,firn"]);
    scene.run(&pipeline, "lake");
    let lake = scene.path("lake");
    let path = super::tables::files(&lake, "job_charges")
        .iter()
        .map(|path| path.strip_prefix(&lake).unwrap().to_str().unwrap().to_owned())
        .find(|path| path.contains("ALP-T2") && path.contains("2026-03"))
        .unwrap();
    // The account of a refund is another one: no sum per policy changes.
    forge(&lake, &path, |batch| {
        let at = batch.schema_ref().index_of("account").unwrap();
        let accounts: arrow_array::StringArray = (0..batch.num_rows())
            .map(|row| match text(&batch, "correction_id", row) {
                Some(_) => Some("somebody".to_owned()),
                None => text(&batch, "account", row),
            })
            .collect();
        let mut columns = batch.columns().to_vec();
        columns[at] = std::sync::Arc::new(accounts);
        RecordBatch::try_new(batch.schema(), columns).unwrap()
    });
    let findings = scene.findings("lake");
    assert!(
        findings.iter().any(|(_, what)| what.contains("correction C1 takes")),
        "{findings:?}"
    );
}

#[test]
fn a_job_of_a_negative_charge_is_moved_and_verified() {
    let (scene, pipeline) = house();
    let refund = PAID.replace("cores * price", "-1 * cores * price");
    let refund = refund
        .replace("minimum_charge = 0.5\n", "")
        .replace("expect = 3", "expect = -3");
    scene.write("paid.toml", refund.as_bytes());
    sign(&scene, &["C1,remap,,,,lawine,,,moraene"]);
    scene.run(&pipeline, "lake");
    let jobs = all(&scene.path("lake"), "job_charges");
    let moved = (0..jobs.num_rows()).filter(|row| text(&jobs, "correction_id", *row).is_some());
    assert!(moved.filter_map(|row| charge(&jobs, row)).any(|charge| charge < 0));
    assert_eq!(scene.findings("lake"), []);
}

/// The rows of a dataset that are of a correction: each by some columns, of which unknown ones are `None`.
fn of_correction(lake: &Path, dataset: &str, id: &str, columns: &[&str]) -> Vec<Vec<Option<i64>>> {
    let batch = all(lake, dataset);
    let own = (0..batch.num_rows()).filter(|row| text(&batch, "correction_id", *row).as_deref() == Some(id));
    own.map(|row| columns.iter().map(|name| int(&batch, name, row)).collect())
        .collect()
}

/// What an addition does not state is unknown, never zero: its charge where the policy reads it, and its jobs in sums.
#[test]
fn an_addition_without_cores_is_unpriced_and_counted_as_unknown() {
    let (scene, pipeline) = house();
    sign(
        &scene,
        &[
            "A1,add,ALP-T2,2026-03,firn,moraene,,,,2,7200,,1073741824",
            "A2,add,ALP-T2,2026-03,firn,moraene,,,,2,7200,0,1073741824",
        ],
    );
    scene.run(&pipeline, "lake");
    let lake = scene.path("lake");
    let jobs = all(&lake, "job_charges");
    let charged = |id: &str| -> BTreeMap<String, (bool, Option<String>)> {
        let own = (0..jobs.num_rows()).filter(|row| text(&jobs, "correction_id", *row).as_deref() == Some(id));
        own.map(|row| {
            let policy = text(&jobs, "policy", row).unwrap();
            (policy, (charge(&jobs, row).is_some(), text(&jobs, "why_unpriced", row)))
        })
        .collect()
    };
    let expected = |of_cores: &(bool, Option<String>)| -> BTreeMap<String, (bool, Option<String>)> {
        let policies = [
            ("cores", of_cores.clone()),
            ("paid", of_cores.clone()),
            ("memory", (true, None)),
        ];
        policies.map(|(policy, of)| (policy.to_owned(), of)).into()
    };
    assert_eq!(charged("A1"), expected(&(false, Some("cores is unknown".to_owned()))));
    // That there were none is stated.
    assert_eq!(charged("A2"), expected(&(true, None)));
    let mut unpriced = of_correction(&lake, "charges", "A1", &["job_n", "unpriced_job_n"]);
    unpriced.sort();
    unpriced.dedup();
    assert_eq!(unpriced, [[Some(0), Some(2)], [Some(2), Some(0)]]);
    let sums = [
        "job_n",
        "wall_s",
        "cpu_ms",
        "core_unknown_job_n",
        "cpu_unknown_job_n",
        "node_unknown_job_n",
        "billing_unknown_job_n",
        "gpu_unknown_job_n",
    ];
    for (id, core_unknown_job_n) in [("A1", 2), ("A2", 0)] {
        let unknown = [core_unknown_job_n, 2, 2, 2, 0].map(Some);
        let expected = [Some(2), Some(7200), None].into_iter().chain(unknown);
        let expected: Vec<Option<i64>> = expected.collect();
        assert_eq!(of_correction(&lake, "usage", id, &sums), [expected], "{id}");
    }
    assert_eq!(scene.findings("lake"), []);
}

/// A lake that counted additions by another rule counts them again, and becomes the lake of one run.
#[test]
fn additions_of_another_rule_are_counted_again() {
    let (scene, pipeline) = house();
    let additions = [
        "A1,add,ALP-T2,2026-03,firn,moraene,,,,2,7200",
        "A2,add,NEW-SITE,2024-04,x,,,,,1,60,60",
        "U2,undo,,,,,,,,,,,,A2",
    ];
    for of_lake in [&additions[..1], &additions[..3]] {
        sign(&scene, of_lake);
        scene.run(&pipeline, "lake");
        assert_eq!(scene.run(&pipeline, "lake").status, Status::Unchanged);
        let lake = scene.path("lake");
        let of_now = of_correction(&lake, "usage", "A1", &["core_unknown_job_n"]);
        for dataset in ["usage", "usage_part"] {
            for path in super::tables::files(&lake, dataset) {
                let batch = super::tables::read(&path);
                let is_own = |row| text(&batch, "correction_id", row).as_deref() == Some("A1");
                if !(0..batch.num_rows()).any(is_own) {
                    continue;
                }
                let path = path.strip_prefix(&lake).unwrap().to_str().unwrap();
                forge(&lake, path, |batch| without_unknown_cores(&batch));
            }
        }
        forge_manifest(&lake, |manifest| manifest.facts.remove(Fact::Additions));
        assert_eq!(
            of_correction(&lake, "usage", "A1", &["core_unknown_job_n"]),
            [[Some(0)]]
        );
        assert_eq!(scene.run(&pipeline, "lake").status, Status::Published);
        assert_eq!(of_correction(&lake, "usage", "A1", &["core_unknown_job_n"]), of_now);
        assert_eq!(scene.run(&pipeline, "lake").status, Status::Unchanged);
        assert_eq!(scene.findings("lake"), []);
    }
    scene.run(&pipeline, "fresh");
    assert_same(&scene.lake("fresh"), &scene.lake("lake"), "additions of another rule");
}

/// Rows of additions as former versions made them.
fn without_unknown_cores(batch: &RecordBatch) -> RecordBatch {
    let at = batch.schema_ref().index_of("core_unknown_job_n").unwrap();
    let counts: Int64Array = (0..batch.num_rows())
        .map(|row| match text(batch, "correction_id", row) {
            Some(_) => Some(0),
            None => int(batch, "core_unknown_job_n", row),
        })
        .collect();
    let mut columns = batch.columns().to_vec();
    columns[at] = std::sync::Arc::new(counts);
    RecordBatch::try_new(batch.schema(), columns).unwrap()
}
