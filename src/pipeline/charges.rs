//! Published charges: what every job costs, and charges added up per VO and allocation year.

use std::collections::{BTreeMap, BTreeSet};

use arrow::array::RecordBatch;

use super::partition::{Context, Done};
use super::state::State;
use super::usage::{Slice, project, slices};
use crate::error::Result;
use crate::schema;
use crate::schema::batch::texts;
use crate::store::lake::{self, LakeTable};
use crate::summarise::charges::part;
use crate::time::Month;

/// Where the policies stand behind which charges were made.
pub(super) const POLICIES: &str = "policies/policies.parquet";

/// What one site and month was charged.
pub(super) struct ChargePart {
    site: String,
    month: Month,
    rows: RecordBatch,
}

/// Takes the charges out of what was done. Where summaries count, the jobs do not: they are not charged either.
///
/// # Errors
/// [`crate::error::Kind::Io`] when a staged file cannot be taken back.
pub(super) fn collect(
    context: &Context<'_>,
    done: &mut [Done],
    displaced: &BTreeSet<(String, Month)>,
) -> Result<Vec<ChargePart>> {
    let mut parts = Vec::new();
    for done in done {
        let (site, month) = (done.site.clone(), done.month);
        let mut rows = done.charges.take();
        let [jobs, path] = ["job_charges", "charge_part"].map(|dataset| lake::month_path(dataset, &site, month));
        if displaced.contains(&(site.clone(), month)) {
            context.publication.take_back(&jobs)?;
            rows = None;
        }
        let rows = if let Some(rows) = rows.filter(|rows| rows.num_rows() > 0) {
            let mut table = LakeTable::create(context.publication, "charge_part", &path)?;
            table.write(&rows)?;
            table.finish(&[("gridtally.plan".to_owned(), context.plan.fingerprint.clone())])?;
            rows
        } else {
            context.publication.remove(&jobs);
            context.publication.remove(&path);
            RecordBatch::new_empty(schema::dataset("charge_part")?.arrow())
        };
        parts.push(ChargePart { site, month, rows });
    }
    Ok(parts)
}

/// Publishes the files of `charges` that these parts touch, and the policies.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read or written.
pub(super) fn publish(context: &Context<'_>, state: &State, parts: &[ChargePart], is_everything: bool) -> Result<()> {
    let mut by_site: BTreeMap<&str, BTreeMap<Month, &RecordBatch>> = BTreeMap::new();
    for part in parts {
        by_site.entry(&part.site).or_default().insert(part.month, &part.rows);
    }
    let mut kept = BTreeSet::new();
    for (site, fresh) in by_site {
        publish_site(context, state, site, &fresh, is_everything, &mut kept)?;
    }
    if is_everything {
        let published = context.publication.published();
        for file in published.into_iter().flat_map(|manifest| manifest.dataset("charges")) {
            if !kept.contains(&file.path) {
                context.publication.remove(&file.path);
            }
        }
    }
    publish_policies(context)
}

fn publish_site(
    context: &Context<'_>,
    state: &State,
    site: &str,
    fresh: &BTreeMap<Month, &RecordBatch>,
    is_everything: bool,
    kept: &mut BTreeSet<String>,
) -> Result<()> {
    let dataset = schema::dataset("charge_part")?;
    let mut touched: BTreeSet<Slice> = BTreeSet::new();
    let mut batches: Vec<RecordBatch> = Vec::new();
    for rows in fresh.values() {
        touched.extend(slices(rows)?.into_iter().map(|(slice, _)| slice));
        batches.push(RecordBatch::clone(rows));
    }
    for (other, month) in state.charged() {
        if other != site || context.is_rebuild {
            continue;
        }
        let path = lake::month_path("charge_part", site, *month);
        for batch in lake::batches(context.store, context.publication, &path)?
            .into_iter()
            .flatten()
        {
            let batch = batch?;
            if fresh.contains_key(month) {
                // What the month was charged before: those files change as well.
                touched.extend(slices(&batch)?.into_iter().map(|(slice, _)| slice));
            } else {
                dataset.admit(&batch)?;
                batches.push(batch);
            }
        }
    }
    let rows = part(&batches).map_err(|why| why.at("site", site))?;
    let charges = schema::dataset("charges")?;
    let mut written = BTreeSet::new();
    for (of, range) in slices(&rows)? {
        let path = lake::charges_path(site, of.0.as_deref(), of.1);
        if touched.contains(&of) || is_everything {
            let mut table = LakeTable::create(context.publication, "charges", &path)?;
            table.write(&project(&rows.slice(range.start, range.len()), charges)?)?;
            table.finish(&[
                ("gridtally.pipeline".to_owned(), context.plan.name.clone()),
                ("gridtally.plan".to_owned(), context.plan.fingerprint.clone()),
            ])?;
        }
        kept.insert(path);
        written.insert(of);
    }
    for (vo, year) in touched.difference(&written) {
        context
            .publication
            .remove(&lake::charges_path(site, vo.as_deref(), *year));
    }
    Ok(())
}

fn publish_policies(context: &Context<'_>) -> Result<()> {
    let tariffs = &context.plan.tariffs;
    if tariffs.is_empty() {
        context.publication.remove(POLICIES);
        return Ok(());
    }
    let of = |text: fn(&crate::charge::Tariff) -> &str| texts(tariffs.iter().map(|tariff| Some(text(tariff))));
    let batch = schema::dataset("policy")?.batch(vec![
        of(|tariff| &tariff.policy.id),
        of(|tariff| &tariff.policy.version),
        of(|tariff| &tariff.chosen),
        of(|tariff| &tariff.policy.title),
        of(|tariff| &tariff.policy.source),
        of(|tariff| &tariff.policy.pool),
        of(|tariff| &tariff.policy.unit),
        of(|tariff| &tariff.policy.text),
    ])?;
    let mut table = LakeTable::create(context.publication, "policy", POLICIES)?;
    table.write(&batch)?;
    table.finish(&[])?;
    Ok(())
}
