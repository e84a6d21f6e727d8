//! Nothing by silence: a call that puts a number or nothing in the place of what is missing, wrong or too large has its
//! reason next to it.
//!
//! A reason is a comment `// Fallback: ...` at the end of the line of the call or alone on the line above it. It has at
//! least [`LEAST_WORDS`] words, and the same reason is written at most [`MOST_ALIKE`] times: what recurs is a function
//! whose reason is written once, such as those of `src/numbers.rs`.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};

use super::{Source, sources};

const MARK: &str = "// Fallback: ";
const LEAST_WORDS: usize = 5;
const MOST_ALIKE: usize = 3;

/// What turns one value into another of its kind. `None` is all that its error states: that there is no such value. What is
/// made of the `None` is a matter of the calls behind it.
const CONVERSIONS: [&str; 8] = [
    "parse",
    "try_from",
    "from_utf8",
    "decode_utf8",
    "from_str_radix",
    "parse_from_rfc3339",
    "parse_from_str",
    "to_str",
];

/// What a call does instead of failing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FallbackKind {
    /// Puts a number where there is none: `unwrap_or(0)`, `unwrap_or(i64::MAX)`, `unwrap_or_else(|_| 0)`.
    Number,
    /// Stays at the end of the type: `saturating_add` and its like.
    Saturation,
    /// Puts the empty value where there is none: `unwrap_or_default`.
    Default,
    /// Forgets an error: `ok()`, where it is not that of a conversion.
    Ok,
}

/// A call that falls back.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fallback {
    line: usize,
    kind: FallbackKind,
}

/// The calls of a file that fall back, in the order of the text.
fn fallbacks(text: &str) -> Vec<Fallback> {
    let tokens: TokenStream = text.parse().unwrap();
    let mut found = Vec::new();
    walk(&tokens.into_iter().collect::<Vec<_>>(), &mut found);
    found
}

fn walk(tokens: &[TokenTree], into: &mut Vec<Fallback>) {
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        match token {
            // A name after a point or a path, called or passed on: `.ok()`, `Result::ok`, `i64::saturating_add`.
            TokenTree::Ident(word) if before.is_some_and(|token| is_punct(token, '.') || is_punct(token, ':')) => {
                let arguments = match tokens.get(at + 1) {
                    Some(TokenTree::Group(group)) => group.stream().into_iter().collect::<Vec<_>>(),
                    _ => Vec::new(),
                };
                let is_conversion =
                    *word == "ok" && called(&tokens[..at]).is_some_and(|name| CONVERSIONS.contains(&&*name));
                if let Some(kind) = kind_of(&word.to_string(), &arguments).filter(|_| !is_conversion) {
                    let line = word.span().start().line;
                    into.push(Fallback { line, kind });
                }
            }
            TokenTree::Group(group) => walk(&group.stream().into_iter().collect::<Vec<_>>(), into),
            _ => {}
        }
    }
}

/// The method or function whose result the call behind these tokens takes: `parse` of `text.parse::<u32>().`.
fn called(tokens: &[TokenTree]) -> Option<String> {
    let [before @ .., TokenTree::Group(_), _] = tokens else {
        return None;
    };
    let mut before = before;
    // Its generic arguments.
    if before.last().is_some_and(|token| is_punct(token, '>')) {
        let open = before.iter().rposition(|token| is_punct(token, '<'))?;
        before = before.get(..open.checked_sub(2)?)?;
    }
    match before.last()? {
        TokenTree::Ident(name) => Some(name.to_string()),
        _ => None,
    }
}

fn kind_of(word: &str, arguments: &[TokenTree]) -> Option<FallbackKind> {
    match word {
        "ok" => Some(FallbackKind::Ok),
        "unwrap_or_default" => Some(FallbackKind::Default),
        "unwrap_or" if is_number(arguments) => Some(FallbackKind::Number),
        "unwrap_or_else" => {
            let bars = (arguments.iter().enumerate()).filter(|(_, token)| is_punct(token, '|'));
            let body = bars.map(|(at, _)| at + 1).nth(1)?;
            is_number(&arguments[body..]).then_some(FallbackKind::Number)
        }
        word if word.starts_with("saturating_") => Some(FallbackKind::Saturation),
        _ => None,
    }
}

/// Whether this is zero, or the end of a type.
fn is_number(tokens: &[TokenTree]) -> bool {
    match tokens {
        [TokenTree::Literal(literal)] => {
            let text = literal.to_string().replace('_', "");
            let digits = text.split(['i', 'u', 'f']).next().unwrap();
            digits.parse() == Ok(0.0)
        }
        [.., TokenTree::Ident(end)] => ["MAX", "MIN"].contains(&end.to_string().as_str()) && tokens.len() == 4,
        _ => false,
    }
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

/// The reason of a call on a line (counted from 1): what stands behind the mark on it, or alone on the line above.
fn reason<'a>(lines: &[&'a str], line: usize) -> Option<&'a str> {
    let behind = |line: &'a str| line.split_once(MARK).map(|(_, reason)| reason);
    let own = lines.get(line - 1).copied().and_then(behind);
    let above = line
        .checked_sub(2)
        .and_then(|at| lines.get(at))
        .map(|line| line.trim_start());
    own.or_else(|| above.filter(|line| line.starts_with(MARK)).and_then(behind))
}

fn is_enough(reason: &str) -> bool {
    let words = reason.split(|letter: char| !letter.is_alphanumeric());
    words
        .filter(|word| word.len() > 1 || word.parse::<u8>().is_ok())
        .count()
        >= LEAST_WORDS
}

/// The calls of a file without a reason, and its reasons.
fn without_reason(text: &str) -> (Vec<Fallback>, Vec<String>) {
    let lines: Vec<&str> = text.lines().collect();
    let mut reasons = Vec::new();
    let mut bare = Vec::new();
    let mut of_line = None;
    for fallback in fallbacks(text) {
        match reason(&lines, fallback.line).filter(|reason| is_enough(reason)) {
            // Calls on the same line share a reason.
            Some(_) if of_line == Some(fallback.line) => {}
            Some(reason) => {
                of_line = Some(fallback.line);
                reasons.push(reason.to_lowercase());
            }
            None => bare.push(fallback),
        }
    }
    (bare, reasons)
}

#[test]
fn a_fallback_without_a_reason_is_found_and_one_with_a_reason_is_not() {
    use FallbackKind::{Number, Ok, Saturation};

    let text = r#"
fn planted(n: Option<i64>, m: Result<u32, E>) {
    let a = n.unwrap_or(0);
    let b = n.unwrap_or_else(|| 0_i64);
    let c = m.unwrap_or(u32::MAX);
    // A comment that is not a reason for it.
    let d = a.saturating_add(b);
    // Fallback: see above.
    let e = call(m.ok(), i64::saturating_sub);
    let f = n.unwrap_or_default(); // Fallback: nothing is what a site without nodes has.
    // Fallback: the sum is compared with a limit only.
    let g = inner(|| a.saturating_mul(b));
    let h = n.unwrap_or(17);
    let i = "n.unwrap_or(0)";
    let k = (text.parse::<u32>().ok(), u32::try_from(a).ok(), read(text).ok());
    let j = n
        .map(|n| n + 1) // Fallback: belongs to another line than the call.
        .map(|n| n + 2)
        .unwrap_or(0);
}
"#;
    let (bare, reasons) = without_reason(text);
    let bare: Vec<(usize, FallbackKind)> = bare.iter().map(|fallback| (fallback.line, fallback.kind)).collect();
    let expected = [
        (3, Number),
        (4, Number),
        (5, Number),
        (7, Saturation),
        (9, Ok),
        (9, Saturation),
        (15, Ok),
        (19, Number),
    ];
    assert_eq!(bare, expected);
    assert_eq!(reasons.len(), 2, "{reasons:?}");
}

#[test]
fn no_value_is_hidden_without_a_reason() {
    let mut wrong = Vec::new();
    let mut alike: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for Source { path, text } in sources("src") {
        let (bare, reasons) = without_reason(&text);
        for Fallback { line, kind } in bare {
            let code = text.lines().nth(line - 1).unwrap().trim();
            wrong.push(format!("src/{path}:{line}: {kind:?} without a reason: {code}"));
        }
        for reason in reasons {
            alike.entry(reason).or_default().push(path.clone());
        }
    }
    for (reason, paths) in alike.into_iter().filter(|(_, paths)| paths.len() > MOST_ALIKE) {
        wrong.push(format!("a function with one reason instead of {paths:?}: {reason}"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
