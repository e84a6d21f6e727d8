//! Work that stops in the middle: a mistake of the program, and an error like any other.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

use tracing::error;

use crate::error::{Error, Result};

/// Does work; where it stops in the middle, that is an error.
///
/// # Errors
/// Those of the work, and [`crate::error::Kind::Internal`] where it stopped.
pub fn whole<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|cause| {
        let text = cause.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| cause.downcast_ref::<String>().cloned());
        let text = text.unwrap_or_else(|| "without a reason".to_owned());
        Err(Error::internal(format!(
            "gridtally stopped where it should not, please report it: {text}"
        )))
    })
}

/// Prints one line for a thread that stops, or a trace where one is requested.
pub(super) fn install_panic_hook() {
    if std::env::var_os("RUST_BACKTRACE").is_some() {
        return;
    }
    set_hook(Box::new(|stop| error!("stopped: {stop}")));
}
