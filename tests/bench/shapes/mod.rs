//! Shapes of work other than a few groups in order: one job to a row, in order, shuffled and of one day; many small partitions;
//! summaries; charges; overhead; one more night; nothing new; many small files. What is read whole is compared with a scan for line ends,
//! and with DuckDB doing the like. The table is printed, and kept in a file that is named after the commit.

mod inputs;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gridtally::store::Manifest;

use self::inputs::Shape;
use crate::python::{interpreter, run as output_of};
use crate::{Cost, gridtally_changing, gridtally_into, measure, median, remove, scan, script};

/// How much of each shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShapeSizes {
    /// Jobs of the dense dumps; other shapes have a share of them.
    pub(crate) jobs: i64,
    /// Small files.
    pub(crate) small_files: i64,
    /// Runs of which the median counts.
    pub(crate) runs: usize,
}

/// Prints what each shape costs, and keeps the table.
pub(crate) fn run(sizes: ShapeSizes) {
    let mut table = ShapeTable::new();
    let dense = inputs::dense(sizes.jobs);
    let shuffled = inputs::shuffled(sizes.jobs);
    let one_day = inputs::one_day(sizes.jobs);
    let partitions = inputs::partitions(sizes.jobs / 10);
    let apel = inputs::apel_summaries(sizes.jobs / 100);
    let gracc = inputs::gracc_summaries(sizes.jobs / 10_000);
    let anew = whole_job(&mut table, &dense, sizes.runs);
    for shape in [&shuffled, &one_day, &partitions, &apel, &gracc] {
        whole_job(&mut table, shape, sizes.runs);
    }
    for (work, file, policy_n) in [
        ("one policy", "one-policy.toml", "1"),
        ("two policies", "two-policies.toml", "2"),
    ] {
        let peer = median(sizes.runs, || duckdb(&dense, &[policy_n]));
        table.peer_s = Some(peer.wall_s);
        table.add(&dense, work, median(sizes.runs, || fresh(&dense, file)));
        table.add(&dense, "the same: DuckDB", peer);
        table.peer_s = None;
    }
    let overhead = median(sizes.runs, || fresh(&dense, "overhead.toml"));
    table.add(&dense, "overhead of 400 nodes", overhead);
    // The peer's program knows no nights: it does all of it again.
    table.peer_s = Some(anew.wall_s);
    nights(&mut table, &dense, sizes.runs);
    table.add(&dense, "all of it again: DuckDB", anew);
    table.peer_s = None;
    let small = inputs::small_files(sizes.small_files);
    whole_job(&mut table, &small, sizes.runs);
    nothing_new(&mut table, &small, sizes.runs);
    eprintln!("kept in {}", table.keep().display());
}

/// A fresh lake of a shape, and the peer's, whose cost is given.
fn whole_job(table: &mut ShapeTable, shape: &Shape, runs: usize) -> Cost {
    table.scanned_s = Some(median(runs, || scan(&shape.path)).wall_s);
    let peer = median(runs, || duckdb(shape, &[]));
    table.peer_s = Some(peer.wall_s);
    table.add(shape, "whole job", median(runs, || fresh(shape, "pipeline.toml")));
    let theirs = fs::read_to_string(shape.folder.join("duckdb.totals")).unwrap();
    let expected = shape.rows.to_string();
    assert_eq!(
        (records(shape).to_string(), theirs),
        (expected.clone(), expected),
        "rows"
    );
    table.add(shape, "the same: DuckDB", peer);
    table.peer_s = None;
    table.scanned_s = None;
    peer
}

fn fresh(shape: &Shape, pipeline: &str) -> Cost {
    let lake = shape.folder.join("lake");
    remove(&lake);
    gridtally_into(&shape.folder.join(pipeline), &lake)
}

/// The records of the lake of a shape, or the summaries.
fn records(shape: &Shape) -> u64 {
    let lake = shape.folder.join("lake");
    let (_, manifest) = Manifest::open(lake.to_str().expect("a path in UTF-8")).unwrap();
    let files = ["records", "summary"]
        .into_iter()
        .flat_map(|dataset| manifest.dataset(dataset));
    files.map(|file| file.rows).sum()
}

/// Jobs of one day, and a few of three weeks before, into the lake of the others; then nothing.
fn nights(table: &mut ShapeTable, shape: &Shape, runs: usize) {
    let kept = shape.folder.join("lake-before-the-night");
    remove(&kept);
    gridtally_into(&shape.folder.join("pipeline.toml"), &kept);
    let lake = shape.folder.join("lake");
    let again = || {
        remove(&lake);
        output_of(Command::new("cp").arg("-a").arg(&kept).arg(&lake));
    };
    let night = median(runs, || {
        again();
        gridtally_changing(&shape.folder.join("night.toml"), &lake)
    });
    table.add(shape, "one more night", night);
    let first = median(runs, || {
        again();
        gridtally_changing(&shape.folder.join("one-account.toml"), &lake)
    });
    table.add(shape, "one more night of one account", first);
    nothing_new(table, shape, runs);
    remove(&kept);
}

fn nothing_new(table: &mut ShapeTable, shape: &Shape, runs: usize) {
    let (pipeline, lake) = (shape.folder.join("pipeline.toml"), shape.folder.join("lake"));
    remove(&lake);
    gridtally_into(&pipeline, &lake);
    table.add(shape, "nothing new", median(runs, || gridtally_into(&pipeline, &lake)));
}

fn duckdb(shape: &Shape, policy_n: &[&str]) -> Cost {
    let out = shape.folder.join("duckdb");
    remove(&out);
    fs::create_dir_all(&out).unwrap();
    let input = if shape.path.is_dir() {
        shape.path.join("*")
    } else {
        shape.path.clone()
    };
    let cost = measure(
        Command::new(interpreter())
            .arg(script("runner.py"))
            .arg(interpreter())
            .arg(script("duckdb_job.py"))
            .args([shape.peer, "partitions"])
            .arg(input)
            .arg(&out)
            .args(policy_n),
    );
    remove(&out);
    cost
}

/// The results, as lines of a table.
struct ShapeTable {
    text: String,
    /// What a scan of the input at hand takes, where it was measured.
    scanned_s: Option<f64>,
    /// What the peer takes for the same.
    peer_s: Option<f64>,
}

impl ShapeTable {
    fn new() -> Self {
        let mut table = Self {
            text: String::new(),
            scanned_s: None,
            peer_s: None,
        };
        table.line("| shape | work | wall s | CPU s | peak MB | thousand rows/s | wall, DuckDB = 1 | wall, scan = 1 |");
        table.line("|---|---|---|---|---|---|---|---|");
        table
    }

    fn line(&mut self, line: &str) {
        println!("{line}");
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn add(&mut self, shape: &Shape, work: &str, cost: Cost) {
        let to = |other: Option<f64>| other.map_or_else(|| "-".to_owned(), |s| format!("{:.2}", cost.wall_s / s));
        let line = format!(
            "| {}, {} rows | {work} | {:.2} | {:.2} | {:.0} | {:.0} | {} | {} |",
            shape.name,
            shape.rows,
            cost.wall_s,
            cost.cpu_s,
            cost.peak_mb,
            f64::from(shape.rows) / 1_000.0 / cost.wall_s,
            to(self.peer_s),
            to(self.scanned_s),
        );
        self.line(&line);
    }

    /// Writes the table into the file of this commit.
    fn keep(&self) -> PathBuf {
        let git = |args: &[&str]| {
            let mut git = Command::new("git");
            output_of(git.args(args).current_dir(env!("CARGO_MANIFEST_DIR")))
        };
        let commit = git(&["rev-parse", "--short=12", "HEAD"]).trim().to_owned();
        let changed = git(&["status", "--porcelain", "--untracked-files=no"]);
        let ending = if changed.is_empty() { "" } else { "-changed" };
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench/results");
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join(format!("{commit}{ending}.md"));
        fs::write(&file, &self.text).unwrap();
        file
    }
}
