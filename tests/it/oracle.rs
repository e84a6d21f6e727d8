//! The lake of the sample data holds what an independent reading of the same dumps comes to.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::support::python::python;
use crate::support::sample::{lake, pipeline, repository, run};

/// Runs the oracle's file as if it had been called by name.
const RUN: &str = "
import os, runpy, sys
sys.argv = sys.argv[1:]
sys.path.insert(0, os.path.dirname(sys.argv[0]))
sys.dont_write_bytecode = True
try:
    runpy.run_path(sys.argv[0], run_name='__main__')
except SystemExit:
    pass
";

fn compare(out: &Path, options: &[&str]) {
    let oracle = repository("tests/oracle/usage.py");
    let mut args = vec![oracle.to_str().unwrap(), out.to_str().unwrap()];
    args.extend(options);
    let report = python(RUN, &args);
    assert!(report.contains(" 0 differ"), "{report}");
}

#[test]
fn sample_usage_agrees_with_the_oracle() {
    compare(lake(), &[]);
}

/// The same dumps under the other rules of attribution.
#[test]
fn sample_usage_agrees_with_the_oracle_under_other_rules() {
    for (attribution, grain) in [("prorated", "day"), ("by-end", "month"), ("by-end", "day")] {
        let dir = tempfile::tempdir().unwrap();
        let mut text = String::new();
        for line in pipeline().lines() {
            let key = line.split('=').next().unwrap_or_default().trim();
            let _ = match key {
                "attribution" => writeln!(text, "attribution = \"{attribution}\""),
                "grain" => writeln!(text, "grain = \"{grain}\""),
                "output" => writeln!(text, "output = \"out\""),
                _ => writeln!(text, "{line}"),
            };
        }
        let file = dir.path().join("pipeline.toml");
        std::fs::write(&file, text).unwrap();
        run(Command::new(env!("CARGO_BIN_EXE_gridtally")).arg("run").arg(&file));
        compare(
            &dir.path().join("out"),
            &["--attribution", attribution, "--grain", grain],
        );
    }
}
