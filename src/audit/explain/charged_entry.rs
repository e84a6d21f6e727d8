//! What is charged and is no job: hours that a correction adds, and windows of reservations.

use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::RecordBatch;
use serde::Serialize;

use super::job::{JobCharge, MOST, day_text, fields, identity};
use super::piece::{ExplainedTariff, pieces};
use super::text::charges_text;
use super::trace::steps;
use crate::audit::value_text::hex;
use crate::charge::facts::Facts;
use crate::charge::policy::Subject;
use crate::charge::{Tariff, price};
use crate::error::{Error, Kind, Result};
use crate::lake::calendar_fact;
use crate::lake::tariffs::LakeTariffs;
use crate::ledger::Book;
use crate::record::SiteMonth;
use crate::reference::correction::{Action, Correction};
use crate::run::reservations::{self, ChargedWindows};
use crate::schema::batch::{id, text};
use crate::store::{Manifest, Store, lake, read_table};
use crate::summarise::charges::PricedAddition;
use crate::summarise::correction_effect::Corrections;
use crate::summarise::policy_facts::PolicyFacts;
use crate::summarise::share::{PeriodShare, ShareSplitter};
use crate::summarise::view::RecordView;
use crate::time::MsSpan;

/// What is charged under a name that no job has, explained.
#[derive(Clone, Debug, Serialize)]
pub struct ChargedEntry {
    /// `correction` or `reservation`.
    pub kind: &'static str,
    /// Its id or name: the `job_id` of its charges.
    pub name: String,
    /// Site.
    pub site: String,
    /// What represents its record.
    pub record_id: String,
    /// What is known of it, a line each.
    pub facts: Vec<String>,
    /// Charges.
    pub charges: Vec<JobCharge>,
}

/// The additions by corrections and the windows of reservations that are called `name`: by their id, name or record id.
///
/// # Errors
/// [`Kind::NoInput`] when there is no lake, or nothing in it has this name; [`Kind::Io`] when it cannot be read.
pub fn charged_entries(output: &str, name: &str) -> Result<Vec<ChargedEntry>> {
    let (store, manifest) = Manifest::open(output)?;
    let lake = ChargedLake {
        tariffs: LakeTariffs::read(&store, &manifest)?,
        store,
        manifest,
    };
    let mut found = lake.additions(name)?;
    found.append(&mut lake.windows(name)?);
    if found.is_empty() {
        let message = format!("{output} has no job, addition or reservation called {name}");
        return Err(Error::new(Kind::NoInput, message));
    }
    Ok(found)
}

struct ChargedLake {
    store: Store,
    manifest: Manifest,
    tariffs: LakeTariffs,
}

/// The charges of an entry, and how the parts of them came about.
struct ChargedParts<'a> {
    site: &'a str,
    record_id: [u8; 16],
    /// Rows of `job_charges`, of this entry and others.
    rows: Vec<RecordBatch>,
    /// Its time by period.
    shares: &'a [PeriodShare],
}

impl ChargedLake {
    fn batches(&self, path: &str) -> Result<Vec<RecordBatch>> {
        if self.manifest.file(path).is_none() {
            return Ok(Vec::new());
        }
        read_table(self.store.reader(path)?, None, 16_384)?.collect()
    }

    fn additions(&self, name: &str) -> Result<Vec<ChargedEntry>> {
        let corrections = Corrections::read(&self.store, &self.manifest)?;
        let mut entries = Vec::new();
        for rule in corrections.table().active().filter(|rule| rule.action == Action::Add) {
            let Some((site, month)) = rule.site.as_deref().zip(rule.month) else {
                continue;
            };
            let priced = PricedAddition::new(rule, site)?;
            let record_id = priced.record_id.to_be_bytes();
            if rule.id != name && identity(name) != Some(record_id) {
                continue;
            }
            let parts = ChargedParts {
                site,
                record_id,
                rows: self.batches(&lake::month_path("job_charges", site, month))?,
                shares: &[],
            };
            let charges = self.charges(
                &parts,
                |_| Ok(priced.facts.clone()),
                |steps| steps.push(times_text(&priced)),
            )?;
            entries.push(ChargedEntry {
                kind: "correction",
                name: rule.id.clone(),
                site: site.to_owned(),
                record_id: hex(&record_id),
                facts: addition_facts(rule),
                charges,
            });
        }
        Ok(entries)
    }

    fn windows(&self, name: &str) -> Result<Vec<ChargedEntry>> {
        let mut entries = Vec::new();
        let charges_windows = |tariff: &Arc<Tariff>| tariff.policy.subject == Subject::Reservations;
        if !self.tariffs.tariffs.iter().any(charges_windows) {
            return Ok(entries);
        }
        for (place, ChargedWindows { records, origins }) in reservations::published(&self.store, &self.manifest)? {
            let SiteMonth { site, month } = place;
            for (row, origin) in origins.iter().enumerate() {
                let record = records.slice(row, 1);
                let record_id = <[u8; 16]>::try_from(id(&record, "record_id")?.value(0))
                    .map_err(|why| Error::internal("a record id of another length").because(why))?;
                let is_called = text(&record, "job_id")?.value(0) == name || identity(name) == Some(record_id);
                if entries.len() == MOST || !is_called {
                    continue;
                }
                let (attribution, calendar) = calendar_fact::restored(&self.manifest.facts)?;
                let mut splitter = ShareSplitter::new(attribution, calendar);
                let parts = ChargedParts {
                    site: &site,
                    record_id,
                    rows: self.batches(&lake::subject_path(
                        "job_charges",
                        Subject::Reservations.as_str(),
                        &site,
                        month,
                    ))?,
                    shares: &splitter.shares(&RecordView::new(&record)?, 0),
                };
                let facts_of = |tariff: &Tariff| PolicyFacts::new(&site, tariff.policy.needs(), None).of(&record);
                let charges = self.charges(&parts, facts_of, |_| {})?;
                let mut facts = vec![format!(
                    "listed in {} line {}",
                    self.input_path(&origin.file_id)?,
                    origin.line
                )];
                facts.extend(fields(&record, "")?.into_iter().map(|field| {
                    let unit = if field.unit == "1" { "" } else { field.unit.as_str() };
                    format!("{} = {} {unit}", field.name, field.value).trim_end().to_owned()
                }));
                entries.push(ChargedEntry {
                    kind: "reservation",
                    name: origin.name.clone(),
                    site: site.clone(),
                    record_id: hex(&record_id),
                    facts,
                    charges,
                });
            }
        }
        Ok(entries)
    }

    /// The path of an input file.
    fn input_path(&self, file_id: &str) -> Result<String> {
        let inputs = self.batches(lake::inputs_path(&self.manifest))?;
        let book = Book::load(&inputs, &self.batches(lake::LEDGER)?)?;
        let path = book.inputs().get(file_id).and_then(|input| input.paths.first());
        Ok(path.map_or_else(|| file_id.to_owned(), ToString::to_string))
    }

    /// What an entry was charged, policy by policy; `facts_of` gives what a policy reads of it, `explain_more` adds steps.
    fn charges(
        &self,
        parts: &ChargedParts<'_>,
        facts_of: impl Fn(&Tariff) -> Result<Facts>,
        explain_more: impl Fn(&mut Vec<String>),
    ) -> Result<Vec<JobCharge>> {
        // Fallback: a lake of an earlier version records no calendar, and its parts no derivation.
        let calendar = calendar_fact::restored(&self.manifest.facts).ok();
        let mut charges = Vec::new();
        for tariff in &self.tariffs.tariffs {
            let wanted = ExplainedTariff {
                key: tariff.key(),
                pool: None,
            };
            let holds: Option<MsSpan> = calendar.as_ref().map(|(_, calendar)| tariff.policy.holds(calendar));
            let pieces = pieces(&parts.rows, parts.site, &parts.record_id, wanted, parts.shares, holds)?;
            if pieces.is_empty() {
                continue;
            }
            let facts = facts_of(tariff)?;
            let priced = price(&tariff.policy, &tariff.options, &facts, true)?;
            let mut steps = steps(tariff, &facts, &priced);
            explain_more(&mut steps);
            charges.push(JobCharge::of(tariff, steps, pieces));
        }
        Ok(charges)
    }
}

/// How often an addition is charged.
fn times_text(priced: &PricedAddition) -> String {
    match (priced.why, priced.times) {
        (Some(why), _) => format!("it is not charged by this: {why}"),
        (None, times) => format!("the addition is {times} times that"),
    }
}

/// What the row of a correction states.
fn addition_facts(rule: &Correction) -> Vec<String> {
    let mut facts = vec![
        format!("action = {}", rule.action.as_str()),
        format!("author = {}", rule.author),
        format!("reason = {}", rule.reason),
        format!("date = {}", day_text(rule.signed_on)),
    ];
    facts.extend(rule.month.map(|month| format!("month = {month}")));
    let filters = rule.filters.iter();
    facts.extend(filters.filter_map(|(name, value)| Some(format!("{name} = {}", value.as_ref()?))));
    facts.extend(rule.added.iter().map(|(name, amount)| format!("{name} = {amount}")));
    facts.extend(rule.gpu_model.iter().map(|model| format!("gpu_model = {model}")));
    facts
}

impl ChargedEntry {
    /// The page.
    #[must_use]
    pub fn text(&self) -> String {
        let what = match self.kind {
            "correction" => "Hours added by the correction",
            _ => "Window of the reservation",
        };
        let mut text = format!(
            "{what} {} of {}: record {}\n\nWhat it is\n",
            self.name, self.site, self.record_id
        );
        for fact in &self.facts {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {fact}");
        }
        text.push_str(&charges_text(&self.charges, "no policy of the lake charges it"));
        text
    }
}
