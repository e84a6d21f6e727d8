//! `[capacity]` of the pipeline file, and what is published of it.

use super::state::State;
use crate::capacity::monthly::{monthly, to_batch};
use crate::config::plan::Plan;
use crate::error::Result;
use crate::store::lake::{self, LakeTable};
use crate::store::{Fact, Publication};
use crate::time::Month;

/// The settings of a plan that decide capacity; `None` when it sets none.
pub(crate) fn fingerprint(plan: &Plan) -> Option<String> {
    let table = plan.capacity.as_ref()?;
    let text = format!("{:?}\n{}", plan.calendar_zone, table.canonical());
    Some(blake3::hash(text.as_bytes()).to_hex().to_string())
}

/// Whether what is published was made of another table.
pub(crate) fn is_changed(plan: &Plan, state: &State) -> bool {
    state.fact(Fact::Capacity) != fingerprint(plan).as_deref()
}

/// Stages the capacity of every site, from the month the table begins with to the month after the last one with usage;
/// takes away that of sites the table no longer has.
///
/// # Errors
/// [`crate::error::Kind::Io`] when it cannot be staged.
pub(crate) fn publish(plan: &Plan, publication: &Publication) -> Result<()> {
    for file in publication
        .published()
        .into_iter()
        .flat_map(|lake| lake.dataset("capacity"))
    {
        // What is added below stays.
        publication.remove(&file.path);
    }
    let Some(table) = &plan.capacity else {
        return Ok(());
    };
    let months = publication.paths("usage_part");
    let months = months.iter().filter_map(|path| lake::parse_month_path(path));
    let months: Vec<Month> = months.map(|of| of.month).collect();
    let (Some(first), Some(last)) = (months.iter().min(), months.iter().max()) else {
        return Ok(());
    };
    for site in table.sites() {
        let lines = monthly(table, site, &plan.calendar_zone, *first, last.next());
        if lines.is_empty() {
            continue;
        }
        let mut file = LakeTable::create(publication, "capacity", &lake::capacity_path(site))?;
        file.write(&to_batch(&lines)?)?;
        file.finish(&[])?;
    }
    Ok(())
}
