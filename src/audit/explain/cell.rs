//! The jobs behind a cell of `charges`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Serialize;

use crate::amounts::{add, add_known, total};
use crate::charge::amount::CHARGE_SCALE;
use crate::diagnostics::did_you_mean;
use crate::error::{Error, Kind, Result};
use crate::reference::decimal::text as amount;
use crate::schema::batch::{decimal, id, int, number, text, word};
use crate::store::{Manifest, lake, read_table};

/// One job's part of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Contributor {
    /// Job id.
    pub job_id: String,
    /// Cluster: each numbers its jobs by itself.
    pub cluster: Option<String>,
    /// Account.
    pub account: Option<String>,
    /// What it was charged; `None` when that is unknown.
    pub charge: Option<String>,
    /// Why it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_unpriced: Option<String>,
}

/// What one policy charged in a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedCell {
    /// Policy.
    pub policy: String,
    /// Version.
    pub version: String,
    /// Options chosen.
    pub options: String,
    /// Unit.
    pub unit: String,
    /// Jobs, charged in whole or in part.
    pub job_n: usize,
    /// Jobs whose charge is unknown.
    pub unpriced_job_n: usize,
    /// What all of them were charged.
    pub charge: String,
    /// Those charged most, the most first, and behind them those whose charge is unknown.
    pub top: Vec<Contributor>,
}

/// A job and who pays for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ChargedJob {
    job_id: String,
    cluster: Option<String>,
    account: Option<String>,
    /// Identity of its record: a job number comes again over the years.
    record_id: Vec<u8>,
}

/// What a cell has of a job under one payer.
#[derive(Clone, Debug, Default)]
struct CellShare {
    /// `None` while no charge is known.
    charge: Option<i128>,
    why_unpriced: Option<String>,
    /// Jobs, priced and not, and core and GPU time: all zero where corrections take back all that was charged.
    counted: [i64; COUNTED.len()],
    is_corrected: bool,
}

/// The columns of `job_charges` that a correction takes back with a charge.
const COUNTED: [&str; 5] = [
    "job_n",
    "unpriced_job_n",
    "alloc_core_s",
    "alloc_core_fraction_ms",
    "alloc_gpu_s",
];

impl CellShare {
    /// Whether corrections moved all of it to another payer, or took it back.
    fn is_taken_back(&self) -> bool {
        self.is_corrected && self.charge.is_none_or(|charge| charge == 0) && self.counted.iter().all(|sum| *sum == 0)
    }
}

/// By policy, version, options and unit: what was charged, by job and account.
type Payers = BTreeMap<[String; 4], BTreeMap<ChargedJob, CellShare>>;

/// The records behind `path`, a file of `charges` as the lake names it, or the folder it is in: by policy, with the
/// `top` jobs of each.
///
/// # Errors
/// [`Kind::NoInput`] when there is no lake, or no such cell in it.
pub fn cell(output: &str, path: &str, top: usize) -> Result<Vec<ExplainedCell>> {
    let (store, manifest) = Manifest::open(output)?;
    let wanted = path.trim_end_matches('/');
    let is_there = manifest
        .dataset("charges")
        .any(|file| file.path == wanted || file.path.starts_with(&format!("{wanted}/")));
    let Some((site, vo, year)) = lake::parse_usage_path(&format!("{wanted}/")).filter(|_| is_there) else {
        return Err(no_cell(output, &manifest, "charges", wanted));
    };
    let mut payers = Payers::new();
    for file in manifest.dataset("job_charges") {
        if lake::parse_month_path(&file.path).is_none_or(|of| of.site != site) {
            continue;
        }
        for batch in read_table(store.reader(&file.path)?, None, 16_384)? {
            let batch = batch?;
            let of = |name: &str| text(&batch, name);
            let keys = [of("policy")?, of("policy_version")?, of("options")?, of("unit")?];
            let (jobs, clusters, accounts, vos) = (of("job_id")?, of("cluster")?, of("account")?, of("vo")?);
            let (whys, corrections) = (of("why_unpriced")?, of("correction_id")?);
            let (years, charge) = (int(&batch, "allocation_year")?, decimal(&batch, "charge")?);
            let ids = id(&batch, "record_id")?;
            let counted = COUNTED.iter().map(|name| int(&batch, name));
            let counted = counted.collect::<Result<Vec<_>>>()?;
            for row in 0..batch.num_rows() {
                if years.value(row) != year || word(vos, row) != vo.as_deref() {
                    continue;
                }
                let key = keys.map(|column| column.value(row).to_owned());
                let job = ChargedJob {
                    job_id: jobs.value(row).to_owned(),
                    cluster: word(clusters, row).map(str::to_owned),
                    account: word(accounts, row).map(str::to_owned),
                    record_id: ids.value(row).to_vec(),
                };
                let share = payers.entry(key).or_default().entry(job).or_default();
                add_known(&mut share.charge, number(charge, row), "charge")?;
                for ((sum, column), name) in share.counted.iter_mut().zip(&counted).zip(COUNTED) {
                    add(sum, column.value(row), name)?;
                }
                share.is_corrected |= word(corrections, row).is_some();
                if let Some(why) = word(whys, row) {
                    share.why_unpriced = Some(why.to_owned());
                }
            }
        }
    }
    payers
        .into_iter()
        .map(|(key, jobs)| of_policy(key, jobs, top))
        .collect()
}

/// That a lake has no such cell, with the one whose name is nearest.
pub(crate) fn no_cell(output: &str, manifest: &Manifest, dataset: &str, wanted: &str) -> Error {
    let folders = manifest.dataset(dataset).filter_map(|file| file.path.rsplit_once('/'));
    let folders: BTreeSet<&str> = folders.map(|(folder, _)| folder).collect();
    let hint = did_you_mean(wanted, folders);
    Error::new(Kind::NoInput, format!("{output} has no {wanted}{hint}"))
}

fn of_policy(
    [policy, version, options, unit]: [String; 4],
    jobs: BTreeMap<ChargedJob, CellShare>,
    top: usize,
) -> Result<ExplainedCell> {
    let mut sorted: Vec<(ChargedJob, CellShare)> =
        jobs.into_iter().filter(|(_, share)| !share.is_taken_back()).collect();
    // What is unknown is below every charge.
    sorted.sort_by(|a, b| b.1.charge.cmp(&a.1.charge).then_with(|| a.0.cmp(&b.0)));
    let sum = total(sorted.iter().filter_map(|(_, share)| share.charge), "charge")?;
    // A job of several payers is one job.
    let job_n = |is_priced: bool| {
        let of = sorted.iter().filter(|(_, share)| share.charge.is_some() == is_priced);
        of.map(|(job, _)| job.record_id.as_slice())
            .collect::<BTreeSet<_>>()
            .len()
    };
    Ok(ExplainedCell {
        policy,
        version,
        options,
        unit,
        job_n: job_n(true),
        unpriced_job_n: job_n(false),
        charge: amount(sum, CHARGE_SCALE),
        top: sorted
            .into_iter()
            .take(top)
            .map(|(job, share)| Contributor {
                job_id: job.job_id,
                cluster: job.cluster,
                account: job.account,
                charge: share.charge.map(|charge| amount(charge, CHARGE_SCALE)),
                why_unpriced: share.why_unpriced.filter(|_| share.charge.is_none()),
            })
            .collect(),
    })
}

impl ExplainedCell {
    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let gap = if self.options.is_empty() { "" } else { " " };
        let unpriced = match self.unpriced_job_n {
            0 => String::new(),
            n => format!(", and {n} whose charge is unknown"),
        };
        let mut text = format!(
            "{} {}{gap}{}: {} {} of {} jobs{unpriced}\n",
            self.policy, self.version, self.options, self.charge, self.unit, self.job_n
        );
        for job in &self.top {
            let account = job.account.as_deref().unwrap_or("no account");
            let cluster = job.cluster.as_ref();
            let cluster = cluster.map_or_else(String::new, |cluster| format!(" of {cluster}"));
            let why = job
                .why_unpriced
                .as_ref()
                .map_or_else(String::new, |why| format!(": {why}"));
            let charge = job.charge.as_deref().unwrap_or("unknown");
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {charge:>24}  job {}{cluster} ({account}){why}", job.job_id);
        }
        text
    }
}
