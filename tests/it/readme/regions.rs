//! Tables of pages that the program generates: each is between `<!-- name -->` and `<!-- /name -->`.

use std::fmt::Write as _;

use clap::CommandFactory as _;
use gridtally::charge::description::policy_file;
use gridtally::config::description::pipeline_file;
use gridtally::error::Kind;
use gridtally::expr::functions::functions_markdown;
use gridtally::ledger::Reason;
use gridtally::reference::written_tables::{WrittenTable, written_tables};

use crate::support::sample::repository;

/// Writes what is in a region.
type RegionWriter = fn() -> String;

/// The regions there are, and what writes each.
const REGIONS: [(&str, RegionWriter); 11] = [
    ("exit codes", exit_codes),
    ("reasons", reasons),
    ("datasets", datasets),
    ("reports", crate::report::every::table),
    ("commands", commands),
    ("command line", command_line),
    ("rooms", rooms),
    ("pipeline file", || pipeline_file().markdown()),
    ("policy file", || policy_file().markdown()),
    ("formula functions", functions_markdown),
    ("tables", || {
        written_tables().iter().map(WrittenTable::markdown).collect()
    }),
];

/// The page with every region as it is today, and the names of its regions.
pub(super) fn generated(text: &str) -> (String, Vec<&'static str>) {
    let mut made = text.to_owned();
    let mut found = Vec::new();
    for (name, body) in REGIONS {
        let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
        let Some((before, rest)) = made.split_once(&open) else {
            continue;
        };
        let (_, after) = rest.split_once(&close).expect("the region closes");
        made = format!("{before}{open}{}{close}{after}", body());
        found.push(name);
    }
    (made, found)
}

/// Names of all regions.
pub(super) fn names() -> Vec<&'static str> {
    REGIONS.iter().map(|(name, _)| *name).collect()
}

fn exit_codes() -> String {
    let mut codes = String::from("| code | meaning |\n|---|---|\n| 0 | done |\n");
    for (kind, meaning) in Kind::ALL {
        let _ = writeln!(codes, "| {} | {meaning} |", kind.exit_code());
    }
    codes
}

fn reasons() -> String {
    let mut reasons = String::from("| outcome | reason | meaning |\n|---|---|---|\n");
    for reason in Reason::ALL {
        let (outcome, code, meaning) = (reason.outcome(), reason.code(), reason.meaning());
        let _ = writeln!(reasons, "| {outcome} | `{code}` | {meaning} |");
    }
    reasons
}

/// The path and description of each dataset, from the schemas.
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

/// Every command with its first sentence.
fn commands() -> String {
    let mut table = String::from("| command | what it does |\n|---|---|\n");
    let mut program = gridtally::cli::Cli::command();
    program.build();
    for command in program.get_subcommands().filter(|command| command.get_name() != "help") {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(table, "| `{}` | {} |", command.get_name(), about.trim_end_matches('.'));
    }
    table
}

/// The help of the program and of each of its commands.
fn command_line() -> String {
    let mut text = String::new();
    let mut program = gridtally::cli::Cli::command().term_width(100);
    program.build();
    help(&program, "gridtally", &mut text);
    text
}

fn help(command: &clap::Command, name: &str, text: &mut String) {
    let page = command.clone().term_width(100).render_long_help().to_string();
    let _ = writeln!(text, "\n## {name}\n\n```text");
    for line in page.lines() {
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text.push_str("```\n");
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        help(inner, &format!("{name} {}", inner.get_name()), text);
    }
}

/// The rooms of `src` in their order, each with the first sentence of its first page.
fn rooms() -> String {
    let mut table = String::from("| room | what it is |\n|---|---|\n");
    for room in crate::layers::ROOMS {
        let pages = [format!("src/{room}/mod.rs"), format!("src/{room}.rs")];
        let page = pages.iter().map(|page| repository(page)).find(|page| page.is_file());
        let text = std::fs::read_to_string(page.expect("a room has a first page")).unwrap();
        let head: Vec<&str> = (text.lines().map_while(|line| line.strip_prefix("//!")))
            .map(str::trim)
            .take_while(|line| !line.is_empty())
            .collect();
        let head = head.join(" ");
        let end = head.find(". ").map_or(head.len(), |end| end + 1);
        let _ = writeln!(table, "| `{room}` | {} |", head[..end].replace('|', "\\|"));
    }
    table
}
