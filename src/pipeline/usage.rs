//! Published usage: contributions of all months of a site, added up per VO and allocation year.

use std::collections::{BTreeMap, BTreeSet};

use super::partition::{Context, Done};
use super::state::State;
use crate::error::Result;
use crate::schema;
use crate::store::lake::{self, LakeTable};
use crate::summarise::group::{Groups, Key, to_batch};
use crate::summarise::sums::Sums;
use crate::time::Month;

/// Contributions of one site by month.
type Parts<'a> = BTreeMap<Month, &'a [(Key, Sums)]>;

/// VO and allocation year: one file of `usage` within a site.
type Slice = (Option<String>, i64);

/// Publishes the usage files that the partitions in `done` touch.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read or written.
pub(super) fn publish_usage(context: &Context<'_>, state: &State, done: &[Done], is_everything: bool) -> Result<()> {
    let mut by_site: BTreeMap<&str, Parts<'_>> = BTreeMap::new();
    for done in done {
        by_site.entry(&done.site).or_default().insert(done.month, &done.part);
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
    context: &Context<'_>,
    state: &State,
    site: &str,
    fresh: &Parts<'_>,
    is_everything: bool,
) -> Result<()> {
    let mut touched: BTreeSet<Slice> = BTreeSet::new();
    let mut groups = Groups::default();
    for (key, sums) in fresh.values().copied().flatten() {
        touched.insert((key.vo.clone(), key.allocation_year));
        groups.sums(key.borrow()).add(sums);
    }
    for (other, month) in state.partitions() {
        if other != site || context.is_rebuild {
            continue;
        }
        let path = lake::month_path("usage_part", site, *month);
        let Some(batches) = lake::batches(context.store, context.publication, &path)? else {
            continue;
        };
        for batch in batches {
            let batch = batch?;
            if fresh.contains_key(month) {
                // What the month contributed before: those files change as well.
                let mut before = Groups::default();
                before.add_batch(&batch)?;
                touched.extend(
                    before
                        .into_sorted()
                        .into_iter()
                        .map(|(key, _)| (key.vo, key.allocation_year)),
                );
            } else {
                groups.add_batch(&batch)?;
            }
        }
    }
    let rows = groups.into_sorted();
    let dataset = schema::dataset("usage")?;
    let mut written = BTreeSet::new();
    for slice in rows.chunk_by(|a, b| (&a.0.vo, a.0.allocation_year) == (&b.0.vo, b.0.allocation_year)) {
        let Some((key, _)) = slice.first() else { continue };
        let of = (key.vo.clone(), key.allocation_year);
        if touched.contains(&of) || is_everything {
            let path = lake::usage_path(site, of.0.as_deref(), of.1);
            let mut table = LakeTable::create(context.publication, "usage", &path)?;
            table.write(&to_batch(slice, dataset)?)?;
            table.finish(&[
                ("gridtally.pipeline".to_owned(), context.plan.name.clone()),
                ("gridtally.plan".to_owned(), context.plan.fingerprint.clone()),
            ])?;
        }
        written.insert(of);
    }
    for (vo, year) in touched.difference(&written) {
        context
            .publication
            .remove(&lake::usage_path(site, vo.as_deref(), *year));
    }
    Ok(())
}

/// After a change of settings, takes away the usage files that no group falls into any more.
fn forget(context: &Context<'_>, done: &[Done]) {
    let kept: BTreeSet<String> = done
        .iter()
        .flat_map(|done| {
            done.part
                .iter()
                .map(|(key, _)| lake::usage_path(&done.site, key.vo.as_deref(), key.allocation_year))
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
