//! One input file as it was found.

use std::sync::Arc;

use crate::config::SourcePlan;
use crate::ledger::path_contents::SourcePath;
use crate::privacy::Privacy;
use crate::sources::input::InputFile;

/// One input file, with its content hash where that was needed before reading it.
pub(crate) struct FoundFile {
    pub(crate) file: Arc<InputFile>,
    pub(crate) source: Arc<SourcePlan>,
    pub(crate) privacy: Option<Arc<Privacy>>,
    pub(crate) blake3: Option<String>,
    /// The time from its path when it was true, Unix milliseconds.
    pub(crate) dated_ms: Option<i64>,
    /// Its place in the list of shards, where this run does not read it: a shard has, or nobody has to.
    pub(crate) listed: Option<ListedPlace>,
}

/// A place in the list of shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListedPlace {
    pub(crate) place: usize,
}

impl FoundFile {
    /// Its id in the ledger, if its bytes were hashed.
    pub(crate) fn file_id(&self) -> Option<Arc<str>> {
        let blake3 = self.blake3.as_ref()?;
        Some(file_id(&self.source.name, blake3, self.dated_ms))
    }

    /// Its path in its source.
    pub(crate) fn source_path(&self) -> SourcePath<'_> {
        SourcePath {
            source: &self.source.name,
            path: &self.file.path,
        }
    }

    /// The id it has where it cannot be opened.
    pub(crate) fn shut_file_id(&self) -> Arc<str> {
        shut_file_id(&self.source.name, &self.file.path)
    }
}

/// The id of a file: the same bytes in the same source are the same file, whatever their name. Where names date listings,
/// those of two days are two: a machine may be again what it was before.
pub(crate) fn file_id(source: &str, blake3: &str, dated_ms: Option<i64>) -> Arc<str> {
    let dated = dated_ms.map_or_else(String::new, |ms| format!("\n{ms}"));
    let id = blake3::hash(format!("{source}\n{blake3}{dated}").as_bytes()).to_hex();
    Arc::from(id.get(..16).unwrap_or(&id))
}

/// The id of a file that cannot be opened: nothing but its path is known of it.
pub(crate) fn shut_file_id(source: &str, path: &str) -> Arc<str> {
    file_id(source, &format!("not opened: {path}"), None)
}
