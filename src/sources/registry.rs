//! The list of all dialects, searched: by word, and by the head of a file.

use super::dialect::{Certainty, Content, Dialect};
use super::format::Format;
use super::head::FileHead;
use super::{DIALECTS, inventory};

/// Bytes of unpacked input that are enough for [`recognise`].
pub const HEAD_BYTES: usize = 64 * 1024;

/// Every dialect, in the order of the help; kinds of inventories last.
pub fn all() -> impl Iterator<Item = Dialect> {
    let inventories = inventory::DIALECTS.iter();
    DIALECTS.iter().copied().chain(inventories.map(Dialect::of))
}

/// The dialects a `[[source]]` may declare.
pub fn declarable() -> impl Iterator<Item = Dialect> {
    let is_declared = |dialect: &Dialect| matches!(dialect.row().content, Content::Jobs | Content::GridIdentities);
    DIALECTS.iter().copied().filter(is_declared)
}

/// The words of `format` in a `[[source]]`, with their meaning.
#[must_use]
pub fn format_words() -> Vec<(&'static str, Format)> {
    let dialects = declarable().map(|dialect| (dialect.as_str(), Format::Dialect(dialect)));
    dialects.chain([(Format::Auto.as_str(), Format::Auto)]).collect()
}

/// Words people use for a dialect, and its own word.
#[must_use]
pub fn aliases() -> Vec<(&'static str, &'static str)> {
    all()
        .flat_map(|dialect| {
            dialect
                .row()
                .aliases
                .iter()
                .map(move |alias| (*alias, dialect.as_str()))
        })
        .collect()
}

/// The dialect with this word.
#[must_use]
pub fn named(word: &str) -> Option<Dialect> {
    all().find(|dialect| dialect.as_str() == word)
}

/// The dialect to read unpacked input as: an archive is one whatever its members are declared to be.
#[must_use]
pub fn choose(declared: Format, head: &[u8]) -> Option<Dialect> {
    let archives = || {
        DIALECTS
            .iter()
            .copied()
            .filter(|dialect| dialect.row().content == Content::Members)
    };
    let head = FileHead::of(head);
    archives()
        .find(|archive| (archive.row().recognise)(&head).is_some())
        .or_else(|| declared.dialect())
        .or_else(|| recognise_head(&head))
}

/// The dialect of a file that begins with these bytes (unpacked).
#[must_use]
pub fn recognise(head: &[u8]) -> Option<Dialect> {
    recognise_head(&FileHead::of(head))
}

fn recognise_head(head: &FileHead<'_>) -> Option<Dialect> {
    let archive = DIALECTS
        .iter()
        .find(|dialect| dialect.row().content == Content::Members);
    if let Some(archive) = archive.filter(|archive| (archive.row().recognise)(head).is_some()) {
        return Some(*archive);
    }
    if let Some(kind) = inventory::recognise(head.bytes) {
        return Some(kind.dialect());
    }
    head.first()?;
    let mut best: Option<(Certainty, Dialect)> = None;
    for dialect in DIALECTS {
        let Some(certainty) = (dialect.row().recognise)(head) else {
            continue;
        };
        if best.is_none_or(|(highest, _)| certainty > highest) {
            best = Some((certainty, *dialect));
        }
    }
    best.map(|(_, dialect)| dialect)
}
