//! A record as the collector stores it: one level of names, text and numbers.

use super::document::GraccDocument;
use crate::sources::json::{JsonText, Scalar};

/// One value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FlatValue {
    /// A text.
    Text(String),
    /// A decimal number as text.
    Number(String),
}

impl FlatValue {
    /// How it is written.
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Text(text) | Self::Number(text) => text,
        }
    }

    fn scalar(&self) -> Scalar<'_> {
        match self {
            Self::Text(text) => Scalar::Text(JsonText::plainly(text)),
            Self::Number(text) => Scalar::Number(text.as_bytes()),
        }
    }
}

/// The fields of one record, in the order they were met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Flat {
    fields: Vec<(String, FlatValue)>,
    /// It had bytes that are not UTF-8.
    pub(super) is_invalid: bool,
}

impl Flat {
    /// Sets a field; of a repeated one the last counts.
    pub(super) fn put(&mut self, key: &str, value: FlatValue) {
        match self.fields.iter_mut().find(|(known, _)| known == key) {
            Some((_, slot)) => *slot = value,
            None => self.fields.push((key.to_owned(), value)),
        }
    }

    /// Sets a field to a text, unless that is empty.
    pub(super) fn text(&mut self, key: &str, text: &str) {
        if !text.is_empty() {
            self.put(key, FlatValue::Text(text.to_owned()));
        }
    }

    /// Sets a field to a number.
    pub(super) fn number(&mut self, key: &str, number: String) {
        self.put(key, FlatValue::Number(number));
    }

    pub(super) fn get(&self, key: &str) -> Option<&FlatValue> {
        self.fields
            .iter()
            .find(|(known, _)| known == key)
            .map(|(_, value)| value)
    }

    /// Every field.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &FlatValue)> {
        self.fields.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// The fields a job is made of.
    pub(super) fn document(&self) -> GraccDocument<'_> {
        let fields = self.fields.iter().map(|(key, value)| (key.as_str(), value.scalar()));
        GraccDocument::of(fields, self.is_invalid)
    }
}
