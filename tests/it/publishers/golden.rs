//! APEL's own server, version 2.5.0: what it summarised from ten message files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gridtally::compat::PeerMode;

use super::{Lake, columns};
use crate::support::collect::shared;

type Row = BTreeMap<String, String>;

fn rows(folder: &Path, file: &str) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(folder.join(file)).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

fn lake(folder: &Path) -> Lake {
    let messages = folder.join("messages");
    let paths = messages.display();
    Lake::new(
        &[],
        &format!("[[source]]\nname = \"apel\"\nformat = \"apel\"\npaths = [\"{paths}\"]\n"),
    )
}

/// The server's words: letter case does not count, and unknown is `None`.
fn word(text: &str) -> String {
    let text = text.to_lowercase();
    if text == "none" { String::new() } else { text }
}

/// A row of the server under the names of our columns.
fn stored(row: &Row) -> BTreeMap<&'static str, String> {
    let mut out = BTreeMap::from([("month", format!("{}-{:0>2}", row["Year"], row["Month"]))]);
    for (name, column) in [
        ("Site", "site"),
        ("GlobalUserName", "global_user"),
        ("VO", "vo"),
        ("VOGroup", "vo_group"),
        ("VORole", "vo_role"),
        ("SubmitHost", "submit_host"),
        ("Infrastructure", "infrastructure"),
    ] {
        out.insert(column, word(&row[name]));
    }
    let benchmark = match word(&row["ServiceLevelType"]).as_str() {
        "hepspec" => "hs06",
        "hepscore23" => "hs23",
        "si2k" => "si00",
        "" => "",
        other => panic!("{other}"),
    };
    out.insert("benchmark", benchmark.to_owned());
    for (name, column) in [("NodeCount", "alloc_node_n"), ("Processors", "alloc_core_n")] {
        out.insert(column, row[name].replace('0', if row[name] == "0" { "" } else { "0" }));
    }
    if let Some(level) = row.get("ServiceLevel") {
        let level = level.trim_end_matches('0').trim_end_matches('.');
        out.insert("benchmark_per_core", if level == "0" { "" } else { level }.to_owned());
    }
    for (name, column) in [
        ("EarliestEndTime", "earliest_end_utc"),
        ("LatestEndTime", "latest_end_utc"),
    ] {
        out.insert(column, format!("{}Z", row[name].replace(' ', "T")));
    }
    for (name, column) in [
        ("NumberOfJobs", "job_n"),
        ("WallDuration", "wall_s"),
        ("CpuDuration", "cpu_s"),
        ("NormalisedWallDuration", "normalised_wall_s"),
        ("NormalisedCpuDuration", "normalised_cpu_s"),
    ] {
        out.insert(column, row[name].clone());
    }
    out
}

/// Our cells under the same names, in the same spelling.
fn cells(lake: &Lake, by: &str, wanted: &BTreeMap<&'static str, String>) -> BTreeSet<BTreeMap<&'static str, String>> {
    let report = lake.work(PeerMode::Apel, by);
    let cells = report.cells.iter().map(|cell| {
        let mut row = columns(&report, cell);
        row.retain(|name, _| wanted.contains_key(name));
        for column in [
            "site",
            "global_user",
            "vo",
            "vo_group",
            "vo_role",
            "submit_host",
            "infrastructure",
        ] {
            let text = row.get_mut(column).unwrap();
            *text = word(text);
        }
        row
    });
    cells.collect()
}

/// Sets are compared by what is in one of them alone.
fn assert_same(ours: &BTreeSet<BTreeMap<&'static str, String>>, theirs: &BTreeSet<BTreeMap<&'static str, String>>) {
    let (more, less): (Vec<_>, Vec<_>) = (ours.difference(theirs).collect(), theirs.difference(ours).collect());
    let first = (more.first(), less.first());
    assert!(
        more.is_empty() && less.is_empty(),
        "{} ours, {} theirs alone: {first:#?}",
        more.len(),
        less.len()
    );
}

#[test]
fn every_row_of_the_server_s_summaries_and_views() {
    let Some(folder) = shared("every_row_of_the_server_s_summaries_and_views", "data/apel/golden") else {
        return;
    };
    let lake = lake(&folder);
    // One by one: groups of jobs, summaries, and summaries that arrive normalised.
    let golden = rows(&folder, "HybridSuperSummaries.csv");
    let golden: BTreeSet<_> = golden.iter().map(stored).collect();
    assert_eq!(golden.len(), 1926);
    assert_same(&cells(&lake, "all", golden.first().unwrap()), &golden);
    // The normalised view adds rounded rows up over levels of one benchmark.
    let view = rows(&folder, "VNormalisedSuperSummaries.csv");
    let view: BTreeSet<_> = view.iter().map(stored).collect();
    let by = "vo,vo_group,vo_role,global_user,submit_host,infrastructure,benchmark,alloc_node_n,alloc_core_n";
    assert_same(&cells(&lake, by, view.first().unwrap()), &view);
    let normalised = rows(&folder, "VNormalisedSummaries.csv");
    let normalised: BTreeSet<_> = normalised.iter().map(stored).collect();
    let held = cells(&lake, by, normalised.first().unwrap());
    assert!(normalised.len() == 120 && normalised.is_subset(&held));
}

/// The central server's views in hours and kSI2K hours: work divided by four and rounded once more.
#[test]
fn the_server_s_views_in_hours() {
    let Some(folder) = shared("the_server_s_views_in_hours", "data/apel/golden") else {
        return;
    };
    let lake = lake(&folder);
    let names = [
        ("LCGUserVO", "vo"),
        ("UserDN", "global_user"),
        ("PrimaryGroup", "vo_group"),
        ("PrimaryRole", "vo_role"),
    ];
    for (file, by, n) in [
        ("VSumCPU.csv", "vo", 234),
        ("VUserCPU.csv", "vo,global_user,vo_group,vo_role", 959),
    ] {
        let report = lake.work(PeerMode::Apel, by);
        let rounded = |number: &str, divisor: i128| {
            let number: i128 = number.parse().unwrap();
            ((2 * number + divisor) / (2 * divisor)).to_string()
        };
        let ours: BTreeSet<Vec<String>> = report
            .cells
            .iter()
            .map(|cell| {
                let row = columns(&report, cell);
                let mut line = vec![word(&row["site"]), row["month"].clone()];
                line.extend(
                    names
                        .iter()
                        .filter_map(|(_, column)| row.get(column))
                        .map(|text| word(text)),
                );
                line.push(row["job_n"].clone());
                line.push(rounded(&row["cpu_s"], 3600));
                line.push(rounded(&row["normalised_cpu_s"], 4 * 3600));
                line.push(rounded(&row["wall_s"], 3600));
                line.push(rounded(&row["normalised_wall_s"], 4 * 3600));
                line
            })
            .collect();
        let theirs: BTreeSet<Vec<String>> = rows(&folder, file)
            .iter()
            .map(|row| {
                let mut line = vec![
                    word(&row["ExecutingSite"]),
                    format!("{}-{:0>2}", row["Year"], row["Month"]),
                ];
                line.extend(
                    names
                        .iter()
                        .filter_map(|(name, _)| row.get(*name))
                        .map(|text| word(text)),
                );
                let numbers = ["Njobs", "SumCPU", "NormSumCPU", "SumWCT", "NormSumWCT"];
                line.extend(numbers.map(|name| row[name].clone()));
                line
            })
            .collect();
        assert_eq!(theirs.len(), n);
        let alone = ours.symmetric_difference(&theirs).take(4).collect::<Vec<_>>();
        assert!(alone.is_empty(), "{file}: {alone:?}");
    }
}
