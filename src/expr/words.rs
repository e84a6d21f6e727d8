//! Checks of a formula by its tokens alone, before it is read as SQL.

use super::decimal::{SCALE, parse};
use super::functions::function_names;
use super::mistake::Mistake;
use crate::numbers::Part;

/// Words that may precede a bracket without being a function.
const KEYWORDS: [&str; 11] = [
    "and", "or", "not", "in", "then", "else", "when", "case", "between", "is", "end",
];

/// Most words, numbers, texts and signs of one formula: what is computed of more of them goes deeper than a stack.
const TOKENS: usize = 250;
/// Most brackets within one another.
const DEPTH: usize = 40;

/// Refuses functions formulas do not have, numbers that would lose digits, and what is too long or too deep.
pub(super) fn check(sql: &str) -> Result<(), Mistake> {
    let mut rest = sql;
    // Places of brackets that are open.
    let mut open = Vec::new();
    let place = |rest: &str| sql.part(..sql.len() - rest.len()).chars().count() + 1;
    let mut token_n = 0_usize;
    while let Some(first) = rest.chars().next() {
        token_n += usize::from(!first.is_whitespace());
        if token_n > TOKENS {
            return Err(Mistake::Wrong(format!(
                "more than {TOKENS} words, numbers and signs: name parts of it under [[let]]"
            )));
        }
        let after = |length: usize| rest.part(length..);
        if first == '\'' || first == '"' {
            let Some(end) = after(1).find(first) else {
                return Err(Mistake::Wrong(format!("a text that begins with {first} has no end")));
            };
            rest = after(end + 2);
        } else if first.is_ascii_digit() {
            let length = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '_'))
                .unwrap_or(rest.len());
            literal(rest.part(..length))?;
            rest = after(length);
        } else if first.is_alphabetic() || first == '_' {
            let length = rest
                .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'))
                .unwrap_or(rest.len());
            let word = rest.part(..length);
            rest = after(length);
            let lower = word.to_lowercase();
            let is_known = function_names().any(|name| name == lower) || KEYWORDS.contains(&lower.as_str());
            if rest.trim_start().starts_with('(') && !is_known {
                return Err(Mistake::NoFunction(word.to_owned()));
            }
        } else if rest.starts_with("--") || rest.starts_with("/*") || first == ';' {
            return Err(Mistake::Wrong(
                "a formula is one expression, without comments".to_owned(),
            ));
        } else {
            if first == '(' {
                open.push(place(rest));
                if open.len() > DEPTH {
                    return Err(Mistake::Wrong(format!(
                        "more than {DEPTH} brackets within one another: name parts of it under [[let]]"
                    )));
                }
            } else if first == ')' && open.pop().is_none() {
                let at = place(rest);
                return Err(Mistake::Wrong(format!(
                    "the bracket at character {at} closes none that is open"
                )));
            }
            rest = after(first.len_utf8());
        }
    }
    if let Some(at) = open.last() {
        return Err(Mistake::Wrong(format!("the bracket at character {at} is not closed")));
    }
    Ok(())
}

fn literal(text: &str) -> Result<(), Mistake> {
    let wrong = |why: String| Err(Mistake::Wrong(format!("{text}: {why}")));
    if !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return wrong("numbers are written plainly, such as 1000 or 0.25".to_owned());
    }
    let (_, places) = text.split_once('.').unwrap_or((text, ""));
    if places.trim_end_matches('0').len() > SCALE as usize {
        return wrong(format!("more than {SCALE} decimals"));
    }
    if parse(text).is_none() {
        return wrong("no decimal that fits 38 digits, 12 of them decimals".to_owned());
    }
    Ok(())
}
