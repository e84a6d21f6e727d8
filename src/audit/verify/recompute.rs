//! Datasets computed again from what the lake keeps of their making, and compared with what is published.
//!
//! `records` and `summary` give `usage_part` and, under the policies that the lake keeps, `job_charges`; `job_charges` give
//! `charge_part`; the parts give `usage` and `charges`, and both what `corrections` came to. So a value that was changed anywhere behind `records` is found,
//! whatever vouches for it. The content of `records`, `summary` and the inventory is proven only by the input files.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::recomputation::{READ_ROWS, Recomputation, RecomputedFindings};
use super::{added_up, corrections, of_records};
use crate::charge::Tariff;
use crate::error::{Error, Kind, Result};
use crate::lake::refused_records::RefusedRecords;
use crate::lake::views::Views;
use crate::lake::{calendar_fact, energy_tables};
use crate::normalise::plan::NormalisePlan;
use crate::numbers::count_u64;
use crate::overhead::bills;
use crate::schema::batch::text;
use crate::store::{Manifest, Store, read_table};
use crate::summarise::correction_effect::Corrections;

/// A dataset that was computed again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Recomputed {
    /// The dataset.
    pub dataset: &'static str,
    /// The datasets it was computed from.
    pub from: &'static str,
    /// Files compared.
    pub file_n: u64,
}

impl fmt::Display for Recomputed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} from {}, {} files", self.dataset, self.from, self.file_n)
    }
}

/// What came of computing again.
#[derive(Default)]
pub(super) struct RecomputeOutcome {
    /// What is not as it was computed.
    pub(super) findings: RecomputedFindings,
    /// What was compared.
    pub(super) recomputed: Vec<Recomputed>,
    /// What could not be computed, and why.
    pub(super) not_recomputed: Vec<String>,
}

/// Recomputes every dataset whose inputs are in the lake, and reports where a file differs.
pub(super) fn check(
    store: &Store,
    manifest: &Manifest,
    refused: &RefusedRecords,
    displaced: &Views,
) -> Result<RecomputeOutcome> {
    let mut report = RecomputeOutcome::default();
    let rules = calendar_fact::rule(&manifest.facts)
        .and_then(|rule| Ok((rule, Corrections::read(store, manifest)?, tariffs(store, manifest)?)));
    let (rule, signed, (tariffs, unreadable)) = match rules {
        Ok(rules) => rules,
        Err(why) if why.kind() == Kind::Io => return Err(why),
        Err(why) => {
            report.not_recomputed.push(format!("usage and charges: {why}"));
            return Ok(report);
        }
    };
    let energy = energy_tables::read(store, manifest)?;
    let lake = Recomputation {
        store,
        manifest,
        refused,
        displaced,
        corrections: signed,
        rule,
        normalise: NormalisePlan::stated(),
        energy,
        tariffs,
        unreadable,
    };
    for policy in &lake.unreadable {
        let left = format!("job_charges: {policy}");
        report.not_recomputed.push(left);
    }
    if manifest
        .dataset("job_charges")
        .any(|file| crate::store::lake::parse_bill_path(&file.path).is_some())
    {
        let left = "job_charges/*/overhead-*: shares of nodes are compared as sums per site, month, unit and pool";
        report.not_recomputed.push(left.to_owned());
    }
    let counted = |dataset: &'static str, from: &'static str| {
        let file_n = count_u64(manifest.dataset(dataset).count());
        (file_n > 0).then_some(Recomputed { dataset, from, file_n })
    };
    report.findings.extend(of_records::check(&lake)?);
    report.findings.extend(added_up::check(&lake)?);
    report.findings.extend(corrections::check(&lake)?);
    let priced = lake
        .is_priced()
        .then(|| counted("job_charges", "records, policy and corrections"));
    let all = [
        counted("usage_part", "records, summary and corrections"),
        counted("usage", "usage_part"),
        counted("corrections", "usage_part and charge_part"),
        priced.flatten(),
        counted("charge_part", "job_charges"),
        counted("charges", "charge_part"),
    ];
    report.recomputed.extend(all.into_iter().flatten());
    Ok(report)
}

/// The policies by which jobs are charged, in their order, and those that cannot be read.
fn tariffs(store: &Store, manifest: &Manifest) -> Result<(Vec<Arc<Tariff>>, Vec<String>)> {
    let (mut tariffs, mut unreadable) = (BTreeMap::new(), Vec::new());
    for file in manifest.dataset("policy") {
        for batch in read_table(store.reader(&file.path)?, None, READ_ROWS)? {
            let batch = batch?;
            let of = |name: &str| text(&batch, name);
            let (ids, versions, options, texts) = (of("id")?, of("version")?, of("options")?, of("text")?);
            for row in (0..batch.num_rows()).filter(|row| !bills::is_policy(ids.value(*row))) {
                let key = [ids, versions, options].map(|column| column.value(row).to_owned());
                match Tariff::restored(&file.path, texts.value(row), options.value(row)) {
                    Ok(tariff) => {
                        let reported = [&tariff.policy.id, &tariff.policy.version, &tariff.chosen];
                        if reported.into_iter().ne(&key) {
                            let why = "the text of a policy is not that of its name";
                            return Err(Error::new(Kind::Data, why).at("policy", key.join(" ")));
                        }
                        tariffs.insert(key, Arc::new(tariff));
                    }
                    Err(why) => unreadable.push(format!("policy {}: {why}", key.join(" "))),
                }
            }
        }
    }
    Ok((tariffs.into_values().collect(), unreadable))
}
