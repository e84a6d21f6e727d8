//! Reads one state of a lake: what is printed belongs to one publication, whatever is published meanwhile.

use std::time::{Duration, Instant};

use super::output;
use crate::error::{Error, Kind, Result};
use crate::store::{Holder, LockWatch, Manifest, StatePart, Store};

/// How long, and how often at least, a lake is read again that changes all the time.
const PATIENCE: Duration = Duration::from_mins(1);
const MIN_TRIES: usize = 3;

/// How soon a lake is looked at again.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Reads lakes, again as long as what they are has changed when it is done. What `read` prints is printed once it holds.
/// Places that are no lake are left alone.
///
/// # Errors
/// What `read` fails with; [`Kind::Busy`] when a lake does not settle, or its last run was cut off while it published.
pub(super) fn reading<T>(lakes: &[&str], part: StatePart, mut read: impl FnMut() -> Result<T>) -> Result<T> {
    let mut stores = Vec::new();
    for lake in lakes {
        if is_lake(lake)? {
            stores.push(Store::open_existing(lake)?);
        }
    }
    let state = || {
        stores
            .iter()
            .map(|store| store.state(part))
            .collect::<Result<Option<Vec<_>>>>()
    };
    let since = Instant::now();
    let mut watches: Vec<LockWatch<'_>> = stores.iter().map(LockWatch::new).collect();
    let mut tries = 0;
    loop {
        if let Some(before) = state()? {
            tries += 1;
            let printed = output::hold();
            let reported = read();
            let printed = printed.take();
            if state()?.is_some_and(|after| after == before) {
                if let Some(printed) = printed {
                    printed.print()?;
                }
                return reported;
            }
        } else {
            refuse_cut_off(&stores, &mut watches, part)?;
        }
        if since.elapsed() >= PATIENCE && (tries == 0 || tries >= MIN_TRIES) {
            let seconds = since.elapsed().as_secs();
            let message = if tries == 0 {
                format!("a run is publishing, and has not ended within {seconds} s; try again later")
            } else {
                format!(
                    "the lake is published again continually: it was read {tries} times within {seconds} s, and did not stay \
                     what it was; try again later"
                )
            };
            return Err(Error::new(Kind::Busy, message).at("lake", lakes.join(" and ")));
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

/// Whether a place is a lake: messages, which some commands read as well, are none.
fn is_lake(place: &str) -> Result<bool> {
    match Manifest::is_there(place) {
        Err(why) if why.kind() == Kind::Config => Ok(false),
        found => found,
    }
}

/// A commit without a living owner was interrupted. In a bucket an owner elsewhere counts as gone once its lock was not renewed
/// for a while.
fn refuse_cut_off(stores: &[Store], watches: &mut [LockWatch<'_>], part: StatePart) -> Result<()> {
    for (store, watch) in stores.iter().zip(watches) {
        if store.state(part)?.is_some() || watch.look()? != Holder::Nobody || store.state(part)?.is_some() {
            continue;
        }
        return Err(store.cut_off());
    }
    Ok(())
}
