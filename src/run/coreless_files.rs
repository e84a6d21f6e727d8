//! Files of which no job states its cores.

use serde::Serialize;

use crate::dedupe::UnknownCores;

/// Files of a source that this run read, in which jobs ran and none of them states its cores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CorelessFiles {
    /// How many.
    pub file_n: u64,
    /// Their jobs that ran.
    pub job_n: u64,
    /// The first of the files.
    pub first: String,
}

impl CorelessFiles {
    /// Looks at what was read of a file.
    pub(super) fn look(&mut self, path: &str, cores: UnknownCores) {
        if !cores.is_all() {
            return;
        }
        if self.file_n == 0 {
            path.clone_into(&mut self.first);
        }
        self.file_n += 1;
        self.job_n += cores.ran_n;
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.file_n == 0
    }

    /// What a person must know of a source with such files.
    #[must_use]
    pub fn warning(&self, source: &str) -> String {
        let Self { file_n, job_n, first } = self;
        format!(
            "files of the source {source} that state the cores of no job: {file_n}, the first is {first}; jobs that ran, and \
             whose core hours are unknown: {job_n}; gridtally inspect shows which columns a file lacks"
        )
    }
}
