//! Charges against what was added up of them, per policy and to the last digit; and what corrections took against what
//! had been charged.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::Array;

use super::report::VerifyReport;
use crate::amounts::add;
use crate::charge::amount::CHARGE_SCALE;
use crate::error::Result;
use crate::reference::decimal::text as decimal_text;
use crate::schema;
use crate::schema::batch::{addend, date, decimal, id, int, number, text, word};
use crate::store::{Manifest, Store, lake, read_table};
use crate::time::Day;

/// What charges are added up by.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ChargeCheckGroup {
    site: String,
    subject: String,
    policy: String,
    version: String,
    options: String,
}

/// Charge in billionths, jobs charged, jobs without a price, and core seconds and GPU seconds without one.
type ChargeCheckSums = BTreeMap<ChargeCheckGroup, [i128; 5]>;

/// Reports where the sums of single charges, `charge_part` and `charges` differ.
pub(crate) fn check(store: &Store, manifest: &Manifest, report: &mut VerifyReport) -> Result<()> {
    let single = sums(store, manifest, "job_charges", report)?;
    for dataset in ["charge_part", "charges"] {
        let added_up = sums(store, manifest, dataset, report)?;
        for group in single
            .keys()
            .chain(added_up.keys().filter(|group| !single.contains_key(*group)))
        {
            let (one_by_one, here) = (single.get(group), added_up.get(group));
            if one_by_one != here {
                let ChargeCheckGroup {
                    site,
                    subject,
                    policy,
                    version,
                    options,
                } = group;
                let (here, one_by_one) = (in_words(here), in_words(one_by_one));
                report.find(
                    dataset,
                    format!("{site}, {policy} {version} {options}: holds {here}; its {subject}: {one_by_one}"),
                );
            }
        }
    }
    refunds(store, manifest, report)
}

/// Sums for people.
fn in_words(sums: Option<&[i128; 5]>) -> String {
    let Some([charge, job_n, unpriced_n, core_s, gpu_s]) = sums else {
        return "no charges".to_owned();
    };
    let charge = decimal_text(*charge, CHARGE_SCALE);
    format!("charge {charge}, {job_n} charged, {unpriced_n} without a price ({core_s} core s, {gpu_s} GPU s)")
}

fn sums(store: &Store, manifest: &Manifest, dataset: &str, report: &mut VerifyReport) -> Result<ChargeCheckSums> {
    let declared = schema::dataset(dataset)?;
    let mut sums = ChargeCheckSums::new();
    for file in manifest.dataset(dataset) {
        let site = if dataset == "charges" {
            lake::parse_usage_path(&file.path).map(|(site, ..)| site)
        } else {
            lake::parse_month_path(&file.path).map(|of| of.site)
        };
        let Some(site) = site else {
            report.find(&file.path, "the path names no site");
            continue;
        };
        for batch in read_table(store.reader(&file.path)?, None, 16_384)? {
            let batch = batch?;
            if let Err(why) = declared.admit(&batch) {
                report.find(&file.path, why.to_string());
                break;
            }
            let (policy, version) = (text(&batch, "policy")?, text(&batch, "policy_version")?);
            let (options, charge) = (text(&batch, "options")?, decimal(&batch, "charge")?);
            let (priced, unpriced) = (int(&batch, "job_n")?, int(&batch, "unpriced_job_n")?);
            let (cores, gpus) = (int(&batch, "alloc_core_s")?, int(&batch, "alloc_gpu_s")?);
            let subject = text(&batch, "subject")?;
            for row in 0..batch.num_rows() {
                let of = |column: &arrow_array::StringArray| column.value(row).to_owned();
                let group = ChargeCheckGroup {
                    site: site.clone(),
                    subject: of(subject),
                    policy: of(policy),
                    version: of(version),
                    options: of(options),
                };
                let [charged, jobs, without, of_cores, of_gpus] = sums.entry(group).or_default();
                add(charged, addend(number(charge, row)), "charge")?;
                *jobs += i128::from(priced.value(row));
                *without += i128::from(unpriced.value(row));
                if charge.is_null(row) {
                    *of_cores += i128::from(cores.value(row));
                    *of_gpus += i128::from(gpus.value(row));
                }
            }
        }
    }
    Ok(sums)
}

/// What a charge and the entry that takes it back have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ChargeCheckName {
    record: [u8; 16],
    policy: String,
    version: String,
    options: String,
    vo: Option<String>,
    account: Option<String>,
    allocation_year: i64,
    month: Day,
    day: Option<Day>,
}

/// Reports entries that take back another amount than was charged under the same name.
fn refunds(store: &Store, manifest: &Manifest, report: &mut VerifyReport) -> Result<()> {
    for file in manifest.dataset("job_charges") {
        let touched = touched(store, &file.path)?;
        if touched.is_empty() {
            continue;
        }
        let mut standing: BTreeMap<ChargeCheckName, Vec<Option<i128>>> = BTreeMap::new();
        let mut taken = Vec::new();
        for batch in read_table(store.reader(&file.path)?, None, 16_384)? {
            let batch = batch?;
            let of = |name: &str| text(&batch, name);
            let (ids, corrections) = (id(&batch, "record_id")?, of("correction_id")?);
            let (policy, version, options) = (of("policy")?, of("policy_version")?, of("options")?);
            let (vo, account) = (of("vo")?, of("account")?);
            let (year, month) = (int(&batch, "allocation_year")?, date(&batch, "month")?);
            let (day, charge) = (date(&batch, "day")?, decimal(&batch, "charge")?);
            let counted = ["job_n", "unpriced_job_n", "alloc_core_s", "alloc_gpu_s"].map(|name| int(&batch, name));
            let counted = counted.into_iter().collect::<Result<Vec<_>>>()?;
            for row in 0..batch.num_rows() {
                let Some(record) = <[u8; 16]>::try_from(ids.value(row))
                    .ok()
                    .filter(|id| touched.contains(id))
                else {
                    continue;
                };
                let name = ChargeCheckName {
                    record,
                    policy: policy.value(row).to_owned(),
                    version: version.value(row).to_owned(),
                    options: options.value(row).to_owned(),
                    vo: word(vo, row).map(str::to_owned),
                    account: word(account, row).map(str::to_owned),
                    allocation_year: year.value(row),
                    month: month.value(row),
                    day: number(day, row),
                };
                let amount = number(charge, row);
                // A charge can be below 0: its sign decides only where nothing was counted.
                let counted_sign = counted
                    .iter()
                    .map(|column| column.value(row).signum())
                    .find(|sign| *sign != 0);
                let is_taken = counted_sign.map_or(amount.is_some_and(|amount| amount < 0), |sign| sign < 0);
                match word(corrections, row).filter(|_| is_taken) {
                    Some(correction) => taken.push((name, correction.to_owned(), amount)),
                    None => standing.entry(name).or_default().push(amount),
                }
            }
        }
        for (name, correction, amount) in taken {
            let stands = standing.entry(name).or_default();
            let found = stands.iter().position(|stands| *stands == amount.map(|amount| -amount));
            match found {
                Some(at) => {
                    stands.swap_remove(at);
                }
                None => report.find(
                    &file.path,
                    format!(
                        "correction {correction} takes {}, which nothing was charged",
                        amount.map_or_else(
                            || "an unknown charge".to_owned(),
                            |amount| decimal_text(amount, CHARGE_SCALE)
                        )
                    ),
                ),
            }
        }
    }
    Ok(())
}

/// The records that corrections take charges from, or give them to. Additions without a record are not among them.
fn touched(store: &Store, path: &str) -> Result<BTreeSet<[u8; 16]>> {
    let mut touched = BTreeSet::new();
    let columns = ["record_id", "job_id", "correction_id"];
    for batch in read_table(store.reader(path)?, Some(&columns), 16_384)? {
        let batch = batch?;
        let corrections = text(&batch, "correction_id")?;
        if corrections.null_count() == batch.num_rows() {
            continue;
        }
        let (ids, jobs) = (id(&batch, "record_id")?, text(&batch, "job_id")?);
        for row in 0..batch.num_rows() {
            if word(corrections, row).is_some_and(|correction| correction != jobs.value(row)) {
                touched.extend(<[u8; 16]>::try_from(ids.value(row)));
            }
        }
    }
    Ok(touched)
}
