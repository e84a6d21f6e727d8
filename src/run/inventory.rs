//! What is published of the machine behind the jobs: a file per dataset and input file, so that what did not change is
//! not written again.

use crate::config::source_plan::SourcePlan;
use crate::error::Result;
use crate::reference::inventory::{InventoryOrigin, InventoryPlaced, batches};
use crate::schema::listing_datasets;
use crate::store::Publication;
use crate::store::lake::{self, LakeTable};

/// Stages the rows of one file, and removes its former ones.
///
/// # Errors
/// [`crate::error::Kind::Io`] when it cannot be staged.
pub(crate) fn publish(
    publication: &Publication,
    source: &SourcePlan,
    as_of_ms: Option<i64>,
    file_id: &str,
    blake3: &str,
    rows: &[InventoryPlaced],
) -> Result<()> {
    let origin = InventoryOrigin {
        site: source.intake.site.clone(),
        cluster: source.intake.cluster.clone(),
        as_of_ms,
        file_id: file_id.to_owned(),
    };
    for dataset in listing_datasets() {
        // What is added below stays.
        publication.remove(&lake::inventory_path(&dataset.name, &source.name, file_id));
    }
    for (dataset, batch) in batches(rows, &origin)? {
        let path = lake::inventory_path(dataset, &source.name, file_id);
        let mut table = LakeTable::create(publication, dataset, &path)?;
        table.write(&batch)?;
        table.finish(&[("gridtally.inputs_blake3".to_owned(), blake3.to_owned())])?;
    }
    Ok(())
}
