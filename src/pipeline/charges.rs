//! Published charges: what every job costs, and charges added up per VO and allocation year.

use std::collections::{BTreeMap, BTreeSet};

use arrow::array::RecordBatch;

use super::overhead::bills;
use super::partition::{Context, Done};
use super::usage::{Slice, project, slices};
use crate::charge::policy::Subject;
use crate::error::Result;
use crate::schema;
use crate::schema::batch::{text, texts};
use crate::store::lake::{self, LakeTable};
use crate::store::read_table;
use crate::summarise::charges::part;
use crate::summarise::years::with_years;
use crate::time::Month;

/// Where the policies stand behind which charges were made.
pub(super) const POLICIES: &str = "policies/policies.parquet";

/// What one site and month was charged for one subject. Whatever is charged for hands in such parts; all of them
/// together are `charges`.
pub(super) struct ChargePart {
    site: String,
    /// Where they are kept for later runs.
    path: String,
    /// A `charge_part` batch.
    rows: RecordBatch,
}

impl ChargePart {
    /// Stages what a site and month was charged for a subject, as a `charge_part` batch; takes the file away that held it
    /// when it is nothing.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be staged.
    pub(super) fn stage(
        context: &Context<'_>,
        subject: Subject,
        (site, month): (&str, Month),
        rows: Option<RecordBatch>,
    ) -> Result<Self> {
        let path = match subject {
            Subject::Jobs => lake::month_path("charge_part", site, month),
            other => lake::subject_path("charge_part", other.as_str(), site, month),
        };
        let rows = if let Some(rows) = rows.filter(|rows| rows.num_rows() > 0) {
            let mut table = LakeTable::create(context.publication, "charge_part", &path)?;
            table.write(&rows)?;
            table.finish(&[("gridtally.plan".to_owned(), context.plan.fingerprint.clone())])?;
            rows
        } else {
            context.publication.remove(&path);
            RecordBatch::new_empty(schema::dataset("charge_part")?.arrow())
        };
        Ok(Self {
            site: site.to_owned(),
            path,
            rows,
        })
    }
}

/// The corrections that these parts have entries of.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when a part is none.
pub(super) fn corrections(parts: &[ChargePart]) -> Result<BTreeSet<String>> {
    let mut ids = BTreeSet::new();
    for part in parts {
        ids.extend(text(&part.rows, "correction_id")?.iter().flatten().map(str::to_owned));
    }
    Ok(ids)
}

/// Takes the charges of jobs out of what was done. Where summaries count, the jobs do not: they are not charged either,
/// and what was added by hand still is.
///
/// # Errors
/// [`crate::error::Kind::Io`] when a staged file cannot be taken back.
pub(super) fn of_jobs(
    context: &Context<'_>,
    done: &mut [Done],
    displaced: &BTreeSet<(String, Month)>,
) -> Result<Vec<ChargePart>> {
    let mut parts = Vec::new();
    for done in done {
        let (site, month) = (done.site.as_str(), done.month);
        let mut rows = done.charges.take();
        let jobs = lake::month_path("job_charges", site, month);
        if displaced.contains(&(site.to_owned(), month)) {
            context.publication.take_back(&jobs)?;
            rows = None;
            if let Some(added) = &done.added_charges {
                let mut table = LakeTable::create(context.publication, "job_charges", &jobs)?;
                table.write(added)?;
                table.finish(&[])?;
                rows = Some(part(std::slice::from_ref(added))?);
            }
        }
        if rows.is_none() {
            context.publication.remove(&jobs);
        }
        parts.push(ChargePart::stage(context, Subject::Jobs, (site, month), rows)?);
    }
    Ok(parts)
}

/// What the jobs of one site are billed of their nodes.
#[derive(Default)]
struct Billed {
    /// As `charge_part` batches.
    rows: Vec<RecordBatch>,
    /// Files of `charges` that change with it.
    touched: BTreeSet<Slice>,
    is_changed: bool,
}

/// What jobs are billed of their nodes, by site: contributions that were staged or are published.
fn billed(context: &Context<'_>) -> Result<BTreeMap<String, Billed>> {
    let mut sites: BTreeMap<String, Billed> = BTreeMap::new();
    let current = context.publication.current("charge_part");
    let site_of = |path: &str| {
        lake::parse_bill_path(path)?;
        lake::parse_month_path(path).map(|(site, _)| site)
    };
    for file in &current {
        let Some(site) = site_of(&file.path) else { continue };
        let of = sites.entry(site).or_default();
        for batch in read_table(context.store.reader(&file.place)?, None, 16_384)? {
            let batch = batch?;
            if file.place != file.path {
                of.is_changed = true;
                of.touched.extend(slices(&batch)?.into_iter().map(|(slice, _)| slice));
            }
            of.rows.push(batch);
        }
    }
    let published = context.publication.published();
    for file in published
        .into_iter()
        .flat_map(|manifest| manifest.dataset("charge_part"))
    {
        let is_kept = current.iter().any(|now| now.place == file.path);
        let Some(site) = site_of(&file.path).filter(|_| !is_kept) else {
            continue;
        };
        let of = sites.entry(site).or_default();
        of.is_changed = true;
        for batch in read_table(context.store.reader(&file.path)?, None, 16_384)? {
            of.touched.extend(slices(&batch?)?.into_iter().map(|(slice, _)| slice));
        }
    }
    Ok(sites)
}

/// Publishes the files of `charges` that these parts touch, and the policies.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read or written.
pub(super) fn publish(context: &Context<'_>, parts: &[ChargePart], is_everything: bool) -> Result<()> {
    let mut by_site: BTreeMap<&str, Vec<&ChargePart>> = BTreeMap::new();
    for part in parts {
        by_site.entry(&part.site).or_default().push(part);
    }
    let mut kept = BTreeSet::new();
    let billed = billed(context)?;
    for (site, of) in &billed {
        if of.is_changed || is_everything {
            by_site.entry(site).or_default();
        }
    }
    let nothing = Billed::default();
    for (site, fresh) in by_site {
        let billed = billed.get(site).unwrap_or(&nothing);
        publish_site(context, (site, billed), &fresh, is_everything, &mut kept)?;
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
    (site, billed): (&str, &Billed),
    fresh: &[&ChargePart],
    is_everything: bool,
    kept: &mut BTreeSet<String>,
) -> Result<()> {
    let dataset = schema::dataset("charge_part")?;
    let mut touched: BTreeSet<Slice> = billed.touched.clone();
    let mut batches: Vec<RecordBatch> = billed.rows.clone();
    for part in fresh {
        touched.extend(slices(&part.rows)?.into_iter().map(|(slice, _)| slice));
        batches.push(RecordBatch::clone(&part.rows));
    }
    let published = context.publication.published().filter(|_| !context.is_rebuild);
    for file in published
        .into_iter()
        .flat_map(|manifest| manifest.dataset("charge_part"))
    {
        let is_bill = lake::parse_bill_path(&file.path).is_some();
        if is_bill || lake::parse_month_path(&file.path).is_none_or(|(of, _)| of != site) {
            continue;
        }
        let is_fresh = fresh.iter().any(|part| part.path == file.path);
        let read = lake::batches(context.store, context.publication, &file.path)?;
        for batch in read.into_iter().flatten() {
            let batch = batch?;
            if is_fresh {
                // What was charged before: those files change as well.
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
            let rows = with_years(&rows.slice(range.start, range.len()))?;
            table.write(&project(&rows, charges)?)?;
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
    let of_tariffs = context.plan.tariffs.iter().map(|tariff| {
        let policy = &tariff.policy;
        [
            &policy.id,
            &policy.version,
            &tariff.chosen,
            &policy.title,
            &policy.source,
            &policy.pool,
            &policy.unit,
            &policy.text,
        ]
        .map(String::clone)
    });
    let mut rows: Vec<[String; 8]> = of_tariffs.chain(bills::policies(context.plan)).collect();
    if rows.is_empty() {
        context.publication.remove(POLICIES);
        return Ok(());
    }
    rows.sort();
    let of = |at: usize| texts(rows.iter().map(|row| row.get(at)));
    let batch = schema::dataset("policy")?.batch((0..8).map(of).collect())?;
    let mut table = LakeTable::create(context.publication, "policy", POLICIES)?;
    table.write(&batch)?;
    table.finish(&[])?;
    Ok(())
}
