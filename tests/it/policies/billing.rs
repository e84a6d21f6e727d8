//! Billing recomputed from a real cluster's weights, against the billing Slurm recorded.
#![expect(clippy::print_stdout, reason = "a test prints what it compared")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use gridtally::audit::billing_comparison::BillingComparison;
use gridtally::audit::{billing, billing_comparison};
use gridtally::charge::Tariff;
use gridtally::config::Plan;
use gridtally::run::{RunOptions, stages};
use gridtally::runtime::progress::Silent;
use gridtally::schema::batch::int;
use gridtally::store::{Manifest, Store, read_table};

/// The lake of some dumps and the listings of their machine.
pub(super) fn lake(folder: &Path, cluster: &str, dumps: &[String], listings: &[String]) -> String {
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
    stages::run(&plan, &RunOptions::default(), &Silent).unwrap();
    out
}

/// What the weights of the lake's inventory make of its jobs; jobs that held something, counted as well.
pub(super) fn compare(out: &str) -> (BillingComparison, u64) {
    let text = billing::policy(out, None).unwrap();
    let tariff = Tariff::restored("weights", &text, "").unwrap();
    for verdict in tariff.policy.test().unwrap() {
        assert!(verdict.failures.is_empty(), "{verdict:?}");
    }
    let store = Store::open_existing(out).unwrap();
    let manifest = Manifest::load(&store).unwrap().unwrap();
    let mut held_n = 0;
    for file in manifest.dataset("records") {
        for batch in read_table(store.reader(&file.path).unwrap(), None, 8192).unwrap() {
            let batch = batch.unwrap();
            let cores = int(&batch, "alloc_core_n").unwrap();
            held_n += cores.iter().flatten().filter(|cores| *cores > 0).count() as u64;
        }
    }
    (billing_comparison::compare(out, &tariff, None).unwrap(), held_n)
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
        let (compared, held_n) = compare(&out);
        println!("{version}\n{}", compared.text());
        assert!(compared.is_equal(), "{version}:\n{}", compared.text());
        assert!(compared.partitions.len() > 3, "{}", compared.text());
        assert_eq!(compared.partitions.iter().map(|sum| sum.job_n).sum::<u64>(), held_n);
        // As a user sees it, and what they see when the weights are not those of the records.
        let gridtally = |args: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
            command.args(args).output().unwrap()
        };
        assert!(gridtally(&["policy", "billing", &out]).status.success());
        let other = folder.path().join("other.toml");
        let text = billing::policy(&out, None).unwrap();
        let doubled = text.replace("is = \"floor(billed)\"", "is = \"floor(billed) + 1\"");
        let cut = doubled.split("[[example]]").next().unwrap();
        let example = "[[example]]\nname = \"nobody\"\nin = { cluster = \"nowhere\", partition = \"x\", cores = 1, seconds = 1 }\nexpect = \"not charged\"\n";
        fs::write(&other, format!("{cut}{example}")).unwrap();
        let reported = gridtally(&["policy", "billing", &out, other.to_str().unwrap()]);
        assert_eq!(reported.status.code(), Some(65), "{reported:?}");
        assert!(
            String::from_utf8_lossy(&reported.stdout).contains(", recomputed "),
            "{reported:?}"
        );
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
    let (compared, _) = compare(&out);
    assert!(compared.is_equal(), "{}", compared.text());
    assert_eq!(compared.partitions.iter().map(|sum| sum.job_n).sum::<u64>(), 5);
}

pub(super) const DUMP: &str =
    "JobID|User|Account|Cluster|Partition|Submit|Start|End|Elapsed|State|NCPUS|NNodes|AllocTRES\n";

/// A job of ten minutes on two cores in a partition, with what it was given besides.
pub(super) fn job(id: u32, partition: &str, given: &str) -> String {
    format!(
        "{id}|ada|eis|firnfeld|{partition}|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:10:00|00:10:00|COMPLETED|2|1|\
         {given}cpu=2,mem=1G,node=1\n"
    )
}

/// Weights by model in one partition do not apply to another.
#[test]
fn what_a_partition_does_not_weigh_need_not_be_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let conf = |any: u32| {
        format!(
            "ClusterName=firnfeld\nNodeName=n[1-4] CPUs=8 RealMemory=16000 Gres=gpu:a100:2\n\
             PartitionName=plain Nodes=n[1-4] TRESBillingWeights=CPU=1.0\n\
             PartitionName=any Nodes=n[1-4] TRESBillingWeights=CPU=1.0,GRES/gpu={any}\n\
             PartitionName=typed Nodes=n[1-4] TRESBillingWeights=CPU=1.0,GRES/gpu:a100=8\n\
             PartitionName=both Nodes=n[1-4] TRESBillingWeights=CPU=1.0,GRES/gpu=4,GRES/gpu:a100=8\n\
             PartitionName=large Nodes=n[1-4] TRESBillingWeights=CPU=1.0,Mem=0.25G\n"
        )
    };
    let jobs = [
        job(1, "plain", "billing=2,gres/gpu=1,"),
        job(2, "any", "billing=6,gres/gpu=1,"),
        job(3, "any", "billing=10,gres/gpu:a100=2,gres/gpu=2,"),
        job(4, "typed", "billing=10,gres/gpu:a100=1,gres/gpu=1,"),
        job(5, "both", "billing=6,gres/gpu=1,"),
        job(6, "both", "billing=14,gres/gpu:a100=1,gres/gpu=1,"),
        // Slurm bills the entries of AllocTRES, and no weight is of one of these GPUs.
        job(7, "typed", "billing=2,gres/gpu=1,"),
        job(8, "large", "billing=2,").replace("mem=1G,", ""),
    ];
    fs::write(path("jobs.txt"), format!("{DUMP}{}", jobs.concat())).unwrap();
    fs::write(path("slurm.conf"), conf(4)).unwrap();
    let out = lake(folder.path(), "firnfeld", &[path("jobs.txt")], &[path("slurm.conf")]);
    let (compared, held_n) = compare(&out);
    println!("{}", compared.text());
    let counts = |compared: &BillingComparison| -> Vec<(String, [u64; 3])> {
        let counts = compared.partitions.iter().map(|sum| {
            let partition = sum.partition.clone().unwrap();
            (partition, [sum.equal_n, sum.different_n, sum.unknown_n])
        });
        counts.collect()
    };
    let reported: Vec<(String, [u64; 3])> = [
        ("any", [2, 0, 0]),
        ("both", [2, 0, 0]),
        ("large", [0, 0, 1]),
        ("plain", [1, 0, 0]),
        ("typed", [2, 0, 0]),
    ]
    .map(|(partition, counts)| (partition.to_owned(), counts))
    .into();
    assert_eq!((counts(&compared), held_n), (reported, 8));
    let unknown: Vec<&str> = compared.unknown.iter().map(|job| job.job_id.as_str()).collect();
    assert_eq!(unknown, ["8"]);
    assert_eq!(compared.unknown[0].why, "memory is unknown");
    // Nothing differs: a billing that cannot be recomputed is reported, and is not a failure.
    let gridtally = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        command.args(args).output().unwrap()
    };
    let reported = gridtally(&["policy", "billing", &out]);
    assert!(reported.status.success(), "{reported:?}");
    let words = String::from_utf8_lossy(&reported.stderr).into_owned();
    assert!(words.contains("the billing of 1 jobs cannot be recomputed"), "{words}");
    // A job that differs is a failure, also next to unknown ones.
    fs::write(path("slurm.conf"), conf(5)).unwrap();
    let out = lake(folder.path(), "firnfeld", &[path("jobs.txt")], &[path("slurm.conf")]);
    let reported = gridtally(&["policy", "billing", &out]);
    assert_eq!(reported.status.code(), Some(65), "{reported:?}");
    let words = String::from_utf8_lossy(&reported.stderr).into_owned();
    assert!(words.contains("the recorded billing of 2 jobs is not"), "{words}");
}

/// With a policy of one's own, too, only the jobs of the named cluster are compared.
#[test]
fn billing_of_one_cluster_is_compared_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let other = job(2, "plain", "billing=5,").replace("firnfeld", "moor");
    let jobs = [job(1, "plain", "billing=2,"), other];
    fs::write(path("jobs.txt"), format!("{DUMP}{}", jobs.concat())).unwrap();
    fs::write(
        path("slurm.conf"),
        "ClusterName=firnfeld\nPartitionName=plain Nodes=n[1-4]\n",
    )
    .unwrap();
    let out = lake(folder.path(), "firnfeld", &[path("jobs.txt")], &[path("slurm.conf")]);
    let policy = "id = \"cores\"\nversion = \"1\"\ntitle = \"Cores\"\nsource = \"invented\"\npool = \"tres\"\n\
                  unit = \"billing_second\"\nbilling_is = \"billed\"\nformula = \"billed * seconds\"\n\
                  [[let]]\nname = \"billed\"\nis = \"cores\"\n\
                  [[example]]\nname = \"one\"\nin = { cores = 1, seconds = 2 }\nexpect = 2\n";
    fs::write(path("cores.toml"), policy).unwrap();
    let billing = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        command
            .args(["policy", "billing", &out, &path("cores.toml")])
            .args(more);
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    assert_eq!(billing(&[]).0, Some(65));
    let (code, compared, _) = billing(&["--cluster", "firnfeld"]);
    assert_eq!(code, Some(0), "{compared}");
    assert!(!compared.contains("moor"), "{compared}");
    assert_eq!(billing(&["--cluster", "moor"]).0, Some(65));
    let (code, _, reported) = billing(&["--cluster", "mor"]);
    assert_eq!(code, Some(2), "{reported}");
    assert!(
        reported.contains("the lake has no cluster called \"mor\", did you mean \"moor\"?"),
        "{reported}"
    );
}
