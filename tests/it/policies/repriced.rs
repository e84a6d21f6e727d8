//! Parts of accounts under two policies, rounded once.

use std::fs;

use gridtally::audit::reprice;
use gridtally::charge::Tariff;

use super::billing::{DUMP, job, lake};

/// A policy that charges each account an amount.
fn policy(amounts: [(&str, u32); 4]) -> Tariff {
    let cases: String = amounts
        .map(|(account, amount)| format!(" WHEN '{account}' THEN {amount}"))
        .concat();
    let (account, amount) = amounts[0];
    let text = format!(
        "id = \"p\"\nversion = \"1\"\ntitle = \"Fees\"\nsource = \"invented\"\npool = \"fee\"\nunit = \"fee\"\n\
         formula = \"CASE account{cases} END\"\n[[example]]\nname = \"one\"\nin = {{ account = \"{account}\" }}\nexpect = {amount}\n"
    );
    Tariff::restored("p.toml", &text, "").unwrap()
}

/// Halves go to the even digit, and a change is the difference of exact parts.
#[test]
fn parts_and_their_change_are_rounded_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let accounts = (1..).zip(["five", "fifteen", "more", "rest"]);
    let jobs = accounts.map(|(id, account)| job(id, "cpu", "").replace("|eis|", &format!("|{account}|")));
    fs::write(path("jobs.txt"), format!("{DUMP}{}", jobs.collect::<String>())).unwrap();
    fs::write(path("slurm.conf"), "ClusterName=firnfeld\nNodeName=n1 CPUs=8\n").unwrap();
    let out = lake(folder.path(), "firnfeld", &[path("jobs.txt")], &[path("slurm.conf")]);
    let a = policy([("five", 5), ("fifteen", 15), ("more", 25), ("rest", 99_955)]);
    let b = policy([("five", 20), ("fifteen", 30), ("more", 0), ("rest", 99_950)]);
    let compared = reprice::compare(&out, &a, &b).unwrap();
    let parts: Vec<(&str, [i64; 3])> = compared
        .reassignments
        .iter()
        .map(|of| {
            (
                of.account.as_deref().unwrap(),
                [of.share_a_e4, of.share_b_e4, of.change_e4],
            )
        })
        .collect();
    assert_eq!(
        parts,
        [
            ("fifteen", [2, 3, 2]),
            ("five", [0, 2, 2]),
            ("rest", [9996, 9995, 0]),
            ("more", [2, 0, -2]),
        ]
    );
    assert!(compared.text().contains(" 99.96 %"), "{}", compared.text());
}
