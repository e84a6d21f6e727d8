//! What changed between two snapshots, and what changed it.

use super::{JOBS, Nights, pipeline};
use crate::support::policy::{CHARGE_CORES, CORES};

/// Rows of a comparison as cells by the names of their columns: dataset, vo, measure, before, after, runs, inputs, corrections.
fn rows(nights: &Nights, before: &str, after: &str) -> Vec<[String; 8]> {
    let table = nights.done(&["diff", "lake", before, after, "--format", "csv"]);
    let mut lines = table.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let cell = |line: &str, name: &str| {
        let at = names.iter().position(|known| *known == name).unwrap();
        line.split(',').nth(at).unwrap().to_owned()
    };
    let wanted = [
        "dataset",
        "vo",
        "measure",
        "before",
        "after",
        "runs",
        "inputs",
        "corrections",
    ];
    lines.map(|line| wanted.map(|name| cell(line, name))).collect()
}

#[test]
fn cells_are_compared_with_the_runs_inputs_and_corrections_that_changed_them() {
    let nights = Nights::new();
    let keep = "keep = { nights = 30, months = 24 }\n";
    nights.write("cores.toml", CORES);
    nights.write("p.toml", &(pipeline(keep) + CHARGE_CORES));
    for nth in 0..3 {
        nights.night(nth);
    }
    let runs: Vec<String> = nights.snapshots().into_iter().map(|row| row[2].clone()).collect();
    assert_eq!(rows(&nights, "2", "2"), [] as [[String; 8]; 0]);
    let found = rows(&nights, "1", "3");
    let jobs: Vec<_> = found.iter().filter(|row| row[2] == "job_n").collect();
    let of_account = JOBS / 4;
    assert_eq!(jobs.len(), 8, "four VOs of two datasets: {found:?}");
    for row in &jobs {
        let [_, _, _, before, after, by, inputs, corrections] = row;
        assert_eq!(
            (before, after),
            (&of_account.to_string(), &(3 * of_account).to_string()),
            "{row:?}"
        );
        assert_eq!(*by, runs[1..].join(" "));
        assert_eq!(
            inputs,
            "dumps/000.txt dumps/001.txt dumps/002.txt".split_once(' ').unwrap().1
        );
        assert_eq!(corrections, "");
    }
    let charge = found
        .iter()
        .find(|row| row[0] == "charges" && row[1] == "vo1" && row[2] == "charge")
        .unwrap();
    // Jobs of two cores and half an hour are a core hour.
    let hours: Vec<f64> = charge[3..5].iter().map(|hours| hours.parse().unwrap()).collect();
    assert_eq!(hours, [5.0, 15.0]);
    // A correction, and no input.
    nights.write(
        "corrections.csv",
        "id,action,site,month,account,job_id,job_n,wall_s,alloc_core_s,author,reason,date\n\
         C1,add,OAK,2026-01,vo1,,1,3600,14400,E. Office,log of a node lost,2026-02-03\n",
    );
    let corrected = pipeline(&format!("{keep}corrections = \"corrections.csv\"\n"));
    nights.write("p.toml", &(corrected + CHARGE_CORES));
    nights.done(&["run", "p.toml"]);
    let found = rows(&nights, "3", "latest");
    let job = found.iter().find(|row| row[0] == "usage" && row[2] == "job_n").unwrap();
    assert_eq!(job[3..5], ["", "1"], "of the unknown VO: {found:?}");
    assert_eq!(job[6..], ["", "C1"], "{found:?}");
    // What happens where there is a difference, or the first is the later one.
    assert!(
        nights
            .refused(&["diff", "lake", "1", "3", "--strict"], 65)
            .contains("cells differ")
    );
    nights.done(&["diff", "lake", "3", "3", "--strict"]);
    assert!(
        nights
            .refused(&["diff", "lake", "3", "1"], 2)
            .contains("the earlier one first")
    );
}

#[test]
fn every_column_that_is_added_up_is_compared() {
    let nights = Nights::new();
    let keep = "keep = { nights = 30, months = 24 }\n";
    let scored = "[normalise]\nbenchmarks = \"benchmarks.csv\"\nmissing = \"null\"\n";
    let score =
        |value: &str| format!("site,benchmark,value_per_core,valid_from,valid_to\nOAK,hs23,{value},2020-01-01,\n");
    nights.write("p.toml", &(pipeline(keep) + scored));
    nights.write("benchmarks.csv", &score("10"));
    nights.night(0);
    nights.write("benchmarks.csv", &score("12"));
    nights.done(&["run", "p.toml"]);
    let found = rows(&nights, "1", "2");
    let of_vo1: Vec<&str> = (found.iter().filter(|row| row[1] == "vo1"))
        .map(|row| row[2].as_str())
        .collect();
    assert_eq!(of_vo1, ["cpu_hs23_s", "wall_hs23_s", "core_wall_hs23_s"]);
    // Five jobs of half an hour on two cores.
    let work = found
        .iter()
        .find(|row| row[1] == "vo1" && row[2] == "core_wall_hs23_s")
        .unwrap();
    let work: Vec<f64> = work[3..5].iter().map(|work| work.parse().unwrap()).collect();
    assert_eq!(work, [180_000.0, 216_000.0]);
    nights.refused(&["diff", "lake", "1", "2", "--strict"], 65);
}

#[test]
fn a_cell_whose_corrections_add_up_to_nothing_is_listed_with_them() {
    let nights = Nights::new();
    let keep = "keep = { nights = 30, months = 24 }\n";
    nights.write("p.toml", &pipeline(keep));
    nights.night(0);
    nights.write(
        "corrections.csv",
        "id,action,site,month,account,to_account,author,reason,date\n\
         C7,remap,OAK,2026-01,vo1,project,E. Office,wrong account,2026-02-03\n",
    );
    nights.write(
        "p.toml",
        &pipeline(&format!("{keep}corrections = \"corrections.csv\"\n")),
    );
    nights.done(&["run", "p.toml"]);
    let found = rows(&nights, "1", "2");
    assert_eq!(found.len(), 1, "{found:?}");
    let [dataset, vo, measure, before, after, _, inputs, corrections] = &found[0];
    assert_eq!([dataset, vo, measure], ["usage", "vo1", "job_n"]);
    assert_eq!([before, after], ["5", "5"]);
    assert_eq!([inputs.as_str(), corrections.as_str()], ["", "C7"]);
}

#[test]
fn a_month_of_two_allocation_years_is_one_cell() {
    let nights = Nights::new();
    let keep = "keep = { nights = 30, months = 24 }\n";
    nights.write("p.toml", &pipeline(keep));
    nights.night(0);
    // The same jobs, in another folder.
    nights.write(
        "p.toml",
        &pipeline(&format!("{keep}allocation_year_start = \"04-01\"\n")),
    );
    nights.done(&["run", "p.toml"]);
    assert!(nights.path("lake/usage/site=OAK/vo=vo1/allocation_year=2025").is_dir());
    assert_eq!(rows(&nights, "1", "2"), [] as [[String; 8]; 0]);
    nights.done(&["diff", "lake", "1", "2", "--strict"]);
}
