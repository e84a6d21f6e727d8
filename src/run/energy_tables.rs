//! The tables of energy that usage was computed by, as the lake keeps them.

use super::partition_context::PartitionContext;
use crate::error::Result;
use crate::lake::energy_tables::{ENERGY_TABLES, SETTINGS};
use crate::schema;
use crate::schema::batch::texts;
use crate::store::lake::LakeTable;

/// Stages the tables of the pipeline, or takes away those of an earlier one.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be written.
pub(crate) fn publish(context: &PartitionContext<'_>) -> Result<()> {
    let Some(energy) = context.plan.energy.as_deref() else {
        context.publication.remove(ENERGY_TABLES);
        return Ok(());
    };
    let settings = energy.settings.text();
    let tables = energy.tables.each();
    let mut rows: Vec<[&str; 3]> = tables
        .iter()
        .filter_map(|(key, table)| table.map(|table| [key, table.file.as_str(), table.text.as_str()]))
        .collect();
    rows.push([SETTINGS, "", &settings]);
    rows.sort_unstable();
    let column = |at: usize| texts(rows.iter().map(|row| row.get(at)));
    let batch = schema::dataset("energy_table")?.batch((0..3).map(column).collect())?;
    let mut table = LakeTable::create(context.publication, "energy_table", ENERGY_TABLES)?;
    table.write(&batch)?;
    table.finish(&[])?;
    Ok(())
}
