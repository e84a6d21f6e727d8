//! Environments of Python, made once from the package index and kept below the build folder.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An environment by its name and what it has.
pub(crate) struct Environment {
    /// Name of its folder.
    pub(crate) name: &'static str,
    /// What is installed, one requirement a line.
    pub(crate) requirements: String,
    /// Whether the requirements are all there is to install, each in one version.
    pub(crate) is_complete: bool,
}

impl Environment {
    /// The folder of its programs; the reason where it cannot be made.
    pub(crate) fn programs(&self) -> Result<PathBuf, String> {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let folder = place.join(self.name);
        let programs = folder.join(if cfg!(windows) { "Scripts" } else { "bin" });
        // Several test runs may share the folder.
        let lock = File::create(place.join(format!("{}.lock", self.name))).map_err(|e| e.to_string())?;
        lock.lock().map_err(|e| e.to_string())?;
        let ready = folder.join("ready");
        if std::fs::read_to_string(&ready).is_ok_and(|have| have == self.requirements) {
            return Ok(programs);
        }
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
        let list = folder.join("requirements.txt");
        std::fs::write(&list, &self.requirements).map_err(|e| e.to_string())?;
        let mut install = Command::new(programs.join("python"));
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        if self.is_complete {
            install.arg("--no-deps");
        }
        run(install.arg("--requirement").arg(&list))?;
        std::fs::write(&ready, &self.requirements).map_err(|e| e.to_string())?;
        Ok(programs)
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command
        .output()
        .map_err(|e| format!("{command:?} cannot be started: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?} failed: {}: {why}", output.status))
}
