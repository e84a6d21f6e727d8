//! Contributions to usage that a run leaves as they are.

use std::collections::BTreeSet;

use super::partition_context::PartitionContext;
use super::usage::UsagePart;
use crate::record::SiteMonth;
use crate::store::lake;

/// The places of some sites whose published contributions stay. A place may be of any month of usage: what places a record is
/// the start of its job in some dialects and its end in others, and jobs run for months.
pub(crate) fn unbuilt_parts(
    context: &PartitionContext<'_>,
    parts: &[UsagePart],
    sites: &BTreeSet<&str>,
) -> Vec<SiteMonth> {
    let built: BTreeSet<SiteMonth> = parts
        .iter()
        .map(|part| SiteMonth::new(part.site.as_str(), part.month))
        .collect();
    let published = context.publication.published().into_iter();
    let places = published
        .flat_map(|manifest| manifest.dataset("usage_part"))
        .filter_map(|file| lake::parse_month_path(&file.path));
    places
        .filter(|place| !built.contains(place) && sites.contains(place.site.as_str()))
        .collect()
}
