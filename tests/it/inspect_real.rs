//! `inspect` over all of the real data: what it proposes is what a run reads, and what it proposes nothing for, no run reads.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::everything::{NOT_INPUT, files_below, matches};
use crate::inspect::{decided, gridtally, inspect, pasted};
use crate::support::collect::shared;

/// Files inspected by one command, and sources of one pipeline.
const AT_ONCE: usize = 30;

/// Rows of a run by outcome: all, and those refused.
fn rows(ran: &Value) -> (u64, u64) {
    let outcomes = ran["outcomes"].as_object().unwrap();
    let all = outcomes.values().filter_map(Value::as_u64).sum();
    (all, outcomes.get("rejected").and_then(Value::as_u64).unwrap_or(0))
}

/// The same of an inspection.
fn promised(report: &Value) -> (u64, u64) {
    let outcomes = report["outcomes"].as_array().unwrap().iter();
    let refused = outcomes.filter(|reason| reason["outcome"] == "rejected");
    let refused = refused.filter_map(|reason| reason["row_n"].as_u64()).sum();
    (report["row_n"].as_u64().unwrap(), refused)
}

/// Runs what is proposed for several files as one pipeline; what became of their rows, or why the run failed.
fn ran_together(here: &Path, reports: &[&Value]) -> Result<(u64, u64), String> {
    let mut pipeline = "[pipeline]\nname = \"p\"\noutput = \"together\"\nmax_rejected = 1.0\nmax_unread = 1.0\n\
                        overlap = \"jobs\"\ncopied_jobs = \"keep\"\n\n"
        .to_owned();
    for (nth, report) in reports.iter().enumerate() {
        let proposal = decided(report["proposal"].as_str().unwrap());
        let lines = proposal.lines().map(|line| match line.split_once(" = ") {
            Some(("name", _)) => format!("name = \"s{nth}\"\n"),
            _ => format!("{line}\n"),
        });
        pipeline.extend(lines);
    }
    fs::write(here.join("together.toml"), &pipeline).unwrap();
    let output = gridtally(here, &["run", "together.toml", "--report", "json"]);
    fs::remove_dir_all(here.join("together")).ok();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(rows(&serde_json::from_slice(&output.stdout).unwrap()))
}

#[test]
fn every_proposal_for_the_real_data_runs() {
    let Some(data) = shared("inspect_real::every_proposal_for_the_real_data_runs", "data") else {
        return;
    };
    let data = data.canonicalize().unwrap();
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let mut files = BTreeSet::new();
    files_below(&data, &data, &mut files);
    let patterns: Vec<&str> = NOT_INPUT.lines().filter_map(|line| line.split(" : ").next()).collect();
    let no_input = |path: &str| patterns.iter().any(|pattern| matches(pattern.trim(), path));
    let paths: Vec<String> = files
        .iter()
        .map(|file| data.join(file).to_string_lossy().into_owned())
        .collect();
    let mut reports = Vec::new();
    for some in paths.chunks(AT_ONCE) {
        let words: Vec<&str> = some.iter().map(String::as_str).collect();
        reports.extend(inspect(here, &words));
    }
    assert_eq!(reports.len(), paths.len(), "every file has a report");
    let is_proposed = |report: &&Value| {
        let proposal = report["proposal"].as_str().unwrap_or_default();
        // Which nodes of a machine file are of which kind is for people to state.
        proposal.starts_with("[[") && !proposal.contains("nodes = {}")
    };
    let mut contents = BTreeSet::new();
    let proposed: Vec<&Value> = reports
        .iter()
        .filter(is_proposed)
        // Files of the same content are read once.
        .filter(|report| contents.insert(fs::read(report["path"].as_str().unwrap()).unwrap()))
        .collect();
    assert!(proposed.len() > 150, "{}", proposed.len());
    for some in proposed.chunks(AT_ONCE) {
        let (mut all, mut refused) = (0, 0);
        for report in some {
            let (row_n, refused_n) = promised(report);
            (all, refused) = (all + row_n, refused + refused_n);
        }
        if ran_together(here, some) != Ok((all, refused)) {
            // One by one, to name the file.
            for (nth, report) in some.iter().enumerate() {
                pasted(here, report, nth);
            }
            panic!(
                "each of these runs alone, and not together: {:?}",
                ran_together(here, some)
            );
        }
    }
    let unproposed = reports.iter().filter(|report| {
        let proposal = report["proposal"].as_str().unwrap_or_default();
        let path = Path::new(report["path"].as_str().unwrap());
        proposal.is_empty() && !no_input(path.strip_prefix(&data).unwrap().to_str().unwrap())
    });
    let quoted: Vec<String> = unproposed.map(|report| format!("{}", report["path"])).collect();
    let pipeline = format!(
        "[pipeline]\nname = \"p\"\noutput = \"none\"\nmax_rejected = 1.0\nmax_unread = 1.0\n\n\
         [[source]]\nname = \"s\"\nformat = \"auto\"\nsite = \"HERE\"\ntimezone = \"UTC\"\npaths = [{}]\n",
        quoted.join(", ")
    );
    fs::write(here.join("none.toml"), pipeline).unwrap();
    let output = gridtally(here, &["run", "none.toml", "--report", "json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let ran: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(!quoted.is_empty() && ran["outcomes"]["accepted"].is_null(), "{ran}");
}
