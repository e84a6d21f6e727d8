//! No input takes more memory than it is worth.

use std::process::Command;

use super::{DUMPS, HEADER, Scene, pipeline, row};

/// Resident kilobytes of a run at most, as the system counted them.
fn peak_kb(scene: &Scene) -> Option<u64> {
    let script = "import resource, subprocess, sys\n\
                  code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode\n\
                  print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n";
    let output = Command::new("python3")
        .args([
            "-c",
            script,
            env!("CARGO_BIN_EXE_gridtally"),
            "run",
            "p.toml",
            "--threads",
            "2",
        ])
        .current_dir(scene.path("."))
        .output()
        .ok()?;
    let told = String::from_utf8(output.stdout).unwrap();
    let mut numbers = told.split_whitespace();
    assert_eq!(
        numbers.next(),
        Some("0"),
        "{told}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(numbers.next().unwrap().parse().unwrap())
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
