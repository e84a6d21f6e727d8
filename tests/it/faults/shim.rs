//! A library that makes calls of a process fail, compiled from `shim.c`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    /// None does.
    Count,
    /// One fails with an input/output error.
    Once,
    /// From one on the disk is full.
    Full,
    /// A file loses its end when it is closed, as on a network disk over its quota.
    Torn,
    /// The process is killed before it.
    Kill,
    /// After it no thread is started.
    Threads,
}

impl Fault {
    fn as_str(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Once => "once",
            Self::Full => "full",
            Self::Torn => "torn",
            Self::Kill => "kill",
            Self::Threads => "threads",
        }
    }
}

/// A call of a process that changes files.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) number: usize,
    pub(super) name: String,
    pub(super) path: String,
    pub(super) has_failed: bool,
}

/// The library; `None` where no compiler is there to make it.
pub(super) fn library() -> Option<&'static Path> {
    static LIBRARY: OnceLock<Option<PathBuf>> = OnceLock::new();
    LIBRARY
        .get_or_init(|| {
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/faults/shim.c");
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
            let made = folder.join(format!("shim-{}.so", std::process::id()));
            let library = folder.join("shim.so");
            let compiled = Command::new("cc")
                .args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"])
                .args([&made, &source])
                .arg("-ldl")
                .output();
            match compiled {
                Err(why) => {
                    eprintln!("SKIPPED: no calls fail, because there is no C compiler `cc`: {why}");
                    None
                }
                Ok(output) => {
                    let words = String::from_utf8_lossy(&output.stderr).into_owned();
                    assert!(output.status.success(), "{words}");
                    fs::rename(&made, &library).unwrap();
                    Some(library)
                }
            }
        })
        .as_deref()
}

/// Loads the library into a command: its call of this number below the folder fails.
pub(super) fn load(command: &mut Command, folder: &Path, fault: Fault, number: usize) {
    let log = folder.with_extension("calls");
    drop(fs::remove_file(&log));
    command
        .env("LD_PRELOAD", library().unwrap())
        .env("FAULT_ROOT", folder)
        .env("FAULT_LOG", log)
        .env("FAULT_MODE", fault.as_str())
        .env("FAULT_N", number.to_string());
}

/// What a command called with which the library was loaded.
pub(super) fn calls(folder: &Path) -> Vec<Call> {
    let log = fs::read_to_string(folder.with_extension("calls")).unwrap();
    let call = |line: &str| {
        let mut words = line.splitn(3, ' ');
        let (number, name) = (words.next()?.parse().ok()?, words.next()?);
        Some(Call {
            number,
            name: name.trim_start_matches('!').to_owned(),
            path: words.next()?.to_owned(),
            has_failed: name.starts_with('!'),
        })
    };
    log.lines()
        .map(|line| call(line).unwrap_or_else(|| panic!("{line}")))
        .collect()
}
