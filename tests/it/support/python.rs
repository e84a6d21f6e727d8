//! A Python with the readers people use, as a second opinion on what is written. Made once, on first use, from the
//! package index; tests fail when it cannot be made, because an oracle that is skipped proves nothing.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::environment::Environment;

/// The versions the statements about these readers were found with.
const PACKAGES: &[&str] = &[
    "duckdb==2.0.0",
    "deltalake==1.6.6",
    "pandas==3.1.1",
    "polars==2.1.0",
    "pyarrow==26.0.1",
    "moto[server]==5.2.5",
    "wsgidav==4.4.0",
    "cheroot==11.1.2",
];

/// Runs a script and gives what it prints. The arguments are `sys.argv[1:]`.
pub(crate) fn python(script: &str, args: &[&str]) -> String {
    let mut command = Command::new(interpreter());
    command.args(["-W", "ignore", "-c", &unattended(script)]).args(args);
    run(&mut command)
}

/// A script that `python -c` runs, as one of a file. DuckDB takes a main module without a file for a person at a terminal
/// and prints progress to standard output once a query takes two seconds, as it may on a busy machine.
pub(crate) fn unattended(script: &str) -> String {
    format!("import __main__\n__main__.__file__ = 'script.py'\n{script}")
}

pub(crate) fn interpreter() -> &'static Path {
    static INTERPRETER: OnceLock<PathBuf> = OnceLock::new();
    INTERPRETER.get_or_init(|| {
        let oracle = Environment {
            name: "oracle-venv",
            requirements: PACKAGES.join("\n"),
            is_complete: false,
        };
        let programs = oracle
            .programs()
            .unwrap_or_else(|why| panic!("the Python oracle: {why}"));
        programs.join(if cfg!(windows) { "python.exe" } else { "python" })
    })
}

/// A folder with one pure Python package of the package index, such as `tzdata==2026.5`. Made once, on first use.
pub(crate) fn package(requirement: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = place.join(requirement.replace("==", "-"));
    let lock = File::create(place.join("package.lock")).expect("the lock of the package");
    lock.lock().expect("the lock of the package");
    if !folder.is_dir() {
        let unfinished = folder.with_extension("unfinished");
        let install = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--target",
        ];
        run(Command::new("python3").args(install).arg(&unfinished).arg(requirement));
        std::fs::rename(&unfinished, &folder).expect("the folder of the package");
    }
    folder
}

fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|e| panic!("the Python oracle cannot be started: {command:?}: {e}"));
    assert!(
        output.status.success(),
        "the Python oracle failed: {}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("the oracle prints UTF-8")
}
