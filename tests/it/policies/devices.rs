//! Devices of jobs that are named in part: none of a job's GPUs is free because its model is not known.

use std::collections::BTreeMap;
use std::fs;

use gridtally::audit::{billing_comparison, reprice};
use gridtally::charge::Tariff;

use super::billing::{DUMP, job, lake};

/// Jobs by account: GPUs in all, and those of a model.
const JOBS: [(&str, &str); 6] = [
    ("all", "gres/gpu=2,gres/gpu:a100=2,"),
    ("contrary", "gres/gpu=1,gres/gpu:a100=2,"),
    ("none", "gres/gpu=2,"),
    ("other", "gres/gpu=1,gres/gpu:v100=1,"),
    ("part", "gres/gpu=3,gres/gpu:a100=2,"),
    ("typed", "gres/gpu:a100=1,"),
];

/// A policy that charges by a formula, with an example that costs nothing.
fn policy(formula: &str, devices: &str, example: &str) -> Tariff {
    let text = format!(
        "id = \"p\"\nversion = \"1\"\ntitle = \"GPUs\"\nsource = \"invented\"\npool = \"gpu\"\nunit = \"gpu\"\nformula = \"weight\"\n\
         billing_is = \"weight\"\n{devices}[[let]]\nname = \"weight\"\nis = \"{formula}\"\n\
         [[example]]\nname = \"one\"\nin = {{ {example} }}\nexpect = 0\n"
    );
    Tariff::restored("p.toml", &text, "").unwrap()
}

#[test]
fn gpus_whose_model_is_not_named_are_not_free() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let jobs = (1..)
        .zip(JOBS)
        .map(|(id, (account, given))| job(id, "gpu", given).replace("|eis|", &format!("|{account}|")));
    fs::write(path("jobs.txt"), format!("{DUMP}{}", jobs.collect::<String>())).unwrap();
    fs::write(path("slurm.conf"), "ClusterName=firnfeld\nNodeName=n1 CPUs=8\n").unwrap();
    let out = lake(folder.path(), "firnfeld", &[path("jobs.txt")], &[path("slurm.conf")]);
    let charges = |tariff: Tariff| -> BTreeMap<String, String> {
        let priced = reprice::all(&out, &[tariff]).unwrap().remove(0);
        assert_eq!(priced.job_n + priced.unpriced_job_n, 6);
        let accounts = priced.accounts.into_iter();
        accounts.map(|of| (of.account.unwrap(), of.charge)).collect()
    };
    let of = |charges: &[(&str, &str)]| -> BTreeMap<String, String> {
        charges
            .iter()
            .map(|(account, charge)| ((*account).to_owned(), (*charge).to_owned()))
            .collect()
    };
    let devices = "[[devices]]\ngives = [\"w\"]\nrows = [[\"a100\", 4]]\n";
    let by_devices = |devices: &str| policy("w", devices, "gpus = { a100 = 0 }");
    assert_eq!(charges(by_devices(devices)), of(&[("all", "8"), ("typed", "4")]));
    // What is missing is the value of any model that is not known.
    let missing = format!("{devices}missing = [1]\n");
    assert_eq!(
        charges(by_devices(&missing)),
        of(&[
            ("all", "8"),
            ("none", "2"),
            ("other", "1"),
            ("part", "9"),
            ("typed", "4")
        ])
    );
    let by_model = "CASE gpu_model WHEN 'a100' THEN 1 WHEN 'v100' THEN 2 WHEN 't4' THEN 0 END";
    assert_eq!(
        charges(policy(by_model, "", "gpu_model = \"t4\"")),
        of(&[("all", "1"), ("other", "2"), ("typed", "1")])
    );
    let compared = billing_comparison::compare(&out, &by_devices(devices), None).unwrap();
    let mut why: Vec<(&str, &str)> = compared
        .unknown
        .iter()
        .map(|job| (job.job_id.as_str(), job.why.as_str()))
        .collect();
    why.sort_unstable();
    let unnamed = "the models of its GPUs are unknown";
    assert_eq!(
        why,
        [
            ("2", unnamed),
            ("3", unnamed),
            ("4", "no device v100 in the policy"),
            ("5", unnamed)
        ]
    );
}
