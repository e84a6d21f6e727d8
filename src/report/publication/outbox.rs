//! Where messages go: plain files with telling names, or the spool of APEL's sender.

use bytes::Bytes;

use super::kind::MessageKind;
use crate::error::Result;
use crate::store::Store;
use crate::store::hive::segment;
use crate::time::Month;

/// How messages lie in the folder they go to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Layout {
    /// A file per message, `KIND-SITE-MONTH-NUMBER.msg`: the same messages have the same names.
    #[default]
    Files,
    /// The `outgoing/` folder of APEL's sender (dirq's `QueueSimple`): messages are taken from it in the order of their
    /// names, which tell when they were put there.
    Spool,
}

/// A folder messages are put into.
pub struct Outbox {
    store: Store,
    layout: Layout,
    /// Unix microseconds of the next name in a spool.
    next_us: u64,
}

impl Outbox {
    /// Opens, or makes, the folder at a path or URL. `now_ms` names what is put into a spool.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be made.
    pub fn open(place: &str, layout: Layout, now_ms: i64) -> Result<Self> {
        Ok(Self {
            store: Store::open(place)?,
            layout,
            next_us: u64::try_from(now_ms).unwrap_or(0).saturating_mul(1000),
        })
    }

    /// Puts a message where it belongs; whoever looks there sees it whole or not at all. Gives its path in the folder.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be written.
    pub fn put(&mut self, kind: MessageKind, site: &str, month: Month, number: usize, text: String) -> Result<String> {
        let path = match self.layout {
            Layout::Files => {
                let site = segment("", Some(site));
                let site = site.trim_start_matches('=');
                format!("{}-{site}-{month}-{number:06}.msg", kind.as_str())
            }
            Layout::Spool => loop {
                let (seconds, micros) = (self.next_us / 1_000_000, self.next_us % 1_000_000);
                self.next_us += 1;
                // The last digit is random in the original, to tell writers apart; here names are never taken twice.
                let path = format!("{:08x}/{seconds:08x}{micros:05x}0", seconds - seconds % 60);
                if !self.store.exists(&path)? {
                    break path;
                }
            },
        };
        self.store.put(&path, Bytes::from(text))?;
        Ok(path)
    }

    /// Leaves nothing but messages behind.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the folder cannot be tidied.
    pub fn close(self) -> Result<()> {
        self.store.leave_no_machinery()
    }
}
