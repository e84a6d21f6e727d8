//! A key of a `[[source]]`: one row defines it.

use toml::de::DeValue;

use super::canonical::Canonical;
use super::reject_limits::{RejectLimit, reject_limit};
use super::source_plan::SourcePlan;
use super::source_spec::SourceSpec;
use crate::diagnostics::Problems;
use crate::diagnostics::description::{KeyDescription, ValueForm};
use crate::diagnostics::section::{At, Section, kind};
use crate::sources::dialect::{Dialect, SourceOption};
use crate::sources::format::Format;
use crate::sources::registry;

/// A key of a `[[source]]`. The reader of pipeline files, their JSON Schema, the reference, the example of `check` and the
/// fingerprint of a source are made from it.
pub struct SourceKey {
    /// As it is written.
    pub key: &'static str,
    /// What its value looks like.
    pub form: fn() -> ValueForm,
    /// What a source without it lacks, in the words of the message; `None` where it may be absent.
    pub required: Option<fn() -> String>,
    /// A sentence of the reference: what it states, with its default.
    pub doc: &'static str,
    /// Its line in the example of `check`.
    pub example: KeyExample,
    /// The dialects for which it does something.
    pub used_by: UsedBy,
    /// Puts its value where it goes; called only where it stands.
    pub(crate) read: fn(&mut StatedKey<'_, '_>, &mut SourceSpec),
    /// Its lines in the fingerprint of the source; `None` where it does not decide what records hold.
    pub(crate) fingerprint: Option<fn(&SourcePlan, &mut Canonical)>,
}

/// How the example of `check` shows a key.
pub struct KeyExample {
    /// Its value as TOML.
    pub value: &'static str,
    /// Lines of its comment.
    pub comment: &'static [&'static str],
}

/// For which dialects a key of a source does something.
pub enum UsedBy {
    /// For every one: it acts behind the readers.
    Every,
    /// For those whose row lists the option. For others it has the meaning of the second.
    Listed(SourceOption, Misplaced),
    /// For one, whose reader knows it.
    Reader(Dialect),
}

/// What a key is that does nothing for the dialect of its source.
pub enum Misplaced {
    /// A remark, with the reason.
    Remark(&'static str),
    /// A mistake, with the reason.
    Mistake(&'static str),
    /// Looked for elsewhere.
    CheckedApart,
}

impl SourceKey {
    /// Whether it may do something for a source of this format: with [`Format::Auto`] any may.
    #[must_use]
    pub fn may_serve(&self, format: Format) -> bool {
        match (&self.used_by, format) {
            (UsedBy::Every, _) | (_, Format::Auto) => true,
            (_, Format::AutoInventory) => false,
            (UsedBy::Listed(option, _), Format::Dialect(dialect)) => dialect.uses(*option),
            (UsedBy::Reader(reader), Format::Dialect(dialect)) => *reader == dialect,
        }
    }

    /// Its row in the reference and in the JSON Schema.
    pub(crate) fn described(&self) -> KeyDescription {
        KeyDescription {
            name: self.key,
            form: (self.form)(),
            is_required: self.required.is_some(),
            doc: self.doc,
        }
    }
}

/// A key of a source, for [`SourceKey::read`].
pub(crate) struct StatedKey<'s, 'a> {
    pub(crate) key: &'static str,
    pub(crate) section: &'s Section<'a>,
    pub(crate) problems: &'s mut Problems,
}

impl StatedKey<'_, '_> {
    /// A text that is not empty.
    pub(crate) fn text(&mut self) -> Option<At<String>> {
        self.section.text(self.key, self.problems)
    }

    /// A text that names a folder of the lake.
    pub(crate) fn folder_name(&mut self) -> Option<At<String>> {
        self.section.folder_name(self.key, self.problems)
    }

    /// A list of texts.
    pub(crate) fn texts(&mut self) -> Vec<At<String>> {
        let texts = self.section.texts(self.key, self.problems);
        texts.map_or_else(Vec::new, |at| at.value)
    }

    /// One word of a closed list.
    pub(crate) fn word<T: Copy>(&mut self, words: &[(&str, T)]) -> Option<T> {
        self.section.word(self.key, words, self.problems).map(|at| at.value)
    }

    /// A whole number; `what` names its subject.
    pub(crate) fn integer(&mut self, what: &str) -> Option<i64> {
        let (value, line) = self.section.get(self.key)?;
        let number = match value {
            DeValue::Integer(number) => i64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok(),
            _ => None,
        };
        if number.is_none() {
            let message = format!("{} must be a whole number: {what}", self.key);
            self.section.wrong(line, message, self.problems);
        }
        number
    }

    /// The dialect.
    pub(crate) fn format(&mut self) -> Option<At<Format>> {
        let (words, aliases) = (registry::format_words(), registry::aliases());
        self.section.word_or_alias(self.key, &words, &aliases, self.problems)
    }

    /// A delimiter: it may be white space, such as a tab, but not nothing and not a line end.
    pub(crate) fn delimiter(&mut self) -> Option<String> {
        let (value, line) = self.section.get(self.key)?;
        let why = match value.as_str() {
            Some(text) if !text.is_empty() && !text.contains(['\n', '\r']) => return Some(text.to_owned()),
            Some(_) => "one or more characters of one line".to_owned(),
            None => format!("a text in quotes, not {}", kind(value)),
        };
        let message = format!("{} must be {why}", self.key);
        self.section.wrong(line, message, self.problems);
        None
    }

    /// A number or a fraction of rows or files.
    pub(crate) fn limit(&mut self, unit: &str) -> Option<RejectLimit> {
        reject_limit(self.section, self.key, unit, self.problems)
    }
}
