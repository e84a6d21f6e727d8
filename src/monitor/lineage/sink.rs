//! Where lineage events go.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tracing::{info, warn};

use crate::error::Result;
use crate::store::post::{Post, post};
use crate::store::whole_file::append_line;

/// A place events go to.
#[derive(Clone, PartialEq, Eq)]
pub enum LineageSink {
    /// A file, one event a line; it is extended.
    File(PathBuf),
    /// The log of this process.
    Log,
    /// A server.
    Http {
        /// Where events are posted to.
        url: String,
        /// Key of the server.
        api_key: Option<String>,
        /// Longest time it has to take an event.
        timeout: Duration,
    },
}

/// A key is not for logs.
impl std::fmt::Debug for LineageSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => write!(f, "File({})", path.display()),
            Self::Log => write!(f, "Log"),
            Self::Http { url, timeout, .. } => write!(f, "Http({url}, {timeout:?})"),
        }
    }
}

/// How long a request may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestLimits {
    /// As the settings state it.
    OfSettings,
    /// At most this long, for a process that ends.
    AtMost(Duration),
}

/// Whether an event was lost: further ones are not sent, so that a server that does not answer delays a run once.
static IS_LOST: AtomicBool = AtomicBool::new(false);

impl LineageSink {
    /// Sends an event. One that cannot be sent is a warning, and the last one that is tried.
    pub(super) fn send(&self, event: &str, limits: RequestLimits) {
        if IS_LOST.load(Ordering::Relaxed) {
            return;
        }
        if let Err(why) = self.try_send(event, limits) {
            IS_LOST.store(true, Ordering::Relaxed);
            warn!("a lineage event could not be sent, and no further one is: {why}");
        }
    }

    fn try_send(&self, event: &str, limits: RequestLimits) -> Result<()> {
        match self {
            Self::File(path) => append_line(path, event),
            Self::Log => {
                info!(event, "lineage event");
                Ok(())
            }
            Self::Http { url, api_key, timeout } => post(&Post {
                url,
                bearer: api_key.as_deref(),
                json: event,
                timeout: match limits {
                    RequestLimits::OfSettings => *timeout,
                    RequestLimits::AtMost(most) => most.min(*timeout),
                },
            }),
        }
    }
}
