//! Folders of a local disk whose names are durable: what was published before made them so.

use std::collections::BTreeSet;

/// Folders that need no sync of the folders above them: their own names are durable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DurableFolders(BTreeSet<String>);

impl DurableFolders {
    /// Those above files of a commit that was made: it synced every folder above each of them before it replaced the manifest.
    pub(super) fn above<'a>(paths: impl Iterator<Item = &'a str>) -> Self {
        let mut folders = BTreeSet::new();
        for path in paths {
            let mut rest = path;
            while let Some((folder, _)) = rest.rsplit_once('/') {
                // Those above one that is known are known.
                if !folders.insert(folder.to_owned()) {
                    break;
                }
                rest = folder;
            }
        }
        Self(folders)
    }

    /// The folders to sync so that new names become durable: the one that each is in, and from there upwards until one is
    /// durable itself. The empty text is the root.
    pub(super) fn to_sync<'a>(&self, paths: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
        let mut folders = BTreeSet::new();
        for path in paths {
            let mut rest = path;
            loop {
                // Fallback: what is in no folder is in the root.
                let folder = rest.rsplit_once('/').map_or("", |(folder, _)| folder);
                folders.insert(folder);
                if folder.is_empty() || self.0.contains(folder) {
                    break;
                }
                rest = folder;
            }
        }
        folders
    }
}
