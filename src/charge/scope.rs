//! Which jobs a policy is for, and what keeps the others out.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::facts::Facts;
use super::policy::Policy;
use crate::error::Result;
use crate::schema::batch::words_of;

/// Values of a column that are named to people, the commonest.
const NAMED: usize = 3;

/// What keeps a job out of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeptOut {
    /// A column of the scope, by its place.
    Column(usize),
    /// The condition.
    Condition,
}

/// A job out of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobKeptOut {
    /// The job, by its place.
    pub job: usize,
    /// What keeps it out.
    pub why: KeptOut,
}

/// The rows that the columns of a scope let in.
#[derive(Clone, Debug, Default)]
pub(super) struct Within {
    pub(super) rows: Vec<usize>,
    /// Those of them of which a column is unknown, in order.
    pub(super) unknown: Vec<usize>,
    /// The others, and what keeps them out.
    pub(super) kept_out: Vec<JobKeptOut>,
}

/// The rows that match the columns of the scope.
pub(super) fn within(policy: &Policy, facts: &Facts) -> Result<Within> {
    let mut rows: Vec<usize> = (0..facts.rows).collect();
    let (mut unknown, mut kept_out) = (Vec::new(), Vec::new());
    for (nth, (name, wanted)) in policy.scope.only.iter().enumerate() {
        let texts = facts.columns.get(name).map(words_of).transpose()?;
        rows.retain(|row| {
            let text = texts.and_then(|texts| texts.get(*row));
            let is_within = match text {
                Some(text) => wanted.iter().any(|wanted| wanted == text),
                None => facts.is_unknown_in_scope,
            };
            if is_within && text.is_none() {
                unknown.push(*row);
            }
            if !is_within {
                let why = KeptOut::Column(nth);
                kept_out.push(JobKeptOut { job: *row, why });
            }
            is_within
        });
    }
    unknown.sort_unstable();
    Ok(Within {
        rows,
        unknown,
        kept_out,
    })
}

/// Jobs that one value of a column keeps out of a scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScopeLeftOut {
    /// The column of the scope; `when` for its condition.
    pub column: String,
    /// Its value; `None` when it is unknown, and of the condition.
    pub value: Option<String>,
    /// Jobs.
    pub job_n: u64,
}

/// Counts jobs that are out of the scope of a policy, by what keeps them out.
#[derive(Clone, Debug, Default)]
pub struct OutOfScope(BTreeMap<KeptOut, BTreeMap<Option<String>, u64>>);

impl OutOfScope {
    /// Adds those of some priced jobs.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when a column of the scope is not text.
    pub fn add(&mut self, policy: &Policy, facts: &Facts, kept_out: &[JobKeptOut]) -> Result<()> {
        let columns = policy.scope.only.iter();
        let columns = columns.map(|(name, _)| facts.columns.get(name).map(words_of).transpose());
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let mut counted: HashMap<(KeptOut, Option<&str>), u64, ahash::RandomState> = HashMap::default();
        for JobKeptOut { job, why } in kept_out.iter().copied() {
            let texts = match why {
                KeptOut::Column(nth) => columns.get(nth).copied().flatten(),
                KeptOut::Condition => None,
            };
            let value = texts.and_then(|texts| texts.get(job));
            *counted.entry((why, value)).or_default() += 1;
        }
        for ((why, value), n) in counted {
            let counts = self.0.entry(why).or_default();
            *counts.entry(value.map(str::to_owned)).or_default() += n;
        }
        Ok(())
    }

    /// Adds others of the same policy.
    pub fn merge(&mut self, other: Self) {
        for (why, counts) in other.0 {
            let own = self.0.entry(why).or_default();
            for (value, n) in counts {
                *own.entry(value).or_default() += n;
            }
        }
    }

    /// How many jobs.
    #[must_use]
    pub fn job_n(&self) -> u64 {
        self.0.values().flat_map(BTreeMap::values).sum()
    }

    /// By column and value.
    #[must_use]
    pub fn rows(&self, policy: &Policy) -> Vec<ScopeLeftOut> {
        let rows = self.0.iter().flat_map(|(why, counts)| {
            counts.iter().map(|(value, n)| ScopeLeftOut {
                column: column(policy, *why).to_owned(),
                value: value.clone(),
                job_n: *n,
            })
        });
        rows.collect()
    }

    /// How many jobs are left out and why, for people; `None` when there are none.
    #[must_use]
    pub fn text(&self, policy: &Policy) -> Option<String> {
        let job_n = self.job_n();
        if job_n == 0 {
            return None;
        }
        let reasons = self.0.iter().map(|(why, counts)| {
            let n: u64 = counts.values().sum();
            let KeptOut::Column(nth) = why else {
                return format!("{n} by its condition");
            };
            let mut commonest: Vec<(&Option<String>, &u64)> = counts.iter().collect();
            commonest.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
            let mut values: Vec<String> = commonest
                .iter()
                .take(NAMED)
                .map(|(value, n)| format!("{} {n}", value.as_deref().unwrap_or("unknown")))
                .collect();
            if commonest.len() > NAMED {
                let rest: u64 = commonest.iter().skip(NAMED).map(|(_, n)| **n).sum();
                values.push(format!("others {rest}"));
            }
            let wanted = policy.scope.only.get(*nth).map_or(&[][..], |(_, wanted)| wanted);
            format!(
                "{n} by {} (jobs: {}; the policy is for {})",
                column(policy, *why),
                values.join(", "),
                wanted.join(", ")
            )
        });
        let reasons: Vec<String> = reasons.collect();
        Some(format!(
            "{job_n} {} out of its scope: {}",
            if job_n == 1 { "job is" } else { "jobs are" },
            reasons.join("; ")
        ))
    }
}

fn column(policy: &Policy, why: KeptOut) -> &str {
    match why {
        KeptOut::Column(nth) => policy.scope.only.get(nth).map_or("", |(name, _)| name.as_str()),
        KeptOut::Condition => "when",
    }
}
