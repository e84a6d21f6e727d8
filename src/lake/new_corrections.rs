//! Corrections that a lake does not have yet, and what they touch.

use std::collections::BTreeSet;

use super::addition_fact;
use super::state::State;
use crate::config::plan::Plan;
use crate::error::{Error, Result};
use crate::record::SiteMonth;
use crate::reference::correction::{Action, Correction, CorrectionTable};
use crate::store::Fact;

/// Whether additions of the lake were counted by another rule.
pub(crate) fn adds_otherwise(plan: &Plan, state: &State) -> bool {
    state.fact(Fact::Additions) != addition_fact::of_plan(plan).as_deref()
}

/// The rows that are new since the last run.
///
/// # Errors
/// [`crate::error::Kind::Config`] when a row that was applied was changed, moved or taken away.
pub(crate) fn fresh<'a>(plan: &'a Plan, state: &State) -> Result<&'a [Correction]> {
    static NONE: CorrectionTable = CorrectionTable { rows: Vec::new() };
    let table = plan.corrections.as_deref().unwrap_or(&NONE);
    table.since(state.signed_corrections()).map_err(Error::config)
}

/// The partitions whose usage new rows may change, among those published; and those that additions make. All of these where
/// the lake counted them by another rule.
pub(crate) fn touched(plan: &Plan, fresh: &[Correction], state: &State) -> BTreeSet<SiteMonth> {
    let mut touched: BTreeSet<SiteMonth> = BTreeSet::new();
    if adds_otherwise(plan, state) {
        touched.extend(addition_fact::additions(plan));
    }
    for row in fresh {
        let undone = row.undoes.as_deref().and_then(|id| plan.corrections.as_ref()?.get(id));
        let row = undone.unwrap_or(row);
        match (row.action, &row.site, row.month) {
            (Action::Add, Some(site), Some(month)) => {
                touched.insert(SiteMonth::new(site.as_str(), month));
            }
            _ => touched.extend(
                state
                    .partitions()
                    .iter()
                    .filter(|of| row.may_touch(&of.site, of.month))
                    .cloned(),
            ),
        }
    }
    touched
}
