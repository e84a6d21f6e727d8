//! The ledger's identity, held against the published rows.

use std::collections::BTreeMap;

use arrow::array::{Array, RecordBatch};

use super::READ_ROWS;
use crate::error::Result;
use crate::schema;
use crate::schema::batch::{decimal, int, number, text, word};
use crate::store::lake::parse_overhead_path;
use crate::store::{Manifest, Store, read_table};

/// Resource-seconds of a row; null where a resource is not known.
fn amount(batch: &RecordBatch, column: &str, row: usize) -> Result<Option<i128>> {
    if column.ends_with("_byte_s") {
        return Ok(number(decimal(batch, column)?, row));
    }
    Ok(number(int(batch, column)?, row).map(i128::from))
}

/// For every row and resource capacity = allocated + overhead + stranded + down + reserved, and for every month the
/// distribution of a unit has the time in which nodes took jobs. Gives (path, problem).
///
/// # Errors
/// [`crate::error::Kind::Io`] when a file cannot be read.
pub(in crate::pipeline) fn verify(store: &Store, manifest: &Manifest) -> Result<Vec<(String, String)>> {
    let mut findings = Vec::new();
    // Node-seconds by place, cluster and unit: as nodes took jobs, and as the distribution has them.
    let mut times: BTreeMap<_, (i128, i128)> = BTreeMap::new();
    for dataset in ["overhead", "overhead_histogram"] {
        let declared = schema::dataset(dataset)?;
        for file in manifest.dataset(dataset) {
            let Some(place) = parse_overhead_path(&file.path) else {
                findings.push((
                    file.path.clone(),
                    "the path names no site, allocation year and month".to_owned(),
                ));
                continue;
            };
            for batch in read_table(store.reader(&file.path)?, None, READ_ROWS)? {
                let batch = batch?;
                if let Err(why) = declared.admit(&batch) {
                    findings.push((file.path.clone(), why.to_string()));
                    break;
                }
                let (cluster, unit) = (text(&batch, "cluster")?, text(&batch, "unit")?);
                let (is_ledger, column) = match dataset {
                    "overhead" => (true, int(&batch, "up_s")?),
                    _ => (false, int(&batch, "time_s")?),
                };
                let unit_s = if is_ledger { Some(int(&batch, "unit_s")?) } else { None };
                for row in 0..batch.num_rows() {
                    if unit_s.is_none_or(|unit_s| unit_s.is_valid(row)) {
                        let key = (
                            place.clone(),
                            word(cluster, row).map(str::to_owned),
                            word(unit, row).map(str::to_owned),
                        );
                        let (up, told) = times.entry(key).or_default();
                        *(if is_ledger { up } else { told }) += i128::from(column.value(row));
                    }
                }
                if is_ledger {
                    findings.extend(unbalanced(&batch)?.map(|problem| (file.path.clone(), problem)));
                }
            }
        }
    }
    for (((site, _, month), _, unit), (up, told)) in times {
        if up != told {
            let unit = unit.unwrap_or_default();
            findings.push((
                "overhead_histogram".to_owned(),
                format!("{site} {month}, unit {unit}: {told} node-seconds, but nodes took jobs for {up}"),
            ));
        }
    }
    Ok(findings)
}

/// The first row whose ledger does not close.
fn unbalanced(batch: &RecordBatch) -> Result<Option<String>> {
    let node = text(batch, "node")?;
    for row in 0..batch.num_rows() {
        for resource in ["core", "memory_byte", "gpu"] {
            let of = |measure: &str| amount(batch, &format!("{measure}_{resource}_s"), row);
            let Some(capacity) = of("capacity")? else { continue };
            let mut sum = Some(0_i128);
            for measure in ["allocated", "overhead", "stranded", "down", "reserved"] {
                sum = sum.zip(of(measure)?).map(|(sum, part)| sum + part);
            }
            if let Some(sum) = sum.filter(|sum| *sum != capacity) {
                return Ok(Some(format!(
                    "row {row}, node {}: {capacity} {resource} s are there, {sum} are accounted for",
                    node.value(row)
                )));
            }
        }
    }
    Ok(None)
}
