//! Sends what differs from what a receiver holds, and takes back what is gone.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashSet;

use super::diff::{Change, diff};
use super::form::Form;
use super::jobs::{self, HeldJobs, JobBook, News};
use super::ledger::{self, Entry, Place, State};
use super::lock::{self, LockEvent};
use super::teller::{Take, Teller, Telling};
use super::told::Told;
use crate::error::{Error, Kind, Result};
use crate::report::apel::message::Batch;
use crate::report::lake::Lake;
use crate::time::Month;

/// So many new or changed jobs of one site and month are told apart; more are counted.
pub const LISTED_JOBS: usize = 10_000;

/// What a lake would tell a receiver, against what it holds.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Everything that differs.
    pub changes: Vec<Change>,
    /// Places that differ.
    pub places: BTreeSet<Place>,
    /// Records that are gone, by place.
    pub vanished: BTreeMap<Place, Vec<Told>>,
    /// Places whose single jobs were sent when only their number was kept: what is gone of them nobody can name.
    pub unnamed: BTreeSet<Place>,
    /// What the lake comes to.
    pub all: Telling,
    told: BTreeMap<Place, Vec<Told>>,
    held_jobs: HeldJobs,
}

/// How a receiver gets rid of what is gone. None has a message that deletes.
pub enum Gone<'a> {
    /// It replaces by key: records of the same key with nothing in them.
    Zeros,
    /// Its people delete what they are given a list of.
    List(&'a mut dyn FnMut(&Place, &[Told]) -> Result<()>),
}

/// Of single jobs the ledger of places keeps their number and sums: a record that counts them.
fn counted(place: &Place, all: &Telling) -> Option<Told> {
    let sent = all.sent.get(place)?;
    let (form, site, month) = place;
    let sums = [sent.job_n, sent.wall_s, sent.cpu_s];
    Some(Told::of_jobs(*form, site, *month, sums, &sent.blake3))
}

/// Compares a lake with what a receiver holds. Places the teller does not cover stay as they are.
///
/// # Errors
/// As [`Teller::tell`], and when the ledger cannot be read.
pub fn plan(lake: &Lake, teller: &Teller, receiver: &str) -> Result<Plan> {
    let entries = ledger::load(&lake.store)?;
    let held = ledger::held(&entries, receiver);
    let mut told: BTreeMap<Place, Vec<Told>> = BTreeMap::new();
    let all = teller.tell(lake, &mut |form, site, month, _, text| {
        if !form.is_job() {
            let place = (form, site.to_owned(), month);
            told.entry(place)
                .or_default()
                .append(&mut Told::read_form(form, &text)?);
        }
        Ok(())
    })?;
    for place in all.sent.keys().filter(|place| place.0.is_job()) {
        told.insert(place.clone(), counted(place, &all).into_iter().collect());
    }
    let mut plan = Plan { all, ..Plan::default() };
    let places: BTreeSet<&Place> = told
        .keys()
        .chain(held.keys().filter(|place| teller.covers(place)))
        .collect();
    let mut of_jobs: BTreeMap<Place, Vec<Change>> = BTreeMap::new();
    for place in places {
        let sent: Vec<Told> = (held.get(place).into_iter().flatten())
            .filter(|entry| entry.state == State::Sent)
            .map(|entry| entry.told.clone())
            .collect();
        let now = told.get(place).map(Vec::as_slice).unwrap_or_default();
        if place.0.is_job() {
            let changes = counts(&sent, now);
            if !changes.is_empty() {
                of_jobs.insert(place.clone(), changes);
            }
        } else {
            plan.differ(place, diff(&sent, now));
        }
    }
    plan.told = told;
    plan.by_job(lake, teller, receiver, of_jobs)?;
    Ok(plan)
}

/// The counts of single jobs have no identity of their own: there is one for each place.
fn counts(before: &[Told], after: &[Told]) -> Vec<Change> {
    match (before, after) {
        ([before], [after]) if before == after => Vec::new(),
        ([before], [after]) => vec![Change::Changed {
            before: before.clone(),
            after: after.clone(),
        }],
        (before, after) => {
            let gone = before.iter().cloned().map(Change::Vanished);
            gone.chain(after.iter().cloned().map(Change::Added)).collect()
        }
    }
}

/// New and changed jobs of one place, as long as they are few.
#[derive(Default)]
struct Listing {
    added: Vec<Told>,
    changed: BTreeMap<u128, Told>,
    is_full: bool,
}

impl Listing {
    fn add(&mut self, news: News, form: Form, record: &str) {
        if self.added.len() + self.changed.len() >= LISTED_JOBS {
            self.is_full = true;
            return;
        }
        let told = || Told::parse(form, record);
        match news {
            News::Nothing => {}
            News::Added => self.added.push(told()),
            News::Changed => drop(self.changed.insert(jobs::key_of(record), told())),
        }
    }
}

impl Plan {
    fn differ(&mut self, place: &Place, changes: Vec<Change>) {
        if changes.is_empty() {
            return;
        }
        for change in &changes {
            if let Change::Vanished(gone) | Change::Moved { before: gone, .. } = change {
                self.vanished.entry(place.clone()).or_default().push(gone.clone());
            }
        }
        self.places.insert(place.clone());
        self.changes.extend(changes);
    }

    /// Tells the single jobs of places that differ apart, by what the receiver holds of each.
    fn by_job(
        &mut self,
        lake: &Lake,
        teller: &Teller,
        receiver: &str,
        counts: BTreeMap<Place, Vec<Change>>,
    ) -> Result<()> {
        let places: BTreeSet<Place> = counts.keys().cloned().collect();
        let mut held = HeldJobs::load(&lake.store, receiver, &places)?;
        let mut listings: BTreeMap<Place, Listing> = BTreeMap::new();
        let known: BTreeSet<Place> = places.iter().filter(|place| held.has(place)).cloned().collect();
        if let Some(teller) = teller.narrowed(&known) {
            teller.tell(lake, &mut |form, site, month, _, text| {
                let place = (form, site.to_owned(), month);
                if !known.contains(&place) {
                    return Ok(());
                }
                let listing = listings.entry(place.clone()).or_default();
                for record in jobs::records(&text) {
                    match held.see(&place, record) {
                        News::Nothing => {}
                        news => listing.add(news, form, record),
                    }
                }
                Ok(())
            })?;
        }
        let mut wanted: BTreeMap<Place, HashSet<u128>> = BTreeMap::new();
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
        let mut before = jobs::last_told(&lake.store, receiver, &wanted)?;
        for (place, counts) in counts {
            let mut was = before.remove(&place).unwrap_or_default();
            let listing = listings.remove(&place).unwrap_or_default();
            if !known.contains(&place) {
                if counts.iter().any(|change| !matches!(change, Change::Added(_))) {
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
                changes.extend(listing.added.into_iter().map(Change::Added));
                for (key, after) in listing.changed {
                    changes.extend(was.remove(&key).map(|before| Change::Changed { before, after }));
                }
            }
            let mut gone: Vec<Told> = was.into_values().collect();
            gone.sort();
            changes.extend(gone.into_iter().map(Change::Vanished));
            self.differ(&place, changes);
            self.places.insert(place);
        }
        self.held_jobs = held;
        Ok(())
    }

    /// The locked places among those that differ.
    #[must_use]
    pub fn locked<'a>(&self, events: &'a [LockEvent]) -> Vec<(Place, &'a LockEvent)> {
        let of = |place: &Place| Some((place.clone(), lock::lock_of(events, &place.1, place.2)?));
        self.places.iter().filter_map(of).collect()
    }
}

/// Sends the places of a plan that differ, whole, takes back what is gone, and enters all of it into the ledger once
/// everything was taken.
///
/// # Errors
/// [`Kind::Data`] when a place that differs is locked: nothing is sent then. What `take` fails with, and [`Kind::Io`].
pub fn send(
    lake: &Lake,
    teller: &Teller,
    receiver: &str,
    plan: &Plan,
    now_ms: i64,
    mut gone: Gone<'_>,
    take: &mut Take<'_>,
) -> Result<Vec<Entry>> {
    let events = lock::load(&lake.store)?;
    if let Some((place, event)) = plan.locked(&events).first() {
        let message = format!(
            "{} {} differs from what was published and is locked by {}: {}",
            place.1, place.2, event.author, event.reason
        );
        return Err(Error::new(Kind::Data, message));
    }
    let id = format!("{now_ms}-{}", std::process::id());
    let mut book = JobBook::new(&lake.store, &id, now_ms, receiver);
    let mut numbers: BTreeMap<Place, usize> = BTreeMap::new();
    let mut send = |form: Form, site: &str, month: Month, number: usize, text: String| -> Result<()> {
        let place = (form, site.to_owned(), month);
        if !plan.places.contains(&place) {
            return Ok(());
        }
        let kept = form.is_job().then(|| text.clone());
        take(form, site, month, number, text)?;
        for record in kept.iter().flat_map(|text| jobs::records(text)) {
            if plan.held_jobs.news(&place, record) != News::Nothing {
                book.enter(&place, State::Sent, record)?;
            }
        }
        numbers.insert(place, number);
        Ok(())
    };
    // What does not differ need not be read once more.
    if let Some(teller) = teller.narrowed(&plan.places) {
        teller.tell(lake, &mut send)?;
    }
    let mut entries = Vec::new();
    let mut enter = |place: &Place, told: Told, state: State| {
        let content = plan.all.sent.get(place).map(|sent| sent.blake3.clone());
        entries.push(Entry {
            publication_id: id.clone(),
            published_ms: now_ms,
            receiver: receiver.to_owned(),
            state,
            place: place.clone(),
            content: content.unwrap_or_default(),
            told,
        });
    };
    for place in &plan.places {
        for told in plan.told.get(place).into_iter().flatten() {
            enter(place, told.clone(), State::Sent);
        }
        let vanished = plan.vanished.get(place).map(Vec::as_slice).unwrap_or_default();
        if vanished.is_empty() {
            continue;
        }
        let state = match &mut gone {
            Gone::Zeros => {
                let after = numbers.get(place).copied().unwrap_or(0);
                take_back(place, vanished, teller.batch_records(), after, take)?;
                State::Retracted
            }
            Gone::List(list) => {
                list(place, vanished)?;
                State::Listed
            }
        };
        if place.0.is_job() {
            for told in vanished {
                book.enter(place, state, told.text().trim_end())?;
            }
            let n = i64::try_from(vanished.len()).unwrap_or(i64::MAX);
            enter(place, Told::of_jobs(place.0, &place.1, place.2, [n, 0, 0], ""), state);
        } else {
            for told in vanished {
                enter(place, told.retraction(), state);
            }
        }
    }
    book.close()?;
    ledger::append(&lake.store, &entries)?;
    Ok(entries)
}

/// Hands out records of the same keys with nothing in them, numbered after the others.
fn take_back(
    (form, site, month): &Place,
    vanished: &[Told],
    batch_records: usize,
    after: usize,
    take: &mut Take<'_>,
) -> Result<()> {
    for (nth, some) in vanished.chunks(batch_records).enumerate() {
        let texts = some.iter().map(|told| told.retraction().text());
        let text = match form {
            Form::Gracc => texts.map(|text| text + "\n").collect(),
            Form::Apel(kind) => {
                let mut batch = Batch::default();
                for text in texts {
                    batch.push(*kind, &text);
                }
                batch.take().map(|(text, _)| text).unwrap_or_default()
            }
        };
        take(*form, site, *month, after + 1 + nth, text)?;
    }
    Ok(())
}
