//! From a lake to messages.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashSet;

use super::aggregate::{self, Aggregate, VoNames};
use super::jobs::{JobMessageLeftOut, JobMessageWanted, LeftOutCounts, LeftOutWhy, SendableJob, each_job};
use super::kind::MessageKind;
use super::message::{self, MessageBatch, RecordText};
use super::rounded_levels::RoundedLevels;
use super::server_key::job_key;
use super::server_sites::with_same_sites;
use super::sync_counts::{HostMonth, counts};
use super::users::Users;
use super::{additions, check};
use crate::amounts::{add, total};
use crate::error::{Error, Kind, Result};
use crate::record::{Summary, SummaryKind};
use crate::reference::benchmark::Benchmark;
use crate::report::lake::{Lake, Selection};
use crate::report::table::{Cell, ColumnKind, Table};
use crate::report::vo_case::{VoCase, VoCaseOutcome};
use crate::time::Month;

/// What is to be written.
#[derive(Clone, Debug, Default)]
pub struct ApelRequest {
    /// Which part of the lake.
    pub selection: Selection,
    /// Kinds of message, each once.
    pub kinds: Vec<MessageKind>,
    /// The only benchmark to name; the one the server would pick if none is requested.
    pub benchmark: Option<Benchmark>,
    /// What becomes of names.
    pub users: Users,
    /// Records of a message.
    pub batch_records: usize,
    /// Whether usage that cannot be reported is left out, and counted; else it is an error.
    pub is_leaving_out: bool,
    /// Now, Unix seconds, for the rules about the future.
    pub now_s: Option<i64>,
    /// Jobs the receiver still counts though they are gone: they were taken back by zeros. Sync records count them too.
    pub still_counted: BTreeMap<HostMonth, i64>,
}

/// One kind of message for one site and month.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Messages.
    pub message_n: i64,
    /// Records in them.
    pub record_n: i64,
    /// Number of jobs in them.
    pub job_n: i64,
    /// Wall time, not times cores, seconds.
    pub wall_s: i64,
    /// CPU time, seconds, as it is written.
    pub cpu_s: i64,
    /// BLAKE3 over the records.
    pub blake3: String,
}

/// What was written, and what was not.
#[derive(Clone, Debug, Default)]
pub struct Published {
    /// By kind, site and month.
    pub sent: BTreeMap<(MessageKind, String, Month), Sent>,
    /// Jobs that are not in the messages of a kind, by reason.
    pub left_out: BTreeMap<MessageKind, LeftOutCounts>,
    /// How the messages differ from the lake otherwise, a line for people each.
    pub notes: BTreeSet<String>,
}

/// Takes messages: kind, site, month, number among its like, text.
pub type ApelTake<'a> = dyn FnMut(MessageKind, &str, Month, usize, String) -> Result<()> + 'a;

/// Writes the messages of a lake. They are sorted, and the same lake gives the same messages. Of a requested site every
/// spelling is reported that the server takes for it.
///
/// # Errors
/// [`Kind::Data`] when usage cannot be reported and is not to be left out; messages may have been written by then
/// before. [`Kind::Io`] when the lake cannot be read.
pub fn publish(lake: &Lake, request: &ApelRequest, take: &mut ApelTake<'_>) -> Result<Published> {
    let request = &ApelRequest {
        selection: with_same_sites(lake, &request.selection),
        ..request.clone()
    };
    let mut published = Published::default();
    let summaries = lake.summaries(&request.selection)?;
    let usage: Vec<&Summary> = summaries.iter().filter(|row| row.kind != SummaryKind::Sync).collect();
    let (by_job, added_up): (Vec<MessageKind>, Vec<MessageKind>) = request.kinds.iter().partition(|kind| kind.is_job());
    if !added_up.is_empty() {
        let wanted = JobMessageWanted::Groups;
        let (gathering, mut lost) =
            aggregate::of_lake(lake, &request.selection, wanted, &request.users, request.now_s)?;
        note_additions(lake, request, &mut lost)?;
        let received = usage.iter().map(|row| aggregate::of_summary(row, &request.users));
        let received = received.collect::<Result<Vec<Aggregate>>>()?;
        if added_up.iter().any(|kind| *kind != MessageKind::Sync) {
            let case = VoCase::find(gathering.groups().iter().chain(&received));
            published.notes.extend(case.note(VoCaseOutcome::MergedByKey));
        }
        let mut groups = gathering.finish(VoNames::AsServer)?;
        groups.extend(received);
        for kind in added_up {
            let mut lost = lost.clone();
            aggregates(&groups, kind, request, &mut lost, &mut published, take)?;
            settle(kind, lost, request, &mut published)?;
        }
    }
    for kind in by_job {
        let mut lost = LeftOutCounts::new();
        let reported = total(usage.iter().filter_map(|row| row.numbers.job_n), "job_n")?;
        if reported > 0 {
            lost.insert(JobMessageLeftOut::OnlySummaries.into(), reported);
        }
        note_additions(lake, request, &mut lost)?;
        let mut writer = ApelWriter::new(kind, request, &mut published, take);
        let mut refused = LeftOutCounts::new();
        each_job(
            lake,
            &request.selection,
            JobMessageWanted::Jobs,
            &mut lost,
            |site, job| writer.job(site, job, &mut refused),
        )?;
        writer.finish()?;
        lost.extend(refused);
        settle(kind, lost, request, &mut published)?;
    }
    Ok(published)
}

/// Usage added by corrections has neither benchmark nor job; its hours are counted as left out.
fn note_additions(lake: &Lake, request: &ApelRequest, lost: &mut LeftOutCounts) -> Result<()> {
    for (added, job_n) in additions::additions_in_words(lake, &request.selection)? {
        lost.insert(LeftOutWhy::by_rule(JobMessageLeftOut::AddedByCorrection, added), job_n);
    }
    Ok(())
}

/// Keeps what was left out, or fails because of it.
fn settle(kind: MessageKind, lost: LeftOutCounts, request: &ApelRequest, published: &mut Published) -> Result<()> {
    let losses = lost.iter().filter(|(why, _)| why.reason.is_loss());
    let reported: Vec<String> = losses
        .map(|(LeftOutWhy { reason, rule }, n)| match rule.as_str() {
            "" => format!("{n} {}", reason.as_str()),
            rule => format!("{n} {} ({rule})", reason.as_str()),
        })
        .collect();
    if !reported.is_empty() && !request.is_leaving_out {
        let message = format!(
            "jobs that {} messages cannot express: {}; --leave-out writes the others and counts these",
            kind.as_str(),
            reported.join(", ")
        );
        return Err(Error::new(Kind::Data, message));
    }
    published.left_out.insert(kind, lost);
    Ok(())
}

fn aggregates(
    groups: &[Aggregate],
    kind: MessageKind,
    request: &ApelRequest,
    lost: &mut LeftOutCounts,
    published: &mut Published,
    take: &mut ApelTake<'_>,
) -> Result<()> {
    let mut writer = ApelWriter::new(kind, request, published, take);
    if kind == MessageKind::Sync {
        for (HostMonth { site, month, host }, job_n) in counts(groups, &request.still_counted)? {
            let text = message::sync(&site, month, host.as_deref(), job_n);
            let sums = SentSums {
                job_n,
                ..SentSums::default()
            };
            writer.push(&site, month, text, sums, lost)?;
        }
    } else {
        let rows = aggregate::rows(groups, kind, request.benchmark, lost)?;
        writer.rounded_levels = aggregate::rounded_levels(&rows)?;
        for row in rows {
            let sums = SentSums {
                job_n: row.sums.job_n,
                wall_s: row.sums.wall_s,
                cpu_s: row.sums.cpu_s(),
            };
            writer.push(&row.site, row.month, message::summary(&row, kind), sums, lost)?;
        }
    }
    writer.finish()
}

/// The sums of a record.
#[derive(Clone, Copy, Default)]
struct SentSums {
    job_n: i64,
    wall_s: i64,
    cpu_s: i64,
}

/// Gathers records into messages by site and month.
struct ApelWriter<'w, 'a> {
    kind: MessageKind,
    request: &'w ApelRequest,
    published: &'w mut Published,
    take: &'w mut ApelTake<'a>,
    open: BTreeMap<(String, Month), (MessageBatch, blake3::Hasher)>,
    /// Keys of the jobs so far.
    known: HashSet<u128>,
    /// Jobs whose benchmark is rounded.
    rounded_levels: RoundedLevels,
}

impl<'w, 'a> ApelWriter<'w, 'a> {
    fn new(
        kind: MessageKind,
        request: &'w ApelRequest,
        published: &'w mut Published,
        take: &'w mut ApelTake<'a>,
    ) -> Self {
        Self {
            kind,
            request,
            published,
            take,
            open: BTreeMap::new(),
            known: HashSet::new(),
            rounded_levels: RoundedLevels::default(),
        }
    }

    fn job(&mut self, site: &str, job: &SendableJob<'_>, lost: &mut LeftOutCounts) -> Result<()> {
        let known = |place: usize| job.levels_e3.get(place).is_some_and(Option::is_some);
        let Some(named) = aggregate::preferred(known, self.request.benchmark) else {
            *lost.entry(JobMessageLeftOut::BenchmarkMissing.into()).or_default() += 1;
            return Ok(());
        };
        // What the server takes for another job cannot be added to it: it would replace it.
        if !self.known.insert(job_key(site, job.job_id, &job.end_s.to_string())) {
            *lost.entry(JobMessageLeftOut::SameKey.into()).or_default() += 1;
            return Ok(());
        }
        let names_all = self.kind.has_dictionary() && self.request.benchmark.is_none();
        let rounded = RoundedLevels::of_job(job.are_levels_rounded);
        self.rounded_levels
            .add(rounded.only(|place| names_all || place == named))?;
        let text = message::job(site, job, self.kind, self.request.benchmark, &self.request.users);
        let cpu_s = crate::report::table::divide(i128::from(job.cpu_ms), 1000);
        // Fallback: never taken, a thousandth of 63 bits fits them.
        let cpu_s = cpu_s.and_then(|s| i64::try_from(s).ok()).unwrap_or(0);
        let sums = SentSums {
            job_n: 1,
            wall_s: job.wall_s,
            cpu_s,
        };
        self.push(site, job.month, text, sums, lost)
    }

    /// Adds a record that the server would take; counts another.
    fn push(
        &mut self,
        site: &str,
        month: Month,
        text: RecordText,
        sums: SentSums,
        lost: &mut LeftOutCounts,
    ) -> Result<()> {
        let SentSums { job_n, wall_s, cpu_s } = sums;
        let text = match text.finish() {
            Ok(text) => text,
            Err(key) => {
                let why = LeftOutWhy::by_rule(JobMessageLeftOut::UnwritableText, key);
                add(lost.entry(why).or_default(), job_n, "job_n")?;
                return Ok(());
            }
        };
        if let Err(finding) = check::record(text.trim_end(), self.kind, self.request.now_s) {
            let why = LeftOutWhy::by_rule(JobMessageLeftOut::Refused, finding.rule.as_str());
            add(lost.entry(why).or_default(), job_n, "job_n")?;
            return Ok(());
        }
        let place = (site.to_owned(), month);
        let (batch, hasher) = self.open.entry(place.clone()).or_default();
        batch.push(self.kind, &text);
        hasher.update(text.as_bytes());
        let is_full = batch.record_n() >= self.request.batch_records.max(1);
        let sent = self
            .published
            .sent
            .entry((self.kind, place.0.clone(), month))
            .or_default();
        sent.record_n += 1;
        for (sum, part, what) in [
            (&mut sent.job_n, job_n, "job_n"),
            (&mut sent.wall_s, wall_s, "wall_s"),
            (&mut sent.cpu_s, cpu_s, "cpu_s"),
        ] {
            add(sum, part, what)?;
        }
        if is_full {
            self.flush_place(site, month)?;
        }
        Ok(())
    }

    fn flush_place(&mut self, site: &str, month: Month) -> Result<()> {
        let Some((batch, _)) = self.open.get_mut(&(site.to_owned(), month)) else {
            return Ok(());
        };
        let Some((text, _)) = batch.take() else { return Ok(()) };
        let sent = self
            .published
            .sent
            .entry((self.kind, site.to_owned(), month))
            .or_default();
        sent.message_n += 1;
        let too_many = |why| Error::internal("more messages than can be numbered").because(why);
        let number = usize::try_from(sent.message_n).map_err(too_many)?;
        (self.take)(self.kind, site, month, number, text)
    }

    fn finish(mut self) -> Result<()> {
        self.published.notes.extend(self.rounded_levels.note());
        let places: Vec<(String, Month)> = self.open.keys().cloned().collect();
        for place in places {
            self.flush_place(&place.0, place.1)?;
            let hasher = self.open.get(&place).map(|(_, hasher)| hasher);
            let sent = self.published.sent.get_mut(&(self.kind, place.0, place.1));
            let (hasher, sent) = hasher
                .zip(sent)
                .ok_or_else(|| Error::internal("a month is not known as sent"))?;
            sent.blake3 = hasher.finalize().to_hex().to_string();
        }
        Ok(())
    }
}

impl Published {
    /// What was written.
    #[must_use]
    pub fn table(&self) -> Table {
        // Kinds of message describe the same jobs.
        let kinds: BTreeSet<MessageKind> = self.sent.keys().map(|(kind, ..)| *kind).collect();
        let usage = ColumnKind::distinguished_by(kinds.len());
        let mut table = Table::new(
            "Messages for APEL",
            &[
                ("message", "", ColumnKind::Text),
                ("site", "", ColumnKind::Text),
                ("month", "", ColumnKind::Text),
                ("message_n", "1", ColumnKind::Sum),
                ("record_n", "1", ColumnKind::Sum),
                ("job_n", "1", usage),
                ("wall_s", "s", usage),
                ("cpu_s", "s", usage),
                ("content", "BLAKE3", ColumnKind::Text),
            ],
        );
        for ((kind, site, month), sent) in &self.sent {
            table.push(vec![
                Cell::text(kind.as_str()),
                Cell::text(site),
                Cell::text(month.to_string()),
                Cell::int(sent.message_n),
                Cell::int(sent.record_n),
                Cell::int(sent.job_n),
                Cell::int(sent.wall_s),
                Cell::int(sent.cpu_s),
                Cell::text(sent.blake3.get(..16).unwrap_or(&sent.blake3)),
            ]);
        }
        table
    }

    /// What was left out, and how the messages differ from the lake otherwise, a line for people each.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self.left_out_lines();
        lines.extend(self.notes.iter().cloned());
        lines
    }

    /// What was left out, a line for people each.
    #[must_use]
    pub fn left_out_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (kind, lost) in &self.left_out {
            for (LeftOutWhy { reason, rule }, n) in lost {
                let rule = if rule.is_empty() {
                    String::new()
                } else {
                    format!(" ({rule})")
                };
                lines.push(format!(
                    "{}: {n} jobs left out: {}{rule}",
                    kind.as_str(),
                    reason.as_str()
                ));
            }
        }
        lines
    }
}
