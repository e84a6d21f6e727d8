//! Contributions to usage that a run leaves as they are.

use std::collections::BTreeSet;

use super::partition_context::PartitionContext;
use super::usage::UsagePart;
use crate::record::SiteMonth;
use crate::store::lake;

/// The places whose published contributions stay, and may be to one of these months of usage of their site: a record is of
/// the month in which its job ended, so that it is of no month of usage after it, but for the days by which zones differ.
pub(crate) fn unbuilt_parts(
    context: &PartitionContext<'_>,
    parts: &[UsagePart],
    months: &BTreeSet<SiteMonth>,
) -> Vec<SiteMonth> {
    let built: BTreeSet<SiteMonth> = parts
        .iter()
        .map(|part| SiteMonth::new(part.site.as_str(), part.month))
        .collect();
    let published = context.publication.published().into_iter();
    let places = published
        .flat_map(|manifest| manifest.dataset("usage_part"))
        .filter_map(|file| lake::parse_month_path(&file.path));
    let may_be_of = |place: &SiteMonth| {
        let mut of_site = months.iter().filter(|of| of.site == place.site);
        of_site.any(|of| of.month <= place.month.next())
    };
    places
        .filter(|place| !built.contains(place) && may_be_of(place))
        .collect()
}
