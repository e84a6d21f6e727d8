//! Lakes on disks and servers that fail: afterwards they are as before or as after the run, and the next run is clean.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod commit;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod disk;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod early_sync;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod gc;
#[cfg(feature = "cloud")]
mod proxy;
#[cfg(feature = "cloud")]
mod rights;
#[cfg(feature = "cloud")]
mod server;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod shim;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use gridtally::store::snapshots::{SnapshotName, names, snapshots};
use gridtally::store::{FileEntry, Store};

/// Files by path, with the hash of each.
pub(crate) type Files = BTreeMap<String, String>;

/// A command of gridtally in a folder.
fn run_of(here: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
    command.args(args).current_dir(here);
    command
}

fn words(output: &Output) -> String {
    format!("{}\n{}", output.status, String::from_utf8_lossy(&output.stderr))
}

/// With hard links as they are.
fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-a").args([from, to]).status().unwrap();
    assert!(status.success());
}

/// The lake as plain readers find it; the records of runs, the seal that names them and the machinery are left out.
fn as_now(store: &Store) -> Files {
    let is_data = |path: &str| !path.starts_with("runs/") && !path.starts_with(".gridtally/") && path != "seal.json";
    let paths = store.list("").unwrap().into_iter().map(|entry| entry.path);
    paths
        .filter(|path| is_data(path))
        .map(|path| {
            let hash = hash(store, &path);
            (path, hash)
        })
        .collect()
}

/// The lake as its newest snapshot defines it, each file as it is kept; nothing where there is none.
fn as_of_newest(store: &Store) -> Files {
    names(store)
        .unwrap()
        .pop()
        .map_or_else(Files::new, |newest| as_of(store, newest))
}

/// The lake as a snapshot defines it, each file as it is kept.
pub(crate) fn as_of(store: &Store, name: SnapshotName) -> Files {
    let snapshot = snapshots(store, &[name]).unwrap().pop().unwrap();
    let mut files = Files::new();
    for file in snapshot.manifest.files() {
        let kept = kept(file);
        assert_eq!(hash(store, &kept), file.blake3, "{kept}");
        files.insert(file.path.clone(), file.blake3.clone());
    }
    let manifest = snapshot.manifest.to_text().unwrap();
    files.insert(
        "manifest.json".to_owned(),
        blake3::hash(manifest.as_bytes()).to_hex().to_string(),
    );
    files
}

/// Where the files with rows of the newest snapshot are kept.
fn files_with_rows(store: &Store) -> Files {
    let newest = names(store).unwrap().pop().unwrap();
    let snapshot = snapshots(store, &[newest]).unwrap().pop().unwrap();
    let files = snapshot.manifest.files().filter(|file| file.rows > 0);
    files.map(|file| (kept(file), String::new())).collect()
}

/// Where a published file is kept.
fn kept(file: &FileEntry) -> String {
    let path = Path::new(&file.path);
    // Fallback: a file without an extension is kept without one.
    let extension = path.extension().unwrap_or_default();
    let name = path.with_file_name(&file.blake3).with_extension(extension);
    format!(".gridtally/kept/{}", name.to_str().unwrap())
}

fn hash(store: &Store, path: &str) -> String {
    let bytes = store.get(path).unwrap().unwrap_or_else(|| panic!("{path} is lost"));
    blake3::hash(&bytes).to_hex().to_string()
}
