//! Everything derives from the row of a dialect: words, suggestions, help, the fuzzer.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use gridtally::config::source_options::{SOURCE_KEYS, keys_of};
use gridtally::sources::dialect::{Certainty, Content, SiteNaming, UnfinishedJob};
use gridtally::sources::{DIALECTS, registry};

use crate::support::sample::repository;

fn help(command: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_gridtally"))
        .args([command, "--help"])
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// What `check` writes of a source of this format.
fn checked(format: &str, keys: &str) -> String {
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("dump"), "").unwrap();
    let text = format!(
        "[pipeline]\nname = \"p\"\noutput = \"lake\"\n\n[[source]]\nname = \"s\"\nformat = \"{format}\"\n\
         paths = [\"dump\"]\n{keys}"
    );
    fs::write(here.path().join("p.toml"), text).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_gridtally"))
        .args(["check", "p.toml"])
        .current_dir(here.path())
        .output()
        .unwrap();
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn the_word_of_a_dialect_leads_back_to_it() {
    let mut words = BTreeSet::new();
    for dialect in registry::all() {
        assert!(
            words.insert(dialect.as_str()),
            "{} is the word of two dialects",
            dialect.as_str()
        );
        assert_eq!(registry::named(dialect.as_str()), Some(dialect));
    }
    for (alias, word) in registry::aliases() {
        assert!(
            words.insert(alias),
            "{alias} of {word} is a word or alias of another dialect"
        );
    }
}

#[test]
fn every_dialect_is_in_the_help() {
    let (check, inspect) = (help("check"), help("inspect"));
    for dialect in registry::all() {
        let row = dialect.row();
        assert!(inspect.contains(&format!("{:<22} {}", row.word, row.help)), "{inspect}");
        let is_declared = row.content != Content::Members;
        assert_eq!(
            check.split([' ', '|', '\n']).any(|word| word == row.word),
            is_declared,
            "{}",
            row.word
        );
        assert!(!row.help.is_empty() && !row.page.is_empty(), "{}", row.word);
    }
}

#[test]
fn every_dialect_can_be_declared_and_its_other_names_are_suggested() {
    for dialect in registry::declarable() {
        let row = dialect.row();
        let needs_site = row.content == Content::Jobs && row.site == SiteNaming::Source;
        let refused = format!("{} names no site", row.word);
        assert_eq!(checked(row.word, "").contains(&refused), needs_site, "{}", row.word);
        let with_site = checked(row.word, "site = \"X\"\n");
        assert!(
            !with_site.contains("format") && !with_site.contains(&refused),
            "{with_site}"
        );
        for alias in row.aliases {
            let stated = checked(&alias.to_uppercase(), "site = \"X\"\n");
            assert!(stated.contains(&format!("did you mean \"{}\"?", row.word)), "{stated}");
        }
    }
}

#[test]
fn keys_that_a_dialect_does_not_use_are_reported() {
    let mut remarks = 0;
    for dialect in registry::declarable() {
        for row in SOURCE_KEYS {
            if row.required.is_some() || row.key == "site" {
                continue;
            }
            // A remark is printed of a file without a mistake.
            let beside = match row.key {
                "summaries" | "publication_parts" => "publication = \"source\"\n",
                _ => "",
            };
            let keys = format!("site = \"X\"\n{beside}{} = {}\n", row.key, row.example.value);
            let stated = checked(dialect.as_str(), &keys);
            let message = format!("{} does nothing for {}", row.key, dialect.as_str());
            assert_eq!(stated.contains(&message), !row.may_serve(dialect.format()), "{stated}");
            remarks += usize::from(stated.contains(&message));
        }
    }
    assert!(remarks > 30, "{remarks} remarks");
}

#[test]
fn every_key_of_a_source_is_in_the_example_of_check_as_the_schema_has_it() {
    let text = help("check");
    let (_, example) = text.split_once("  [[source]]\n").unwrap();
    let (example, _) = example.split_once("\n\n").unwrap();
    let table: toml::Table = toml::from_str(example).unwrap();
    let written: BTreeSet<&str> = table.keys().map(String::as_str).collect();
    let keys: BTreeSet<&str> = SOURCE_KEYS.iter().map(|row| row.key).collect();
    assert_eq!(written, keys);
    for line in example.lines() {
        let has_comment = line.contains(" # ");
        assert!(
            !has_comment || line.find(" # ") == Some(38),
            "{line:?} has its comment in another column"
        );
    }
    let whole = format!("[pipeline]\nname = \"p\"\noutput = \"o\"\n[[source]]\n{example}");
    assert_eq!(
        crate::descriptions::wrong_in(&gridtally::config::description::pipeline_file(), &whole),
        Vec::<String>::new()
    );
}

/// Records of jobs without an end have no instant that places them by their end.
#[test]
fn running_jobs_have_records_only_where_the_start_places_them() {
    for dialect in DIALECTS {
        let row = dialect.row();
        let is_record = [row.unfinished.running, row.unfinished.pending].contains(&UnfinishedJob::Record);
        let is_placed = row.placed_by == gridtally::sources::dialect::PlacingInstant::StartOrSubmit;
        assert!(is_placed || !is_record, "{}", row.word);
    }
    assert!(Certainty::Mark > Certainty::Names && Certainty::Grammar > Certainty::Shape);
}

const ZONES: &str = "\
## Time zones

Zones are those of release 2026e of the IANA database, between 1970 and 2100; they are part of the program, so that results do
not depend on the machine. `chrono-tz` bundles release 2025b; `src/time/zone_amendments.rs` holds what changed since (nine
names in western and central Canada, Morocco, Moldova, and three corrections of the past). A test compares every zone with the
`tzdata` of Python.
";

/// The page of the reference.
fn reference() -> String {
    let mut text = String::from(
        "# Dialects\n\nWhat a `[[source]]` may declare as `format`, and what `auto` recognises. This page is written from the rows \
         of the readers.\n",
    );
    for dialect in DIALECTS {
        let row = dialect.row();
        let unfinished = row.unfinished;
        let found = |site: SiteNaming| match site {
            SiteNaming::Record => "in the records",
            SiteNaming::Source => "in the source",
            SiteNaming::Members => "as its members",
        };
        write!(text, "\n## {}\n\n{}\n\n", row.word, row.page).unwrap();
        if row.content == Content::Jobs {
            writeln!(text, "* site: {}", found(row.site)).unwrap();
            let keys = keys_of(*dialect);
            writeln!(
                text,
                "* keys of the source: {}",
                if keys.is_empty() {
                    "none".to_owned()
                } else {
                    format!("`{}`", keys.join("`, `"))
                }
            )
            .unwrap();
            writeln!(text, "* jobs that never ran: {}", unfinished.never_ran.sentence()).unwrap();
            writeln!(text, "* pending jobs: {}", unfinished.pending.sentence()).unwrap();
            writeln!(text, "* running jobs: {}", unfinished.running.sentence()).unwrap();
        }
    }
    text.push_str(
        "\n## Inventories\n\nWhat an `[[inventory]]` may declare as `format`, and what `auto` recognises there.\n\n",
    );
    for dialect in registry::all().filter(|dialect| dialect.inventory().is_some()) {
        writeln!(text, "* `{}`: {}", dialect.as_str(), dialect.row().help).unwrap();
    }
    format!("{text}\n{ZONES}")
}

/// `UPDATE_README=1` writes the page again.
#[test]
fn the_reference_of_dialects_is_that_of_their_rows() {
    let path = repository("docs/reference/dialects.md");
    let text = reference();
    if std::env::var_os("UPDATE_README").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &text).unwrap();
    }
    assert_eq!(fs::read_to_string(path).unwrap(), text);
}
