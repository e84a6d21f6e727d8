//! `pipelines/deploy`: what starts gridtally each day, run by the program it is written for where that is there, else checked
//! against its rules.

mod airflow;
mod boot;
mod command_lines;
mod container;
mod cron;
mod dagster;
mod debian;
mod files;
mod htcondor;
mod kubernetes;
mod site;
mod slurm;
mod systemd;

use gridtally::error::Kind;

/// Exit codes of failures that another try does not cure: every scheduler has the same.
const FINAL: [Kind; 4] = [Kind::Usage, Kind::Data, Kind::NoInput, Kind::Config];

/// The whole numbers of a text, in their order.
fn numbers(text: &str) -> Vec<u8> {
    text.split(|letter: char| !letter.is_ascii_digit())
        .filter_map(|word| word.parse().ok())
        .collect()
}

fn final_codes() -> Vec<u8> {
    FINAL.iter().map(|kind| kind.exit_code()).collect()
}

/// The line of a test that cannot run here.
fn skipped(test: &str, why: &str) {
    eprintln!("SKIPPED deploy::{test}: {why}");
}
