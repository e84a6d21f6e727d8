//! The `sacct` reader: every trap of its text as a small dump.

mod arrays;
mod breaks;
mod cluster_tres;
mod damage;
mod dialects;
mod energy;
mod folds;
mod formats;
mod interest;
mod jobstats;
pub(crate) mod json;
mod json_documents;
mod layouts;
mod real;
mod steps;
mod submit_line;

use std::sync::Arc;

use gridtally::error::Result;
use gridtally::sources::apel::acceptance::Acceptance;
use gridtally::sources::options::ReaderOptions;
use gridtally::sources::sacct;
use gridtally::time::Zone;

use crate::support::collect::{Collected, Job, source};

/// A source whose printed times are of `zone`.
pub(crate) fn plan(zone: Option<&str>) -> ReaderOptions {
    ReaderOptions {
        zone: zone.map(|name| Zone::named(name).unwrap()),
        ..source(sacct::DIALECT.format(), Acceptance::default())
    }
}

pub(crate) fn try_read(dump: &[u8], plan: ReaderOptions) -> Result<Collected> {
    Collected::all(sacct::pieces(
        Box::new(std::io::Cursor::new(dump.to_vec())),
        Arc::new(plan),
    )?)
}

/// Reads a dump of UTC times; every row must have an outcome.
pub(crate) fn read(dump: impl AsRef<[u8]>) -> Collected {
    read_in(dump, "UTC")
}

pub(crate) fn read_in(dump: impl AsRef<[u8]>, zone: &str) -> Collected {
    let found = try_read(dump.as_ref(), plan(Some(zone))).unwrap();
    assert_eq!(found.rows_read, found.outcomes(), "{found:#?}");
    found
}

/// The only job of a dump without rejects.
pub(crate) fn only(dump: impl AsRef<[u8]>) -> Job {
    let found = read(dump);
    assert!(found.rejects.is_empty(), "{:#?}", found.rejects);
    assert_eq!(found.jobs.len(), 1, "{found:#?}");
    found.jobs.into_iter().next().unwrap()
}
