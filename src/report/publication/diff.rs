//! What changed between two publications.

use std::collections::{BTreeMap, BTreeSet};

use super::message_record::{MessageKey, MessageRecord};
use crate::report::table::{Cell, ColumnKind, Table};
use crate::schema::batch::addend;

/// What became of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublicationChange {
    /// It was not there before.
    Added(MessageRecord),
    /// It is not there any more.
    Vanished(MessageRecord),
    /// It exists under the same key with other content.
    Changed {
        /// As it was.
        before: MessageRecord,
        /// As it is.
        after: MessageRecord,
    },
    /// It has the same content under a key that differs in one field.
    Moved {
        /// As it was.
        before: MessageRecord,
        /// As it is.
        after: MessageRecord,
    },
}

/// A field that differs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldChange {
    /// Its key.
    pub field: String,
    /// Its value before; empty when it was missing.
    pub before: String,
    /// Its value after; empty when it is missing.
    pub after: String,
}

impl PublicationChange {
    /// The word in reports.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Added(_) => "added",
            Self::Vanished(_) => "vanished",
            Self::Changed { .. } => "changed",
            Self::Moved { .. } => "moved",
        }
    }

    /// The record as it is, or as it was when it is gone.
    #[must_use]
    pub fn record(&self) -> &MessageRecord {
        match self {
            Self::Added(record) | Self::Vanished(record) => record,
            Self::Changed { after, .. } | Self::Moved { after, .. } => after,
        }
    }

    /// Every field that differs.
    #[must_use]
    pub fn fields(&self) -> Vec<FieldChange> {
        match self {
            Self::Added(_) | Self::Vanished(_) => Vec::new(),
            Self::Changed { before, after } | Self::Moved { before, after } => differing(before, after),
        }
    }
}

fn differing(before: &MessageRecord, after: &MessageRecord) -> Vec<FieldChange> {
    let keys: BTreeSet<&String> = before.fields.keys().chain(after.fields.keys()).collect();
    let of = |record: &MessageRecord, key: &str| record.value(key).to_owned();
    keys.into_iter()
        .map(|key| FieldChange {
            field: key.clone(),
            before: of(before, key),
            after: of(after, key),
        })
        .filter(|change| change.before != change.after)
        .collect()
}

/// Records by key; of those with one key the last holds, as for the server.
#[must_use]
pub fn by_key(record: &[MessageRecord]) -> BTreeMap<MessageKey, &MessageRecord> {
    record.iter().map(|record| (record.key(), record)).collect()
}

/// Everything that differs, in the order of keys.
#[must_use]
pub fn diff(before: &[MessageRecord], after: &[MessageRecord]) -> Vec<PublicationChange> {
    let (before, after) = (by_key(before), by_key(after));
    let mut vanished: BTreeMap<&MessageKey, &MessageRecord> = BTreeMap::new();
    let mut changes: BTreeMap<MessageKey, PublicationChange> = BTreeMap::new();
    for (key, record) in &before {
        match after.get(key) {
            Some(now) if now == record => {}
            Some(now) => {
                let change = PublicationChange::Changed {
                    before: (*record).clone(),
                    after: (*now).clone(),
                };
                changes.insert(key.clone(), change);
            }
            None => {
                vanished.insert(key, record);
            }
        }
    }
    let added: BTreeMap<&MessageKey, &MessageRecord> = after
        .iter()
        .filter(|(key, _)| !before.contains_key(*key))
        .map(|(key, record)| (key, *record))
        .collect();
    let mut arrived = same_content(&added);
    let left = same_content(&vanished);
    for (content, keys) in left {
        // A record counts as moved only when exactly one other has the same content.
        let twin = arrived.get(&content).map(Vec::as_slice);
        let ([from], Some([to])) = (keys.as_slice(), twin) else {
            continue;
        };
        let distance = from.parts.iter().zip(&to.parts).filter(|(a, b)| a != b).count();
        if distance != 1 || from.form != to.form {
            continue;
        }
        if let (Some(was), Some(is)) = (vanished.remove(*from), added.get(*to)) {
            let change = PublicationChange::Moved {
                before: was.clone(),
                after: (*is).clone(),
            };
            changes.insert((*to).clone(), change);
            arrived.remove(&content);
        }
    }
    for (key, record) in vanished {
        changes.insert(key.clone(), PublicationChange::Vanished(record.clone()));
    }
    for (key, record) in added {
        changes
            .entry(key.clone())
            .or_insert_with(|| PublicationChange::Added(record.clone()));
    }
    changes.into_values().collect()
}

/// The content of a record without its key.
type PublicationContent = Vec<(String, String)>;

fn same_content<'a>(
    records: &BTreeMap<&'a MessageKey, &MessageRecord>,
) -> BTreeMap<PublicationContent, Vec<&'a MessageKey>> {
    let mut by_content: BTreeMap<PublicationContent, Vec<&'a MessageKey>> = BTreeMap::new();
    for (key, record) in records {
        let own = record.key_fields();
        let content: PublicationContent = (record.fields.iter())
            .filter(|(name, _)| !own.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        by_content.entry(content).or_default().push(key);
    }
    by_content
}

/// What becomes of `before` by the changes: the proof that they are all of them.
#[must_use]
pub fn apply(before: &[MessageRecord], changes: &[PublicationChange]) -> Vec<MessageRecord> {
    let mut record: BTreeMap<MessageKey, MessageRecord> = by_key(before)
        .into_iter()
        .map(|(key, record)| (key, record.clone()))
        .collect();
    for change in changes {
        match change {
            PublicationChange::Vanished(gone) | PublicationChange::Moved { before: gone, .. } => {
                record.remove(&gone.key());
            }
            PublicationChange::Added(_) | PublicationChange::Changed { .. } => {}
        }
    }
    for change in changes {
        if !matches!(change, PublicationChange::Vanished(_)) {
            let is = change.record();
            record.insert(is.key(), is.clone());
        }
    }
    record.into_values().collect()
}

/// How many records changed how, and in which fields, in a line.
#[must_use]
pub fn in_brief(changes: &[PublicationChange]) -> String {
    let mut words: BTreeMap<&str, usize> = BTreeMap::new();
    let mut fields: BTreeMap<String, usize> = BTreeMap::new();
    for change in changes {
        *words.entry(change.as_str()).or_default() += 1;
        for FieldChange { field, .. } in change.fields() {
            *fields.entry(field).or_default() += 1;
        }
    }
    if words.is_empty() {
        return "nothing differs".to_owned();
    }
    let words: Vec<String> = words.iter().map(|(word, n)| format!("{n} {word}")).collect();
    let fields: Vec<String> = fields.iter().map(|(field, n)| format!("{field} in {n}")).collect();
    let fields = if fields.is_empty() {
        String::new()
    } else {
        format!("; {}", fields.join(", "))
    };
    format!("{}{fields}", words.join(", "))
}

/// The changes, a line for every field that differs.
#[must_use]
pub fn table(title: &str, changes: &[PublicationChange]) -> Table {
    // Messages of several kinds describe the same jobs.
    let forms: BTreeSet<_> = changes.iter().map(|change| change.record().form).collect();
    let usage = ColumnKind::distinguished_by(forms.len());
    let mut table = Table::new(
        title,
        &[
            ("change", "", ColumnKind::Text),
            ("message", "", ColumnKind::Text),
            ("site", "", ColumnKind::Text),
            ("month", "", ColumnKind::Text),
            ("vo", "", ColumnKind::Text),
            ("key", "", ColumnKind::Text),
            ("field", "", ColumnKind::Text),
            ("before", "", ColumnKind::Text),
            ("after", "", ColumnKind::Text),
            ("job_n", "1", usage),
            ("wall_s", "s", usage),
            ("cpu_s", "s", usage),
        ],
    );
    for change in changes {
        let record = change.record();
        let (before, after) = match change {
            PublicationChange::Added(record) => (None, Some(record)),
            PublicationChange::Vanished(record) => (Some(record), None),
            PublicationChange::Changed { before, after } | PublicationChange::Moved { before, after } => {
                (Some(before), Some(after))
            }
        };
        let delta =
            |of: &dyn Fn(&MessageRecord) -> i64| i128::from(after.map_or(0, of)) - i128::from(before.map_or(0, of));
        let mut fields = change.fields();
        if fields.is_empty() {
            fields.push(FieldChange::default());
        }
        for (at, differing) in fields.into_iter().enumerate() {
            // Differences are listed once for a record, so that they add up.
            let once = |value: i128| if at == 0 { Cell::Int(value) } else { Cell::Empty };
            table.push(vec![
                Cell::text(change.as_str()),
                Cell::text(record.form.as_str()),
                Cell::text(record.site()),
                Cell::text(record.month().map_or_else(String::new, |month| month.to_string())),
                Cell::text(record.vo()),
                Cell::text(rest_of_key(record)),
                Cell::text(differing.field),
                Cell::text(differing.before),
                Cell::text(differing.after),
                once(delta(&MessageRecord::job_n)),
                once(delta(&|record| addend(record.wall_s()))),
                once(delta(&|record| addend(record.cpu_s()))),
            ]);
        }
    }
    table
}

/// The rest of its key among those of its site, month and VO.
fn rest_of_key(record: &MessageRecord) -> String {
    let rest = record
        .key_fields()
        .into_iter()
        .filter(|name| !["Site", "SiteName", "Year", "Month", "VO", "VOName"].contains(name));
    let values = rest.filter_map(|name| Some(format!("{name}={}", record.key_value(name)?)));
    values.collect::<Vec<_>>().join(" ")
}
