//! A policy: read, checked and compiled.

use std::collections::BTreeSet;
use std::path::Path;

use super::amount::{MemoryUnit, Rounding};
use super::example::Example;
use super::options::Options;
use super::read;
use super::table::{Devices, WeightTable};
use crate::diagnostics::Problems;
use crate::error::{Error, Result};
use crate::expr::{Formula, TierStep, Type, Value};
use crate::small_file;
use crate::time::{Calendar, Day, MsSpan};

/// What a policy charges for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subject {
    /// Jobs.
    #[default]
    Jobs,
    /// Reserved windows, used or not.
    Reservations,
    /// Stored bytes.
    Storage,
}

impl Subject {
    /// The words of a policy file.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("jobs", Self::Jobs),
        ("reservations", Self::Reservations),
        ("storage", Self::Storage),
    ];

    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Jobs => "jobs",
            Self::Reservations => "reservations",
            Self::Storage => "storage",
        }
    }
}

/// One thing the centre leaves open, or changed its mind about.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Its name; also a text column of the formula.
    pub name: String,
    /// What can be chosen.
    pub values: Vec<String>,
    /// The value used when none is chosen.
    pub default: String,
    /// What it decides.
    pub doc: Option<String>,
}

/// A column of a policy: of what jobs do not have, such as the kind of processor, or of one of their licences.
#[derive(Clone, Debug)]
pub struct Extra {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Type,
    /// What it means.
    pub doc: String,
    /// The licence it is the number of, as records name it in any case.
    pub license: Option<String>,
    /// Its value for jobs whose records do not contain it; `None` leaves it unknown.
    pub absent: Option<Value>,
}

/// Where a step's value comes from, as the file states it.
#[derive(Clone, Debug)]
pub enum PolicyOrigin {
    /// An expression.
    Expression(String),
    /// Steps of a tier: the expression, bounds with values, the value above, whether a bound belongs to its own step.
    Tier {
        /// What is looked up.
        by: String,
        /// Bounds with values.
        steps: Vec<TierStep>,
        /// Beyond the last bound.
        above: Option<i128>,
        /// Whether a bound belongs to its own step.
        is_upper_included: bool,
    },
}

/// A named value on the way to the charge.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its name.
    pub name: String,
    /// As it is written.
    pub origin: PolicyOrigin,
    /// Compiled.
    pub formula: Formula,
}

/// Which jobs a policy is for.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Column and the values it may have; all must match.
    pub only: Vec<(String, Vec<String>)>,
    /// A condition besides.
    pub when: Option<Step>,
}

/// A policy file.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Name that stays over all versions.
    pub id: String,
    /// Which version.
    pub version: String,
    /// One line for people.
    pub title: String,
    /// Where the centre publishes the rule.
    pub source: String,
    /// What a reader should know.
    pub note: Option<String>,
    /// What it charges for.
    pub subject: Subject,
    /// What is drawn on: charges of two pools are never added up.
    pub pool: String,
    /// What a charge is counted in.
    pub unit: String,
    /// Unit of `memory`; `None` when an option of that name states it, or nothing reads memory.
    pub memory_unit: Option<MemoryUnit>,
    /// First day on which it holds; open when absent.
    pub valid_from: Option<Day>,
    /// First day on which it no longer holds.
    pub valid_to: Option<Day>,
    /// Which jobs it is for.
    pub scope: Scope,
    /// Constants by name.
    pub constants: Vec<(String, Value)>,
    /// Options.
    pub choices: Vec<Choice>,
    /// Columns jobs do not have.
    pub extras: Vec<Extra>,
    /// The value used for an input that a record does not contain.
    pub unknown: Vec<(String, Value)>,
    /// Lookup tables, in order.
    pub tables: Vec<WeightTable>,
    /// Device catalogues.
    pub devices: Vec<Devices>,
    /// Named values, then the last one, the charge.
    pub steps: Vec<Step>,
    /// The named value that recomputes what Slurm records as billing, so that the two can be compared.
    pub billing_is: Option<String>,
    /// Every job is charged for at least so long.
    pub minimum_seconds: Option<i128>,
    /// Every job is charged at least so much.
    pub minimum_charge: Option<i128>,
    /// How the charge is rounded, once.
    pub rounding: Rounding,
    /// Worked examples.
    pub examples: Vec<Example>,
    /// The file, as mistakes name it.
    pub file: String,
    /// Its text.
    pub text: String,
}

/// The name of the last step.
pub const CHARGE: &str = "charge";

/// What [`Policy::needs`] names where inputs are numbers of licences: the column of records.
pub const LICENSES: &str = "licenses";

/// The option that is the unit of memory.
pub const MEMORY_UNIT: &str = "memory_unit";

impl Policy {
    /// Reads the file at `path`, of at most 64 MiB; mistakes are reported under the name `file`.
    pub fn load(path: &Path, file: &str, problems: &mut Problems) -> Option<Self> {
        match small_file::text(path) {
            Ok(text) => Self::read(file, &text, problems),
            Err(why) => {
                problems.mistake(file, 0, format!("cannot be read: {why}"));
                None
            }
        }
    }

    /// Reads `text`; every mistake is reported under the name `file`.
    pub fn read(file: &str, text: &str, problems: &mut Problems) -> Option<Self> {
        read::policy(file, text, problems)
    }

    /// The options with what was not chosen at its default.
    ///
    /// # Errors
    /// A sentence when there is no such option, or no such value of it.
    pub fn choose(&self, chosen: &Options) -> std::result::Result<Options, String> {
        for (name, value) in chosen {
            let Some(choice) = self.choices.iter().find(|choice| choice.name == *name) else {
                let names = self.choices.iter().map(|choice| choice.name.as_str());
                let hint = crate::diagnostics::did_you_mean(name, names);
                return Err(format!("{} has no option \"{name}\"{hint}", self.id));
            };
            if !choice.values.contains(value) {
                return Err(format!(
                    "{name} = \"{value}\" is not one of {}",
                    choice.values.join(", ")
                ));
            }
        }
        let defaults = self.choices.iter().map(|choice| {
            let value = chosen.get(&choice.name).unwrap_or(&choice.default);
            (choice.name.clone(), value.clone())
        });
        Ok(defaults.collect())
    }

    /// The unit of memory under these options.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the options are none of this policy.
    pub fn memory_unit(&self, options: &Options) -> Result<Option<MemoryUnit>> {
        match (self.memory_unit, options.get(MEMORY_UNIT)) {
            (Some(unit), _) => Ok(Some(unit)),
            (None, None) => Ok(None),
            (None, Some(word)) => MemoryUnit::parse(word)
                .map(Some)
                .ok_or_else(|| Error::internal(format!("{word} is not a unit of memory"))),
        }
    }

    /// The inputs that formulas and tables read.
    #[must_use]
    pub fn reads(&self) -> BTreeSet<&str> {
        let steps = self.steps.iter().chain(&self.scope.when);
        let mut reads: BTreeSet<&str> = steps
            .flat_map(|step| step.formula.reads().iter().map(String::as_str))
            .collect();
        for table in &self.tables {
            reads.extend(table.by.iter().map(|(name, _)| name.as_str()));
        }
        reads
    }

    /// What must be known for a charge: what the formula reads other than under `IS NULL` or where it has another value for it, with
    /// what named values and tables on the way need.
    #[must_use]
    pub fn required(&self) -> BTreeSet<&str> {
        let mut required = BTreeSet::new();
        let last = self.steps.iter().filter(|step| step.name == CHARGE);
        let conditions = last.chain(&self.scope.when).flat_map(|step| step.formula.required());
        let mut open: Vec<&str> = conditions.map(String::as_str).collect();
        while let Some(name) = open.pop() {
            if !required.insert(name) {
                continue;
            }
            let steps = self.steps.iter().filter(|step| step.name == name);
            open.extend(steps.flat_map(|step| step.formula.required()).map(String::as_str));
            let gives = |table: &&WeightTable| table.gives.iter().any(|(given, _)| given == name);
            // A table with values for missing keys has them for unknown ones.
            let tables = self.tables.iter().filter(|table| table.missing.is_none()).filter(gives);
            open.extend(tables.flat_map(|table| &table.by).map(|(by, _)| by.as_str()));
        }
        required
    }

    /// What pricing a record takes of it: what formulas and tables read, what the scope tests, and what devices are
    /// counted by.
    #[must_use]
    pub fn needs(&self) -> BTreeSet<&str> {
        let mut needs = self.reads();
        needs.extend(self.scope.only.iter().map(|(name, _)| name.as_str()));
        if !self.devices.is_empty() {
            needs.insert("gpus");
        }
        if self.extras.iter().any(|extra| extra.license.is_some()) {
            needs.insert(LICENSES);
        }
        needs
    }

    /// When it holds.
    #[must_use]
    pub fn holds(&self, calendar: &Calendar) -> MsSpan {
        let midnight = |day: Option<Day>, open: i64| day.map_or(open, |day| calendar.begins_ms(day));
        MsSpan {
            from_ms: midnight(self.valid_from, i64::MIN),
            until_ms: midnight(self.valid_to, i64::MAX),
        }
    }

    /// Id and version, as people name it.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} {}", self.id, self.version)
    }
}
