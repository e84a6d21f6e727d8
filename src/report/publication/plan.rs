//! The records a lake would send to a receiver, compared with those it holds.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashSet;

use super::diff::{PublicationChange, diff};
use super::exporter::{Export, Exporter};
use super::jobs::{self, HeldJobs, RecordChange};
use super::ledger::{self, PublicationEntry, PublicationPlace, PublicationState};
use super::lock::{self, LockEvent};
use super::message_record::MessageRecord;
use super::receiver_rows::{ReceiverKey, ReceiverRows, count_rows, has_several_sites, last_sites, overwritten};
use super::record_format::RecordFormat;
use super::super_summaries::SuperSummaries;
use super::terms::Terms;
use crate::absent;
use crate::error::Result;
use crate::report::apel::MessageKind;
use crate::report::apel::server_key::{ServerKey, folded};
use crate::report::apel::sync_counts::HostMonth;
use crate::report::known_names::note_of_new_receiver;
use crate::report::lake::Lake;
use crate::time::Month;

/// The most new or changed jobs of one site and month that are listed; more are only counted.
pub const LISTED_JOBS: usize = 10_000;

/// The records a lake would send to a receiver, compared with those it holds.
#[derive(Clone, Debug, Default)]
pub struct PublicationPlan {
    /// Everything that differs.
    pub changes: Vec<PublicationChange>,
    /// Places that differ.
    pub places: BTreeSet<PublicationPlace>,
    /// Records that are gone, by place.
    pub vanished: BTreeMap<PublicationPlace, Vec<MessageRecord>>,
    /// Records that are reported under another spelling of the site, or to GRACC under another site, by the place where they
    /// were: the receiver has one row for both, which is not taken back.
    pub respelled: BTreeMap<PublicationPlace, Vec<MessageRecord>>,
    /// Places whose single jobs were sent when only their number was kept: removed jobs of these cannot be named.
    pub unnamed: BTreeSet<PublicationPlace>,
    /// Rows that APEL's server computed from jobs that were since removed, with their values: the server keeps them.
    pub stale: BTreeMap<PublicationPlace, Vec<MessageRecord>>,
    /// Summaries that replace such rows, or replace their replacements.
    pub overlays: BTreeMap<PublicationPlace, Vec<MessageRecord>>,
    /// What would be counted more than once, in a sentence.
    pub doubled: Option<String>,
    /// What the lake comes to.
    pub all: Export,
    /// Records by place; single jobs are counted.
    pub reported: BTreeMap<PublicationPlace, Vec<MessageRecord>>,
    /// The single jobs the receiver holds of the places that differ.
    pub held_jobs: HeldJobs,
    /// Exports all of it; `None` when there is nothing to send.
    pub exporter: Option<Exporter>,
    /// That the book has other receivers, and not this one.
    pub new_receiver: Option<String>,
    /// How the receiver is dealt with.
    pub terms: Terms,
    /// When it was last sent anything, Unix milliseconds.
    pub last_ms: Option<i64>,
}

/// Of single jobs the ledger of places keeps their number and sums: a record that counts them.
fn counted(place: &PublicationPlace, all: &Export) -> Option<MessageRecord> {
    let sent = all.sent.get(place)?;
    let sums = [sent.job_n, sent.wall_s, sent.cpu_s];
    Some(MessageRecord::of_jobs(
        place.form,
        &place.site,
        place.month,
        sums,
        &sent.blake3,
    ))
}

/// Compares a lake with what a receiver holds. Places the exporter does not cover stay as they are.
///
/// # Errors
/// As [`Exporter::export`], and when the ledger cannot be read.
pub fn plan(lake: &Lake, exporter: &Exporter, receiver: &str, terms: &Terms) -> Result<PublicationPlan> {
    let mut entries = ledger::load(&lake.store)?;
    let new_receiver = note_of_new_receiver(receiver, entries.iter().map(|entry| entry.receiver.as_str()));
    entries.retain(|entry| entry.receiver == receiver);
    let held = ledger::held(&entries, receiver);
    let mut plan = PublicationPlan {
        new_receiver,
        terms: terms.clone(),
        last_ms: entries.last().map(|entry| entry.published_ms),
        ..PublicationPlan::default()
    };
    // Single jobs first: sync records must count those that are retracted by zeros.
    if let Some(jobs) = exporter.of_forms(RecordFormat::is_job) {
        plan.add_jobs(lake, &jobs, receiver, &entries, &held)?;
    }
    let exporter = exporter
        .clone()
        .counting(plan.still_counted(lake, exporter, receiver, &entries)?);
    if let Some(others) = exporter.of_forms(|form| !form.is_job()) {
        plan.add_others(lake, &others, &held)?;
        plan.find_respelled(&others, &entries, &held);
    }
    let sent = plan.all.sent.iter();
    let sent = sent.map(|(place, sent)| (place.clone(), sent.job_n)).collect();
    plan.doubled = terms.doubled(&exporter, &sent, &held)?;
    plan.exporter = Some(exporter);
    Ok(plan)
}

type PublicationHeld<'a> = BTreeMap<PublicationPlace, Vec<&'a PublicationEntry>>;

fn sent_before(held: &PublicationHeld<'_>, place: &PublicationPlace) -> Vec<MessageRecord> {
    let entries = held.get(place).into_iter().flatten();
    let sent = entries.filter(|entry| entry.state == PublicationState::Sent);
    sent.map(|entry| entry.record.clone()).collect()
}

/// The counts of single jobs have no identity of their own: there is one for each place.
fn counts(before: &[MessageRecord], after: &[MessageRecord]) -> Vec<PublicationChange> {
    match (before, after) {
        ([before], [after]) if before == after => Vec::new(),
        ([before], [after]) => vec![PublicationChange::Changed {
            before: before.clone(),
            after: after.clone(),
        }],
        (before, after) => {
            let gone = before.iter().cloned().map(PublicationChange::Vanished);
            gone.chain(after.iter().cloned().map(PublicationChange::Added))
                .collect()
        }
    }
}

/// The places of sites that are spelled in several ways in a month, where one of the spellings is among `differing`.
fn several_spellings<'a>(
    places: impl Iterator<Item = &'a PublicationPlace>,
    differing: &BTreeSet<PublicationPlace>,
) -> BTreeSet<PublicationPlace> {
    let mut by_site: BTreeMap<(Month, String), BTreeSet<&PublicationPlace>> = BTreeMap::new();
    for place in places {
        let of = by_site
            .entry((place.month, folded(&place.site).into_owned()))
            .or_default();
        of.insert(place);
    }
    let sites = |of: &BTreeSet<&PublicationPlace>| of.iter().map(|place| &place.site).collect::<BTreeSet<_>>().len();
    let several = by_site.into_values().filter(|of| sites(of) > 1);
    let several = several.filter(|of| of.iter().any(|place| differing.contains(*place)));
    several.flatten().cloned().collect()
}

/// New and changed jobs of one place, as long as they are few.
#[derive(Default)]
struct PublicationListing {
    added: Vec<MessageRecord>,
    changed: BTreeMap<u128, MessageRecord>,
    is_full: bool,
}

impl PublicationListing {
    fn add(&mut self, change: RecordChange, form: RecordFormat, record: &str) {
        if self.added.len() + self.changed.len() >= LISTED_JOBS {
            self.is_full = true;
            return;
        }
        let reported = || MessageRecord::parse(form, record);
        match change {
            RecordChange::Unchanged => {}
            RecordChange::Added => self.added.push(reported()),
            RecordChange::Changed => drop(self.changed.insert(jobs::key_of(record), reported())),
        }
    }
}

impl PublicationPlan {
    fn differ(&mut self, place: &PublicationPlace, changes: Vec<PublicationChange>) {
        if changes.is_empty() {
            return;
        }
        for change in &changes {
            if let PublicationChange::Vanished(gone) | PublicationChange::Moved { before: gone, .. } = change {
                self.vanished.entry(place.clone()).or_default().push(gone.clone());
            }
        }
        self.places.insert(place.clone());
        self.changes.extend(changes);
    }

    /// The forms other than single jobs.
    fn add_others(&mut self, lake: &Lake, exporter: &Exporter, held: &PublicationHeld<'_>) -> Result<()> {
        let mut reported: BTreeMap<PublicationPlace, Vec<MessageRecord>> = BTreeMap::new();
        let all = exporter.export(lake, &mut |form, site, month, _, text| {
            let of = reported.entry(PublicationPlace::new(form, site, month)).or_default();
            of.append(&mut MessageRecord::read_form(form, &text)?);
            Ok(())
        })?;
        self.all.sent.extend(all.sent);
        for line in all.left_out {
            // Kinds of message that differ from the lake alike report it once.
            if !self.all.left_out.contains(&line) {
                self.all.left_out.push(line);
            }
        }
        let covered = held.keys().filter(|place| exporter.covers(place));
        for place in reported.keys().chain(covered).collect::<BTreeSet<_>>() {
            let now = absent::list(reported.get(place));
            self.differ(place, diff(&sent_before(held, place), now));
        }
        self.reported.extend(reported);
        Ok(())
    }

    /// Takes the rows out of the vanished ones that are reported under another spelling of the site, or to GRACC under another
    /// site. Zeros would replace them there. Adds those that a document of another site replaced since they were sent.
    fn find_respelled(&mut self, exporter: &Exporter, entries: &[PublicationEntry], held: &PublicationHeld<'_>) {
        let has_several_sites = has_several_sites(entries);
        if self.vanished.is_empty() && !has_several_sites {
            return;
        }
        let rows = self.receiver_rows(exporter, held);
        if has_several_sites {
            let last = last_sites(entries);
            let same = self
                .reported
                .iter()
                .filter(|(place, _)| place.form == RecordFormat::Gracc);
            let same = same.filter(|(place, _)| !self.places.contains(*place));
            let again: Vec<_> = same
                .map(|(place, records)| (place.clone(), overwritten(place, records, &rows, &last)))
                .collect();
            for (place, records) in again {
                self.differ(&place, records.into_iter().map(PublicationChange::Added).collect());
            }
        }
        for (place, gone) in &mut self.vanished {
            let is_kept = |gone: &MessageRecord| rows.contains_key(&ReceiverKey::of(gone));
            let (respelled, vanished): (Vec<_>, Vec<_>) = std::mem::take(gone).into_iter().partition(is_kept);
            *gone = vanished;
            if !respelled.is_empty() {
                self.respelled.insert(place.clone(), respelled);
            }
        }
    }

    /// The rows that the receiver is to have: of what is reported, and of documents of sites that are not exported now.
    fn receiver_rows(&self, exporter: &Exporter, held: &PublicationHeld<'_>) -> ReceiverRows {
        let reported = self.reported.iter().filter(|(place, _)| !place.form.is_job());
        let elsewhere = held
            .iter()
            .filter(|(place, _)| place.form == RecordFormat::Gracc && !exporter.covers(place));
        let elsewhere = elsewhere.flat_map(|(_, entries)| entries.iter());
        let elsewhere = elsewhere.filter(|entry| entry.state == PublicationState::Sent);
        let reported = reported.flat_map(|(_, records)| records);
        count_rows(reported.chain(elsewhere.map(|entry| &entry.record)))
    }

    fn add_jobs(
        &mut self,
        lake: &Lake,
        exporter: &Exporter,
        receiver: &str,
        entries: &[PublicationEntry],
        held: &PublicationHeld<'_>,
    ) -> Result<()> {
        self.all = exporter.export(lake, &mut |_, _, _, _, _| Ok(()))?;
        let counted = |place: &PublicationPlace| (place.clone(), counted(place, &self.all).into_iter().collect());
        let reported: BTreeMap<PublicationPlace, Vec<MessageRecord>> = self.all.sent.keys().map(counted).collect();
        let covered: Vec<&PublicationPlace> = held.keys().filter(|place| exporter.covers(place)).collect();
        let mut differing: BTreeMap<PublicationPlace, Vec<PublicationChange>> = BTreeMap::new();
        for place in reported.keys().chain(covered.iter().copied()).collect::<BTreeSet<_>>() {
            let now = absent::list(reported.get(place));
            let changes = counts(&sent_before(held, place), now);
            if !changes.is_empty() {
                differing.insert(place.clone(), changes);
            }
        }
        let mut followed: BTreeSet<PublicationPlace> = differing.keys().cloned().collect();
        if self.terms.is_repairing {
            followed.extend(covered.into_iter().cloned());
        }
        self.reported.extend(reported);
        let mut made = SuperSummaries::with_deleted(entries);
        self.held_jobs = HeldJobs::load(&lake.store, receiver, &followed, |job| made.follow(job))?;
        made.end();
        self.by_job(lake, exporter, receiver, differing, &mut made)?;
        let state = if self.terms.is_listing {
            PublicationState::Listed
        } else {
            PublicationState::Retracted
        };
        for gone in self.vanished.values().flatten() {
            made.see(state, &gone.text())?;
        }
        made.end();
        self.overlay(entries, &made);
        Ok(())
    }

    /// What must be done about the rows the server made of jobs.
    fn overlay(&mut self, entries: &[PublicationEntry], made: &SuperSummaries) {
        let overlaid = entries.iter().filter(|entry| entry.state == PublicationState::Overlaid);
        let overlaid = overlaid.filter_map(|entry| Some((entry.record.server_key()?, &entry.record)));
        let overlaid: BTreeMap<ServerKey, &MessageRecord> = overlaid.collect();
        let add = |record: MessageRecord, overlays: &mut BTreeMap<PublicationPlace, Vec<MessageRecord>>| {
            let month = record.month();
            if let Some(month) = month {
                let place = PublicationPlace::new(record.form, record.site(), month);
                overlays.entry(place).or_default().push(record);
            }
        };
        for (key, record) in made.stale() {
            if overlaid.contains_key(&key) {
                continue;
            }
            if self.terms.is_repairing {
                add(record.retraction(), &mut self.overlays);
            }
            add(record, &mut self.stale);
        }
        // A replacement of a row of the server is permanent: it must have the values of the jobs.
        for (key, last) in overlaid {
            if let Some(now) = made.now(&key).filter(|now| now != last) {
                add(now, &mut self.overlays);
            }
        }
    }

    /// Jobs without usage that the receiver counts as jobs, by site, month and submit host, that sync records must count.
    fn still_counted(
        &self,
        lake: &Lake,
        exporter: &Exporter,
        receiver: &str,
        entries: &[PublicationEntry],
    ) -> Result<BTreeMap<HostMonth, i64>> {
        let sync = |place: &PublicationPlace| {
            let form = MessageKind::Sync.into();
            exporter.covers(&PublicationPlace { form, ..place.clone() })
        };
        let zeroed = entries
            .iter()
            .filter(|entry| entry.place.form.is_job() && entry.state == PublicationState::Retracted);
        let zeroed: BTreeSet<PublicationPlace> = zeroed.map(|entry| entry.place.clone()).filter(sync).collect();
        let unread: BTreeSet<PublicationPlace> = zeroed
            .iter()
            .filter(|place| !self.held_jobs.has(place))
            .cloned()
            .collect();
        let others = HeldJobs::load(&lake.store, receiver, &unread, |_| Ok(()))?;
        let mut counted: BTreeMap<HostMonth, i64> = BTreeMap::new();
        let mut count = |place: &PublicationPlace, host: Option<&str>| {
            let of = HostMonth {
                site: place.site.clone(),
                month: place.month,
                host: host.map(str::to_owned),
            };
            *counted.entry(of).or_default() += 1;
        };
        for place in &zeroed {
            for host in self.held_jobs.zeros(place).chain(others.zeros(place)) {
                count(place, host);
            }
        }
        if !self.terms.is_listing {
            for (place, gone) in self
                .vanished
                .iter()
                .filter(|(place, _)| place.form.is_job() && sync(place))
            {
                for reported in gone {
                    count(place, reported.word("SubmitHost"));
                }
            }
        }
        Ok(counted)
    }

    /// Compares the single jobs of differing places with those the receiver holds.
    fn by_job(
        &mut self,
        lake: &Lake,
        exporter: &Exporter,
        receiver: &str,
        counts: BTreeMap<PublicationPlace, Vec<PublicationChange>>,
        made: &mut SuperSummaries,
    ) -> Result<()> {
        let mut held = std::mem::take(&mut self.held_jobs);
        let mut listings: BTreeMap<PublicationPlace, PublicationListing> = BTreeMap::new();
        let known: BTreeSet<PublicationPlace> = counts.keys().filter(|place| held.has(place)).cloned().collect();
        let respelled = several_spellings(self.reported.keys().chain(&known), &known);
        let mut keys_of_several_spellings: HashSet<u128> = HashSet::new();
        let read = known.union(&respelled).cloned().collect();
        if let Some(exporter) = exporter.narrowed(&read) {
            exporter.export(lake, &mut |form, site, month, _, text| {
                let place = PublicationPlace::new(form, site, month);
                if respelled.contains(&place) {
                    keys_of_several_spellings.extend(jobs::records(&text).map(jobs::key_of));
                }
                if !known.contains(&place) {
                    return Ok(());
                }
                let listing = listings.entry(place.clone()).or_default();
                for record in jobs::records(&text) {
                    match held.see(&place, record) {
                        RecordChange::Unchanged => {}
                        change => {
                            made.see(PublicationState::Sent, record)?;
                            listing.add(change, form, record);
                        }
                    }
                }
                Ok(())
            })?;
        }
        let mut wanted: BTreeMap<PublicationPlace, HashSet<u128>> = BTreeMap::new();
        for place in &known {
            let mut keys = held.unseen(place);
            keys.extend(
                listings
                    .get(place)
                    .into_iter()
                    .flat_map(|listing| listing.changed.keys().copied()),
            );
            wanted.insert(place.clone(), keys);
        }
        let mut before = jobs::last_reported(&lake.store, receiver, &wanted)?;
        for (place, counts) in counts {
            let mut was = absent::entry(before.remove(&place));
            let listing = absent::entry(listings.remove(&place));
            if !known.contains(&place) {
                if counts
                    .iter()
                    .any(|change| !matches!(change, PublicationChange::Added(_)))
                {
                    self.unnamed.insert(place.clone());
                }
                self.places.insert(place);
                self.changes.extend(counts);
                continue;
            }
            let mut changes = Vec::new();
            if listing.is_full {
                changes = counts;
                for key in listing.changed.keys() {
                    was.remove(key);
                }
            } else {
                changes.extend(listing.added.into_iter().map(PublicationChange::Added));
                for (key, after) in listing.changed {
                    changes.extend(
                        was.remove(&key)
                            .map(|before| PublicationChange::Changed { before, after }),
                    );
                }
            }
            let (elsewhere, gone): (BTreeMap<_, _>, BTreeMap<_, _>) = was
                .into_iter()
                .partition(|(key, _)| keys_of_several_spellings.contains(key));
            if !elsewhere.is_empty() {
                self.respelled.insert(place.clone(), elsewhere.into_values().collect());
            }
            let mut gone: Vec<MessageRecord> = gone.into_values().collect();
            gone.sort();
            changes.extend(gone.into_iter().map(PublicationChange::Vanished));
            self.differ(&place, changes);
            self.places.insert(place);
        }
        self.held_jobs = held;
        Ok(())
    }

    /// Whether there is nothing to send, and nothing to list.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let is_listed = self.terms.is_listing && !self.stale.is_empty();
        self.places.is_empty() && self.overlays.is_empty() && !is_listed
    }

    /// The locked places among those that differ.
    #[must_use]
    pub fn locked<'a>(&self, events: &'a [LockEvent]) -> Vec<(PublicationPlace, &'a LockEvent)> {
        let of = |place: &PublicationPlace| Some((place.clone(), lock::lock_of(events, &place.site, place.month)?));
        self.places.iter().chain(self.overlays.keys()).filter_map(of).collect()
    }
}
