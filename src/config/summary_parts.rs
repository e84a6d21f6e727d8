//! `publication_parts` of a source: which messages of summaries are one publication.

use toml::de::DeValue;

use super::source_rule::is_table;
use crate::dedupe::summary::publishing::SummaryParts;
use crate::diagnostics::Problems;
use crate::diagnostics::description::{ValueForm, required, table, words};
use crate::diagnostics::section::{At, Section};

const KEY: &str = "publication_parts";
const WORDS: &[(&str, SummaryParts)] = &[("file", SummaryParts::File), ("folder", SummaryParts::Folder)];

/// Its values.
pub(crate) fn form() -> ValueForm {
    let within = vec![required(
        "within_s",
        ValueForm::Integer,
        "Longest pause between messages of one publication, seconds.",
    )];
    ValueForm::OneOf(vec![
        words(WORDS),
        table(
            "publication_parts = { .. }",
            "Messages that arrive shortly after one another.",
            within,
        ),
    ])
}

/// Its value, if it is there.
pub(crate) fn read(section: &Section<'_>, problems: &mut Problems) -> Option<At<SummaryParts>> {
    /// Longest pause: a day, in seconds. Publications of a month are farther apart.
    const LONGEST_S: i64 = 86_400;
    if !is_table(section, KEY) {
        return section.word(KEY, WORDS, problems);
    }
    let within = section.section(KEY, KEY, &["within_s"], problems)?;
    let found = within.get("within_s");
    let line = found.map_or(within.line(), |(_, line)| line);
    let pause_s = match found {
        Some((DeValue::Integer(number), _)) => {
            i64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok()
        }
        _ => None,
    };
    let Some(pause_s) = pause_s.filter(|pause_s| (1..=LONGEST_S).contains(pause_s)) else {
        let message = format!("within_s of {KEY} must be a whole number of seconds from 1 to {LONGEST_S}");
        within.wrong(line, message, problems);
        return None;
    };
    let value = SummaryParts::Within {
        pause_ms: pause_s * 1000,
    };
    Some(At { value, line })
}
