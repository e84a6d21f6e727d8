//! Verifies published capacity against itself.

use crate::error::Result;
use crate::numbers::Comparand;
use crate::schema::batch::{decimal, int, number, time};
use crate::store::{Manifest, Store, read_table};

/// Holds every row against itself: capacity is what is installed times how long. Gives (path, problem).
///
/// # Errors
/// [`crate::error::Kind::Io`] when a file cannot be read.
pub(crate) fn verify(store: &Store, manifest: &Manifest) -> Result<Vec<(String, String)>> {
    let declared = crate::schema::dataset("capacity")?;
    let mut findings = Vec::new();
    for file in manifest.dataset("capacity") {
        for batch in read_table(store.reader(&file.path)?, None, 16_384)? {
            let batch = batch?;
            if let Err(why) = declared.admit(&batch) {
                findings.push((file.path.clone(), why.to_string()));
                break;
            }
            let (from, until) = (time(&batch, "from_utc")?, time(&batch, "until_utc")?);
            let (logical_n, logical_s) = (int(&batch, "logical_cpu_n")?, int(&batch, "logical_cpu_s")?);
            let mut pairs = Vec::new();
            for benchmark in ["hs06", "hs23", "si00"] {
                let installed = decimal(&batch, &format!("installed_{benchmark}"))?;
                pairs.push((installed, decimal(&batch, &format!("capacity_{benchmark}_s"))?));
            }
            for row in 0..batch.num_rows() {
                let ms = until.value(row).difference_to_compare(from.value(row));
                let is_reported = pairs.iter().all(|(installed, capacity)| {
                    let expected = number(installed, row).map(|e4| e4.product_to_compare(i128::from(ms)));
                    number(capacity, row) == expected
                });
                if ms <= 0 || !is_reported || logical_s.value(row) != logical_n.value(row).product_to_compare(ms / 1000)
                {
                    findings.push((
                        file.path.clone(),
                        format!("row {row} is not what is installed times how long"),
                    ));
                    break;
                }
            }
        }
    }
    Ok(findings)
}
