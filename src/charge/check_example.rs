//! Holds a policy against the examples it carries.

use super::amount::{CHARGE_SCALE, RoundingMode, round};
use super::example::{Example, Expected, Printing};
use super::facts::Facts;
use super::options::Options;
use super::policy::{CHARGE, Policy};
use super::price::{JobPriced, price};
use super::show;
use crate::error::Result;
use crate::expr::SCALE;
use crate::reference::decimal::text;

/// What came of an example.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The example's name.
    pub name: String,
    /// Its line.
    pub line: usize,
    /// What it expects.
    pub expected: String,
    /// What the formula gives.
    pub computed: String,
    /// What the centre prints.
    pub printed: Option<String>,
    /// The named value that is; the charge when absent.
    pub printed_of: Option<String>,
    /// How that relates to the right number.
    pub printing: Printing,
    /// Why it fails, a line each; nothing when it holds.
    pub failures: Vec<String>,
}

impl Verdict {
    /// What the centre prints, of what, and how that relates to the right number, for people; empty when it prints nothing.
    #[must_use]
    pub fn print(&self) -> String {
        let Some(printed) = &self.printed else {
            return String::new();
        };
        let of = self
            .printed_of
            .as_ref()
            .map_or_else(String::new, |name| format!("{name} "));
        let how = match self.printing {
            Printing::Rounded => String::new(),
            printing => format!(" ({})", printing.as_str()),
        };
        format!("{of}{printed}{how}")
    }
}

impl Policy {
    /// Runs every example.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when a number does not fit.
    pub fn test(&self) -> Result<Vec<Verdict>> {
        self.examples.iter().map(|example| verdict(self, example)).collect()
    }
}

/// The charge of an example with every value on the way.
///
/// # Errors
/// As [`price`].
pub fn priced(policy: &Policy, example: &Example) -> Result<(Options, JobPriced)> {
    let options = policy.choose(&example.options).map_err(crate::error::Error::config)?;
    let facts = Facts::of_example(&example.inputs, &example.gpus)?;
    let priced = price(policy, &options, &facts, true)?;
    Ok((options, priced))
}

fn verdict(policy: &Policy, example: &Example) -> Result<Verdict> {
    let (_, priced) = priced(policy, example)?;
    let is_in_scope = priced.is_in_scope.first().copied().unwrap_or(false);
    let charge = priced.charge.first().copied().flatten();
    let computed = match (is_in_scope, charge) {
        (false, _) => "not charged".to_owned(),
        (true, None) => "unknown".to_owned(),
        (true, Some(charge)) => text(charge, CHARGE_SCALE),
    };
    let mut failures = Vec::new();
    let is_met = match (example.expected, charge) {
        (Expected::NotCharged, _) => !is_in_scope,
        (Expected::Unknown, charge) => is_in_scope && charge.is_none(),
        (Expected::Charge { value, places }, Some(charge)) => same(charge, CHARGE_SCALE, value, places),
        (Expected::Charge { .. }, None) => false,
    };
    if !is_met {
        failures.push(format!(
            "expected {}, but the policy gives {computed}",
            example.expected
        ));
        failures.extend(show::trace(policy, &priced, 0));
    }
    for (name, value, places) in &example.shows {
        let given = priced.value(0, name);
        let number = given.as_deref().and_then(crate::expr::decimal::parse);
        if !number.is_some_and(|number| same(number, SCALE, *value, *places)) {
            let given = given.unwrap_or_else(|| "unknown".to_owned());
            failures.push(format!("{name} should be {}, but is {given}", text(*value, SCALE)));
        }
    }
    if let Some(why) = misprint(example, &priced) {
        failures.push(why);
    }
    Ok(Verdict {
        name: example.name.clone(),
        line: example.line,
        expected: example.expected.to_string(),
        computed,
        printed: example.printed.as_ref().map(|(printed, ..)| printed.clone()),
        printed_of: example.printed_of.clone(),
        printing: example.printing,
        failures,
    })
}

/// Why the centre does not print what the example claims it prints; nothing when it does.
fn misprint(example: &Example, priced: &JobPriced) -> Option<String> {
    let (printed, value, places) = example.printed.as_ref()?;
    let name = example.printed_of.as_deref().unwrap_or(CHARGE);
    let (right, scale) = match &example.printed_of {
        Some(name) => {
            let known = priced.value(0, name);
            (known.as_deref().and_then(crate::expr::decimal::parse), SCALE)
        }
        None => (priced.charge.first().copied().flatten(), CHARGE_SCALE),
    };
    let Some(right) = right else {
        return Some(format!("the centre prints {printed}, but the {name} is unknown"));
    };
    let places = (*places).min(scale);
    let at = |mode: RoundingMode| round(right, scale, places, mode);
    let value = round(*value, SCALE, places, RoundingMode::Down);
    let is_rounded = at(RoundingMode::HalfUp) == value || at(RoundingMode::HalfEven) == value;
    let is_truncated = at(RoundingMode::Down) == value;
    let is_as_stated = match example.printing {
        Printing::Rounded => is_rounded,
        Printing::Truncated => is_truncated && !is_rounded,
        Printing::Wrong => !is_rounded && !is_truncated,
    };
    let stated = example.printing.as_str();
    let right = text(right, scale);
    (!is_as_stated)
        .then(|| format!("the centre prints {printed}, declared as {stated} of the {name} {right}, which it is not"))
}

/// Whether a value, rounded to the places another is written with, is that other.
fn same(value: i128, scale: u32, other: i128, places: u32) -> bool {
    let places = places.min(scale);
    let other_here = round(other, SCALE, places, RoundingMode::Down);
    round(value, scale, places, RoundingMode::HalfEven) == other_here
        || round(value, scale, places, RoundingMode::HalfUp) == other_here
}
