//! The rules of the house that no compiler checks.

mod fallbacks;
mod words;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::sample::repository;

/// Names of the vendors' columns that nothing else is called.
const VENDOR_COLUMNS: [&str; 14] = [
    "JobIDRaw",
    "ElapsedRaw",
    "AllocTRES",
    "ReqTRES",
    "TotalCPU",
    "CPUTimeRAW",
    "TimelimitRaw",
    "LocalJobId",
    "WallDuration",
    "CpuDuration",
    "ReportableVOName",
    "InfrastructureType",
    "ResourceType",
    "CoreHours",
];

/// Who writes in a vendor's format has to name its columns as well.
const WRITES_VENDORS_FORMATS: [&str; 7] = [
    "report/apel/",
    "report/focus/",
    "report/gracc",
    "report/publication/jobs.rs",
    "report/publication/super_summaries.rs",
    "report/publication/message_record.rs",
    "report/shares/limits.rs",
];

/// How `object_store` and the standard library write.
const WRITING: [&str; 9] = [
    "PutPayload",
    "PutMode",
    "PutOptions",
    "put_opts",
    "put_multipart",
    "ParquetObjectWriter",
    "fs::write",
    "fs::rename",
    "fs::remove_dir_all",
];

const FORBIDDEN: [&str; 6] = ["todo!", "unimplemented!", "FIXME", "TODO", "XXX", "dbg!"];

/// One Rust file: its path under the folder, and its text.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// Lines of code with their numbers: no comments, no tests.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .take_while(|(_, line)| line.trim() != "#[cfg(test)]")
            .map(|(at, line)| (at + 1, line.split("//").next().unwrap_or_default()))
    }

    fn room(&self) -> &str {
        let head = self.path.split('/').next().unwrap_or_default();
        head.strip_suffix(".rs").unwrap_or(head)
    }
}

fn sources(folder: &str) -> Vec<Source> {
    fn walk(root: &Path, dir: PathBuf, into: &mut Vec<Source>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, path, into);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                into.push(Source {
                    path: path.strip_prefix(root).unwrap().to_string_lossy().into_owned(),
                    text: std::fs::read_to_string(&path).unwrap(),
                });
            }
        }
    }
    let root = repository(folder);
    let mut found = Vec::new();
    walk(&root, root.clone(), &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(!found.is_empty(), "no Rust files under {folder}");
    found
}

/// Fails with every line of code for which `is_bad` gives a reason.
fn forbid(is_bad: impl Fn(&Source, &str) -> Option<String>) {
    let mut places = Vec::new();
    for source in sources("src") {
        for (number, line) in source.code() {
            if let Some(why) = is_bad(&source, line) {
                places.push(format!("src/{}:{number}: {why}", source.path));
            }
        }
    }
    assert!(places.is_empty(), "{}", places.join("\n"));
}

#[test]
fn files_are_small() {
    for folder in ["src", "tests"] {
        for source in sources(folder) {
            let lines = source.text.lines().count();
            assert!(
                lines <= 500,
                "{folder}/{} has {lines} lines; one noun a file",
                source.path
            );
        }
    }
}

#[test]
fn nothing_is_left_to_be_done() {
    for source in sources("src") {
        for word in FORBIDDEN {
            assert!(!source.text.contains(word), "src/{} contains {word}", source.path);
        }
    }
}

#[test]
fn only_sources_knows_the_vendors_columns() {
    forbid(|source, line| {
        let word = VENDOR_COLUMNS.iter().find(|word| line.contains(**word))?;
        let writes_it = WRITES_VENDORS_FORMATS.iter().any(|path| source.path.starts_with(path));
        (source.room() != "sources" && !writes_it).then(|| format!("names {word}"))
    });
}

#[test]
fn only_store_writes() {
    forbid(|source, line| {
        let word = WRITING.iter().find(|word| line.contains(**word))?;
        (source.room() != "store").then(|| format!("writes with {word}"))
    });
}

/// Only the allocator and what acts in a process without memory are not safe Rust.
#[test]
fn unsafe_code_is_where_a_process_may_have_no_memory() {
    forbid(|source, line| {
        let is_system = [
            "runtime/allocator.rs",
            "runtime/memory_limit.rs",
            "runtime/sudden_end.rs",
        ]
        .contains(&source.path.as_str());
        let word = ["arrow::ffi", "unsafe"].iter().find(|word| line.contains(**word))?;
        (!is_system).then(|| format!("contains {word}"))
    });
}

/// The expression engine computes with what it is given, and knows no room but errors and numbers.
#[test]
fn expr_knows_no_other_room() {
    forbid(|source, line| {
        let mut rooms = line.split("crate::").skip(1);
        let other = rooms.find(|name| !["error::", "numbers::"].iter().any(|room| name.starts_with(room)))?;
        (source.room() == "expr").then(|| format!("expr knows {other}"))
    });
}

#[test]
fn code_is_formatted() {
    let output = Command::new(env!("CARGO"))
        .args(["fmt", "--all", "--check"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    if stderr.contains("no such command") || stderr.contains("is not installed") {
        eprintln!("SKIPPED code_is_formatted: this toolchain has no rustfmt");
        return;
    }
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "cargo fmt changes\n{stdout}{stderr}");
}

#[test]
fn a_history_is_asked_only_for_attributes_that_are_read_of_it() {
    let history = std::fs::read_to_string(repository("src/sources/htcondor/history.rs")).unwrap();
    let (read, uses) = history.split_once("\n];\n").unwrap();
    let read: Vec<&str> = read.split('"').skip(1).step_by(2).collect();
    let methods = [
        "text(\"",
        "number(\"",
        "optional(\"",
        "get(\"",
        "time_ms(\"",
        "needed_ms(\"",
        "byte_n(&[\"",
    ];
    let asked = |method: &&str| -> Vec<&str> {
        let arguments = uses.split(*method).skip(1);
        let names = arguments.flat_map(|rest| {
            let list = if method.starts_with("byte_n") {
                rest.split_once(']')
            } else {
                rest.split_once('"')
            };
            list.unwrap().0.split("\", \"").map(|name| name.trim_end_matches('"'))
        });
        names.collect()
    };
    let asked: Vec<&str> = methods.iter().flat_map(asked).collect();
    assert!(asked.len() > 25, "{asked:?}");
    for name in asked {
        assert!(
            read.contains(&name),
            "{name} is never read, so that it would always be absent"
        );
    }
}
