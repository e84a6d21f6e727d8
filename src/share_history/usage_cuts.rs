//! The instants between which usage is added up: days, and the parts of days that halving steps need.
//!
//! In halving steps usage at the end of a day is halved at so many half-lives before that second. A half-life is whole days of
//! 86 400 seconds, and a local day may have an hour less or more: across such a day these instants are no midnights. They are
//! the same for all days that end at the same hour of UTC, so that most days are in one part, or in two.

use std::collections::BTreeSet;

use crate::fairshare::{UsageDecay, UsageRule};

/// The instants between which usage of a range of days is added up.
pub(super) struct UsageCuts {
    /// In order; the first second of every day, and of the day after the last, are among them.
    at_s: Vec<i64>,
}

impl UsageCuts {
    /// Those that a rule needs; `edges_s` are the first seconds of all days, and of the day after the last.
    pub(super) fn of(rule: &UsageRule, edges_s: Vec<i64>) -> Self {
        let UsageDecay::HalvingSteps(half_life) = rule.decay else {
            return Self { at_s: edges_s };
        };
        let half_life_s = half_life.seconds();
        let range = edges_s.first().copied().zip(edges_s.last().copied());
        let places: BTreeSet<i64> = edges_s.iter().map(|edge_s| edge_s.rem_euclid(half_life_s)).collect();
        let mut all: BTreeSet<i64> = edges_s.into_iter().collect();
        if let Some((first_s, last_s)) = range {
            for place in places {
                let mut at_s = first_s + (place - first_s).rem_euclid(half_life_s);
                while at_s < last_s {
                    all.insert(at_s);
                    at_s += half_life_s;
                }
            }
        }
        Self {
            at_s: all.into_iter().collect(),
        }
    }

    /// The instants, in order.
    pub(super) fn instants_s(&self) -> &[i64] {
        &self.at_s
    }

    /// How many parts of days end up to an instant that is one of them.
    pub(super) fn part_n(&self, until_s: i64) -> usize {
        self.at_s.partition_point(|at_s| *at_s < until_s)
    }
}
