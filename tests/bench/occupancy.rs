//! `cargo bench --bench occupancy [-- --intervals N]`: jobs on nodes from Parquet to units, ledger and distribution,
//! against window functions of DuckDB on the same file, at 2, 20 and 100 million or at one size. Nothing is asserted but
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
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Int32Array, Int64Array, RecordBatch};
use gridtally::occupancy::{
    AllocationShapes, Grid, History, NodeQuery, Resource, Resources, Scheme, Slices, Unit, tally_all,
};
use gridtally::store::{TableRows, read_rows, row_groups};
use gridtally::time::{SecondSpan, Zone};
use parquet::arrow::ArrowWriter;
use python::{interpreter, run};

const NODE_N: i32 = 2_000;
const CORE_N: i64 = 64;
const MEMORY_BYTE: i64 = 256 << 30;
/// Seconds of a slice: thirty days.
const SLICE_S: i64 = 30 * 86_400;
/// Jobs on nodes of a slice, at most: larger inputs span more slices, one in memory at a time, the others on disk.
const SLICE_N: i64 = 20_000_000;
/// Jobs on nodes in a file, unless one number is requested.
const SIZES: [i64; 3] = [2_000_000, SLICE_N, 5 * SLICE_N];
/// DuckDB takes many minutes, and more memory than machines have, for more.
const COMPARED_N: i64 = SLICE_N;
/// Of which the median is reported.
const RUN_N: usize = 3;
const THREADS: usize = 2;
/// Rows read at once, and how often they are before they are put into slices.
const BATCH_N: usize = 65_536;
const WAITING_N: usize = 4;

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
        ["--kernel", file, slice_n] => kernel(Path::new(file), slice_n.parse().unwrap()),
        ["--intervals", n] => compare(&[n.parse().expect("a number of intervals")]),
        [] => compare(&SIZES),
        other => panic!("{other:?} is not understood"),
    }
}

fn compare(sizes: &[i64]) {
    let folder = tempfile::tempdir().unwrap();
    println!(
        "{NODE_N} nodes, {THREADS} threads each, reading the file included. The kernel (median of {RUN_N} runs) reports \
         capacity, allocated, overhead, stranded and\nbilled cores, memory and GPUs by node and day, units by hour of \
         the week, free shapes and over-allocations.\nDuckDB (once) reports the integrals of units and of allocated \
         cores: one number each.\n"
    );
    println!(
        "{:>12} {:>8} {:>14} {:>12} {:>6} {:>10} {:>8} {:>7}",
        "intervals", "s", "intervals/s", "ns/interval", "MB", "DuckDB s", "MB", "times"
    );
    for interval_n in sizes.iter().copied() {
        let file = folder.path().join("intervals.parquet");
        let slice_n = generate(&file, interval_n);
        let mut runs: Vec<Cost> = (0..RUN_N)
            .map(|_| {
                let kernel = std::env::current_exe().unwrap();
                let mut kernel = Command::new(kernel);
                Cost::parse(&run(kernel.arg("--kernel").arg(&file).arg(slice_n.to_string())))
            })
            .collect();
        runs.sort_by(|one, other| one.wall_s.total_cmp(&other.wall_s));
        let peak_mb = runs.iter().map(|run| run.peak_mb).max().unwrap();
        let ours = runs.swap_remove(RUN_N / 2);
        let per_s = whole(interval_n) / ours.wall_s;
        let [mut theirs_s, mut theirs_mb, mut times] = ["-"; 3].map(str::to_owned);
        if interval_n <= COMPARED_N {
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
            "{interval_n:>12} {:>8.2} {per_s:>14.0} {:>12.0} {peak_mb:>6} {theirs_s:>10} {theirs_mb:>8} {times:>7}",
            ours.wall_s,
            1e9 / per_s
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
            ("node", Arc::new(nodes) as arrow_array::ArrayRef),
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

/// Jobs on nodes as the file has them.
struct Rows {
    node: Int32Array,
    start_s: Int64Array,
    end_s: Int64Array,
    core_n: Int32Array,
    memory_byte: Int64Array,
}

impl Rows {
    fn of(batch: &RecordBatch) -> Self {
        let small = |column: usize| batch.column(column).as_primitive::<Int32Type>().clone();
        let large = |column: usize| batch.column(column).as_primitive::<Int64Type>().clone();
        Self {
            node: small(0),
            start_s: large(1),
            end_s: large(2),
            core_n: small(3),
            memory_byte: large(4),
        }
    }
}

/// Sweeps the file slice by slice and prints what it came to and what it cost.
fn kernel(file: &Path, slice_n: i64) {
    let begun = Instant::now();
    let unit = Unit {
        name: "1core+2GiB".to_owned(),
        thresholds: vec![(Resource::Core, 1), (Resource::Memory, 2 << 30)],
        partitions: Vec::new(),
    };
    let resources = Resources::of(std::slice::from_ref(&unit));
    let mut shapes = AllocationShapes::new(resources.width());
    let mut slices = Slices::new((0..slice_n).map(|nth| SecondSpan::from([nth * SLICE_S, (nth + 1) * SLICE_S])));
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(WAITING_N);
        let open = || File::open(file).unwrap();
        let group_n = row_groups(&open()).unwrap();
        let groups = Arc::new(Mutex::new(0..group_n));
        for _ in 0..THREADS {
            let (sender, groups) = (sender.clone(), Arc::clone(&groups));
            scope.spawn(move || {
                loop {
                    let next = groups.lock().unwrap().next();
                    let Some(group) = next else { break };
                    let wanted = TableRows {
                        batch_rows: BATCH_N,
                        groups: Some(group..group + 1),
                        ..TableRows::default()
                    };
                    for batch in read_rows(open(), &wanted).unwrap() {
                        sender.send(Rows::of(&batch.unwrap())).unwrap();
                    }
                }
            });
        }
        drop(sender);
        for rows in receiver {
            push(&rows, &mut shapes, &mut slices);
        }
    });
    let thresholds = [unit.thresholds(&resources)];
    let question = NodeQuery {
        units: &thresholds,
        scheme: Scheme::OverheadAware,
    };
    let histories = vec![History::constant(&[CORE_N, MEMORY_BYTE, 0]); usize::try_from(NODE_N).unwrap()];
    let (mut unit_s, mut core_s) = (0, 0);
    for nth in 0..slices.len() {
        let slice = slices.slice(nth, histories.len()).unwrap();
        let grid = Grid::new(&Zone::utc(), slice.from_s(), slice.until_s());
        let (tallies, _) = tally_all(slice, &histories, &shapes, &grid, |_| (0, question), THREADS).unwrap();
        for day in tallies.iter().flat_map(|tally| &tally.days) {
            unit_s += day.units[0].unit_s;
            core_s += day.allocated[0];
        }
    }
    let wall_s = begun.elapsed().as_secs_f64();
    println!("{unit_s} {core_s} {wall_s} {}", peak_mb());
}

fn push(rows: &Rows, shapes: &mut AllocationShapes, slices: &mut Slices) {
    let spans = rows.start_s.values().iter().zip(rows.end_s.values());
    let amounts = rows.core_n.values().iter().zip(rows.memory_byte.values());
    for ((node, (start_s, end_s)), (core_n, memory_byte)) in rows.node.values().iter().zip(spans).zip(amounts) {
        let shape = shapes.number(&[i64::from(*core_n), *memory_byte, 0], false).unwrap();
        let node = u32::try_from(*node).unwrap();
        slices
            .push(node, SecondSpan::from([*start_s, *end_s]), shape, 0)
            .unwrap();
    }
}

/// The most memory this process ever had, MB.
fn peak_mb() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<i64>().unwrap() / 1024
}
