//! Under what jobs were charged, as people name it.

use std::collections::BTreeSet;
use std::fmt;

use crate::reference::currency::is_currency;

/// What the ids of policies by shares of nodes begin with.
const NODE_SHARE: &str = "node-share/";

/// Whether a policy charges shares of nodes, by its id.
#[must_use]
pub fn is_of_nodes(policy: &str) -> bool {
    policy.starts_with(NODE_SHARE)
}

/// Under what jobs were charged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BalanceTariff {
    /// What is drawn on.
    pub pool: String,
    /// Id of the policy, whatever its version.
    pub policy: String,
    /// Options chosen, as name=value; empty when it has none.
    pub options: String,
    /// What a charge is counted in.
    pub unit: String,
}

impl BalanceTariff {
    /// What people call it: the policy with what was chosen; of shares of nodes the canonical unit and the scheme.
    #[must_use]
    pub fn title(&self) -> String {
        let chosen: Vec<&str> = self.options.split(' ').filter(|option| !option.is_empty()).collect();
        let of_nodes = self.policy.strip_prefix(NODE_SHARE);
        if let Some((scheme, named)) = of_nodes.zip(self.options.strip_prefix("unit=")) {
            // The thresholds follow the name.
            let name: Vec<&str> = named.split(' ').take_while(|word| !word.contains('=')).collect();
            return format!("{}, {scheme}", name.join(" "));
        }
        if chosen.is_empty() {
            return self.policy.clone();
        }
        format!("{} ({})", self.policy, chosen.join(", "))
    }

    /// Its display name among others: with the chosen options only where they are needed to distinguish tariffs.
    pub fn title_among<'a>(&self, others: impl IntoIterator<Item = &'a Self>) -> String {
        let mut same = others.into_iter().filter(|other| other.policy == self.policy);
        if self.is_of_nodes() || same.any(|other| other.options != self.options) {
            return self.title();
        }
        self.policy.clone()
    }

    /// Whether it charges shares of nodes.
    #[must_use]
    pub fn is_of_nodes(&self) -> bool {
        is_of_nodes(&self.policy)
    }

    /// The unit people read charges in, and how many of the lake's it has: shares of nodes are counted in seconds, those of
    /// memory in byte seconds. What policies charge in has the name they give it.
    #[must_use]
    pub fn unit_for_people(&self) -> (&str, i128) {
        const HOUR_S: i128 = 3600;
        match self.unit.as_str() {
            "core s" => ("core h", HOUR_S),
            "gpu s" => ("gpu h", HOUR_S),
            "byte s" => ("GiB h", HOUR_S << 30),
            unit => (unit, 1),
        }
    }

    /// What people call it, with the pool: one policy may have several.
    #[must_use]
    pub fn title_with_pool(&self) -> String {
        format!("{} (pool {})", self.title(), self.pool)
    }

    /// Whether people mean it by a word: the policy, the policy with its options, or what people call it; and each with its
    /// pool.
    #[must_use]
    pub fn is_called(&self, word: &str) -> bool {
        let pool = format!(" (pool {})", self.pool);
        let word = word.strip_suffix(&pool).unwrap_or(word);
        self.policy == word || self.to_string() == word || self.title() == word
    }
}

impl fmt::Display for BalanceTariff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.policy)?;
        if self.options.is_empty() {
            return Ok(());
        }
        write!(f, "[{}]", self.options)
    }
}

/// The one of some tariffs that people mean by a word.
///
/// # Errors
/// A sentence for people when it is none of them, or may be several.
pub fn called<'t>(word: &str, all: &BTreeSet<&'t BalanceTariff>) -> Result<&'t BalanceTariff, String> {
    let names = |tariffs: &[&BalanceTariff]| {
        tariffs
            .iter()
            .map(|tariff| tariff.title_with_pool())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let called: Vec<&BalanceTariff> = all.iter().copied().filter(|tariff| tariff.is_called(word)).collect();
    match called.as_slice() {
        [only] => Ok(*only),
        [] => {
            let all: Vec<&BalanceTariff> = all.iter().copied().collect();
            Err(format!("nothing is charged under \"{word}\"; there is {}", names(&all)))
        }
        several => Err(format!("\"{word}\" may be any of {}", names(several))),
    }
}

/// Codes of currencies are written in capitals and not.
#[must_use]
pub fn is_same_unit(a: &str, b: &str) -> bool {
    a == b || (a.eq_ignore_ascii_case(b) && is_currency(&a.to_uppercase()))
}
