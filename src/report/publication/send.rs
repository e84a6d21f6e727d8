//! Sends what differs from what a receiver holds, and takes back what is gone.

use std::collections::{BTreeMap, BTreeSet};

use super::diff::{Change, diff};
use super::ledger::{self, Entry, Place};
use super::lock::{self, LockEvent};
use super::told::Told;
use crate::error::{Error, Kind, Result};
use crate::report::apel::MessageKind;
use crate::report::apel::message::Batch;
use crate::report::apel::publish::{Published, Request, Take, publish};
use crate::report::lake::Lake;

/// What a lake would tell a receiver, against what it holds.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Everything that differs.
    pub changes: Vec<Change>,
    /// Places that differ.
    pub places: BTreeSet<Place>,
    /// Records that are gone, by place.
    pub vanished: BTreeMap<Place, Vec<Told>>,
    /// What the lake comes to.
    pub published: Published,
    told: BTreeMap<Place, Vec<Told>>,
    /// Places of single jobs the receiver was told before.
    told_before: BTreeSet<Place>,
}

/// Of single jobs the ledger keeps their number and sums: a record that counts them.
fn counted(place: &Place, published: &Published) -> Option<Told> {
    let sent = published.sent.get(place)?;
    let (kind, site, month) = place;
    let sums = [sent.job_n, sent.wall_s, sent.cpu_s];
    Some(Told::of_jobs(*kind, site, *month, sums, &sent.blake3))
}

/// Compares a lake with what a receiver holds. Places the request does not cover stay as they are.
///
/// # Errors
/// As [`publish`], and when the ledger cannot be read.
pub fn plan(lake: &Lake, request: &Request, receiver: &str) -> Result<Plan> {
    let entries = ledger::load(&lake.store)?;
    let held = ledger::held(&entries, receiver);
    let request = &Request {
        told_before: held.keys().filter(|place| place.0.is_job()).cloned().collect(),
        ..request.clone()
    };
    let mut told: BTreeMap<Place, Vec<Told>> = BTreeMap::new();
    let published = publish(lake, request, &mut |kind, site, month, _, text| {
        if !kind.is_job() {
            let place = (kind, site.to_owned(), month);
            told.entry(place).or_default().append(&mut Told::read(&text)?);
        }
        Ok(())
    })?;
    for place in published.sent.keys().filter(|place| place.0.is_job()) {
        told.insert(place.clone(), counted(place, &published).into_iter().collect());
    }
    let selection = &request.selection;
    let covered = |place: &&Place| {
        request.kinds.contains(&place.0) && selection.has_site(&place.1) && selection.has_month(place.2)
    };
    let places: BTreeSet<&Place> = told.keys().chain(held.keys().filter(covered)).collect();
    let mut plan = Plan {
        told_before: request.told_before.clone(),
        published,
        ..Plan::default()
    };
    for place in places {
        let sent: Vec<Told> = (held.get(place).into_iter().flatten())
            .filter(|entry| !entry.is_retraction)
            .map(|entry| entry.told.clone())
            .collect();
        let now = told.get(place).map(Vec::as_slice).unwrap_or_default();
        let changes = if place.0.is_job() {
            of_jobs(&sent, now)
        } else {
            diff(&sent, now)
        };
        if changes.is_empty() {
            continue;
        }
        for change in &changes {
            if let Change::Vanished(gone) | Change::Moved { before: gone, .. } = change {
                plan.vanished.entry(place.clone()).or_default().push(gone.clone());
            }
        }
        plan.places.insert(place.clone());
        plan.changes.extend(changes);
    }
    plan.told = told;
    Ok(plan)
}

/// The counts of single jobs have no identity of their own: there is one for each place.
fn of_jobs(before: &[Told], after: &[Told]) -> Vec<Change> {
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

impl Plan {
    /// The locked places among those that differ.
    #[must_use]
    pub fn locked<'a>(&self, events: &'a [LockEvent]) -> Vec<(Place, &'a LockEvent)> {
        let of = |place: &Place| Some((place.clone(), lock::lock_of(events, &place.1, place.2)?));
        self.places.iter().filter_map(of).collect()
    }
}

/// Sends the places of a plan that differ, whole, with records that take back what is gone, and enters all of it into
/// the ledger once everything was taken. Jobs that a correction took out are told once more, without usage; jobs that are gone
/// from the lake cannot be named any more, so that they cannot be taken back.
///
/// # Errors
/// [`Kind::Data`] when a place that differs is locked: nothing is sent then. What `take` fails with, and [`Kind::Io`].
pub fn send(
    lake: &Lake,
    request: &Request,
    receiver: &str,
    plan: &Plan,
    now_ms: i64,
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
    let mut numbers: BTreeMap<Place, usize> = BTreeMap::new();
    let request = &Request {
        told_before: plan.told_before.clone(),
        ..request.clone()
    };
    publish(lake, request, &mut |kind, site, month, number, text| {
        let place = (kind, site.to_owned(), month);
        if !plan.places.contains(&place) {
            return Ok(());
        }
        numbers.insert(place, number);
        take(kind, site, month, number, text)
    })?;
    let id = format!("{now_ms}-{}", std::process::id());
    let mut entries = Vec::new();
    let mut enter = |place: &Place, told: Told, is_retraction: bool| {
        let content = plan.published.sent.get(place).map(|sent| sent.blake3.clone());
        entries.push(Entry {
            publication_id: id.clone(),
            published_ms: now_ms,
            receiver: receiver.to_owned(),
            is_retraction,
            place: place.clone(),
            content: content.unwrap_or_default(),
            told,
        });
    };
    for place in &plan.places {
        for told in plan.told.get(place).into_iter().flatten() {
            enter(place, told.clone(), false);
        }
        let gone = plan.vanished.get(place).into_iter().flatten();
        let taken_back: Vec<Told> = gone.filter_map(Told::retraction).collect();
        let mut batch = Batch::default();
        let (kind, site, month) = place;
        let mut number = numbers.get(place).copied().unwrap_or(0);
        for told in taken_back {
            batch.push(*kind, &told.text());
            enter(place, told, true);
            if batch.record_n() >= request.batch_records.max(1) {
                number += 1;
                hand_out(&mut batch, *kind, site, *month, number, take)?;
            }
        }
        hand_out(&mut batch, *kind, site, *month, number + 1, take)?;
    }
    ledger::append(&lake.store, &entries)?;
    Ok(entries)
}

fn hand_out(
    batch: &mut Batch,
    kind: MessageKind,
    site: &str,
    month: crate::time::Month,
    number: usize,
    take: &mut Take<'_>,
) -> Result<()> {
    match batch.take() {
        Some((text, _)) => take(kind, site, month, number, text),
        None => Ok(()),
    }
}
