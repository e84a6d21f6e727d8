//! What jobs would be charged under the policies of their lake, and what they would use of its awards, had they run as in
//! another schedule. The engines are those of a run: only the times of the records differ.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use ahash::RandomState;
use arrow_array::{Array, ArrayRef, RecordBatch};

use super::moved_records::SimulatedRecords;
use crate::amounts::add;
use crate::award::AwardPlan;
use crate::award::use_rows::AwardUse;
use crate::charge::policy::Subject;
use crate::error::{Error, Kind, Result};
use crate::lake::award_tables;
use crate::lake::calendar_fact::{CalendarRule, rule};
use crate::lake::tariffs::LakeTariffs;
use crate::normalise::plan::NormalisePlan;
use crate::schema;
use crate::schema::batch::{column, decimal, decoded, id, identity, int, number, text, texts, word};
use crate::simulate::schedule::Schedule;
use crate::store::{Manifest, Store};
use crate::summarise::charges::Charges;
use crate::summarise::correction_effect::Corrections;
use crate::summarise::settings::Settings;
use crate::time::Calendar;

/// Who is charged by what.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChargedName {
    /// Policy with its options. Its versions are one policy that changes with time.
    pub policy: String,
    /// What a charge is counted in.
    pub unit: String,
    /// Account, where records have one.
    pub account: Option<String>,
    /// VO, where they have one.
    pub vo: Option<String>,
}

/// What some jobs are charged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChargedSums {
    /// Jobs.
    pub job_n: i64,
    /// Jobs whose charge is unknown.
    pub unpriced_job_n: i64,
    /// Their charge, in billionths of the unit.
    pub charge_e9: i128,
}

/// What is used of an award.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AwardName {
    /// The award.
    pub award: String,
    /// Its unit.
    pub unit: String,
}

/// One schedule, as the lake charges it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScheduleCharges {
    /// Charges by policy and payer.
    pub charges: BTreeMap<ChargedName, ChargedSums>,
    /// Use of awards, in billionths of their units.
    pub awards: BTreeMap<AwardName, i128>,
}

/// How a lake charges.
pub(crate) struct LakeCharging {
    rule: CalendarRule,
    normalise: NormalisePlan,
    tariffs: LakeTariffs,
    corrections: Corrections,
    awards: Option<AwardPlan>,
}

impl LakeCharging {
    /// As a lake states it; `None` where it charges nothing.
    ///
    /// # Errors
    /// [`Kind::Data`] when an earlier version published the lake; [`Kind::Io`].
    pub(crate) fn of(store: &Store, manifest: &Manifest) -> Result<Option<Self>> {
        let tariffs = LakeTariffs::read(store, manifest)?;
        if tariffs.tariffs.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self {
            rule: rule(&manifest.facts)?,
            normalise: NormalisePlan::stated(),
            tariffs,
            corrections: Corrections::read(store, manifest)?,
            awards: award_tables::of_lake(store, manifest)?,
        }))
    }

    /// Policies that cannot be read.
    pub(crate) fn unreadable(&self) -> &[String] {
        &self.tariffs.unreadable
    }

    /// Charges the simulated records under each of these schedules.
    ///
    /// # Errors
    /// [`Kind::Data`] when a sum does not fit; [`Kind::Io`].
    pub(crate) fn charge(
        &self,
        records: &SimulatedRecords<'_>,
        site: &str,
        schedules: &[&Schedule],
    ) -> Result<Vec<ScheduleCharges>> {
        let settings = Settings {
            attribution: self.rule.attribution,
            grain: self.rule.grain,
            calendar_zone: &self.rule.zone,
            allocation_year_start: self.rule.year_start,
            normalise: &self.normalise,
            tariffs: &self.tariffs.tariffs,
            corrections: Some(self.corrections.table()),
            // Policies price what records state; tables of energy are for usage.
            energy: None,
        };
        let calendar = Calendar::new(self.rule.zone.clone(), self.rule.grain, self.rule.year_start);
        let mut done: Vec<Charging<'_>> = schedules
            .iter()
            .map(|_| Charging {
                charges: Charges::new(settings, site, Subject::Jobs),
                used: self
                    .awards
                    .as_ref()
                    .map(|plan| AwardUse::new(plan, site, calendar.clone())),
                sums: ScheduleCharges::default(),
            })
            .collect();
        records.each(|batch, places| {
            let users = users(batch)?;
            for (charging, schedule) in done.iter_mut().zip(schedules) {
                let moved = records.moved(batch, places, schedule)?;
                if let Some(charged) = charging.charges.add(&moved, &[])? {
                    charging.add(&charged, &users)?;
                }
            }
            Ok(())
        })?;
        done.into_iter().map(Charging::finish).collect()
    }
}

/// One schedule while it is charged.
struct Charging<'a> {
    charges: Charges<'a>,
    used: Option<AwardUse<'a>>,
    sums: ScheduleCharges,
}

impl Charging<'_> {
    /// Adds a batch of `job_charges`.
    fn add(&mut self, batch: &RecordBatch, users: &HashMap<u128, String, RandomState>) -> Result<()> {
        let batch = &decoded(batch)?;
        let of = |name| text(batch, name);
        let (policies, options) = (of("policy")?, of("options")?);
        let (units, accounts, vos) = (of("unit")?, of("account")?, of("vo")?);
        let (jobs, unpriced) = (int(batch, "job_n")?, int(batch, "unpriced_job_n")?);
        let charges = decimal(batch, "charge")?;
        for row in 0..batch.num_rows() {
            let named = [policies, options].map(|column| column.value(row));
            let named: Vec<&str> = named.into_iter().filter(|part| !part.is_empty()).collect();
            let name = ChargedName {
                policy: named.join(" "),
                unit: units.value(row).to_owned(),
                account: word(accounts, row).map(str::to_owned),
                vo: word(vos, row).map(str::to_owned),
            };
            let sums = self.sums.charges.entry(name).or_default();
            add(&mut sums.job_n, jobs.value(row), "job_n")?;
            add(&mut sums.unpriced_job_n, unpriced.value(row), "unpriced_job_n")?;
            if let Some(charge) = number(charges, row) {
                add(&mut sums.charge_e9, charge, "charge")?;
            }
        }
        let Some(used) = &mut self.used else { return Ok(()) };
        let ids = id(batch, "record_id")?;
        let dataset = schema::dataset("award_part")?;
        let mut submitters = Vec::with_capacity(batch.num_rows());
        for row in 0..batch.num_rows() {
            let known = if ids.is_valid(row) {
                users.get(&identity(ids, row)?)
            } else {
                None
            };
            submitters.push(known.map(String::as_str));
        }
        let submitters = texts(submitters);
        let columns = dataset.columns.iter().map(|declared| match declared.name.as_str() {
            "submitter" => Ok(Arc::clone(&submitters)),
            name => column(batch, name).map(ArrayRef::clone),
        });
        used.add(&dataset.batch(columns.collect::<Result<_>>()?)?)
    }

    fn finish(mut self) -> Result<ScheduleCharges> {
        let Some(used) = self.used.take() else {
            return Ok(self.sums);
        };
        for batch in used.into_batches()?.values() {
            let (awards, units, amounts) = (
                text(batch, "award")?,
                text(batch, "award_unit")?,
                decimal(batch, "used")?,
            );
            for row in 0..batch.num_rows() {
                let (Some(award), Some(amount)) = (word(awards, row), number(amounts, row)) else {
                    continue;
                };
                let name = AwardName {
                    award: award.to_owned(),
                    unit: crate::absent::text(word(units, row)).to_owned(),
                };
                let sum = self.sums.awards.entry(name).or_default();
                *sum = sum
                    .checked_add(amount)
                    .ok_or_else(|| Error::new(Kind::Data, "the use of an award is too large to add up"))?;
            }
        }
        Ok(self.sums)
    }
}

/// Who submitted the records of a batch.
fn users(batch: &RecordBatch) -> Result<HashMap<u128, String, RandomState>> {
    let (ids, users) = (id(batch, "record_id")?, text(batch, "user")?);
    let mut known = HashMap::default();
    for row in 0..batch.num_rows() {
        if let Some(user) = word(users, row) {
            known.insert(identity(ids, row)?, user.to_owned());
        }
    }
    Ok(known)
}
