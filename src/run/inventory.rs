//! What is published of the machine behind the jobs: a file per dataset and input file, so that what did not change is
//! not written again.

use std::collections::BTreeMap;

use tracing::warn;

use crate::config::Plan;
use crate::config::source_plan::SourcePlan;
use crate::error::Result;
use crate::numbers::count_u64;
use crate::reference::inventory::{InventoryOrigin, InventoryPlaced, batches};
use crate::schema::listing_datasets;
use crate::sources::Format;
use crate::sources::inventory::InventoryKind;
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

/// Rows of listings without a date, by source.
#[derive(Default)]
pub(crate) struct UndatedRows<'a>(BTreeMap<&'a str, u64>);

impl<'a> UndatedRows<'a> {
    /// Counts the rows of a file. Where no file of the format states a date, the check of the pipeline warned of it.
    pub(crate) fn count(&mut self, plan: &Plan, source: &'a SourcePlan, rows: &[InventoryPlaced]) {
        let may_state_date = match source.format() {
            Format::Dialect(dialect) => dialect.inventory().is_some_and(InventoryKind::may_state_date),
            _ => true,
        };
        if !may_state_date || plan.as_of.contains_key(&source.name) {
            return;
        }
        let undated_n = rows.iter().filter(|placed| placed.row.is_undated()).count();
        if undated_n > 0 {
            *self.0.entry(&source.name).or_default() += count_u64(undated_n);
        }
    }

    /// Warns of them.
    pub(crate) fn warn(&self) {
        for (source, row_n) in &self.0 {
            warn!(
                source,
                row_n,
                "inventory {source}: no as_of, and the files do not state when they were true: {row_n} rows have no date"
            );
        }
    }
}
