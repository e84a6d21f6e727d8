//! The language of the sources and the manual: plain technical English, without the idiom the project once had.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::sample::repository;

/// Words and phrases of the idiom, each with what to write in its place. Matched case-insensitively as complete words;
/// the parts of an identifier (`is_told`) are words as well.
const BANNED: [(&str, &str); 38] = [
    ("told", "reported, stated, recorded"),
    ("tell", "report, state, distinguish, determine"),
    ("tells", "reports, states, distinguishes"),
    ("telling", "reporting, distinguishing"),
    ("teller", "exporter"),
    ("untold", "unknown, unreported"),
    ("said", "stated, reported"),
    ("say", "state, set, report"),
    ("says", "states, sets, reports"),
    ("saying", "stating"),
    ("unsaid", "unstated"),
    ("anew", "again; rebuilt, recomputed"),
    ("asked for", "requested"),
    ("ask for", "request"),
    ("asks for", "requests"),
    ("asking for", "requesting"),
    ("beside", "next to, in addition to, concurrently with"),
    ("for nothing", "without effect, unnecessarily"),
    ("go on", "continue"),
    ("goes on", "continues"),
    ("going on", "continuing"),
    ("went on", "continued"),
    ("hand out", "assign, return, send"),
    ("hands out", "assigns, returns, sends"),
    ("handed out", "assigned, returned, sent"),
    ("handing out", "assigning, returning, sending"),
    ("news", "new records"),
    ("nobody can", "it is unknown, it cannot be determined"),
    ("nobody knew", "unknown"),
    ("nobody knows", "unknown"),
    ("nobody named", "unnamed, missing"),
    ("night by night", "run by run, day by day"),
    ("put by", "stored"),
    ("puts by", "stores"),
    ("side by side", "in parallel, next to each other"),
    ("stood", "was"),
    ("the night", "the run, the day"),
    ("upon night", "run by run"),
];

/// A line that may contain a banned word: the file, a part of the line, and the reason.
const EXCEPTIONS: [(&str, &str, &str); 5] = [
    ("docs/guides/export.md", "--beside", "the name of an option"),
    ("docs/reference/command-line.md", "--beside", "the name of an option"),
    ("docs/reference/renamed.md", "untold", "a name that changed"),
    ("src/cli/report/receiver.rs", "beside", "the option and its field"),
    ("src/report/publication/terms.rs", "--beside", "the name of an option"),
];

/// A text file of the repository: its path in it, and its text.
struct Page {
    path: String,
    text: String,
}

fn pages(folder: &str) -> Vec<Page> {
    fn walk(root: &Path, path: PathBuf, into: &mut Vec<Page>) {
        if path.is_dir() {
            for entry in fs::read_dir(path).unwrap() {
                walk(root, entry.unwrap().path(), into);
            }
        } else if let Ok(text) = fs::read_to_string(&path) {
            let path = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            into.push(Page { path, text });
        }
    }
    let root = repository("");
    let mut found = Vec::new();
    walk(&root, repository(folder), &mut found);
    assert!(!found.is_empty(), "no text under {folder}");
    found
}

/// The words of a line in lower case, each between single blanks.
fn words_of(line: &str) -> String {
    let words = line
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.fold(" ".to_owned(), |line, word| line + &word.to_lowercase() + " ")
}

fn is_excepted(path: &str, line: &str) -> bool {
    EXCEPTIONS
        .iter()
        .any(|(of, part, _)| path == *of && line.contains(part))
}

#[test]
fn the_idiom_stays_out_of_sources_and_manual() {
    let mut found = Vec::new();
    for folder in ["src", "docs", "schemas", "README.md"] {
        for page in pages(folder) {
            for (at, line) in page.text.lines().enumerate() {
                let words = words_of(line);
                let banned = BANNED.iter().filter(|(word, _)| words.contains(&format!(" {word} ")));
                for (word, instead) in banned.filter(|_| !is_excepted(&page.path, line)) {
                    found.push(format!("{}:{}: \"{word}\": write {instead}", page.path, at + 1));
                }
            }
        }
    }
    assert!(found.is_empty(), "{} lines\n{}", found.len(), found.join("\n"));
}

/// An exception without its line is out of date.
#[test]
fn every_exception_to_the_language_is_needed() {
    for (path, part, why) in EXCEPTIONS {
        let text = fs::read_to_string(repository(path)).unwrap();
        assert!(text.contains(part), "{path}: no line with {part:?} ({why})");
    }
}
