//! A server that does not answer is waited for, and people hear of it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::info;

/// The target of its events, which are shown at once: also while others are held back.
pub(crate) const TARGET: &str = concat!(env!("CARGO_PKG_NAME"), "::store::outage");

/// How long a request is repeated that fails for a reason that passes, from its first attempt.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// A shorter outage is not worth a line.
const SHORT: Duration = Duration::from_secs(1);

/// How often people hear of one that lasts.
const AGAIN: Duration = Duration::from_secs(10);

static OUTAGES: Mutex<BTreeMap<String, Outage>> = Mutex::new(BTreeMap::new());

struct Outage {
    since: Instant,
    stated: Option<Instant>,
}

/// A request to a server failed for a reason that passes.
pub(super) fn failed(server: &str, why: &str) {
    let mut outages = OUTAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let now = Instant::now();
    let outage = outages.entry(server.to_owned()).or_insert(Outage {
        since: now,
        stated: None,
    });
    let lasts = outage.since.elapsed();
    if lasts < SHORT || outage.stated.is_some_and(|stated| stated.elapsed() < AGAIN) {
        return;
    }
    outage.stated = Some(now);
    drop(outages);
    info!(
        target: TARGET,
        "waiting for {server} since {} s: {why}; each request is repeated for {} s",
        lasts.as_secs(),
        PATIENCE.as_secs()
    );
}

/// A server answered.
pub(super) fn answered(server: &str) {
    let outage = OUTAGES.lock().unwrap_or_else(PoisonError::into_inner).remove(server);
    if let Some(outage) = outage.filter(|outage| outage.stated.is_some()) {
        info!(
            target: TARGET,
            "{server} answers again after {} s",
            outage.since.elapsed().as_secs()
        );
    }
}
