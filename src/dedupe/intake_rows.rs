//! Candidates of one source on their way into a waiting batch: of small files, those of many come together.

use arrow_array::RecordBatch;

use super::columns::Columns;
use crate::error::Result;
use crate::numbers::index;

/// Rows of a waiting batch: so many that its dictionaries pay, so few that no thread holds much back.
const BATCH_ROWS: usize = 8192;
/// Bytes of texts that make a waiting batch, however few its rows.
const BATCH_TEXT_BYTES: usize = 8 << 20;

/// Day bucket a record belongs to: everything that can be the same job is in the same bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IntakeBucket {
    /// Index into [`PlacedRows::sites`].
    pub site: u32,
    /// Days since 1970 of `record_utc`.
    pub day: i32,
}

/// Candidates that were taken in and are no batch yet.
#[derive(Default)]
pub struct IntakeRows {
    /// Large, and handed from file to file.
    pub(super) columns: Box<Columns>,
    pub(super) buckets: Vec<IntakeBucket>,
    pub(super) sites: Vec<String>,
}

/// A waiting batch, and where its rows belong.
pub struct PlacedRows {
    /// The records, in reading order.
    pub batch: RecordBatch,
    /// Bucket of each record.
    pub buckets: Vec<IntakeBucket>,
    /// Sites named by the buckets.
    pub sites: Vec<String>,
}

impl IntakeRows {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// Whether they are as many as are worth a waiting batch.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.buckets.len() >= BATCH_ROWS || self.columns.text_bytes() >= BATCH_TEXT_BYTES
    }

    /// The batch of all of them; there are none afterwards.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the columns disagree.
    pub fn finish(&mut self, source: &str) -> Result<PlacedRows> {
        Ok(PlacedRows {
            batch: self.columns.finish(source)?,
            buckets: std::mem::take(&mut self.buckets),
            sites: std::mem::take(&mut self.sites),
        })
    }

    /// Adds a row to a bucket: the one that was pushed to the columns last.
    pub(super) fn place(&mut self, site: &str, day: i32) {
        let site = self.site_place(site);
        self.buckets.push(IntakeBucket { site, day });
    }

    /// The place of a site, which is added if it is new.
    fn site_place(&mut self, site: &str) -> u32 {
        // Nearly always that of the row before: files hold one site, or long runs of one.
        let is_known = |at: &u32| self.sites.get(index(*at)).is_some_and(|known| known == site);
        if let Some(last) = self.buckets.last().map(|last| last.site).filter(is_known) {
            return last;
        }
        let known = self.sites.iter().position(|known| known == site);
        let place = known.unwrap_or_else(|| {
            self.sites.push(site.to_owned());
            self.sites.len() - 1
        });
        // Fallback: never taken, a batch has at most a site for each of its rows.
        u32::try_from(place).unwrap_or(u32::MAX)
    }
}
