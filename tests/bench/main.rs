//! `cargo bench --bench lake [-- --rows N] [--runs K]`: the whole job (dumps to published lake) against DuckDB on the
//! same files and against a scan for line ends, in one run on one machine, at half and at full size. Nothing is
//! asserted: the ratios are for people to read.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a development tool may stop where it stands"
)]

#[path = "../generator"]
mod generator {
    pub(crate) mod apel;
    pub(crate) mod bulk;
    pub(crate) mod clock;
    pub(crate) mod gracc;
    pub(crate) mod rng;
    pub(crate) mod sacct;
}
mod input;
mod python;

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use input::{Dialect, Input};
use python::{interpreter, run};

/// What one run of something cost.
#[derive(Clone, Copy, Debug)]
struct Cost {
    wall_s: f64,
    cpu_s: f64,
    peak_mb: f64,
}

struct Options {
    rows: i64,
    runs: usize,
}

fn options() -> Options {
    let mut options = Options {
        rows: 2_000_000,
        runs: 3,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || -> i64 {
            let text = words.next().unwrap_or_else(|| panic!("{word} needs a number"));
            text.parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
        };
        match word.as_str() {
            "--rows" => options.rows = number(),
            "--runs" => options.runs = usize::try_from(number()).expect("a number of runs").max(1),
            // Cargo says this to every benchmark.
            "--bench" => {}
            _ => panic!("{word:?} is unexpected; there are --rows N and --runs K"),
        }
    }
    options
}

fn main() {
    let options = options();
    println!(
        "| input | work | wall s | CPU s | peak MB | MB/s | thousand records/s | wall, DuckDB = 1 | wall, scan = 1 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (dialect, share) in [(Dialect::Sacct, 1), (Dialect::Gracc, 8), (Dialect::Apel, 2)] {
        for size in [options.rows / share / 2, options.rows / share] {
            let input = input::make(dialect, size);
            eprintln!("{dialect:?}: {size} records, {} MB", input.bytes / 1_000_000);
            compare(&input, options.runs);
        }
    }
}

fn compare(input: &Input, runs: usize) {
    let scan = median(runs, || scan(&input.path));
    let plain = median(runs, || gridtally(input, "pipeline.toml"));
    let normalised = median(runs, || gridtally(input, "normalised.toml"));
    eprintln!(
        "{:?}: normalising takes {:.1} % of the CPU time of a run, {:.1} % of its wall time",
        input.dialect,
        100.0 * (normalised.cpu_s - plain.cpu_s) / normalised.cpu_s,
        100.0 * (normalised.wall_s - plain.wall_s) / normalised.wall_s,
    );
    let duckdb = matches!(input.dialect, Dialect::Sacct | Dialect::Gracc).then(|| median(runs, || duckdb(input)));
    for (work, cost) in [
        ("scan for line ends", Some(scan)),
        ("gridtally run", Some(plain)),
        ("with benchmarks", Some(normalised)),
        ("DuckDB", duckdb),
    ] {
        let Some(cost) = cost else { continue };
        let (megabytes, thousands) = (thousandths(input.bytes / 1_000), thousandths(input.records));
        let to_duckdb = duckdb.map_or_else(|| "-".to_owned(), |d| format!("{:.2}", cost.wall_s / d.wall_s));
        println!(
            "| {:?} {} | {work} | {:.2} | {:.2} | {:.0} | {:.0} | {:.0} | {to_duckdb} | {:.1} |",
            input.dialect,
            input.records,
            cost.wall_s,
            cost.cpu_s,
            cost.peak_mb,
            megabytes / cost.wall_s,
            thousands / cost.wall_s,
            cost.wall_s / scan.wall_s,
        );
    }
}

/// A count divided by a thousand.
fn thousandths(n: u64) -> f64 {
    f64::from(u32::try_from(n / 1_000).expect("less than four thousand billion"))
        + f64::from(u32::try_from(n % 1_000).expect("below a thousand")) / 1_000.0
}

/// The run with the median wall time.
fn median(runs: usize, mut once: impl FnMut() -> Cost) -> Cost {
    let mut costs: Vec<Cost> = (0..runs).map(|_| once()).collect();
    costs.sort_by(|a, b| a.wall_s.total_cmp(&b.wall_s));
    costs[costs.len() / 2]
}

/// Finds every line end: no reader of text can be faster.
fn scan(path: &Path) -> Cost {
    let begin = Instant::now();
    let mut lines = 0;
    let mut block = vec![0; 1 << 20];
    for file in input::files(path) {
        let mut file = File::open(file).unwrap();
        loop {
            let n = file.read(&mut block).unwrap();
            if n == 0 {
                break;
            }
            lines += memchr::memchr_iter(b'\n', &block[..n]).count();
        }
    }
    assert!(lines > 0);
    let wall_s = begin.elapsed().as_secs_f64();
    Cost {
        wall_s,
        cpu_s: wall_s,
        peak_mb: 1.0,
    }
}

/// The whole job into a fresh lake.
fn gridtally(input: &Input, pipeline: &str) -> Cost {
    let out = input.folder.join("lake");
    remove(&out);
    let cost = measure(
        Command::new(interpreter())
            .arg(script("runner.py"))
            .arg(env!("CARGO_BIN_EXE_gridtally"))
            .arg("run")
            .arg(input.folder.join(pipeline))
            .arg("--out")
            .arg(&out),
    );
    remove(&out);
    cost
}

fn remove(folder: &Path) {
    if folder.exists() {
        std::fs::remove_dir_all(folder).unwrap();
    }
}

fn duckdb(input: &Input) -> Cost {
    measure(
        Command::new(interpreter())
            .arg(script("runner.py"))
            .arg(interpreter())
            .arg(script("duckdb_job.py"))
            .arg(format!("{:?}", input.dialect).to_lowercase())
            .arg(&input.path)
            .arg(input.folder.join("duckdb")),
    )
}

fn script(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench").join(name)
}

fn measure(command: &mut Command) -> Cost {
    let text = run(command);
    let numbers: Vec<f64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
    match numbers.as_slice() {
        &[wall_s, cpu_s, peak_mb] => Cost { wall_s, cpu_s, peak_mb },
        _ => panic!("the runner printed {text:?}"),
    }
}
