//! The accounting reference: what a second in the batch system's log is taken to be worth.
//!
//! A node of power `p` that multiplies its times by `m` before it records them records `m` seconds for each second it worked. With
//! a reference `R` these are accounted as `m x R`, and they were worth `p`. Accounting is right for every node when
//! `p / m` is `R`: when the multiplier is the scaling factor `p / R`. Then `R` may be any number. Where times are not
//! scaled, no reference is right for two types of nodes at once: the mean reports too much for the slower ones, and the
//! slowest too little for all others.

use std::cmp::Ordering;

use super::site::{SitePower, in_hs06, in_si00, per_cpu_si00};
use crate::reference::benchmark::Benchmark;
use crate::reference::decimal::ten_thousandths;
use crate::reference::node_type::NodeType;
use crate::reference::ratio::Ratio;

/// Which reference a site takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReferenceChoice {
    /// The one that over-reports nothing: the lowest power of a node per recorded second. Where the
    /// multipliers are right, all nodes agree on it.
    #[default]
    Slowest,
    /// The mean power of a logical CPU.
    Mean,
    /// A notional one.
    Si00(Ratio),
}

impl ReferenceChoice {
    /// `slowest`, `mean`, or a number with its unit such as `1000si00` or `5.32hs06`.
    ///
    /// # Errors
    /// A sentence for people.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "slowest" => return Ok(Self::Slowest),
            "mean" => return Ok(Self::Mean),
            _ => {}
        }
        let unit_at = text
            .find(|letter: char| letter.is_ascii_alphabetic())
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(unit_at);
        let wrong = || format!("\"{text}\" is not a reference such as slowest, mean, 1330si00 or 5.32hs06");
        let value = Ratio::from_e4(ten_thousandths(number.trim()).map_err(|_| wrong())?);
        match Benchmark::parse(unit).ok_or_else(wrong)? {
            Benchmark::Si00 => Ok(Self::Si00(value)),
            // HEPscore23 counts as HEPSPEC06 here, one to one.
            Benchmark::Hs06 | Benchmark::Hs23 => Ok(Self::Si00(in_si00(value))),
        }
    }

    /// What it comes to for nodes, in SI00; `None` when there are none.
    #[must_use]
    pub fn of(self, types: &[&NodeType]) -> Option<Reference> {
        let si00 = match self {
            Self::Slowest => types.iter().filter_map(|one| apparent_si00(one)).min()?,
            Self::Mean => SitePower::of(types).mean_si00()?,
            Self::Si00(value) => value,
        };
        Some(Reference { si00 })
    }
}

/// An accounting reference (`CPUScalingReferenceSI00`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// In SI00 for each second accounted.
    pub si00: Ratio,
}

impl Reference {
    /// The same in HEPSPEC06.
    #[must_use]
    pub fn hs06(self) -> Ratio {
        in_hs06(self.si00)
    }

    /// What nodes of a type must multiply their times by (`$cpumult`, `$wallmult`) to be equivalent to it.
    #[must_use]
    pub fn scaling_factor(self, one: &NodeType) -> Option<Ratio> {
        per_cpu_si00(one)?.over(self.si00)
    }

    /// SI00 accounted for one second a node of this type worked: multiplier times reference.
    #[must_use]
    pub fn accounted_si00(self, one: &NodeType) -> Ratio {
        multiplier(one).times(self.si00)
    }

    /// Accounted beyond what was delivered, as a part of what was delivered: above zero is over-reported.
    #[must_use]
    pub fn misreported(self, one: &NodeType) -> Option<Ratio> {
        let delivered = per_cpu_si00(one)?;
        self.accounted_si00(one).minus(delivered).over(delivered)
    }
}

/// The factor by which a node multiplies its CPU time; 1 when none is set.
#[must_use]
pub fn multiplier(one: &NodeType) -> Ratio {
    Ratio::from_e4(one.cpumult_e4.unwrap_or(10_000))
}

/// The power of a node per recorded second.
fn apparent_si00(one: &NodeType) -> Option<Ratio> {
    per_cpu_si00(one)?.over(multiplier(one))
}

/// What is wrong with a reference for these nodes, in sentences.
#[must_use]
pub fn warnings(choice: ReferenceChoice, reference: Reference, types: &[&NodeType]) -> Vec<String> {
    let mut stated = Vec::new();
    let name = match choice {
        ReferenceChoice::Slowest => "the slowest node type as reference",
        ReferenceChoice::Mean => "the mean as reference",
        ReferenceChoice::Si00(_) => "this reference",
    };
    for one in types {
        if one.cpumult_e4 != one.wallmult_e4 {
            stated.push(format!(
                "{}: cpumult and wallmult differ: CPU and wall time are not on one scale, and no efficiency is right",
                one.name
            ));
        }
        let Some(beyond) = reference.misreported(one) else {
            continue;
        };
        let percent = beyond.times(Ratio::from_e4(1_000_000)).text(1);
        let percent = percent.trim_start_matches('-');
        let what = match beyond.cmp(&Ratio::from_e4(0)) {
            Ordering::Greater => "over-reports",
            Ordering::Less => "under-reports",
            Ordering::Equal => continue,
        };
        let needed = reference
            .scaling_factor(one)
            .map_or_else(String::new, |factor| factor.text(4));
        let has = multiplier(one).text(4);
        stated.push(format!(
            "{name} {what} jobs on {} by {percent} %: its nodes scale by {has} and would have to by {needed}",
            one.name
        ));
    }
    stated
}
