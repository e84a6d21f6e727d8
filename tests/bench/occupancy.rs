//! `cargo bench --bench occupancy [-- --intervals N]`: jobs on nodes from Parquet to units, ledger and distribution,
//! against window functions of DuckDB on the same file, and at a tenth and five times the size. Nothing is asserted but
//! that both count the same: the ratios are for people to read.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a development tool may stop where it stands"
)]

#[path = "python.rs"]
mod python;

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::{AsArray, Int32Array, Int64Array, RecordBatch};
use arrow::datatypes::{Int32Type, Int64Type};
use gridtally::occupancy::{
    Grid, History, NodeTally, Question, Resource, Resources, Scheme, Shapes, Slice, Thresholds, Unit, tally_all,
};
use gridtally::store::read_table;
use gridtally::time::Zone;
use parquet::arrow::ArrowWriter;

use python::{interpreter, run};

const NODE_N: i32 = 2_000;
const CORE_N: i64 = 64;
const MEMORY_BYTE: i64 = 256 << 30;
/// Seconds of a slice: thirty days.
const SLICE_S: i64 = 30 * 86_400;
/// Jobs on nodes of a slice, at most: larger inputs span more slices, one in memory at a time.
const SLICE_N: i64 = 20_000_000;
const THREADS: usize = 2;

const SQL: &str = r#"
import resource, sys, time
import duckdb
file, slice_n = sys.argv[1], int(sys.argv[2])
db = duckdb.connect()
db.execute("SET threads = 2")
# A bar on stdout would be read as the answer.
db.execute("SET enable_progress_bar = false")
begun = time.time()
row = db.execute(f"""
WITH event AS (
  SELECT node, start_s AS t, core_n AS c, memory_byte AS m FROM '{file}'
  UNION ALL SELECT node, least(end_s, {slice_n * 30 * 86400}), -core_n, -memory_byte FROM '{file}'
  UNION ALL SELECT range, 0, 0, 0 FROM range(2000) UNION ALL SELECT range, {slice_n * 30 * 86400}, 0, 0 FROM range(2000)),
instant AS (SELECT node, t, sum(c) AS c, sum(m) AS m FROM event GROUP BY ALL),
stretch AS (
  SELECT t, sum(c) OVER w AS c, sum(m) OVER w AS m, lead(t) OVER w AS until FROM instant
  WINDOW w AS (PARTITION BY node ORDER BY t))
SELECT sum((until - t) * least(greatest(64 - c, 0), greatest((256::BIGINT << 30) - m, 0) // (2::BIGINT << 30)))::HUGEINT,
       sum((until - t) * least(c, 64))::HUGEINT
FROM stretch WHERE until IS NOT NULL""").fetchone()
print(row[0], row[1], time.time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"#;

/// What somebody counted, and what it cost.
struct Cost {
    unit_s: i128,
    core_s: i128,
    wall_s: f64,
    peak_mb: i64,
}

impl Cost {
    fn parse(text: &str) -> Self {
        let words: Vec<&str> = text.split_whitespace().collect();
        Self {
            unit_s: words[0].parse().unwrap(),
            core_s: words[1].parse().unwrap(),
            wall_s: words[2].parse().unwrap(),
            peak_mb: words[3].parse().unwrap(),
        }
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--kernel", file] => kernel(Path::new(file)),
        ["--intervals", n] => compare(n.parse().expect("a number of intervals")),
        [] => compare(SLICE_N),
        other => panic!("{other:?} is not understood"),
    }
}

fn compare(full: i64) {
    let folder = tempfile::tempdir().unwrap();
    println!(
        "{:>12} {:>8} {:>14} {:>8} {:>14} {:>8} {:>7}",
        "intervals", "s", "intervals/s", "MB", "DuckDB s", "MB", "times"
    );
    for (interval_n, is_compared) in [(full / 10, true), (full, true), (full * 5, false)] {
        let file = folder.path().join("intervals.parquet");
        let slice_n = generate(&file, interval_n);
        let output = Command::new(std::env::current_exe().unwrap())
            .arg("--kernel")
            .arg(&file)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let ours = Cost::parse(&String::from_utf8(output.stdout).unwrap());
        let per_s = whole(interval_n) / ours.wall_s;
        let (mut theirs_s, mut theirs_mb, mut times) = (String::new(), String::new(), String::new());
        if is_compared {
            let answer = run(Command::new(interpreter())
                .args(["-c", SQL])
                .arg(&file)
                .arg(slice_n.to_string()));
            let theirs = Cost::parse(&answer);
            assert_eq!(
                (ours.unit_s, ours.core_s),
                (theirs.unit_s, theirs.core_s),
                "both count the same"
            );
            theirs_s = format!("{:.1}", theirs.wall_s);
            theirs_mb = theirs.peak_mb.to_string();
            times = format!("{:.1}", theirs.wall_s / ours.wall_s);
        }
        println!(
            "{interval_n:>12} {:>8.2} {per_s:>14.0} {:>8} {theirs_s:>14} {theirs_mb:>8} {times:>7}",
            ours.wall_s, ours.peak_mb
        );
    }
}

fn whole(n: i64) -> f64 {
    f64::from(i32::try_from(n / 1000).unwrap()) * 1000.0
}

/// Writes jobs on nodes in the order of their beginnings; gives the number of slices they span.
fn generate(file: &Path, interval_n: i64) -> i64 {
    let slice_n = (interval_n - 1) / SLICE_N + 1;
    let span_s = slice_n * SLICE_S;
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move |below: i64| {
        // xorshift64*
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        i64::try_from(state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap() % below
    };
    // As many at a time that about two thirds of a node are held.
    let run_s = 2 * 20 * i64::from(NODE_N) * span_s / interval_n;
    let mut writer: Option<ArrowWriter<File>> = None;
    let mut done = 0;
    while done < interval_n {
        let rows = (interval_n - done).min(1 << 20);
        let starts: Vec<i64> = (done..done + rows).map(|nth| nth * (span_s - 1) / interval_n).collect();
        let ends: Vec<i64> = starts.iter().map(|start_s| start_s + 1 + random(run_s)).collect();
        let nodes: Int32Array = (0..rows)
            .map(|_| i32::try_from(random(NODE_N.into())).unwrap())
            .collect();
        let cores: Int32Array = (0..rows).map(|_| i32::try_from(1 + random(4)).unwrap()).collect();
        let memory: Int64Array = (0..rows).map(|_| (1 + random(16)) << 29).collect();
        let batch = RecordBatch::try_from_iter([
            ("node", Arc::new(nodes) as arrow::array::ArrayRef),
            ("start_s", Arc::new(Int64Array::from(starts))),
            ("end_s", Arc::new(Int64Array::from(ends))),
            ("core_n", Arc::new(cores)),
            ("memory_byte", Arc::new(memory)),
        ])
        .unwrap();
        let writer = writer
            .get_or_insert_with(|| ArrowWriter::try_new(File::create(file).unwrap(), batch.schema(), None).unwrap());
        writer.write(&batch).unwrap();
        done += rows;
    }
    writer.unwrap().close().unwrap();
    slice_n
}

/// Sweeps the file slice by slice and prints what it came to and what it cost.
fn kernel(file: &Path) {
    let begun = Instant::now();
    let unit = Unit {
        name: "1core+2GiB".to_owned(),
        thresholds: vec![(Resource::Core, 1), (Resource::Memory, 2 << 30)],
        partitions: Vec::new(),
    };
    let resources = Resources::of(std::slice::from_ref(&unit));
    let thresholds = [unit.thresholds(&resources)];
    let histories = vec![History::constant(&[CORE_N, MEMORY_BYTE, 0]); usize::try_from(NODE_N).unwrap()];
    let mut shapes = Shapes::new(resources.width());
    let mut sums = (0, 0);
    // Jobs that go on into the next slice: node, beginning, end, shape.
    let mut going_on: Vec<(u32, i64, i64, u32)> = Vec::new();
    let mut slice = Slice::new(0, SLICE_S, histories.len());
    for batch in read_table(File::open(file).unwrap(), None, 65_536).unwrap() {
        let batch = batch.unwrap();
        let node = batch.column(0).as_primitive::<Int32Type>().values();
        let (start, end) = (
            batch.column(1).as_primitive::<Int64Type>(),
            batch.column(2).as_primitive::<Int64Type>(),
        );
        let core = batch.column(3).as_primitive::<Int32Type>().values();
        let memory = batch.column(4).as_primitive::<Int64Type>().values();
        for row in 0..batch.num_rows() {
            let (start_s, end_s) = (start.value(row), end.value(row));
            while start_s >= slice.until_s() {
                slice = next(slice, &mut going_on, &histories, &shapes, &thresholds, &mut sums);
            }
            let shape = shapes.number(&[core[row].into(), memory[row], 0], false).unwrap();
            let node = u32::try_from(node[row]).unwrap();
            slice.push(node, (start_s, end_s), shape, 0);
            if end_s > slice.until_s() {
                going_on.push((node, start_s, end_s, shape));
            }
        }
    }
    // Nothing is asked of the time behind the last slice.
    going_on.clear();
    next(slice, &mut going_on, &histories, &shapes, &thresholds, &mut sums);
    let wall_s = begun.elapsed().as_secs_f64();
    println!("{} {} {wall_s} {}", sums.0, sums.1, peak_mb());
}

/// Sweeps a slice; gives the next one, with what goes on into it.
fn next(
    slice: Slice,
    going_on: &mut Vec<(u32, i64, i64, u32)>,
    histories: &[History],
    shapes: &Shapes,
    thresholds: &[Thresholds],
    sums: &mut (i128, i128),
) -> Slice {
    let (from_s, until_s) = (slice.from_s(), slice.until_s());
    let grid = Grid::new(&Zone::utc(), from_s, until_s);
    let question = Question {
        units: thresholds,
        scheme: Scheme::OverheadAware,
    };
    let tallies: Vec<NodeTally> = tally_all(slice, histories, shapes, &grid, |_| question, THREADS).unwrap();
    for day in tallies.iter().flat_map(|tally| &tally.days) {
        sums.0 += day.units[0].unit_s;
        sums.1 += day.allocated[0];
    }
    let mut after = Slice::new(until_s, until_s + SLICE_S, histories.len());
    going_on.retain(|(node, start_s, end_s, shape)| {
        after.push(*node, (*start_s, *end_s), *shape, 0);
        *end_s > after.until_s()
    });
    after
}

/// The most memory this process ever had, MB.
fn peak_mb() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<i64>().unwrap() / 1024
}
