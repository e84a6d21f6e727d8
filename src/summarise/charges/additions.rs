//! Charges of additions by corrections: these jobs have no record, so they are priced as equal ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};

use super::batch::ChargeBatch;
use super::columns::RECORDED;
use super::job_charger::MISFIT;
use super::row::{ChargeFigures, ChargeRow};
use super::{Charges, UnpricedAddition};
use crate::charge::amount::{ratio, whole};
use crate::charge::facts::{Facts, PolicyInputs};
use crate::charge::price;
use crate::error::Result;
use crate::expr::Value;
use crate::reference::correction::Correction;
use crate::schema::batch::{addend, identities, texts, times};
use crate::summarise::correct::{noon_ms, period_of, rule_value};
use crate::time::Month;

/// Largest charge of an addition, in units of 10^-9: thousands of them can be added up.
const ADDED_LIMIT: i128 = 10_i128.pow(34);

/// One job of an addition, and how often it is charged.
struct Equal {
    known: BTreeMap<String, Value>,
    gpus: Vec<(String, i64)>,
    /// Times it is charged: below zero when the addition takes away.
    times: i128,
    /// Why nothing can be charged, whatever the policy.
    why: Option<&'static str>,
}

/// What an addition is priced by.
pub(crate) struct PricedAddition {
    /// The record that represents it.
    pub(crate) record_id: u128,
    /// One of its jobs.
    pub(crate) facts: Facts,
    /// Times it is charged: below zero when the addition takes away.
    pub(crate) times: i128,
    /// Why nothing can be charged, whatever the policy.
    pub(crate) why: Option<&'static str>,
}

impl PricedAddition {
    /// Of a correction that adds usage to a site.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when its amounts are no inputs of a policy.
    pub(crate) fn new(rule: &Correction, site: &str) -> Result<Self> {
        let equal = equal(rule, site);
        Ok(Self {
            record_id: identity(rule),
            facts: Facts::of_example(&equal.known, &equal.gpus)?.stated_in_part(),
            times: equal.times,
            why: equal.why,
        })
    }
}

/// A correction that adds usage.
struct IdentifiedRule<'r> {
    /// The record that represents it.
    id: u128,
    rule: &'r Correction,
}

impl Charges<'_> {
    /// Charges what corrections add to the records of a month; gives the rows of `job_charges`.
    ///
    /// An addition of n jobs is n equal jobs: each ran `wall_s` / n seconds on `alloc_core_s` / `wall_s` cores (GPUs and
    /// nodes likewise, to 12 decimals) with the memory it states. GPUs it does not state are none; cores, nodes and memory it
    /// does not state are unknown, and so is the charge under a policy for some clusters (partitions, ...) only when it
    /// does not state its own. What it takes away, with amounts below zero, is charged below zero. A policy charges
    /// it whole that holds at noon in UTC of the first day of the month.
    ///
    /// # Errors
    /// [`Kind::Internal`] naming the policy when its formulas contradict what they were compiled for.
    ///
    /// [`Kind::Internal`]: crate::error::Kind::Internal
    pub fn add_corrections(&mut self, month: Month) -> Result<Option<RecordBatch>> {
        let mut rules: Vec<IdentifiedRule<'_>> = self
            .corrector
            .additions(month)
            .map(|rule| IdentifiedRule {
                id: identity(rule),
                rule,
            })
            .collect();
        rules.sort_by_key(|of| of.id);
        let Some(period) =
            period_of(month, &mut self.charger.cutter.calendar).filter(|_| !self.charger.tariffs.is_empty())
        else {
            return Ok(None);
        };
        let mut rows = Vec::new();
        for (nth, IdentifiedRule { rule, .. }) in rules.iter().enumerate() {
            let PricedAddition {
                facts,
                times,
                why: why_uncharged,
                ..
            } = PricedAddition::new(rule, self.site)?;
            for (tariff_nth, (tariff, holds)) in self.charger.tariffs.iter().zip(&self.charger.holds).enumerate() {
                if noon_ms(month) < holds.from_ms || holds.until_ms <= noon_ms(month) {
                    continue;
                }
                let priced = price(&tariff.policy, &tariff.options, &facts, false)?;
                if priced.is_in_scope.first() != Some(&true) {
                    continue;
                }
                let one = priced
                    .charge
                    .first()
                    .copied()
                    .flatten()
                    .filter(|_| why_uncharged.is_none());
                let all = one.map(|one| one.checked_mul(times).filter(|charge| charge.abs() <= ADDED_LIMIT));
                let charge = all.flatten();
                let why = charge.is_none().then(|| match why_uncharged {
                    Some(why) => Arc::from(why),
                    None if one.is_some() || priced.misfits.contains(&0) => Arc::from(MISFIT),
                    None => Arc::from(facts.why_unpriced(&PolicyInputs::new(&tariff.policy, &[]), 0)),
                });
                if let Some(why) = &why {
                    self.unpriced_additions.push(UnpricedAddition {
                        correction_id: rule.id.clone(),
                        policy: tariff.policy.name(),
                        why: str::to_owned(why),
                    });
                }
                let adds = |column: &str| addend(rule.adds(column));
                rows.push(ChargeRow {
                    job: nth,
                    piece: 0,
                    figures: ChargeFigures {
                        record: nth,
                        tariff: tariff_nth,
                        period,
                        job_n: if charge.is_some() { adds("job_n") } else { 0 },
                        unpriced_job_n: if charge.is_none() { adds("job_n") } else { 0 },
                        alloc_core_s: adds("alloc_core_s"),
                        alloc_core_fraction_ms: 0,
                        alloc_gpu_s: adds("alloc_gpu_s"),
                        charge,
                    },
                    why_unpriced: why,
                    correction_id: Some(Arc::from(rule.id.as_str())),
                });
            }
        }
        let records = records(month, &rules)?;
        let mut charged = ChargeBatch::begin(&records, rows.len(), &mut self.groups)?;
        charged.take(&mut rows, &mut self.groups)?;
        charged.finish(&mut self.groups, &self.charger.tariffs, &self.charger.cutter.calendar)
    }
}

/// The record id of an addition: a hash of its id. It begins with zeros, so that additions precede the
/// jobs of their month.
fn identity(rule: &Correction) -> u128 {
    let hash = blake3::hash(format!("correction {}", rule.id).as_bytes());
    // Fallback: never taken, a hash has 32 bytes.
    let half = hash.as_bytes().first_chunk::<8>().copied().unwrap_or_default();
    u128::from(u64::from_be_bytes(half))
}

/// Additions of a month, as far as `job_charges` takes columns from `records`.
fn records(month: Month, rules: &[IdentifiedRule<'_>]) -> Result<RecordBatch> {
    let first_ms = i64::from(month.first_day()) * 86_400_000;
    let mut columns: Vec<(&str, ArrayRef, bool)> = Vec::new();
    for name in RECORDED {
        let column = match name {
            "record_utc" => times(rules.iter().map(|_| Some(first_ms))),
            "record_id" => identities(rules.iter().map(|of| Some(of.id)))?,
            "job_id" => texts(rules.iter().map(|of| Some(&of.rule.id))),
            name => texts(rules.iter().map(|of| rule_value(of.rule, name))),
        };
        columns.push((name, column, true));
    }
    Ok(RecordBatch::try_from_iter_with_nullable(columns)?)
}

fn equal(rule: &Correction, site: &str) -> Equal {
    let adds = |column: &str| addend(rule.adds(column));
    let (wall_s, core_s) = (adds("wall_s"), adds("alloc_core_s"));
    let (gpu_s, node_s, job_n) = (adds("alloc_gpu_s"), adds("alloc_node_s"), adds("job_n"));
    let all = [job_n, wall_s, core_s, gpu_s, node_s];
    let has_both_signs = all.iter().any(|amount| *amount < 0) && all.iter().any(|amount| *amount > 0);
    let jobs = i128::from(job_n).abs().max(1);
    let mut known = BTreeMap::new();
    // An amount of at most 10^17 in 12 decimals fits, see the limit of corrections; what does not is not known.
    let each = |amount: i64| ratio(i128::from(amount).abs(), i128::from(wall_s).abs());
    if wall_s != 0 {
        let mut number = |name: &str, value: Option<i128>| {
            known.extend(value.map(|value| (name.to_owned(), Value::Number(value))));
        };
        number("seconds", ratio(i128::from(wall_s).abs(), jobs));
        number("cores", rule.adds("alloc_core_s").and_then(each));
        number("gpus", each(gpu_s));
        if node_s != 0 {
            number("nodes", each(node_s));
        }
        number("memory", rule.adds("alloc_memory_byte").map(whole));
    }
    let texts = ["source", "view", "vo", "account", "cluster", "partition", "qos"];
    for (name, text) in texts.iter().filter_map(|name| Some((*name, rule_value(rule, name)?))) {
        known.insert(name.to_owned(), Value::Text(text.to_owned()));
    }
    known.insert("site".to_owned(), Value::Text(site.to_owned()));
    let gpu_n = gpu_s
        .abs()
        .checked_div(wall_s.abs())
        .filter(|gpu_n| gpu_n * wall_s.abs() == gpu_s.abs());
    let devices = rule.gpu_model.iter().zip(gpu_n.filter(|gpu_n| *gpu_n > 0));
    Equal {
        gpus: devices.map(|(model, gpu_n)| (model.clone(), gpu_n)).collect(),
        known,
        times: if all.iter().any(|amount| *amount < 0) {
            -jobs
        } else {
            jobs
        },
        why: if has_both_signs {
            Some("the addition both adds and takes away")
        } else if wall_s == 0 {
            Some("the addition states no wall_s")
        } else {
            None
        },
    }
}
