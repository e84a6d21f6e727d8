//! What is charged for reservations reaches awards, balances, invoices and pages, and can be explained.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use gridtally::config::Plan;
use gridtally::run::run_report::RunReport;
use gridtally::run::{RunOptions, stages};
use gridtally::runtime::progress::Silent;

use super::reservations::{HEAD, JOBS, WINDOW, go, listed, pipeline};
use crate::support::sample::repository;

const BOTH: [&str; 2] = ["olcf-frontier", "olcf-frontier-reservation"];

/// A lake of two jobs, one of them inside the window of a reservation, that both policies charge.
struct ReservedLake(tempfile::TempDir);

impl ReservedLake {
    /// With these corrections and further settings of the pipeline, and files next to it.
    fn new(corrections: &str, settings: &str, files: &[(&str, &str)]) -> Self {
        let lake = Self(tempfile::tempdir().unwrap());
        lake.write("jobs.txt", JOBS);
        lake.write("corrections.csv", corrections);
        for (name, text) in files {
            lake.write(name, text);
        }
        let path = pipeline(lake.folder(), &BOTH);
        let text = fs::read_to_string(&path).unwrap() + settings;
        fs::write(path, text).unwrap();
        lake
    }

    fn folder(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder().join(name), text).unwrap();
    }

    /// Runs the pipeline, whose lake is sound.
    fn run(&self) {
        go(&self.folder().join("p.toml"));
    }

    fn report(&self) -> RunReport {
        let (plan, _) = Plan::load(&self.folder().join("p.toml")).unwrap();
        stages::run(&plan, &RunOptions::default(), &Silent).unwrap()
    }

    fn gridtally(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        command.current_dir(self.folder()).args(arguments).output().unwrap()
    }

    fn stdout(&self, arguments: &[&str]) -> String {
        let output = self.gridtally(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// A column of a CSV on stdout, of rows in which another column has a value.
    fn cells(&self, arguments: &[&str], name: &str, of: (&str, &str)) -> Vec<String> {
        let text = self.stdout(arguments);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let rows = reader
            .deserialize()
            .map(Result::<std::collections::BTreeMap<String, String>, _>::unwrap);
        rows.filter(|row| row[of.0].contains(of.1))
            .map(|row| row[name].clone())
            .collect()
    }
}

const AWARDS: &str = "account,policy,amount,unit,valid_from,valid_to\n\
    phys,olcf-frontier-reservation,20000,node_hour,2026-01-01,2027-01-01\n\
    phys,olcf-frontier,100,node_hour,2026-01-01,2027-01-01\n";

#[test]
fn charges_of_windows_count_wherever_charges_do() {
    let window = listed("big_run", WINDOW, 2000, "SPEC_NODES");
    let files = [("awards.csv", AWARDS), ("resv-2026-04-01.txt", window.as_str())];
    let lake = ReservedLake::new(HEAD, "[awards]\ntable = \"awards.csv\"\n", &files);
    lake.run();
    // 2,000 nodes for eight hours; six nodes for an hour outside.
    let awards = ["report", "awards", "lake", "--on", "2026-04-30", "--format", "csv"];
    let used = |policy: &str| lake.cells(&awards, "used", ("award", &format!("phys {policy} 2026")));
    assert_eq!(used("olcf-frontier-reservation"), ["16000.000000000"]);
    assert_eq!(used("olcf-frontier"), ["6.000000000"]);
    lake.write(
        "allocations.csv",
        "account,policy,amount,valid_from\nphys,olcf-frontier-reservation,20000,2026-01-01\n",
    );
    let balance = [
        "report",
        "balance",
        "lake",
        "--allocations",
        "allocations.csv",
        "--on",
        "2026-04-30",
        "--format",
        "csv",
    ];
    assert_eq!(
        lake.cells(&balance, "charged", ("account", "phys")),
        ["16000.000000000"]
    );
    // An invoice has them as well: both policies draw on one pool, and charge different things.
    let focus = |policies: &[&str]| {
        let mut arguments = vec!["report", "focus", "lake", "--currency", "USD"];
        arguments.extend(policies.iter().flat_map(|policy| ["--policy", *policy]));
        let mut amounts = lake.cells(&arguments, "PricingQuantity", ("SubAccountName", "phys"));
        amounts.sort();
        amounts
    };
    assert_eq!(focus(&BOTH[1..]), ["8000.000000000", "8000.000000000"]);
    let all = ["6.000000000", "8000.000000000", "8000.000000000"];
    assert_eq!(focus(&BOTH), all);
    assert_eq!(focus(&[]), all);
    lake.stdout(&["report", "site", "lake", "--site", "OLCF", "--out", "page"]);
    let charges = fs::read_to_string(lake.folder().join("page/charges.csv")).unwrap();
    assert!(
        charges.contains("olcf-frontier-reservation,node_hours,node_hour,(unknown),16000."),
        "{charges}"
    );
    let page = fs::read_to_string(lake.folder().join("page/index.html")).unwrap();
    assert!(page.contains("A policy of reservations charges windows"));
    assert!(!page.contains("Policies left out"));
}

#[test]
fn windows_that_were_only_planned_are_named() {
    let planned = listed("next", ("2026-04-05T00:00:00", "2026-04-06T00:00:00"), 10, "SPEC_NODES");
    let both = listed("big_run", WINDOW, 2000, "SPEC_NODES") + &planned;
    let lake = ReservedLake::new(HEAD, "", &[("resv-2026-04-01.txt", &both)]);
    let report = lake.report();
    let windows = report.reservations.as_ref().unwrap();
    assert_eq!((windows.charged_n, windows.planned_n), (1, 1));
    assert_eq!(windows.planned[0].reservation, "next");
    let line = "reservations: 1 windows charged; 1 not charged, which had not begun when they were last listed: next of frontier \
                (from 2026-04-05T00:00:00Z, listed 2026-04-01T00:00:00Z)";
    assert!(report.text().contains(line), "{}", report.text());
    // Once it is listed in force, it is charged.
    lake.write("resv-2026-04-05.txt", &planned);
    let report = lake.report();
    let windows = report.reservations.as_ref().unwrap();
    assert_eq!((windows.charged_n, windows.planned_n), (2, 0));
    assert!(
        report.text().contains("reservations: 2 windows charged\n"),
        "{}",
        report.text()
    );
}

#[test]
fn jobs_are_not_priced_by_what_charges_for_something_else() {
    let window = listed("big_run", WINDOW, 2000, "SPEC_NODES");
    let lake = ReservedLake::new(HEAD, "", &[("resv-2026-04-01.txt", &window)]);
    lake.run();
    let file = |name: &str| {
        let path = repository(&format!("pipelines/policies/{name}.toml"));
        path.to_str().unwrap().to_owned()
    };
    let jobs = file("olcf-frontier");
    for (name, subject) in [
        ("olcf-frontier-reservation", "reservations"),
        ("lumi-storage", "storage"),
    ] {
        let other = file(name);
        for arguments in [
            vec!["policy", "price", "--lake", "lake", &jobs, &other],
            vec!["policy", "diff", "--lake", "lake", &jobs, &other],
        ] {
            let output = lake.gridtally(&arguments);
            let why = String::from_utf8_lossy(&output.stderr);
            let expected = format!("charges for {subject}, and only jobs are priced here");
            assert!(
                why.contains(&expected) && output.stdout.is_empty(),
                "{arguments:?}: {why}"
            );
            assert_eq!(output.status.code(), Some(78), "{why}");
        }
    }
}

#[test]
fn windows_and_additions_are_explained_by_their_names() {
    let window = listed("big_run", WINDOW, 2000, "SPEC_NODES");
    let corrections = "id,action,site,month,account,cluster,job_n,wall_s,alloc_core_s,alloc_node_s,author,reason,date\n\
                       C3,add,OLCF,2026-03,phys,frontier,3,5400,21600,10800,E. Office,lost dump,2026-04-02\n";
    let lake = ReservedLake::new(corrections, "", &[("resv-2026-04-01.txt", &window)]);
    lake.run();
    let page = lake.stdout(&["explain", "lake", "big_run"]);
    for line in [
        "Window of the reservation big_run of OLCF: record ",
        "  listed in resv-2026-04-01.txt line 1",
        "  alloc_node_n = 2000",
        "    charge = nodes * seconds / 3600 = 2000 * 28800 / 3600 = 16000",
        "    2026-03-01: 8000 node_hour for 14400000 of 28800000 ms, phys -> charges/site=OLCF/",
        "    2026-04-01: 8000 node_hour for 14400000 of 28800000 ms, phys -> charges/site=OLCF/",
    ] {
        assert!(page.contains(line), "{line}\n{page}");
    }
    let page = lake.stdout(&["explain", "lake", "C3"]);
    for line in [
        "Hours added by the correction C3 of OLCF: record ",
        "  author = E. Office",
        "  reason = lost dump",
        "  alloc_node_s = 10800",
        "    charge = nodes * seconds / 3600 = 2 * 1800 / 3600 = 1",
        "    the addition is 3 times that",
        "    2026-03-01: 3 node_hour by correction C3, phys -> charges/site=OLCF/",
    ] {
        assert!(page.contains(line), "{line}\n{page}");
    }
    // Every row that a cell lists has a page, by its name or its record id.
    let cells = gridtally::audit::explain::cell(
        lake.folder().join("lake").to_str().unwrap(),
        "charges/site=OLCF/vo=__unknown__/allocation_year=2025",
        100,
    );
    for job in cells.unwrap().iter().flat_map(|cell| &cell.top) {
        let json: serde_json::Value =
            serde_json::from_str(&lake.stdout(&["explain", "lake", &job.job_id, "--format", "json"])).unwrap();
        let record_id = json[0]["record_id"].as_str().unwrap();
        let again = lake.stdout(&["explain", "lake", record_id]);
        assert!(again.contains(record_id), "{again}");
    }
    let unknown = lake.gridtally(&["explain", "lake", "nothing"]);
    assert_eq!(unknown.status.code(), Some(66));
}
