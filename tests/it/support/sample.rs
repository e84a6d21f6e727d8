//! The lake made from the sample data, once per test run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A path under the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The text of `pipelines/sample.toml` for another folder: what it reads is named by absolute paths.
pub(crate) fn pipeline() -> String {
    let text = std::fs::read_to_string(repository("pipelines/sample.toml")).unwrap();
    let mut here = text;
    for (written, meant) in [
        ("\"../sample-data/", "sample-data"),
        ("\"policies/", "pipelines/policies"),
    ] {
        assert!(here.contains(written), "the sample names nothing under {written}");
        here = here.replace(written, &format!("\"{}/", repository(meant).display()));
    }
    here
}

/// The folder of a lake made by `pipelines/sample.toml`.
pub(crate) fn lake() -> &'static Path {
    static LAKE: OnceLock<PathBuf> = OnceLock::new();
    LAKE.get_or_init(|| {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sample-lake");
        if out.exists() {
            std::fs::remove_dir_all(&out).unwrap();
        }
        run(Command::new(env!("CARGO_BIN_EXE_gridtally"))
            .arg("run")
            .arg(repository("pipelines/sample.toml"))
            .arg("--out")
            .arg(&out));
        out
    })
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
