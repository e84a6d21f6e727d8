//! The resources that the scheduler of a cluster counts, in its order.

use super::lake::Lake;
use crate::error::Result;
use crate::schema::batch::{text, word};
use crate::share_history::context::FairshareContext;
use crate::share_history::counters::DatedCounters;
use crate::share_history::listed::newest;

/// What every scheduler counts, in the order of its numbers for them.
const ALWAYS: [&str; 8] = ["cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages"];

/// Names of the resources: those of the newest listing of shares; where none states them, those that are always there and
/// those of the setting `AccountingStorageTRES`.
pub(super) fn tres_names(lake: &Lake, context: &FairshareContext) -> Result<Vec<String>> {
    let counters = DatedCounters::read(&lake.store, &context.files, &context.plan)?;
    let listed = counters.listings.into_values().rev();
    let mut listed = listed.map(|listing| listing.resource_names);
    if let Some(names) = listed.find(|names| !names.is_empty()) {
        return Ok(names);
    }
    let settings = newest(
        &lake.store,
        &context.files.settings,
        &context.plan,
        "setting",
        |batch, row| Ok(word(text(batch, "value")?, row).map(str::to_owned)),
    )?;
    let mut names: Vec<String> = ALWAYS.iter().map(|name| (*name).to_owned()).collect();
    let stored = settings
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("AccountingStorageTRES"));
    let more = stored.and_then(|(_, value)| value.as_deref()).into_iter();
    for name in more.flat_map(|value| value.split(',')).map(str::trim) {
        if !name.is_empty() && !names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            names.push(name.to_ascii_lowercase());
        }
    }
    Ok(names)
}
