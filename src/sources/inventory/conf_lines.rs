//! Logical lines of `slurm.conf` and their pairs.

use std::collections::BTreeMap;

use super::lines::lines;
use crate::sources::Position;

/// Longest logical line, bytes.
const LINE_LIMIT: usize = 1 << 20;

/// A line without comment, joined with its continuation lines.
pub(super) struct ConfLine {
    pub(super) at: Position,
    pub(super) text: String,
    pub(super) is_too_long: bool,
}

/// The logical lines that are not empty.
pub(super) fn conf_lines(bytes: &[u8]) -> Vec<ConfLine> {
    let mut found: Vec<ConfLine> = Vec::new();
    let mut is_open = false;
    for line in lines(bytes) {
        let text = line.text();
        let text = without_comment(&text);
        let trimmed = text.trim_end();
        let (part, continues) = match trimmed.strip_suffix('\\') {
            Some(part) => (part, true),
            None => (trimmed, false),
        };
        match found.last_mut() {
            Some(open) if is_open => {
                if open.text.len() + part.len() > LINE_LIMIT {
                    open.is_too_long = true;
                } else {
                    open.text.push_str(part);
                }
            }
            _ => found.push(ConfLine {
                at: line.at,
                is_too_long: part.len() > LINE_LIMIT,
                text: part.to_owned(),
            }),
        }
        is_open = continues;
    }
    found.retain(|line| !line.text.trim().is_empty());
    found
}

/// Cuts off the text after a `#`; `\#` is a plain one.
fn without_comment(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '#' => break,
            '\\' if letters.peek() == Some(&'#') => {
                kept.push('#');
                letters.next();
            }
            letter => kept.push(letter),
        }
    }
    kept
}

/// The first key and all pairs, keys in lower case; `None` when the line is not one of pairs. Of several pairs of a key the last counts.
pub(super) fn pairs(text: &str) -> Option<(String, BTreeMap<String, String>)> {
    let mut rest = text.trim();
    let mut first = None;
    let mut found = BTreeMap::new();
    while !rest.is_empty() {
        let (key, behind) = rest.split_once('=')?;
        // `+=`, `-=` and the like are operators of the value before; they do not matter for nodes and partitions.
        let key = key.trim_end_matches(['+', '-', '*', '/']).trim();
        if key.is_empty()
            || !key
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
        {
            return None;
        }
        let behind = behind.trim_start();
        let (value, left) = match behind.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => behind.split_at(behind.find(char::is_whitespace).unwrap_or(behind.len())),
        };
        let key = key.to_ascii_lowercase();
        first.get_or_insert_with(|| key.clone());
        found.insert(key, value.to_owned());
        rest = left.trim_start();
    }
    Some((first?, found))
}
