//! The CE logs of a run: which sources name some, what their lines came to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::identity_check::MatchRules;
use super::identity_index::{IdentityIndex, IdentityIndexBuilder, LateRecords};
use super::reading::Reading;
use crate::config::{Plan, SourcePlan};
use crate::dedupe::options::IntakeOptions;
use crate::dedupe::{Window, history};
use crate::error::{Error, Result};
use crate::lake::found::FoundFile;
use crate::lake::state::State;
use crate::ledger::{Book, Reason, ReasonRows};
use crate::privacy::Privacy;
use crate::record::SiteMonth;
use crate::sources::input::InputFile;
use crate::sources::options::ReaderOptions;
use crate::sources::swf::SwfOptions;
use crate::sources::{blah, compression};
use crate::store::{Publication, lake};
use crate::time::Month;

/// The source a joined source's CE logs are read as. Its files are accounted to the same name.
pub(crate) fn companion(source: &SourcePlan) -> Option<SourcePlan> {
    if source.blah.is_empty() {
        return None;
    }
    Some(SourcePlan {
        reader: Arc::new(ReaderOptions {
            format: blah::DIALECT.format(),
            swf: SwfOptions::default(),
            ..ReaderOptions::clone(&source.reader)
        }),
        intake: Arc::new(IntakeOptions {
            scaled_to: None,
            ..IntakeOptions::clone(&source.intake)
        }),
        paths: source.blah.clone(),
        blah: Vec::new(),
        written: crate::sources::location::Written {
            path_lines: Vec::new(),
            ..source.written.clone()
        },
        ..source.clone()
    })
}

/// One file of CE logs, once.
struct LogFile {
    /// Known before it is read only when it was hashed.
    file_id: Option<Arc<str>>,
    file: InputFile,
    /// All its jobs were completed from it.
    is_known: bool,
}

/// The index of one source.
struct Joined {
    source: Arc<SourcePlan>,
    files: Vec<LogFile>,
    index: Arc<IdentityIndex>,
}

/// Whether the logs contain jobs that were published without them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LateLogs {
    /// No.
    Not,
    /// They do: the files that hold a version of such a job have to be read again, and no others.
    Files(BTreeSet<Arc<str>>),
    /// They do, but not every file that would have to be read again is there.
    LeftAsIs,
}

/// What logs that came late mean for jobs that were published without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LateCompletion {
    /// Whether there are such jobs.
    pub(crate) late: LateLogs,
    /// Jobs of which it cannot be known whether the logs state something else.
    pub(crate) unknown_n: u64,
}

/// Indexes by the name of the source.
#[derive(Default)]
pub(crate) struct IdentitySources {
    joined: BTreeMap<String, Joined>,
}

impl IdentitySources {
    /// Reads the CE logs, and finds out whether they contain jobs that were published without them; and for how many jobs that
    /// cannot be determined.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when a log or the lake cannot be read.
    pub(crate) fn prepare(
        plan: &Plan,
        found: &[FoundFile],
        state: &mut State,
        publication: &Publication,
        is_rebuild: bool,
        window: Window,
    ) -> Result<(Self, LateCompletion)> {
        let grids = Self::read(plan, found, state, is_rebuild, window)?;
        let (files, unreported_n) = grids.survey(plan.privacy.as_deref(), state, publication)?;
        let late = if is_rebuild {
            LateLogs::Not
        } else if !state.can_complete(&files, found, window) {
            LateLogs::LeftAsIs
        } else if files.is_empty() {
            LateLogs::Not
        } else {
            LateLogs::Files(files)
        };
        let unknown_n = if is_rebuild { 0 } else { unreported_n };
        Ok((grids, LateCompletion { late, unknown_n }))
    }

    /// Reads the CE logs of every source of which anything has to be read.
    fn read(plan: &Plan, found: &[FoundFile], state: &State, is_rebuild: bool, window: Window) -> Result<Self> {
        let mut grids = Self::default();
        for source in plan.sources.iter().filter(|source| !source.blah.is_empty()) {
            let is_new = |found: &FoundFile| {
                let id = found.file_id();
                id.is_none_or(|id| !state.book.is_done(&id, |month| window.holds(month)))
            };
            let mut of_source = found.iter().filter(|found| found.source.name == source.name);
            if !(is_rebuild || state.is_completion_due() || of_source.any(is_new)) {
                continue;
            }
            let mut ids = BTreeSet::new();
            let files: Vec<LogFile> = found
                .iter()
                .filter(|found| found.source.name == source.name && found.source.format() == blah::DIALECT.format())
                .map(|found| {
                    let file_id = found.file_id();
                    let is_entered = |id: &Arc<str>| state.book.inputs().contains_key(&**id);
                    LogFile {
                        is_known: !state.is_completion_due() && file_id.as_ref().is_some_and(is_entered),
                        file_id,
                        file: InputFile::clone(&found.file),
                    }
                })
                .filter(|log| log.file_id.as_ref().is_none_or(|id| ids.insert(Arc::clone(id))))
                .collect();
            let joined = Joined {
                source: Arc::clone(source),
                index: Arc::new(index(&files, source)?),
                files,
            };
            grids.joined.insert(source.name.clone(), joined);
        }
        Ok(grids)
    }

    /// Gives every batch log to be read the index its jobs are completed from.
    pub(crate) fn assign(&self, files: &mut [Reading]) {
        for file in files {
            file.grid = self.of(&file.source);
        }
    }

    fn of(&self, source: &SourcePlan) -> Option<Arc<IdentityIndex>> {
        let joined = self
            .joined
            .get(&source.name)
            .filter(|_| source.format() != blah::DIALECT.format());
        joined.map(|joined| Arc::clone(&joined.index))
    }

    /// Marks the lines that published records were completed from. Where a line came later than the record it matches,
    /// all versions of that record must be rebuilt: these are the files they are read from. The number counts records for which it cannot
    /// be determined whether one did.
    fn survey(
        &self,
        privacy: Option<&Privacy>,
        state: &State,
        publication: &Publication,
    ) -> Result<(BTreeSet<Arc<str>>, u64)> {
        let (mut files, mut unreported_n) = (BTreeSet::new(), 0);
        for (name, joined) in &self.joined {
            let mut late = LateRecords::default();
            let Some((first_ms, last_ms)) = joined.index.reach_ms() else {
                continue;
            };
            let known: Vec<bool> = joined.files.iter().map(|log| log.is_known).collect();
            let months = (Month::of_ms(first_ms), Month::of_ms(last_ms));
            for SiteMonth { site, month } in state.partitions() {
                let is_reached = months.0.is_none_or(|first| *month >= first)
                    && months.1.is_none_or(|last| *month <= last)
                    && joined.source.intake.site.as_ref().is_none_or(|own| own == site);
                if !is_reached {
                    continue;
                }
                let rules = MatchRules::of(&joined.source, privacy, site, *month);
                let path = lake::month_path("records", site, *month);
                for batch in lake::batches(publication, &path)?.into_iter().flatten() {
                    joined.index.survey(&batch?, &rules, &known, &mut late)?;
                }
                if late.record_ids.is_empty() {
                    continue;
                }
                let path = lake::month_path("history", site, *month);
                for batch in lake::batches(publication, &path)?.into_iter().flatten() {
                    let losers = history::from_batch(&batch?)?.into_iter();
                    let of_late = losers.filter(|loser| late.record_ids.contains(&loser.record_id));
                    late.file_ids.extend(of_late.map(|loser| loser.file_id));
                }
            }
            // A version that another source read is completed by no log of this one.
            let is_own = |file_id: &Arc<str>| {
                state
                    .book
                    .inputs()
                    .get(&**file_id)
                    .is_some_and(|input| input.source == *name)
            };
            files.extend(late.file_ids.into_iter().filter(is_own));
            unreported_n += late.unreported_n;
        }
        Ok((files, unreported_n))
    }

    /// Enters into the ledger the lines of the CE logs that match no job. `files` are those this run read, with their ids.
    pub(crate) fn finalize(&self, book: &mut Book, files: &[Reading], file_ids: &[Arc<str>]) {
        let read: BTreeMap<(&str, &str), &Arc<str>> = files
            .iter()
            .zip(file_ids)
            .map(|(file, id)| ((file.source.name.as_str(), file.file.path.as_str()), id))
            .collect();
        for (name, joined) in &self.joined {
            let uses = joined.index.uses(joined.files.len());
            for (log, (used, unused)) in joined.files.iter().zip(uses) {
                let known = log.file_id.clone();
                let id = known.or_else(|| {
                    read.get(&(name.as_str(), log.file.path.as_str()))
                        .map(|id| Arc::clone(id))
                });
                if let Some(id) = id {
                    let of = |reason, row_n| ReasonRows { reason, row_n };
                    let parts = [of(Reason::GridIdentity, used), of(Reason::GridIdentityUnused, unused)];
                    book.divide(&id, &parts);
                }
            }
        }
    }
}

/// The lines of all logs of a source, in the order of the files.
///
/// # Errors
/// As [`IdentitySources::prepare`].
pub(crate) fn index_of(files: Vec<InputFile>, source: &Arc<SourcePlan>) -> Result<Arc<IdentityIndex>> {
    let logs = files.into_iter().map(|file| LogFile {
        file_id: None,
        file,
        is_known: false,
    });
    index(&logs.collect::<Vec<_>>(), source).map(Arc::new)
}

/// The lines of all logs. Other content of a log is reported when it is read as an input.
fn index(files: &[LogFile], source: &Arc<SourcePlan>) -> Result<IdentityIndex> {
    let mut builder = IdentityIndexBuilder::default();
    for (log, place) in files.iter().zip(0..) {
        builder.file(place);
        let read = |builder: &mut IdentityIndexBuilder| -> Result<()> {
            let input = compression::decompress(log.file.open()?)?;
            for work in blah::DIALECT.pieces(input, Arc::clone(&source.reader))? {
                work?(builder);
            }
            Ok(())
        };
        match read(&mut builder) {
            // An archive that is damaged, or a log that cannot be opened, is reported when it is read as an input; lines before the damage count.
            Err(why) if is_damage(&why) || InputFile::is_shut(&why) => {}
            reported => reported.map_err(|why| why.at("file", &log.file.path))?,
        }
    }
    builder.finish()
}

fn is_damage(why: &Error) -> bool {
    super::reading::is_damage(why)
}
