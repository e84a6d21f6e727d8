//! The overhead datasets of a pipeline: their content, when they are made, and that they agree with Slurm's own sums.

mod bill;
mod hosts;
mod lake;
mod listings;
mod real;
mod report;
mod spec;
mod waiting;
mod wall;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use gridtally::audit::verify;
use gridtally::config::Plan;
use gridtally::error::Result;
use gridtally::run::run_report::RunReport;
use gridtally::run::{RunOptions, stages};
use gridtally::runtime::progress::Silent;
use tempfile::TempDir;

use crate::support::python::python;

/// A folder with a pipeline, what it reads and its lake.
struct Scene {
    folder: TempDir,
}

impl Scene {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let scene = Self { folder };
        for (name, text) in files {
            scene.write(name, text);
        }
        scene
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn try_run(&self, pipeline: &str, options: &RunOptions) -> Result<RunReport> {
        self.write("p.toml", pipeline);
        let (plan, _) = Plan::load(&self.path("p.toml"))?;
        stages::run(&plan, options, &Silent)
    }

    fn run(&self, pipeline: &str) -> RunReport {
        self.run_with(pipeline, &RunOptions::default())
    }

    fn run_with(&self, pipeline: &str, options: &RunOptions) -> RunReport {
        let report = self.try_run(pipeline, options).unwrap();
        let found = verify::verify(self.path("lake").to_str().unwrap()).unwrap();
        assert!(found.is_sound(), "{}", found.text());
        report
    }

    /// The rows of a query, cells between blanks. Views are named like the datasets.
    fn ask(&self, query: &str) -> Vec<String> {
        const ASK: &str = r#"
import os, sys
import duckdb
os.chdir(sys.argv[1])
db = duckdb.connect()
db.execute("SET VARIABLE gridtally_root = '.'")
db.execute(open("gridtally.sql").read())
# Here charges are requested by unit or pool: as numbers.
for name in ("charges", "job_charges"):
    db.execute(f"CREATE TEMP VIEW {name} AS SELECT * REPLACE (charge.amount AS charge) FROM memory.main.{name}")
for row in db.execute(sys.argv[2]).fetchall():
    print(" ".join("NULL" if cell is None else str(cell) for cell in row))
"#;
        let lake = self.path("lake");
        let answer = python(ASK, &[lake.to_str().unwrap(), query]);
        answer.lines().map(str::to_owned).collect()
    }

    /// Every file of the datasets with its bytes, but for those that hold columns and no rows.
    fn bytes(&self, datasets: &[&str]) -> BTreeMap<String, Vec<u8>> {
        let lake = self.path("lake");
        let mut found = BTreeMap::new();
        let mut folders: Vec<PathBuf> = datasets.iter().map(|name| lake.join(name)).collect();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if !path.ends_with("empty.parquet") {
                    let name = path.strip_prefix(&lake).unwrap().to_string_lossy().into_owned();
                    found.insert(name, fs::read(path).unwrap());
                }
            }
        }
        found
    }
}

const OVERHEAD: [&str; 5] = [
    "overhead",
    "overhead_histogram",
    "overhead_queue",
    "overhead_shape",
    "overhead_finding",
];
