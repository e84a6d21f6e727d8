//! Published usage: contributions of all months of a site, added up per VO and allocation year.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::RecordBatch;

use super::partition_context::PartitionContext;
use super::slices::{SliceFiles, UsageSlice, by_year, changed, slices, whole};
use crate::error::Result;
use crate::lake::state::State;
use crate::runtime::pool;
use crate::schema::{self, Dataset};
use crate::store::lake::{self, LakeTable};
use crate::summarise::contributions::Contributions;
use crate::summarise::held_groups::HeldGroups;
use crate::time::Month;

/// What one site and month contributes to usage.
pub(crate) struct UsagePart {
    /// Site.
    pub(crate) site: String,
    /// Month.
    pub(crate) month: Month,
    /// Its groups.
    pub(crate) groups: HeldGroups,
}

/// Contributions of one site by month.
type UsageParts<'a> = BTreeMap<Month, &'a HeldGroups>;

/// Publishes the contribution of one site and month for later runs, or removes it when it is nothing.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be written.
pub(crate) fn publish_part(context: &PartitionContext<'_>, part: &UsagePart) -> Result<()> {
    let path = lake::month_path("usage_part", &part.site, part.month);
    if part.groups.is_empty() {
        context.publication.remove(&path);
        return Ok(());
    }
    let mut table = LakeTable::create(context.publication, "usage_part", &path)?;
    table.write(&part.groups.batch()?)?;
    table.finish(&[("gridtally.plan".to_owned(), context.plan.fingerprint.clone())])?;
    Ok(())
}

/// Publishes the usage files that the contributions in `done` touch.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read or written.
pub(crate) fn publish_usage(
    context: &PartitionContext<'_>,
    state: &State,
    done: &[UsagePart],
    is_everything: bool,
) -> Result<()> {
    let mut by_site: BTreeMap<&str, UsageParts<'_>> = BTreeMap::new();
    for done in done {
        by_site.entry(&done.site).or_default().insert(done.month, &done.groups);
    }
    let sites: Vec<_> = by_site.iter().collect();
    let of_site = context.shared_by(sites.len());
    pool::until_error(&sites, context.threads, |(site, fresh)| {
        publish_site(&of_site, state, site, fresh, is_everything)
    })?;
    if is_everything {
        forget(context, done)?;
    }
    Ok(())
}

fn publish_site(
    context: &PartitionContext<'_>,
    state: &State,
    site: &str,
    fresh: &UsageParts<'_>,
    is_everything: bool,
) -> Result<()> {
    let part = schema::dataset("usage_part")?;
    let published = published_parts(context, state, site);
    let mut now = BTreeMap::new();
    for (month, groups) in fresh {
        now.insert(*month, groups.batch()?);
    }
    let touched = touched(context, part, &published, &now)?;
    if touched.is_empty() && !is_everything {
        return Ok(());
    }
    let mut years = YearContributions::new((!is_everything).then(|| touched.clone()));
    for rows in now.values() {
        years.add(rows)?;
    }
    for (_, path) in published.iter().filter(|(month, _)| !fresh.contains_key(month)) {
        for batch in lake::batches(context.publication, path)?.into_iter().flatten() {
            let batch = batch?;
            part.admit(&batch)?;
            years.add(&batch)?;
        }
    }
    let files = SliceFiles {
        context,
        dataset: schema::dataset("usage")?,
        site,
        path: lake::usage_path,
    };
    let mut written = BTreeSet::new();
    while let Some(total) = years.next() {
        let rows = total.finish().map_err(|e| e.at("site", site))?;
        written.append(&mut files.write(&rows)?);
    }
    files.remove(touched.difference(&written));
    Ok(())
}

/// The slices of which months contribute something else now than what is published.
fn touched(
    context: &PartitionContext<'_>,
    part: &Dataset,
    published: &BTreeMap<Month, String>,
    now: &BTreeMap<Month, RecordBatch>,
) -> Result<BTreeSet<UsageSlice>> {
    let mut touched = BTreeSet::new();
    for (month, rows) in now {
        let before = match published.get(month) {
            Some(path) => lake::batches(context.publication, path)?,
            None => None,
        };
        touched.append(&mut changed(&whole(part, before)?, rows)?);
    }
    Ok(touched)
}

/// The months of a site that contribute as they are published, with the paths of what they contribute; none in a rebuild.
fn published_parts(context: &PartitionContext<'_>, state: &State, site: &str) -> BTreeMap<Month, String> {
    if context.selection.extent.is_rebuild() {
        return BTreeMap::new();
    }
    let of_site = state.contributions().iter().filter(|of| of.site == site);
    of_site
        .map(|of| (of.month, lake::month_path("usage_part", site, of.month)))
        .collect()
}

/// Contributions of one site by allocation year: what is added up at once are the groups of a year, however many years the lake
/// has.
struct YearContributions {
    /// The slices that count; `None` where all do.
    counting: Option<BTreeSet<UsageSlice>>,
    years: BTreeMap<i64, Contributions>,
}

impl YearContributions {
    fn new(counting: Option<BTreeSet<UsageSlice>>) -> Self {
        Self {
            counting,
            years: BTreeMap::new(),
        }
    }

    /// Adds a `usage_part` batch.
    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        for (year, rows) in by_year(batch, self.counting.as_ref())? {
            self.years.entry(year).or_default().add(rows)?;
        }
        Ok(())
    }

    /// Takes the contributions of the first year that is left.
    fn next(&mut self) -> Option<Contributions> {
        self.years.pop_first().map(|(_, total)| total)
    }
}

/// After a change of settings, takes away the usage files that no group falls into any more.
fn forget(context: &PartitionContext<'_>, done: &[UsagePart]) -> Result<()> {
    let published = context.publication.published().into_iter();
    let mut gone: BTreeSet<&str> = published
        .flat_map(|manifest| manifest.dataset("usage"))
        .map(|file| file.path.as_str())
        .collect();
    for part in done {
        if gone.is_empty() {
            return Ok(());
        }
        for (of, _) in slices(&part.groups.batch()?)? {
            let kept = lake::usage_path(&part.site, of.vo.as_deref(), of.allocation_year);
            gone.remove(kept.as_str());
        }
    }
    for path in gone {
        context.publication.remove(path);
    }
    Ok(())
}
