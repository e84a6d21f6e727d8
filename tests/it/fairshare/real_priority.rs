//! The lines of `sprio -l` of a real cluster, computed again from its jobs and its associations.

use std::collections::BTreeMap;
use std::path::Path;

use gridtally::fairshare::FairshareMethod;
use gridtally::fairshare::priority::{
    FavoredSize, PriorityFacts, PriorityHold, PriorityRule, PriorityScale, PriorityWeights, SizeBasis, TresAmount,
    TresScale, TresWeight, printed,
};
use gridtally::time::instant::parse_local_ms;

use super::listings::{assoc_mgr, fields, name, read};
use super::score;
use crate::support::collect::shared;

/// The configuration of the cluster: 5 nodes of 16 CPUs, 4 of 32, and 2 of 32.
fn rule() -> PriorityRule {
    let weight = |name: &str, weight| TresWeight {
        name: name.to_owned(),
        weight,
    };
    PriorityRule {
        weights: PriorityWeights {
            age: 1000,
            association: 0,
            fairshare: 10_000,
            job_size: 1000,
            partition: 1000,
            qos: 2000,
            tres: vec![weight("cpu", 1000.0), weight("mem", 2000.0), weight("gres/gpu", 3000.0)],
        },
        max_age_s: 3600,
        favored_size: FavoredSize::Large,
        size_basis: SizeBasis::Part,
        association_scale: PriorityScale::OfHighest(0),
        partition_scale: PriorityScale::OfHighest(20),
        qos_scale: PriorityScale::OfHighest(100),
        tres_scale: TresScale::OfPartition,
        node_n: 11,
        cpu_n: 272,
    }
}

/// CPUs, megabytes and `PriorityJobFactor` of a partition.
fn partition(name: &str) -> (u64, u64, u32) {
    match name {
        "cpu" => (208, 832_000, 10),
        "plain" => (80, 320_000, 1),
        other => panic!("partition {other}"),
    }
}

/// The lines of `sprio -l` as words.
fn sprio(path: &Path) -> Vec<Vec<String>> {
    let text = read(path);
    let lines = text.lines().skip(1);
    lines
        .map(|line| line.split_whitespace().map(str::to_owned).collect())
        .collect()
}

fn assert_lines(folder: &Path, last_calculation_s: i64) {
    let listing = assoc_mgr(&folder.join("assoc_mgr.txt"));
    let jobs_text = read(&folder.join("jobs.txt"));
    let jobs: BTreeMap<&str, BTreeMap<&str, &str>> =
        jobs_text.lines().map(fields).map(|job| (job["JobId"], job)).collect();
    let lines = sprio(&folder.join("sprio_l.txt"));
    assert_eq!(lines.len(), 7);
    for line in lines {
        let (job, partition_name) = (&jobs[line[0].as_str()], line[1].as_str());
        let (cpu_n, mem_mb, partition_priority) = partition(partition_name);
        let requested: BTreeMap<&str, &str> = job["ReqTRES"].split(',').filter_map(|of| of.split_once('=')).collect();
        let job_cpu_n: u32 = requested["cpu"].parse().unwrap();
        let job_mem_gb: u64 = requested["mem"].strip_suffix('G').unwrap().parse().unwrap();
        // The clock of the cluster is one hour ahead of UTC.
        let accrue_s = parse_local_ms(job["AccrueTime"]).unwrap() / 1000 - 3600;
        let account = job["Account"];
        let factor = score(
            FairshareMethod::fair_tree(),
            &listing.tree,
            &listing.usage,
            account,
            name(job["UserId"]),
        );
        let terms = rule().terms(&PriorityFacts {
            waiting_s: last_calculation_s - accrue_s,
            fairshare: factor.factor.unwrap(),
            node_n: job["NumNodes"].split('-').next().unwrap().parse().unwrap(),
            cpu_n: job_cpu_n,
            limit_min: 5,
            association_priority: 0,
            partition_priority,
            qos_priority: if job["QOS"] == "high" { 100 } else { 10 },
            tres: vec![
                TresAmount {
                    name: "cpu".to_owned(),
                    amount: u64::from(job_cpu_n),
                    of_partition: cpu_n,
                },
                TresAmount {
                    name: "mem".to_owned(),
                    amount: job_mem_gb * 1024,
                    of_partition: mem_mb,
                },
            ],
            site: 0,
            nice: job["Nice"].parse().unwrap(),
            hold: PriorityHold::Waiting,
        });
        let text = |term: f64| printed(term).to_string();
        let tres: Vec<String> = terms
            .tres
            .iter()
            .filter(|of| printed(of.term) > 0.0)
            .map(|of| format!("{}={}", of.name, text(of.term)))
            .collect();
        let computed = [
            terms.priority.to_string(),
            terms.site.to_string(),
            text(terms.age),
            text(terms.association),
            text(terms.fairshare),
            text(terms.job_size),
            text(terms.partition),
            job["QOS"].to_owned(),
            text(terms.qos),
            terms.nice.to_string(),
            tres.join(","),
        ];
        assert_eq!(computed.as_slice(), &line[4..], "job {} in {partition_name}", line[0]);
    }
}

#[test]
fn every_term_of_every_waiting_job_of_a_real_cluster() {
    let test = "every_term_of_every_waiting_job_of_a_real_cluster";
    let Some(folder) = shared(test, "data/slurm/24.11-fairshare-variants") else {
        return;
    };
    assert_lines(&folder.join("1-fairtree"), 1_795_227_345);
    assert_lines(&folder.join("2-fairtree-tied-accounts-share0"), 1_795_227_405);
}
