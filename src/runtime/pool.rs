//! Independent pieces of work on a few threads.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};

/// Does `each` for every item on up to `threads` threads, which take the next item until none is left; the results are
/// in the order of the items.
///
/// # Errors
/// The first error in that order; [`crate::error::Kind::Internal`] when a thread died.
pub(crate) fn each<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    each: impl Fn(&T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let dead = || Error::internal("a working thread died");
    let results: Mutex<Vec<(usize, Result<R>)>> = Mutex::default();
    take_each(items, threads, |at, item| {
        let result = each(item);
        if let Ok(mut results) = results.lock() {
            results.push((at, result));
        }
        ControlFlow::Continue(())
    });
    let mut results = results.into_inner().map_err(|_| dead())?;
    if results.len() != items.len() {
        return Err(dead());
    }
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Does `each` for every item on up to `threads` threads, in no order. After an error no further item is begun.
///
/// # Errors
/// The first error that happened.
pub(crate) fn until_error<T: Sync>(items: &[T], threads: usize, each: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
    let failure = Mutex::new(None);
    take_each(items, threads, |_, item| match each(item) {
        Ok(()) => ControlFlow::Continue(()),
        Err(why) => {
            let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
            failure.get_or_insert(why);
            ControlFlow::Break(())
        }
    });
    let failure = failure.into_inner().unwrap_or_else(PoisonError::into_inner);
    failure.map_or(Ok(()), Err)
}

/// Hands each item, with its place, to one of up to `threads` threads, this one among them, until one of them breaks off.
fn take_each<T: Sync>(items: &[T], threads: usize, take: impl Fn(usize, &T) -> ControlFlow<()> + Sync) {
    let next = AtomicUsize::new(0);
    let take_rest = || {
        while let Some((at, item)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            items.get(at).map(|item| (at, item))
        } {
            if take(at, item).is_break() {
                next.store(items.len(), Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(items.len()) {
            // Where the machine gives no thread, those that are there do all of it.
            if std::thread::Builder::new().spawn_scoped(scope, take_rest).is_err() {
                break;
            }
        }
        take_rest();
    });
}
