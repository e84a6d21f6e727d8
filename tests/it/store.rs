//! The room that writes: what every kind of store promises, what is published, and what readers make of it.

mod amounts;
mod code_widths;
mod coded_texts;
mod columns;
mod contract;
mod failing;
mod oracle;
mod publication;
mod sending;
mod snapshots;
mod table;
mod verification;

use gridtally::store::Store;
use std::path::Path;
use tempfile::TempDir;

/// A local store in a folder of its own.
fn local() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().to_str().unwrap()).unwrap();
    (folder, store)
}

/// A memory store nobody else uses.
fn memory() -> Store {
    static N: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let n = N.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    Store::open(&format!("memory://store-test-{n}/a/prefix")).unwrap()
}

/// Runs a contract against every kind of store: memory, local, and a fresh prefix of the store that the environment
/// variable `GRIDTALLY_TEST_STORE` names (`s3://bucket/scratch`), when it names one.
fn every_kind(contract: impl Fn(&Store)) {
    contract(&memory());
    let (_folder, store) = local();
    contract(&store);
    if let Ok(url) = std::env::var("GRIDTALLY_TEST_STORE") {
        let fresh = tempfile::tempdir().unwrap();
        let name = fresh
            .path()
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .trim_start_matches('.')
            .to_owned();
        contract(&Store::open(&format!("{url}/{name}")).unwrap());
    }
}

/// All files and all empty folders (with a trailing `/`) below a folder, sorted.
fn tree(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
        if entries.is_empty() && folder != root {
            found.push(format!("{}/", folder.strip_prefix(root).unwrap().to_str().unwrap()));
        }
        for entry in entries {
            if entry.is_dir() {
                folders.push(entry);
            } else {
                found.push(entry.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

fn paths(store: &Store) -> Vec<String> {
    store.list("").unwrap().into_iter().map(|entry| entry.path).collect()
}
