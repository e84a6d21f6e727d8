//! The jobs behind a cell of `charges`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Serialize;

use crate::amounts::{add, total};
use crate::charge::amount::CHARGE_SCALE;
use crate::diagnostics::did_you_mean;
use crate::error::{Error, Kind, Result};
use crate::reference::decimal::text as amount;
use crate::schema::batch::{addend, decimal, int, number, text, word};
use crate::store::{Manifest, lake, read_table};

/// One job's part of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Contributor {
    /// Job id.
    pub job_id: String,
    /// Account.
    pub account: Option<String>,
    /// What it was charged.
    pub charge: String,
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
    /// What all of them were charged.
    pub charge: String,
    /// Those charged most, the most first.
    pub top: Vec<Contributor>,
}

/// A job and who pays for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ChargedJob {
    job_id: String,
    account: Option<String>,
}

/// By policy, version, options and unit: charges by job and account.
type Payers = BTreeMap<[String; 4], BTreeMap<ChargedJob, i128>>;

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
    let mut reassignments = Payers::new();
    for file in manifest.dataset("job_charges") {
        if lake::parse_month_path(&file.path).is_none_or(|of| of.site != site) {
            continue;
        }
        for batch in read_table(store.reader(&file.path)?, None, 16_384)? {
            let batch = batch?;
            let of = |name: &str| text(&batch, name);
            let keys = [of("policy")?, of("policy_version")?, of("options")?, of("unit")?];
            let (jobs, accounts, vos) = (of("job_id")?, of("account")?, of("vo")?);
            let (years, charge) = (int(&batch, "allocation_year")?, decimal(&batch, "charge")?);
            for row in 0..batch.num_rows() {
                if years.value(row) != year || word(vos, row) != vo.as_deref() {
                    continue;
                }
                let key = keys.map(|column| column.value(row).to_owned());
                let job = ChargedJob {
                    job_id: jobs.value(row).to_owned(),
                    account: word(accounts, row).map(str::to_owned),
                };
                let sum = reassignments.entry(key).or_default().entry(job).or_default();
                add(sum, addend(number(charge, row)), "charge")?;
            }
        }
    }
    reassignments
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
    jobs: BTreeMap<ChargedJob, i128>,
    top: usize,
) -> Result<ExplainedCell> {
    let mut sorted: Vec<(ChargedJob, i128)> = jobs.into_iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let sum = total(sorted.iter().map(|(_, charge)| *charge), "charge")?;
    Ok(ExplainedCell {
        policy,
        version,
        options,
        unit,
        job_n: sorted.len(),
        charge: amount(sum, CHARGE_SCALE),
        top: sorted
            .into_iter()
            .take(top)
            .map(|(job, charge)| Contributor {
                job_id: job.job_id,
                account: job.account,
                charge: amount(charge, CHARGE_SCALE),
            })
            .collect(),
    })
}

impl ExplainedCell {
    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let gap = if self.options.is_empty() { "" } else { " " };
        let mut text = format!(
            "{} {}{gap}{}: {} {} of {} jobs\n",
            self.policy, self.version, self.options, self.charge, self.unit, self.job_n
        );
        for job in &self.top {
            let account = job.account.as_deref().unwrap_or("no account");
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {:>24}  job {} ({account})", job.charge, job.job_id);
        }
        text
    }
}
