//! What corrections add to a lake, and by which rule it is counted and charged.

use crate::config::plan::Plan;
use crate::record::SiteMonth;
use crate::reference::correction::Action;

/// The rule of now. Another one counts additions again in lakes that are there: since 2 what an addition does not state is
/// unknown, not zero.
const ADDITION_RULE: u8 = 2;

/// The partitions that additions make.
pub(crate) fn additions(plan: &Plan) -> impl Iterator<Item = SiteMonth> {
    let rows = plan.corrections.iter().flat_map(|table| table.active());
    rows.filter(|row| row.action == Action::Add)
        .filter_map(|row| Some(SiteMonth::new(row.site.clone()?, row.month?)))
}

/// The value of [`crate::store::Fact::Additions`] for a plan; `None` where nothing is added.
pub(crate) fn of_plan(plan: &Plan) -> Option<String> {
    additions(plan).next().map(|_| ADDITION_RULE.to_string())
}
