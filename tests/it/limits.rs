//! What inputs may not do to a run: no record ends it, and no input takes more memory than it is worth.

mod formulas;
mod memory;
mod names;
mod pricing;
mod records;
mod spans;
mod stops;
mod sums;

use std::fs;
use std::path::{Path, PathBuf};

use gridtally::audit::verify;
use gridtally::config::Plan;
use gridtally::error::Result;
use gridtally::run::run_report::RunReport;
use gridtally::run::{RunOptions, stages};
use gridtally::runtime::progress::Silent;
use tempfile::TempDir;

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
        self.write("p.toml", pipeline);
        let (plan, _) = Plan::load(&self.path("p.toml"))?;
        stages::run(&plan, &RunOptions::default(), &Silent)
    }

    /// As [`Self::try_run`]; the lake is sound.
    fn run(&self, pipeline: &str) -> RunReport {
        let report = self.try_run(pipeline).unwrap_or_else(|why| panic!("{why}"));
        let found = verify::verify(self.path("lake").to_str().unwrap()).unwrap();
        assert!(found.is_sound(), "{}", found.text());
        report
    }
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

/// A row of a dump, of one hour on one core unless `with` says otherwise, by column.
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
