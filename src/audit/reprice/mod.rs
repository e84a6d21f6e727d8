//! A lake priced again, under policies it need not have been charged by: what accounts would pay, and under two of them
//! who would pay more, who less. The jobs are those that the lake counts and charges. They are priced as recorded: corrections are
//! counted and left out. A policy that charges for something else has no price for them and is refused.

mod sums;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use self::sums::{RepricedName, RepricedSums};
use super::charge_part::ChargePart;
use crate::amounts::add;
use crate::charge::amount::CHARGE_SCALE;
use crate::charge::policy::Subject;
use crate::charge::scope::ScopeLeftOut;
use crate::charge::{Tariff, price};
use crate::error::{Error, Kind, Result};
use crate::lake::counted_records::{CountedBatch, RecordCounting};
use crate::lake::energy_tables;
use crate::numbers::{count_u64, tally};
use crate::record::SiteMonth;
use crate::reference::decimal::text as amount;
use crate::runtime::pool;
use crate::store::{Manifest, TableRows, lake};
use crate::summarise::correction_effect::Corrections;
use crate::summarise::policy_facts::PolicyFacts;

/// Rows that are priced at once.
const BATCH_ROWS: usize = 65_536;

/// One account under both policies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RepricedPayer {
    /// View of the jobs; views are never added up.
    pub view: String,
    /// Account.
    pub account: Option<String>,
    /// Charge under the first policy.
    pub a: String,
    /// Charge under the second.
    pub b: String,
    /// Its part of all charges of the view under the first, in hundredths of a per cent.
    pub share_a_e4: i64,
    /// The same under the second.
    pub share_b_e4: i64,
    /// The second part less the first: above zero it pays for more.
    pub change_e4: i64,
}

/// Two policies over the jobs of a lake.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The first policy.
    pub a: String,
    /// Its unit.
    pub unit_a: String,
    /// The second policy.
    pub b: String,
    /// Its unit.
    pub unit_b: String,
    /// Jobs priced by both, by the first alone, by the second alone, and by neither.
    pub job_n: [u64; 4],
    /// Jobs in the scope of a policy whose charge is unknown under it.
    pub unpriced_job_n: [u64; 2],
    /// Jobs out of the scope of each policy, by what keeps them out.
    pub out_of_scope: [Vec<ScopeLeftOut>; 2],
    /// Jobs of the lake that do not count in it and are charged nothing: refused, counted by summaries, or not ended where jobs
    /// count by their end.
    pub uncounted_job_n: u64,
    /// Corrections of the lake, which are left out.
    pub left_out_correction_n: u64,
    /// The same for people.
    #[serde(skip)]
    left_out: [Option<String>; 2],
    /// Accounts, those whose part grows most first.
    pub reassignments: Vec<RepricedPayer>,
}

/// What the jobs of a lake would cost under one policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Priced {
    /// The policy.
    pub policy: String,
    /// What a charge is counted in.
    pub unit: String,
    /// Jobs charged.
    pub job_n: u64,
    /// Jobs in its scope whose charge is unknown.
    pub unpriced_job_n: u64,
    /// Jobs out of its scope, by what keeps them out.
    pub out_of_scope: Vec<ScopeLeftOut>,
    /// Jobs of the lake that do not count in it and are charged nothing: refused, counted by summaries, or not ended where jobs
    /// count by their end.
    pub uncounted_job_n: u64,
    /// Corrections of the lake, which are left out.
    pub left_out_correction_n: u64,
    /// The same for people.
    #[serde(skip)]
    left_out: Option<String>,
    /// Charges by view and account, the largest first.
    pub accounts: Vec<AccountPrice>,
}

/// What one account would pay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AccountPrice {
    /// View of the jobs; views are never added up.
    pub view: String,
    /// Account.
    pub account: Option<String>,
    /// Charge.
    pub charge: String,
}

/// Prices every job of the lake under each policy, whenever it holds.
///
/// # Errors
/// [`Kind::Config`] when a policy does not charge for jobs; [`Kind::NoInput`] when there is no lake; [`Kind::Data`] when a number
/// does not fit.
pub fn all(output: &str, tariffs: &[Tariff]) -> Result<Vec<Priced>> {
    let tariffs: Vec<&Tariff> = tariffs.iter().collect();
    let sums = scan(output, &tariffs)?;
    let priced = tariffs.iter().enumerate().map(|(nth, tariff)| {
        let of = |counts: &[u64]| tally(counts.get(nth).copied());
        let mut accounts: Vec<(&RepricedName, i128)> = sums
            .charges
            .iter()
            .filter_map(|(name, charges)| Some((name, charges.get(nth).copied().flatten()?)))
            .collect();
        accounts.sort_by(|(a, charge_a), (b, charge_b)| {
            (&a.view, charge_b, &a.account).cmp(&(&b.view, charge_a, &b.account))
        });
        Priced {
            policy: named(tariff),
            unit: tariff.policy.unit.clone(),
            job_n: of(&sums.job_n),
            unpriced_job_n: of(&sums.unpriced_job_n),
            out_of_scope: sums
                .out_of_scope
                .get(nth)
                .map_or_else(Vec::new, |out| out.rows(&tariff.policy)),
            uncounted_job_n: sums.uncounted_job_n,
            left_out_correction_n: sums.left_out_correction_n,
            left_out: sums.out_of_scope.get(nth).and_then(|out| out.text(&tariff.policy)),
            accounts: accounts
                .into_iter()
                .map(|(name, charge)| AccountPrice {
                    view: name.view.clone(),
                    account: name.account.clone(),
                    charge: amount(charge, CHARGE_SCALE),
                })
                .collect(),
        }
    });
    Ok(priced.collect())
}

/// Prices every job of the lake under both policies, whenever they hold. Charges in different units are compared by
/// the part each account has of them.
///
/// # Errors
/// As [`all`].
pub fn compare(output: &str, a: &Tariff, b: &Tariff) -> Result<Comparison> {
    let sums = scan(output, &[a, b])?;
    let two = |counts: &[u64]| [0, 1].map(|nth| tally(counts.get(nth).copied()));
    Ok(Comparison {
        a: named(a),
        unit_a: a.policy.unit.clone(),
        b: named(b),
        unit_b: b.policy.unit.clone(),
        job_n: sums.class_n,
        unpriced_job_n: two(&sums.unpriced_job_n),
        out_of_scope: [(0, a), (1, b)].map(|(nth, tariff): (usize, &Tariff)| {
            let out = sums.out_of_scope.get(nth);
            out.map_or_else(Vec::new, |out| out.rows(&tariff.policy))
        }),
        uncounted_job_n: sums.uncounted_job_n,
        left_out_correction_n: sums.left_out_correction_n,
        left_out: [(0, a), (1, b)].map(|(nth, tariff): (usize, &Tariff)| {
            let out = sums.out_of_scope.get(nth);
            out.and_then(|out| out.text(&tariff.policy))
        }),
        reassignments: reassignments(&sums.charges)?,
    })
}

/// Refuses a policy that charges for something else than jobs.
fn refuse_other_subjects(tariffs: &[&Tariff]) -> Result<()> {
    let other = tariffs.iter().find(|tariff| tariff.policy.subject != Subject::Jobs);
    other.map_or(Ok(()), |tariff| {
        let remedy = match tariff.policy.subject {
            Subject::Reservations => "; a run of a pipeline with this policy charges them",
            Subject::Jobs | Subject::Storage => "",
        };
        let message = format!(
            "{} charges for {}, and only jobs are priced here{remedy}",
            tariff.policy.name(),
            tariff.policy.subject.as_str()
        );
        Err(Error::config(message).at("file", &tariff.policy.file))
    })
}

/// Reads what the policies need of every job once, and prices it under all of them.
fn scan(output: &str, tariffs: &[&Tariff]) -> Result<RepricedSums> {
    refuse_other_subjects(tariffs)?;
    let (store, manifest) = Manifest::open(output)?;
    let needs: BTreeSet<&str> = tariffs.iter().flat_map(|tariff| tariff.policy.needs()).collect();
    let energy = energy_tables::read(&store, &manifest)?;
    let counting = RecordCounting::of_lake(&store, &manifest)?;
    let mut columns = PolicyFacts::columns(&needs)?;
    columns.extend(["view", "account"]);
    let columns: Vec<&str> = columns.into_iter().collect();
    let files = manifest.dataset("records").filter_map(|file| {
        let SiteMonth { site, .. } = lake::parse_month_path(&file.path)?;
        Some((site, file.path.clone()))
    });
    let files: Vec<(String, String)> = files.collect();
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    let wanted = TableRows::of_columns(&columns, BATCH_ROWS);
    let parts = pool::each(&files, threads, |(site, path)| {
        let records = counting.batches(&store, &manifest, path, &wanted)?;
        of_records(records, PolicyFacts::new(site, needs.clone(), energy.as_ref()), tariffs)
    })?;
    let corrections = Corrections::read(&store, &manifest)?;
    let mut sums = RepricedSums::new(tariffs.len());
    sums.left_out_correction_n = count_u64(corrections.table().active().count());
    for part in parts {
        sums.add(part)?;
    }
    Ok(sums)
}

fn of_records(
    records: impl Iterator<Item = Result<CountedBatch>>,
    mut policy_facts: PolicyFacts<'_>,
    tariffs: &[&Tariff],
) -> Result<RepricedSums> {
    let mut sums = RepricedSums::new(tariffs.len());
    for batch in records {
        let CountedBatch { records, left_out_n } = batch?;
        let batch = &records;
        sums.uncounted_job_n += count_u64(left_out_n);
        let facts = policy_facts.of(batch)?;
        let mut charges = Vec::with_capacity(tariffs.len());
        for (nth, tariff) in tariffs.iter().enumerate() {
            let priced = price(&tariff.policy, &tariff.options, &facts, false)?;
            let scope = priced.is_in_scope.iter().zip(&priced.charge);
            let unpriced = scope
                .filter(|(is_in_scope, charge)| **is_in_scope && charge.is_none())
                .count();
            let job_n = priced.charge.iter().flatten().count();
            for (counts, n) in [(&mut sums.unpriced_job_n, unpriced), (&mut sums.job_n, job_n)] {
                if let Some(count) = counts.get_mut(nth) {
                    *count += count_u64(n);
                }
            }
            if let Some(out) = sums.out_of_scope.get_mut(nth) {
                out.add(&tariff.policy, &facts, &priced.kept_out)?;
            }
            charges.push(priced.charge);
        }
        sums.add_batch(batch, &charges)?;
    }
    Ok(sums)
}

fn named(tariff: &Tariff) -> String {
    let gap = if tariff.chosen.is_empty() { "" } else { " " };
    format!("{}{gap}{}", tariff.policy.name(), tariff.chosen)
}

/// What each payer has of all charges, before and after.
///
/// # Errors
/// [`Kind::Data`] when charges do not fit.
fn reassignments(sums: &BTreeMap<RepricedName, Vec<Option<i128>>>) -> Result<Vec<RepricedPayer>> {
    // Names that neither charges are left out.
    let both = |charges: &[Option<i128>]| [0, 1].map(|nth| charges.get(nth).copied().flatten());
    let charged = sums.iter().map(|(name, charges)| (name, both(charges)));
    let charged: Vec<(&RepricedName, [i128; 2])> = charged
        .filter(|(_, charges)| charges.iter().any(Option::is_some))
        // Fallback: who is not charged by one policy is charged nothing by it.
        .map(|(name, charges)| (name, charges.map(Option::unwrap_or_default)))
        .collect();
    let mut totals: BTreeMap<&str, [i128; 2]> = BTreeMap::new();
    for (name, charges) in &charged {
        for (total, charge) in totals.entry(&name.view).or_default().iter_mut().zip(charges) {
            add(total, *charge, "charge")?;
        }
    }
    let too_large = || Error::new(Kind::Data, "a charge is too large for the part of it to be worked out");
    let mut reassignments: Vec<RepricedPayer> = charged
        .into_iter()
        .map(|(name, [a, b])| {
            let [all_a, all_b] = tally(totals.get(name.view.as_str()).copied());
            let (before, after) = (ChargePart::new(a, all_a), ChargePart::new(b, all_b));
            let change = after.minus(before);
            Ok(RepricedPayer {
                view: name.view.clone(),
                account: name.account.clone(),
                a: amount(a, CHARGE_SCALE),
                b: amount(b, CHARGE_SCALE),
                share_a_e4: before.e4().ok_or_else(too_large)?,
                share_b_e4: after.e4().ok_or_else(too_large)?,
                change_e4: change.and_then(ChargePart::e4).ok_or_else(too_large)?,
            })
        })
        .collect::<Result<_>>()?;
    reassignments.sort_by(|x, y| {
        y.change_e4
            .cmp(&x.change_e4)
            .then_with(|| (&x.view, &x.account).cmp(&(&y.view, &y.account)))
    });
    Ok(reassignments)
}
