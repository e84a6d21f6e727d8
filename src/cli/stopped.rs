//! Work that stops in the middle: a mistake of the program or a machine that gives nothing more, and an error like any other.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

use tracing::error;

use crate::error::{Error, Kind, Result};
use crate::runtime::sudden_end;

/// What libraries report that stop where the system gives no memory (`ENOMEM`) or no thread (`EAGAIN`).
const REFUSALS: [&str; 3] = [
    "Cannot allocate memory",
    "Resource temporarily unavailable",
    "returned null pointer",
];

/// Does work; where it stops in the middle, that is an error. Under the panic hook of the commands a refusal has ended the
/// process before; a program that calls the library without it gets the refusal as an error.
///
/// # Errors
/// Those of the work; [`Kind::Memory`] where it stopped because the machine gives no more memory or threads, and
/// [`Kind::Internal`] where it stopped for anything else.
pub fn whole<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|cause| {
        let why = words(&*cause);
        Err(if is_refusal(why) {
            Error::new(
                Kind::Memory,
                format!("the machine gives no more memory or threads: {why}"),
            )
        } else {
            Error::internal(format!(
                "gridtally stopped where it should not, please report it: {why}"
            ))
        })
    })
}

/// Prints one line for a thread that stops, or a trace where one is requested; ends the process where it stops because the
/// machine gives no more memory or threads.
pub(super) fn install_panic_hook() {
    let with_trace = std::env::var_os("RUST_BACKTRACE").map(|_| take_hook());
    set_hook(Box::new(move |stop| {
        if let Some(print) = &with_trace {
            print(stop);
        } else {
            error!("stopped: {stop}");
        }
        // Libraries may wait without end for threads that were never started, and whoever waits for this one learns only
        // that it stopped.
        if is_refusal(words(stop.payload())) {
            sudden_end::without_memory();
        }
    }));
}

fn is_refusal(why: &str) -> bool {
    REFUSALS.iter().any(|refusal| why.contains(refusal))
}

/// The reason that was given where work stopped.
fn words(cause: &(dyn Any + Send)) -> &str {
    let text = cause.downcast_ref::<&str>().copied();
    text.or_else(|| cause.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a reason")
}
