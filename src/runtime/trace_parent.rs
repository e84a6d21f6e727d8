//! The trace that a process belongs to: the variable `TRACEPARENT`, of the form of W3C Trace Context.

use std::sync::OnceLock;

/// The variable.
const VARIABLE: &str = "TRACEPARENT";

/// The value of `TRACEPARENT`; `None` without one, and where it is not of the form that the standard requires: version,
/// trace, parent and flags in lower-case hexadecimal digits, neither of the two names zero.
#[must_use]
pub fn trace_parent() -> Option<&'static str> {
    static FOUND: OnceLock<Option<String>> = OnceLock::new();
    let stated = || {
        // Fallback: a variable that is not there, or is not UTF-8, names no trace.
        let text = std::env::var(VARIABLE).ok();
        text.filter(|text| is_valid(text))
    };
    FOUND.get_or_init(stated).as_deref()
}

/// Whether a text is a `traceparent`.
#[must_use]
pub fn is_valid(text: &str) -> bool {
    let is_hex = |part: &str, digit_n: usize| {
        part.len() == digit_n && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let is_name = |part: &str, digit_n: usize| is_hex(part, digit_n) && part.bytes().any(|byte| byte != b'0');
    let mut parts = text.splitn(5, '-');
    let (Some(version), Some(trace), Some(parent), Some(flags)) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    // Later versions may add parts; the first one has four.
    let has_more = parts.next().is_some();
    is_hex(version, 2)
        && version != "ff"
        && (version != "00" || !has_more)
        && is_name(trace, 32)
        && is_name(parent, 16)
        && is_hex(flags, 2)
}
