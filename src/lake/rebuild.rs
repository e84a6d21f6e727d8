//! Whether records have to be rebuilt from all files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ahash::{AHashMap, AHashSet};
use tracing::warn;

use super::found::FoundFile;
use super::state::{State, arrivals, is_inventory, records_version, withheld_fields};
use crate::config::{Plan, SourcePlan};
use crate::dedupe::Window;
use crate::dedupe::file_order::FileOrder;
use crate::dedupe::summary::publishing::SummaryParts;
use crate::error::{Error, Result};
use crate::ledger::book::InputEntry;
use crate::ledger::path_contents::PathContents;
use crate::ledger::{Outcome, Places};
use crate::store::Fact;

/// Why all records have to be rebuilt from all files.
enum RebuildReason<'a> {
    /// Another version of this program made them.
    Version,
    /// The settings of these sources changed.
    Settings(Vec<&'a str>),
    /// A file of a source is a file of another source now: its jobs would count twice.
    MovedFile(MovedInput<'a>),
    /// More is withheld than when the files of a source were read that the pipeline no longer names.
    Privacy(&'a str),
}

impl RebuildReason<'_> {
    fn text(&self) -> String {
        match self {
            Self::Version => "the lake was made by another version of gridtally".to_owned(),
            Self::Settings(sources) => format!(
                "the settings of {} changed since {} files were read",
                sources.join(", "),
                if sources.len() == 1 { "its" } else { "their" }
            ),
            Self::MovedFile(MovedInput {
                known,
                is_named,
                source,
                ..
            }) => format!(
                "{} ({}) is now a file of the source {source}",
                if *is_named {
                    format!("a file of the source {}", known.input.source)
                } else {
                    format!(
                        "the pipeline no longer names the source {}, and a file of it",
                        known.input.source
                    )
                },
                known.path()
            ),
            Self::Privacy(source) => format!(
                "[privacy] withholds more than when the files of the source {source} were read, and the pipeline no longer \
                 names that source"
            ),
        }
    }
}

/// A file that the lake knows.
#[derive(Clone, Copy)]
pub(super) struct KnownInput<'a> {
    file_id: &'a Arc<str>,
    input: &'a InputEntry,
}

impl KnownInput<'_> {
    /// The path it was first seen under.
    pub(super) fn path(&self) -> &str {
        // Fallback: never taken, a file was seen under some path.
        self.input.paths.first().map_or("", |path| &**path)
    }
}

/// Bytes of a source.
#[derive(PartialEq, Eq, Hash)]
struct SourceBytes<'a> {
    source: &'a str,
    blake3: &'a str,
}

impl<'a> SourceBytes<'a> {
    fn of(input: &'a InputEntry) -> Self {
        Self {
            source: &input.source,
            blake3: &input.blake3,
        }
    }
}

/// A file that the lake knows of one source, and that is found in another.
#[derive(Clone, Copy)]
struct MovedInput<'a> {
    known: KnownInput<'a>,
    /// Whether the pipeline still names its source.
    is_named: bool,
    /// The source it is in now.
    source: &'a str,
    /// Whether its bytes are as they were.
    is_unchanged: bool,
    /// Whether the lake has read its bytes in that source as well: jobs of two sites count in both by now.
    is_in_both: bool,
}

impl MovedInput<'_> {
    /// Warns of a file that counts in a source it is no longer in, and does so for good: records cannot be rebuilt now.
    fn warn_that_it_counts_in_both(&self, gone: &[KnownInput<'_>]) {
        let former = &self.known.input.source;
        let why = match gone.first() {
            Some(first) => format!("other files are gone or were replaced (the first: {})", first.path()),
            None => "only some months are requested".to_owned(),
        };
        warn!(
            path = self.known.path(),
            "{} is no longer a file of the source {former}: what counts of it in that source stays, although the source {} has the \
             same file. Records cannot be rebuilt: {why}; publish to a new output",
            self.known.path(),
            self.source
        );
    }
}

impl State {
    /// The sources that are read under other settings now than when their files were read.
    fn changed_sources<'a>(&self, plan: &'a Plan) -> Vec<&'a str> {
        plan.sources
            .iter()
            .filter(|source| !source.is_inventory() && self.is_changed(source))
            .map(|source| source.name.as_str())
            .collect()
    }

    pub(super) fn is_changed(&self, source: &SourcePlan) -> bool {
        self.facts
            .get(Fact::Source(&source.name))
            .is_some_and(|was| was != source.fingerprint)
    }

    /// Whether the records on file were made under other settings, or by a version with other columns.
    pub(crate) fn settings_changed(&self, plan: &Plan) -> bool {
        let schema_changed = self
            .facts
            .get(Fact::Schemas)
            .is_some_and(|was| was != records_version());
        schema_changed || !self.changed_sources(plan).is_empty()
    }

    /// The files of records of sources that the pipeline no longer names.
    fn former_inputs(&self, plan: &Plan) -> Vec<KnownInput<'_>> {
        let named: BTreeSet<String> = plan.all_sources().map(|source| source.name.clone()).collect();
        let inputs = self.book.inputs().iter();
        inputs
            .filter(|(_, input)| !is_inventory(input) && !named.contains(&input.source))
            .map(|(file_id, input)| KnownInput { file_id, input })
            .collect()
    }

    /// The files of records that are no longer found in their source and are found in another one. Those of `former` sources also by
    /// their path: a file may have grown since.
    fn moved_inputs<'a>(&'a self, former: &[KnownInput<'a>], found: &'a [FoundFile]) -> Vec<MovedInput<'a>> {
        let known: AHashSet<SourceBytes<'_>> = self.book.inputs().values().map(SourceBytes::of).collect();
        let shared = self.bytes_of_several_sources();
        let mut by_bytes: BTreeMap<&str, &str> = BTreeMap::new();
        let mut by_path: BTreeMap<&str, &str> = BTreeMap::new();
        // A source that had a file of this path before has no file that moved.
        let paths = found.iter().filter(|_| !former.is_empty()).map(FoundFile::source_path);
        let contents = PathContents::of(paths, &[&self.book]);
        for found in found {
            let (source, path) = (found.source.name.as_str(), found.file.path.as_str());
            match found.blake3.as_deref() {
                Some(blake3) if known.contains(&SourceBytes { source, blake3 }) => {
                    if shared.contains(blake3) {
                        by_bytes.insert(blake3, source);
                    }
                    continue;
                }
                Some(blake3) => by_bytes.insert(blake3, source),
                None => None,
            };
            if !former.is_empty() && contents.last(found.source_path()).is_none() {
                by_path.insert(path, source);
            }
        }
        if by_bytes.is_empty() && by_path.is_empty() {
            // Nearly every night: no id of a file need be worked out.
            return Vec::new();
        }
        let former_ids: BTreeSet<&str> = former.iter().map(|of| of.file_id.as_ref()).collect();
        let gone = self.gone(found, |input| !is_inventory(input));
        let moved = gone.into_iter().filter_map(|known_input| {
            let is_named = !former_ids.contains(known_input.file_id.as_ref());
            let blake3 = &*known_input.input.blake3;
            let by_bytes = by_bytes.get(blake3).copied();
            let by_bytes = by_bytes.filter(|source| *source != known_input.input.source);
            let by_path = || by_path.get(known_input.path()).copied().filter(|_| !is_named);
            let source = by_bytes.or_else(by_path)?;
            Some(MovedInput {
                known: known_input,
                is_named,
                source,
                is_unchanged: by_bytes.is_some(),
                is_in_both: known.contains(&SourceBytes { source, blake3 }),
            })
        });
        moved.collect()
    }

    /// Bytes that the lake has read in several sources.
    fn bytes_of_several_sources(&self) -> AHashSet<&str> {
        let mut sources: AHashMap<&str, &str> = AHashMap::new();
        let inputs = self.book.inputs().values().filter(|input| !is_inventory(input));
        let shared = inputs.filter_map(|input| {
            let first: &str = sources.entry(&input.blake3).or_insert(&input.source);
            (first != &*input.source).then_some(&*input.blake3)
        });
        shared.collect()
    }

    /// Whether jobs of a file were accepted.
    fn has_jobs(&self, of: &KnownInput<'_>) -> bool {
        let places = self.book.places(of.file_id);
        let mut reasons = places.into_iter().flat_map(Places::keys).map(|place| place.reason);
        reasons.any(|reason| reason.outcome() == Outcome::Accepted)
    }

    /// Whether columns are withheld that were not when the lake was published.
    pub(crate) fn withholds_more(&self, plan: &Plan) -> bool {
        // Fallback: a lake that withholds nothing names no columns.
        let was = self.facts.get(Fact::Privacy).unwrap_or_default();
        let was: BTreeSet<&str> = was.split(' ').collect();
        withheld_fields(plan).is_some_and(|now| now.split(' ').any(|column| !was.contains(column)))
    }

    /// Why all records have to be rebuilt from all files; `None` where they stay as they are. `former` are the inputs of sources that
    /// the pipeline no longer names, `moved` those that are in another source now.
    fn rebuild_reason<'a>(
        &self,
        plan: &'a Plan,
        former: &[KnownInput<'a>],
        moved: &[MovedInput<'a>],
    ) -> Option<RebuildReason<'a>> {
        let changed = self.changed_sources(plan);
        if !changed.is_empty() {
            return Some(RebuildReason::Settings(changed));
        }
        if self.settings_changed(plan) {
            return Some(RebuildReason::Version);
        }
        // A file without accepted jobs may go where it likes. One that does not count in both yet is the graver reason.
        let with_jobs = moved.iter().filter(|of| self.has_jobs(&of.known));
        if let Some(moved) = with_jobs.min_by_key(|of| of.is_in_both) {
            return Some(RebuildReason::MovedFile(*moved));
        }
        let first = former.first().filter(|_| self.withholds_more(plan));
        first.map(|of| RebuildReason::Privacy(&of.input.source))
    }

    /// Whether all records have to be rebuilt from all files, because the settings or the sources changed.
    ///
    /// # Errors
    /// [`crate::error::Kind::Config`] when files that would have to be read again are gone, or only some months of
    /// them are requested: the lake would lose the other months.
    pub(crate) fn wants_rebuild(&self, plan: &Plan, found: &[FoundFile], window: Window) -> Result<bool> {
        let former = self.former_inputs(plan);
        let moved = self.moved_inputs(&former, found);
        let Some(reason) = self.rebuild_reason(plan, &former, &moved) else {
            return Ok(false);
        };
        let unchanged = moved.iter().filter(|of| of.is_unchanged);
        let unchanged: BTreeSet<&str> = unchanged.map(|of| of.known.file_id.as_ref()).collect();
        let mut gone = self.gone(found, |input| !is_inventory(input));
        gone.retain(|of| !unchanged.contains(of.file_id.as_ref()));
        if let RebuildReason::MovedFile(moved) = &reason
            && moved.is_in_both
            && (!gone.is_empty() || !window.is_everything())
        {
            moved.warn_that_it_counts_in_both(&gone);
            return Ok(false);
        }
        let why = reason.text();
        if gone.is_empty() {
            if window.is_everything() {
                return Ok(true);
            }
            return Err(Error::config(format!(
                "{why}, so every file has to be read again, and --from and --to would leave months out that are \
                 published; run once without them, publish to a new output, or restore the settings"
            )));
        }
        let there: BTreeSet<&str> = found.iter().map(|found| found.file.path.as_str()).collect();
        let (replaced, missing): (Vec<_>, Vec<_>) = gone.into_iter().partition(|of| there.contains(of.path()));
        let (what, remedy) = match (missing.as_slice(), replaced.as_slice()) {
            ([first, others @ ..], _) => (
                format!(
                    "{} no longer there, or in no source that the pipeline names (the first: {})",
                    if others.is_empty() {
                        "one of them is".to_owned()
                    } else {
                        format!("{} of them are", 1 + others.len())
                    },
                    first.path()
                ),
                "bring them back, publish",
            ),
            ([], former) => (
                format!(
                    "{} replaced or extended since it was read (the first: {})",
                    if former.len() == 1 {
                        "the content of one was".to_owned()
                    } else {
                        format!("the contents of {} were", former.len())
                    },
                    former.first().map_or("", KnownInput::path)
                ),
                "publish",
            ),
        };
        Err(Error::config(format!(
            "{why}, so every file has to be read again, but {what}; {remedy} to a new output, or restore the settings"
        )))
    }

    /// Every known file of a kind that is not among those found.
    pub(super) fn gone(&self, found: &[FoundFile], is_of_kind: impl Fn(&InputEntry) -> bool) -> Vec<KnownInput<'_>> {
        let found: BTreeSet<Arc<str>> = found.iter().filter_map(FoundFile::file_id).collect();
        self.book
            .inputs()
            .iter()
            .filter(|(file_id, input)| is_of_kind(input) && !found.contains(&**file_id))
            .map(|(file_id, input)| KnownInput { file_id, input })
            .collect()
    }

    /// Whether known files are found under names that put them in another order. Of two versions of a job the other
    /// one may win then, and only its file contains it: records are rebuilt from all files. Where
    /// that cannot be now (a file is gone, or only some months are requested), the lake remembers that it is due.
    ///
    /// Where publications of summaries are made of several files, it is also decided by the names which files these are.
    pub(crate) fn is_reordered(&mut self, plan: &Plan, found: &[FoundFile], window: Window) -> bool {
        let is_new_name = |found: &&FoundFile| {
            let known = found.file_id().and_then(|id| self.book.inputs().get(&id));
            known.is_some_and(|input| !input.paths.contains(&found.file.path))
        };
        let renamed: Vec<&FoundFile> = found.iter().filter(is_new_name).collect();
        let has_renamed = !renamed.is_empty();
        let has_parts = (plan.sources.iter()).any(|source| source.publishing.parts != SummaryParts::File);
        let is_other = || {
            let was = FileOrder::new(arrivals(&self.book, &PathContents::replaced(&self.book)));
            let contents = PathContents::of(found.iter().map(FoundFile::source_path), &[&self.book]);
            let mut book = self.book.clone();
            for found in renamed {
                if let Some(id) = found.file_id() {
                    book.seen(&id, &found.file.path, contents.next(found.source_path()));
                }
            }
            // Under a name that it had before, there is another file now.
            let is_replaced =
                |found: &&FoundFile| found.file_id().is_none_or(|id| !self.book.inputs().contains_key(&id));
            let mut replaced = PathContents::replaced(&book);
            for found in found.iter().filter(is_replaced) {
                replaced.note(found.source_path(), contents.next(found.source_path()));
            }
            let is = FileOrder::new(arrivals(&book, &replaced));
            !was.has_same_ranks(&is) || has_parts && was != is
        };
        let is_due = self.facts.has(Fact::Reordered) || has_renamed && is_other();
        if !is_due {
            return false;
        }
        let can_be = window.is_everything() && self.gone(found, |input| !is_inventory(input)).is_empty();
        if !can_be {
            let why = "files were seen under other names, records have to be rebuilt";
            self.facts.insert(Fact::Reordered, why);
        }
        can_be
    }
}
