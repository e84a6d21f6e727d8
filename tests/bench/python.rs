//! A Python with DuckDB for the comparison, made on first use.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const PACKAGE: &str = "duckdb==2.0.0";

/// The interpreter.
pub(crate) fn interpreter() -> &'static Path {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-venv");
        let python = home.join("bin/python");
        let ready = home.join("ready");
        if std::fs::read_to_string(&ready).is_ok_and(|text| text == PACKAGE) {
            return python;
        }
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home));
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet", PACKAGE]));
        std::fs::write(ready, PACKAGE).unwrap();
        python
    })
}

/// Runs a command that must succeed; its standard output.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|e| panic!("{command:?} does not start: {e}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?} ended with {}\n{stderr}",
        output.status
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}
