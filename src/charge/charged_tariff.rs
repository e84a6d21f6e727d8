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

    /// The same with the unit: versions of one policy may charge in several.
    fn title_with_unit(&self) -> String {
        format!("{} (pool {}, unit {})", self.title(), self.pool, self.unit)
    }

    /// Whether both are one policy, of which versions charge in different units.
    #[must_use]
    pub fn differs_in_unit(&self, other: &Self) -> bool {
        (&self.pool, &self.policy, &self.options) == (&other.pool, &other.policy, &other.options)
            && self.unit != other.unit
    }

    /// Whether people mean it by a word: the policy, the policy with its options, or what people call it; and each with its
    /// pool, or its pool and its unit.
    #[must_use]
    pub fn is_called(&self, word: &str) -> bool {
        let pool = format!(" (pool {})", self.pool);
        let unit = format!(" (pool {}, unit {})", self.pool, self.unit);
        let word = word
            .strip_suffix(&pool)
            .or_else(|| word.strip_suffix(&unit))
            .unwrap_or(word);
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

/// Names of tariffs for people, each of which means that one alone among them: with the unit only where it is needed.
pub fn names<'t>(tariffs: impl IntoIterator<Item = &'t BalanceTariff>) -> String {
    let all: Vec<&BalanceTariff> = tariffs.into_iter().collect();
    let name = |tariff: &&BalanceTariff| {
        if all.iter().any(|other| other.differs_in_unit(tariff)) {
            tariff.title_with_unit()
        } else {
            tariff.title_with_pool()
        }
    };
    all.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// The tariffs that people may mean by a word: of several, those that fit what else they state, where there are any.
pub fn meant<'t>(
    word: &str,
    all: impl IntoIterator<Item = &'t BalanceTariff>,
    fits: impl Fn(&BalanceTariff) -> bool,
) -> Vec<&'t BalanceTariff> {
    let mut called: Vec<&BalanceTariff> = all.into_iter().filter(|tariff| tariff.is_called(word)).collect();
    if called.iter().any(|tariff| fits(tariff)) {
        called.retain(|tariff| fits(tariff));
    }
    called
}

/// The one of some tariffs that people mean by a word; likewise.
///
/// # Errors
/// A sentence for people when it is none of them, or may be several.
pub fn called<'t>(
    word: &str,
    all: &BTreeSet<&'t BalanceTariff>,
    fits: impl Fn(&BalanceTariff) -> bool,
) -> Result<&'t BalanceTariff, String> {
    match meant(word, all.iter().copied(), fits).as_slice() {
        [only] => Ok(*only),
        [] if all.is_empty() => Err(format!("nothing is charged under \"{word}\"")),
        [] => Err(format!(
            "nothing is charged under \"{word}\"; there is {}",
            names(all.iter().copied())
        )),
        several => Err(format!("\"{word}\" may be any of {}", names(several.iter().copied()))),
    }
}

/// Codes of currencies are written in capitals and not.
#[must_use]
pub fn is_same_unit(a: &str, b: &str) -> bool {
    a == b || (a.eq_ignore_ascii_case(b) && is_currency(&a.to_uppercase()))
}
