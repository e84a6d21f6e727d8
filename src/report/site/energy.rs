//! Energy and carbon of the site, where the lake has any.

use super::data::FILE_DIGITS;
use crate::error::Result;
use crate::report::board::section;
use crate::report::energy::{self, EnergyDigits, EnergyKey};
use crate::report::html;
use crate::report::lake::{Lake, Selection};
use crate::report::table::Table;

/// Energy by month, and by VO or account; `None` where the lake has no energy.
///
/// # Errors
/// As [`energy::gather`].
pub(super) fn read(lake: &Lake, period: &Selection, by: EnergyKey) -> Result<Option<Table>> {
    if lake.manifest.dataset("energy_table").next().is_none() {
        return Ok(None);
    }
    let by = [EnergyKey::Month, by];
    energy::table(
        &energy::gather(lake, period, &by)?,
        &by,
        EnergyDigits::Finer(FILE_DIGITS),
    )
    .map(Some)
}

/// The section of the page; nothing where the lake has no energy.
///
/// # Errors
/// [`crate::error::Kind::Data`] naming the column whose total is too large.
pub(super) fn write(body: &mut String, shown: Option<&Table>) -> Result<()> {
    let Some(shown) = shown else {
        return Ok(());
    };
    let inside = format!(
        "<p>What is unknown is in no sum. The percentages state how much of the core hours each sum is of: exclusive is measured on \
         nodes that jobs had to themselves, apportioned is their part of what was measured of shared nodes, node meter is their \
         part of what the meters of nodes counted, modelled comes from the \
         power of the type of their nodes. A percentage is empty where corrections take out core hours of jobs whose energy \
         stays. Site energy is that of the nodes times the PUE.</p>\n{}\
         <p>The same rows are in <a href=\"energy.csv\">energy.csv</a>, amounts with {FILE_DIGITS} decimals.</p>\n",
        html::table(&shown.without_empty_columns())?
    );
    section(body, "energy", "Energy and carbon", &inside);
    Ok(())
}
