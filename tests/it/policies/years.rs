//! Raw and equivalent years are separate columns, each under its name; and a whole folder of policies can be named.

use std::fs;
use std::process::Command;

use gridtally::reference::decimal;
use gridtally::schema::batch::{decimal as decimals, number, text, word};

use super::reservations::{HEAD, HEADER, go, pipeline};
use crate::support::lake_rows::lake_rows as rows;
use crate::support::sample::{self, repository};

const EQUIVALENT: &str = r#"
id = "equivalent"
version = "1"
title = "Core-equivalents"
source = "invented"
pool = "cpu"
unit = "core_equivalent_hour"
memory_unit = "GiB"
formula = "greatest(cores, memory / 4) * seconds / 3600"
[[example]]
name = "by memory"
in = { cores = 1, memory = 8, hours = 1 }
expect = 2
"#;

const PRICE: &str = r#"
id = "price"
version = "1"
title = "Money"
source = "invented"
pool = "chf"
unit = "chf"
formula = "cores * seconds / 3600"
[[example]]
name = "one"
in = { cores = 1, seconds = 3600 }
expect = 1
"#;

/// One core with 8 GiB for a whole allocation year of 365 days, from April to April.
#[test]
fn a_core_with_the_memory_of_two_for_a_year_is_one_and_two() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write(
        "jobs.txt",
        &format!(
            "{HEADER}1|cedar|p|phys|ada|COMPLETED|2025-03-31T23:00:00|2025-04-01T00:00:00|2026-04-01T00:00:00|31536000|cpu=1,mem=8G,node=1|\n"
        ),
    );
    write("corrections.csv", HEAD);
    write("resv-2026-04-01.txt", "No reservations in the system\n");
    write("equivalent.toml", EQUIVALENT);
    write("price.toml", PRICE);
    let own = pipeline(folder.path(), &[]);
    let text_of = fs::read_to_string(&own).unwrap();
    fs::write(
        &own,
        format!("{text_of}[[charge]]\npolicies = [\"equivalent.toml\", \"price.toml\"]\n"),
    )
    .unwrap();
    let out = go(&own);
    let mut sums = [0_i128; 4];
    for batch in rows(&out, "charges") {
        let column = |name: &str| decimals(&batch, name).unwrap();
        for row in 0..batch.num_rows() {
            let sum = |name: &str| number(column(name), row);
            if text(&batch, "policy").unwrap().value(row) == "price" {
                assert_eq!(sum("equivalent_year"), None, "money is not time");
                assert_eq!(word(text(&batch, "equivalent_year_unit").unwrap(), row), None);
                continue;
            }
            assert_eq!(
                word(text(&batch, "equivalent_year_unit").unwrap(), row),
                Some("core_equivalent_year")
            );
            for (total, name) in sums
                .iter_mut()
                .zip(["raw_core_year", "raw_gpu_year", "equivalent_year", "charge"])
            {
                *total += sum(name).unwrap();
            }
        }
    }
    // Twelve months, each rounded to billionths.
    let close = |sum: i128, whole: i128| (sum - whole * 1_000_000_000).abs() <= 6;
    assert!(close(sums[0], 1) && sums[1] == 0 && close(sums[2], 2), "{sums:?}");
    assert_eq!(decimal::text(sums[3], 9), "17520");
}

#[test]
fn a_folder_of_policies_is_one_charge() {
    let folder = tempfile::tempdir().unwrap();
    let sample = sample::pipeline();
    let policies = repository("pipelines/policies");
    let (before, own) = sample.split_once("policies = [").unwrap();
    let (_, after) = own.split_once("]\n").unwrap();
    let charge = |what: &str| {
        let text = format!("{before}policies = [{what:?}]\n{after}");
        fs::write(folder.path().join("p.toml"), text.replace("\"../out\"", "\"out\"")).unwrap();
        Command::new(env!("CARGO_BIN_EXE_gridtally"))
            .args(["check", "p.toml"])
            .current_dir(folder.path())
            .output()
            .unwrap()
    };
    let checked = charge(policies.to_str().unwrap());
    assert!(checked.status.success(), "{checked:?}");
    let reported = String::from_utf8_lossy(&checked.stderr);
    for left_out in [
        "csc-roihu-storage (storage)",
        "csc-scratch-storage (storage)",
        "lumi-storage (storage)",
    ] {
        assert!(reported.contains(left_out), "{reported}");
    }
    assert!(!reported.contains("reservation"), "{reported}");
    let alone = charge(policies.join("lumi-storage.toml").to_str().unwrap());
    assert_eq!(alone.status.code(), Some(78));
    assert!(String::from_utf8_lossy(&alone.stderr).contains("lumi-storage charges for storage"));
}
