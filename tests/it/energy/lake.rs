//! Lakes whose tables of energy change: only what a row concerns is computed again, by the reported amount, and undone to the byte.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use tempfile::TempDir;

use crate::support::forge::rows;
use crate::support::sample::{repository, run};

/// A golden case in a folder of its own.
pub(super) struct Case(TempDir);

impl Case {
    fn new() -> Self {
        Self::of("energy")
    }

    pub(super) fn of(name: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let golden = repository("tests/golden").join(name);
        for file in fs::read_dir(golden)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_file())
        {
            fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
        }
        Self(folder)
    }

    /// A folder without files.
    pub(super) fn empty() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// stderr of a command, whether it succeeds or not.
    pub(super) fn stderr(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        let output = command.current_dir(self.0.path()).args(arguments).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(super) fn gridtally(&self, arguments: &[&str]) -> String {
        run(Command::new(env!("CARGO_BIN_EXE_gridtally"))
            .current_dir(self.0.path())
            .args(arguments))
    }

    /// The report of a run, in JSON.
    pub(super) fn run(&self) -> serde_json::Value {
        serde_json::from_str(&self.gridtally(&["run", "pipeline.toml", "--report", "json"])).unwrap()
    }

    pub(super) fn replace(&self, file: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.path(file)).unwrap();
        assert!(text.contains(from), "{file} has no {from}");
        fs::write(self.path(file), text.replace(from, to)).unwrap();
    }

    /// Files of a dataset with their bytes.
    pub(super) fn bytes(&self, dataset: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let files = files(&self.path("lake").join(dataset));
        files
            .into_iter()
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .collect()
    }

    /// The sum of a column of usage by VO and month; `None` where no row has a value.
    pub(super) fn sums(&self, column: &str) -> BTreeMap<(String, i32), Option<i64>> {
        let mut sums: BTreeMap<(String, i32), Option<i64>> = BTreeMap::new();
        for path in files(&self.path("lake/usage")) {
            let vo = path
                .iter()
                .find_map(|part| part.to_str()?.strip_prefix("vo="))
                .unwrap()
                .to_owned();
            let batch = rows(&path);
            let months = batch.column_by_name("month").unwrap();
            let months = months.as_primitive::<arrow_array::types::Date32Type>();
            let values = batch.column_by_name(column).unwrap().as_primitive::<Int64Type>();
            for row in 0..batch.num_rows() {
                let sum = sums.entry((vo.clone(), months.value(row))).or_default();
                if values.is_valid(row) {
                    *sum = Some(sum.unwrap_or(0) + values.value(row));
                }
            }
        }
        sums
    }
}

pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
    {
        if entry.is_dir() {
            found.append(&mut files(&entry));
        } else {
            found.push(entry);
        }
    }
    found.sort();
    found
}

/// First days of March and April 2026.
const MARCH: i32 = 20_513;
const APRIL: i32 = 20_544;

fn of(vo: &str, month: i32) -> (String, i32) {
    (vo.to_owned(), month)
}

#[test]
fn a_later_pue_recomputes_its_months_states_by_how_much_and_is_undone_to_the_byte() {
    let case = Case::new();
    case.run();
    let former: Vec<_> = ["usage", "usage_part", "energy_tables", "records"]
        .map(|dataset| case.bytes(dataset))
        .into();
    let pue = fs::read_to_string(case.path("pue.csv")).unwrap();
    fs::write(
        case.path("pue.csv"),
        format!("{pue}OAK,1.5,2026-03-20,2026-04-01,2026-05-01,measured again\n"),
    )
    .unwrap();
    let report = case.run();
    // Half of job 5 is in March, after the change: 500 001 J at 1.5 in place of 1.25.
    let recomputed = report["recomputed_energy"].as_array().unwrap();
    assert_eq!(recomputed.len(), 1, "{recomputed:#?}");
    let month = &recomputed[0];
    assert_eq!(
        (month["site"].as_str(), month["month"].as_str()),
        (Some("OAK"), Some("2026-03"))
    );
    let pue_j = |side: &str| month[side]["energy_pue_j"].as_i64().unwrap();
    assert_eq!(pue_j("former") + 750_002 - 625_001, pue_j("now"));
    assert_eq!(month["former"]["energy_j"], month["now"]["energy_j"]);
    assert_eq!(case.bytes("records"), former[3], "records are as they were");
    assert_eq!(case.sums("energy_pue_j")[&of("moss", APRIL)], Some(625_000));
    assert!(case.gridtally(&["verify", "lake"]).contains("usage_part from records"));

    fs::write(case.path("pue.csv"), pue).unwrap();
    case.run();
    for (dataset, former) in ["usage", "usage_part", "energy_tables", "records"]
        .into_iter()
        .zip(former)
    {
        assert_eq!(case.bytes(dataset), former, "{dataset}");
    }
    assert_eq!(case.run()["status"], "unchanged");
}

#[test]
fn rows_for_other_times_change_nothing() {
    let case = Case::new();
    case.run();
    case.replace("intensity.csv", "OAK,location,400,", "OAK,location,410,");
    assert_eq!(case.run()["status"], "unchanged");
}

#[test]
fn other_choices_and_no_energy_at_all_compute_it_again() {
    let case = Case::new();
    case.run();
    assert_eq!(case.sums("energy_apportioned_j")[&of("kelp", MARCH)], Some(180_000));
    case.replace("pipeline.toml", "shared = \"allocated_cores\"", "shared = \"cpu_time\"");
    case.run();
    assert_eq!(case.sums("energy_apportioned_j")[&of("kelp", MARCH)], Some(90_000));
    case.replace("pipeline.toml", "basis = \"location\"", "basis = \"market\"");
    case.run();
    assert_eq!(
        case.sums("operational_co2e_mg")[&of("kelp", MARCH)],
        Some(0),
        "known to be none"
    );
    let text = fs::read_to_string(case.path("pipeline.toml")).unwrap();
    fs::write(case.path("pipeline.toml"), text.split("[energy]").next().unwrap()).unwrap();
    case.run();
    assert_eq!(case.sums("energy_exclusive_j")[&of("kelp", MARCH)], None);
    assert_eq!(
        case.sums("energy_j")[&of("kelp", MARCH)],
        Some(1_440_000),
        "what the batch system stated stays"
    );
    assert!(!case.path("lake/energy_tables/energy_tables.parquet").exists());
    assert!(case.gridtally(&["verify", "lake"]).contains("usage_part from records"));
}

#[test]
fn what_is_unknown_is_null_in_every_sum() {
    let case = Case::new();
    case.run();
    assert_eq!(
        case.sums("operational_co2e_mg")[&of("moss", APRIL)],
        None,
        "no intensity is stated for April"
    );
    assert_eq!(case.sums("energy_pue_j")[&of("moss", APRIL)], Some(625_000));
    assert_eq!(case.sums("energy_modelled_j")[&of("moss", MARCH)], None);
    // 40 core hours, of which 4 were on a node that no table knows.
    assert_eq!(
        case.sums("energy_exclusive_core_s")[&of("moss", MARCH)],
        Some(36 * 3600)
    );
    assert_eq!(case.sums("alloc_core_s")[&of("moss", MARCH)], Some(40 * 3600));
}

#[test]
fn a_voided_job_takes_its_energy_with_it() {
    let case = Case::new();
    fs::write(
        case.path("corrections.csv"),
        "id,action,site,month,job_id,author,reason,date\nC1,void,OAK,2026-03,1,E. Office,on a broken node,2026-04-02\n",
    )
    .unwrap();
    case.replace(
        "pipeline.toml",
        "output = \"lake\"",
        "output = \"lake\"\ncorrections = \"corrections.csv\"",
    );
    case.run();
    assert_eq!(case.sums("energy_exclusive_j")[&of("kelp", MARCH)], Some(0));
    assert_eq!(
        case.sums("operational_co2e_mg")[&of("kelp", MARCH)],
        Some(21_000 + 8_400)
    );
}

/// Job 6 ran on x1, which has no row, and job 2 had one of four cores of n2: both were submitted with `--exclusive`.
#[test]
fn explain_states_why_a_reading_is_the_jobs_own() {
    let case = Case::new();
    let jobs = fs::read_to_string(case.path("sacct.txt")).unwrap();
    let jobs: Vec<String> = jobs
        .lines()
        .map(|line| match line.split('|').next() {
            Some("JobIDRaw") => format!("{line}|SubmitLine"),
            Some("2" | "6") => format!("{line}|sbatch --exclusive run.sh"),
            _ => format!("{line}|sbatch run.sh"),
        })
        .collect();
    fs::write(case.path("sacct.txt"), jobs.join("\n") + "\n").unwrap();
    case.run();
    // 500 000 J of job 6 are its own; what making x1 took is not known.
    assert_eq!(
        case.sums("energy_exclusive_j")[&of("moss", MARCH)],
        Some(2_880_000 + 500_001 + 500_000)
    );
    assert_eq!(
        case.sums("energy_exclusive_core_s")[&of("moss", MARCH)],
        Some(40 * 3600)
    );
    for (job, explained) in [
        ("1", "of nodes it had to itself: it was given all their cores"),
        (
            "2",
            "of nodes it shared; it requested nodes of its own, and was given part of their cores",
        ),
        (
            "6",
            "of nodes it had to itself: it requested them so when it was submitted",
        ),
    ] {
        let text = case.gridtally(&["explain", "lake", job]);
        assert!(text.contains(explained), "{job}: {text}");
    }
    assert!(case.gridtally(&["verify", "lake"]).contains("usage_part from records"));
    // In an exclusive partition the table states it for all jobs.
    case.replace(
        "nodes.csv",
        "valid_from,valid_to,source",
        "exclusive,valid_from,valid_to,source",
    );
    case.replace("nodes.csv", "315.36,5,,,maker", "315.36,5,yes,,,maker");
    case.replace("nodes.csv", "5,15,,,,,measured", "5,15,,,,,,measured");
    case.run();
    let text = case.gridtally(&["explain", "lake", "2"]);
    assert!(text.contains("the table gives them to one job at a time"), "{text}");
}

#[test]
fn parts_of_months_add_up_to_each_job() {
    let case = Case::new();
    case.run();
    let measured = case.sums("energy_exclusive_j");
    let moss = measured[&of("moss", MARCH)].unwrap() + measured[&of("moss", APRIL)].unwrap();
    assert_eq!(moss, 2_880_000 + 1_000_001);
}

/// The charge of a month's jobs by VO, 10^-9 grams; `None` where that of a job is unknown.
fn charges(case: &Case) -> BTreeMap<String, Option<i128>> {
    let mut charges: BTreeMap<String, Option<i128>> = BTreeMap::new();
    for path in files(&case.path("lake/job_charges")) {
        let batch = rows(&path);
        let vo = batch.column_by_name("vo").unwrap().as_string::<i32>().clone();
        let charge = batch.column_by_name("charge").unwrap();
        let charge = charge.as_primitive::<arrow_array::types::Decimal128Type>();
        for row in 0..batch.num_rows() {
            let known = charge.is_valid(row).then(|| charge.value(row));
            let sum = charges.entry(vo.value(row).to_owned()).or_insert(Some(0));
            *sum = sum.zip(known).map(|(sum, known)| sum + known);
        }
    }
    charges
}

#[test]
fn policies_price_carbon_by_its_class_and_are_charged_again_when_a_table_changes() {
    let case = Case::new();
    let policy = "id = \"carbon\"\nversion = \"1\"\ntitle = \"Carbon\"\nsource = \"a test\"\npool = \"carbon\"\nunit = \"gram\"\n\
                  formula = \"CASE WHEN energy_class = 'modelled' THEN 2 * operational_co2e_grams ELSE operational_co2e_grams \
                  END\"\n\n[[example]]\nname = \"one\"\nin = { energy_class = \"exclusive\", operational_co2e_grams = 3 }\n\
                  expect = 3\n";
    fs::write(case.path("policy.toml"), policy).unwrap();
    case.replace(
        "pipeline.toml",
        "[energy]",
        "[[charge]]\npolicies = [\"policy.toml\"]\n\n[energy]",
    );
    case.run();
    // Jobs 1 and 2 emit 70 g and 21 g, and job 3, which is modelled, 8.4 g, twice.
    let kelp = charges(&case)["kelp"];
    assert_eq!(kelp, Some(107_800_000_000));
    assert_eq!(
        charges(&case)["moss"],
        None,
        "job 5 runs into a month without intensity"
    );
    assert!(case.gridtally(&["verify", "lake"]).contains("job_charges from records"));
    assert!(
        case.gridtally(&["explain", "lake", "1"])
            .contains("operational_co2e_grams")
    );
    // 100 g more a kWh in the second half of job 1: 0.14 kWh of the site.
    case.replace(
        "intensity.csv",
        "location,200,2026-03-10T01",
        "location,300,2026-03-10T01",
    );
    case.run();
    assert_eq!(charges(&case)["kelp"], Some(121_800_000_000));
    assert!(case.gridtally(&["verify", "lake"]).contains("job_charges from records"));
}
