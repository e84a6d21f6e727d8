//! A lake priced again under two policies: who would pay more, who less.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::charge::amount::CHARGE_SCALE;
use crate::charge::facts::Facts;
use crate::charge::{Tariff, price};
use crate::error::Result;
use crate::reference::decimal::text as amount;
use crate::schema::batch::{text, word};
use crate::store::{Manifest, lake, read_table};

/// One account under both policies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Payer {
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
    /// Accounts, those whose part grows most first.
    pub payers: Vec<Payer>,
}

/// Prices every job of the lake under both policies, whenever they hold. Charges in different units are compared by
/// the part each account has of them.
///
/// # Errors
/// [`crate::error::Kind::NoInput`] when there is no lake; [`crate::error::Kind::Data`] when a number does not fit.
pub fn compare(output: &str, a: &Tariff, b: &Tariff) -> Result<Comparison> {
    let (store, manifest) = Manifest::open(output)?;
    let mut sums: BTreeMap<(String, Option<String>), [i128; 2]> = BTreeMap::new();
    let (mut job_n, mut unpriced_job_n) = ([0; 4], [0; 2]);
    let needs = [a, b].map(|tariff| tariff.policy.needs());
    for file in manifest.dataset("records") {
        let Some((site, _)) = lake::parse_month_path(&file.path) else {
            continue;
        };
        for batch in read_table(store.reader(&file.path)?, None, 65_536)? {
            let batch = batch?;
            let mut priced = Vec::new();
            for (tariff, needs) in [a, b].into_iter().zip(&needs) {
                let facts = Facts::of_records(&batch, &site, needs)?;
                priced.push(price(&tariff.policy, &tariff.options, &facts, false)?);
            }
            let (views, accounts) = (text(&batch, "view")?, text(&batch, "account")?);
            for row in 0..batch.num_rows() {
                let charges = [0, 1].map(|nth| priced.get(nth).and_then(|priced| *priced.charge.get(row)?));
                let class = match charges {
                    [Some(_), Some(_)] => 0,
                    [Some(_), None] => 1,
                    [None, Some(_)] => 2,
                    [None, None] => 3,
                };
                if let Some(jobs) = job_n.get_mut(class) {
                    *jobs += 1;
                }
                for ((priced, charge), unpriced) in priced.iter().zip(charges).zip(&mut unpriced_job_n) {
                    let is_in_scope = priced.is_in_scope.get(row) == Some(&true);
                    *unpriced += u64::from(is_in_scope && charge.is_none());
                }
                if class == 3 {
                    continue;
                }
                let key = (views.value(row).to_owned(), word(accounts, row).map(str::to_owned));
                for (sum, charge) in sums.entry(key).or_default().iter_mut().zip(charges) {
                    *sum += charge.unwrap_or(0);
                }
            }
        }
    }
    Ok(Comparison {
        a: named(a),
        unit_a: a.policy.unit.clone(),
        b: named(b),
        unit_b: b.policy.unit.clone(),
        job_n,
        unpriced_job_n,
        payers: payers(&sums),
    })
}

fn named(tariff: &Tariff) -> String {
    let gap = if tariff.chosen.is_empty() { "" } else { " " };
    format!("{}{gap}{}", tariff.policy.name(), tariff.chosen)
}

fn payers(sums: &BTreeMap<(String, Option<String>), [i128; 2]>) -> Vec<Payer> {
    let mut totals: BTreeMap<&str, [i128; 2]> = BTreeMap::new();
    for ((view, _), charges) in sums {
        for (total, charge) in totals.entry(view).or_default().iter_mut().zip(charges) {
            *total += charge;
        }
    }
    let share = |part: i128, whole: i128| {
        let share = part.saturating_mul(10_000).checked_div(whole).unwrap_or(0);
        i64::try_from(share).unwrap_or(0)
    };
    let mut payers: Vec<Payer> = sums
        .iter()
        .map(|((view, account), [a, b])| {
            let [all_a, all_b] = totals.get(view.as_str()).copied().unwrap_or_default();
            let (before, after) = (share(*a, all_a), share(*b, all_b));
            Payer {
                view: view.clone(),
                account: account.clone(),
                a: amount(*a, CHARGE_SCALE),
                b: amount(*b, CHARGE_SCALE),
                share_a_e4: before,
                share_b_e4: after,
                change_e4: after - before,
            }
        })
        .collect();
    payers.sort_by(|x, y| {
        y.change_e4
            .cmp(&x.change_e4)
            .then_with(|| (&x.view, &x.account).cmp(&(&y.view, &y.account)))
    });
    payers
}

impl Comparison {
    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let [both, only_a, only_b, neither] = self.job_n;
        let [unpriced_a, unpriced_b] = self.unpriced_job_n;
        let mut text = format!(
            "A: {} ({})\nB: {} ({})\n{both} jobs priced by both, {only_a} by A alone, {only_b} by B alone, {neither} by neither; \
             charge unknown for {unpriced_a} under A, {unpriced_b} under B\n\n{:<20} {:<10} {:>22} {:>22} {:>9} {:>9} {:>9}\n",
            self.a, self.unit_a, self.b, self.unit_b, "account", "view", "A", "B", "part of A", "part of B", "change"
        );
        for payer in &self.payers {
            let percent = |e4: i64| amount(i128::from(e4), 2) + " %";
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{:<20} {:<10} {:>22} {:>22} {:>9} {:>9} {:>9}",
                payer.account.as_deref().unwrap_or("-"),
                payer.view,
                payer.a,
                payer.b,
                percent(payer.share_a_e4),
                percent(payer.share_b_e4),
                percent(payer.change_e4)
            );
        }
        text
    }
}
