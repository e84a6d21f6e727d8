//! The tables of energy that the usage of a lake was computed by.

use crate::diagnostics::Problems;
use crate::energy::{EnergyPlan, EnergySettings, EnergyTables, NamedTable};
use crate::error::{Error, Kind, Result};
use crate::schema::batch::text;
use crate::store::{Manifest, Store, read_table};

/// The file that holds them.
pub(crate) const ENERGY_TABLES: &str = "energy_tables/energy_tables.parquet";

/// The row of the choices.
pub(crate) const SETTINGS: &str = "settings";

/// Rows read at once.
const READ_ROWS: usize = 1024;

/// What energy and carbon of a lake were computed by; `None` where it has none.
///
/// # Errors
/// [`Kind::Io`] when the lake cannot be read, [`Kind::Data`] when its tables are none.
pub(crate) fn read(store: &Store, manifest: &Manifest) -> Result<Option<EnergyPlan>> {
    if manifest.file(ENERGY_TABLES).is_none() {
        return Ok(None);
    }
    let damaged = |what: &str| {
        Error::new(
            Kind::Data,
            format!("the tables of energy in the lake are damaged: {what}"),
        )
    };
    let (mut tables, mut settings) = (EnergyTables::default(), None);
    for batch in read_table(store.reader(ENERGY_TABLES)?, None, READ_ROWS)? {
        let batch = batch?;
        let (names, files, texts) = (text(&batch, "name")?, text(&batch, "file")?, text(&batch, "text")?);
        for row in 0..batch.num_rows() {
            let (name, text) = (names.value(row), texts.value(row));
            if name == SETTINGS {
                settings = EnergySettings::parse(text);
                continue;
            }
            let place = tables.place(name).ok_or_else(|| damaged(name))?;
            *place = Some(NamedTable {
                file: files.value(row).to_owned(),
                text: text.to_owned(),
            });
        }
    }
    let settings = settings.ok_or_else(|| damaged(SETTINGS))?;
    let mut problems = Problems::default();
    let plan = EnergyPlan::new(tables, settings, &mut problems);
    problems
        .finish()
        .map_err(|why| damaged("a table has mistakes").because(why))?;
    Ok(Some(plan))
}
