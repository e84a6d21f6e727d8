//! The overhead datasets: which of them a run has to make again, and how they are made.
//!
//! A site's months are swept one after the other. A month is made again when jobs of the run reach into it, when it is at
//! an edge of what was published, or when nobody has made it; all of them when the settings or the machine changed, and
//! always when the jobs themselves say what nodes have. Of the records only those files are read that reach into such a
//! month; what each of them spans is remembered by its hash.

mod bill_pile;
mod bill_rows;
pub(super) mod bills;
mod check;
mod explain;
mod finding;
mod jobs;
mod life;
mod machine;
mod node_history;
pub mod plan;
mod record_files;
pub(super) mod rows;
mod site;
mod stage;
mod waiting;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use self::jobs::join;
use self::machine::Machine;
use self::plan::{NodesFrom, OverheadPlan};
use self::record_files::{RecordFile, displace, reach_of_touched, record_files, with_nodes};
use self::rows::DATASETS;
use super::corrections;
use super::progress::Progress;
use super::state::State;
use crate::error::{Error, Result};
use crate::occupancy::Resources;
use crate::pipeline::Plan;
use crate::pipeline::plan::Grain;
use crate::reference::correction::Correction;
use crate::store::lake::{self, parse_overhead_path};
use crate::store::{Publication, Store, read_table};
use crate::time::calendar::Period;
use crate::time::{Calendar, Day, Month, Zone};

pub(super) use check::verify;
pub(super) use explain::{Lines, explain};

/// The settings the published datasets were made under.
const SETTINGS_FACT: &str = "overhead";
/// What was known of the machine then.
const MACHINE_FACT: &str = "overhead machine";
/// Sites and months whose jobs ran and are billed nothing.
const DISPLACED_FACT: &str = "overhead displaced";
/// What a sweep takes besides the records, so that one number of it can be worked out again.
const BASIS_FACT: &str = "overhead basis";
/// What files of records span, by the hash of their bytes.
const REACH_FACT: &str = "overhead reach";
/// Rows read at once.
const READ_ROWS: usize = 65_536;

/// What a run did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OverheadReport {
    /// Months of sites that were swept.
    pub month_n: u64,
    /// Nodes swept in them, each counted once per month.
    pub node_month_n: u64,
    /// Jobs on nodes in them, each counted once per month.
    pub interval_n: u64,
    /// Jobs that waited in them, each counted once per month.
    pub wait_n: u64,
    /// Jobs in them that are billed nothing, because summaries of the same site, month and view count in their place;
    /// each counted once per month.
    pub displaced_job_n: u64,
    /// Jobs left out because they say that they held their nodes for more than five years.
    pub too_long_job_n: u64,
    /// The first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_too_long_job: Option<String>,
    /// Findings by kind.
    pub findings: BTreeMap<String, u64>,
    /// Nobody says what nodes have: the most that jobs held stands in.
    pub is_from_jobs: bool,
}

impl OverheadReport {
    /// Whether there is anything to say.
    pub(super) fn has_news(&self) -> bool {
        self.month_n + self.too_long_job_n > 0
    }

    /// The report for people.
    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "  overhead: {} months swept, {} jobs on nodes, {} in queues{}\n",
            self.month_n,
            self.interval_n,
            self.wait_n,
            if self.is_from_jobs {
                ", nodes as large as the most that jobs held at one time"
            } else {
                ""
            }
        );
        if self.displaced_job_n > 0 {
            let job_n = self.displaced_job_n;
            let _ = writeln!(
                text,
                "  {job_n:>12} jobs on nodes billed nothing: summaries count in their place"
            );
        }
        if let Some(job_id) = &self.first_too_long_job {
            let job_n = self.too_long_job_n;
            let _ = writeln!(
                text,
                "  {job_n:>12} jobs left out: more than five years on their nodes (first: job {job_id})"
            );
        }
        for (kind, row_n) in &self.findings {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {row_n:>12} overhead findings: {kind}");
        }
        text
    }
}

/// What the room works with.
pub(super) struct Sweep<'a> {
    plan: &'a Plan,
    store: &'a Store,
    publication: &'a Publication,
    /// Ids of the input files that are there now.
    present: BTreeSet<Arc<str>>,
    threads: usize,
    /// Bytes kept in memory before they go to a temporary file.
    memory_byte_n: usize,
    progress: &'a dyn Progress,
}

impl<'a> Sweep<'a> {
    /// For a plan and a lake, with as many threads and bytes of memory; `present` are the ids of the input files that are there now.
    pub(super) fn new(
        (plan, store, publication): (&'a Plan, &'a Store, &'a Publication),
        present: impl Iterator<Item = Arc<str>>,
        ((threads, memory_byte_n), progress): ((usize, usize), &'a dyn Progress),
    ) -> Self {
        Self {
            plan,
            store,
            publication,
            present: present.collect(),
            threads,
            memory_byte_n,
            progress,
        }
    }
}

/// What a sweep takes besides the records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Basis {
    overhead: OverheadPlan,
    calendar_timezone: String,
    allocation_year_start: (i8, i8),
    /// Listings without a date that were there: paths in the lake.
    listings: BTreeSet<String>,
    /// By name of an inventory: whether its listings name all nodes, where the pipeline says.
    #[serde(default)]
    complete: BTreeMap<String, bool>,
}

fn settings(plan: &Plan) -> Option<String> {
    let overhead = plan.overhead.as_ref()?;
    let versions = DATASETS.map(|name| crate::schema::dataset(name).map_or(0, |dataset| dataset.version));
    let text = overhead.canonical(&plan.calendar_zone, plan.allocation_year_start);
    let (grain, complete) = (plan.grain, &plan.complete);
    Some(
        blake3::hash(
            format!(
                "{text} {grain:?} {versions:?} {} {LISTING_RULES} {complete:?}",
                bills::VERSION
            )
            .as_bytes(),
        )
        .to_hex()
        .to_string(),
    )
}

/// Whether the datasets were made under other settings, or not at all.
pub(super) fn is_changed(plan: &Plan, state: &State) -> bool {
    settings(plan).as_deref() != state.fact(SETTINGS_FACT)
}

/// Sites and months of records that a run works on.
type Partitions = BTreeMap<(String, Month), Vec<Day>>;

/// Stages the datasets that change. `touched` are the sites and months whose records are new; `fresh` are new corrections,
/// by which jobs may have other payers now.
///
/// # Errors
/// [`crate::error::Kind::Config`] when it cannot be told which nodes an inventory lists,
/// [`crate::error::Kind::Data`] when a sum does not fit its column, [`crate::error::Kind::Io`] when the lake cannot be
/// read or written.
pub(super) fn publish(
    sweep: &Sweep<'_>,
    state: &mut State,
    (touched, fresh): (&Partitions, &[Correction]),
    is_rebuild: bool,
) -> Result<Option<OverheadReport>> {
    let published = published(sweep.publication);
    let corrected = corrections::touched(sweep.plan, fresh, state);
    let (Some(overhead), Some(settings)) = (&sweep.plan.overhead, settings(sweep.plan)) else {
        for place in &published {
            remove(sweep.publication, place);
        }
        bills::remove(sweep.publication, |_, _| true);
        for fact in [SETTINGS_FACT, MACHINE_FACT, BASIS_FACT, REACH_FACT, DISPLACED_FACT] {
            state.set_fact(fact, None);
        }
        return Ok(None);
    };
    let resources = Resources::of(&overhead.units);
    let (machine, machine_hash, listings) = machine_of(sweep, &resources)?;
    let is_everything = is_rebuild
        || overhead.nodes == NodesFrom::Jobs
        || state.fact(SETTINGS_FACT) != Some(&settings)
        || state.fact(MACHINE_FACT) != Some(&machine_hash);
    if is_everything {
        bills::remove(sweep.publication, |_, _| true);
        tell_gone(&machine, sweep.progress);
    }
    let mut sites = record_files(sweep, state)?;
    let turned = displace(sweep, state, &mut sites, overhead.is_charged)?;
    let with_nodes = with_nodes(&sites);
    let mut report = OverheadReport {
        is_from_jobs: overhead.nodes == NodesFrom::Jobs,
        ..OverheadReport::default()
    };
    for reach in sites.values().flatten().map(|file| &file.reach) {
        report.too_long_job_n += reach.too_long_n;
        let first = &mut report.first_too_long_job;
        *first = first.take().or_else(|| reach.first_too_long.clone());
    }
    let mut kept: BTreeSet<Place> = BTreeSet::new();
    for site in &with_nodes {
        let Some(files) = sites.get(site) else { continue };
        let of_site: Vec<&Place> = published.iter().filter(|place| place.0 == *site).collect();
        let calendar = (&sweep.plan.calendar_zone, sweep.plan.allocation_year_start);
        let spans = stretches(files.iter().filter_map(|file| file.reach.span));
        let periods: BTreeMap<_, _> = (spans.into_iter())
            .flat_map(|span| periods(calendar, overhead, span))
            .collect();
        kept.extend(periods.keys().map(|period| place(site, period)));
        let fresh = if is_everything {
            Some((i64::MIN, i64::MAX))
        } else {
            let of_others = files.iter().filter(|file| {
                let has_other_payers = corrected.contains(&(site.clone(), file.month));
                let has_turned = turned.contains(&(site.clone(), file.month.first_day()));
                (overhead.is_charged && has_other_payers) || has_turned
            });
            let spans = of_others.filter_map(|file| file.reach.all());
            spans.fold(reach_of_touched(sweep, site, files, touched)?, |all, span| {
                Some(join(all, span))
            })
        };
        let (first, last) = (of_site.first().copied(), of_site.last().copied());
        let due = periods.into_iter().filter(|(period, (from_s, until_s))| {
            let place = place(site, period);
            let is_edge = fresh.is_some() && (first == Some(&place) || last == Some(&place));
            let is_fresh = fresh.is_some_and(|(start_s, end_s)| start_s < *until_s && *from_s < end_s);
            is_fresh || is_edge || !of_site.contains(&&place)
        });
        let due: Vec<_> = due.collect();
        if !due.is_empty() {
            let machine = (overhead.nodes == NodesFrom::Inventory).then_some(&machine);
            site::publish(
                sweep,
                overhead,
                &resources,
                (site, &with_nodes),
                (files, machine),
                due,
                &mut report,
            )?;
        }
    }
    for stale in published.difference(&kept) {
        remove(sweep.publication, stale);
    }
    bills::remove(sweep.publication, |site, (month, year)| {
        !kept.contains(&(site.to_owned(), month, year))
    });
    if report.is_from_jobs && report.month_n > 0 {
        let note =
            "overhead: nodes = \"from-jobs\": what nodes have is the most that jobs held at one time, never more";
        sweep.progress.note(note);
    }
    let basis = Basis {
        overhead: overhead.clone(),
        calendar_timezone: sweep.plan.calendar_zone.name().to_owned(),
        allocation_year_start: sweep.plan.allocation_year_start,
        listings,
        complete: sweep.plan.complete.clone(),
    };
    state.set_fact(SETTINGS_FACT, Some(settings));
    state.set_fact(MACHINE_FACT, Some(machine_hash));
    state.set_fact(BASIS_FACT, Some(to_fact(&basis)?));
    Ok(Some(report))
}

/// Says which nodes are counted no longer, because listings do not name them.
fn tell_gone(machine: &Machine, progress: &dyn Progress) {
    let gone = machine.gone();
    let Some(first) = gone.first() else { return };
    let since = Timestamp::from_second(first.since_s).map_or_else(|_| String::new(), |at| at.to_string());
    let cluster = first.cluster.as_deref().unwrap_or("the cluster");
    progress.note(&format!(
        "overhead: {} nodes that later listings do not name are counted until then (first: {} of {cluster} until {since}); \
         if listings name only some of the nodes, say complete = false in their [[inventory]]",
        gone.len(),
        first.node,
    ));
}

/// Site, month and allocation year of the published files.
type Place = (String, Day, i64);

fn place(site: &str, period: &Period) -> Place {
    (site.to_owned(), period.month, period.allocation_year)
}

fn published(publication: &Publication) -> BTreeSet<Place> {
    let files = publication
        .published()
        .into_iter()
        .flat_map(|manifest| DATASETS.into_iter().flat_map(|name| manifest.dataset(name)));
    files
        .filter_map(|file| parse_overhead_path(&file.path))
        .map(|(site, year, month)| (site, month.first_day(), year))
        .collect()
}

fn remove(publication: &Publication, (site, month, year): &Place) {
    for dataset in DATASETS {
        publication.remove(&lake::overhead_path(dataset, site, *year, *month));
    }
}

fn to_fact<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|why| Error::internal("a fact cannot be written").because(why))
}

/// A fact of an earlier version that no longer reads is none.
fn from_fact<T: DeserializeOwned>(text: Option<&str>) -> Option<T> {
    serde_json::from_str(text?).ok()
}

/// What inventories say, a hash of the files that say it, and which listings without a date are there. Such a listing
/// says what is so now, as long as its file is there; later it says nothing.
fn machine_of(sweep: &Sweep<'_>, resources: &Resources) -> Result<(Machine, String, BTreeSet<String>)> {
    let mut hasher = blake3::Hasher::new();
    let mut files = Vec::new();
    let mut listings = BTreeSet::new();
    for dataset in INVENTORIES {
        for current in sweep.publication.current(dataset) {
            let file_id = current
                .path
                .rsplit('/')
                .next()
                .and_then(|name| name.strip_suffix(".parquet"));
            let is_present = file_id.is_some_and(|file_id| sweep.present.contains(file_id));
            hasher.update(current.path.as_bytes()).update(current.blake3.as_bytes());
            hasher.update(&[u8::from(is_present)]);
            if is_present {
                listings.insert(current.path.clone());
            }
            files.push(InventoryFile {
                dataset,
                path: current.path,
                place: current.place,
                is_present,
            });
        }
    }
    let machine = machine_in(sweep.store, files.into_iter(), (resources, &sweep.plan.complete))?;
    Ok((machine, hasher.finalize().to_hex().to_string(), listings))
}

/// Changes when listings come to mean something else: what was made of them is made again.
const LISTING_RULES: u32 = 2;

/// Datasets that say what nodes are.
const INVENTORIES: [&str; 3] = ["node", "node_event", "partition"];

/// A file of what inventories say.
struct InventoryFile {
    dataset: &'static str,
    /// Where it is published.
    path: String,
    /// Where its bytes are.
    place: String,
    /// Whether what has no date in it counts.
    is_present: bool,
}

/// What these files say; by name of an inventory, whether its listings are complete.
fn machine_in(
    store: &Store,
    files: impl Iterator<Item = InventoryFile>,
    (resources, complete): (&Resources, &BTreeMap<String, bool>),
) -> Result<Machine> {
    let mut machine = Machine::default();
    for file in files {
        let batches = read_table(store.reader(&file.place)?, None, READ_ROWS)?;
        if file.dataset == "node" {
            let source = file.path.split('/').nth(1).and_then(crate::store::hive::parse);
            let source = source.and_then(|(_, source)| source).unwrap_or_default();
            let batches = batches.collect::<Result<Vec<_>>>()?;
            machine.add_nodes(&batches, resources, (file.is_present, complete.get(&source).copied()))?;
            continue;
        }
        for batch in batches {
            match file.dataset {
                "node_event" => machine.add_events(&batch?)?,
                _ => machine.add_partitions(&batch?, file.is_present)?,
            }
        }
    }
    Ok(machine)
}

/// The time that these spans cover, in stretches. A pause in which a site has no jobs is part of one; years without any
/// are none of its months.
fn stretches(spans: impl Iterator<Item = (i64, i64)>) -> Vec<(i64, i64)> {
    const PAUSE_S: i64 = 2 * 366 * 86_400;
    let mut spans: Vec<(i64, i64)> = spans.collect();
    spans.sort_unstable();
    let mut found: Vec<(i64, i64)> = Vec::new();
    for span in spans {
        match found.last_mut() {
            Some(last) if span.0.saturating_sub(last.1) <= PAUSE_S => *last = join(Some(*last), span),
            _ => found.push(span),
        }
    }
    found
}

/// The months to be told of: those of the pipeline's period, or of the days jobs span.
fn periods(
    (zone, year_start): (&Zone, (i8, i8)),
    overhead: &OverheadPlan,
    span: (i64, i64),
) -> Vec<(Period, (i64, i64))> {
    let mut days = Calendar::new(zone.clone(), Grain::Day, year_start);
    let mut months = Calendar::new(zone.clone(), Grain::Month, year_start);
    let (from_ms, until_ms) = if let Some((from, to)) = overhead.period {
        (days.begins_ms(from), days.begins_ms(to))
    } else {
        let first = days.period(span.0.saturating_mul(1000));
        let last = days.period((span.1 - 1).saturating_mul(1000));
        let Some((first, last)) = first.zip(last) else {
            return Vec::new();
        };
        (first.from_ms, last.until_ms)
    };
    let mut found = Vec::new();
    let mut at_ms = from_ms;
    while at_ms < until_ms
        && let Some(period) = months.period(at_ms)
    {
        let part = (period.from_ms.max(from_ms) / 1000, period.until_ms.min(until_ms) / 1000);
        found.push((period, part));
        at_ms = period.until_ms;
    }
    found
}
