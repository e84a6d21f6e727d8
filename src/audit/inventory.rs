//! Verifies the published inventory against the ledger.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::ledger::{Book, Reason};
use crate::numbers::tally;
use crate::schema;
use crate::schema::batch::{int, text};
use crate::store::{Manifest, Store, lake, read_table};

/// Compares the published rows with the ledger: they account for exactly the input rows it counts as inventory.
/// Gives (path, problem).
///
/// # Errors
/// [`crate::error::Kind::Io`] when a file cannot be read.
pub(crate) fn verify(store: &Store, manifest: &Manifest, book: &Book) -> Result<Vec<(String, String)>> {
    let mut findings = Vec::new();
    let mut held: BTreeMap<String, i128> = BTreeMap::new();
    for declared in schema::listing_datasets() {
        let dataset = declared.name.as_str();
        for file in manifest.dataset(dataset) {
            for batch in read_table(store.reader(&file.path)?, None, 16_384)? {
                let batch = batch?;
                if let Err(why) = declared.admit(&batch) {
                    findings.push((file.path.clone(), why.to_string()));
                    break;
                }
                let files = text(&batch, "file_id")?;
                // Weights are further rows of their partitions.
                let counts = (dataset != "billing_weight")
                    .then(|| int(&batch, "input_row_n"))
                    .transpose()?;
                for row in 0..batch.num_rows() {
                    let file_id = files.value(row);
                    let source = book.inputs().get(file_id).map(|input| input.source.as_str());
                    if source.is_none_or(|source| lake::inventory_path(dataset, source, file_id) != file.path) {
                        findings.push((
                            file.path.clone(),
                            format!("row {row} is of input {file_id}, which belongs elsewhere"),
                        ));
                        break;
                    }
                    *held.entry(file_id.to_owned()).or_default() +=
                        counts.map_or(0, |counts| i128::from(counts.value(row)));
                }
            }
        }
    }
    for file_id in book.inputs().keys() {
        let places = book.places(file_id).into_iter().flatten();
        let stated: u64 = places
            .filter(|(place, _)| matches!(place.reason, Reason::Inventory | Reason::ReservationSumLimit))
            .map(|(_, n)| n)
            .sum();
        let held = tally(held.remove(&**file_id));
        if i128::from(stated) != held {
            let problem = format!("{held} rows of input {file_id} describe the machine, the ledger counts {stated}");
            findings.push((lake::LEDGER.to_owned(), problem));
        }
    }
    Ok(findings)
}
