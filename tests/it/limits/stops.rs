//! Threads that stop and memory that is refused end as errors with a code of their own.

use std::process::Command;

use gridtally::cli::stopped::whole;
use gridtally::error::{Kind, Result};

use super::{DUMPS, HEADER, Scene, pipeline, row};

#[test]
fn work_that_stops_in_the_middle_is_an_error() {
    let stopped: Result<()> = whole(|| panic!("a wheel is missing"));
    let why = stopped.unwrap_err();
    assert_eq!(why.kind(), Kind::Internal);
    assert!(why.to_string().contains("a wheel is missing"), "{why}");
    let in_a_thread: Result<()> = whole(|| {
        std::thread::scope(|scope| {
            scope.spawn(|| panic!("a cog is missing"));
        });
        Ok(())
    });
    assert_eq!(in_a_thread.unwrap_err().kind(), Kind::Internal);
}

#[test]
fn work_that_stops_for_want_of_threads_is_no_mistake_of_the_program() {
    let stopped: Result<()> = whole(|| {
        let why = std::io::Error::from_raw_os_error(11);
        panic!("failed to spawn thread: {why:?}")
    });
    let why = stopped.unwrap_err();
    assert_eq!(why.kind(), Kind::Memory);
    assert!(why.to_string().contains("failed to spawn thread"), "{why}");
}

#[test]
fn refused_memory_has_an_exit_code() {
    let scene = Scene::new();
    let rows: String = (1..20_000).map(|id| row(id, &[])).collect();
    scene.write("dumps/a.txt", HEADER.to_owned() + &rows);
    let source = format!("{DUMPS}\nsite = \"S\"\nvo = {{ value = \"v\" }}");
    scene.write("p.toml", pipeline(&source, ""));
    let under = |limit_kb: u32, words: &str| {
        let script = format!("ulimit -v {limit_kb}; exec timeout -s KILL 300 \"$0\" {words}");
        let output = Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_gridtally")])
            .current_dir(scene.path("."))
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    // Where the system puts stacks and libraries differs from start to start.
    let begins = |kb: &u32| (0..5).all(|_| under(*kb, "--version").0 == Some(0));
    let first = (100_000..2_000_000).step_by(20_000).find(begins);
    let first = first.expect("a limit under which the program begins");
    let mut codes = Vec::new();
    for step in 0..12 {
        let (code, reported) = under(first + 12_000 * step, "run p.toml --threads 2");
        // 101 is a panic; none is a signal.
        assert!(matches!(code, Some(0 | 70 | 71 | 74)), "{code:?}: {reported}");
        codes.push(code);
    }
    assert!(codes.contains(&Some(71)), "{codes:?}");
}
