//! A folder with jobs, a table of awards and a lake of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// Core equivalents of a core with 4 GiB, as the seed counts them.
const EQUIVALENTS: &str = "id = \"ce\"\nversion = \"1\"\ntitle = \"Core equivalents\"\nsource = \"invented\"\npool = \"cpu\"\n\
     unit = \"core_equivalent_hour\"\nmemory_unit = \"GiB\"\nformula = \"greatest(cores, memory / 4) * hours\"\n\
     [[example]]\nname = \"one\"\nin = { cores = 1, memory = 8, hours = 1 }\nexpect = 2\n";

pub(super) const HEADER: &str =
    "JobID|User|Account|Cluster|Partition|Submit|Start|End|ElapsedRaw|State|NCPUS|NNodes|AllocTRES\n";

/// A job of so many cores with 4 GiB each.
pub(super) fn job(id: u32, who: &str, account: &str, cluster: &str, from: &str, hours: u32, cores: u32) -> String {
    let memory = cores * 4;
    job_with(id, who, account, cluster, from, hours, cores, &format!("{memory}G"))
}

#[expect(clippy::too_many_arguments, reason = "the columns of a line of sacct")]
pub(super) fn job_with(
    id: u32,
    who: &str,
    account: &str,
    cluster: &str,
    from: &str,
    hours: u32,
    cores: u32,
    memory: &str,
) -> String {
    let begin: chrono::NaiveDateTime = from.parse().unwrap();
    let end = begin + chrono::TimeDelta::hours(hours.into());
    let (begin, end) = (begin.format("%Y-%m-%dT%H:%M:%S"), end.format("%Y-%m-%dT%H:%M:%S"));
    let seconds = hours * 3600;
    format!(
        "{id}|{who}|{account}|{cluster}|cpu|{begin}|{begin}|{end}|{seconds}|COMPLETED|{cores}|1|billing={cores},cpu={cores},mem={memory},node=1\n"
    )
}

pub(super) struct Scene(tempfile::TempDir);

impl Scene {
    pub(super) fn new() -> Self {
        let scene = Self(tempfile::tempdir().unwrap());
        scene.write("ce.toml", EQUIVALENTS);
        scene
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        let file = self.path(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// Writes a pipeline over `jobs*.txt` that begins its allocation years in April.
    pub(super) fn pipeline(&self, rest: &str) {
        self.write(
            "p.toml",
            &format!(
                "[pipeline]\nname = \"p\"\noutput = \"lake\"\ngrain = \"day\"\nallocation_year_start = \"04-01\"\n\
                 [[source]]\nname = \"s\"\nformat = \"sacct\"\npaths = [\"jobs*.txt\"]\nsite = \"ALP\"\ntimezone = \"UTC\"\n\
                 vo = {{ value = \"eis\" }}\n[[charge]]\npolicies = [\"ce.toml\"]\n{rest}"
            ),
        );
    }

    pub(super) fn gridtally(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        command.current_dir(self.path("")).args(arguments).output().unwrap()
    }

    /// stdout of a command that succeeds.
    pub(super) fn stdout(&self, arguments: &[&str]) -> String {
        let output = self.gridtally(arguments);
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// stderr of a command that fails.
    pub(super) fn refused(&self, arguments: &[&str]) -> String {
        let output = self.gridtally(arguments);
        assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stderr).unwrap()
    }

    pub(super) fn run(&self) {
        self.stdout(&["run", "p.toml"]);
        self.stdout(&["verify", "lake"]);
    }

    /// Rows of `report awards` as CSV.
    pub(super) fn rows(&self, arguments: &[&str]) -> Vec<BTreeMap<String, String>> {
        let mut all = vec!["report", "awards", "lake", "--format", "csv"];
        all.extend(arguments);
        let csv = self.stdout(&all);
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        reader.deserialize().map(Result::unwrap).collect()
    }

    /// Every published Parquet file of the lake but the log of runs, with its bytes.
    pub(super) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        let root = self.path("lake");
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
                if path.is_dir() {
                    folders.push(path);
                } else if name.ends_with(".parquet") && !name.starts_with("runs/") {
                    files.insert(name, fs::read(&path).unwrap());
                }
            }
        }
        files
    }
}
