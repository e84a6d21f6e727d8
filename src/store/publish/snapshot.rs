//! What a commit keeps: the snapshot of the state that it makes, and the next version of each Delta log.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use bytes::Bytes;

use super::Publication;
use crate::error::Result;
use crate::numbers::count_u64;
use crate::runtime::clock::now_ms;
use crate::store::delta::DeltaLogs;
use crate::store::folders::DurableFolders;
use crate::store::journal::JournalMove;
use crate::store::lake_facts::{Fact, LakeFacts};
use crate::store::local::WrittenFile;
use crate::store::machinery::{BOOKS, STAGING};
use crate::store::manifest::Manifest;
use crate::store::seal::{Seal, book_of};
use crate::store::snapshots::document::{SnapshotDocument, SnapshotOrigin, SnapshotPage};
use crate::store::snapshots::{KeptFile, keep, kept_path, names};

impl Publication {
    /// Keeps the files that are committed, and stages the document of the state that is made of them.
    pub(super) fn snapshot(&self, manifest: &Manifest, seal: &Seal, moves: &[JournalMove]) -> Result<JournalMove> {
        self.lock.lock().hold()?;
        let staged: BTreeMap<&str, &JournalMove> = moves.iter().map(|step| (step.to.as_str(), step)).collect();
        let is_kept = |facts: &LakeFacts| facts.has(Fact::Keep);
        let was_kept = self.published.as_ref().is_some_and(|was| is_kept(&was.facts));
        let is_continued = was_kept && !names(&self.store)?.is_empty();
        let mut files = Vec::new();
        for file in manifest.files() {
            let from = match staged.get(file.path.as_str()) {
                Some(step) => &step.from,
                // The snapshot before this one has it.
                None if is_continued => continue,
                None => &file.path,
            };
            files.push(KeptFile {
                from: from.clone(),
                kept: kept_path(&file.path, &file.blake3),
                bytes: file.bytes,
            });
        }
        // What is staged was made durable with all that is moved.
        let published = files.iter().filter(|file| !file.from.starts_with(STAGING));
        self.store.sync_files(published.map(|file| WrittenFile {
            path: &file.from,
            bytes: file.bytes,
        }))?;
        let former = self.published.iter().filter(|_| is_continued).flat_map(Manifest::files);
        let former: Vec<String> = former.map(|file| kept_path(&file.path, &file.blake3)).collect();
        keep(
            &self.store,
            &files,
            &DurableFolders::above(former.iter().map(String::as_str)),
        )?;
        let mut pages = Vec::new();
        for book in BOOKS {
            let written = self.store.list(book)?.into_iter();
            pages.extend(written.map(|entry| SnapshotPage {
                path: entry.path,
                bytes: entry.size,
            }));
        }
        let page = moves.iter().find(|step| BOOKS.contains(&book_of(&step.to)));
        pages.extend(page.map(|step| SnapshotPage {
            path: step.to.clone(),
            bytes: step.bytes,
        }));
        let run_id = page.and_then(|step| step.to.strip_prefix("runs/")?.strip_suffix(".parquet"));
        let origin = SnapshotOrigin {
            number: seal.head("runs").page_n,
            made_ms: now_ms(),
            run_id: run_id.map(str::to_owned),
        };
        let document = SnapshotDocument::new(origin, manifest.to_text()?, seal.to_text()?, pages);
        let (name, bytes) = document.pack()?;
        self.stage_object(name.path(), bytes)
    }

    /// Stages the next file of each Delta log that changes.
    pub(super) fn delta_logs(&self, manifest: &Manifest, seal: &Seal) -> Result<Vec<JournalMove>> {
        let logs = DeltaLogs {
            store: &self.store,
            before: self.published.as_ref(),
            after: manifest,
            snapshot: seal.head("runs").page_n,
            made_ms: now_ms(),
        };
        let commits = logs.commits()?.into_iter();
        commits
            .map(|commit| self.stage_object(commit.path, commit.bytes))
            .collect()
    }

    /// Stages an object of the machinery that the commit moves to its place.
    fn stage_object(&self, to: String, bytes: Bytes) -> Result<JournalMove> {
        let n = self.staged_n.fetch_add(1, Ordering::Relaxed);
        let step = JournalMove {
            from: format!("{STAGING}/{}{n:08}", self.lock.lock().staging_prefix()),
            to,
            bytes: count_u64(bytes.len()),
            blake3: blake3::hash(&bytes).to_hex().to_string(),
        };
        self.lock.put(&step.from, bytes)?;
        Ok(step)
    }
}
