//! What is known of the jobs to be charged, as columns formulas can read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder, StringBuilder, StructBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, Decimal128Array, ListArray, RecordBatch, StringArray};
use arrow_schema::{DataType, Field};

use super::amount::{MemoryUnit, whole};
use super::inputs::{ENERGY_CLASS, EnergyInput, INPUTS, Input};
use super::policy::LICENSES;
use super::table::{Unnamed, converted, decimals, device_counts, elements_of, license_counts};
use crate::error::{Error, Result};
use crate::expr::decimal::nearest;
use crate::expr::{Type, Value};
use crate::schema::batch::{coded_texts, column, decimal, int, number, texts, time, words_of};
use crate::schema::dataset::gpu_fields;

/// Whether an input is among those to be read, or one of those is worked out from it.
fn is_read(input: &Input, reads: &BTreeSet<&str>) -> bool {
    let works_out = |names: &[&str]| names.iter().any(|name| reads.contains(name));
    reads.contains(input.name)
        || match input.name {
            "seconds" => works_out(&["hours", "minutes"]),
            "gpus" => works_out(&["gpu_model"]),
            _ => false,
        }
}

/// The inputs that are sizes of memory.
const MEMORY: [&str; 2] = ["memory", "requested_memory"];

/// An input in a unit of memory.
#[derive(Clone, Debug)]
struct ConvertedMemory {
    name: &'static str,
    unit: MemoryUnit,
    numbers: ArrayRef,
}

/// Jobs, or examples of jobs, as columns. Memory is in bytes here.
#[derive(Clone, Debug)]
pub struct Facts {
    pub(super) rows: usize,
    pub(super) columns: BTreeMap<String, ArrayRef>,
    pub(super) gpus: ListArray,
    /// Licences by name, where a policy reads any.
    licenses: Option<ListArray>,
    /// Memory in units that several policies state.
    memory: Vec<ConvertedMemory>,
    /// Which jobs never ran; `None` when each did.
    never_ran: Option<BooleanArray>,
    /// Whether a scope with a condition on an unknown fact may apply to the job; otherwise it does not apply.
    pub(super) is_unknown_in_scope: bool,
}

impl Facts {
    /// The inputs in `reads` of the records of one site.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when it is not a batch of `records`.
    pub fn of_records(batch: &RecordBatch, site: &str, reads: &BTreeSet<&str>) -> Result<Self> {
        let rows = batch.num_rows();
        let mut columns = BTreeMap::new();
        for input in INPUTS
            .iter()
            .filter(|input| !input.record.is_empty() && is_read(input, reads))
        {
            let array: ArrayRef = match (input.name, input.kind) {
                ("site", _) => coded_texts([Some(site)], std::iter::repeat_n(Some(0), rows))?,
                ("seconds", _) => {
                    let (seconds, fraction) = (int(batch, "wall_s")?, int(batch, "wall_fraction_ms")?);
                    let milliseconds = 10_i128.pow(crate::expr::SCALE - 3);
                    let parts = seconds.values().iter().zip(fraction.values());
                    let sums = parts.map(|(second, ms)| whole(*second) + i128::from(*ms) * milliseconds);
                    Arc::new(Decimal128Array::from_iter_values(sums).with_data_type(Type::Number.arrow()))
                }
                ("hepscore23" | "hepspec" | "si2k", _) => {
                    // Values have four decimals.
                    let to_scale = 10_i128.pow(crate::expr::SCALE - 4);
                    converted(decimal(batch, input.record)?, |value| value * to_scale)
                }
                (_, Type::Number) => converted(int(batch, input.record)?, whole),
                _ => ArrayRef::clone(column(batch, input.record)?),
            };
            columns.insert(input.name.to_owned(), array);
        }
        let list = |name: &str| {
            let list = column(batch, name)?.as_list_opt::<i32>().cloned();
            list.ok_or_else(|| Error::internal(format!("the column {name} is of another type")))
        };
        let mut facts = Self {
            rows,
            columns,
            gpus: list("gpus")?,
            licenses: reads.contains(LICENSES).then(|| list(LICENSES)).transpose()?,
            memory: Vec::new(),
            never_ran: never_ran(batch)?,
            is_unknown_in_scope: false,
        };
        if reads.contains("gpu_model") {
            facts.name_models()?;
        }
        Ok(facts)
    }

    /// The columns of `records` that [`Self::of_records`] takes for the inputs in `reads`.
    #[must_use]
    pub fn columns(reads: &BTreeSet<&str>) -> BTreeSet<&'static str> {
        let of = INPUTS
            .iter()
            .filter(|input| is_read(input, reads))
            .map(|input| input.record);
        let mut columns: BTreeSet<&'static str> = of.filter(|name| !name.is_empty() && *name != "site").collect();
        if columns.contains("wall_s") {
            columns.insert("wall_fraction_ms");
        }
        columns.insert("gpus");
        columns.extend(reads.contains(LICENSES).then_some(LICENSES));
        columns.extend(NEVER_RAN_BY);
        columns
    }

    /// One job of which this much is known.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when arrays cannot be made.
    pub fn of_example(known: &BTreeMap<String, Value>, gpus: &[(String, i64)]) -> Result<Self> {
        let element = Field::new("element", DataType::Struct(gpu_fields()), false);
        let mut list = ListBuilder::new(StructBuilder::from_fields(gpu_fields(), 0)).with_field(element);
        for (model, count) in gpus {
            let devices = list.values();
            if let Some(models) = devices.field_builder::<StringBuilder>(0) {
                models.append_value(model);
            }
            if let Some(counts) = devices.field_builder::<Int64Builder>(1) {
                counts.append_value(*count);
            }
            devices.append(true);
        }
        list.append(!gpus.is_empty());
        let columns = known
            .iter()
            .map(|(name, value)| {
                let kind = value.kind();
                (name.clone(), super::table::column(kind, std::iter::once(Some(value))))
            })
            .collect();
        let mut facts = Self {
            rows: 1,
            columns,
            gpus: list.finish(),
            licenses: None,
            memory: Vec::new(),
            never_ran: None,
            is_unknown_in_scope: false,
        };
        facts.name_models()?;
        Ok(facts)
    }

    /// Facts that people enter and may have left out: a scope with a condition on one may apply, so that the charge is unknown.
    #[must_use]
    pub fn stated_in_part(self) -> Self {
        Self {
            is_unknown_in_scope: true,
            ..self
        }
    }

    /// States how the energy of each job is known.
    pub fn set_energy_class<'c>(&mut self, classes: impl Iterator<Item = Option<&'c str>>) {
        self.columns.insert(ENERGY_CLASS.to_owned(), texts(classes));
    }

    /// States a number of each job that tables of energy give, in the decimals of the input.
    pub fn set_energy(&mut self, input: EnergyInput, numbers: impl Iterator<Item = Option<i64>>) {
        let to_scale = 10_i128.pow(crate::expr::SCALE - input.decimals());
        let numbers = decimals(numbers.map(|number| number.map(|number| i128::from(number) * to_scale)));
        self.columns.insert(input.name().to_owned(), numbers);
    }

    /// Whether a job never ran: it used nothing, and costs nothing under any policy.
    #[must_use]
    pub fn never_ran(&self, row: usize) -> bool {
        let never_ran = self.never_ran.as_ref();
        never_ran.is_some_and(|never_ran| row < never_ran.len() && never_ran.value(row))
    }

    /// Whether each job ran, as far as its start shows.
    #[must_use]
    pub(super) fn each_ran(&self) -> bool {
        self.never_ran.is_none()
    }

    /// How many jobs.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Converts memory to a unit that several policies state, once for all of them.
    pub fn share_memory_unit(&mut self, unit: MemoryUnit) {
        for name in MEMORY {
            if let Some(numbers) = self.memory_in(name, unit) {
                self.memory.push(ConvertedMemory { name, unit, numbers });
            }
        }
    }

    /// States memory in this unit instead of bytes.
    pub(super) fn set_memory_unit(&mut self, unit: MemoryUnit) {
        for name in MEMORY {
            if let Some(numbers) = self.memory_in(name, unit) {
                self.columns.insert(name.to_owned(), numbers);
            }
        }
        self.memory.clear();
    }

    /// An input that is in bytes in this unit.
    fn memory_in(&self, name: &str, unit: MemoryUnit) -> Option<ArrayRef> {
        let is_it = |known: &&ConvertedMemory| known.name == name && known.unit == unit;
        if let Some(known) = self.memory.iter().find(is_it) {
            return Some(ArrayRef::clone(&known.numbers));
        }
        let byte_n = unit.byte_n();
        // Bytes are stored with decimals: a whole number of bytes is divided exactly once.
        Some(converted(self.number(name)?, |value| nearest(value, byte_n)))
    }

    /// A column of numbers.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<&Decimal128Array> {
        self.columns.get(name)?.as_primitive_opt()
    }

    /// How many GPUs a job has, in units of the last decimal place, where that is known.
    fn gpu_n(&self, row: usize) -> Option<i128> {
        self.number("gpus").and_then(|gpu_n| number(gpu_n, row))
    }

    /// Works out `gpu_model`: the one model of a job's GPUs.
    fn name_models(&mut self) -> Result<()> {
        if self.columns.contains_key("gpu_model") {
            return Ok(());
        }
        let (models, counts) = device_counts(self.gpus.values().as_struct_opt())?;
        let named = (0..self.rows).map(|row| {
            let mut range = elements_of(&self.gpus, row);
            let unnamed = Unnamed::of(counts, range.clone(), self.gpu_n(row));
            let model = models.value(range.next()?);
            let is_one = unnamed == Unnamed::None && range.all(|at| models.value(at) == model);
            is_one.then_some(model)
        });
        let named: StringArray = named.collect();
        self.columns.insert("gpu_model".to_owned(), Arc::new(named));
        Ok(())
    }

    /// How many of a licence each job has, where its record names it; `None` where licences were not read.
    pub(super) fn license_n(&self, license: &str) -> Result<Option<Vec<Option<i128>>>> {
        let Some(list) = &self.licenses else {
            return Ok(None);
        };
        let (names, amounts) = license_counts(list.values().as_struct_opt())?;
        let of_row = |row: usize| {
            let mut range = elements_of(list, row);
            let place = range.find(|at| names.value(*at).eq_ignore_ascii_case(license));
            place.map(|at| whole(amounts.value(at)))
        };
        Ok(Some((0..self.rows).map(of_row).collect()))
    }

    /// These rows alone.
    pub(super) fn take(&self, rows: &arrow_array::UInt32Array) -> Result<Self> {
        let take = |array: &dyn Array| arrow_select::take::take(array, rows, None);
        let mut columns = BTreeMap::new();
        for (name, array) in &self.columns {
            columns.insert(name.clone(), take(array)?);
        }
        let take_list = |list: &ListArray| {
            let taken = take(list)?.as_list_opt::<i32>().cloned();
            taken.ok_or_else(|| Error::internal("a list changed its type"))
        };
        let memory = self.memory.iter().map(|known| {
            let numbers = take(&known.numbers)?;
            Ok(ConvertedMemory {
                numbers,
                ..known.clone()
            })
        });
        Ok(Self {
            rows: rows.len(),
            memory: memory.collect::<Result<_>>()?,
            columns,
            gpus: take_list(&self.gpus)?,
            licenses: self.licenses.as_ref().map(take_list).transpose()?,
            never_ran: self
                .never_ran
                .as_ref()
                .map(|flags| flag_rows(flags, rows))
                .transpose()?,
            is_unknown_in_scope: self.is_unknown_in_scope,
        })
    }
}

/// The columns of `records` that state whether a job ran.
const NEVER_RAN_BY: [&str; 4] = ["start_utc", "wall_s", "wall_fraction_ms", "cpu_ms"];

/// Which jobs have no start, no length and no CPU time.
fn never_ran(batch: &RecordBatch) -> Result<Option<BooleanArray>> {
    let start = time(batch, "start_utc")?;
    if start.null_count() == 0 {
        return Ok(None);
    }
    let (wall_s, fraction_ms) = (int(batch, "wall_s")?, int(batch, "wall_fraction_ms")?);
    let cpu_ms = int(batch, "cpu_ms")?;
    let never_ran = (0..batch.num_rows()).map(|row| {
        let has_length = wall_s.value(row) != 0 || fraction_ms.value(row) != 0;
        let has_cpu = number(cpu_ms, row).is_some_and(|cpu_ms| cpu_ms > 0);
        Some(start.is_null(row) && !has_length && !has_cpu)
    });
    Ok(Some(never_ran.collect()))
}

fn flag_rows(flags: &BooleanArray, rows: &arrow_array::UInt32Array) -> Result<BooleanArray> {
    let taken = arrow_select::take::take(flags, rows, None)?;
    let taken = taken.as_boolean_opt().cloned();
    taken.ok_or_else(|| Error::internal("a column of flags changed its type"))
}

/// What the charge of a job under a policy depends on, looked up once for all jobs.
#[derive(Clone, Debug)]
pub struct PolicyInputs<'p> {
    policy: &'p super::Policy,
    /// What its scope tests.
    scope: Vec<&'p str>,
    /// What must be known for a charge and nothing stands in for, in the order of the names.
    stated: Vec<&'p str>,
    /// Of these, what no record states.
    unstated: Vec<&'p str>,
}

impl<'p> PolicyInputs<'p> {
    /// Those of a policy; inputs in `ignored` are left out.
    #[must_use]
    pub fn new(policy: &'p super::Policy, ignored: &[&str]) -> Self {
        let mut inputs = Self {
            policy,
            scope: policy.scope.only.iter().map(|(name, _)| name.as_str()).collect(),
            stated: Vec::new(),
            unstated: Vec::new(),
        };
        for name in policy.required() {
            if ignored.contains(&name) {
                continue;
            }
            let name = if matches!(name, "hours" | "minutes") {
                "seconds"
            } else {
                name
            };
            let stands_in = policy.unknown.iter().any(|(known, _)| known == name);
            let is_input = INPUTS.iter().any(|input| input.name == name);
            let is_unknown = policy
                .extras
                .iter()
                .any(|extra| extra.name == name && extra.absent.is_none());
            if is_unknown {
                inputs.unstated.push(name);
            }
            if (is_unknown || (is_input && !stands_in)) && !inputs.stated.contains(&name) {
                inputs.stated.push(name);
            }
        }
        inputs
    }
}

impl Facts {
    /// Why a job in scope has no charge, in words.
    #[must_use]
    pub fn why_unpriced(&self, inputs: &PolicyInputs<'_>, row: usize) -> String {
        let PolicyInputs {
            policy,
            scope,
            stated,
            unstated,
        } = inputs;
        let is_known = |name: &str| self.columns.get(name).is_some_and(|array| array.is_valid(row));
        let mut unknown: Vec<&str> = scope.iter().copied().filter(|name| !is_known(name)).collect();
        for name in stated {
            if (unstated.contains(name) || !is_known(name)) && !unknown.contains(name) {
                unknown.push(*name);
            }
        }
        match unknown.as_slice() {
            [] => {}
            [one] => return format!("{one} is unknown"),
            several => return format!("{} are unknown", several.join(", ")),
        }
        self.unlisted_device(policy, row)
            .or_else(|| self.unlisted_key(policy, row))
            .unwrap_or_else(|| "the formula gives nothing: a division by zero, or a value beyond a tier".to_owned())
    }

    fn unlisted_device(&self, policy: &super::Policy, row: usize) -> Option<String> {
        // Fallback: a table without devices has none to name, which pricing reported before.
        let (models, counts) = device_counts(self.gpus.values().as_struct_opt()).ok()?;
        let (range, gpu_n) = (elements_of(&self.gpus, row), self.gpu_n(row));
        let has_values = match Unnamed::of(counts, range.clone(), gpu_n) {
            Unnamed::None => true,
            Unnamed::Some(_) => policy.devices.iter().all(|devices| devices.missing.is_some()),
            Unnamed::Unknown => false,
        };
        if !has_values && gpu_n != Some(0) && !policy.devices.is_empty() {
            return Some("the models of its GPUs are unknown".to_owned());
        }
        for catalogue in policy.devices.iter().filter(|devices| devices.missing.is_none()) {
            let is_listed = |model: &str| catalogue.rows.iter().any(|(known, _)| known == model);
            let range = range.clone();
            let unlisted = range.map(|at| models.value(at)).find(|model| !is_listed(model));
            if let Some(model) = unlisted {
                return Some(format!("no device {model} in the policy"));
            }
        }
        None
    }

    fn unlisted_key(&self, policy: &super::Policy, row: usize) -> Option<String> {
        for table in policy.tables.iter().filter(|table| table.missing.is_none()) {
            for (nth, (name, _)) in table.by.iter().enumerate() {
                let array = self.columns.get(name);
                // Fallback: a column of numbers has no texts to name.
                let Some(words) = array.and_then(|array| words_of(array).ok()) else {
                    continue;
                };
                let value = Value::Text(words.value(row).to_owned());
                if !table.rows.iter().any(|cells| cells.get(nth) == Some(&value)) {
                    return Some(format!("no row for {name} {} in the policy", words.value(row)));
                }
            }
        }
        None
    }
}
