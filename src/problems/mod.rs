//! Every mistake of a pipeline or policy file, collected and told at once.

pub(crate) mod section;

use std::fmt::Write as _;

use crate::error::{Error, Result};

/// Mistakes and remarks found so far, each with the file and line it stands on.
#[derive(Debug, Default)]
pub struct Problems {
    mistakes: Vec<(String, usize, String)>,
    warnings: Vec<(String, usize, String)>,
}

impl Problems {
    /// Something that must be corrected before the pipeline can run. Lines count from 1; 0 is the file as a whole.
    pub fn mistake(&mut self, file: &str, line: usize, message: impl Into<String>) {
        self.mistakes.push((file.to_owned(), line, message.into()));
    }

    /// Something that is legal and probably not what was meant.
    pub fn warning(&mut self, file: &str, line: usize, message: impl Into<String>) {
        self.warnings.push((file.to_owned(), line, message.into()));
    }

    /// Whether there is a mistake.
    #[must_use]
    pub fn has_mistakes(&self) -> bool {
        !self.mistakes.is_empty()
    }

    /// Takes over what another collection holds.
    pub fn append(&mut self, mut other: Self) {
        self.mistakes.append(&mut other.mistakes);
        self.warnings.append(&mut other.warnings);
    }

    /// The remarks, or one error that holds every mistake on a line of its own.
    ///
    /// # Errors
    /// [`crate::error::Kind::Config`] when there is a mistake.
    pub fn finish(mut self) -> Result<Vec<String>> {
        if self.mistakes.is_empty() {
            return Ok(rendered(&mut self.warnings));
        }
        Err(Error::config(rendered(&mut self.mistakes).join("\n")))
    }
}

/// `file:line: message`, in the order of the lines; the first file met comes first.
fn rendered(entries: &mut [(String, usize, String)]) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for (file, ..) in entries.iter() {
        if !files.contains(file) {
            files.push(file.clone());
        }
    }
    let place = |name: &String| files.iter().position(|file| file == name);
    entries.sort_by_key(|(file, line, _)| (place(file), *line));
    entries
        .iter()
        .map(|(file, line, message)| {
            let mut text = file.clone();
            if *line > 0 {
                // Writing to a string cannot fail.
                let _ = write!(text, ":{line}");
            }
            text.push_str(": ");
            text.push_str(message);
            text
        })
        .collect()
}

/// `, did you mean "x"?` for the candidate most like `word`, or nothing when none is.
#[must_use]
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    /// Below this likeness a suggestion confuses more than it helps.
    const LIKE: f64 = 0.75;
    let lower = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&lower, &candidate.to_lowercase()), candidate))
        .filter(|&(likeness, _)| likeness >= LIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or_else(String::new, |(_, candidate)| format!(", did you mean \"{candidate}\"?"))
}
