//! Usage of all accounts and users, from jobs, signed additions and idle reservations.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;

use super::jobs::{SreportJobs, cut_suspended};
use super::reserved::{Reserved, Sitting};
use super::used::{TRES, Used};
use crate::absent;
use crate::error::Result;
use crate::reference::correction::Correction;
use crate::report::group_index::{KnownBy, Owned};
use crate::report::lake::on_all_processors;
use crate::summarise::correction_effect::added_view;

/// Whose usage it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SreportWho {
    /// Cluster; empty when unknown.
    pub(super) cluster: String,
    /// Account; empty when unknown.
    pub(super) account: String,
    /// User; `None` for usage of the account itself, and where nothing names one.
    pub(super) user: Option<String>,
}

/// What everybody used.
#[derive(Clone, Debug, Default)]
pub(super) struct Gathered {
    pub(super) used: BTreeMap<SreportWho, Used>,
    /// What people have to know of it.
    pub(super) notes: Vec<String>,
}

impl Gathered {
    pub(super) fn read(jobs: &SreportJobs<'_>, reserved: &Reserved) -> Result<Self> {
        let parts = on_all_processors(&jobs.pieces()?, |piece| {
            let mut sums: HashMap<Owned<3, 0>, Used, ahash::RandomState> = HashMap::default();
            let mut sitting = Sitting::default();
            let cut_suspended_n = jobs.each(piece, |part| {
                let key = KnownBy {
                    words: [part.cluster, part.account, part.user],
                    numbers: [],
                };
                sums.entry_ref(&key).or_default().add(&part.used(part.span));
                reserved.sit(part, &mut sitting);
            })?;
            Ok((sums, sitting, cut_suspended_n))
        })?;
        let mut gathered = Self::default();
        let mut sitting = Sitting::default();
        let mut cut_suspended_n = 0;
        for (sums, more, more_n) in parts {
            sitting.absorb(more);
            cut_suspended_n += more_n;
            for (Owned { words, .. }, used) in sums {
                let [cluster, account, user] = words;
                let who = SreportWho {
                    cluster,
                    account,
                    user: Some(user).filter(|user| !user.is_empty()),
                };
                gathered.add(who, &used);
            }
        }
        gathered.note_unknown();
        gathered.notes.extend(cut_suspended(cut_suspended_n));
        gathered.add_signed(jobs);
        let (idle, notes) = reserved.idle(&sitting);
        for (who, used) in idle {
            gathered.add(who, &used);
        }
        gathered.notes.extend(notes);
        Ok(gathered)
    }

    fn add(&mut self, who: SreportWho, used: &Used) {
        self.used.entry(who).or_default().add(used);
    }

    /// Notes the number of jobs that are missing in sums with other jobs of their account.
    fn note_unknown(&mut self) {
        let mut accounts: BTreeMap<(&str, &str), Used> = BTreeMap::new();
        for (who, used) in &self.used {
            accounts.entry((&who.cluster, &who.account)).or_default().add(used);
        }
        let mut lacking: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for ((cluster, _), used) in &accounts {
            for (tres, job_n) in used.lacking() {
                *lacking.entry((cluster, tres)).or_default() += job_n;
            }
        }
        let notes = lacking.into_iter().map(|((cluster, tres), job_n)| {
            format!("cluster {cluster:?}: {job_n} jobs whose {tres} is unknown are not in its lines")
        });
        let notes: Vec<String> = notes.collect();
        self.notes.extend(notes);
    }

    /// Adds what signed corrections add: they name no user and no times, only a month.
    fn add_signed(&mut self, jobs: &SreportJobs<'_>) {
        for Addition { rule, who, used } in additions(jobs) {
            let Some(used) = used else {
                self.notes.push(cut(rule));
                continue;
            };
            let silent: Vec<&str> = TRES.into_iter().filter(|name| used.named(name).is_none()).collect();
            if !silent.is_empty() {
                self.notes.push(format!(
                    "correction {} adds usage and does not state its {}: those lines do not contain it",
                    rule.id,
                    silent.join(", ")
                ));
            }
            self.add(who, &used);
        }
    }

    /// The models of GPUs of each cluster.
    pub(super) fn models(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut models: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (who, used) in &self.used {
            models.entry(&who.cluster).or_default().extend(used.models());
        }
        models
    }
}

/// A signed addition to the selection.
pub(super) struct Addition<'a> {
    pub(super) rule: &'a Correction,
    pub(super) who: SreportWho,
    /// `None` when the period holds only a part of its month.
    pub(super) used: Option<Used>,
}

/// The note about an addition that cannot be cut.
pub(super) fn cut(rule: &Correction) -> String {
    let month = rule.month.map_or_else(String::new, |month| month.to_string());
    format!(
        "correction {} adds to {month} as a whole, of which the period holds a part: it is left out",
        rule.id
    )
}

/// The signed additions to a selection and period.
pub(super) fn additions<'a>(jobs: &'a SreportJobs<'_>) -> Vec<Addition<'a>> {
    let of = |rule: &Correction, name: &str| absent::text(rule.filter(name).flatten()).to_owned();
    let mut found = Vec::new();
    for (site, month, rule) in jobs.corrections.additions() {
        let is_asked = added_view(rule) == "batch"
            && jobs.selection.has_site(site)
            && jobs.selection.has_vo(rule.filter("vo").flatten())
            && jobs.period.touches(month, &jobs.zone);
        if !is_asked {
            continue;
        }
        let seconds = |name: &str| rule.adds(name).map(i128::from);
        let memory = seconds("wall_s")
            .zip(rule.adds("alloc_memory_byte"))
            .map(|(wall_s, byte)| wall_s * i128::from(byte >> 20));
        let amounts = [
            seconds("alloc_core_s"),
            memory,
            seconds("alloc_node_s"),
            None,
            seconds("alloc_gpu_s"),
        ];
        let mut used = Used::default();
        for (place, amount) in amounts.into_iter().enumerate() {
            used.add_at(place, amount);
        }
        if let Some((model, seconds)) = rule.gpu_model.as_deref().zip(seconds("alloc_gpu_s")) {
            used.add_model(model, seconds);
        }
        let who = SreportWho {
            cluster: of(rule, "cluster"),
            account: of(rule, "account"),
            user: None,
        };
        let used = jobs.period.holds(month, &jobs.zone).then_some(used);
        found.push(Addition { rule, who, used });
    }
    found
}
