//! Published charges: what every job costs, and charges added up per VO and allocation year.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::RecordBatch;

use super::partition_context::PartitionContext;
use super::slices::{SliceFiles, UsageSlice, by_year, changed, whole};
use crate::charge::policy::Subject;
use crate::error::Result;
use crate::overhead::bills;
use crate::record::SiteMonth;
use crate::reference::correction::{Action, Correction};
use crate::runtime::pool;
use crate::runtime::scratch::PackedBatch;
use crate::schema;
use crate::schema::batch::{text, texts};
use crate::store::lake::{self, LakeTable};
use crate::store::{Current, read_table};
use crate::summarise::charges::part;
use crate::summarise::years::with_years;
use crate::time::Month;

/// The policy files that charges were computed with.
pub(crate) const POLICIES: &str = "policies/policies.parquet";

/// What one site and month was charged for one subject in this run, and where it is kept. Whatever is charged for hands
/// in such parts; those of all runs together are `charges`.
pub(crate) struct ChargePart {
    path: String,
    /// A `charge_part` batch, packed until `charges` are written: all months of a run wait for the last one. `None` when it
    /// has no rows.
    packed: Option<PackedBatch>,
    /// The corrections it has entries of.
    correction_ids: BTreeSet<String>,
}

impl ChargePart {
    /// Stages what a site and month was charged for a subject, as a `charge_part` batch; takes the file away that held it
    /// when it is nothing.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be staged.
    pub(crate) fn stage(
        context: &PartitionContext<'_>,
        subject: Subject,
        site: &str,
        month: Month,
        rows: Option<RecordBatch>,
    ) -> Result<Self> {
        let path = match subject {
            Subject::Jobs => lake::month_path("charge_part", site, month),
            other => lake::subject_path("charge_part", other.as_str(), site, month),
        };
        let mut correction_ids = BTreeSet::new();
        let packed = if let Some(rows) = rows.filter(|rows| rows.num_rows() > 0) {
            let mut table = LakeTable::create(context.publication, "charge_part", &path)?;
            table.write(&rows)?;
            table.finish(&[("gridtally.plan".to_owned(), context.plan.fingerprint.clone())])?;
            take_ids(&rows, &mut correction_ids)?;
            Some(PackedBatch::pack(&rows)?)
        } else {
            context.publication.remove(&path);
            None
        };
        Ok(Self {
            path,
            packed,
            correction_ids,
        })
    }

    /// Its rows.
    fn rows(&self) -> Result<RecordBatch> {
        let dataset = schema::dataset("charge_part")?;
        let Some(packed) = &self.packed else {
            return Ok(RecordBatch::new_empty(dataset.arrow()));
        };
        let rows = packed.unpack()?;
        dataset.admit(&rows)?;
        Ok(rows)
    }
}

/// The corrections that these parts have entries of, or what jobs are billed of their nodes. Of the bills those are read
/// that a correction may have changed of which no entry was found before.
///
/// # Errors
/// [`crate::error::Kind::Io`] when a bill cannot be read.
pub(crate) fn corrections(context: &PartitionContext<'_>, parts: &[ChargePart]) -> Result<BTreeSet<String>> {
    let mut ids: BTreeSet<String> = parts.iter().flat_map(|part| &part.correction_ids).cloned().collect();
    let rules = context.plan.corrections.iter().flat_map(|table| table.active());
    let rules: Vec<&Correction> = rules.filter(|rule| rule.action != Action::Add).collect();
    if rules.is_empty() {
        return Ok(ids);
    }
    for bill in context.publication.current("charge_part") {
        let place = lake::parse_month_path(&bill.path).zip(lake::parse_bill_path(&bill.path));
        let Some((SiteMonth { site, .. }, (month, _))) = place else {
            continue;
        };
        let is_asked = |rule: &&Correction| rule.is_about(&site, month) && !ids.contains(&rule.id);
        if rules.iter().any(is_asked) {
            for batch in read_table(
                context.publication.reader(&bill.place)?,
                Some(&["correction_id"]),
                16_384,
            )? {
                take_ids(&batch?, &mut ids)?;
            }
        }
    }
    Ok(ids)
}

fn take_ids(rows: &RecordBatch, ids: &mut BTreeSet<String>) -> Result<()> {
    ids.extend(text(rows, "correction_id")?.iter().flatten().map(str::to_owned));
    Ok(())
}

/// The parts of one site.
#[derive(Default)]
struct OfSite {
    /// As they will be.
    current: Vec<Current>,
    /// Paths of published ones that will be no more, or others.
    former: Vec<String>,
}

impl OfSite {
    fn is_changed(&self) -> bool {
        !self.former.is_empty() || self.current.iter().any(is_new)
    }
}

/// Whether a part is not what is published.
fn is_new(part: &Current) -> bool {
    part.place != part.path
}

/// All parts there will be, and those there will be no more, by site.
fn parts_by_site(context: &PartitionContext<'_>) -> BTreeMap<String, OfSite> {
    let mut sites: BTreeMap<String, OfSite> = BTreeMap::new();
    let current = context.publication.current("charge_part");
    let kept: BTreeSet<String> = current.iter().map(|part| part.place.clone()).collect();
    for part in current {
        if let Some(SiteMonth { site, .. }) = lake::parse_month_path(&part.path) {
            sites.entry(site).or_default().current.push(part);
        }
    }
    let published = context.publication.published().into_iter();
    for file in published.flat_map(|manifest| manifest.dataset("charge_part")) {
        if let Some(SiteMonth { site, .. }) = lake::parse_month_path(&file.path).filter(|_| !kept.contains(&file.path))
        {
            sites.entry(site).or_default().former.push(file.path.clone());
        }
    }
    sites
}

/// Publishes the files of `charges` that new and former parts touch, and the policies.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read or written.
pub(crate) fn publish(context: &PartitionContext<'_>, fresh: &[ChargePart], is_everything: bool) -> Result<()> {
    // What this run made need not be read back.
    let fresh: BTreeMap<&str, &ChargePart> = fresh.iter().map(|part| (part.path.as_str(), part)).collect();
    let mut sites: Vec<(String, OfSite)> = parts_by_site(context).into_iter().collect();
    sites.retain(|(_, parts)| parts.is_changed() || is_everything);
    let of_site = context.shared_by(sites.len());
    let kept = pool::each(&sites, context.threads, |(site, parts)| {
        publish_site(&of_site, site, parts, &fresh, is_everything)
    })?;
    if is_everything {
        let kept: BTreeSet<String> = kept.into_iter().flatten().collect();
        let published = context.publication.published();
        for file in published.into_iter().flat_map(|manifest| manifest.dataset("charges")) {
            if !kept.contains(&file.path) {
                context.publication.remove(&file.path);
            }
        }
    }
    publish_policies(context)
}

/// Publishes the files of a site that its parts touch; gives the paths of those that were written.
fn publish_site(
    context: &PartitionContext<'_>,
    site: &str,
    parts: &OfSite,
    fresh: &BTreeMap<&str, &ChargePart>,
    is_everything: bool,
) -> Result<Vec<String>> {
    let dataset = schema::dataset("charge_part")?;
    let read = |place: &str| read_table(context.publication.reader(place)?, None, 16_384);
    let now = |part: &Current| match fresh.get(part.path.as_str()) {
        Some(part) => part.rows(),
        None => whole(dataset, Some(read(&part.place)?)),
    };
    let mut touched: BTreeSet<UsageSlice> = BTreeSet::new();
    // New parts, once they are read.
    let mut made: BTreeMap<&str, RecordBatch> = BTreeMap::new();
    if !is_everything {
        let none = RecordBatch::new_empty(dataset.arrow());
        let before = |path: &String| {
            if parts.former.contains(path) {
                whole(dataset, Some(read(path)?))
            } else {
                Ok(none.clone())
            }
        };
        for part in parts.current.iter().filter(|part| is_new(part)) {
            let rows = now(part)?;
            touched.append(&mut changed(&before(&part.path)?, &rows)?);
            made.insert(&part.path, rows);
        }
        let is_gone = |path: &&String| parts.current.iter().all(|part| part.path != **path);
        for path in parts.former.iter().filter(is_gone) {
            touched.append(&mut changed(&before(path)?, &none)?);
        }
        if touched.is_empty() {
            return Ok(Vec::new());
        }
    }
    let counting = (!is_everything).then_some(&touched);
    let mut batches: Vec<RecordBatch> = Vec::new();
    for part in &parts.current {
        let rows = made.remove(part.path.as_str());
        let rows = rows.map_or_else(|| now(part), Ok)?;
        batches.extend(by_year(&rows, counting)?.into_values());
    }
    let rows = part(&batches).map_err(|why| why.at("site", site))?;
    let files = SliceFiles {
        context,
        dataset: schema::dataset("charges")?,
        site,
        path: lake::charges_path,
    };
    let written = files.write(&with_years(&rows)?)?;
    files.remove(touched.difference(&written));
    Ok(written.iter().map(|of| files.path(of)).collect())
}

fn publish_policies(context: &PartitionContext<'_>) -> Result<()> {
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
