//! What comes of comparing two forms of the same record, field by field.

use std::collections::BTreeMap;

use serde::Serialize;

/// Relative difference up to which two numbers differ in the last digits of a float only.
const LAST_DIGITS: f64 = 1e-9;
/// The most fields that are compared; real records have a few hundred names.
const FIELD_LIMIT: usize = 10_000;

/// One field over all documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FieldCheck {
    /// Both forms agree.
    pub equal_n: u64,
    /// Numbers that differ in the last digits of a float only.
    pub last_digits_n: u64,
    /// The forms differ.
    pub differ_n: u64,
    /// Only the flat fields have it.
    pub only_flat_n: u64,
    /// Only the XML has it.
    pub only_xml_n: u64,
    /// The first difference: record, flat value, XML value.
    pub example: Option<String>,
}

/// The comparison of flat fields with the XML the same document keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CrossCheck {
    /// Documents that hold both forms and were compared.
    pub document_n: u64,
    /// Compared documents without a difference.
    pub agreeing_n: u64,
    /// Documents without XML.
    pub without_xml_n: u64,
    /// Documents whose XML cannot be read.
    pub unreadable_n: u64,
    /// Why the first of them cannot.
    pub unreadable_example: Option<String>,
    /// By field.
    pub fields: BTreeMap<String, FieldCheck>,
}

/// A value of one form.
#[derive(Clone, Copy, Debug)]
pub struct CrossCheckValue<'a> {
    /// How it is written.
    pub text: &'a str,
    /// Whether it is a number there.
    pub is_number: bool,
}

impl CrossCheck {
    /// Compares a field; true when the forms agree on it.
    pub fn compare(
        &mut self,
        record: &str,
        field: &str,
        flat: Option<CrossCheckValue<'_>>,
        xml: Option<CrossCheckValue<'_>>,
    ) -> bool {
        if !self.fields.contains_key(field) {
            if self.fields.len() >= FIELD_LIMIT {
                return true;
            }
            self.fields.insert(field.to_owned(), FieldCheck::default());
        }
        let Some(check) = self.fields.get_mut(field) else {
            return true;
        };
        let (counter, agrees) = match (flat, xml) {
            (Some(a), Some(b)) if a.text == b.text => (&mut check.equal_n, true),
            (Some(a), Some(b)) if a.is_number || b.is_number => match distance(a.text, b.text) {
                Some(0.0..=0.0) => (&mut check.equal_n, true),
                Some(distance) if distance <= LAST_DIGITS => (&mut check.last_digits_n, true),
                _ => (&mut check.differ_n, false),
            },
            (Some(_), Some(_)) => (&mut check.differ_n, false),
            (Some(_), None) => (&mut check.only_flat_n, false),
            (None, Some(_)) => (&mut check.only_xml_n, false),
            (None, None) => return true,
        };
        *counter += 1;
        if !agrees && check.example.is_none() {
            let stated = |stated: Option<CrossCheckValue<'_>>| {
                stated.map_or_else(|| "nothing".to_owned(), |stated| format!("{:?}", stated.text))
            };
            check.example = Some(format!("{record}: flat {}, XML {}", stated(flat), stated(xml)));
        }
        agrees
    }

    /// Fields on which documents disagree, and how many.
    pub fn differences(&self) -> impl Iterator<Item = (&str, &FieldCheck)> {
        self.fields
            .iter()
            .filter(|(_, check)| check.differ_n + check.only_flat_n + check.only_xml_n > 0)
            .map(|(field, check)| (field.as_str(), check))
    }
}

/// Relative difference of two numbers; `None` when either is not a number.
fn distance(a: &str, b: &str) -> Option<f64> {
    let (a, b): (f64, f64) = (a.trim().parse().ok()?, b.trim().parse().ok()?);
    let scale = a.abs().max(b.abs());
    let distance = (a - b).abs();
    if !distance.is_finite() {
        return None;
    }
    Some(if scale > 0.0 { distance / scale } else { distance })
}
