//! Awards in the files of programs that show them to users.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::awards::AwardState;
use crate::error::{Error, Kind, Result};
use crate::reference::decimal;
use crate::reference::node_type::day_text;
use crate::time::Day;

/// Billionths of one.
const ONE_E9: i128 = 1_000_000_000;
/// Digits after the point of amounts.
const DIGITS: u32 = 9;

/// What a balance file of Open `OnDemand` states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BalanceValue {
    /// What is left, in whole units.
    Remaining,
    /// The days it lasts at the present rate.
    DaysLeft,
}

fn quoted(text: &str) -> Result<String> {
    serde_json::to_string(text).map_err(|why| Error::internal("an award cannot be written").because(why))
}

/// The balance file of Open `OnDemand`, version 1, of one unit. `OnDemand` reads the leading whole number of a value, so
/// whole numbers are written: rounded down, also below zero, so that nobody sees more than there is. An award lists the
/// users its table names, else those who used it. What its period rule took away is not left. A user with a part of it has
/// one balance, the smaller of both. Awards without an amount that is known, and without days at the present rate, are left
/// out.
///
/// # Errors
/// [`Kind::Usage`] when the awards are of several units: a file has one.
pub fn ondemand(states: &[AwardState<'_>], value: BalanceValue, now_s: i64) -> Result<String> {
    let own = states.iter().filter(|state| state.remaining_e9().is_some());
    let units: BTreeSet<&str> = own.clone().map(|state| state.measure.unit.as_str()).collect();
    let unit = match (value, units.len()) {
        (BalanceValue::DaysLeft, _) => "days".to_owned(),
        (BalanceValue::Remaining, 0 | 1) => units.first().map_or_else(String::new, |unit| unit.replace('_', " ")),
        (BalanceValue::Remaining, _) => {
            let units: Vec<&str> = units.into_iter().collect();
            let message = format!(
                "a file of balances has one unit, and these awards have {}: select one by --unit",
                units.join(", ")
            );
            return Err(Error::new(Kind::Usage, message));
        }
    };
    let value_of = |state: &AwardState<'_>| match value {
        BalanceValue::Remaining => state.remaining_e9().map(|left| {
            // Fallback: without a period rule nothing is lost.
            let lost_e9 = state.lost_e9().unwrap_or_default();
            (left - lost_e9).div_euclid(ONE_E9)
        }),
        BalanceValue::DaysLeft => state.days_left,
    };
    let mut entries = Vec::new();
    for state in own {
        let parts = states.iter().filter(|part| part.is_part_of(state));
        let parted: BTreeSet<&str> = parts
            .filter(|part| value_of(part).is_some())
            .filter_map(|part| part.award.user.as_deref())
            .collect();
        let Some(value) = value_of(state) else { continue };
        let whole = states.iter().find(|whole| state.is_part_of(whole));
        let value = whole.and_then(value_of).map_or(value, |whole| value.min(whole));
        for user in users(state).difference(&parted) {
            entries.push(format!(
                "    {{\"user\": {}, \"project\": {}, \"value\": {value}}}",
                quoted(user)?,
                quoted(state.award.title())?
            ));
        }
    }
    Ok(format!(
        "{{\n  \"version\": 1,\n  \"timestamp\": {now_s},\n  \"config\": {{\"unit\": {}, \"project_type\": \"project\"}},\n  \
         \"balances\": [\n{}\n  ]\n}}\n",
        quoted(&unit)?,
        entries.join(",\n")
    ))
}

/// Who sees an award.
fn users<'a>(state: &'a AwardState<'_>) -> BTreeSet<&'a str> {
    let award = state.award;
    if let Some(user) = &award.user {
        return BTreeSet::from([user.as_str()]);
    }
    if !award.users.is_empty() {
        return award.users.iter().map(String::as_str).collect();
    }
    state.rows.iter().filter_map(|row| row.submitter.as_deref()).collect()
}

/// A script for `ColdFront` (`coldfront shell < usage.py`): sets the usage of allocation attributes, and finds each
/// allocation by its `slurm_account_name`. An account that `ColdFront` does not know, or knows twice, is reported and left.
/// Of awards of several levels those of accounts alone are set, for `ColdFront` has no parts of users.
///
/// # Errors
/// [`Kind::Usage`] when the awards are of several units: an attribute has one; [`Kind::Internal`] when a name cannot be
/// written.
pub fn coldfront_script(states: &[AwardState<'_>], attribute: &str) -> Result<String> {
    let used = states.iter().filter(|state| state.used_e9.is_some());
    let units: BTreeSet<&str> = used.map(|state| state.measure.unit.as_str()).collect();
    if units.len() > 1 {
        let units: Vec<&str> = units.into_iter().collect();
        let message = format!(
            "an attribute has one unit, and these awards have {}: select one by --unit",
            units.join(", ")
        );
        return Err(Error::new(Kind::Usage, message));
    }
    let mut usage: BTreeMap<&str, i128> = BTreeMap::new();
    for state in states.iter().filter(|state| state.award.user.is_none()) {
        if let Some(used_e9) = state.used_e9 {
            *usage.entry(&state.award.account).or_default() += used_e9;
        }
    }
    let mut script = String::from(
        "import sys\n\
         from coldfront.core.allocation.models import Allocation\n\n\
         USAGE = {\n",
    );
    for (account, used_e9) in usage {
        // Writing to a string cannot fail.
        let _ = writeln!(script, "    {}: {},", quoted(account)?, decimal::text(used_e9, DIGITS));
    }
    let attribute = quoted(attribute)?;
    let _ = write!(
        script,
        "}}\n\nfor account, used in USAGE.items():\n    \
         found = Allocation.objects.filter(\n        \
         status__name=\"Active\",\n        \
         allocationattribute__allocation_attribute_type__name=\"slurm_account_name\",\n        \
         allocationattribute__value=account,\n    ).distinct()\n    \
         if found.count() != 1:\n        \
         print(f\"{{account}}: {{found.count()}} active allocations have this slurm_account_name\", file=sys.stderr)\n        \
         continue\n    \
         found.get().set_usage({attribute}, used)\n"
    );
    Ok(script)
}

/// Usage for Waldur, as JSON: an entry for each award with the amount of its unit to two places, rounded half to even, and
/// one for each user of it. A user's part of an award is no resource: its use is among that of the award.
///
/// # Errors
/// [`Kind::Internal`] when a name cannot be written.
pub fn waldur(states: &[AwardState<'_>], on: Day) -> Result<String> {
    use crate::charge::amount::{RoundingMode, round};
    let amount = |units_e9: i128| {
        let cents = round(units_e9, DIGITS, 2, RoundingMode::HalfEven);
        let sign = if cents < 0 { "-" } else { "" };
        format!("{sign}{}.{:02}", cents.unsigned_abs() / 100, cents.unsigned_abs() % 100)
    };
    let date = day_text(Some(on), "");
    let (mut usages, mut of_users) = (Vec::new(), Vec::new());
    let is_part = |state: &&AwardState<'_>| states.iter().any(|whole| state.is_part_of(whole));
    for state in states.iter().filter(|state| !is_part(state)) {
        let Some(used_e9) = state.used_e9 else { continue };
        let (resource, kind) = (quoted(&state.award.account)?, quoted(&state.measure.unit)?);
        usages.push(format!(
            "    {{\"resource\": {resource}, \"date\": \"{date}\", \"usages\": [{{\"type\": {kind}, \"amount\": \"{}\"}}]}}",
            amount(used_e9)
        ));
        let mut by_user: BTreeMap<&str, i128> = BTreeMap::new();
        for row in &state.rows {
            if let Some(user) = &row.submitter {
                *by_user.entry(user).or_default() += row.used.counted(state.measure.counted);
            }
        }
        for (user, counted) in by_user {
            let Some(units_e9) = state.measure.in_units_e9(counted) else {
                continue;
            };
            of_users.push(format!(
                "    {{\"resource\": {resource}, \"username\": {}, \"usage\": \"{}\", \"date\": \"{date}\", \"type\": {kind}}}",
                quoted(user)?,
                amount(units_e9)
            ));
        }
    }
    Ok(format!(
        "{{\n  \"usages\": [\n{}\n  ],\n  \"user_usages\": [\n{}\n  ]\n}}\n",
        usages.join(",\n"),
        of_users.join(",\n")
    ))
}
