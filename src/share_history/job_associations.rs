//! Which association each job counts for.

use std::collections::HashMap;

use super::jobs::CountedJob;
use super::listing::DatedTrees;
use crate::fairshare::AssociationKey;

/// Associations of jobs, each by a number in the order of their first job.
#[derive(Default)]
pub(super) struct JobAssociations {
    numbers: HashMap<String, usize, ahash::RandomState>,
    pub(super) keys: Vec<AssociationKey>,
    name: String,
}

impl JobAssociations {
    /// The number of the association a job counts for: the one of the tree in force when it began, else the user's in the
    /// account.
    pub(super) fn number(&mut self, job: &CountedJob<'_>, trees: &DatedTrees) -> usize {
        // Fallback: a job without a partition has no association of one.
        let partition = job.partition.unwrap_or_default();
        // Fallback: no user is called by the empty name.
        let user = job.user.unwrap_or_default();
        let tree = trees.at(job.segment.span.start_s * 1000);
        let listed = tree.filter(|_| job.user.is_some()).and_then(|tree| {
            let id = tree.of_job(job.account, user, partition)?;
            tree.get(id)
        });
        let of_partition = listed.and_then(|association| association.key.partition.as_deref());
        self.name.clear();
        // Fallback: an association of any partition has none in its name.
        for part in [job.account, "\n", user, "\n", of_partition.unwrap_or_default()] {
            self.name.push_str(part);
        }
        if let Some(number) = self.numbers.get(&self.name) {
            return *number;
        }
        let number = self.keys.len();
        self.keys.push(AssociationKey {
            account: job.account.to_owned(),
            user: job.user.map(str::to_owned),
            partition: of_partition.map(str::to_owned),
        });
        self.numbers.insert(self.name.clone(), number);
        number
    }
}
