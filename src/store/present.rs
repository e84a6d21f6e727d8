//! The objects at an output: its files, and foreign ones.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::local::at;
use super::location::Store;
use super::machinery::{MACHINERY, is_part_file};
use super::manifest::Manifest;
use crate::error::Result;

/// The objects at an output, by path.
#[derive(Default)]
pub(super) struct Present {
    /// Files, and their sizes in bytes.
    pub(super) files: BTreeMap<String, u64>,
    /// The part files (`name#1`) of interrupted uploads.
    pub(super) parts: Vec<String>,
    /// Entries that are not files, such as a link without a target, and their kind.
    pub(super) others: Vec<(String, String)>,
}

impl Present {
    /// Looks at all of it. A link to a folder is only followed where the manifest names files behind it: others may lead
    /// round in circles, or to a whole disk.
    pub(super) fn new(store: &Store, manifest: &Manifest) -> Result<Self> {
        let mut present = Self::default();
        let Some(root) = store.local_root().filter(|_| !store.is_past()) else {
            let entries = store.list("")?.into_iter();
            present.files = entries.map(|entry| (entry.path, entry.size)).collect();
            return Ok(present);
        };
        let mut folders: Vec<(PathBuf, String)> = vec![(root.to_path_buf(), String::new())];
        while let Some((folder, below)) = folders.pop() {
            for entry in std::fs::read_dir(&folder).map_err(|e| at(e, &folder))? {
                let entry = entry.map_err(|e| at(e, &folder))?;
                let place = entry.path();
                let path = format!("{below}{}", entry.file_name().to_string_lossy());
                let is_link = entry.file_type().map_err(|e| at(e, &place))?.is_symlink();
                let meta = match std::fs::metadata(&place) {
                    Ok(meta) => meta,
                    Err(e) if is_link => {
                        present.others.push((path, format!("a link that leads nowhere: {e}")));
                        continue;
                    }
                    // Gone since the folder was read.
                    Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
                    Err(e) => return Err(at(e, &place)),
                };
                if meta.is_dir() && is_link && !is_ours(manifest, &path) {
                    let what = "a link to a folder that holds nothing of the manifest";
                    present.others.push((format!("{path}/"), what.to_owned()));
                } else if meta.is_dir() {
                    folders.push((place, format!("{path}/")));
                } else if !meta.is_file() {
                    present.others.push((path, "neither a file nor a folder".to_owned()));
                } else if is_part_file(&entry.file_name().to_string_lossy()) {
                    present.parts.push(path);
                } else {
                    present.files.insert(path, meta.len());
                }
            }
        }
        Ok(present)
    }
}

/// Whether a folder of this name holds what was published.
fn is_ours(manifest: &Manifest, folder: &str) -> bool {
    let is_below = |path: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    folder == MACHINERY || manifest.files().any(|file| is_below(&file.path))
}
