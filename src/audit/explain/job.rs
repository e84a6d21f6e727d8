//! A job and everything that was made of it.

use std::path::Path;

use arrow_array::{Array, ArrayRef, RecordBatch};
use serde::Serialize;

use super::energy;
use super::job_usage::{JobUsage, used};
use super::payer::steps_by_payer;
use super::piece::{ExplainedTariff, pieces};
use super::raw;
use super::trace::work;
use crate::audit::value_text::{hex, value_text};
use crate::charge::Tariff;
use crate::energy::EnergyPlan;
use crate::error::Result;
use crate::lake::counted_records::{UncountedRecords, counts_running};
use crate::lake::refused_records::RefusedRecords;
use crate::lake::views::{counting, folded};
use crate::lake::{calendar_fact, energy_tables, state};
use crate::ledger::{Book, Reason};
use crate::numbers::stored_u64;
use crate::overhead;
use crate::overhead::bills;
use crate::record::SiteMonth;
use crate::schema::batch::{id, int, stated_identity, text, time, word, word_or_empty};
use crate::schema::{self, Column};
use crate::store::Fact;
use crate::store::{Current, Manifest, Store, lake, read_table};
use crate::summarise::correction_effect::Corrections;
use crate::summarise::policy_facts::PolicyFacts;
use crate::summarise::share::{PeriodShare, ShareSplitter};
use crate::summarise::view::RecordView;
use crate::time::{Calendar, Day, Month};

/// Most jobs one call explains.
pub(super) const MOST: usize = 20;

/// A value of a record.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedField {
    /// Column.
    pub name: String,
    /// Value.
    pub value: String,
    /// Unit.
    pub unit: String,
    /// The source's field it was read from.
    pub from: String,
    /// What it means.
    pub meaning: String,
}

/// A row of the same job that does not count.
#[derive(Clone, Debug, Serialize)]
pub struct EarlierVersion {
    /// `duplicate` or `superseded`.
    pub outcome: String,
    /// Its file.
    pub path: String,
    /// Its line.
    pub line: i64,
}

/// What one period was charged.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedPiece {
    /// First day of the month.
    pub month: String,
    /// The day, in a lake of days.
    pub day: Option<String>,
    /// VO it is charged to.
    pub vo: Option<String>,
    /// Account that pays.
    pub account: Option<String>,
    /// The correction it is an entry of.
    pub correction_id: Option<String>,
    /// The time of the job from start to end in the period while the policy held, and in all, milliseconds.
    pub ran_ms: Option<[i64; 2]>,
    /// The charge; `None` when it is unknown.
    pub charge: Option<String>,
    /// Why it is unknown.
    pub why_unpriced: Option<String>,
    /// The file of `charges` it was added to.
    pub cell: String,
}

/// A charge with its formula.
#[derive(Clone, Debug, Serialize)]
pub struct JobCharge {
    /// Policy.
    pub policy: String,
    /// Version.
    pub version: String,
    /// Options chosen.
    pub options: String,
    /// Title of the policy.
    pub title: String,
    /// Unit.
    pub unit: String,
    /// Inputs, then every value: formula, formula with its numbers, result.
    pub steps: Vec<String>,
    /// By period; they add up to the charge, or to the share of the time the policy held.
    pub pieces: Vec<ExplainedPiece>,
}

impl JobCharge {
    /// Of what a policy charges.
    pub(super) fn of(tariff: &Tariff, steps: Vec<String>, pieces: Vec<ExplainedPiece>) -> Self {
        Self {
            policy: tariff.policy.id.clone(),
            version: tariff.policy.version.clone(),
            options: tariff.chosen.clone(),
            title: tariff.policy.title.clone(),
            unit: tariff.policy.unit.clone(),
            steps,
            pieces,
        }
    }
}

/// A job, explained.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    /// Site.
    pub site: String,
    /// Job id.
    pub job_id: String,
    /// Identity of the record.
    pub record_id: String,
    /// Source.
    pub source: String,
    /// Dialect family.
    pub format: String,
    /// Input file.
    pub file_id: String,
    /// Its path.
    pub path: String,
    /// Line.
    pub line: i64,
    /// Byte offset, after decompression.
    pub byte_offset: i64,
    /// Header and row, if they can be shown.
    pub raw: Option<[String; 2]>,
    /// Why not.
    pub raw_missing: Option<String>,
    /// Zone of the source's times without an offset, where it is known.
    pub zone: Option<String>,
    /// Values that are known.
    pub fields: Vec<ExplainedField>,
    /// Other rows of the same job.
    pub history: Vec<EarlierVersion>,
    /// Work done, with the benchmark and where it came from.
    pub work: Vec<String>,
    /// Energy and carbon in all of its run, with the rows of the tables they were computed by; none where the lake has no energy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub energy: Vec<String>,
    /// Whether summaries of its site, month and view count in its place; if so, it is not usage and is not charged.
    pub is_displaced: bool,
    /// Why it is refused although `records` holds it: it is no usage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<&'static str>,
    /// Why the lake does not count it, whatever the reason: it is no usage and is not charged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncounted: Option<String>,
    /// What usage has of it, period by period, as recorded and as corrected.
    pub usage: Vec<JobUsage>,
    /// Charges.
    pub charges: Vec<JobCharge>,
}

/// The jobs that are called `job`: by job id, plain job number, grid-wide id or record id; none where no job is. `inputs` is the
/// folder the paths of input files are relative to: that of the pipeline file.
///
/// # Errors
/// [`crate::error::Kind::NoInput`] when there is no lake; [`crate::error::Kind::Io`] when it cannot be read.
pub fn explain(output: &str, job: &str, inputs: &Path) -> Result<Vec<Explained>> {
    let (store, manifest) = Manifest::open(output)?;
    let table = |path: &str| -> Result<Vec<RecordBatch>> { read_table(store.reader(path)?, None, 16_384)?.collect() };
    let book = Book::load(&table(lake::inputs_path(&manifest))?, &table(lake::LEDGER)?)?;
    let energy = energy_tables::read(&store, &manifest)?;
    let corrections = Corrections::read(&store, &manifest)?;
    let lake = ExplainedLake {
        store,
        manifest,
        book,
        energy,
        corrections,
    };
    let wanted = identity(job);
    let mut found = Vec::new();
    for file in lake.manifest.dataset("records") {
        let Some(SiteMonth { site, month }) = lake::parse_month_path(&file.path) else {
            continue;
        };
        for batch in read_table(lake.store.reader(&file.path)?, None, 16_384)? {
            let batch = batch?;
            let ids = id(&batch, "record_id")?;
            let names = ["job_id", "raw_job_id", "global_job_id"];
            let names = names
                .map(|name| text(&batch, name))
                .into_iter()
                .collect::<Result<Vec<_>>>()?;
            for row in 0..batch.num_rows() {
                let is_named = names.iter().any(|name| word(name, row) == Some(job));
                if found.len() < MOST && (is_named || wanted.as_ref().map(<[u8; 16]>::as_slice) == Some(ids.value(row)))
                {
                    found.push(lake.job(&site, month, &batch.slice(row, 1), inputs)?);
                }
            }
        }
    }
    Ok(found)
}

struct ExplainedLake {
    store: Store,
    manifest: Manifest,
    book: Book,
    energy: Option<EnergyPlan>,
    corrections: Corrections,
}

impl ExplainedLake {
    /// The one row of `record`.
    fn job(&self, site: &str, month: Month, record: &RecordBatch, inputs: &Path) -> Result<Explained> {
        let of = |name: &str| -> Result<String> { Ok(word_or_empty(text(record, name)?, 0).to_owned()) };
        let record_id = id(record, "record_id")?.value(0);
        let file_id = of("file_id")?;
        let (path, blake3) = self.input(&file_id);
        let byte_offset = int(record, "byte_offset")?.value(0);
        let raw = if state::withholds_names(&self.manifest.facts) {
            Err("[privacy] of its pipeline withholds names, and the input holds them as they are".to_owned())
        } else {
            raw::row(inputs, &path, &blake3, stored_u64(byte_offset, "byte_offset")?)?
        };
        let (raw, raw_missing) = match raw {
            Ok(raw) => (Some(raw), None),
            Err(why) => (None, Some(why)),
        };
        let format = of("format")?;
        // A lake of an earlier version records no calendar: its parts are reported without their derivation.
        // Fallback: a lake of an earlier version records no calendar, and its parts no derivation.
        let reported = calendar_fact::restored(&self.manifest.facts).ok();
        let mut splitter = reported.map(|(attribution, calendar)| ShareSplitter::new(attribution, calendar));
        let view = RecordView::new(record)?;
        let shares = splitter
            .as_mut()
            .map_or_else(Vec::new, |splitter| splitter.shares(&view, 0));
        let calendar = splitter.map(|splitter| splitter.calendar().clone());
        let reason = self.uncounted(site, month, record_id, &of("view")?)?;
        let is_displaced = reason == Some(Reason::SummariesCount);
        let refused = reason.filter(|_| !is_displaced).map(Reason::code);
        let is_open = time(record, "end_utc")?.is_null(0);
        let uncounted = match refused {
            Some(refused) => Some(format!("the record is refused ({refused}, see rejects)")),
            None if is_displaced => Some("summaries of its site, month and view count in its place".to_owned()),
            None if is_open && !counts_running(&self.manifest) => {
                Some("it has not ended, and the lake counts jobs when they end".to_owned())
            }
            None => None,
        };
        Ok(Explained {
            site: site.to_owned(),
            job_id: of("job_id")?,
            source: of("source")?,
            fields: fields(record, &format)?,
            history: self.history(site, month, record_id)?,
            work: work(record)?,
            energy: match &self.energy {
                Some(plan) => energy::lines(plan, site, record)?,
                None => Vec::new(),
            },
            is_displaced,
            refused,
            usage: if uncounted.is_some() {
                Vec::new()
            } else {
                used(record, &shares, site, &self.corrections)?
            },
            uncounted,
            charges: self.charges(site, month, record, record_id, &shares, calendar.as_ref())?,
            zone: (self.manifest.facts)
                .get(Fact::SourceTimezone(&of("source")?))
                .map(str::to_owned),
            line: int(record, "line")?.value(0),
            record_id: hex(record_id),
            format,
            file_id,
            path,
            byte_offset,
            raw,
            raw_missing,
        })
    }

    /// Why a record of a view does not count; `None` where it does.
    fn uncounted(&self, site: &str, month: Month, record_id: &[u8], view: &str) -> Result<Option<Reason>> {
        let place = folded(&SiteMonth::new(site, month));
        let summaries = Current::published(&self.manifest, "summary").into_iter();
        let displaced = counting(&self.store, summaries, |of| *of == place)?;
        let records = lake::month_path("records", site, month);
        let uncounted = UncountedRecords {
            refused: &RefusedRecords::of_file(&self.store, &self.manifest, &records)?,
            displaced: displaced.get(&place),
        };
        Ok(uncounted.reason(record_id, view))
    }

    /// Path and hash of an input file.
    fn input(&self, file_id: &str) -> (String, String) {
        let input = self.book.inputs().get(file_id);
        let path = input.and_then(|input| input.paths.first().cloned());
        (
            path.map_or_else(String::new, |path| path.to_string()),
            input.map_or_else(String::new, |input| input.blake3.to_string()),
        )
    }

    fn batches(&self, path: &str) -> Result<Vec<RecordBatch>> {
        if self.manifest.file(path).is_none() {
            return Ok(Vec::new());
        }
        read_table(self.store.reader(path)?, None, 16_384)?.collect()
    }

    fn history(&self, site: &str, month: Month, record_id: &[u8]) -> Result<Vec<EarlierVersion>> {
        let mut past = Vec::new();
        for batch in self.batches(&lake::month_path("history", site, month))? {
            let (ids, outcome) = (id(&batch, "record_id")?, text(&batch, "outcome")?);
            let (files, line) = (text(&batch, "file_id")?, int(&batch, "line")?);
            for row in (0..batch.num_rows()).filter(|row| ids.value(*row) == record_id) {
                past.push(EarlierVersion {
                    outcome: outcome.value(row).to_owned(),
                    path: self.input(files.value(row)).0,
                    line: line.value(row),
                });
            }
        }
        Ok(past)
    }

    /// What the jobs of a month of records are billed of their nodes.
    fn bill_rows(&self, site: &str, month: Month) -> Result<Vec<RecordBatch>> {
        let mut rows = Vec::new();
        for file in self.manifest.dataset("job_charges") {
            let is_of_month = lake::parse_month_path(&file.path).is_some_and(|of| of.site == site && of.month == month);
            if is_of_month && lake::parse_bill_path(&file.path).is_some() {
                rows.append(&mut self.batches(&file.path)?);
            }
        }
        Ok(rows)
    }

    fn charges(
        &self,
        site: &str,
        month: Month,
        record: &RecordBatch,
        record_id: &[u8],
        shares: &[PeriodShare],
        calendar: Option<&Calendar>,
    ) -> Result<Vec<JobCharge>> {
        let rows = self.batches(&lake::month_path("job_charges", site, month))?;
        let bill_rows = self.bill_rows(site, month)?;
        let mut bills_of: Option<overhead::OverheadLines> = None;
        let mut charges = Vec::new();
        for batch in self.batches(crate::run::charges::POLICIES)? {
            let of = |name: &str| text(&batch, name);
            let (ids, texts, chosen) = (of("id")?, of("text")?, of("options")?);
            let (versions, titles) = (of("version")?, of("title")?);
            let (pools, units) = (of("pool")?, of("unit")?);
            for row in 0..batch.num_rows() {
                if bills::is_policy(ids.value(row)) {
                    let key = (ids.value(row), versions.value(row), chosen.value(row));
                    let pieces = pieces(
                        &bill_rows,
                        site,
                        record_id,
                        ExplainedTariff {
                            key,
                            pool: Some(pools.value(row)),
                        },
                        shares,
                        None,
                    )?;
                    if !pieces.is_empty() {
                        let lines = match &mut bills_of {
                            Some(lines) => lines,
                            none => none.insert(overhead::explain(&self.store, &self.manifest, site, record)?),
                        };
                        let of = overhead::OverheadBill {
                            options: chosen.value(row).to_owned(),
                            pool: pools.value(row).to_owned(),
                        };
                        charges.push(JobCharge {
                            policy: ids.value(row).to_owned(),
                            version: versions.value(row).to_owned(),
                            options: chosen.value(row).to_owned(),
                            title: titles.value(row).to_owned(),
                            unit: units.value(row).to_owned(),
                            // Fallback: a job without steps has no lines of steps.
                            steps: lines.remove(&of).unwrap_or_default(),
                            pieces,
                        });
                    }
                    continue;
                }
                let tariff = Tariff::restored(ids.value(row), texts.value(row), chosen.value(row))?;
                let holds = calendar.map(|calendar| tariff.policy.holds(calendar));
                let wanted = ExplainedTariff {
                    key: tariff.key(),
                    pool: None,
                };
                let pieces = pieces(&rows, site, record_id, wanted, shares, holds)?;
                if pieces.is_empty() {
                    continue;
                }
                let mut facts = PolicyFacts::new(site, tariff.policy.needs(), self.energy.as_ref());
                let steps = steps_by_payer(&tariff, record, &pieces, |record| facts.of(record))?;
                charges.push(JobCharge::of(&tariff, steps, pieces));
            }
        }
        Ok(charges)
    }
}

pub(crate) fn day_text(day: Day) -> String {
    let date = crate::time::month::date_of(day);
    date.map_or_else(String::new, |date| date.to_string())
}

/// Every value that is known, and where it came from.
pub(super) fn fields(record: &RecordBatch, format: &str) -> Result<Vec<ExplainedField>> {
    let mut fields = Vec::new();
    for column in &schema::dataset("records")?.columns {
        let array: &ArrayRef = schema::batch::column(record, &column.name)?;
        if array.is_null(0) {
            continue;
        }
        let value = value_text(array, 0)?;
        if value == "false" {
            continue;
        }
        fields.push(ExplainedField {
            name: column.name.clone(),
            value,
            unit: column.unit.clone(),
            from: origin(column, format),
            meaning: column.doc.clone(),
        });
    }
    Ok(fields)
}

fn origin(column: &Column, format: &str) -> String {
    let own = column.origin.get(format).or_else(|| column.origin.get("gridtally"));
    own.cloned().unwrap_or_else(|| "as the source has it".to_owned())
}

/// The bytes of an identity as people write it, with or without dashes.
pub(super) fn identity(text: &str) -> Option<[u8; 16]> {
    stated_identity(text).map(u128::to_be_bytes)
}
