//! Console blocks and queries of a page: run, with what they came to written behind them.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::support::python::python;
use crate::support::sample::run;

/// Runs one query and prints its answer the way terminals like it: aligned, numbers to the right.
pub(super) const QUERY: &str = r#"
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

/// A page with the output of every command and query as it is today.
pub(super) fn answered(page: &str, text: &str, dir: &Path) -> String {
    let mut made = String::new();
    let mut lines = text.lines().peekable();
    let mut answer: Option<String> = None;
    while let Some(line) = lines.next() {
        let _ = writeln!(made, "{line}");
        assert!(
            line.starts_with("```") || !line.trim_start().starts_with("```"),
            "{page}: an indented block is not run: {line}"
        );
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
            ("console", _) => console(page, &block, dir, &mut made),
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

/// Commands begin with `$ `; a command without output on the page is run and its output not shown.
fn console(page: &str, block: &[&str], dir: &Path, made: &mut String) {
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
        let arguments = ["cargo run -- ", "gridtally "]
            .iter()
            .find_map(|program| command.strip_prefix(program));
        if let Some(arguments) = arguments {
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
                "cargo bench --bench lake -- --shapes 1000000",
                "cargo run --example generate -- sample-data",
            ];
            assert!(known.contains(&command), "{page} shows {command:?}, which no test runs");
        }
    }
}
