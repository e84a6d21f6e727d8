//! Worked examples: what a policy claims about itself, and whether it holds.

use std::collections::BTreeMap;

use super::options::Options;
use crate::expr::{SCALE, Value};
use crate::reference::decimal::text;

/// What an example expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A charge, compared at the places it is written with.
    Charge {
        /// In units of the last of [`SCALE`] places.
        value: i128,
        /// Places it is written with.
        places: u32,
    },
    /// The policy is not for this job.
    NotCharged,
    /// The charge is unknown.
    Unknown,
}

impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Charge { value, .. } => f.write_str(&text(*value, SCALE)),
            Self::NotCharged => f.write_str("not charged"),
            Self::Unknown => f.write_str("unknown"),
        }
    }
}

/// How the number a centre prints relates to the right one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Printing {
    /// It is the right one, rounded to the places printed.
    #[default]
    Rounded,
    /// It is the right one, cut off at the places printed.
    Truncated,
    /// It is neither: the centre's page is wrong.
    Wrong,
}

impl Printing {
    /// The words of a policy file.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("rounded", Self::Rounded),
        ("truncated", Self::Truncated),
        ("wrong", Self::Wrong),
    ];

    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rounded => "rounded",
            Self::Truncated => "truncated",
            Self::Wrong => "wrong",
        }
    }
}

/// A worked example.
#[derive(Clone, Debug)]
pub struct Example {
    /// Its name.
    pub name: String,
    /// Line of the file.
    pub line: usize,
    /// Options it chooses.
    pub options: Options,
    /// What is known of the job; memory in bytes.
    pub inputs: BTreeMap<String, Value>,
    /// Its inputs as they are written, in their order.
    pub written: Vec<(String, String)>,
    /// GPUs by model.
    pub gpus: Vec<(String, i64)>,
    /// What it should cost.
    pub expected: Expected,
    /// Named values on the way, with the places they are written with.
    pub shows: Vec<(String, i128, u32)>,
    /// What the centre prints, as it prints it, with its value and places.
    pub printed: Option<(String, i128, u32)>,
    /// The named value it is printed for; the charge when absent.
    pub printed_of: Option<String>,
    /// How it relates to that value.
    pub printing: Printing,
    /// Remark.
    pub note: Option<String>,
}
