//! No input takes more memory than it is worth.

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use gridtally::config::Plan;
use gridtally::run::{RunOptions, stages};
use gridtally::runtime::progress::Silent;

use super::{DUMPS, HEADER, Scene, assert_same_files, lake, pipeline, row};

/// Resident kilobytes of a run at most; `None` without python3.
fn peak_kb(scene: &Scene) -> Option<u64> {
    crate::support::peak::peak_kb(&scene.path("."), &["run", "p.toml", "--threads", "2"])
}

/// The same where few of the records wait in memory: without a limit, more of them do the more there are.
fn limited_peak_kb(scene: &Scene) -> Option<u64> {
    let arguments = ["run", "p.toml", "--threads", "2", "--max-memory", "256M"];
    crate::support::peak::peak_kb(&scene.path("."), &arguments)
}

/// Every day of the month a job on all of many nodes: the totals of nodes and days were held unpacked, 30 kB a node:
/// 180 MB more for the larger one.
#[test]
fn nodes_of_jobs_take_little_memory_each() {
    let peak = |node_n: u32| {
        let scene = Scene::new();
        let nodes = format!("c[1-{node_n}]");
        let rows: String = (1..=22)
            .map(|day| {
                let at = |hour: u32| format!("2026-10-{day:02}T{hour:02}:00:00");
                let (start, end, n) = (at(0), at(1), node_n.to_string());
                let tres = format!("cpu={n},mem={n}G,node={n}");
                row(
                    day,
                    &[
                        ("Submit", &start),
                        ("Start", &start),
                        ("End", &end),
                        ("NCPUS", &n),
                        ("NNodes", &n),
                        ("AllocTRES", &tres),
                        ("NodeList", &nodes),
                    ],
                )
            })
            .collect();
        scene.write("dumps/a.txt", HEADER.to_owned() + &rows);
        let source = format!("{DUMPS}\nsite = \"S\"\nvo = {{ value = \"v\" }}");
        let overhead = "[overhead]\nnodes = \"from-jobs\"\nbilling = \"overhead-aware\"\n[[overhead.unit]]\nname = \"u\"\n\
                        core = 1\nmemory = \"2GiB\"";
        scene.write("p.toml", pipeline(&source, overhead));
        peak_kb(&scene)
    };
    let (Some(few), Some(many)) = (peak(500), peak(6_000)) else {
        eprintln!("SKIPPED nodes_of_jobs_take_little_memory_each: no python3");
        return;
    };
    assert!(many.saturating_sub(few) < 120_000, "{few} kB, then {many} kB");
}

/// The keys of a source whose site and VO are given.
fn dumps() -> String {
    format!("{DUMPS}\nsite = \"S\"\nvo = {{ value = \"v\" }}")
}

/// The peak of a run over the one dump of `rows`; `None` without python3.
fn peak_of(rows: impl Iterator<Item = String>) -> Option<u64> {
    let scene = Scene::new();
    scene.write("dumps/a.txt", rows.fold(HEADER.to_owned(), |text, row| text + &row));
    scene.write("p.toml", pipeline(&dumps(), ""));
    limited_peak_kb(&scene)
}

/// A job of 2026-10-30 that starts so many seconds into the day.
fn job(id: u32, second: u32, cores: &str) -> String {
    let at = |second: u32| {
        let (minute, second) = (second / 60, second % 60);
        format!("2026-10-30T{:02}:{:02}:{second:02}", minute / 60, minute % 60)
    };
    let (start, end) = (at(second), at(second + 600));
    let times = [("Submit", &*start), ("Start", &*start), ("End", &*end)];
    row(id, &[&times[..], &[("ElapsedRaw", "600"), ("NCPUS", cores)]].concat())
}

/// All rows of a day were unpacked at once, and all that lost were kept: 230 bytes a row.
#[test]
fn a_row_that_repeats_takes_little_memory() {
    let peak = |row_n: usize| {
        let again = row(7, &[]);
        peak_of(std::iter::repeat_n(again, row_n))
    };
    let (Some(few), Some(many)) = (peak(40_000), peak(300_000)) else {
        eprintln!("SKIPPED a_row_that_repeats_takes_little_memory: no python3");
        return;
    };
    assert!(many.saturating_sub(few) < 36_000, "{few} kB, then {many} kB");
}

/// All rows of a day were unpacked at once: 160 bytes a row.
#[test]
fn a_huge_day_takes_little_memory() {
    let peak = |job_n: u32| peak_of((0..job_n).map(|id| job(id, id % 80_000, "1")));
    let (Some(few), Some(many)) = (peak(200_000), peak(600_000)) else {
        eprintln!("SKIPPED a_huge_day_takes_little_memory: no python3");
        return;
    };
    assert!(many.saturating_sub(few) < 40_000, "{few} kB, then {many} kB");
}

/// A waiting batch of one row takes a kilobyte a column: 1 500 files filled what memory is for candidates.
#[test]
fn small_files_take_little_memory_each() {
    let peak = |file_n: u32| {
        let scene = Scene::new();
        for id in 0..file_n {
            scene.write(&format!("dumps/{id}.txt"), HEADER.to_owned() + &job(id, id, "1"));
        }
        scene.write("p.toml", pipeline(&dumps(), ""));
        peak_kb(&scene)
    };
    let (Some(few), Some(many)) = (peak(300), peak(3_000)) else {
        eprintln!("SKIPPED small_files_take_little_memory_each: no python3");
        return;
    };
    assert!(many.saturating_sub(few) < 20_000, "{few} kB, then {many} kB");
}

/// A day whose rows do not fit the memory there is is merged in slices, and what becomes of each row is the same.
#[test]
fn a_day_in_slices_is_the_day_at_once() {
    let nights = |memory_byte_n: Option<usize>| {
        let scene = Scene::new();
        scene.write("p.toml", pipeline(&dumps(), ""));
        for night in 0..3_u32 {
            for part in 0..2_u32 {
                let mut rows = HEADER.to_owned();
                for nth in 0..700_u32 {
                    let id = (nth * 37 + night * 11 + part) % 500;
                    // Some have other content for the same job, and one job occurs many times.
                    let cores = if (nth + night) % 5 == 0 { "2" } else { "1" };
                    let _ = write!(rows, "{}{}", job(id, id * 7 % 600, cores), job(1_000, 300, cores));
                }
                scene.write(&format!("dumps/2026-11-0{}-{part}.txt", night + 1), rows);
            }
            let (plan, _) = Plan::load(&scene.path("p.toml")).unwrap();
            let options = RunOptions {
                memory_byte_n,
                threads: Some(2),
                ..RunOptions::default()
            };
            stages::run(&plan, &options, &Silent).unwrap();
        }
        lake(&scene.path("lake"))
    };
    let (whole, sliced) = (nights(None), nights(Some(1 << 16)));
    assert_same_files(&whole, &sliced);
    assert!(whole.keys().any(|path| path.starts_with("history/")));
}

/// Blocks of a large day that hardly overlap in time are gathered slice by slice, those that do are stored again: what is
/// published is what a day held as a whole gives.
#[test]
fn a_huge_day_is_the_day_at_once_in_any_order() {
    const JOBS: u32 = 180_000;
    // Two blocks at a time fit into the first, which does not hold all of them in memory; none do into the second.
    for (is_in_order, memory_byte_n) in [(true, 7 << 20), (false, 1 << 22)] {
        let scene = Scene::new();
        let rows = (0..JOBS).fold(HEADER.to_owned(), |rows, nth| {
            let id = if is_in_order { nth } else { nth * 7_919 % JOBS };
            // Of every thousandth job there is another version behind it.
            let again = (id % 1_000 == 0).then(|| job(id, id * 2 / 5, "2"));
            rows + &job(id, id * 2 / 5, "1") + &again.unwrap_or_default()
        });
        scene.write("dumps/a.txt", rows);
        scene.write("p.toml", pipeline(&dumps(), ""));
        let (plan, _) = Plan::load(&scene.path("p.toml")).unwrap();
        let run = |memory_byte_n: usize| {
            let lake_name = format!("lake-{memory_byte_n}");
            let options = RunOptions {
                out: Some(scene.path(&lake_name).to_str().unwrap().to_owned()),
                memory_byte_n: Some(memory_byte_n),
                threads: Some(2),
                ..RunOptions::default()
            };
            stages::run(&plan, &options, &Silent).unwrap();
            lake(&scene.path(&lake_name))
        };
        assert_same_files(&run(1 << 30), &run(memory_byte_n));
    }
}

/// The candidates of a day that many files hold wait in many packed blocks: those are gathered some at a time, held as a whole or
/// in slices, and what is published is the same.
#[test]
fn a_day_of_many_blocks_is_the_day_at_once() {
    let scene = Scene::new();
    scene.write("p.toml", pipeline(&dumps(), ""));
    for file in 0..600_u32 {
        let rows = (0..70_u32).fold(HEADER.to_owned(), |rows, nth| {
            // Every seventh job is in the next file, too.
            let id = if nth % 7 == 0 { file / 2 } else { file } * 70 + nth;
            let cores = if (file + nth) % 5 == 0 { "2" } else { "1" };
            let day = format!("2026-10-{:02}T00:00:{:02}", 1 + nth % 28, nth % 60);
            let times = [("Submit", &*day), ("Start", &*day), ("NCPUS", cores)];
            rows + &row(id, &times)
        });
        scene.write(&format!("dumps/{file:04}.txt"), rows);
    }
    let (plan, _) = Plan::load(&scene.path("p.toml")).unwrap();
    let run = |lake_name: &str, memory_byte_n: Option<usize>, merged_at_once: usize| {
        let options = RunOptions {
            out: Some(scene.path(lake_name).to_str().unwrap().to_owned()),
            memory_byte_n,
            merged_at_once: NonZeroUsize::new(merged_at_once),
            threads: Some(2),
            ..RunOptions::default()
        };
        stages::run(&plan, &options, &Silent).unwrap();
        lake(&scene.path(lake_name))
    };
    let at_once = run("at-once", None, 3);
    assert!(at_once.keys().any(|path| path.starts_with("history/")));
    // Days that are held as a whole, of more blocks than are gathered at once; and days in slices.
    for memory_byte_n in [1 << 22, 1 << 16] {
        let bounded = run(&format!("bounded-{memory_byte_n}"), Some(memory_byte_n), 1);
        assert_same_files(&at_once, &bounded);
    }
}

/// A few bytes of a list that name more nodes than any machine has took a kilobyte for each of them.
#[test]
fn more_nodes_than_any_machine_has_are_not_taken_from_a_job() {
    let scene = Scene::new();
    let list = "c[1-60000],d[1-60000],e[1-60000]";
    let rows = row(1, &[]) + &row(2, &[("NodeList", list), ("NNodes", "180000")]);
    scene.write("dumps/a.txt", HEADER.to_owned() + &rows);
    let overhead = "[overhead]\nnodes = \"from-jobs\"\n[[overhead.unit]]\nname = \"u\"\ncore = 1";
    let report = scene.run(&pipeline(&dumps(), overhead));
    let overhead = report.overhead.as_ref().unwrap();
    assert_eq!(overhead.node_month_n, 1, "{}", report.text());
    assert_eq!(overhead.findings.get("node_list_bad"), Some(&1), "{}", report.text());
}
