//! Charges of jobs added up by account, under several policies at once.

use std::collections::{BTreeMap, HashMap};

use arrow_array::{RecordBatch, StringArray};

use crate::amounts::add_known;
use crate::charge::scope::OutOfScope;
use crate::error::Result;
use crate::schema::batch::{text, word};

/// Whose charges are added up; views are never added up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RepricedName {
    pub(super) view: String,
    pub(super) account: Option<String>,
}

/// What some jobs come to under every tariff.
#[derive(Clone, Debug, Default)]
pub(super) struct RepricedSums {
    /// Charges by name and tariff; `None` where no job is charged.
    pub(super) charges: BTreeMap<RepricedName, Vec<Option<i128>>>,
    /// Jobs charged, by tariff.
    pub(super) job_n: Vec<u64>,
    /// Jobs in scope whose charge is unknown, by tariff.
    pub(super) unpriced_job_n: Vec<u64>,
    /// Jobs by which of the first two tariffs charge them: both, the first, the second, neither.
    pub(super) class_n: [u64; 4],
    /// Jobs out of scope, by tariff.
    pub(super) out_of_scope: Vec<OutOfScope>,
    /// Jobs that do not count in the lake.
    pub(super) uncounted_job_n: u64,
    /// Corrections of the lake, which are not applied.
    pub(super) left_out_correction_n: u64,
}

impl RepricedSums {
    pub(super) fn new(tariff_n: usize) -> Self {
        Self {
            job_n: vec![0; tariff_n],
            unpriced_job_n: vec![0; tariff_n],
            out_of_scope: vec![OutOfScope::default(); tariff_n],
            ..Self::default()
        }
    }

    /// Adds the charges of a batch of records, by tariff.
    pub(super) fn add_batch(&mut self, batch: &RecordBatch, charges: &[Vec<Option<i128>>]) -> Result<()> {
        let (views, accounts) = (text(batch, "view")?, text(batch, "account")?);
        let places = RepricedPlaces::of(views, accounts);
        let mut own = vec![vec![None; charges.len()]; places.names.len()];
        for (nth, charges) in charges.iter().enumerate() {
            for (place, charge) in places.of_row.iter().zip(charges) {
                let sum: Option<&mut Option<i128>> = own.get_mut(*place).and_then(|sums| sums.get_mut(nth));
                if let (Some(sum), Some(charge)) = (sum, charge) {
                    add_known(sum, Some(*charge), "charge")?;
                }
            }
        }
        if let [a, b, ..] = charges {
            for (a, b) in a.iter().zip(b) {
                let class = usize::from(a.is_none()) * 2 + usize::from(b.is_none());
                // Both, the first alone, the second alone, neither.
                if let Some(jobs) = self.class_n.get_mut(class) {
                    *jobs += 1;
                }
            }
        }
        for ((view, account), sums) in places.names.into_iter().zip(own) {
            let name = RepricedName {
                view: view.to_owned(),
                account: account.map(str::to_owned),
            };
            self.add_name(name, &sums)?;
        }
        Ok(())
    }

    fn add_name(&mut self, name: RepricedName, charges: &[Option<i128>]) -> Result<()> {
        let own = self.charges.entry(name).or_insert_with(|| vec![None; charges.len()]);
        for (sum, charge) in own.iter_mut().zip(charges) {
            add_known(sum, *charge, "charge")?;
        }
        Ok(())
    }

    pub(super) fn add(&mut self, other: Self) -> Result<()> {
        for (name, charges) in other.charges {
            self.add_name(name, &charges)?;
        }
        let counts = self.job_n.iter_mut().chain(&mut self.unpriced_job_n);
        let counts = counts.chain(&mut self.class_n);
        let others = other.job_n.iter().chain(&other.unpriced_job_n).chain(&other.class_n);
        for (sum, n) in counts.zip(others) {
            *sum += n;
        }
        self.uncounted_job_n += other.uncounted_job_n;
        for (own, out) in self.out_of_scope.iter_mut().zip(other.out_of_scope) {
            own.merge(out);
        }
        Ok(())
    }
}

/// The names in a batch, and which each row has.
struct RepricedPlaces<'b> {
    names: Vec<(&'b str, Option<&'b str>)>,
    of_row: Vec<usize>,
}

impl<'b> RepricedPlaces<'b> {
    fn of(views: &'b StringArray, accounts: &'b StringArray) -> Self {
        let mut known: HashMap<(&str, Option<&str>), usize, ahash::RandomState> = HashMap::default();
        let mut names = Vec::new();
        let of_row = views.iter().enumerate().map(|(row, view)| {
            // Fallback: never taken, no record is without a view.
            let name = (view.unwrap_or_default(), word(accounts, row));
            *known.entry(name).or_insert_with(|| {
                names.push(name);
                names.len() - 1
            })
        });
        let of_row = of_row.collect();
        Self { names, of_row }
    }
}
