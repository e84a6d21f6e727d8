//! Charges of jobs against what was added up of them, per policy and to the last digit.

use std::collections::BTreeMap;

use super::VerifyReport;
use crate::error::Result;
use crate::schema;
use crate::schema::batch::{decimal, int, number, text};
use crate::store::lake;
use crate::store::{Manifest, Store, read_table};

/// Site, policy, version and options.
type Payer = (String, String, String, String);

/// Charge in billionths, jobs charged and jobs without a price.
type Sums = BTreeMap<Payer, [i128; 3]>;

/// Tells where the sums of `job_charges`, `charge_part` and `charges` differ.
pub(super) fn check(store: &Store, manifest: &Manifest, report: &mut VerifyReport) -> Result<()> {
    let jobs = sums(store, manifest, "job_charges", report)?;
    for dataset in ["charge_part", "charges"] {
        let added_up = sums(store, manifest, dataset, report)?;
        for payer in jobs
            .keys()
            .chain(added_up.keys().filter(|payer| !jobs.contains_key(*payer)))
        {
            let (of_jobs, here) = (jobs.get(payer), added_up.get(payer));
            if of_jobs != here {
                let (site, policy, version, options) = payer;
                report.find(
                    dataset,
                    format!("{site}, {policy} {version} {options}: holds {here:?}, its jobs were charged {of_jobs:?}"),
                );
            }
        }
    }
    Ok(())
}

fn sums(store: &Store, manifest: &Manifest, dataset: &str, report: &mut VerifyReport) -> Result<Sums> {
    let declared = schema::dataset(dataset)?;
    let mut sums = Sums::new();
    for file in manifest.dataset(dataset) {
        let site = if dataset == "charges" {
            lake::parse_usage_path(&file.path).map(|(site, ..)| site)
        } else {
            lake::parse_month_path(&file.path).map(|(site, _)| site)
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
            for row in 0..batch.num_rows() {
                let of = |column: &arrow::array::StringArray| column.value(row).to_owned();
                let payer = (site.clone(), of(policy), of(version), of(options));
                let [charged, jobs, without] = sums.entry(payer).or_default();
                *charged += number(charge, row).unwrap_or(0);
                *jobs += i128::from(priced.value(row));
                *without += i128::from(unpriced.value(row));
            }
        }
    }
    Ok(sums)
}
