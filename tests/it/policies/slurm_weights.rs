//! The policy of a cluster's billing weights, from listings of its partitions and of its settings.

use std::fs;
use std::path::Path;

use gridtally::audit::billing;
use gridtally::charge::Tariff;
use gridtally::error::Kind;

use super::billing::{DUMP, compare, job, lake};

/// The lake of some jobs and of listings, each a name and its text.
fn listed(folder: &Path, jobs: &str, listings: &[(&str, String)]) -> String {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    fs::write(path("jobs.txt"), format!("{DUMP}{jobs}")).unwrap();
    for (name, text) in listings {
        fs::write(path(name), text).unwrap();
    }
    let paths: Vec<String> = listings.iter().map(|(name, _)| path(name)).collect();
    lake(folder, "firnfeld", &[path("jobs.txt")], &paths)
}

/// `scontrol show partition` of one partition.
fn partition(name: &str, weights: &str) -> String {
    format!(
        "PartitionName={name} AllowGroups=ALL Default=YES MaxTime=UNLIMITED Nodes=n[1-2] State=UP TotalCPUs=80 TotalNodes=2 \
         TRES=cpu=80,mem=384000M,node=2 TRESBillingWeights={weights}\n\n"
    )
}

/// `scontrol show config` of a day.
fn config(day: &str, flags: &str) -> String {
    format!(
        "Configuration data as of {day}T00:00:00\nClusterName             = firnfeld\nPriorityFlags           = {flags}\n\
         PriorityType            = priority/multifactor\nSLURM_VERSION           = 24.05.1\n"
    )
}

/// A job of two cores, 16 GiB and a GPU, with this billing.
fn large(billing: u32) -> String {
    job(1, "mixed", &format!("billing={billing},gres/gpu=1,")).replace("mem=1G", "mem=16G")
}

const WEIGHTS: &str = "CPU=1.0,Mem=0.25G,GRES/gpu=2.0";

/// Listings of partitions do not state the rule; those of settings do.
#[test]
fn weights_are_added_up_as_the_settings_state() {
    for (flags, billing) in [
        ("MAX_TRES", 4),
        ("max_tres_gres,SMALL_RELATIVE_TO_TIME", 6),
        ("SMALL_RELATIVE_TO_TIME", 8),
        ("", 8),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let listings = [
            ("part.txt", partition("mixed", WEIGHTS)),
            ("conf.txt", config("2026-01-01", flags)),
        ];
        let (compared, _) = compare(&listed(folder.path(), &large(billing), &listings));
        assert!(compared.is_equal(), "{flags}: {}", compared.text());
        assert_eq!(compared.partitions.len(), 1);
    }
}

/// Of several listings the last one that states the rule counts.
#[test]
fn the_last_listing_of_the_rule_counts() {
    for (day, billing) in [("2025-12-01", 8), ("2026-02-01", 4)] {
        let folder = tempfile::tempdir().unwrap();
        let conf = format!(
            "ClusterName=firnfeld\nNodeName=n[1-2] CPUs=40 RealMemory=192000\n\
             PartitionName=mixed Nodes=n[1-2] TRESBillingWeights={WEIGHTS}\n"
        );
        let listings = [("slurm.conf", conf), ("conf.txt", config(day, "MAX_TRES"))];
        let (compared, _) = compare(&listed(folder.path(), &large(billing), &listings));
        assert!(compared.is_equal(), "{day}: {}", compared.text());
    }
}

/// A rule that nothing states is not made up; where there is one weight, every rule gives the same.
#[test]
fn weights_without_a_rule_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = listed(folder.path(), &large(8), &[("part.txt", partition("mixed", WEIGHTS))]);
    let refused = billing::policy(&out, None).unwrap_err();
    assert_eq!(refused.kind(), Kind::NoInput);
    let text = refused.to_string();
    assert!(
        text.contains("weights of firnfeld, but not its PriorityFlags"),
        "{text}"
    );
    assert!(text.contains("scontrol show config"), "{text}");
    let folder = tempfile::tempdir().unwrap();
    let jobs = job(1, "plain", "billing=4,") + &job(2, "free", "billing=2,");
    let listings = partition("plain", "CPU=2.0") + &partition("free", "");
    let (compared, _) = compare(&listed(folder.path(), &jobs, &[("part.txt", listings)]));
    assert!(compared.is_equal(), "{}", compared.text());
}

/// Licences are in job records; other generic resources are in none, so that a billing with a weight of them is unknown.
#[test]
fn licences_count_and_what_no_record_contains_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = job(1, "slots", "billing=2,")
        + &job(2, "slots", "billing=3,").replace("node=1", "node=1,license/licA=1")
        + &job(3, "slots", "billing=8,").replace("node=1", "node=1,license/licA=4,license/other=1")
        + &job(4, "shards", "billing=2,")
        + &job(5, "plain", "billing=2,");
    let listings = [
        (
            "part.txt",
            partition("slots", "CPU=1.0,license/licA=1.5")
                + &partition("shards", "CPU=1.0,GRES/shard=0.5")
                + &partition("plain", "CPU=1.0"),
        ),
        ("conf.txt", config("2026-01-01", "MAX_TRES")),
    ];
    let out = listed(folder.path(), &jobs, &listings);
    let (compared, _) = compare(&out);
    let counts: Vec<(&str, [u64; 3])> = compared
        .partitions
        .iter()
        .map(|sum| {
            (
                sum.partition.as_deref().unwrap(),
                [sum.equal_n, sum.different_n, sum.unknown_n],
            )
        })
        .collect();
    assert_eq!(
        counts,
        [("plain", [1, 0, 0]), ("shards", [0, 0, 1]), ("slots", [3, 0, 0])],
        "{}",
        compared.text()
    );
    assert_eq!(compared.unknown[0].why, "n_gres_shard is unknown");
    let text = billing::policy(&out, None).unwrap();
    let stated = text.replace("no job has any.\"", "no job has any.\"\nabsent = 0");
    let tariff = Tariff::restored("weights", &stated, "").unwrap();
    let compared = gridtally::audit::billing_comparison::compare(&out, &tariff, None).unwrap();
    assert!(compared.is_equal(), "{}", compared.text());
}
