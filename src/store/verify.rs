//! Checks that the published files are exactly those of the manifest.

use std::collections::{BTreeMap, BTreeSet};

use super::chain::{Chain, Page};
use super::finding::Finding;
use super::journal::Journal;
use super::location::Store;
use super::machinery::{
    BOOKS, INPUT_HASHES, JOURNAL, KEPT, LAST_RUN, LOCK, MACHINERY, SENDING, SNAPSHOTS, STAGING, TAGS,
};
use super::manifest::{FileEntry, MANIFEST, Manifest};
use super::present::Present;
use super::seal::{SEAL, Seal, unlike};
use super::sending::INTENT;
use super::snapshots;
use super::table::SCHEMA_VERSION_KEY;
use super::table_reader::describe;
use crate::error::{Error, Kind, Result};

/// What the files of an output are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// What is not as it should be, sorted by path; empty when all is well.
    pub findings: Vec<Finding>,
    /// The pages of each book, in order.
    pub books: BTreeMap<String, Vec<Page>>,
}

/// Checks every file of the manifest (there, size, hash, and for Parquet: readable, rows, schema version), the chain of
/// pages of every book, the snapshots with the files kept for them, and looks for what does not belong there.
///
/// # Errors
/// Only when looking itself fails; what is seen is a finding.
pub fn verify_store(store: &Store) -> Result<Verified> {
    let mut verified = Verified {
        findings: verify_files(store)?,
        ..Verified::default()
    };
    if !store.is_past() {
        verified.findings.extend(snapshots::verify::examine(store)?);
    }
    let mut unfinished = unfinished(store)?;
    let seal = match Seal::load(store) {
        Ok(seal) => seal,
        Err(why) if why.kind() == Kind::Data => {
            verified.find(SEAL, why.to_string());
            return Ok(verified.marked(&unfinished));
        }
        Err(why) => return Err(why),
    };
    if seal.is_none() {
        verified.find(SEAL, "there is no seal: where the books end is not known");
    }
    if let Some(problem) = unlike(store.get(MANIFEST)?.as_ref(), seal.as_ref()) {
        verified.find(SEAL, problem);
    }
    // Fallback: the missing seal was found above, and books are compared with none.
    let seal = seal.unwrap_or_default();
    for book in BOOKS {
        let chain = Chain::examine(store, book, &seal.head(book))?;
        verified.findings.extend(chain.findings);
        verified.books.insert(book.to_owned(), chain.pages);
    }
    if !unfinished.is_empty() {
        // A seal that can be read is replaced after the manifest.
        unfinished.insert(SEAL.to_owned());
    }
    Ok(verified.marked(&unfinished))
}

impl Verified {
    fn find(&mut self, path: &str, problem: impl Into<String>) {
        self.findings.push(Finding::new(path, problem));
    }

    /// Sorted, with a mark on what is wrong with these paths.
    fn marked(mut self, unfinished: &BTreeSet<String>) -> Self {
        for finding in &mut self.findings {
            finding.is_unfinished = unfinished.contains(&finding.path);
        }
        self.findings.sort();
        self
    }
}

/// What a commit that was cut off has still to change, its journal included; nothing where none was, or none that can be finished.
fn unfinished(store: &Store) -> Result<BTreeSet<String>> {
    let none = |why: Error| {
        if why.kind() == Kind::Data {
            Ok(BTreeSet::new())
        } else {
            Err(why)
        }
    };
    let journal = match Journal::load(store) {
        Ok(Some(journal)) => journal,
        Ok(None) => return Ok(BTreeSet::new()),
        Err(why) => return none(why),
    };
    for step in &journal.moves {
        if !store.exists(&step.from)?
            && let Err(why) = step.check_done(store)
        {
            return none(why);
        }
    }
    let moved = journal.moves.into_iter().map(|step| step.to);
    Ok(moved.chain(journal.deletes).chain([JOURNAL.to_owned()]).collect())
}

/// What [`verify_store`] finds of the files a manifest names, and of files it does not name.
///
/// # Errors
/// As [`verify_store`].
pub fn verify_files(store: &Store) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut report = |path: &str, problem: String| findings.push(Finding::new(path, problem));
    let manifest = match Manifest::load(store) {
        Ok(Some(manifest)) => manifest,
        Ok(None) => {
            report(
                MANIFEST,
                "there is no manifest: nothing has been published here".to_owned(),
            );
            Manifest::default()
        }
        Err(e) if e.kind() == Kind::Data => {
            report(MANIFEST, e.to_string());
            return Ok(findings);
        }
        Err(e) => return Err(e),
    };
    let present = Present::new(store, &manifest)?;
    for file in manifest.files() {
        match present.files.get(&file.path) {
            None => report(&file.path, "in the manifest but not there".to_owned()),
            Some(&size) if size != file.bytes => {
                report(&file.path, format!("{size} bytes, the manifest states {}", file.bytes));
            }
            Some(_) if store.reader(&file.path)?.blake3()? != file.blake3 => {
                report(
                    &file.path,
                    "its contents are not those of the manifest (blake3)".to_owned(),
                );
            }
            Some(_) => {
                for problem in table_problems(store, file)? {
                    report(&file.path, problem);
                }
            }
        }
    }
    for (path, problem) in present.others {
        report(path.trim_end_matches('/'), problem);
    }
    let unnamed = present.files.keys().filter(|path| manifest.file(path).is_none());
    findings.extend(unnamed.filter_map(|path| stray(path)));
    let parts = present.parts.iter();
    findings.extend(parts.map(|path| Finding::leftover(path, "left over from an interrupted write")));
    findings.sort();
    Ok(findings)
}

/// What a file is that the manifest does not name; `None` where it belongs there.
fn stray(path: &str) -> Option<Finding> {
    let below = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    let problem = match path {
        MANIFEST | SEAL | LOCK | LAST_RUN | INPUT_HASHES => return None,
        JOURNAL => "a commit was interrupted; the next run completes it",
        INTENT => "a publication was cut off; the next one, or a lock of a month, finishes it",
        _ if below(SENDING) => {
            let problem = "left over from a publication that was cut off; the next one removes it";
            return Some(Finding::leftover(path, problem));
        }
        // They are held against what snapshots need.
        _ if [SNAPSHOTS, KEPT, TAGS].into_iter().any(below) => return None,
        // Their pages are held against their chains.
        _ if BOOKS.into_iter().any(below) => return None,
        _ if below(STAGING) => {
            let problem = "left over from an interrupted run; the next run removes it";
            return Some(Finding::leftover(path, problem));
        }
        _ if below(MACHINERY) => "does not belong here",
        _ => "not in the manifest",
    };
    Some(Finding::new(path, problem))
}

fn table_problems(store: &Store, file: &FileEntry) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let is_table = file
        .path
        .rsplit_once('.')
        .is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("parquet"));
    if !is_table {
        return Ok(problems);
    }
    let (footer, rows) = match describe(&store.reader(&file.path)?) {
        Ok(described) => described,
        Err(e) => return Ok(vec![format!("not readable as Parquet: {e}")]),
    };
    if rows != file.rows {
        problems.push(format!("{rows} rows, the manifest states {}", file.rows));
    }
    let stated = footer
        .iter()
        .find(|(key, _)| key == SCHEMA_VERSION_KEY)
        .map(|(_, version)| version.as_str());
    if stated != Some(file.schema_version.to_string().as_str()) {
        let stated = stated.unwrap_or("none");
        problems.push(format!(
            "schema version {stated}, the manifest states {}",
            file.schema_version
        ));
    }
    Ok(problems)
}
