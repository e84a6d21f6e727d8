//! A policy with its options chosen: what a run charges by.

use std::fmt::Write as _;

use super::options::Options;
use super::policy::Policy;
use crate::diagnostics::Problems;
use crate::error::{Error, Result};

/// A policy under chosen options.
#[derive(Clone, Debug)]
pub struct Tariff {
    /// The policy.
    pub policy: Policy,
    /// Every option with its value.
    pub options: Options,
    /// The options as one text, `name=value` in the order of the names; empty when there are none.
    pub chosen: String,
}

impl Tariff {
    /// The policy with these options; what is not chosen is at its default.
    ///
    /// # Errors
    /// A sentence when there is no such option, or no such value of it.
    pub fn new(policy: Policy, chosen: &Options) -> std::result::Result<Self, String> {
        let options = policy.choose(chosen)?;
        let mut text = String::new();
        for (name, value) in &options {
            let gap = if text.is_empty() { "" } else { " " };
            // Writing to a string cannot fail.
            let _ = write!(text, "{gap}{name}={value}");
        }
        Ok(Self {
            policy,
            options,
            chosen: text,
        })
    }

    /// A tariff as a lake keeps it: the text of the policy, and the options as one text.
    ///
    /// # Errors
    /// [`crate::error::Kind::Config`] when this version of the program does not understand the policy.
    pub fn restored(file: &str, text: &str, chosen: &str) -> Result<Self> {
        let mut problems = Problems::default();
        let policy = Policy::read(file, text, &mut problems);
        problems.finish()?;
        let policy =
            policy.ok_or_else(|| Error::internal("a policy that cannot be read was not reported as a mistake"))?;
        let pairs = chosen.split(' ').filter_map(|pair| pair.split_once('='));
        let options = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Self::new(policy, &options).map_err(Error::config)
    }

    /// What distinguishes it from other tariffs, and orders them.
    #[must_use]
    pub fn key(&self) -> (&str, &str, &str) {
        (&self.policy.id, &self.policy.version, &self.chosen)
    }
}
