//! Charges of many jobs under one policy.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow_schema::{Field, Schema};

use super::amount::{CHARGE_SCALE, Rounder, ShortRounder};
use super::facts::Facts;
use super::options::Options;
use super::policy::{CHARGE, Policy};
use super::scope::{JobKeptOut, KeptOut, Within, within};
use super::table::{constant, converted, decimals, numbers};
use crate::error::{Error, Kind, Result};
use crate::expr::decimal::nearest;
use crate::expr::{Formula, SCALE, Type, Value, evaluate};
use crate::reference::decimal::text;
use crate::schema::batch::{ColumnWords, coded_texts, texts, words_of};

/// The name under which the condition of a scope is computed.
const WHEN: &str = "when";

/// What every job costs.
#[derive(Clone, Debug)]
pub struct JobPriced {
    /// Whether the policy is for this job.
    pub is_in_scope: Vec<bool>,
    /// The charge in units of 10^-[`CHARGE_SCALE`]; `None` when it is unknown or the policy is not for this job.
    pub charge: Vec<Option<i128>>,
    /// Every named value of the jobs in scope by the columns of the scope, in their order.
    pub values: BTreeMap<String, ArrayRef>,
    /// Row of `values` of every job; empty where values are not kept.
    pub row: Vec<Option<usize>>,
    /// The jobs out of scope, and what keeps them out.
    pub kept_out: Vec<JobKeptOut>,
    /// Jobs in scope whose charge is unknown because a number on the way to it does not fit.
    pub misfits: BTreeSet<usize>,
}

/// Largest charge, in units of 10^-[`CHARGE_SCALE`]: it can be split by any time a job runs, and added up.
const CHARGE_LIMIT: u128 = 10_u128.pow(25);

/// Charges jobs. `chosen` are options as [`Policy::choose`] gives them; with `is_traced` every named value is kept.
///
/// A job one of whose numbers does not fit has no charge, and does not keep others from theirs.
///
/// # Errors
/// [`Kind::Internal`] naming the policy when the formulas contradict what they were compiled for.
pub fn price(policy: &Policy, chosen: &Options, facts: &Facts, is_traced: bool) -> Result<JobPriced> {
    all_that_fit(policy, chosen, facts, is_traced).map_err(|why| why.at("policy", policy.name()))
}

/// Charges all jobs at once, or, where a number does not fit, each half by itself down to the job it is of.
fn all_that_fit(policy: &Policy, chosen: &Options, facts: &Facts, is_traced: bool) -> Result<JobPriced> {
    let at_once = priced(policy, chosen, facts, is_traced);
    match at_once {
        Err(why) if why.kind() == Kind::Data => {}
        ended => return ended,
    }
    if facts.rows <= 1 {
        return unfit(policy, facts, is_traced);
    }
    let row_n = u32::try_from(facts.rows).map_err(|why| Error::internal("4 billion jobs at once").because(why))?;
    let half = |rows: std::ops::Range<u32>| {
        let facts = facts.take(&UInt32Array::from_iter_values(rows))?;
        all_that_fit(policy, chosen, &facts, is_traced)
    };
    let mut result = half(0..row_n / 2)?;
    result.append(half(row_n / 2..row_n)?)?;
    Ok(result)
}

/// The one job whose numbers do not fit: it is in scope, as one is whose condition is unknown, and not charged.
fn unfit(policy: &Policy, facts: &Facts, is_traced: bool) -> Result<JobPriced> {
    let Within {
        rows: in_scope,
        kept_out,
        ..
    } = within(policy, facts)?;
    Ok(JobPriced {
        is_in_scope: (0..facts.rows).map(|row| in_scope.contains(&row)).collect(),
        // What never ran costs nothing, whatever a formula makes of it.
        charge: (0..facts.rows)
            .map(|row| (in_scope.contains(&row) && facts.never_ran(row)).then_some(0))
            .collect(),
        values: BTreeMap::new(),
        row: no_rows(facts, is_traced),
        misfits: in_scope.into_iter().filter(|row| !facts.never_ran(*row)).collect(),
        kept_out,
    })
}

/// Rows of kept values, none of which is known yet.
fn no_rows(facts: &Facts, is_traced: bool) -> Vec<Option<usize>> {
    let row_n = if is_traced { facts.rows } else { 0 };
    vec![None; row_n]
}

fn priced(policy: &Policy, chosen: &Options, facts: &Facts, is_traced: bool) -> Result<JobPriced> {
    let Within {
        rows: within,
        unknown: unknown_scope,
        kept_out,
    } = within(policy, facts)?;
    let mut columns = if within.len() == facts.rows {
        facts.clone()
    } else {
        let rows: Vec<u32> = within.iter().filter_map(|row| u32::try_from(*row).ok()).collect();
        facts.take(&UInt32Array::from(rows))?
    };
    prepare(policy, chosen, &mut columns)?;
    let constants = constants(policy, chosen, &columns);
    let steps = policy.steps.iter().map(|step| (step.name.as_str(), &step.formula));
    let condition = policy.scope.when.iter().map(|step| (WHEN, &step.formula));
    let borrowed = constants.iter().map(|(name, formula)| (name.as_str(), formula));
    let formulas: Vec<(&str, &Formula)> = borrowed.chain(steps).chain(condition).collect();
    let batch = batch(&columns)?;
    let names: Vec<String> = if is_traced {
        let given = batch.schema_ref().fields().iter().map(|field| field.name().clone());
        given
            .chain(formulas.iter().map(|(name, _)| (*name).to_owned()))
            .collect()
    } else {
        let condition = policy.scope.when.as_ref().map(|_| WHEN.to_owned());
        condition.into_iter().chain([CHARGE.to_owned()]).collect()
    };
    let wanted: Vec<&str> = names.iter().map(String::as_str).collect();
    let given = evaluate(&batch, &formulas, &wanted)?;
    let charge = crate::schema::batch::decimal(&given, CHARGE)?;
    let condition = given.column_by_name(WHEN).and_then(|array| array.as_boolean_opt());
    let mut result = JobPriced {
        is_in_scope: Vec::with_capacity(facts.rows),
        charge: Vec::with_capacity(facts.rows),
        values: BTreeMap::new(),
        row: no_rows(facts, is_traced),
        kept_out,
        misfits: BTreeSet::new(),
    };
    let settling = Settling::of(policy);
    let is_one_scope = within.len() == facts.rows && condition.is_none() && unknown_scope.is_empty();
    if is_one_scope && facts.each_ran() && charge.null_count() == 0 {
        // Nearly every batch: all of its jobs ran, are in scope, and their charge is known.
        result.is_in_scope.resize(facts.rows, true);
        for value in charge.values() {
            result.charge.push(Some(settling.settled(*value).ok_or_else(misfit)?));
        }
        result.row.iter_mut().enumerate().for_each(|(at, row)| *row = Some(at));
    } else {
        for (at, row) in within.iter().enumerate() {
            // A condition that is unknown does not keep a job out: it is in, and not charged.
            let is_met = condition.is_none_or(|condition| condition.is_null(at) || condition.value(at));
            if let Some(place) = result.row.get_mut(*row) {
                *place = Some(at);
            }
            if !is_met {
                let why = KeptOut::Condition;
                result.kept_out.push(JobKeptOut { job: *row, why });
                continue;
            }
            let is_known = charge.is_valid(at) && condition.is_none_or(|condition| condition.is_valid(at));
            let settled = if facts.never_ran(*row) {
                Some(0)
            } else if is_known && unknown_scope.binary_search(row).is_err() {
                Some(settling.settled(charge.value(at)).ok_or_else(misfit)?)
            } else {
                None
            };
            result.leave_out_until(*row);
            result.is_in_scope.push(true);
            result.charge.push(settled);
        }
        result.leave_out_until(facts.rows);
    }
    if is_traced {
        let fields = given.schema_ref().fields().iter();
        let values = fields.zip(given.columns());
        result.values = values
            .map(|(field, array)| (field.name().clone(), ArrayRef::clone(array)))
            .collect();
    }
    Ok(result)
}

/// What becomes of what a formula gives: the smallest charge, and rounding.
struct Settling {
    minimum: Option<i128>,
    rounder: Rounder,
    /// From the places that are rounded to, to those of a charge.
    to_scale: i128,
    /// Where nothing but this becomes of an amount of 64 bits.
    short: Option<ShortRounder>,
}

impl Settling {
    fn of(policy: &Policy) -> Self {
        let rounding = policy.rounding;
        let rounder = Rounder::new(SCALE, rounding.digits, rounding.mode);
        let is_plain = policy.minimum_charge.is_none() && rounding.digits == CHARGE_SCALE;
        Self {
            minimum: policy.minimum_charge,
            rounder,
            short: rounder.short().filter(|_| is_plain),
            // Fallback: no policy rounds to more digits than charges have, which reading it ensures.
            to_scale: 10_i128.pow(CHARGE_SCALE.saturating_sub(rounding.digits)),
        }
    }

    /// The charge, in units of 10^-[`CHARGE_SCALE`]; `None` where it does not fit.
    #[inline]
    fn settled(&self, value: i128) -> Option<i128> {
        match (self.short, i64::try_from(value)) {
            // No amount of 64 bits is beyond the limit.
            (Some(short), Ok(value)) => Some(i128::from(short.round(value))),
            _ => self.settled_widely(value),
        }
    }

    /// The same for any amount.
    fn settled_widely(&self, value: i128) -> Option<i128> {
        let least = self.minimum.map_or(value, |minimum| value.max(minimum));
        let rounded = self.rounder.round(least);
        let charge = match self.to_scale {
            1 => rounded,
            times => rounded.checked_mul(times)?,
        };
        (charge.unsigned_abs() <= CHARGE_LIMIT).then_some(charge)
    }
}

/// What becomes of a batch of which a charge does not fit: [`all_that_fit`] finds it.
fn misfit() -> Error {
    Error::new(Kind::Data, "a charge does not fit")
}

/// Fills stand-ins, converts units, works out hours, tables and devices.
fn prepare(policy: &Policy, chosen: &Options, facts: &mut Facts) -> Result<()> {
    let reads = policy.reads();
    if let Some(unit) = policy.memory_unit(chosen)? {
        facts.set_memory_unit(unit);
    }
    stand_in(policy, facts)?;
    if let (Some(minimum), Some(seconds)) = (policy.minimum_seconds, facts.number("seconds")) {
        let array = converted(seconds, |value| value.max(minimum));
        facts.columns.insert("seconds".to_owned(), array);
    }
    for (name, per) in [("minutes", 60), ("hours", 3600)] {
        if let Some(seconds) = facts.number("seconds").filter(|_| reads.contains(name)) {
            let array = converted(seconds, |value| nearest(value, per));
            facts.columns.insert(name.to_owned(), array);
        }
    }
    for extra in &policy.extras {
        let (Some(license), absent) = (&extra.license, extra.absent.as_ref().and_then(Value::number)) else {
            continue;
        };
        if let Some(numbers) = facts.license_n(license)? {
            let numbers = decimals(numbers.into_iter().map(|number| number.or(absent)));
            facts.columns.insert(extra.name.clone(), numbers);
        }
    }
    for devices in &policy.devices {
        let sums = devices.add_up(&facts.gpus, facts.number("gpus"))?;
        facts.columns.extend(devices.gives.iter().cloned().zip(sums));
    }
    for table in &policy.tables {
        let by: Vec<ArrayRef> = table
            .by
            .iter()
            .map(|(name, kind)| known(policy, chosen, facts, name, *kind))
            .collect::<Result<_>>()?;
        let given = table.look_up(&by)?;
        let names = table.gives.iter().map(|(name, _)| name.clone());
        facts.columns.extend(names.zip(given));
    }
    Ok(())
}

/// A column a table is looked up by: of the jobs, an option, a constant, or an extra that is included.
fn known(policy: &Policy, chosen: &Options, facts: &Facts, name: &str, kind: Type) -> Result<ArrayRef> {
    if let Some(array) = facts.columns.get(name) {
        return Ok(ArrayRef::clone(array));
    }
    let option = chosen.get(name).map(|value| Value::Text(value.clone()));
    let stated = || policy.constants.iter().find(|(known, _)| known == name);
    let extra = || policy.extras.iter().find(|extra| extra.name == name);
    let value = option
        .or_else(|| stated().map(|(_, value)| value.clone()))
        .or_else(|| extra().and_then(|extra| extra.absent.clone()));
    constant(kind, value.as_ref(), facts.rows)
}

/// The values a policy declares for inputs that a record does not contain.
fn stand_in(policy: &Policy, facts: &mut Facts) -> Result<()> {
    for (name, value) in &policy.unknown {
        let array = facts.columns.get(name);
        let filled = match (value, array) {
            (_, None) => constant(value.kind(), Some(value), facts.rows)?,
            (_, Some(array)) if array.null_count() == 0 => continue,
            (Value::Number(value), Some(array)) => decimals(numbers(array)?.iter().map(|known| known.or(Some(*value)))),
            (Value::Text(value), Some(array)) => filled(words_of(array)?, array.len(), value)?,
        };
        facts.columns.insert(name.clone(), filled);
    }
    Ok(())
}

/// Texts with a text for those that are unknown.
fn filled(words: ColumnWords<'_>, rows: usize, value: &str) -> Result<ArrayRef> {
    let ColumnWords::Coded(codes, entries) = words else {
        return Ok(texts((0..rows).map(|row| words.get(row).or(Some(value)))));
    };
    let code = u32::try_from(entries.len()).map_err(|why| Error::internal("4 billion texts").because(why))?;
    let entries = entries.iter().chain([Some(value)]);
    coded_texts(entries, codes.iter().map(|known| known.or(Some(code))))
}

/// Constants, options, and inputs that no job has, as formulas of one value. An input without a value is unknown.
fn constants(policy: &Policy, chosen: &Options, facts: &Facts) -> Vec<(String, Formula)> {
    let mut formulas = Vec::new();
    let mut add = |name: &str, value: Option<&Value>, kind: Type| {
        if !facts.columns.contains_key(name) {
            formulas.push((name.to_owned(), Formula::constant(value, kind)));
        }
    };
    for (name, value) in &policy.constants {
        add(name, Some(value), value.kind());
    }
    for (name, value) in chosen {
        add(name, Some(&Value::Text(value.clone())), Type::Text);
    }
    for extra in &policy.extras {
        add(&extra.name, extra.absent.as_ref(), extra.kind);
    }
    let reads: BTreeSet<&str> = policy.reads();
    for input in super::inputs::INPUTS.iter().filter(|input| reads.contains(input.name)) {
        add(input.name, None, input.kind);
    }
    formulas
}

fn batch(facts: &Facts) -> Result<RecordBatch> {
    let fields: Vec<Field> = facts
        .columns
        .iter()
        .map(|(name, array)| Field::new(name, array.data_type().clone(), true))
        .collect();
    let arrays = facts.columns.values().cloned().collect();
    let options = RecordBatchOptions::new().with_row_count(Some(facts.rows));
    Ok(RecordBatch::try_new_with_options(
        std::sync::Arc::new(Schema::new(fields)),
        arrays,
        &options,
    )?)
}

impl JobPriced {
    /// Leaves the jobs before this one out that were not met.
    fn leave_out_until(&mut self, job: usize) {
        self.is_in_scope.resize(job, false);
        self.charge.resize(job, None);
    }

    /// Adds the jobs of another batch behind these.
    fn append(&mut self, other: Self) -> Result<()> {
        let job_n = self.is_in_scope.len();
        let value_n = self.values.values().next().map_or(0, Array::len);
        self.is_in_scope.extend(other.is_in_scope);
        self.charge.extend(other.charge);
        let kept_out = other.kept_out.into_iter();
        self.kept_out
            .extend(kept_out.map(|JobKeptOut { job, why }| JobKeptOut { job: job_n + job, why }));
        self.row.extend(other.row.into_iter().map(|row| Some(row? + value_n)));
        self.misfits.extend(other.misfits.into_iter().map(|job| job_n + job));
        for (name, array) in other.values {
            let both = match self.values.get(&name) {
                Some(first) => arrow_select::concat::concat(&[first.as_ref(), array.as_ref()])?,
                None => array,
            };
            self.values.insert(name, both);
        }
        Ok(())
    }

    /// A named value of a job as people write it; `None` when it is unknown or was not kept.
    #[must_use]
    pub fn value(&self, job: usize, name: &str) -> Option<String> {
        let row = (*self.row.get(job)?)?;
        let array = self.values.get(name)?;
        if array.is_null(row) {
            return None;
        }
        if let Some(number) = array.as_primitive_opt::<Decimal128Type>() {
            return Some(text(number.value(row), SCALE));
        }
        if let Some(text) = array.as_string_opt::<i32>() {
            return Some(format!("'{}'", text.value(row)));
        }
        array.as_boolean_opt().map(|truth| truth.value(row).to_string())
    }
}
