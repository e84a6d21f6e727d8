//! A Python with DuckDB in a virtual environment of its own: the second opinion.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const PACKAGES: [&str; 3] = ["duckdb==1.4.5", "pyarrow", "polars"];

/// The interpreter, made on first use.
pub(crate) fn interpreter() -> &'static Path {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("oracle-venv");
        let python = home.join("bin/python");
        let ready = home.join("ready");
        if std::fs::read_to_string(&ready).is_ok_and(|text| text == PACKAGES.join(" ")) {
            return python;
        }
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home));
        run(Command::new(&python)
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
            .args(PACKAGES));
        std::fs::write(ready, PACKAGES.join(" ")).unwrap();
        python
    })
}

/// Runs `script` (Python source) with `args`; its standard output.
pub(crate) fn python(script: &str, args: &[&str]) -> String {
    run(Command::new(interpreter()).arg("-c").arg(script).args(args))
}

/// Runs a command that must succeed; its standard output.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|e| panic!("{command:?} does not start: {e}"));
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output.status.success(),
        "{command:?} ended with {}\n{stdout}\n{stderr}",
        output.status
    );
    stdout.into_owned()
}
