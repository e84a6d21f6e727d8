//! Which records are one row at their receiver.
//!
//! The id of a summary document in GRACC has every key but the site: documents of two sites that have all else in common
//! replace each other there.

use std::collections::{BTreeMap, BTreeSet};

use super::ledger::{PublicationEntry, PublicationPlace, PublicationState};
use super::message_record::MessageRecord;
use super::record_format::RecordFormat;
use crate::report::apel::server_key::ServerKey;
use crate::report::gracc;

/// What identifies a row at its receiver.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReceiverKey {
    /// The key of a table of APEL's server.
    Apel(ServerKey),
    /// What GRACC makes the id of a summary document of.
    Gracc(Vec<String>),
}

impl ReceiverKey {
    /// The key of a record.
    #[must_use]
    pub fn of(record: &MessageRecord) -> Self {
        record.server_key().map_or_else(
            || {
                let names = gracc::KEYS.iter().filter(|name| **name != gracc::SITE);
                Self::Gracc(names.map(|name| record.value(name).to_owned()).collect())
            },
            Self::Apel,
        )
    }
}

/// The number of records of each row of the receiver.
pub(super) type ReceiverRows = BTreeMap<ReceiverKey, usize>;

/// Counts the records of each row.
pub(super) fn count_rows<'a>(records: impl Iterator<Item = &'a MessageRecord>) -> ReceiverRows {
    let mut rows = ReceiverRows::new();
    for record in records {
        *rows.entry(ReceiverKey::of(record)).or_default() += 1;
    }
    rows
}

/// Whether documents of several sites were sent to GRACC.
pub(super) fn has_several_sites(entries: &[PublicationEntry]) -> bool {
    let own = entries.iter().filter(|entry| entry.place.form == RecordFormat::Gracc);
    let mut sites = own.map(|entry| &entry.place.site);
    let first = sites.next();
    sites.any(|site| Some(site) != first)
}

/// The rows of GRACC for which a document of another site was sent last, or in the same publication: with the sites.
///
/// `entries` are in their order.
pub(super) fn last_sites(entries: &[PublicationEntry]) -> BTreeMap<ReceiverKey, BTreeSet<&str>> {
    let mut last: BTreeMap<ReceiverKey, (&str, BTreeSet<&str>)> = BTreeMap::new();
    // Of a row that is only renamed nothing is sent.
    let is_sent = |entry: &&PublicationEntry| {
        entry.place.form == RecordFormat::Gracc && entry.state != PublicationState::Respelled
    };
    for entry in entries.iter().filter(is_sent) {
        let of = last.entry(ReceiverKey::of(&entry.record)).or_default();
        if of.0 != entry.publication_id {
            *of = (&entry.publication_id, BTreeSet::new());
        }
        of.1.insert(&entry.place.site);
    }
    last.into_iter().map(|(key, (_, sites))| (key, sites)).collect()
}

/// The records of a place that the receiver does not hold any more, because a document of another site replaced them. Where
/// several sites have the same row now, it is of the one that was sent last.
pub(super) fn overwritten(
    place: &PublicationPlace,
    records: &[MessageRecord],
    rows: &ReceiverRows,
    last: &BTreeMap<ReceiverKey, BTreeSet<&str>>,
) -> Vec<MessageRecord> {
    let is_other = |record: &&MessageRecord| {
        let key = ReceiverKey::of(record);
        rows.get(&key) == Some(&1)
            && last
                .get(&key)
                .is_some_and(|sites| sites.iter().any(|site| *site != place.site))
    };
    records.iter().filter(is_other).cloned().collect()
}
