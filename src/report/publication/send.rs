//! Sends what differs from what a receiver holds, and takes back what is gone.

use std::collections::BTreeMap;

use super::exporter::{Export, ExportTake, Exporter};
use super::jobs::{self, JobBook, RecordChange};
use super::ledger::{self, PublicationEntry, PublicationPlace, PublicationState};
use super::lock;
use super::message_record::MessageRecord;
use super::outbox::OutboxListed;
use super::plan::PublicationPlan;
use super::record_format::RecordFormat;
use crate::absent;
use crate::error::{Error, Kind, Result};
use crate::numbers::count_i64;
use crate::report::apel::message::MessageBatch;
use crate::report::lake::Lake;
use crate::store::Sending;
use crate::time::Month;

/// Takes what people are to delete of a place.
pub type List<'a> = dyn FnMut(&PublicationPlace, OutboxListed, &[MessageRecord]) -> Result<()> + 'a;

/// Whether a plan may be sent.
///
/// # Errors
/// [`Kind::Data`] when a place that differs is locked, or would be counted more than once.
pub fn permit(lake: &Lake, plan: &PublicationPlan) -> Result<()> {
    if let Some(doubled) = &plan.doubled {
        return Err(Error::new(Kind::Data, doubled));
    }
    let events = lock::load(&lake.store)?;
    if let Some((place, event)) = plan.locked(&events).first() {
        let message = format!(
            "{} {} differs from what was published and is locked by {}: {}",
            place.site, place.month, event.author, event.reason
        );
        return Err(Error::new(Kind::Data, message));
    }
    Ok(())
}

/// Sends the differing places of a plan completely, retracts or lists removed records, and enters all of it into the book.
/// It is sent once the sending is committed.
///
/// # Errors
/// As [`permit`]. What `take` and `list` fail with, and [`Kind::Io`].
pub fn send(
    sending: &Sending<'_>,
    lake: &Lake,
    receiver: &str,
    plan: &PublicationPlan,
    now_ms: i64,
    list: &mut List<'_>,
    take: &mut ExportTake<'_>,
) -> Result<Vec<PublicationEntry>> {
    permit(lake, plan)?;
    // The order of the book decides, even if the clock was set back.
    // Fallback: a publication at the end of all time is not followed by another.
    let now_ms = plan.last_ms.map_or(now_ms, |last| now_ms.max(last.saturating_add(1)));
    let id = format!("{now_ms}-{}", std::process::id());
    let mut book = JobBook::new(sending, &id, now_ms, receiver);
    let mut numbers: BTreeMap<PublicationPlace, usize> = BTreeMap::new();
    let mut send = |form: RecordFormat, site: &str, month: Month, number: usize, text: String| -> Result<()> {
        let place = PublicationPlace::new(form, site, month);
        if !plan.places.contains(&place) {
            return Ok(());
        }
        let kept = form.is_job().then(|| text.clone());
        take(form, site, month, number, text)?;
        for record in kept.iter().flat_map(|text| jobs::records(text)) {
            if plan.held_jobs.change(&place, record) != RecordChange::Unchanged {
                book.enter(&place, PublicationState::Sent, record)?;
            }
        }
        numbers.insert(place, number);
        Ok(())
    };
    // What does not differ need not be read once more.
    if let Some(exporter) = plan
        .exporter
        .as_ref()
        .and_then(|exporter| exporter.narrowed(&plan.places))
    {
        let exported = exporter.export(lake, &mut send)?;
        must_be_planned(plan, &exported)?;
    }
    let batch_records = plan.exporter.as_ref().map_or(1, Exporter::batch_records);
    let mut entries = Vec::new();
    let mut enter = |place: &PublicationPlace, record: MessageRecord, state: PublicationState| {
        let content = plan.all.sent.get(place).map(|sent| sent.blake3.clone());
        entries.push(PublicationEntry {
            publication_id: id.clone(),
            published_ms: now_ms,
            receiver: receiver.to_owned(),
            state,
            place: place.clone(),
            // Fallback: a place of which nothing is sent any more has no content.
            content: content.unwrap_or_default(),
            record,
        });
    };
    for place in &plan.places {
        for reported in plan.reported.get(place).into_iter().flatten() {
            enter(place, reported.clone(), PublicationState::Sent);
        }
        let respelled = absent::list(plan.respelled.get(place));
        enter_gone(&mut book, place, PublicationState::Respelled, respelled, &mut enter)?;
        let vanished = absent::list(plan.vanished.get(place));
        if vanished.is_empty() {
            continue;
        }
        let state = if plan.terms.is_listing {
            list(place, OutboxListed::Records, vanished)?;
            PublicationState::Listed
        } else {
            let zeros: Vec<MessageRecord> = vanished.iter().map(MessageRecord::retraction).collect();
            send_records(place, &zeros, batch_records, &mut numbers, take)?;
            PublicationState::Retracted
        };
        enter_gone(&mut book, place, state, vanished, &mut enter)?;
    }
    for (place, rows) in plan.stale.iter().filter(|_| plan.terms.is_listing) {
        list(place, OutboxListed::SuperSummaries, rows)?;
        for reported in rows {
            enter(place, reported.clone(), PublicationState::SuperListed);
        }
    }
    for (place, rows) in &plan.overlays {
        send_records(place, rows, batch_records, &mut numbers, take)?;
        for reported in rows {
            enter(place, reported.clone(), PublicationState::Overlaid);
        }
    }
    book.close()?;
    ledger::append(sending, &entries)?;
    Ok(entries)
}

/// Enters what became of records of a place that are there no more: single jobs into their book, with their number, others
/// one by one.
fn enter_gone(
    book: &mut JobBook<'_>,
    place: &PublicationPlace,
    state: PublicationState,
    gone: &[MessageRecord],
    enter: &mut impl FnMut(&PublicationPlace, MessageRecord, PublicationState),
) -> Result<()> {
    if !place.form.is_job() {
        for reported in gone {
            enter(place, reported.retraction(), state);
        }
        return Ok(());
    }
    for reported in gone {
        book.enter(place, state, reported.text().trim_end())?;
    }
    if !gone.is_empty() {
        let sums = [count_i64(gone.len()), 0, 0];
        let counted = MessageRecord::of_jobs(place.form, &place.site, place.month, sums, "");
        enter(place, counted, state);
    }
    Ok(())
}

/// What was exported once more must be what the plan enters into the book: sums and content.
fn must_be_planned(plan: &PublicationPlan, exported: &Export) -> Result<()> {
    let differs = |place: &&PublicationPlace| exported.sent.get(place) != plan.all.sent.get(place);
    let Some(PublicationPlace { form, site, month }) = plan.places.iter().find(differs) else {
        return Ok(());
    };
    let message = format!(
        "{} {site} {month}: the messages are not those that were planned",
        form.as_str()
    );
    Err(Error::internal(message))
}

/// Sends records of a place, numbered after the messages already sent for it.
fn send_records(
    place: &PublicationPlace,
    records: &[MessageRecord],
    batch_records: usize,
    numbers: &mut BTreeMap<PublicationPlace, usize>,
    take: &mut ExportTake<'_>,
) -> Result<()> {
    let PublicationPlace { form, site, month } = place;
    let number = numbers.entry(place.clone()).or_default();
    for some in records.chunks(batch_records) {
        let texts = some.iter().map(MessageRecord::text);
        let text = match form {
            RecordFormat::Gracc => texts.map(|text| text + "\n").collect(),
            RecordFormat::Apel(kind) => {
                let mut batch = MessageBatch::default();
                for text in texts {
                    batch.push(*kind, &text);
                }
                let taken = batch
                    .take()
                    .ok_or_else(|| Error::internal("a message has no records"))?;
                taken.0
            }
        };
        *number += 1;
        take(*form, site, *month, *number, text)?;
    }
    Ok(())
}
