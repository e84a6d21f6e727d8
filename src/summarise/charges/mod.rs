//! From job records to charges, job by job and period by period.

mod additions;
mod batch;
mod billing_use;
mod charged_jobs;
mod columns;
mod cut_job;
mod groups;
mod held_pieces;
mod job_charger;
mod part;
mod reassigned;
mod row;
mod tally;
mod year_lengths;

use arrow_array::RecordBatch;

use self::batch::ChargeBatch;
use self::billing_use::BatchBilling;
use self::groups::ChargeGroups;
use self::job_charger::JobCharger;
use self::row::{ChargeFigures, ChargeRow};
use super::correct::Corrector;
use super::settings::Settings;
use super::usage::RefusedJob;
use crate::charge::policy::Subject;
use crate::error::Result;
use crate::numbers::Part;
use crate::schema::batch::words;

pub(crate) use self::additions::PricedAddition;
pub use self::billing_use::BillingUse;
pub use self::columns::{RECORDED, job_charges};
pub use self::part::{KEYS, SUMMED, charges_added_up, part};
pub use self::tally::{ChargeTally, UnpricedAddition};
pub use super::charges::reassigned::{ChargedPeriod, ReassignedEntry, Reassignments};

/// Charges the records of one site, or what stands for records of another subject.
pub struct Charges<'a> {
    charger: JobCharger<'a>,
    site: &'a str,
    corrector: Corrector<'a>,
    groups: ChargeGroups,
    /// By tariff.
    tallies: Vec<ChargeTally>,
    unpriced_additions: Vec<UnpricedAddition>,
}

impl<'a> Charges<'a> {
    /// Nothing yet: for the tariffs of one subject.
    #[must_use]
    pub fn new(settings: Settings<'a>, site: &'a str, subject: Subject) -> Self {
        let charger = JobCharger::new(settings, site, subject);
        Self {
            tallies: charger.tariffs.iter().map(|tariff| ChargeTally::new(tariff)).collect(),
            unpriced_additions: Vec::new(),
            groups: ChargeGroups::new(charger.tariffs.len()),
            charger,
            site,
            corrector: Corrector::new(settings.corrections, site),
        }
    }

    /// Charges a batch of `records` but for the rows in `refused`, with what corrections take back and give; gives the
    /// rows of `job_charges`.
    ///
    /// # Errors
    /// [`Kind::Data`] naming the policy when a number does not fit.
    ///
    /// [`Kind::Data`]: crate::error::Kind::Data
    pub fn add(&mut self, batch: &RecordBatch, refused: &[RefusedJob]) -> Result<Option<RecordBatch>> {
        if self.charger.tariffs.is_empty() || batch.num_rows() == 0 {
            return Ok(None);
        }
        let jobs = self.charger.jobs(batch)?;
        let job_ids = words(batch, "job_id")?;
        for ((tally, tariff), priced) in self.tallies.iter_mut().zip(&self.charger.tariffs).zip(&jobs.priced) {
            tally.count(tariff, &priced.kept_out);
            tally.count_misfits(&priced.misfits, |job| job_ids.value(job));
        }
        let billing = BatchBilling {
            site: self.site,
            clusters: words(batch, "cluster")?,
            jobs: &jobs,
        };
        let names = self.corrector.names(batch)?;
        let renamed;
        let row_n = batch.num_rows() * self.charger.tariffs.len();
        let mut charged = ChargeBatch::begin(batch, row_n, &mut self.groups)?;
        let (mut rows, mut moves) = (Vec::new(), Vec::new());
        for job in 0..batch.num_rows() {
            if refused.binary_search_by_key(&job, |refused| refused.row).is_ok() {
                continue;
            }
            let Some(cut) = self.charger.cut(&jobs, job) else {
                continue;
            };
            // What corrections make of rows is known when all jobs are charged.
            let whole = self.charger.in_one_period(&cut).filter(|_| names.is_none());
            let count = |tally: &mut ChargeTally, nth: usize, figures: &ChargeFigures| {
                tally.count_charged(figures);
                if self.charger.reads_billing(nth) {
                    billing.count(nth, job, &mut tally.billing);
                }
            };
            for (nth, tally) in self.tallies.iter_mut().enumerate() {
                if !jobs.is_in_scope(nth, job) {
                    continue;
                }
                if let Some(figures) = whole.as_ref().and_then(|whole| self.charger.whole(nth, &jobs, whole)) {
                    count(tally, nth, &figures);
                    if figures.charge.is_none()
                        && let Some(why) = self.charger.why_unpriced(nth, &jobs, job)
                    {
                        charged.note_why_unpriced(why);
                    }
                    charged.add(figures, &mut self.groups)?;
                    continue;
                }
                let from = rows.len();
                self.charger.charge(nth, &jobs, &cut, &mut rows)?;
                match rows.part(from..).first() {
                    Some(ChargeRow { figures, .. }) => count(tally, nth, figures),
                    None => tally.out_of_date_n += 1,
                }
                if names.is_none() {
                    charged.take(&mut rows, &mut self.groups)?;
                }
            }
            if let Some(names) = &names {
                self.moves(&jobs.view, names, job, &mut moves);
            }
        }
        renamed = self.correct(batch, &moves, &mut rows)?;
        if let Some(renamed) = &renamed {
            charged.put_behind(renamed)?;
        }
        charged.take(&mut rows, &mut self.groups)?;
        charged.finish(&mut self.groups, &self.charger.tariffs, &self.charger.cutter.calendar)
    }

    /// What was counted on the way, by tariff, and additions whose charge is unknown.
    #[must_use]
    pub fn take_tallies(&mut self) -> (Vec<ChargeTally>, Vec<UnpricedAddition>) {
        let tallies = std::mem::take(&mut self.tallies);
        (tallies, std::mem::take(&mut self.unpriced_additions))
    }

    /// What was charged, as a `charge_part` batch.
    ///
    /// # Errors
    /// [`Kind::Internal`] when it is not as declared.
    pub fn into_part(self) -> Result<RecordBatch> {
        self.groups
            .into_part(&self.charger.tariffs, &self.charger.cutter.calendar)
    }
}
