//! The same inputs give the same bytes, whatever the threads, the order, the memory and the nights.

use std::process::Command;

use gridtally::run::RunOptions;

use super::scene::{Pipeline, Scene, Source, assert_same, lake_hash, shuffle};

fn months() -> Vec<&'static str> {
    vec!["2026-01", "2026-02", "2026-03", "2026-04", "2026-05", "2026-06"]
}

fn month(text: &str) -> RunOptions {
    RunOptions {
        from: Some(text.parse().unwrap()),
        to: Some(text.parse().unwrap()),
        ..RunOptions::default()
    }
}

#[test]
fn whatever_the_folder_the_threads_and_the_memory() {
    let (scene, other) = (Scene::sample(), Scene::sample());
    let pipeline = Pipeline::sample();
    scene.run(&pipeline, "lake");
    let lake = scene.lake("lake");
    assert_eq!(scene.findings("lake"), []);
    other.run(&pipeline, "deep/er/lake");
    assert_same(&lake, &lake_hash(&other.path("deep/er/lake")), "another folder");
    for (threads, memory) in [
        (1, None),
        (2, None),
        (4, None),
        (1, Some(1)),
        (4, Some(1)),
        (2, Some(40_000)),
    ] {
        let out = format!("lake-{threads}-{memory:?}");
        let options = RunOptions {
            threads: Some(threads),
            memory_byte_n: memory,
            ..RunOptions::default()
        };
        scene.run_with(&pipeline, &out, options);
        assert_same(&lake, &scene.lake(&out), &out);
    }
}

/// The pieces of one file are read by whoever finds it free, or a piece ready.
#[test]
fn whatever_the_threads_that_share_a_file() {
    const ROW_N: u64 = 600;
    let scene = Scene::empty();
    let xml = "x".repeat(8000);
    let row = |n: u64| {
        let (hour, minute) = (n % 23, n % 60);
        format!(
            r#"{{"RawXML":"{xml}","SiteName":"BAY-T2","ProbeName":"p","GlobalJobId":"{n}","VOName":"coral","StartTime":"2026-03-01T{hour:02}:00:00Z","EndTime":"2026-03-01T{hour:02}:{minute:02}:00Z","WallDuration":{},"CpuDuration":{n},"Processors":1}}"#,
            minute * 60
        )
    };
    let dump: Vec<String> = (0..ROW_N).map(row).collect();
    scene.write("data/shared.ndjson", dump.join("\n").as_bytes());
    let pipeline = Pipeline::of(Source {
        name: "shared",
        paths: vec!["data/shared.ndjson".to_owned()],
        keys: "format = \"gracc\"\n".to_owned(),
    });
    for threads in [1, 2, 3, 8] {
        let out = format!("lake-{threads}");
        let options = RunOptions {
            threads: Some(threads),
            ..RunOptions::default()
        };
        let report = scene.run_with(&pipeline, &out, options);
        assert_eq!(report.rows_read_n, ROW_N, "{out}");
        assert_same(&scene.lake("lake-1"), &scene.lake(&out), &out);
    }
}

/// Polars reads its number of threads once, from the environment: hence a process each.
#[test]
fn whatever_the_threads_of_the_expression_engine() {
    let scene = Scene::sample();
    let pipeline = scene.file(&Pipeline::sample());
    for threads in ["1", "2", "7"] {
        let run = Command::new(env!("CARGO_BIN_EXE_gridtally"))
            .arg("run")
            .arg(&pipeline)
            .arg("--out")
            .arg(scene.path(threads))
            .env("POLARS_MAX_THREADS", threads)
            .output()
            .unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        assert_same(&scene.lake("1"), &scene.lake(threads), threads);
    }
}

#[test]
fn whatever_the_order_of_paths_and_sources() {
    let scene = Scene::sample();
    let pipeline = Pipeline::sample();
    scene.run(&pipeline, "lake");
    for seed in 0..3 {
        let mut shuffled = pipeline.clone();
        for source in &mut shuffled.sources {
            shuffle(&mut source.paths, seed);
        }
        shuffle(&mut shuffled.sources, seed + 7);
        let out = format!("lake-{seed}");
        scene.run(&shuffled, &out);
        assert_same(&scene.lake("lake"), &scene.lake(&out), &out);
    }
}

/// Every day one more file, in any order.
#[test]
fn in_one_go_or_night_by_night() {
    let scene = Scene::sample();
    let pipeline = Pipeline::sample();
    scene.run(&pipeline, "lake");
    for (out, seed) in [("in-order", None), ("shuffled", Some(11))] {
        let mut files = pipeline.files();
        if let Some(seed) = seed {
            shuffle(&mut files, seed);
        }
        for night in 1..=files.len() {
            scene.run(&pipeline.only(&files[..night]), out);
            if night % 5 == 0 {
                assert_eq!(scene.findings(out), [], "{out}, night {night}");
            }
        }
        assert_same(&scene.lake("lake"), &scene.lake(out), out);
    }
}

/// Every day the new file alone is there.
#[test]
fn in_one_go_or_with_the_new_file_alone() {
    let scene = Scene::sample();
    let pipeline = Pipeline::sample();
    scene.run(&pipeline, "lake");
    for (out, seed) in [("in-order", None), ("shuffled", Some(5))] {
        let mut files = pipeline.files();
        if let Some(seed) = seed {
            shuffle(&mut files, seed);
        }
        for file in &files {
            scene.run(&pipeline.only(std::slice::from_ref(file)), out);
        }
        assert_same(&scene.lake("lake"), &scene.lake(out), out);
        assert_eq!(scene.findings(out), []);
    }
}

/// A month at a time, in any order, and the rows outside them at the end.
#[test]
fn in_one_go_or_month_by_month() {
    let scene = Scene::sample();
    let pipeline = Pipeline::sample();
    scene.run(&pipeline, "lake");
    let (forward, mut backward, mut shuffled) = (months(), months(), months());
    backward.reverse();
    shuffle(&mut shuffled, 3);
    for (out, order) in [("forward", forward), ("backward", backward), ("shuffled", shuffled)] {
        for text in order {
            scene.run_with(&pipeline, out, month(text));
            assert_eq!(scene.findings(out), [], "{out} {text}");
        }
        scene.run(&pipeline, out);
        assert_same(&scene.lake("lake"), &scene.lake(out), out);
    }
}

/// A month that was published once more changes nothing, and another month is added.
#[test]
fn a_month_again_and_the_ones_in_addition_to_it() {
    let scene = Scene::sample();
    let pipeline = Pipeline::sample();
    scene.run_with(&pipeline, "lake", month("2026-03"));
    let march = scene.lake("lake");
    scene.run_with(&pipeline, "lake", month("2026-03"));
    assert_same(&march, &scene.lake("lake"), "March again");
    let options = RunOptions {
        from: Some("2026-02".parse().unwrap()),
        ..RunOptions::default()
    };
    scene.run_with(&pipeline, "lake", options.clone());
    scene.run_with(&pipeline, "at-once", options);
    let in_march = |lake: &std::collections::BTreeMap<String, String>| -> Vec<_> {
        let of = |(path, _): &(&String, &String)| path.contains("record_month=2026-03-01");
        lake.iter().filter(of).map(|(a, b)| (a.clone(), b.clone())).collect()
    };
    assert_eq!(in_march(&march), in_march(&scene.lake("lake")));
    assert_same(&scene.lake("at-once"), &scene.lake("lake"), "from February on");
}

/// Any files on any night, for any months, on any number of threads: once everything was requested, it is the same.
#[test]
fn whatever_the_schedule() {
    let scene = Scene::sample();
    let mut pipeline = Pipeline::sample();
    pipeline.normalise = Some("benchmarks = \"data/benchmarks.csv\"\nmissing = \"reject\"\n".to_owned());
    scene.run(&pipeline, "lake");
    for seed in 0..2_u64 {
        let out = format!("lake-{seed}");
        for night in 0..7_u64 {
            let mut files = pipeline.files();
            shuffle(&mut files, seed * 100 + night);
            let (mut from, mut to) = (months(), months());
            shuffle(&mut from, seed * 100 + night + 31);
            shuffle(&mut to, seed * 100 + night + 57);
            let few = files.len() / (1 + usize::try_from(night % 4).unwrap());
            let options = RunOptions {
                from: from
                    .first()
                    .filter(|_| night % 3 != 1)
                    .map(|month| month.parse().unwrap()),
                to: to
                    .first()
                    .filter(|_| night % 3 != 2)
                    .map(|month| month.parse().unwrap()),
                threads: Some(1 + usize::try_from(night % 3).unwrap()),
                memory_byte_n: Some(1 << (4 * night)),
                ..RunOptions::default()
            };
            // A window that ends before it begins holds nothing, which is a window too.
            scene.run_with(&pipeline.only(&files[..few]), &out, options);
            assert_eq!(scene.findings(&out), [], "{out}, night {night}");
        }
        scene.run(&pipeline, &out);
        assert_same(&scene.lake("lake"), &scene.lake(&out), &out);
    }
}
