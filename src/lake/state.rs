//! What the lake already knows: its ledger, and the settings it was made under.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::RecordBatch;

use super::benchmark_fact::ScaledData;
use super::found::FoundFile;
use super::{addition_fact, benchmark_fact, calendar_fact, capacity, energy_fact};
use crate::config::Plan;
use crate::dedupe::Window;
use crate::dedupe::file_order::ArrivedFile;
use crate::error::{Error, Result};
use crate::ledger::Places;
use crate::ledger::book::InputEntry;
use crate::ledger::file_paths::FilePath;
use crate::ledger::path_contents::{PathContents, SourcePath};
use crate::ledger::{BOOK_TABLES, Book, BookTable, Outcome, Reason};
use crate::privacy::Field;
use crate::record::SiteMonth;
use crate::reference::benchmark::AskedSpan;
use crate::schema::sql::{self, DatasetFiles, SCRIPT};
use crate::schema::{self, Dataset};
use crate::sources::dialect::{Content, READERS};
use crate::sources::format::Format;
use crate::sources::registry;
use crate::store::lake::{self, INPUTS, LEDGER, LakeTable};
use crate::store::machinery::PUBLICATION_BOOKS;
use crate::store::{Fact, LakeFacts, Publication, empty};

/// The state of a lake.
#[derive(Default)]
pub(crate) struct State {
    /// The ledger.
    pub(crate) book: Book,
    pub(super) facts: LakeFacts,
    partitions: Vec<SiteMonth>,
    contributions: Vec<SiteMonth>,
    summaries: Vec<SiteMonth>,
}

impl State {
    /// Reads it; empty for a new lake.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the lake cannot be read.
    pub(crate) fn load(publication: &Publication) -> Result<Self> {
        let table = |path: &str| -> Result<Vec<RecordBatch>> {
            lake::batches(publication, path)?.map_or_else(|| Ok(Vec::new()), Iterator::collect)
        };
        let inputs = publication.published().map_or(INPUTS, lake::inputs_path);
        let book = Book::load(&table(inputs)?, &table(LEDGER)?)?;
        let Some(manifest) = publication.published() else {
            return Ok(Self {
                book,
                ..Self::default()
            });
        };
        let places = |dataset: &str| -> Vec<SiteMonth> {
            let files = manifest.dataset(dataset);
            files.filter_map(|file| lake::parse_month_path(&file.path)).collect()
        };
        let mut summaries = places("summary");
        summaries.append(&mut places("summary_history"));
        summaries.sort();
        summaries.dedup();
        Ok(Self {
            book,
            facts: manifest.facts.clone(),
            partitions: places("records"),
            contributions: places("usage_part"),
            summaries,
        })
    }

    /// The corrections that were applied, in the form of [`crate::reference::correction::CorrectionTable::signed`].
    pub(crate) fn signed_corrections(&self) -> &str {
        // Fallback: a lake without corrections has none signed.
        self.facts.get(Fact::Corrections).unwrap_or_default()
    }

    /// Replaces a fact of the lake, or forgets it.
    pub(crate) fn set_fact(&mut self, fact: Fact<'_>, value: Option<String>) {
        self.facts.set(fact, value);
    }

    /// Every (site, month) that has published records or contributions.
    #[must_use]
    pub(crate) fn partitions(&self) -> &[SiteMonth] {
        &self.partitions
    }

    /// Every (site, month) that contributes to usage.
    #[must_use]
    pub(crate) fn contributions(&self) -> &[SiteMonth] {
        &self.contributions
    }

    /// Every (site, month) that has summaries, whether they count or not.
    #[must_use]
    pub(crate) fn summaries(&self) -> &[SiteMonth] {
        &self.summaries
    }

    /// Another pipeline would mix its jobs with those of the lake.
    ///
    /// # Errors
    /// [`crate::error::Kind::Config`] when a pipeline of another name published the lake.
    pub(crate) fn hold_pipeline(&self, plan: &Plan) -> Result<()> {
        match self.facts.get(Fact::Pipeline) {
            Some(was) if was != plan.name => {
                let message = format!(
                    "the output holds the lake of the pipeline {was}, and this is the pipeline {}: give each an output of \
                     its own, or keep the name",
                    plan.name
                );
                Err(Error::config(message).at("pipeline", plan.file.display()))
            }
            _ => Ok(()),
        }
    }

    /// The inventories whose files are read under other settings now. No record depends on them, and files that are
    /// gone keep their rows: [`Self::forget_redated`] warns of them.
    ///
    /// # Errors
    /// [`crate::error::Kind::Config`] when they name users that are to be withheld from now on.
    pub(crate) fn stale_inventories(&self, plan: &Plan, found: &[FoundFile]) -> Result<BTreeSet<String>> {
        self.hold_key(plan)?;
        if withholds_users(plan) && !self.facts.has(Fact::Withheld) {
            let gone = self.gone(found, is_inventory);
            if let Some(first) = gone.first() {
                return Err(Error::config(format!(
                    "[privacy] withholds users, and {} listings of the machine that were read before name them and are \
                     no longer there (the first: {}); bring them back, or publish to a new output",
                    gone.len(),
                    first.path()
                )));
            }
        }
        let changed = plan
            .sources
            .iter()
            .filter(|source| source.is_inventory() && self.is_changed(source));
        Ok(changed.map(|source| source.name.clone()).collect())
    }

    /// Another key would give every person another pseudonym.
    fn hold_key(&self, plan: &Plan) -> Result<()> {
        let pseudonyms = plan.privacy.as_ref().and_then(|privacy| privacy.pseudonyms.as_ref());
        let (Some(was), Some(pseudonyms)) = (self.facts.get(Fact::PrivacyKey), pseudonyms) else {
            return Ok(());
        };
        if pseudonyms.key.check_value() == was || pseudonyms.replaces.as_deref() == Some(was) {
            return Ok(());
        }
        let message = format!(
            "the privacy key is another one than that of the lake: every person would get another pseudonym. Put the former \
             key back, or publish to a new output; to replace all pseudonyms, set replaces = \"{was}\" next to the key"
        );
        Err(Error::config(message).at("pipeline", plan.file.display()))
    }

    /// The files of which readers that knew less could read nothing, or lost a part; of an archive they may have lost one without
    /// noticing.
    pub(crate) fn refused_by_former_readers(&self) -> BTreeSet<Arc<str>> {
        let knew = self.facts.get(Fact::Readers).and_then(|knew| knew.parse::<u32>().ok());
        if knew.is_some_and(|knew| knew >= READERS) {
            return BTreeSet::new();
        }
        let is_refused = |file_id: &str, input: &InputEntry| {
            let places = self.book.places(file_id);
            let mut reasons = places.into_iter().flat_map(Places::keys).map(|place| place.reason);
            let may_lack_a_part = is_archive(input) || reasons.clone().any(|reason| reason == Reason::UnreadableFile);
            let is_part_lost = may_lack_a_part && !reasons.clone().any(Reason::is_of_summaries);
            let is_all_refused =
                reasons.clone().next().is_some() && reasons.all(|reason| reason.outcome() == Outcome::Rejected);
            is_part_lost || is_all_refused
        };
        let inputs = self.book.inputs().iter();
        let refused = inputs.filter(|(file_id, input)| is_refused(file_id, input));
        refused.map(|(file_id, _)| Arc::clone(file_id)).collect()
    }

    /// The BLAKE3 of their bytes.
    pub(crate) fn hashes_refused_by_former_readers(&self) -> BTreeSet<&str> {
        let file_ids = self.refused_by_former_readers();
        let inputs = file_ids.iter().filter_map(|file_id| self.book.inputs().get(file_id));
        inputs.map(|input| &*input.blake3).collect()
    }

    /// Forgets everything but what is known of the machine; gives the book as it was.
    pub(crate) fn forget_records(&mut self) -> Book {
        let former = std::mem::take(self).book;
        self.book.keep(&former, is_inventory);
        former
    }

    /// Whether records lack the identity that a late CE log contains.
    #[must_use]
    pub(crate) fn is_completion_due(&self) -> bool {
        self.facts.has(Fact::CompletedLate)
    }

    /// Whether `files` can be read again now because a CE log came later than the jobs they contain. Where that cannot
    /// be now (one is gone, or only some months are requested), the lake remembers that it is due.
    pub(crate) fn can_complete(&mut self, files: &BTreeSet<Arc<str>>, found: &[FoundFile], window: Window) -> bool {
        let there: BTreeSet<Arc<str>> = found.iter().filter_map(FoundFile::file_id).collect();
        let can_be = files.is_empty() || window.is_everything() && files.is_subset(&there);
        if can_be {
            self.facts.remove(Fact::CompletedLate);
        } else {
            let why = "late CE log: the files of its jobs have to be read again";
            self.facts.insert(Fact::CompletedLate, why);
        }
        can_be
    }

    /// Whether usage was attributed under other settings.
    #[must_use]
    pub(crate) fn plan_changed(&self, plan: &Plan) -> bool {
        self.facts.get(Fact::Plan).is_some_and(|was| was != plan.fingerprint)
    }

    /// Whether the folders of the lake, the names of unknown values in them, and the script in it, are those this version
    /// makes; a new lake has none yet.
    pub(crate) fn is_laid_out(&self) -> bool {
        self.facts.is_empty() || self.facts.get(Fact::Layout) == Some(LAYOUT)
    }

    /// Whether another policy states which snapshots are kept.
    pub(crate) fn is_keeping_changed(&self, plan: &Plan) -> bool {
        self.facts.get(Fact::Keep) != kept_snapshots(plan).as_deref()
            || self.facts.get(Fact::DeltaLog) != delta_log(plan).as_deref()
    }

    /// A fact that was published.
    pub(crate) fn fact(&self, fact: Fact<'_>) -> Option<&str> {
        self.facts.get(fact)
    }

    /// Writes down which benchmarks a place was scaled by.
    pub(crate) fn note_benchmarks(
        &mut self,
        plan: &Plan,
        scaled: ScaledData,
        place: &SiteMonth,
        asked: Option<AskedSpan>,
    ) {
        let benchmarks = benchmark_fact::of_place(plan, place, asked);
        self.facts.insert(scaled.fact(place), benchmarks);
    }

    /// Writes down by which tables of energy the jobs of a place were rated.
    pub(crate) fn note_energy(&mut self, plan: &Plan, place: &SiteMonth, asked: Option<AskedSpan>) {
        let fact = Fact::JobEnergy(&place.site, place.month);
        self.facts.set(fact, energy_fact::of_place(plan, place, asked));
    }

    /// The facts to publish.
    #[must_use]
    pub(crate) fn facts(&self, plan: &Plan) -> LakeFacts {
        let mut facts = self.facts.clone();
        facts.insert(Fact::Layout, LAYOUT);
        facts.insert(Fact::Plan, plan.fingerprint.as_str());
        facts.insert(Fact::Schemas, records_version());
        facts.insert(Fact::Attribution, plan.attribution.as_str());
        facts.insert(Fact::Calendar, calendar_fact::of_plan(plan));
        facts.insert(Fact::CalendarTimezone, plan.calendar_zone.name());
        facts.insert(Fact::Pipeline, plan.name.as_str());
        if let Some(corrections) = plan.corrections.as_deref().filter(|table| !table.rows.is_empty()) {
            facts.insert(Fact::Corrections, corrections.signed());
        }
        facts.set(Fact::Additions, addition_fact::of_plan(plan));
        facts.set(Fact::Capacity, capacity::fingerprint(plan));
        facts.set(Fact::Keep, kept_snapshots(plan));
        facts.set(Fact::DeltaLog, delta_log(plan));
        facts.set(Fact::Withheld, withholds_users(plan).then(|| "users".to_owned()));
        facts.set(Fact::Privacy, withheld_fields(plan));
        facts.set(Fact::PrivacyKey, key_check_value(plan));
        facts.insert(Fact::Readers, READERS.to_string());
        for source in &plan.sources {
            facts.insert(Fact::Source(&source.name), source.fingerprint.as_str());
            if let Some(zone) = &source.reader.zone {
                facts.insert(Fact::SourceTimezone(&source.name), zone.name());
            }
        }
        facts
    }

    /// Every input of records as it arrived.
    #[must_use]
    pub(crate) fn arrivals(&self) -> Vec<ArrivedFile> {
        arrivals(&self.book, &PathContents::replaced(&self.book))
    }

    /// Content hash by file id.
    #[must_use]
    pub(crate) fn hashes(&self) -> BTreeMap<Arc<str>, Arc<str>> {
        self.book
            .inputs()
            .iter()
            .map(|(id, input)| (Arc::clone(id), Arc::clone(&input.blake3)))
            .collect()
    }

    /// Path by file id.
    #[must_use]
    pub(crate) fn paths(&self) -> BTreeMap<Arc<str>, Arc<str>> {
        self.arrivals()
            .into_iter()
            .map(|file| (file.file_id, file.path))
            .collect()
    }

    /// Stages installed capacity, ledger, inputs, the schemas of what is empty, and the DuckDB views.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the lake cannot be written.
    pub(crate) fn publish(&self, plan: &Plan, publication: &Publication) -> Result<()> {
        capacity::publish(plan, publication)?;
        for BookTable { dataset, batch } in BOOK_TABLES {
            let mut table = LakeTable::create(publication, dataset, &schema::dataset(dataset)?.path)?;
            table.write(&batch(&self.book)?)?;
            table.finish(&[])?;
        }
        let mut books = BTreeSet::new();
        for dataset in PUBLICATION_BOOKS {
            if publication.holds_book(dataset)? {
                books.insert(dataset);
            }
        }
        // Where an earlier version put it, it would be in the ledger's folder.
        publication.remove(publication.published().map_or(INPUTS, lake::inputs_path));
        let datasets = schema::lake_datasets()?;
        empty::publish(publication, datasets)?;
        let files = |dataset: &Dataset| {
            let name = dataset.name.as_str();
            let has = name == "runs" || books.contains(name) || publication.will_hold(name);
            has.then(|| DatasetFiles::Pattern(dataset.path.clone()))
        };
        let mut views = publication.stage(SCRIPT, SCRIPT, 1)?;
        std::io::Write::write_all(&mut views, sql::script(&plan.name, datasets, files).as_bytes())?;
        publication.add(views.finish(0)?)
    }
}

/// Value of [`Fact::Layout`]; it rises when folders or the script change.
const LAYOUT: &str = "4";

/// Every input of records of a book, as it arrived. A file that arrives again unchanged counts from then on: in between,
/// another file may have replaced its content. Paths whose last content is another one, of those in `contents`, count for
/// a file that is found under no other: where logs are rotated, each is what its present name makes of it.
pub(super) fn arrivals(book: &Book, contents: &PathContents<'_>) -> Vec<ArrivedFile> {
    let of_records = book.inputs().iter().filter(|(_, input)| !is_inventory(input));
    let arrived = of_records.map(|(file_id, input)| {
        let is_last = |of: &&FilePath| {
            let last = contents.last(SourcePath {
                source: &input.source,
                path: &of.path,
            });
            last.is_none_or(|last_n| last_n == of.content_n)
        };
        let present = input.paths.iter().filter(is_last);
        if present.clone().next().is_some() {
            ArrivedFile::latest(file_id, present)
        } else {
            ArrivedFile::latest(file_id, input.paths.iter())
        }
    });
    arrived.collect()
}

/// Whether the inputs of a lake hold names that it withholds.
pub(crate) fn withholds_names(facts: &LakeFacts) -> bool {
    facts.has(Fact::Privacy) || facts.has(Fact::Withheld)
}

/// Which snapshots are kept; `None` where none is made.
fn kept_snapshots(plan: &Plan) -> Option<String> {
    plan.keep.map(|policy| policy.to_string())
}

/// That datasets have a Delta log; `None` where they have none.
fn delta_log(plan: &Plan) -> Option<String> {
    plan.has_delta_log.then(|| "on".to_owned())
}

/// The columns whose names are withheld; `None` where all are kept.
pub(super) fn withheld_fields(plan: &Plan) -> Option<String> {
    let privacy = plan.privacy.as_ref()?;
    let withheld = Field::ALL.into_iter().filter(|field| !privacy.keeps(*field));
    let names: Vec<&str> = withheld.map(Field::as_str).collect();
    (!names.is_empty()).then(|| names.join(" "))
}

/// Which key pseudonyms are made with.
fn key_check_value(plan: &Plan) -> Option<String> {
    let pseudonyms = plan.privacy.as_ref()?.pseudonyms.as_ref()?;
    Some(pseudonyms.key.check_value())
}

/// Whether a file describes the machine. Such files come and go; no record is made of them.
fn withholds_users(plan: &Plan) -> bool {
    plan.privacy.as_ref().is_some_and(|privacy| !privacy.keeps(Field::User))
}

pub(super) fn is_inventory(input: &InputEntry) -> bool {
    input.format == Format::AutoInventory.as_str()
        || registry::named(&input.format).is_some_and(|dialect| dialect.inventory().is_some())
}

fn is_archive(input: &InputEntry) -> bool {
    registry::named(&input.format).is_some_and(|dialect| dialect.row().content == Content::Members)
}

/// Versions of the datasets that are extended run by run: another version means rebuilding them.
pub(crate) fn records_version() -> String {
    ["records", "history", "usage_part", "summary", "summary_history"]
        .map(|name| schema::dataset(name).map_or(0, |dataset| dataset.version).to_string())
        .join(".")
}
