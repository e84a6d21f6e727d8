//! A price that changes under the same version changes charges of the past, which the run reports.

use std::fs;

use gridtally::config::Plan;
use gridtally::run::run_report::RunReport;
use gridtally::run::{RunOptions, stages};
use gridtally::runtime::progress::Silent;

const JOBS: &str = "JobID|Cluster|Partition|Account|User|State|Submit|Start|End|ElapsedRaw|AllocTRES\n\
    1|c|p|phys|ada|COMPLETED|2026-03-10T00:00:00|2026-03-10T00:00:00|2026-03-10T01:00:00|3600|cpu=2,node=1\n\
    2|c|p|phys|ada|COMPLETED|2026-04-10T00:00:00|2026-04-10T00:00:00|2026-04-10T01:00:00|3600|cpu=4,node=1\n\
    3|c|p|phys|ada|COMPLETED|2026-05-10T00:00:00|2026-05-10T00:00:00|2026-05-10T01:00:00|3600|cpu=8,node=1\n";

/// Cores, until May.
fn policy(version: &str, price: &str) -> String {
    format!(
        "id = \"own\"\nversion = \"{version}\"\ntitle = \"Own\"\nsource = \"invented\"\npool = \"cpu\"\nunit = \"su\"\n\
         valid_to = 2026-05-01\nformula = \"{price} * cores * seconds / 3600\"\n\
         [[example]]\nname = \"one\"\nin = {{ cores = 1, seconds = 3600 }}\nexpect = {price}\n"
    )
}

#[test]
fn another_price_under_the_same_version_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("jobs.txt", JOBS);
    write(
        "p.toml",
        "[pipeline]\nname = \"p\"\noutput = \"out\"\n[[source]]\nname = \"s\"\nformat = \"sacct\"\npaths = [\"jobs*.txt\"]\n\
         site = \"ALP\"\ntimezone = \"UTC\"\nvo = { value = \"eis\" }\n[[charge]]\npolicies = [\"own.toml\"]\n",
    );
    let run = |policy: &str| -> RunReport {
        write("own.toml", policy);
        let (plan, _) = Plan::load(&folder.path().join("p.toml")).unwrap();
        let report = stages::run(&plan, &RunOptions::default(), &Silent).unwrap();
        assert!(gridtally::audit::verify::verify(&plan.output).unwrap().is_sound());
        report
    };
    assert!(run(&policy("1", "2")).edited_policies.is_empty());
    let report = run(&policy("1", "3"));
    let line = "policy own 1 is not the text of the last run, under the same version: charges of 2 months change, 12 su become 18 (+6)";
    assert!(report.text().contains(line), "{}", report.text());
    // A note changes no charge; another version is another policy; and nothing is reported twice.
    let noted = format!("# Decided in 2025.\n{}", policy("1", "3"));
    assert!(run(&noted).edited_policies.is_empty());
    assert!(run(&policy("2", "5")).edited_policies.is_empty());
    assert!(run(&policy("2", "5")).edited_policies.is_empty());
    // Of what comes with a new file it is not known which part is due to the price.
    write(
        "jobs2.txt",
        &JOBS
            .replace("\n1|", "\n11|")
            .replace("\n2|", "\n12|")
            .replace("\n3|", "\n13|"),
    );
    let report = run(&policy("2", "1"));
    assert!(report.edited_policies[0].has_new_records);
    assert!(
        report.text().contains("30 su become 12 (-18), new records included"),
        "{}",
        report.text()
    );
}
