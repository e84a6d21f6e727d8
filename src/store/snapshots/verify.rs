//! Whether snapshots are what was written, and every file that one needs is there.

use std::collections::{BTreeMap, BTreeSet};

use super::document::SnapshotName;
use super::history::{names, snapshots};
use super::kept_path::kept_path;
use super::tags::tags;
use crate::error::{Kind, Result};
use crate::store::delta;
use crate::store::finding::Finding;
use crate::store::location::Store;
use crate::store::machinery::{KEPT, SNAPSHOTS, TAGS};
use crate::store::manifest::{FileEntry, Manifest};

/// What is wrong with the snapshots of a lake, its tags, and the files it keeps. Kept files that no snapshot needs are
/// what a killed run left, and no damage.
pub(in crate::store) fn examine(store: &Store) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut find = |path: String, problem: String| findings.push(Finding::new(path, problem));
    let known = names(store)?;
    let paths: BTreeSet<String> = known.iter().map(SnapshotName::path).collect();
    for entry in store.list(SNAPSHOTS)? {
        if !paths.contains(&entry.path) {
            find(entry.path, "does not belong here".to_owned());
        }
    }
    let mut needed: BTreeMap<String, FileEntry> = BTreeMap::new();
    for name in &known {
        match snapshots(store, std::slice::from_ref(name)) {
            Ok(read) => {
                let files = read
                    .into_iter()
                    .flat_map(|snapshot| snapshot.manifest.files().cloned().collect::<Vec<_>>());
                needed.extend(files.map(|file| (kept_path(&file.path, &file.blake3), file)));
            }
            Err(why) if why.kind() == Kind::Data => find(name.path(), why.to_string()),
            Err(why) => return Err(why),
        }
    }
    match tags(store) {
        Ok(tags) => {
            for tag in tags {
                if !paths.contains(&tag.snapshot.path()) {
                    find(format!("{TAGS}/{}", tag.name), "its snapshot is gone".to_owned());
                }
            }
        }
        Err(why) if why.kind() == Kind::Data => find(TAGS.to_owned(), why.to_string()),
        Err(why) => return Err(why),
    }
    let published = match Manifest::load(store) {
        Err(why) if why.kind() != Kind::Data => return Err(why),
        // Fallback: one that is damaged or gone was found before, and names nothing that is published.
        loaded => loaded.unwrap_or_default().unwrap_or_default(),
    };
    let present: BTreeMap<String, u64> = store
        .list(KEPT)?
        .into_iter()
        .map(|entry| (entry.path, entry.size))
        .collect();
    for (path, file) in &needed {
        match present.get(path) {
            None => find(
                path.clone(),
                format!("a snapshot needs it for {}, and it is not there", file.path),
            ),
            Some(size) if *size != file.bytes => {
                find(
                    path.clone(),
                    format!("{size} bytes, its snapshot states {}", file.bytes),
                );
            }
            // The published file under its other name was read already.
            Some(_) if published.file(&file.path) == Some(file) && store.is_same_file(path, &file.path)? => {}
            Some(_) if store.reader(path)?.blake3()? != file.blake3 => {
                find(
                    path.clone(),
                    "its contents are not those it is named by (blake3)".to_owned(),
                );
            }
            Some(_) => {}
        }
    }
    findings.extend(delta::versions::examine(store, &published)?);
    Ok(findings)
}
