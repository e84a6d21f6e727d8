//! Which versions of its Delta tables a lake has, and which of them can be read.

use std::collections::BTreeMap;

use super::log::{DeltaLog, is_of_log};
use super::table::{DeltaFiles, files_of, kept_at, root};
use crate::error::{Kind, Result};
use crate::numbers::count_u64;
use crate::schema;
use crate::store::finding::Finding;
use crate::store::lake_facts::Fact;
use crate::store::location::Store;
use crate::store::machinery::KEPT;
use crate::store::manifest::Manifest;

/// A version of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeltaVersion {
    /// The dataset.
    pub dataset: String,
    /// The number of the version, from 0.
    pub version: u64,
    /// Number of the snapshot that it was made with.
    pub snapshot: u64,
    /// Files that it names.
    pub file_n: u64,
    /// Their sizes in bytes.
    pub bytes: u64,
    /// Files of it that `gc` has removed: with any, it cannot be read whole.
    pub missing_file_n: u64,
}

/// The versions of every Delta table of a lake, by dataset and version. Reads all logs.
///
/// # Errors
/// [`Kind::Data`] when a log is damaged; [`Kind::Io`] when one cannot be read.
pub fn delta_versions(store: &Store) -> Result<Vec<DeltaVersion>> {
    let kept: BTreeMap<String, u64> = store
        .list(KEPT)?
        .into_iter()
        .filter(|entry| !is_of_log(&entry.path))
        .map(|entry| (entry.path, entry.size))
        .collect();
    let mut versions = Vec::new();
    for dataset in schema::lake_datasets()? {
        let log = DeltaLog::new(store, dataset);
        let mut files = DeltaFiles::new();
        for version in 0..log.next_version()? {
            let snapshot = log.apply(version, &mut files)?;
            let missing = files
                .iter()
                .filter(|(path, file)| kept.get(&kept_at(dataset, path)) != Some(&file.bytes));
            versions.push(DeltaVersion {
                dataset: dataset.name.clone(),
                version,
                snapshot,
                file_n: count_u64(files.len()),
                bytes: files.values().map(|file| file.bytes).sum(),
                missing_file_n: count_u64(missing.count()),
            });
        }
    }
    Ok(versions)
}

/// What is wrong with the Delta logs of a lake: the newest version of each names the files that are published. Nothing where
/// the lake states that it continues none.
pub(in crate::store) fn examine(store: &Store, published: &Manifest) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    if !published.facts.has(Fact::DeltaLog) {
        return Ok(findings);
    }
    for dataset in schema::lake_datasets()? {
        let log = DeltaLog::new(store, dataset);
        let problem = match log.replay() {
            Ok(files) if files == files_of(published, dataset) => continue,
            Ok(_) => "its last version does not name the files that are published".to_owned(),
            Err(why) if why.kind() == Kind::Data => why.to_string(),
            Err(why) => return Err(why),
        };
        findings.push(Finding::new(root(dataset), format!("the Delta log: {problem}")));
    }
    Ok(findings)
}
