//! Tags: names that people give to snapshots. A snapshot with a tag is kept.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::document::SnapshotName;
use crate::error::{Error, Kind, Result};
use crate::store::lake_lock::LakeLock;
use crate::store::location::Store;
use crate::store::machinery::TAGS;

/// The longest name, in bytes.
const LONGEST: usize = 64;

/// The name of a tag: letters, digits, `.`, `_` and `-`, and it begins with a letter, so that it is neither a time nor a
/// run nor a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TagName(String);

/// A tag.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tag {
    /// Its name.
    pub name: TagName,
    /// The snapshot that has it.
    pub snapshot: SnapshotName,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TagForm {
    snapshot: String,
}

impl TagName {
    /// Its letters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn path(&self) -> String {
        format!("{TAGS}/{self}")
    }
}

impl fmt::Display for TagName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for TagName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let is_name = text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(is_part);
        if is_name && text.len() <= LONGEST && text != "latest" {
            return Ok(Self(text.to_owned()));
        }
        Err(format!(
            "{text:?} is not the name of a tag: at most {LONGEST} letters, digits, '.', '_' and '-', of which the first is \
             a letter; and not \"latest\""
        ))
    }
}

/// The tags of a lake, by name.
///
/// # Errors
/// [`Kind::Data`] when one is damaged.
pub fn tags(store: &Store) -> Result<Vec<Tag>> {
    let mut found = Vec::new();
    for entry in store.names(TAGS)? {
        let damaged = |why: String| {
            Error::new(Kind::Data, "a tag is damaged")
                .at("path", format!("{TAGS}/{entry}"))
                .at("reason", why)
        };
        let name: TagName = entry.parse().map_err(damaged)?;
        // Removed since the folder was listed.
        let Some(text) = store.get(&name.path())? else { continue };
        let form: TagForm = serde_json::from_slice(&text).map_err(|why| damaged(why.to_string()))?;
        let snapshot = form.snapshot.parse().map_err(damaged)?;
        found.push(Tag { name, snapshot });
    }
    Ok(found)
}

/// Gives a snapshot a name, that no other has.
///
/// # Errors
/// [`Kind::Usage`] when another snapshot has it; [`Kind::Io`] when it cannot be written.
pub fn set_tag(lock: &LakeLock, tag: &Tag) -> Result<()> {
    let store = lock.store();
    if let Some(other) = tags(store)?.into_iter().find(|other| other.name == tag.name) {
        if other.snapshot == tag.snapshot {
            return Ok(());
        }
        let message = format!(
            "snapshot {} has the tag {}: remove it first (gridtally tag LAKE {} --remove)",
            other.snapshot.number, tag.name, tag.name
        );
        return Err(Error::new(Kind::Usage, message));
    }
    if store.size(&tag.snapshot.path())?.is_none() {
        let message = format!("there is no snapshot {} any more", tag.snapshot.number);
        return Err(Error::new(Kind::NoInput, message));
    }
    let form = TagForm {
        snapshot: tag.snapshot.to_string(),
    };
    let text = serde_json::to_vec(&form).map_err(|why| Error::internal("a tag cannot be written").because(why))?;
    lock.put(&tag.name.path(), text.into())
}

/// Takes a name from a snapshot.
///
/// # Errors
/// [`Kind::Usage`] when none has it.
pub fn remove_tag(lock: &LakeLock, name: &TagName) -> Result<()> {
    let store = lock.store();
    if store.size(&name.path())?.is_none() {
        return Err(Error::new(Kind::Usage, format!("no snapshot has the tag {name}")));
    }
    lock.lock().hold()?;
    store.delete(&name.path())?;
    store.sync_folders(std::iter::once(name.path().as_str()))
}
