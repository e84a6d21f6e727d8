//! `corrections`, row by row: what each took and gave against its entries in `usage_part`, and who signed what against what was
//! signed when it was applied.

use std::collections::BTreeSet;

use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_select::filter::filter_record_batch;

use super::difference::Compared;
use super::recomputation::{READ_ROWS, Recomputation, RecomputedFindings};
use crate::error::Result;
use crate::run::corrections::{CorrectionEntries, PATH};
use crate::schema::batch::text;
use crate::store::{Fact, lake, read_table};
use crate::summarise::group::Groups;

/// The key of its rows.
const KEYS: [&str; 7] = [
    "correction_id",
    "entry",
    "site",
    "record_month",
    "month",
    "vo",
    "account",
];

/// Compares `corrections` with what is signed and what the contributions hold of it.
pub(super) fn check(of: &Recomputation<'_>) -> Result<RecomputedFindings> {
    Recomputation::found(PATH, || {
        let mut findings: RecomputedFindings = unsigned(of)
            .map(|problem| (PATH.to_owned(), problem))
            .into_iter()
            .collect();
        let computed = computed(of)?;
        if let Some(problem) = of.compare(PATH, "corrections", Some(&computed), &Compared::all(&KEYS))? {
            findings.push((PATH.to_owned(), problem));
        }
        Ok(findings)
    })
}

/// The first row that differs from the signed one.
fn unsigned(of: &Recomputation<'_>) -> Option<String> {
    let signed = of.manifest.facts.get(Fact::Corrections)?;
    let reported = of.corrections.table().signed();
    if reported.is_empty() || reported == signed {
        return None;
    }
    let (mut signed, mut reported) = (signed.lines(), reported.lines());
    loop {
        let (was, is) = (signed.next(), reported.next());
        if was != is {
            let id = is.or(was).and_then(|line| line.split('\t').next()).unwrap_or("");
            return Some(format!("correction {id} is not what was signed"));
        }
    }
}

/// The rows that the contributions come to.
fn computed(of: &Recomputation<'_>) -> Result<RecordBatch> {
    let table = of.corrections.table();
    let mut entries = CorrectionEntries::default();
    let parts = of.manifest.dataset("usage_part").filter(|_| !table.rows.is_empty());
    for file in parts {
        let Some(place) = lake::parse_month_path(&file.path) else {
            continue;
        };
        let mut groups = Groups::default();
        for batch in read_table(of.store.reader(&file.path)?, None, READ_ROWS)? {
            let batch = batch?;
            let corrections = text(&batch, "correction_id")?;
            if corrections.null_count() < batch.num_rows() {
                let is_entry: BooleanArray = (0..batch.num_rows())
                    .map(|row| Some(corrections.is_valid(row)))
                    .collect();
                groups.add_batch(&filter_record_batch(&batch, &is_entry)?)?;
            }
        }
        entries.add_part(table, &place, &groups.into_sorted())?;
    }
    entries.batch(table, &charged(of)?)
}

/// The corrections that charges have entries of: a reservation or a share of nodes is charged, and is not usage.
fn charged(of: &Recomputation<'_>) -> Result<BTreeSet<String>> {
    let mut ids = BTreeSet::new();
    for file in of.manifest.dataset("charge_part") {
        for batch in read_table(of.store.reader(&file.path)?, Some(&["correction_id"]), READ_ROWS)? {
            let batch = batch?;
            ids.extend(text(&batch, "correction_id")?.iter().flatten().map(str::to_owned));
        }
    }
    Ok(ids)
}
