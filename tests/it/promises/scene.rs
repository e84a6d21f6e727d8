//! A folder with its own copy of the sample data, in which pipelines are varied and run.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use gridtally::audit::verify;
use gridtally::config::Plan;
use gridtally::error::Result;
use gridtally::run::run_report::RunReport;
use gridtally::run::{RunOptions, stages};
use gridtally::runtime::progress::Silent;
use gridtally::store::read_table;
use tempfile::TempDir;

use crate::generator::sample;

/// A `[[source]]` of a pipeline under test.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) name: &'static str,
    pub(super) paths: Vec<String>,
    /// Every other key, as TOML.
    pub(super) keys: String,
}

/// A pipeline under test.
#[derive(Clone, Debug)]
pub(super) struct Pipeline {
    /// Keys of `[pipeline]`, values as TOML.
    pub(super) head: BTreeMap<&'static str, String>,
    pub(super) sources: Vec<Source>,
    /// The body of `[normalise]`.
    pub(super) normalise: Option<String>,
}

impl Pipeline {
    /// The pipeline of the sample data, every file named by itself.
    pub(super) fn sample() -> Self {
        let source = |name, folder: &str, keys: &str| Source {
            name,
            paths: sample::files()
                .keys()
                .filter(|path| path.starts_with(folder))
                .map(|path| format!("data/{path}"))
                .collect(),
            keys: keys.to_owned(),
        };
        let head = [
            ("name", "\"sample\""),
            ("output", "\"out\""),
            ("allocation_year_start", "\"04-01\""),
            ("calendar_timezone", "\"Europe/Zurich\""),
            ("attribution", "\"prorated\""),
            ("grain", "\"month\""),
            ("overlap", "\"jobs\""),
            ("max_rejected", "1.0"),
        ];
        Self {
            head: head.map(|(key, value)| (key, value.to_owned())).into(),
            sources: vec![
                source(
                    "alp-slurm",
                    "alp/sacct",
                    "format = \"sacct\"\nsite = \"ALP-T2\"\ntimezone = \"Europe/Zurich\"\n\
                     vo = { table = \"data/vo.csv\" }\n",
                ),
                source("bay-apel", "bay/apel/", "format = \"apel\"\n"),
                source("bay-gracc", "bay/gracc/", "format = \"gracc\"\n"),
            ],
            normalise: Some("benchmarks = \"data/benchmarks.csv\"\nmissing = \"null\"\n".to_owned()),
        }
    }

    /// A pipeline of one source and no benchmarks.
    pub(super) fn of(source: Source) -> Self {
        let mut pipeline = Self::sample();
        pipeline.sources = vec![source];
        pipeline.normalise = None;
        pipeline
    }

    /// With one key of `[pipeline]` changed.
    pub(super) fn with(mut self, key: &'static str, value: &str) -> Self {
        self.head.insert(key, value.to_owned());
        self
    }

    /// Every (source, path), sources in order.
    pub(super) fn files(&self) -> Vec<(usize, String)> {
        let paths = |(at, source): (usize, &Source)| {
            let with: Vec<_> = source.paths.iter().map(|path| (at, path.clone())).collect();
            with
        };
        self.sources.iter().enumerate().flat_map(paths).collect()
    }

    /// With these files only; sources that are left without one are left out.
    pub(super) fn only(&self, files: &[(usize, String)]) -> Self {
        let mut pipeline = self.clone();
        for (at, source) in pipeline.sources.iter_mut().enumerate() {
            source.paths = files
                .iter()
                .filter(|(of, _)| *of == at)
                .map(|(_, p)| p.clone())
                .collect();
        }
        pipeline.sources.retain(|source| !source.paths.is_empty());
        pipeline
    }

    /// As a pipeline file.
    pub(super) fn text(&self) -> String {
        let mut text = String::from("[pipeline]\n");
        for (key, value) in &self.head {
            let _ = writeln!(text, "{key} = {value}");
        }
        for source in &self.sources {
            let _ = writeln!(
                text,
                "[[source]]\nname = {:?}\npaths = {:?}\n{}",
                source.name, source.paths, source.keys
            );
        }
        if let Some(normalise) = &self.normalise {
            let _ = writeln!(text, "[normalise]\n{normalise}");
        }
        text
    }
}

/// A folder with inputs, pipelines and lakes.
pub(super) struct Scene {
    folder: TempDir,
}

impl Scene {
    /// With the sample data in `data/`.
    pub(super) fn sample() -> Self {
        let scene = Self::empty();
        for (path, bytes) in sample::files() {
            scene.write(&format!("data/{path}"), &bytes);
        }
        for table in ["benchmarks.csv", "vo.csv"] {
            let bytes = fs::read(crate::support::sample::repository("sample-data").join(table)).unwrap();
            scene.write(&format!("data/{table}"), &bytes);
        }
        scene
    }

    pub(super) fn empty() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(super) fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        keep_private(&path);
    }

    /// Writes the pipeline file; its path.
    pub(super) fn file(&self, pipeline: &Pipeline) -> PathBuf {
        self.write("pipeline.toml", pipeline.text().as_bytes());
        self.path("pipeline.toml")
    }

    /// Runs a pipeline into the lake `out`.
    pub(super) fn try_run(&self, pipeline: &Pipeline, out: &str, options: RunOptions) -> Result<RunReport> {
        self.file(pipeline);
        self.run_file("pipeline.toml", out, options)
    }

    /// Runs the pipeline of a file into the lake `out`.
    pub(super) fn run_file(&self, file: &str, out: &str, mut options: RunOptions) -> Result<RunReport> {
        let (plan, _) = Plan::load(&self.path(file))?;
        options.out = Some(self.path(out).to_str().unwrap().to_owned());
        stages::run(&plan, &options, &Silent)
    }

    pub(super) fn run(&self, pipeline: &Pipeline, out: &str) -> RunReport {
        self.run_with(pipeline, out, RunOptions::default())
    }

    pub(super) fn run_with(&self, pipeline: &Pipeline, out: &str, options: RunOptions) -> RunReport {
        self.try_run(pipeline, out, options)
            .unwrap_or_else(|e| panic!("{out}: {e}"))
    }

    /// What `verify` finds in the lake `out`.
    pub(super) fn findings(&self, out: &str) -> Vec<(String, String)> {
        verify::verify(self.path(out).to_str().unwrap()).unwrap().findings
    }

    /// BLAKE3 of every published file of the lake `out`.
    pub(super) fn lake(&self, out: &str) -> BTreeMap<String, String> {
        lake_hash(&self.path(out))
    }
}

/// Every published file of a lake; the records of runs, the seal that names them and the machinery are left out.
pub(super) fn published(lake: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![lake.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if folder == lake && (name == "runs" || name == "seal.json" || name == ".gridtally") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn name(lake: &Path, path: &Path) -> String {
    path.strip_prefix(lake).unwrap().to_str().unwrap().to_owned()
}

/// BLAKE3 of every published file by its path in the lake.
pub(crate) fn lake_hash(lake: &Path) -> BTreeMap<String, String> {
    let hash = |path: &PathBuf| blake3::hash(&fs::read(path).unwrap()).to_hex().to_string();
    published(lake)
        .iter()
        .map(|path| (name(lake, path), hash(path)))
        .collect()
}

/// When every published file was written.
pub(super) fn lake_times(lake: &Path) -> BTreeMap<String, SystemTime> {
    let time = |path: &PathBuf| fs::metadata(path).unwrap().modified().unwrap();
    published(lake)
        .iter()
        .map(|path| (name(lake, path), time(path)))
        .collect()
}

/// Fails with the files that differ, not with two screens of hashes.
pub(crate) fn assert_same(a: &BTreeMap<String, String>, b: &BTreeMap<String, String>, what: &str) {
    let keys: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
    let differing: Vec<_> = keys
        .into_iter()
        .filter(|key| a.get(*key) != b.get(*key))
        .map(|key| match (a.get(key), b.get(key)) {
            (Some(_), Some(_)) => format!("{key} differs"),
            (Some(_), None) => format!("{key} is missing"),
            _ => format!("{key} is too much"),
        })
        .collect();
    assert!(differing.is_empty(), "{what}: {differing:#?}");
    assert!(a.len() > 5, "{what}: only {} files", a.len());
}

/// A small shuffle that is the same in every run.
pub(super) fn shuffle<T>(items: &mut [T], mut seed: u64) {
    for at in (1..items.len()).rev() {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let other = usize::try_from(seed >> 33).unwrap() % (at + 1);
        items.swap(at, other);
    }
}

/// Reads a published table to its end. Only the file that stands for a dataset without rows has none.
pub(super) fn read_whole(path: &Path, file: fs::File) {
    let table = read_table(file, None, 8192).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let rows: usize = table
        .map(|batch| batch.unwrap_or_else(|e| panic!("{}: {e}", path.display())).num_rows())
        .sum();
    let is_empty = path.file_name().is_some_and(|name| name == "empty.parquet");
    assert_eq!(rows == 0, is_empty, "{}: {rows} rows", path.display());
}

/// Leaves a file to its owner, as a key must be.
pub(crate) fn keep_private(file: &Path) {
    #[cfg(unix)]
    fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
}
