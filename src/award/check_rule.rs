//! Holds a period rule against the examples it carries.

use std::collections::BTreeMap;

use super::apply::{PeriodState, RuleAward, RuleGrant, RuleOutcome, apply};
use super::rule::{PeriodRule, RuleExample};
use super::rule_use::RuleUse;
use crate::charge::amount::{RoundingMode, round};
use crate::error::Result;
use crate::reference::decimal::text;
use crate::reference::node_type::day_text;
use crate::time::Day;

/// Digits after the point of amounts.
const DIGITS: u32 = 9;

/// What came of an example of a rule.
#[derive(Clone, Debug)]
pub struct RuleVerdict {
    /// The example's name.
    pub name: String,
    /// Its line.
    pub line: usize,
    /// What it expects, by the name of the value.
    pub expected: String,
    /// What the rule gives of that.
    pub computed: String,
    /// What the centre prints, and of which value.
    pub printed: Option<String>,
    /// Why it fails, a line each; nothing when it holds.
    pub failures: Vec<String>,
}

impl PeriodRule {
    /// Runs every example.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when a number does not fit.
    pub fn test(&self) -> Result<Vec<RuleVerdict>> {
        self.examples.iter().map(|example| self.verdict(example)).collect()
    }

    fn verdict(&self, example: &RuleExample) -> Result<RuleVerdict> {
        let award = RuleAward {
            from: example.from,
            until: example.until,
            grants: vec![RuleGrant {
                day: example.from,
                amount_e9: example.amount_e9,
            }],
        };
        let mut used: BTreeMap<Day, i128> = BTreeMap::new();
        for of in &example.used {
            *used.entry(of.day).or_default() += of.used_e9;
        }
        let outcome = apply(self, &award, &RuleUse::in_units(&used), example.on)?;
        let mut failures = Vec::new();
        let (mut expected, mut computed) = (Vec::new(), Vec::new());
        for value in &example.expected {
            let given = named(&outcome, &value.name);
            let shown = given.map_or_else(|| "unknown".to_owned(), |given| text(given, DIGITS));
            expected.push(format!("{} {}", value.name, text(value.value_e9, DIGITS)));
            computed.push(shown.clone());
            let is_met = given.is_some_and(|given| {
                round(given, DIGITS, value.places, RoundingMode::HalfUp)
                    == round(value.value_e9, DIGITS, value.places, RoundingMode::Down)
            });
            if !is_met {
                failures.push(format!(
                    "{} should be {}, but is {shown}",
                    value.name,
                    text(value.value_e9, DIGITS)
                ));
            }
        }
        if let Some(printed) = &example.printed
            && named(&outcome, &printed.of) != Some(printed.value_e9)
        {
            let given = named(&outcome, &printed.of).map_or_else(|| "unknown".to_owned(), |given| text(given, DIGITS));
            failures.push(format!(
                "the centre prints {}, but {} is {given}",
                printed.text, printed.of
            ));
        }
        if !failures.is_empty() {
            let steps = outcome.steps.iter();
            failures.extend(steps.map(|step| format!("{}: {}", day_text(Some(step.day), ""), step.text)));
        }
        Ok(RuleVerdict {
            name: example.name.clone(),
            line: example.line,
            expected: expected.join(", "),
            computed: computed.join(", "),
            printed: example
                .printed
                .as_ref()
                .map(|printed| format!("{} {}", printed.of, printed.text)),
            failures,
        })
    }
}

/// A value of an outcome by its name: of the period of the day, of a numbered one, or of all.
fn named(outcome: &RuleOutcome, name: &str) -> Option<i128> {
    match name {
        "total_granted" => return Some(outcome.sum(|period| period.granted_e9)),
        "total_lost" => return Some(outcome.sum(|period| period.lost_e9)),
        "total_reduced" => return Some(outcome.sum(|period| period.reduced_e9)),
        _ => {}
    }
    let (at, value) = match name.split_once('.') {
        Some((period, value)) => (period.parse::<usize>().ok()?.checked_sub(1)?, value),
        None => (outcome.current?, name),
    };
    let period: &PeriodState = outcome.periods.get(at)?;
    Some(match value {
        "granted" => period.granted_e9,
        "carried_in" => period.carried_in_e9,
        "used_ahead" => period.used_ahead_e9,
        "reduced" => period.reduced_e9,
        "available" => period.available_e9,
        "used" => period.used_e9,
        "over" => period.over_e9,
        "borrowed" => period.borrowed_e9,
        "carried_out" => period.carried_out_e9,
        "lost" => period.lost_e9,
        "remaining" => period.remaining_e9,
        "formula_carry" => *outcome.formula_carry_e9.get(at)?,
        _ => return None,
    })
}
