//! Jobs that signed corrections take out whole: they count nowhere, and so are no copies of other jobs.

use std::collections::HashSet;

use ahash::RandomState;

use crate::reference::correction::{Action, CorrectionTable};
use crate::schema::batch::stated_identity;

/// The jobs of a site that voids of a record or of an input file take out, in whatever month they count.
#[derive(Clone, Debug, Default)]
pub struct VoidedJobs {
    file_ids: HashSet<String, RandomState>,
    record_ids: HashSet<u128, RandomState>,
}

impl VoidedJobs {
    /// Those of a site.
    #[must_use]
    pub fn of_site(table: Option<&CorrectionTable>, site: &str) -> Self {
        let mut voided = Self::default();
        let rules = table.into_iter().flat_map(|table| table.of_site(site));
        for rule in rules.filter(|rule| rule.action == Action::Void && rule.month.is_none()) {
            match rule.filters.as_slice() {
                [("file_id", Some(file_id))] => {
                    voided.file_ids.insert(file_id.clone());
                }
                [("record_id", Some(record_id))] => {
                    voided.record_ids.extend(stated_identity(record_id));
                }
                _ => {}
            }
        }
        voided
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.file_ids.is_empty() && self.record_ids.is_empty()
    }

    /// Whether all jobs of an input file are.
    #[must_use]
    pub fn has_file(&self, file_id: &str) -> bool {
        self.file_ids.contains(file_id)
    }

    /// Whether a record of an input file is one of them.
    pub(super) fn contains(&self, file_id: &str, record_id: u128) -> bool {
        self.file_ids.contains(file_id) || self.record_ids.contains(&record_id)
    }
}
