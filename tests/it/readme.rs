//! Every command and every answer in the README is run, and every table in it that the program knows is compared.
//! `UPDATE_README=1 cargo test readme` writes what they came to.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use gridtally::error::Kind;
use gridtally::ledger::Reason;

use crate::support::python::python;
use crate::support::sample::{repository, run};

/// Runs one query and prints its answer the way terminals like it: aligned, numbers to the right.
const QUERY: &str = r#"
import decimal, os, sys
import duckdb
os.chdir(sys.argv[1])
answer = duckdb.sql(sys.argv[2])
rows = [["NULL" if value is None else str(value) for value in row] for row in answer.fetchall()]
numbers = [str(kind) in ("DOUBLE", "BIGINT", "HUGEINT", "INTEGER") or str(kind).startswith("DECIMAL") for kind in answer.types]
widths = [max(map(len, cells)) for cells in zip(answer.columns, *rows)]
def line(cells):
    parts = [cell.rjust(width) if number else cell.ljust(width) for cell, width, number in zip(cells, widths, numbers)]
    print("  ".join(parts).rstrip())
line(answer.columns)
line(["-" * width for width in widths])
for row in rows:
    line(row)
"#;

#[test]
fn readme_is_true() {
    let file = repository("README.md");
    let text = std::fs::read_to_string(&file).unwrap();
    let dir = tempfile::tempdir().unwrap();
    for folder in ["pipelines", "sample-data"] {
        copy(&repository(folder), &dir.path().join(folder));
    }
    let made = generated(&answered(&text, dir.path()));
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(&file, &made).unwrap();
        return;
    }
    for (number, (have, want)) in text.lines().zip(made.lines()).enumerate() {
        assert_eq!(
            have,
            want,
            "README.md line {}; UPDATE_README=1 writes the answer",
            number + 1
        );
    }
    assert_eq!(
        text.lines().count(),
        made.lines().count(),
        "README.md has lines too few"
    );
}

/// The README with the output of every command and query as it is today.
fn answered(text: &str, dir: &Path) -> String {
    let mut made = String::new();
    let mut lines = text.lines().peekable();
    let mut answer: Option<String> = None;
    while let Some(line) = lines.next() {
        let _ = writeln!(made, "{line}");
        let Some(kind) = line.strip_prefix("```").filter(|kind| !kind.is_empty()) else {
            continue;
        };
        let mut block: Vec<&str> = Vec::new();
        for inner in lines.by_ref() {
            if inner == "```" {
                break;
            }
            block.push(inner);
        }
        match (kind, answer.take()) {
            ("console", _) => console(&block, dir, &mut made),
            ("text", Some(answer)) => made.push_str(&answer),
            ("sql", _) => {
                answer = Some(python(QUERY, &[&dir.to_string_lossy(), &block.join("\n")]));
                echo(&block, &mut made);
            }
            _ => echo(&block, &mut made),
        }
        made.push_str("```\n");
    }
    made
}

fn echo(block: &[&str], made: &mut String) {
    for line in block {
        let _ = writeln!(made, "{line}");
    }
}

/// Commands begin with `$ `; a command without output in the README is run and its output not shown.
fn console(block: &[&str], dir: &Path, made: &mut String) {
    let mut lines = block.iter().peekable();
    while let Some(line) = lines.next() {
        let _ = writeln!(made, "{line}");
        let command = line.strip_prefix("$ ").expect("a console block begins with a command");
        let mut shown = false;
        while lines.next_if(|next| !next.starts_with("$ ")).is_some() {
            shown = true;
        }
        // What follows two blanks and a # is for the reader.
        let command = command.split("  #").next().unwrap_or_default().trim();
        if let Some(arguments) = command.strip_prefix("cargo run -- ") {
            let words = arguments.split_whitespace();
            let output = run(Command::new(env!("CARGO_BIN_EXE_gridtally"))
                .args(words)
                .current_dir(dir));
            if shown {
                made.push_str(&output);
            }
        } else {
            // These make or check what this test is part of.
            let known = [
                "cargo test",
                "cargo bench --bench lake",
                "cargo run --example generate -- sample-data",
            ];
            assert!(
                known.contains(&command),
                "README.md shows {command:?}, which no test runs"
            );
        }
    }
}

/// Where each dataset lies and what it is, as the schemas say.
fn datasets() -> String {
    let mut found: Vec<(String, String)> = Vec::new();
    for entry in std::fs::read_dir(repository("schemas")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        let schema: toml::Table = toml::from_str(&text).unwrap();
        let word = |key: &str| schema["dataset"][key].as_str().expect("a text").to_owned();
        found.push((word("path"), word("doc")));
    }
    // The headline first, then as a listing would have them.
    found.sort_by_key(|(path, _)| (!path.starts_with("usage/"), path.clone()));
    let mut table = String::from("| under `out/` | what it holds |\n|---|---|\n");
    for (path, doc) in found {
        let _ = writeln!(table, "| `{path}` | {doc} |");
    }
    table
}

/// Fills the regions between `<!-- name -->` and `<!-- /name -->`.
fn generated(text: &str) -> String {
    let mut codes = String::from("| code | meaning |\n|---|---|\n| 0 | done |\n");
    for (kind, meaning) in Kind::ALL {
        let _ = writeln!(codes, "| {} | {meaning} |", kind.exit_code());
    }
    let mut reasons = String::from("| outcome | reason | meaning |\n|---|---|---|\n");
    for reason in Reason::ALL {
        let _ = writeln!(
            reasons,
            "| {} | `{}` | {} |",
            reason.outcome(),
            reason.code(),
            reason.meaning()
        );
    }
    let mut made = text.to_owned();
    let every_report = crate::report::every::table();
    for (name, body) in [
        ("exit codes", codes),
        ("reasons", reasons),
        ("datasets", datasets()),
        ("reports", every_report),
    ] {
        let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
        let (before, rest) = made.split_once(&open).expect("the region opens");
        let (_, after) = rest.split_once(&close).expect("the region closes");
        made = format!("{before}{open}{body}{close}{after}");
    }
    made
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

/// The charges of this page, beside the sample data.
#[test]
fn the_charges_of_the_readme_are_charged() {
    let text = std::fs::read_to_string(repository("README.md")).unwrap();
    let blocks = text.split("```toml\n").skip(1);
    let charges: Vec<&str> = blocks
        .filter_map(|block| block.split("```").next())
        .filter(|block| block.contains("[[charge]]") && !block.contains("[pipeline]"))
        .collect();
    assert_eq!(charges.len(), 1, "{charges:?}");
    let dir = tempfile::tempdir().unwrap();
    for folder in ["pipelines", "sample-data"] {
        copy(&repository(folder), &dir.path().join(folder));
    }
    let sample = std::fs::read_to_string(repository("pipelines/sample.toml")).unwrap();
    let pipeline = dir.path().join("pipelines/readme.toml");
    std::fs::write(&pipeline, format!("{sample}\n{}", charges[0])).unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        run(command.args(args).current_dir(dir.path()))
    };
    run(&["run", "pipelines/readme.toml"]);
    assert!(run(&["verify", "out"]).contains(": sound"));
    // The sample has the bills of its overhead and two policies of its own beside them.
    let sql = "SELECT string_agg(DISTINCT id, ' ' ORDER BY id) AS ids FROM 'out/policies/policies.parquet' \
               WHERE id NOT LIKE 'node-share/%'";
    let answer = python(QUERY, &[&dir.path().to_string_lossy(), sql]);
    assert!(
        answer.trim_end().ends_with("drac-rgu fasrc-tres slurm-tres wlcg-work"),
        "{answer}"
    );
}
