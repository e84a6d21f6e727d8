//! Texts of the help and the manual that come from elsewhere in the program.

use std::fmt::Write as _;

use crate::error::Kind;

/// The exit codes, as one block of text.
pub(super) fn exit_codes() -> String {
    let mut text = "Exit codes:\n  0   everything went well".to_owned();
    for (kind, meaning) in Kind::ALL {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n  {:<3} {meaning}", kind.exit_code());
    }
    text
}
