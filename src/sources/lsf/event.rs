//! The fields of one event.

use std::borrow::Cow;

use crate::ledger::Reason;
use crate::sources::refusal::Refusal;

/// Most fields an event may have: a job on a hundred thousand hosts, and what comes with it.
const FIELDS_MOST: usize = 250_000;

/// The fields of an event, texts without their quotes.
pub(super) fn fields(text: &str) -> Result<Vec<Cow<'_, str>>, Refusal> {
    let mut fields = Vec::with_capacity(96);
    let mut rest = text.trim_ascii();
    while !rest.is_empty() {
        if fields.len() == FIELDS_MOST {
            return Err(Refusal::new(
                Reason::FieldCount,
                format!("more than {FIELDS_MOST} fields"),
            ));
        }
        let (field, after) = if let Some(quoted) = rest.strip_prefix('"') {
            unquote(quoted).ok_or_else(|| {
                let detail = format!("the quotes of field {} are not closed", fields.len());
                Refusal::new(Reason::FieldCount, detail)
            })?
        } else {
            let end = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
            let (field, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            (Cow::Borrowed(field), after)
        };
        fields.push(field);
        rest = after.trim_ascii_start();
    }
    Ok(fields)
}

/// The text up to the closing quote and what follows it; two quotes in a row are one of the text.
fn unquote(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let mut owned = String::new();
    let mut rest = text;
    loop {
        let end = memchr::memchr(b'"', rest.as_bytes())?;
        let (part, after) = rest.split_at_checked(end)?;
        let after = after.get(1..)?;
        match after.strip_prefix('"') {
            Some(more) => {
                owned.push_str(part);
                owned.push('"');
                rest = more;
            }
            None if owned.is_empty() => return Some((Cow::Borrowed(part), after)),
            None => {
                owned.push_str(part);
                return Some((Cow::Owned(owned), after));
            }
        }
    }
}
