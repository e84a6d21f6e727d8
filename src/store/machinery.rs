//! Names of the files a lake keeps for itself.

use crate::runtime::interruption::Commit;

/// The folder of the machinery, below the root.
pub const MACHINERY: &str = ".gridtally";

pub(crate) const LOCK: &str = ".gridtally/lock";

/// The note of the last run; see [`super::run_note`].
pub(crate) const LAST_RUN: &str = ".gridtally/last_run.json";

/// The hashes of input files; see [`super::input_hashes`].
pub(crate) const INPUT_HASHES: &str = ".gridtally/input_hashes.json";

pub(crate) const JOURNAL: &str = ".gridtally/journal.json";

pub(crate) const STAGING: &str = ".gridtally/staging";

/// The documents of snapshots.
pub(crate) const SNAPSHOTS: &str = ".gridtally/snapshots";

/// Files by their content, as snapshots need them.
pub(crate) const KEPT: &str = ".gridtally/kept";

/// The names of snapshots.
pub(crate) const TAGS: &str = ".gridtally/tags";

/// What a commit leaves behind that a signal comes upon.
pub(crate) const COMMIT: Commit = Commit {
    made: "the commit was made, the lake is as after this run",
    cut: "the commit has begun and is not done: the next run finishes it, until then readers may see a mixture",
};

/// Datasets outside the manifest: what was sent, and the locks of months, belong to no run.
pub const PUBLICATION_BOOKS: [&str; 3] = ["publication", "publication_job", "month_lock"];

/// The books of a lake: datasets whose files are pages that are only ever added, and that no manifest names.
pub const BOOKS: [&str; 4] = ["month_lock", "publication", "publication_job", "runs"];

/// Where what a lake keeps book of is staged, in the lake and in the folders it goes to.
pub(crate) const SENDING: &str = ".gridtally/sending";

/// The name of a file that is not whole yet, as the object store crate has it, too.
pub(super) fn part_file(path: &str) -> String {
    format!("{path}#1")
}

/// Whether a file is what an interrupted upload leaves behind, `name#1`; listings leave it out.
pub(super) fn is_part_file(name: &str) -> bool {
    name.split_once('#')
        .is_some_and(|(_, number)| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}
