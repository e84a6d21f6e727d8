//! Everything derives from the row of a dialect: words, suggestions, help, the fuzzer.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use gridtally::sources::dialect::{Certainty, Content, SiteNaming, SourceOption, UnfinishedJob};
use gridtally::sources::{DIALECTS, registry};

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
            let said = checked(&alias.to_uppercase(), "site = \"X\"\n");
            assert!(said.contains(&format!("did you mean \"{}\"?", row.word)), "{said}");
        }
    }
}

#[test]
fn keys_that_a_dialect_does_not_use_are_reported() {
    for dialect in registry::declarable() {
        for (option, key, value) in [
            (SourceOption::Acceptance, "acceptance", "\"salvage\""),
            (SourceOption::CeLogs, "blah", "[\"x\"]"),
            (SourceOption::Delimiter, "delimiter", "\"|\""),
            (SourceOption::Layout, "layout", "\"apel\""),
            (SourceOption::StartFrom, "start_from", "\"submit\""),
            (SourceOption::Summaries, "summaries", "\"upsert\""),
            (SourceOption::Timezone, "timezone", "\"UTC\""),
            (SourceOption::UnixStartTime, "unix_start_time", "0"),
        ] {
            let said = checked(dialect.as_str(), &format!("site = \"X\"\n{key} = {value}\n"));
            let message = format!("{key} does nothing for {}", dialect.as_str());
            assert_eq!(said.contains(&message), !dialect.uses(option), "{said}");
        }
    }
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
