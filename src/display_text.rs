//! Text as it may be shown: without characters that steer a terminal or hide what is there, and without passwords.

use std::borrow::Cow;

/// Whether a character is not shown but obeyed: control characters, and those that turn the direction of a line.
pub(crate) fn is_steering(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text of one line.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    without(text, is_steering)
}

/// A text of several lines, which may have tabs.
pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    without(text, |c| is_steering(c) && c != '\n' && c != '\t')
}

fn without(text: &str, is_bad: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_bad) {
        return Cow::Borrowed(text);
    }
    let shown = text.chars().map(|c| if is_bad(c) { '\u{fffd}' } else { c });
    Cow::Owned(shown.collect())
}

/// A text whose URLs show neither a password nor a signature.
pub(crate) fn without_passwords(text: &str) -> Cow<'_, str> {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        let end = after.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '\\'));
        let (url, behind) = after.split_at(end.unwrap_or(after.len()));
        shown.push_str(before);
        shown.push_str("://");
        let is_web = before.ends_with("http") || before.ends_with("https");
        shown.push_str(&hidden(url, is_web));
        rest = behind;
    }
    if shown.is_empty() {
        return Cow::Borrowed(text);
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

/// What follows the scheme of a URL.
fn hidden(url: &str, is_web: bool) -> String {
    let has_secret = |query: &str| {
        let query = query.to_ascii_lowercase();
        ["sig", "token", "key", "password", "credential"]
            .iter()
            .any(|word| query.contains(word))
    };
    let (url, query) = match url.split_once('?') {
        Some((url, query)) if has_secret(query) => (url, "?***".to_owned()),
        Some((url, query)) => (url, format!("?{query}")),
        None => (url, String::new()),
    };
    let (authority, path) = url.split_at(url.find('/').unwrap_or(url.len()));
    // What is before the host of a web server is a name, or a token.
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => match user.split_once(':') {
            Some((user, _)) if !is_web => format!("{user}:***@{host}"),
            None if !is_web => authority.to_owned(),
            _ => format!("***@{host}"),
        },
        None => authority.to_owned(),
    };
    format!("{authority}{path}{query}")
}

/// Why a URL must not be used; nothing if it may.
pub(crate) fn secret_of(url: &str) -> Option<&'static str> {
    let (scheme, rest) = url.split_once("://")?;
    // Fallback: never taken, every split has a first part.
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (user, _) = authority.rsplit_once('@')?;
    let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    (is_web || user.contains(':')).then_some(
        "a URL must hold no password: it would be in process lists, logs and the lake; credentials come from variables",
    )
}

/// Why a URL with a query or a fragment, which libraries cut off, cannot be what it is given as (`an input`); nothing of any other.
pub(crate) fn cut_off_of(url: &str, given_as: &str) -> Option<String> {
    url.contains(['?', '#']).then(|| {
        format!(
            "a URL with ? or # cannot be {given_as}: a name that has one is written with %3F or %23, and credentials come from the \
             environment"
        )
    })
}
