//! Node states as Slurm writes them: words joined by `+`, and marks behind the last one.

/// Marks after a state and their meaning.
const MARKS: &[(char, &str)] = &[
    ('*', "NOT_RESPONDING"),
    ('~', "POWERED_DOWN"),
    ('#', "POWERING_UP"),
    ('!', "POWER_DOWN"),
    ('%', "POWERING_DOWN"),
    ('$', "MAINTENANCE"),
    ('@', "REBOOT_REQUESTED"),
    ('^', "REBOOT_ISSUED"),
    ('-', "PLANNED"),
];

/// The first word in upper case, and all others sorted and joined by `+`; `None` for what is not there.
#[must_use]
pub fn split(text: &str) -> (Option<String>, Option<String>) {
    let mut flags: Vec<String> = Vec::new();
    let mut words: Vec<String> = Vec::new();
    for word in text.split('+').map(str::trim) {
        let mut rest = word;
        while let Some((mark, flag)) = rest
            .chars()
            .last()
            .and_then(|last| MARKS.iter().find(|(mark, _)| *mark == last))
        {
            flags.push((*flag).to_owned());
            // Fallback: never taken, the mark was found at the end.
            rest = rest.strip_suffix(*mark).unwrap_or_default();
        }
        if !rest.is_empty() {
            words.push(rest.to_uppercase());
        }
    }
    let mut words = words.into_iter();
    let first = words.next();
    flags.extend(words);
    (first, joined(flags))
}

/// The first word and the others of a list.
#[must_use]
pub fn of_words<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> (Option<String>, Option<String>) {
    let mut words = words.into_iter().map(|word| word.as_ref().to_uppercase());
    let first = words.next();
    (first, joined(words.collect()))
}

fn joined(mut flags: Vec<String>) -> Option<String> {
    flags.sort();
    flags.dedup();
    (!flags.is_empty()).then(|| flags.join("+"))
}
