//! Datasets computed again from what the lake keeps of their making, and compared with what is published.
//!
//! `records` and `summary` give `usage_part` and, under the policies that the lake keeps, `job_charges`; `job_charges` give
//! `charge_part`; the parts give `usage` and `charges`, and both what `corrections` came to. So a value that was changed anywhere behind `records` is found,
//! whatever vouches for it. The content of `records`, `summary` and the inventory is proven only by the input files.

use std::fmt;

use serde::Serialize;

use super::recomputation::{Recomputation, RecomputedFindings};
use super::{added_up, corrections, of_records};
use crate::error::{Kind, Result};
use crate::lake::refused_records::RefusedRecords;
use crate::lake::tariffs::LakeTariffs;
use crate::lake::views::Views;
use crate::lake::{calendar_fact, energy_tables};
use crate::normalise::plan::NormalisePlan;
use crate::numbers::count_u64;
use crate::store::{Manifest, Store};
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
    let rules = calendar_fact::rule(&manifest.facts).and_then(|rule| {
        Ok((
            rule,
            Corrections::read(store, manifest)?,
            LakeTariffs::read(store, manifest)?,
        ))
    });
    let (rule, signed, lake_tariffs) = match rules {
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
        tariffs: lake_tariffs.tariffs,
        unreadable: lake_tariffs.unreadable,
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
    report
        .findings
        .extend(crate::overhead::node_energy::verify(store, manifest)?);
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
        counted("node_energy", "energy_table, overhead and records"),
    ];
    report.recomputed.extend(all.into_iter().flatten());
    Ok(report)
}
