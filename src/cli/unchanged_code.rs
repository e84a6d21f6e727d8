//! The exit code of a run that changes nothing, where somebody wants to distinguish it.

use crate::error::Kind;

/// A code that means nothing else to a shell, a service manager or a scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UnchangedCode(pub(super) u8);

/// Reads it.
pub(super) fn parse(text: &str) -> Result<UnchangedCode, String> {
    let why = match text.parse::<u8>() {
        Err(_) => "a number from 3 to 125 is needed",
        Ok(0) => "0 is the code of every run that ends well, also without this option",
        Ok(1) => "1 is what shells and interpreters end with when they fail",
        Ok(99) => "99 is what Airflow skips a task for by itself: choose another one and set skip_on_exit_code to it",
        Ok(64..=78) => "64 to 78 are the codes of errors (sysexits.h)",
        Ok(126..) => "126 and more are what a shell ends with when a command does not start, or a signal ends it",
        Ok(code) if Kind::ALL.iter().any(|(kind, _)| kind.exit_code() == code) => "it is the code of an error",
        Ok(code) => return Ok(UnchangedCode(code)),
    };
    Err(why.to_owned())
}
