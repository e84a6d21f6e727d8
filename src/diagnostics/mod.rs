//! Every mistake of a pipeline or policy file, collected and reported at once.

pub mod description;
pub(crate) mod section;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use crate::error::{Error, Kind, Result};
use crate::numbers::Extent;

/// A remark and where it belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ProblemAt {
    file: String,
    /// From 1; 0 is the file as a whole.
    line: usize,
    message: String,
}

impl ProblemAt {
    fn new(file: &str, line: usize, message: String) -> Self {
        let file = file.to_owned();
        Self { file, line, message }
    }
}

/// Mistakes and remarks found so far, each with its file and line.
#[derive(Debug, Default)]
pub struct Problems {
    mistakes: Vec<ProblemAt>,
    warnings: Vec<ProblemAt>,
}

impl Problems {
    /// Something that must be corrected before the pipeline can run. Lines count from 1; 0 is the file as a whole.
    pub fn mistake(&mut self, file: &str, line: usize, message: impl Into<String>) {
        self.mistakes.push(ProblemAt::new(file, line, message.into()));
    }

    /// Something that is legal and probably not what was meant.
    pub fn warning(&mut self, file: &str, line: usize, message: impl Into<String>) {
        self.warnings.push(ProblemAt::new(file, line, message.into()));
    }

    /// Adds to mistakes about whole tables the line of `file`, whose text this is, that names the table.
    pub fn name_tables(&mut self, file: &str, text: &str) {
        let folder = Path::new(file).parent().unwrap_or(Path::new(""));
        for ProblemAt {
            file: table,
            line,
            message,
        } in &mut self.mistakes
        {
            if *line > 0 || table == file {
                continue;
            }
            let names = |written: &str| {
                let quoted = written.split('"').skip(1).step_by(2);
                quoted.into_iter().any(|word| folder.join(word) == Path::new(table))
            };
            if let Some(at) = text.lines().position(names) {
                // Writing to a string cannot fail.
                let _ = write!(message, " (named in {file}:{})", at + 1);
            }
        }
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
fn rendered(entries: &mut [ProblemAt]) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for ProblemAt { file, .. } in entries.iter() {
        if !files.contains(file) {
            files.push(file.clone());
        }
    }
    let place = |name: &String| files.iter().position(|file| file == name);
    entries.sort_by_key(|entry| (place(&entry.file), entry.line));
    entries
        .iter()
        .map(|ProblemAt { file, line, message }| {
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

/// Checks a requested name against the existing ones; `who_has` begins the sentence, such as `the lake has`.
///
/// # Errors
/// [`Kind::Usage`] with the nearest name.
pub(crate) fn must_be_known(who_has: &str, what: &str, name: &str, known: &BTreeSet<String>) -> Result<()> {
    /// So many names are listed where none is alike.
    const LISTED: usize = 8;
    if known.contains(name) {
        return Ok(());
    }
    let mut hint = did_you_mean(name, known.iter().map(String::as_str));
    if hint.is_empty() && !known.is_empty() {
        let first: Vec<&str> = known.iter().take(LISTED).map(String::as_str).collect();
        let more = known.len().less(LISTED);
        let more = if more > 0 {
            format!(" and {more} others")
        } else {
            String::new()
        };
        hint = format!("; there are {}{more}", first.join(", "));
    }
    Err(Error::new(
        Kind::Usage,
        format!("{who_has} no {what} called \"{name}\"{hint}"),
    ))
}

/// `, did you mean "x"?` for the candidate most like `word`, or nothing when none is.
#[must_use]
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    /// Below this likeness a suggestion confuses more than it helps.
    const LIKE: f64 = 0.75;
    let lower = word.to_lowercase();
    // Whoever wrote a candidate letter by letter meant it: something else is wrong with it.
    let candidates: Vec<&str> = candidates.into_iter().filter(|candidate| *candidate != word).collect();
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&lower, &candidate.to_lowercase()), candidate))
        .filter(|&(likeness, _)| likeness >= LIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or_else(String::new, |(_, candidate)| format!(", did you mean \"{candidate}\"?"))
}
