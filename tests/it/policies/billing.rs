//! Billing recomputed from a real cluster's weights, against the billing Slurm recorded.
#![expect(clippy::print_stdout, reason = "a test says what it compared")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use arrow::array::Array;
use gridtally::charge::facts::Facts;
use gridtally::charge::{Options, price};
use gridtally::pipeline::progress::Silent;
use gridtally::pipeline::{Plan, RunOptions, billing, run};
use gridtally::schema::batch::{int, text};
use gridtally::store::{Manifest, Store, read_table};

use super::read;

/// The lake of some dumps and the listings of their machine.
fn lake(folder: &Path, cluster: &str, dumps: &[String], listings: &[String]) -> String {
    let out = folder.join("lake").to_str().unwrap().to_owned();
    let mut pipeline = format!("[pipeline]\nname = \"zoo\"\noutput = {out:?}\nmax_rejected = 1.0\n");
    let _ = writeln!(
        pipeline,
        "[[source]]\nname = \"zoo\"\nformat = \"sacct\"\npaths = {dumps:?}\nsite = \"ZOO\"\ntimezone = \"Europe/Zurich\"\n\
         vo = {{ value = \"zoo\" }}\n[[inventory]]\nname = \"machine\"\npaths = {listings:?}\nsite = \"ZOO\"\ncluster = {cluster:?}\n\
         timezone = \"Europe/Zurich\"\nas_of = 2026-01-01\n"
    );
    fs::write(folder.join("p.toml"), pipeline).unwrap();
    let (plan, _) = Plan::load(&folder.join("p.toml")).unwrap();
    run::run(&plan, &RunOptions::default(), &Silent).unwrap();
    out
}

/// Rows by partition: compared, billed zero; and those that differ.
fn compare(out: &str) -> (BTreeMap<String, [usize; 2]>, Vec<String>) {
    let policy = read(&billing::policy(out, None).unwrap()).unwrap();
    for verdict in policy.test().unwrap() {
        assert!(verdict.failures.is_empty(), "{verdict:?}");
    }
    let store = Store::open_existing(out).unwrap();
    let manifest = Manifest::load(&store).unwrap().unwrap();
    let (mut compared, mut wrong) = (BTreeMap::<String, [usize; 2]>::new(), Vec::new());
    for file in manifest.dataset("records") {
        for batch in read_table(store.reader(&file.path).unwrap(), None, 8192).unwrap() {
            let batch = batch.unwrap();
            let mut reads = policy.reads();
            reads.extend(["cluster", "gpus"]);
            let facts = Facts::of_records(&batch, "ZOO", &reads).unwrap();
            let priced = price(&policy, &Options::new(), &facts, true).unwrap();
            let (recorded, cores) = (
                int(&batch, "alloc_billing_n").unwrap(),
                int(&batch, "alloc_core_n").unwrap(),
            );
            let (jobs, partitions) = (text(&batch, "job_id").unwrap(), text(&batch, "partition").unwrap());
            for row in 0..batch.num_rows() {
                // Without an allocation nothing was billed.
                if recorded.is_null(row) && (cores.is_null(row) || cores.value(row) == 0) {
                    continue;
                }
                let recorded = if recorded.is_null(row) { 0 } else { recorded.value(row) };
                let recomputed = priced.value(row, "stored");
                let partition = partitions.value(row).to_owned();
                let entry = compared.entry(partition.clone()).or_default();
                entry[0] += 1;
                entry[1] += usize::from(recorded == 0);
                if recomputed.as_deref() != Some(recorded.to_string().as_str()) {
                    wrong.push(format!(
                        "{partition} job {}: recorded {recorded}, recomputed {recomputed:?}",
                        jobs.value(row)
                    ));
                }
            }
        }
    }
    (compared, wrong)
}

#[test]
fn recomputed_billing_is_the_recorded_billing_of_every_job() {
    let Some(root) = crate::support::collect::shared("recomputed_billing", "data/slurm") else {
        return;
    };
    for (version, cluster) in [("22.05", "zoo"), ("24.11", "zoo24")] {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| root.join(version).join(name).to_str().unwrap().to_owned();
        let out = lake(
            folder.path(),
            cluster,
            &[path("sacct_all_D_P.txt.xz")],
            &[path("scontrol_part_o.txt"), path("slurm.conf")],
        );
        let (compared, wrong) = compare(&out);
        println!("{version}: jobs compared, and those billed zero, by partition: {compared:?}");
        assert!(wrong.is_empty(), "{version}:\n{}", wrong.join("\n"));
        assert!(compared.len() > 3, "{compared:?}");
    }
}

/// Jobs of the same cluster under `PriorityFlags=MAX_TRES`.
#[test]
fn recomputed_billing_is_the_recorded_billing_where_the_largest_counts() {
    let Some(root) = crate::support::collect::shared("recomputed_billing_max_tres", "data/slurm") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let conf = fs::read_to_string(root.join("24.11/slurm.conf")).unwrap();
    fs::write(
        folder.path().join("slurm.conf"),
        format!("PriorityFlags=MAX_TRES\n{conf}"),
    )
    .unwrap();
    let dump = fs::read_to_string(root.join("24.11-fairshare-variants/maxtres_sacct_P.txt")).unwrap();
    let times = "2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:00:06|zoo24";
    let rows: Vec<String> = dump
        .lines()
        .enumerate()
        .map(|(at, line)| format!("{line}|{}", if at == 0 { "Submit|Start|End|Cluster" } else { times }))
        .collect();
    fs::write(folder.path().join("jobs.txt"), rows.join("\n") + "\n").unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let out = lake(folder.path(), "zoo24", &[path("jobs.txt")], &[path("slurm.conf")]);
    let (compared, wrong) = compare(&out);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(
        compared.values().map(|[jobs, _]| jobs).sum::<usize>(),
        5,
        "{compared:?}"
    );
}
