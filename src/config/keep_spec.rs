//! `keep` and `delta_log` of `[pipeline]`: which snapshots of the lake are kept, and whether Delta Lake reads them.

use toml::de::DeValue;

use crate::diagnostics::Problems;
use crate::diagnostics::section::{At, Section};
use crate::store::snapshots::KeepPolicy;

/// What an example of the key is.
const EXAMPLE: &str = "keep = { nights = 30, months = 24, tags = \"all\" }";

/// Reads `delta_log`, which is a log of what is kept.
pub(crate) fn delta_log(pipeline: &Section<'_>, problems: &mut Problems) -> Option<At<bool>> {
    let stated = pipeline.word("delta_log", &[("on", true), ("off", false)], problems)?;
    if stated.value && !pipeline.has("keep") {
        let message = format!("delta_log = \"on\" needs kept files, which Delta names: add {EXAMPLE}");
        pipeline.wrong(stated.line, message, problems);
    }
    Some(stated)
}

/// Reads the key; a policy with a mistake is reported and left out.
pub(crate) fn read(pipeline: &Section<'_>, problems: &mut Problems) -> Option<KeepPolicy> {
    let section = pipeline.section("keep", "keep", &["nights", "months", "tags"], problems)?;
    let _only_word = section.word("tags", &[("all", ())], problems);
    let mut count = |key: &str| {
        let Some((value, line)) = section.get(key) else {
            section.wrong(section.line(), format!("keep has no {key}: {EXAMPLE}"), problems);
            return None;
        };
        let number = match value {
            DeValue::Integer(number) => i64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok(),
            _ => None,
        };
        if number.is_none() {
            section.wrong(
                line,
                format!("{key} of keep is not a whole number: {EXAMPLE}"),
                problems,
            );
        }
        number
    };
    let (nights, months) = (count("nights"), count("months"));
    match KeepPolicy::new(nights?, months?) {
        Ok(policy) => Some(policy),
        Err(why) => {
            section.wrong(section.line(), format!("keep: {why}"), problems);
            None
        }
    }
}
