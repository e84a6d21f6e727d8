//! Who the jobs of a batch system are in the grid, by the logs of its CE: an index of all their lines.
//!
//! Rule (APEL): a line answers to a job whose id is its `lrmsID` and which ended between a day before and 28 days after
//! the line's timestamp. Where several do, the latest before the job's end counts, or else the first after it; lines
//! of the same time are ordered by their content, never by the order they were read in.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::RecordBatch;
use xxhash_rust::xxh3::xxh3_128;

use super::identity_check::{Match, MatchRules, StatedIdentity};
use crate::error::{Error, Result};
use crate::ledger::Reason;
use crate::numbers::{Comparand, Part};
use crate::record::{JobRow, UnchangedColumns};
use crate::schema::batch::{id, identity, text, time};
use crate::sources::forwarding_sink::Relay;
use crate::sources::fqan::Fqan;
use crate::sources::{GridIdentity, Position, Sink};
use crate::time::DAY_MS;

/// How long before the line's timestamp a job may have ended: clocks differ.
const BEFORE_MS: i64 = DAY_MS;
/// How long after it, and not any more then.
const AFTER_MS: i64 = 28 * DAY_MS;
/// Most lines an index holds: some 6 GB.
const LINES_MOST: usize = 100_000_000;

/// What many lines share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct IdentityWho {
    global_user: Option<Arc<str>>,
    fqan: Option<Arc<str>>,
    submit_host: Option<Arc<str>>,
}

/// One line.
pub(crate) struct IdentityLine {
    /// Of the job id.
    hash: u128,
    submit_ms: i64,
    who: Arc<IdentityWho>,
    global_job_id: Option<Box<str>>,
    /// Which of the files it is in, by place in their order.
    file: u32,
    is_used: AtomicBool,
}

/// The lines of all files, by job id and time.
pub(crate) struct IdentityIndex {
    lines: Vec<IdentityLine>,
}

/// Records that were made before the line that answers to them came.
#[derive(Default)]
pub(crate) struct LateRecords {
    /// Their ids.
    pub(crate) record_ids: BTreeSet<u128>,
    /// Files that hold a version of one.
    pub(crate) file_ids: BTreeSet<Arc<str>>,
    /// Records for which it cannot be determined: the deciding fields are withheld, and the log they were completed from is gone.
    pub(crate) unreported_n: u64,
}

/// Takes lines in.
#[derive(Default)]
pub(crate) struct IdentityIndexBuilder {
    lines: Vec<IdentityLine>,
    known: HashMap<IdentityWho, Arc<IdentityWho>>,
    texts: HashMap<Box<str>, Arc<str>>,
    file: u32,
}

impl IdentityIndexBuilder {
    /// What comes next is of the file with this place in their order.
    pub(crate) fn file(&mut self, file: u32) {
        self.file = file;
    }

    fn text(&mut self, text: Option<&str>) -> Option<Arc<str>> {
        let text = text?;
        if let Some(known) = self.texts.get(text) {
            return Some(Arc::clone(known));
        }
        let new: Arc<str> = Arc::from(text);
        self.texts.insert(Box::from(text), Arc::clone(&new));
        Some(new)
    }

    /// The index of everything taken in.
    ///
    /// # Errors
    /// [`crate::error::Kind::Config`] when it would not fit any memory.
    pub(crate) fn finish(self) -> Result<IdentityIndex> {
        let mut lines = self.lines;
        if lines.len() > LINES_MOST {
            return Err(Error::config(format!(
                "the blah logs have more than {LINES_MOST} lines: name those of the last months only"
            )));
        }
        lines.sort_unstable_by(|a, b| {
            (a.hash, a.submit_ms, &a.who, &a.global_job_id, a.file).cmp(&(
                b.hash,
                b.submit_ms,
                &b.who,
                &b.global_job_id,
                b.file,
            ))
        });
        Ok(IdentityIndex { lines })
    }
}

impl Sink for IdentityIndexBuilder {
    fn rows_read(&mut self, _: u64) {}

    fn job(&mut self, _: &JobRow<'_>, _: Position, _: u32) {}

    fn reject(&mut self, _: Reason, _: Position, _: u64, _: &str, _: &[u8]) {}

    fn out_of_scope(&mut self, _: Reason, _: u64) {}

    fn grid_identity(&mut self, identity: &GridIdentity<'_>, _: Position) {
        if self.lines.len() > LINES_MOST {
            return;
        }
        let who = IdentityWho {
            global_user: self.text(identity.global_user),
            fqan: self.text(identity.fqan),
            submit_host: self.text(identity.submit_host),
        };
        let who = if let Some(known) = self.known.get(&who) {
            Arc::clone(known)
        } else {
            let shared = Arc::new(who.clone());
            self.known.insert(who, Arc::clone(&shared));
            shared
        };
        self.lines.push(IdentityLine {
            hash: xxh3_128(identity.job_id.as_bytes()),
            submit_ms: identity.submit_ms,
            who,
            global_job_id: identity.global_job_id.map(Box::from),
            file: self.file,
            is_used: AtomicBool::new(false),
        });
    }
}

impl IdentityIndex {
    /// The lines with the id of a job.
    fn lines_of(&self, job_id: &str) -> &[IdentityLine] {
        let hash = xxh3_128(job_id.as_bytes());
        let first = self.lines.partition_point(|line| line.hash < hash);
        let of_job = self.lines.part(first..);
        let until = of_job.partition_point(|line| line.hash == hash);
        of_job.part(..until)
    }

    /// The line that answers to a job.
    fn find(&self, job_id: &str, end_ms: i64) -> Option<&IdentityLine> {
        let of_job = self.lines_of(job_id);
        let reaches = |line: &&IdentityLine| line.reaches(end_ms);
        let before = of_job.get(..of_job.partition_point(|line| line.submit_ms <= end_ms))?;
        let after = of_job.get(before.len()..)?;
        // Of lines with one time the first in the order of the index.
        let latest = before.last().and_then(|last| {
            let same = before.partition_point(|line| line.submit_ms < last.submit_ms);
            before.get(same)
        });
        latest.filter(reaches).or_else(|| after.first().filter(reaches))
    }

    /// The line that would answer to a job if there were no other files than those `known`, by place in their order.
    fn find_known(&self, job_id: &str, end_ms: i64, known: &[bool]) -> Option<&IdentityLine> {
        let (mut latest, mut next): (Option<&IdentityLine>, Option<&IdentityLine>) = (None, None);
        for line in self.lines_of(job_id).iter().filter(|line| line.is_in(known)) {
            if line.submit_ms > end_ms {
                next = Some(line);
                break;
            }
            if latest.is_none_or(|latest| latest.submit_ms < line.submit_ms) {
                latest = Some(line);
            }
        }
        let reaches = |line: &&IdentityLine| line.reaches(end_ms);
        latest.filter(reaches).or_else(|| next.filter(reaches))
    }

    /// The times between which jobs that any line can answer to ended.
    pub(crate) fn reach_ms(&self) -> Option<(i64, i64)> {
        let times = self.lines.iter().map(|line| line.submit_ms);
        // Fallback: times of lines are those of jobs, far within 63 bits.
        let first = times.clone().min()?.saturating_sub(BEFORE_MS);
        // Fallback: times of lines end in 2200, as those of jobs.
        Some((first, times.max()?.saturating_add(AFTER_MS)))
    }

    /// Marks the lines that match records of `source`, and passes on each with its row.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the batch is not of `records`.
    pub(crate) fn mark(
        &self,
        batch: &RecordBatch,
        source: &str,
        mut reported: impl FnMut(usize, &IdentityLine),
    ) -> Result<()> {
        let (sources, jobs, ends) = (text(batch, "source")?, text(batch, "job_id")?, time(batch, "end_utc")?);
        for row in 0..batch.num_rows() {
            if sources.value(row) != source || arrow_array::Array::is_null(ends, row) {
                continue;
            }
            if let Some(line) = self.find(jobs.value(row), ends.value(row)) {
                line.is_used.store(true, Ordering::Relaxed);
                reported(row, line);
            }
        }
        Ok(())
    }

    /// Marks the lines that match published records of a source. Adds the ids of records that differ from their
    /// line, because the line was not there when they were made, and the files they were read from. What is withheld
    /// is held against the line that answered when there were only the files `known` then.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the batch is not of `records`.
    pub(crate) fn survey(
        &self,
        batch: &RecordBatch,
        rules: &MatchRules<'_>,
        known: &[bool],
        late: &mut LateRecords,
    ) -> Result<()> {
        let stated = StatedIdentity::of(batch)?;
        let (jobs, ends) = (text(batch, "job_id")?, time(batch, "end_utc")?);
        let (records, files) = (id(batch, "record_id")?, text(batch, "file_id")?);
        let mut rows = Vec::new();
        self.mark(batch, rules.source, |row, line| {
            let is_late = match stated.matches(row, line, rules) {
                Match::Same => false,
                Match::Other => true,
                Match::Withheld if line.is_in(known) => false,
                Match::Withheld => {
                    let was = self.find_known(jobs.value(row), ends.value(row), known);
                    late.unreported_n += u64::from(was.is_none());
                    was.is_some_and(|was| was.who != line.who || was.global_job_id != line.global_job_id)
                }
            };
            if is_late {
                rows.push(row);
            }
        })?;
        for row in rows {
            late.record_ids.insert(identity(records, row)?);
            if !late.file_ids.contains(files.value(row)) {
                late.file_ids.insert(Arc::from(files.value(row)));
            }
        }
        Ok(())
    }

    /// Lines of each file that were used, and that were not.
    pub(crate) fn uses(&self, file_n: usize) -> Vec<(u64, u64)> {
        let mut uses = vec![(0, 0); file_n];
        for line in &self.lines {
            let place = usize::try_from(line.file).ok().and_then(|file| uses.get_mut(file));
            if let Some((used, unused)) = place {
                let is_used = line.is_used.load(Ordering::Relaxed);
                *(if is_used { used } else { unused }) += 1;
            }
        }
        uses
    }
}

impl IdentityLine {
    pub(crate) fn global_user(&self) -> Option<&str> {
        self.who.global_user.as_deref()
    }

    pub(crate) fn fqan(&self) -> Option<&str> {
        self.who.fqan.as_deref()
    }

    pub(crate) fn submit_host(&self) -> Option<&str> {
        self.who.submit_host.as_deref()
    }

    pub(crate) fn global_job_id(&self) -> Option<&str> {
        self.global_job_id.as_deref()
    }

    fn reaches(&self, end_ms: i64) -> bool {
        (-BEFORE_MS..AFTER_MS).contains(&end_ms.difference_to_compare(self.submit_ms))
    }

    /// Whether it is in one of these files, by place in their order.
    fn is_in(&self, files: &[bool]) -> bool {
        let file = usize::try_from(self.file).ok();
        file.and_then(|file| files.get(file)).copied().unwrap_or(false)
    }
}

/// Values of `infrastructure` for jobs that came through a CE, and for others.
pub(crate) const GRID: &str = "grid";
const LOCAL: &str = "local";

/// Forwards the rows of a reader, jobs with their grid identity.
pub(crate) struct IdentityJoin<'a> {
    pub(crate) index: &'a IdentityIndex,
    pub(crate) inner: &'a mut dyn Sink,
}

impl Relay for IdentityJoin<'_> {
    fn inner(&mut self) -> &mut dyn Sink {
        self.inner
    }

    fn relay_job(&mut self, row: &JobRow<'_>, at: Position, step_n: u32) {
        let mut row = row.clone();
        row.repeats = UnchangedColumns::default();
        let line = row.end_ms.and_then(|end_ms| self.index.find(row.job_id, end_ms));
        match line {
            // A job whose own log names its VO came through a CE, too.
            None if row.vo.is_some() => {}
            None => row.infrastructure = row.infrastructure.or(Some(LOCAL)),
            Some(line) => {
                row.infrastructure = Some(GRID);
                row.submit_host = line.submit_host().or(row.submit_host);
                row.global_job_id = line.global_job_id().or(row.global_job_id);
                row.global_user = line.global_user().or(row.global_user);
                if let Some(stated) = line.fqan() {
                    let fqan = Fqan::parse(stated);
                    row.fqan = Some(stated);
                    row.vo = Some(fqan.vo);
                    row.vo_group = fqan.group;
                    row.vo_role = fqan.role;
                }
            }
        }
        self.inner.job(&row, at, step_n);
    }
}
