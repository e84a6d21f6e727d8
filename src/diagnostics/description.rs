//! What a TOML file may hold, as data: rendered as JSON Schema for editors and as tables for the manual.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

/// What the value of a key looks like.
#[derive(Clone, Debug)]
pub enum ValueForm {
    /// A text in quotes.
    Text,
    /// A day, or an instant, without quotes.
    Date,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Truth,
    /// One word of a closed list.
    Words(Vec<&'static str>),
    /// A list of values of one form.
    List(Box<Self>),
    /// A table whose keys are names that the writer chooses.
    Named(Box<Self>),
    /// A table.
    Section(Box<SectionDescription>),
    /// Tables under one name, `[[name]]`.
    Sections(Box<SectionDescription>),
    /// One of several forms.
    OneOf(Vec<Self>),
}

/// A key of a table.
#[derive(Clone, Debug)]
pub struct KeyDescription {
    /// Its name.
    pub name: &'static str,
    /// What its value looks like.
    pub form: ValueForm,
    /// Whether the table is wrong without it.
    pub is_required: bool,
    /// What it means, with its default.
    pub doc: &'static str,
}

/// A table of a file, or the file itself.
#[derive(Clone, Debug)]
pub struct SectionDescription {
    /// As it is written: `[pipeline]`.
    pub title: &'static str,
    /// What it states.
    pub doc: &'static str,
    /// Its keys, in the order of the reference.
    pub keys: Vec<KeyDescription>,
}

/// A key that may be absent.
pub(crate) fn optional(name: &'static str, form: ValueForm, doc: &'static str) -> KeyDescription {
    KeyDescription {
        name,
        form,
        is_required: false,
        doc,
    }
}

/// A key that must be there.
pub(crate) fn required(name: &'static str, form: ValueForm, doc: &'static str) -> KeyDescription {
    KeyDescription {
        is_required: true,
        ..optional(name, form, doc)
    }
}

/// The words of a closed list.
pub(crate) fn words<T>(list: &[(&'static str, T)]) -> ValueForm {
    ValueForm::Words(list.iter().map(|(word, _)| *word).collect())
}

/// A list of texts.
pub(crate) fn texts() -> ValueForm {
    ValueForm::List(Box::new(ValueForm::Text))
}

/// A table inside a table.
pub(crate) fn table(title: &'static str, doc: &'static str, keys: Vec<KeyDescription>) -> ValueForm {
    ValueForm::Section(Box::new(SectionDescription { title, doc, keys }))
}

/// Tables under one name.
pub(crate) fn tables(title: &'static str, doc: &'static str, keys: Vec<KeyDescription>) -> ValueForm {
    ValueForm::Sections(Box::new(SectionDescription { title, doc, keys }))
}

impl SectionDescription {
    /// The JSON Schema (draft 7) of a file with these keys. Dates are texts in it, as editors of TOML take them.
    #[must_use]
    pub fn json_schema(&self, id: &str) -> Value {
        let mut schema = self.schema();
        if let Value::Object(members) = &mut schema {
            members.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
            members.insert("$id".to_owned(), json!(id));
        }
        schema
    }

    fn schema(&self) -> Value {
        let mut properties = Map::new();
        for key in &self.keys {
            let mut schema = key.form.schema();
            if let Value::Object(members) = &mut schema {
                members.insert("description".to_owned(), json!(key.doc));
            }
            properties.insert(key.name.to_owned(), schema);
        }
        let required: Vec<&str> = (self.keys.iter())
            .filter(|key| key.is_required)
            .map(|key| key.name)
            .collect();
        json!({
            "type": "object",
            "title": self.title,
            "description": self.doc,
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }

    /// The tables of the reference: of this table, then of those inside it.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "\n## {}\n\n{}\n\n| key | value | meaning |\n|---|---|---|\n",
            self.title, self.doc
        );
        for key in &self.keys {
            let must = if key.is_required { ", required" } else { "" };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "| `{}` | {}{must} | {} |", key.name, key.form.text(), key.doc);
        }
        for key in &self.keys {
            for inner in key.form.sections() {
                text.push_str(&inner.markdown());
            }
        }
        text
    }
}

impl ValueForm {
    fn schema(&self) -> Value {
        match self {
            Self::Text | Self::Date => json!({ "type": "string" }),
            Self::Integer => json!({ "type": "integer" }),
            Self::Number => json!({ "type": "number" }),
            Self::Truth => json!({ "type": "boolean" }),
            Self::Words(words) => json!({ "enum": words }),
            Self::List(form) => json!({ "type": "array", "items": form.schema() }),
            Self::Named(form) => json!({ "type": "object", "additionalProperties": form.schema() }),
            Self::Section(section) => section.schema(),
            Self::Sections(section) => json!({ "type": "array", "items": section.schema() }),
            Self::OneOf(forms) => json!({ "anyOf": forms.iter().map(Self::schema).collect::<Vec<_>>() }),
        }
    }

    /// In words, for a cell of a table.
    fn text(&self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Date => "day".to_owned(),
            Self::Integer => "whole number".to_owned(),
            Self::Number => "number".to_owned(),
            Self::Truth => "`true` or `false`".to_owned(),
            Self::Words(words) => words
                .iter()
                .map(|word| format!("`\"{word}\"`"))
                .collect::<Vec<_>>()
                .join(", "),
            Self::List(form) => format!("list: {}", form.text()),
            Self::Named(form) => format!("table of names: {}", form.text()),
            Self::Section(section) | Self::Sections(section) => format!("`{}`", section.title),
            Self::OneOf(forms) => forms.iter().map(Self::text).collect::<Vec<_>>().join("; or "),
        }
    }

    /// The tables in it.
    pub fn sections(&self) -> Vec<&SectionDescription> {
        match self {
            Self::Section(section) | Self::Sections(section) => vec![section.as_ref()],
            Self::OneOf(forms) => forms.iter().flat_map(Self::sections).collect(),
            Self::List(form) | Self::Named(form) => form.sections(),
            _ => Vec::new(),
        }
    }
}
