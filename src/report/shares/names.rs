//! What can be written for sacctmgr, in a shell and in a file.

use crate::error::{Error, Kind, Result};

/// A name as a word of a shell, in single quotes where a shell would read anything into it.
///
/// # Errors
/// As [`must_be_name`].
pub(super) fn shell_word(what: &str, name: &str) -> Result<String> {
    must_be_name(what, name)?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.+@/".contains(&byte);
    if name.bytes().all(is_plain) {
        return Ok(name.to_owned());
    }
    Ok(format!("'{name}'"))
}

/// A name in single quotes, as a file for `sacctmgr load` has it: a backslash and a `#` are escaped.
///
/// # Errors
/// As [`must_be_name`].
pub(super) fn file_word(what: &str, name: &str) -> Result<String> {
    must_be_name(what, name)?;
    Ok(file_text(name))
}

/// A text in single quotes for the same file; it has no quotes and no control characters.
pub(super) fn file_text(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('#', "\\#"))
}

/// Whether a text can stand in quotes in such a file.
pub(super) fn is_quotable(text: &str) -> bool {
    !text.chars().any(|one| matches!(one, '\'' | '"') || one.is_control())
}

/// Refuses names that sacctmgr would read as something else: it takes a comma for a list, `=` for an option, and replaces quotes.
///
/// # Errors
/// [`Kind::Data`] with the name.
fn must_be_name(what: &str, name: &str) -> Result<()> {
    if !name.is_empty() && is_quotable(name) && !name.contains([',', '=']) {
        return Ok(());
    }
    let message =
        format!("sacctmgr cannot be given the {what} {name:?}, because of a quote, a comma, = or a control character");
    Err(Error::new(Kind::Data, message))
}
