//! Verifies the published use of awards: parts against the charges of their month, and use computed again from parts.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::Array;

use crate::amounts::add;
use crate::award::use_rows::AwardUse;
use crate::charge::charged_view::is_counted;
use crate::error::Result;
use crate::lake::{award_tables, calendar_fact};
use crate::record::SiteMonth;
use crate::schema::batch::{addend, decimal, int, number, text};
use crate::store::{Manifest, Store, lake, read_table};
use crate::time::Calendar;

const BATCH_ROWS: usize = 16_384;

/// What parts are compared by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ChargedPlace {
    place: SiteMonth,
    policy: String,
    options: String,
}

/// Core seconds without a price, charge in billionths, jobs, jobs without a price, core seconds, what they leave, and GPU seconds.
type ChargedSums = BTreeMap<ChargedPlace, [i128; 7]>;

/// Compares the use of awards with what it follows from. Gives (path, problem).
///
/// # Errors
/// [`crate::error::Kind::Io`] when a file cannot be read.
pub(crate) fn verify(store: &Store, manifest: &Manifest) -> Result<Vec<(String, String)>> {
    let mut findings = Vec::new();
    let Some(plan) = award_tables::of_lake(store, manifest)? else {
        for dataset in ["award_use", "award_part", "awards"] {
            if let Some(file) = manifest.dataset(dataset).next() {
                findings.push((file.path.clone(), "the lake has no entries of awards".to_owned()));
            }
        }
        return Ok(findings);
    };
    let (charged, parts) = (
        sums(store, manifest, "job_charges")?,
        sums(store, manifest, "award_part")?,
    );
    for place in charged.keys().chain(parts.keys()).collect::<BTreeSet<_>>() {
        let (jobs, part) = (charged.get(place), parts.get(place));
        if jobs != part {
            let ChargedPlace { place, policy, options } = place;
            findings.push((
                lake::month_path("award_part", &place.site, place.month),
                format!("{policy} {options}: holds {part:?}, charged was {jobs:?}"),
            ));
        }
    }
    let rule = calendar_fact::rule(&manifest.facts)?;
    let mut by_site: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for file in manifest.dataset("award_part") {
        if let Some(SiteMonth { site, .. }) = lake::parse_month_path(&file.path) {
            by_site.entry(site).or_default().push(&file.path);
        }
    }
    let mut met = BTreeSet::new();
    for (site, files) in by_site {
        let calendar = Calendar::new(rule.zone.clone(), rule.grain, rule.year_start);
        let mut used = AwardUse::new(&plan, &site, calendar);
        for path in files {
            for batch in read_table(store.reader(path)?, None, BATCH_ROWS)? {
                used.add(&batch?)?;
            }
        }
        for (year, expected) in used.into_batches()? {
            let path = lake::award_use_path(&site, year);
            let is_published = manifest.dataset("award_use").any(|file| file.path == path);
            let is_same = is_published && {
                let batches = read_table(store.reader(&path)?, None, expected.num_rows().max(1))?;
                let batches = batches.collect::<Result<Vec<_>>>()?;
                arrow_select::concat::concat_batches(&expected.schema(), &batches)? == expected
            };
            if !is_same {
                findings.push((
                    path.clone(),
                    "is not what the charges come to for the awards".to_owned(),
                ));
            }
            met.insert(path);
        }
    }
    for file in manifest.dataset("award_use").filter(|file| !met.contains(&file.path)) {
        findings.push((
            file.path.clone(),
            "no charge is of this site and allocation year".to_owned(),
        ));
    }
    Ok(findings)
}

fn sums(store: &Store, manifest: &Manifest, dataset: &str) -> Result<ChargedSums> {
    let mut sums = ChargedSums::new();
    for file in manifest.dataset(dataset) {
        let Some(place) = lake::parse_month_path(&file.path) else {
            continue;
        };
        for batch in read_table(store.reader(&file.path)?, None, BATCH_ROWS)? {
            let batch = batch?;
            let charged = if dataset == "award_part" {
                None
            } else {
                Some([text(&batch, "subject")?, text(&batch, "view")?])
            };
            let (policy, options) = (text(&batch, "policy")?, text(&batch, "options")?);
            let (charge, core_s) = (decimal(&batch, "charge")?, int(&batch, "alloc_core_s")?);
            let counted = [
                "job_n",
                "unpriced_job_n",
                "alloc_core_s",
                "alloc_core_fraction_ms",
                "alloc_gpu_s",
            ];
            let counted = counted.map(|name| int(&batch, name));
            let counted = counted.into_iter().collect::<Result<Vec<_>>>()?;
            for row in 0..batch.num_rows() {
                if charged.is_some_and(|[subject, view]| !is_counted(subject.value(row), view.value(row))) {
                    continue;
                }
                let key = ChargedPlace {
                    place: place.clone(),
                    policy: policy.value(row).to_owned(),
                    options: options.value(row).to_owned(),
                };
                let [unpriced_core_s, charged, rest @ ..] = sums.entry(key).or_default();
                if charge.is_null(row) {
                    *unpriced_core_s += i128::from(core_s.value(row));
                }
                add(charged, addend(number(charge, row)), "charge")?;
                for (sum, column) in rest.iter_mut().zip(&counted) {
                    *sum += i128::from(column.value(row));
                }
            }
        }
    }
    Ok(sums)
}
