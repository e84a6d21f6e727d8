//! The views in which summaries count, by site and month.

use std::collections::{BTreeMap, BTreeSet};

use crate::dedupe::summary::from_batch;
use crate::error::Result;
use crate::store::{Store, lake, read_table};
use crate::time::Month;

/// Rows of a batch.
pub(crate) const RUN: usize = 16_384;

/// A site and a month.
pub(crate) type ViewPlace = (String, Month);

/// Views by [`folded`] place: site names that differ in case alone are one site, as for APEL's server.
pub(crate) type Views = BTreeMap<ViewPlace, BTreeSet<String>>;

/// A place as it is compared.
pub(crate) fn folded((site, month): &ViewPlace) -> ViewPlace {
    (site.to_lowercase(), *month)
}

/// Whether a view is among those of a site and month.
pub(crate) fn has_view(views: &Views, place: &ViewPlace, view: &str) -> bool {
    views.get(&folded(place)).is_some_and(|views| views.contains(view))
}

/// The views in which summaries count, by the files of `summary` (path and place) whose site and month is wanted.
///
/// # Errors
/// [`Kind::Io`] when a file cannot be read.
pub(crate) fn counting(
    store: &Store,
    files: impl Iterator<Item = (String, String)>,
    is_wanted: impl Fn(&ViewPlace) -> bool,
) -> Result<Views> {
    let mut counting = Views::new();
    for (path, place) in files {
        let Some(of) = lake::parse_month_path(&path).filter(|of| is_wanted(&folded(of))) else {
            continue;
        };
        let views: &mut BTreeSet<String> = counting.entry(folded(&of)).or_default();
        for batch in read_table(store.reader(&place)?, None, RUN)? {
            for row in from_batch(&batch?, &of.0, of.1)?.iter().filter(|row| row.is_usage()) {
                let view = row.word("view").unwrap_or_default();
                if !views.contains(view) {
                    views.insert(view.to_owned());
                }
            }
        }
    }
    Ok(counting)
}
