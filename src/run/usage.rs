//! Published usage: contributions of all months of a site, added up per VO and allocation year.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use arrow::array::RecordBatch;

use super::partition::PartitionContext;
use crate::error::{Error, Result};
use crate::lake::state::State;
use crate::record::SiteMonth;
use crate::schema::batch::{int, text};
use crate::schema::{self, Dataset};
use crate::store::lake::{self, LakeTable};
use crate::summarise::contributions::Contributions;
use crate::summarise::group::{UsageGroup, to_batch};
use crate::time::Month;

/// What one site and month contributes to usage.
pub(crate) struct UsagePart {
    /// Site.
    pub(crate) site: String,
    /// Month.
    pub(crate) month: Month,
    /// Its groups, sorted.
    pub(crate) rows: Vec<UsageGroup>,
}

/// Contributions of one site by month.
type UsageParts<'a> = BTreeMap<Month, &'a [UsageGroup]>;

/// One file of `usage` within a site.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UsageSlice {
    pub(crate) vo: Option<String>,
    pub(crate) allocation_year: i64,
}

/// Publishes the contribution of one site and month for later runs, or removes it when it is nothing.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be written.
pub(crate) fn publish_part(context: &PartitionContext<'_>, part: &UsagePart) -> Result<()> {
    let path = lake::month_path("usage_part", &part.site, part.month);
    if part.rows.is_empty() {
        context.publication.remove(&path);
        return Ok(());
    }
    let mut table = LakeTable::create(context.publication, "usage_part", &path)?;
    table.write(&to_batch(&part.rows, schema::dataset("usage_part")?)?)?;
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
        by_site.entry(&done.site).or_default().insert(done.month, &done.rows);
    }
    for (site, fresh) in by_site {
        publish_site(context, state, site, &fresh, is_everything)?;
    }
    if is_everything {
        forget(context, done);
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
    let mut touched: BTreeSet<UsageSlice> = BTreeSet::new();
    let mut total = Contributions::default();
    for rows in fresh.values() {
        touched.extend(rows.iter().map(|of| UsageSlice {
            vo: of.key.vo.clone(),
            allocation_year: of.key.allocation_year,
        }));
        total.add(to_batch(rows, part)?)?;
    }
    for SiteMonth { site: other, month } in state.contributions() {
        if other != site || context.selection.extent.is_rebuild() {
            continue;
        }
        let path = lake::month_path("usage_part", site, *month);
        let Some(batches) = lake::batches(context.publication, &path)? else {
            continue;
        };
        for batch in batches {
            let batch = batch?;
            part.admit(&batch)?;
            if fresh.contains_key(month) {
                // What the month contributed before: those files change as well.
                touched.extend(slices(&batch)?.into_iter().map(|(slice, _)| slice));
            } else {
                total.add(batch)?;
            }
        }
    }
    let rows = total.finish().map_err(|e| e.at("site", site))?;
    let dataset = schema::dataset("usage")?;
    let mut written = BTreeSet::new();
    for (of, range) in slices(&rows)? {
        if touched.contains(&of) || is_everything {
            let path = lake::usage_path(site, of.vo.as_deref(), of.allocation_year);
            let mut table = LakeTable::create(context.publication, "usage", &path)?;
            table.write(&project(&rows.slice(range.start, range.len()), dataset)?)?;
            table.finish(&[
                ("gridtally.pipeline".to_owned(), context.plan.name.clone()),
                ("gridtally.plan".to_owned(), context.plan.fingerprint.clone()),
            ])?;
        }
        written.insert(of);
    }
    for of in touched.difference(&written) {
        context
            .publication
            .remove(&lake::usage_path(site, of.vo.as_deref(), of.allocation_year));
    }
    Ok(())
}

/// Runs of rows of one VO and allocation year, in the order of the rows.
pub(crate) fn slices(batch: &RecordBatch) -> Result<Vec<(UsageSlice, Range<usize>)>> {
    let (vo, year) = (text(batch, "vo")?, int(batch, "allocation_year")?);
    let mut found: Vec<(UsageSlice, Range<usize>)> = Vec::new();
    for (row, (vo, year)) in vo.iter().zip(year.values()).enumerate() {
        match found.last_mut() {
            Some((of, range)) if of.vo.as_deref() == vo && of.allocation_year == *year => range.end = row + 1,
            _ => {
                let of = UsageSlice {
                    vo: vo.map(str::to_owned),
                    allocation_year: *year,
                };
                found.push((of, row..row + 1));
            }
        }
    }
    Ok(found)
}

/// The columns of `dataset` alone.
pub(crate) fn project(batch: &RecordBatch, dataset: &Dataset) -> Result<RecordBatch> {
    let columns = dataset.columns.iter().map(|column| {
        batch
            .column_by_name(&column.name)
            .cloned()
            .ok_or_else(|| Error::internal(format!("contributions have no column {}", column.name)))
    });
    Ok(RecordBatch::try_new(
        dataset.arrow(),
        columns.collect::<Result<Vec<_>>>()?,
    )?)
}

/// After a change of settings, takes away the usage files that no group falls into any more.
fn forget(context: &PartitionContext<'_>, done: &[UsagePart]) {
    let kept: BTreeSet<String> = done
        .iter()
        .flat_map(|done| {
            done.rows
                .iter()
                .map(|UsageGroup { key, .. }| lake::usage_path(&done.site, key.vo.as_deref(), key.allocation_year))
        })
        .collect();
    for file in context
        .publication
        .published()
        .into_iter()
        .flat_map(|manifest| manifest.dataset("usage"))
    {
        if !kept.contains(&file.path) {
            context.publication.remove(&file.path);
        }
    }
}
