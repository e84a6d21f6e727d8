//! `cargo bench --bench lake [-- --rows N] [--runs K]`: the whole job (dumps to published lake), and parsing and grouping
//! alone, against DuckDB on the same files and against a scan for line ends, at half and at full size; then packed input
//! against plain input and against unpacking alone. All in one run on one machine. That both sides count the same jobs is
//! asserted; the ratios are for people to read. With `--reports N` it measures what reports of a lake of N records cost,
//! and nothing else; with `--fairshare N` what the daily history of fairshare adds to a run of N jobs, with `--energy N`
//! what energy and carbon by the hour add; with `--simulate N` how fast schedules of N jobs are simulated.
//! With `--shapes N [--small-files F]` it measures what other shapes of dumps cost, of N jobs and F small files; with `--years N`
//! the first fill of two years of N jobs, a night and nothing new.
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
    pub(crate) mod dense;
    pub(crate) mod gracc;
    pub(crate) mod rng;
    pub(crate) mod sacct;
}
mod energy;
mod fairshare;
mod group;
mod input;
mod policies;
mod python;
mod report;
mod shapes;
mod simulate;
mod years;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use gridtally::sources::compression::decompress;
use input::{Dialect, Input, Packing};
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
    /// Records of the lake whose reports are measured, in place of all else.
    reports: Option<i64>,
    /// Jobs of a year whose fairshare is measured, in place of all else.
    fairshare: Option<i64>,
    /// Jobs of a year whose energy and carbon is measured, in place of all else.
    energy: Option<i64>,
    /// Jobs whose schedules are simulated, in place of all else.
    simulate: Option<i64>,
    /// Jobs of the dumps of other shapes, in place of all else.
    shapes: Option<i64>,
    /// Jobs of two years of several sites, in place of all else.
    years: Option<i64>,
    /// Small files among these shapes.
    small_files: i64,
    /// What a child process does: a pipeline whose input it groups, and where the totals go.
    group: Option<(PathBuf, PathBuf)>,
}

fn options() -> Options {
    let mut options = Options {
        rows: 2_000_000,
        runs: 3,
        reports: None,
        fairshare: None,
        energy: None,
        simulate: None,
        shapes: None,
        years: None,
        small_files: 4_000,
        group: None,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut text = || words.next().unwrap_or_else(|| panic!("{word} needs a value"));
        let number = |text: String| -> i64 { text.parse().unwrap_or_else(|_| panic!("{text:?} is not a number")) };
        match word.as_str() {
            "--rows" => options.rows = number(text()),
            "--reports" => options.reports = Some(number(text())),
            "--fairshare" => options.fairshare = Some(number(text())),
            "--energy" => options.energy = Some(number(text())),
            "--simulate" => options.simulate = Some(number(text())),
            "--shapes" => options.shapes = Some(number(text())),
            "--years" => options.years = Some(number(text())),
            "--small-files" => options.small_files = number(text()),
            "--runs" => options.runs = usize::try_from(number(text())).expect("a number of runs").max(1),
            "--group" => options.group = Some((text().into(), text().into())),
            // Cargo states this to every benchmark.
            "--bench" => {}
            _ => panic!(
                "{word:?} is unexpected; there are --rows N, --runs K, --reports N, --fairshare N, --energy N, --simulate N, --shapes N, \
                 --small-files F and --years N"
            ),
        }
    }
    options
}

fn main() {
    let options = options();
    compare_all(&options);
    if aside().exists() {
        std::fs::remove_dir_all(aside()).unwrap();
    }
}

fn compare_all(options: &Options) {
    if let Some((pipeline, totals)) = &options.group {
        return group::run(pipeline, totals);
    }
    if let Some(records) = options.reports {
        return report::run(records, options.runs);
    }
    if let Some(jobs) = options.fairshare {
        return fairshare::run(jobs, options.runs);
    }
    if let Some(jobs) = options.energy {
        return energy::run(jobs, options.runs);
    }
    if let Some(jobs) = options.shapes {
        return shapes::run(shapes::ShapeSizes {
            jobs,
            small_files: options.small_files,
            runs: options.runs,
        });
    }
    if let Some(jobs) = options.years {
        return years::run(jobs, options.runs);
    }
    if let Some(jobs) = options.simulate {
        return simulate::run(jobs, options.runs);
    }
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
    let input = input::make(Dialect::Sacct, 3 * options.rows);
    reprice(&input, options.runs);
    println!("\n| input | work | wall s | CPU s | peak MB | MB/s unpacked |\n|---|---|---|---|---|---|");
    for (dialect, share) in [(Dialect::Sacct, 4), (Dialect::Gracc, 32)] {
        let plain = input::make(dialect, options.rows / share);
        unpack(&plain, &plain, options.runs);
        for packing in [Packing::Gzip, Packing::Xz] {
            unpack(&plain, &input::pack(&plain, packing), options.runs);
        }
    }
}

/// What a peer does that keeps no identity and no order.
const AS_THEY_COME: &str = "jobs as they come, in one file: DuckDB";

/// A line of the table, and that of the peer.
struct Compared {
    work: &'static str,
    cost: Cost,
    peer: Option<Cost>,
    theirs: &'static str,
}

fn compare(input: &Input, runs: usize) {
    let scan = median(runs, || scan(&input.path));
    let has_peer = matches!(input.dialect, Dialect::Sacct | Dialect::Gracc);
    let peer = |work: &str| has_peer.then(|| median(runs, || duckdb(input, work)));
    let plain = median(runs, || gridtally(input, "pipeline.toml"));
    let normalised = median(runs, || gridtally(input, "normalised.toml"));
    eprintln!(
        "{:?}: normalising takes {:.1} % of the CPU time of a run, {:.1} % of its wall time",
        input.dialect,
        100.0 * (normalised.cpu_s - plain.cpu_s) / normalised.cpu_s,
        100.0 * (normalised.wall_s - plain.wall_s) / normalised.wall_s,
    );
    // DuckDB looks into what the query takes. Our reader of Slurm text does, and also at what distinguishes jobs from steps, rows
    // that have not started and cores as they were allocated; the others read everything.
    let (grouping, theirs) = match input.dialect {
        Dialect::Sacct => (
            "parse and group, 13 of 33 columns: gridtally",
            "parse and group, 7 of 33 columns: DuckDB",
        ),
        Dialect::Gracc | Dialect::Apel => (
            "parse and group, all fields: gridtally",
            "parse and group, 8 fields: DuckDB",
        ),
    };
    let rows = [
        Compared {
            work: "scan for line ends",
            cost: scan,
            peer: None,
            theirs: "",
        },
        Compared {
            work: grouping,
            cost: median(runs, || group(input)),
            peer: peer("group"),
            theirs,
        },
        Compared {
            work: "whole job: gridtally",
            cost: plain,
            peer: peer("partitions"),
            theirs: "jobs once each, sorted, in partitions: DuckDB",
        },
        Compared {
            work: "whole job: gridtally",
            cost: plain,
            peer: peer("lake"),
            theirs: AS_THEY_COME,
        },
        Compared {
            work: "whole job with benchmarks: gridtally",
            cost: normalised,
            peer: None,
            theirs: "",
        },
    ];
    for Compared {
        work,
        cost,
        peer,
        theirs,
    } in rows
    {
        // The line before has all of it where there is no peer.
        if peer.is_none() && theirs == AS_THEY_COME {
            continue;
        }
        let to_peer =
            |cost: Cost| peer.map_or_else(|| "-".to_owned(), |peer| format!("{:.2}", cost.wall_s / peer.wall_s));
        for (work, cost) in std::iter::once((work, cost)).chain(peer.map(|peer| (theirs, peer))) {
            let (megabytes, thousands) = (thousandths(input.bytes / 1_000), thousandths(input.records));
            println!(
                "| {:?} {} | {work} | {:.2} | {:.2} | {:.0} | {:.0} | {:.0} | {} | {:.1} |",
                input.dialect,
                input.records,
                cost.wall_s,
                cost.cpu_s,
                cost.peak_mb,
                megabytes / cost.wall_s,
                thousands / cost.wall_s,
                to_peer(cost),
                cost.wall_s / scan.wall_s,
            );
        }
    }
    if has_peer {
        let totals = |of: &str| std::fs::read_to_string(input.folder.join(of)).unwrap();
        assert_eq!(
            totals("gridtally.totals"),
            totals("duckdb.totals"),
            "jobs, wall and core seconds"
        );
    }
}

/// The whole job on packed input, and unpacking it alone: what is between the two is not done in parallel.
fn unpack(plain: &Input, input: &Input, runs: usize) {
    let name = input.path.file_name().expect("a file").display();
    let alone = (plain.path != input.path).then(|| median(runs, || unpacking(&input.path)));
    for (work, cost) in [
        ("unpacking alone, one thread", alone),
        (
            "whole job: gridtally",
            Some(median(runs, || gridtally(input, "pipeline.toml"))),
        ),
    ] {
        let Some(cost) = cost else { continue };
        println!(
            "| {name} {} | {work} | {:.2} | {:.2} | {:.0} | {:.0} |",
            plain.records,
            cost.wall_s,
            cost.cpu_s,
            cost.peak_mb,
            thousandths(plain.bytes / 1_000) / cost.wall_s,
        );
    }
}

/// The jobs of a lake priced under three policies, against what it took to read them from their dump.
fn reprice(input: &Input, runs: usize) {
    let pipeline = input.folder.join("pipeline.toml");
    let read = median(runs, || gridtally(input, "pipeline.toml"));
    let grouped = median(runs, || group(input));
    let lake = input.folder.join("priced");
    remove(&lake);
    let program = |args: &[&str]| {
        let mut command = Command::new(interpreter());
        command
            .arg(script("runner.py"))
            .arg(env!("CARGO_BIN_EXE_gridtally"))
            .args(args);
        measure(&mut command)
    };
    let out = lake.to_str().unwrap();
    program(&["run", pipeline.to_str().unwrap(), "--out", out]);
    let files = policies::write(&input.folder);
    let mut arguments = vec!["policy", "price", "--from", out];
    arguments.extend(files.iter().map(|file| file.to_str().unwrap()));
    let priced = median(runs, || program(&arguments));
    // Three rows are a job with its steps.
    println!(
        "\n| work, {} jobs of Slurm | wall s | CPU s | peak MB | CPU, read into a lake = 1 |\n|---|---|---|---|---|",
        input.records / 3
    );
    for (work, cost) in [
        ("read and grouped, nothing written", grouped),
        ("read into a lake", read),
        ("priced again under three policies", priced),
    ] {
        println!(
            "| {work} | {:.2} | {:.2} | {:.0} | {:.2} |",
            cost.wall_s,
            cost.cpu_s,
            cost.peak_mb,
            cost.cpu_s / read.cpu_s
        );
    }
    remove(&lake);
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
    alone(|block| {
        let mut lines = 0;
        for file in input::files(path) {
            lines += read(&mut File::open(file).unwrap(), block);
        }
        assert!(lines > 0);
    })
}

/// Unpacks a file and does nothing with it but find the line ends.
fn unpacking(path: &Path) -> Cost {
    alone(|block| {
        let file = Box::new(File::open(path).unwrap());
        assert!(read(&mut decompress(file).unwrap(), block) > 0);
    })
}

fn read(from: &mut dyn Read, block: &mut [u8]) -> usize {
    let mut lines = 0;
    loop {
        let n = from.read(block).unwrap();
        if n == 0 {
            return lines;
        }
        lines += memchr::memchr_iter(b'\n', &block[..n]).count();
    }
}

/// What something costs that one thread of this process does.
fn alone(work: impl FnOnce(&mut [u8])) -> Cost {
    let mut block = vec![0; 1 << 20];
    let begin = Instant::now();
    work(&mut block);
    let wall_s = begin.elapsed().as_secs_f64();
    Cost {
        wall_s,
        cpu_s: wall_s,
        peak_mb: 1.0,
    }
}

/// Parsing and grouping alone, in a process of its own.
fn group(input: &Input) -> Cost {
    measure(
        Command::new(interpreter())
            .arg(script("runner.py"))
            .arg(std::env::current_exe().unwrap())
            .arg("--group")
            .arg(input.folder.join("pipeline.toml"))
            .arg(input.folder.join("gridtally.totals")),
    )
}

/// The whole job into a fresh lake.
fn gridtally(input: &Input, pipeline: &str) -> Cost {
    let out = input.folder.join("lake");
    remove(&out);
    let cost = gridtally_into(&input.folder.join(pipeline), &out);
    remove(&out);
    cost
}

fn gridtally_into(pipeline: &Path, out: &Path) -> Cost {
    measure(
        Command::new(interpreter())
            .arg(script("runner.py"))
            .arg(env!("CARGO_BIN_EXE_gridtally"))
            .arg("run")
            .arg(pipeline)
            .arg("--out")
            .arg(out),
    )
}

/// As [`gridtally_into`], where the run must change the lake: if it finds nothing new, its exit code ends the benchmark.
fn gridtally_changing(pipeline: &Path, out: &Path) -> Cost {
    measure(
        Command::new(interpreter())
            .arg(script("runner.py"))
            .arg(env!("CARGO_BIN_EXE_gridtally"))
            .args(["run", "--exit-code-if-unchanged", "100"])
            .arg(pipeline)
            .arg("--out")
            .arg(out),
    )
}

/// Puts a folder aside that the next run is to make again. It is removed at the end: ext4 looks at every inode that was freed
/// lately before it takes another, so that what follows a removal pays for it.
fn remove(folder: &Path) {
    static REMOVED_N: AtomicUsize = AtomicUsize::new(0);
    if folder.exists() {
        let aside = aside();
        std::fs::create_dir_all(&aside).unwrap();
        let nth = REMOVED_N.fetch_add(1, Ordering::Relaxed);
        std::fs::rename(folder, aside.join(nth.to_string())).unwrap();
    }
}

/// Where folders are that are no longer needed.
fn aside() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bench/aside-{}", std::process::id()))
}

fn duckdb(input: &Input, work: &str) -> Cost {
    let out = if work == "partitions" {
        let out = input.folder.join("duckdb-partitions");
        remove(&out);
        std::fs::create_dir_all(&out).unwrap();
        out
    } else {
        input.folder.join("duckdb")
    };
    measure(
        Command::new(interpreter())
            .arg(script("runner.py"))
            .arg(interpreter())
            .arg(script("duckdb_job.py"))
            .arg(format!("{:?}", input.dialect).to_lowercase())
            .arg(work)
            .arg(&input.path)
            .arg(out),
    )
}

fn script(name: &str) -> PathBuf {
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
