//! What inputs may not do to a run: no record ends it, and no input takes more memory than it is worth.

mod beyond;
mod formulas;
mod inventory;
mod memory;
mod names;
mod nodes;
mod pricing;
mod records;
mod reservations;
mod spans;
mod stops;
mod summaries;
mod sums;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use gridtally::audit::verify;
use gridtally::config::Plan;
use gridtally::error::Result;
use gridtally::run::run_report::RunReport;
use gridtally::run::{RunOptions, stages};
use gridtally::runtime::progress::Silent;
use gridtally::schema::batch::{int, text};
use tempfile::TempDir;

use crate::support::lake_rows::lake_rows;
use crate::support::notes::is_note;

/// Columns of the dumps.
const HEADER: &str = "JobIDRaw|Cluster|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|Suspended|NCPUS|NNodes|\
                      AllocTRES|TotalCPU|NodeList\n";

/// A folder with a pipeline and its inputs.
struct Scene {
    folder: TempDir,
}

impl Scene {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Runs `p.toml` with this text.
    fn try_run(&self, pipeline: &str) -> Result<RunReport> {
        self.try_run_with(pipeline, &RunOptions::default())
    }

    fn try_run_with(&self, pipeline: &str, options: &RunOptions) -> Result<RunReport> {
        self.write("p.toml", pipeline);
        let (plan, _) = Plan::load(&self.path("p.toml"))?;
        stages::run(&plan, options, &Silent)
    }

    /// As [`Self::try_run`]; the lake is sound.
    fn run(&self, pipeline: &str) -> RunReport {
        self.run_with(pipeline, &RunOptions::default())
    }

    /// As [`Self::run`], with options.
    fn run_with(&self, pipeline: &str, options: &RunOptions) -> RunReport {
        let report = self
            .try_run_with(pipeline, options)
            .unwrap_or_else(|why| panic!("{why}"));
        let found = verify::verify(self.path("lake").to_str().unwrap()).unwrap();
        assert!(found.is_sound(), "{}", found.text());
        report
    }
}

/// The files of a lake but for the log of its runs and the seal, which contain the time.
fn lake(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                folders.push(path);
            } else if !name.starts_with("runs/") && name != "seal.json" {
                files.insert(name, fs::read(path).unwrap());
            }
        }
    }
    files
}

/// The same files, each with the same bytes.
fn assert_same_files(one: &BTreeMap<String, Vec<u8>>, other: &BTreeMap<String, Vec<u8>>) {
    let paths =
        |files: &BTreeMap<String, Vec<u8>>| files.keys().filter(|path| !is_note(path)).cloned().collect::<Vec<_>>();
    assert_eq!(paths(one), paths(other), "other files");
    // Who ran, and when, is of each run.
    for (path, bytes) in one.iter().filter(|(path, _)| !is_note(path)) {
        assert!(other[path] == *bytes, "{path} differs");
    }
}

/// The rows of a dataset of a scene's lake.
fn rows(scene: &Scene, dataset: &str) -> Vec<RecordBatch> {
    lake_rows(scene.path("lake").to_str().unwrap(), dataset)
}

/// The sum of a column over a dataset of a scene's lake.
fn sum(scene: &Scene, dataset: &str, column: &str) -> i128 {
    let of = |batch: &RecordBatch| {
        let values = int(batch, column).unwrap().iter().flatten();
        values.map(i128::from).sum::<i128>()
    };
    rows(scene, dataset).iter().map(of).sum()
}

/// Path, line and reason of every row of `rejects`.
fn rejects(scene: &Scene) -> Vec<(String, i64, String)> {
    let mut all = Vec::new();
    for batch in rows(scene, "rejects") {
        let (path, reason) = (text(&batch, "path").unwrap(), text(&batch, "reason").unwrap());
        let line = int(&batch, "line").unwrap();
        for row in 0..batch.num_rows() {
            all.push((
                path.value(row).to_owned(),
                line.value(row),
                reason.value(row).to_owned(),
            ));
        }
    }
    all.sort();
    all
}

/// A policy file of the repository.
fn policy(name: &str) -> String {
    let policies = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/policies");
    policies.join(name).to_str().unwrap().to_owned()
}

/// A pipeline of one source, everything refused allowed.
fn pipeline(source: &str, more: &str) -> String {
    format!(
        "[pipeline]\nname = \"oak\"\noutput = \"lake\"\nmax_rejected = 1.0\n[[source]]\nname = \"oak\"\n{source}\n{more}\n"
    )
}

/// The keys of a source of dumps.
const DUMPS: &str = "format = \"sacct\"\npaths = [\"dumps\"]\ntimezone = \"UTC\"";

/// A row of a dump, of one hour on one core unless set in `with`, by column.
fn row(id: u32, with: &[(&str, &str)]) -> String {
    let cells = [
        ("JobIDRaw", id.to_string()),
        ("Cluster", "oak".to_owned()),
        ("User", "u".to_owned()),
        ("Account", "a".to_owned()),
        ("Partition", "cpu".to_owned()),
        ("State", "COMPLETED".to_owned()),
        ("Submit", "2026-10-30T00:00:00".to_owned()),
        ("Start", "2026-10-30T00:00:00".to_owned()),
        ("End", "2026-10-30T01:00:00".to_owned()),
        ("ElapsedRaw", "3600".to_owned()),
        ("Suspended", "00:00:00".to_owned()),
        ("NCPUS", "1".to_owned()),
        ("NNodes", "1".to_owned()),
        ("AllocTRES", "cpu=1,mem=2G,node=1".to_owned()),
        ("TotalCPU", "00:10:00".to_owned()),
        ("NodeList", "o1".to_owned()),
    ];
    let cells = cells.map(|(name, cell)| {
        let other = with.iter().find(|(column, _)| *column == name);
        other.map_or(cell, |(_, other)| (*other).to_owned())
    });
    cells.join("|") + "\n"
}
