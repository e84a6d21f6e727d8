//! Reports of a lake of many records, by everything that is read from records and from usage, against DuckDB doing the
//! same aggregate on the same Parquet. The lake is one of Slurm jobs, linked so often under other sites that it holds the
//! records that are requested: what is read and added up is as much, and the disk holds it once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gridtally::store::{FileEntry, Manifest};

use crate::input::{self, Dialect};
use crate::python::interpreter;
use crate::{Cost, gridtally_into, measure, median, script, thousandths};

/// Rows of the dump the lake is made of; two of three are steps or begin with a job.
const DUMP_ROWS: i64 = 2_000_000;

/// What EGI's and WLCG's tables are made of.
const SQL: &str = "\
SELECT site, coalesce(vo, '') AS vo, date_trunc('month', end_utc) AS month, count(*) AS job_n, sum(cpu_ms) AS cpu_ms, \
sum(wall_s) AS wall_s, sum(wall_s * greatest(coalesce(alloc_core_n, 1), 1)) AS core_wall_s, \
sum(cpu_ms / 1000 * coalesce(hs23_per_core, hs06_per_core)) AS cpu_work_s, \
sum(wall_s * coalesce(hs23_per_core, hs06_per_core)) AS wall_work_s \
FROM read_parquet('LAKE/records/*/*/*.parquet', hive_partitioning = true) \
WHERE view = 'batch' AND start_utc IS NOT NULL AND end_utc IS NOT NULL GROUP BY ALL ORDER BY ALL";

/// Prints a line for each report of a lake of at least `records` records.
pub(crate) fn run(records: i64, runs: usize) {
    let input = input::make(Dialect::Sacct, DUMP_ROWS);
    let one = input.folder.join("lake-once");
    if !one.exists() {
        gridtally_into(&input.folder.join("normalised.toml"), &one);
    }
    let lake = input.folder.join("lake-many");
    let n = link(&one, &lake, records);
    println!("| lake | report | wall s | CPU s | peak MB | million records/s |\n|---|---|---|---|---|---|");
    let ours = |words: &[&str]| {
        let mut command = runner();
        command.arg(env!("CARGO_BIN_EXE_gridtally")).arg("report");
        command.arg(words[0]).arg(&lake).args(&words[1..]);
        measure(&mut command)
    };
    let sql = SQL.replace("LAKE", &lake.to_string_lossy());
    let peer = || {
        let mut command = runner();
        let text = format!("import duckdb\nprint(len(duckdb.sql(\"{sql}\").fetchall()))");
        command.arg(interpreter()).args(["-c", &text]);
        measure(&mut command)
    };
    let line = |what: &str, cost: Cost| {
        println!(
            "| {n} records | {what} | {:.2} | {:.2} | {:.0} | {:.1} |",
            cost.wall_s,
            cost.cpu_s,
            cost.peak_mb,
            thousandths(n) / 1_000.0 / cost.wall_s
        );
    };
    line(
        "wlcg, from records: gridtally",
        median(runs, || ours(&["wlcg", "--format", "csv"])),
    );
    line("the same aggregate: DuckDB", median(runs, peer));
    let summaries = ["apel", "--message", "normalised-v0.4", "--leave-out"];
    line("apel, normalised summaries", median(runs, || ours(&summaries)));
    line("gracc, daily documents", median(runs, || ours(&["gracc"])));
    let by_user = ["sreport", "--users", "--format", "csv"];
    line("sreport by user, from records", median(runs, || ours(&by_user)));
    line(
        "sreport, from usage",
        median(runs, || ours(&["sreport", "--format", "csv"])),
    );
    fs::remove_dir_all(&lake).unwrap();
}

fn runner() -> Command {
    let mut command = Command::new(interpreter());
    command.arg(script("runner.py"));
    command
}

/// Links the files of a lake under as many sites as hold so many records; gives their number.
fn link(one: &Path, many: &Path, records: i64) -> u64 {
    if many.exists() {
        fs::remove_dir_all(many).unwrap();
    }
    let manifest = Manifest::parse(&fs::read(one.join("manifest.json")).unwrap()).unwrap();
    let kept: Vec<&FileEntry> = manifest.dataset("records").chain(manifest.dataset("usage")).collect();
    let record_n: u64 = manifest.dataset("records").map(|file| file.rows).sum();
    let times = u64::try_from(records).expect("not negative").div_ceil(record_n);
    let mut linked = Manifest::default();
    linked.facts.clone_from(&manifest.facts);
    for nth in 0..times {
        for file in &kept {
            let path = file.path.replace("site=FELL", &format!("site=FELL{nth:03}"));
            let to: PathBuf = many.join(&path);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::hard_link(one.join(&file.path), to).unwrap();
            linked.insert(FileEntry {
                path,
                ..(*file).clone()
            });
        }
    }
    fs::write(many.join("manifest.json"), linked.to_text().unwrap()).unwrap();
    record_n * times
}
