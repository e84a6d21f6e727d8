//! The views in which summaries count, by site and month.

use std::collections::{BTreeMap, BTreeSet};

use crate::dedupe::summary::from_batch;
use crate::error::Result;
use crate::record::SiteMonth;
use crate::store::{Current, Store, lake, read_table};

/// Rows of a batch.
pub(crate) const RUN: usize = 16_384;

/// Views by [`folded`] place: site names that differ in case alone are one site, as for APEL's server.
pub(crate) type Views = BTreeMap<SiteMonth, BTreeSet<String>>;

/// A place as it is compared.
pub(crate) fn folded(of: &SiteMonth) -> SiteMonth {
    SiteMonth::new(of.site.to_lowercase(), of.month)
}

/// Whether a view is among those of a site and month.
pub(crate) fn has_view(views: &Views, place: &SiteMonth, view: &str) -> bool {
    views.get(&folded(place)).is_some_and(|views| views.contains(view))
}

/// The views in which summaries count, by the files of `summary` whose site and month is wanted.
///
/// # Errors
/// [`Kind::Io`] when a file cannot be read.
pub(crate) fn counting(
    store: &Store,
    files: impl Iterator<Item = Current>,
    is_wanted: impl Fn(&SiteMonth) -> bool,
) -> Result<Views> {
    let mut counting = Views::new();
    for file in files {
        let Some(of) = lake::parse_month_path(&file.path).filter(|of| is_wanted(&folded(of))) else {
            continue;
        };
        let views: &mut BTreeSet<String> = counting.entry(folded(&of)).or_default();
        for batch in read_table(store.reader(&file.place)?, None, RUN)? {
            for row in from_batch(&batch?, &of.site, of.month)?
                .iter()
                .filter(|row| row.is_usage())
            {
                // Fallback: a summary that states no view is of the view without a name.
                let view = row.words.view.as_deref().unwrap_or_default();
                if !views.contains(view) {
                    views.insert(view.to_owned());
                }
            }
        }
    }
    Ok(counting)
}
