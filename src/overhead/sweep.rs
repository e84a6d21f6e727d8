//! The sweep of a run: which sites and months of overhead are rebuilt.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::facts;
use super::facts::{LISTING_RULES, RECORD_RULES};
use super::rows::DATASETS;
use crate::config::Plan;
use crate::config::overhead_plan::OverheadPlan;
use crate::runtime::progress::Progress;
use crate::store::lake::parse_overhead_path;
use crate::store::{Publication, lake};
use crate::time::calendar::Period;
use crate::time::{Day, YearStart};

/// What the room works with.
pub(crate) struct Sweep<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) publication: &'a Publication,
    /// Ids of the input files that are there now.
    pub(crate) present: BTreeSet<Arc<str>>,
    pub(crate) threads: usize,
    /// Bytes kept in memory before they go to a temporary file.
    pub(crate) memory_byte_n: usize,
    pub(crate) progress: &'a dyn Progress,
}

/// What a sweep takes besides the records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Basis {
    pub(crate) overhead: OverheadPlan,
    pub(crate) calendar_timezone: String,
    pub(crate) allocation_year_start: YearStart,
    /// Listings without a date that were there: paths in the lake.
    pub(crate) listings: BTreeSet<String>,
    /// By name of an inventory: whether its listings name all nodes, where the pipeline sets it.
    #[serde(default)]
    pub(crate) complete: BTreeMap<String, bool>,
}

pub(crate) fn settings(plan: &Plan) -> Option<String> {
    let overhead = plan.overhead.as_ref()?;
    let made = DATASETS.into_iter().chain(["charge_part"]);
    let versions = made.map(|name| crate::schema::dataset(name).map_or(0, |dataset| dataset.version));
    let versions: Vec<u32> = versions.collect();
    let text = overhead.canonical(&plan.calendar_zone, plan.allocation_year_start);
    let (grain, complete) = (plan.grain, &plan.complete);
    Some(
        blake3::hash(
            format!(
                "{text} {grain:?} {versions:?} {} {LISTING_RULES} {RECORD_RULES} {complete:?}",
                facts::VERSION
            )
            .as_bytes(),
        )
        .to_hex()
        .to_string(),
    )
}

/// What the published files are of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SweepPlace {
    pub(crate) site: String,
    /// The first day of the month.
    pub(crate) month: Day,
    pub(crate) allocation_year: i64,
}

pub(crate) fn place(site: &str, period: &Period) -> SweepPlace {
    SweepPlace {
        site: site.to_owned(),
        month: period.month,
        allocation_year: period.allocation_year,
    }
}

pub(crate) fn published(publication: &Publication) -> BTreeSet<SweepPlace> {
    let files = publication
        .published()
        .into_iter()
        .flat_map(|manifest| DATASETS.into_iter().flat_map(|name| manifest.dataset(name)));
    files
        .filter_map(|file| parse_overhead_path(&file.path))
        .map(|(site, allocation_year, month)| SweepPlace {
            site,
            month: month.first_day(),
            allocation_year,
        })
        .collect()
}

pub(crate) fn remove(publication: &Publication, place: &SweepPlace) {
    for dataset in DATASETS {
        publication.remove(&lake::overhead_path(
            dataset,
            &place.site,
            place.allocation_year,
            place.month,
        ));
    }
}
