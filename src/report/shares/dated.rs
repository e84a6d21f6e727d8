//! Listings of a cluster by the instants they state.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::RecordBatch;

use super::super::lake::Lake;
use super::cluster::ShareCluster;
use crate::error::Result;
use crate::schema::batch::{number, text, time, word};
use crate::time::instant::second_text;
use crate::time::{Day, Zone};

const DAY_S: i64 = 86_400;

/// The rows of one dataset, by the instant of their listing, Unix milliseconds; `None` where it is unknown.
#[derive(Clone, Debug)]
pub(super) struct Dated<T> {
    listings: BTreeMap<Option<i64>, Vec<T>>,
}

/// A listing that was chosen for an instant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen<'a, T> {
    /// Its rows, in the order of files.
    pub(super) rows: &'a [T],
    /// Its instant, where it is later than what was requested: an assumption.
    pub(super) is_from_ms: Option<i64>,
}

impl<T> Dated<T> {
    /// Reads the listings of a cluster; `rows` gives one value for each row of a batch.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the lake cannot be read, and what `rows` fails with.
    pub(super) fn read(
        lake: &Lake,
        dataset: &str,
        cluster: &ShareCluster,
        rows: impl Fn(&RecordBatch) -> Result<Vec<T>>,
    ) -> Result<Self> {
        let mut listings: BTreeMap<Option<i64>, Vec<T>> = BTreeMap::new();
        for file in lake.manifest.dataset(dataset) {
            if !cluster.is_read(dataset, &file.path) {
                continue;
            }
            for batch in lake.batches(&file.path, None)? {
                let batch = batch?;
                let (sites, clusters) = (text(&batch, "site")?, text(&batch, "cluster")?);
                let as_of = time(&batch, "as_of_utc")?;
                for (row, value) in rows(&batch)?.into_iter().enumerate() {
                    if cluster.may_have(word(sites, row), word(clusters, row)) {
                        listings.entry(number(as_of, row)).or_default().push(value);
                    }
                }
            }
        }
        Ok(Self { listings })
    }

    /// The newest listing up to an instant, else the first one; one without an instant holds whenever no other does.
    pub(super) fn at(&self, ms: i64) -> Option<Chosen<'_, T>> {
        let until = self.listings.range(..=Some(ms)).next_back();
        let (at, rows) = until.or_else(|| self.listings.first_key_value())?;
        Some(Chosen {
            rows,
            is_from_ms: at.filter(|at| *at > ms),
        })
    }

    /// The rows of all listings.
    pub(super) fn rows(&self) -> impl Iterator<Item = &T> {
        self.listings.values().flatten()
    }

    /// The days of the listings in a zone.
    pub(super) fn days(&self, zone: &Zone) -> BTreeSet<Day> {
        let stated = self.listings.keys().filter_map(|at| *at);
        let day = |ms: i64| {
            let s = ms.div_euclid(1000);
            Day::try_from((s + zone.offset_at(s)).div_euclid(DAY_S)).ok()
        };
        stated.filter_map(day).collect()
    }
}

/// The last millisecond of a day in a zone.
pub(super) fn end_of_day_ms(day: Day, zone: &Zone) -> i64 {
    zone.begins_ms(day + 1) - 1
}

/// That a listing is later than the day it is used for.
pub(super) fn assumption(noun: &str, is_from_ms: Option<i64>, day_text: &str) -> Option<String> {
    let since = second_text(is_from_ms?)?;
    Some(format!(
        "the first listing of {noun} is of {since}; it is assumed for {day_text}"
    ))
}
