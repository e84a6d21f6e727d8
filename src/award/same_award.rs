//! Rows of the table that are one award: of the same account, policy, place and days. Their amounts add up, and what one of them
//! leaves empty is as the other states it, whichever comes first. Awards that merely overlap are a mistake.

use std::collections::BTreeMap;

use super::award::Award;
use crate::reference::allocation::{Allocation, AllocationTable};
use crate::reference::node_type::day_text;

/// The name of the award above one, and the line that states it.
pub(super) struct ParentName {
    pub(super) id: String,
    pub(super) line: usize,
}

/// Stated parents by the place of the award.
pub(super) type ParentNames = BTreeMap<usize, ParentName>;

/// Whether a row is of an award.
pub(super) fn is_same_award(award: &Award, row: &Allocation) -> bool {
    (&award.account, &award.policy, &award.user) == (&row.account, &row.policy, &row.user)
        && (&award.site, &award.cluster) == (&row.site, &row.cluster)
        && (award.from, award.reference_until) == (row.from, row.until)
        && award.unit == row.unit
}

/// Takes what a row of an award states and its rows before do not. `parent` is the name of the award above it, as far as those
/// state one.
///
/// # Errors
/// A sentence for people where both state something else.
pub(super) fn take_columns(same: &mut Award, row: &Allocation, parent: Option<&str>) -> Result<(), String> {
    if row.award.is_some() && row.award.as_deref() != Some(same.id.as_str()) {
        return Err(format!(
            "is for the same account, policy, place and days as the award of line {}: a second amount is a supplement",
            same.line
        ));
    }
    agree(parent, row.parent.as_deref(), "parent", same.line)?;
    let (rule, stated_rule) = (same.period_rule.as_ref(), row.period_rule.as_ref());
    let rule = agree(rule, stated_rule, "period_rule", same.line)?.cloned();
    let project = agree(same.project.as_ref(), row.project.as_ref(), "project", same.line)?.cloned();
    let (attribute, stated_attribute) = (same.coldfront_attribute, row.coldfront_attribute);
    let attribute = agree(attribute, stated_attribute, "coldfront_attribute", same.line)?;
    (same.period_rule, same.project, same.coldfront_attribute) = (rule, project, attribute);
    Ok(())
}

/// What two rows of one award state in a column, of which the first is at `line`.
fn agree<T: PartialEq>(known: Option<T>, stated: Option<T>, column: &str, line: usize) -> Result<Option<T>, String> {
    match (known, stated) {
        (Some(known), Some(stated)) if known != stated => Err(format!(
            "{column} is another than that of the award of line {line}, which is for the same account, policy, place and days"
        )),
        (known, stated) => Ok(known.or(stated)),
    }
}

/// Two awards of the same use, with all their entries applied.
pub(super) struct Overlap {
    pub(super) line: usize,
    pub(super) message: String,
}

/// Awards that overlap another one in spite of what their entries end. Those of accounts without an expiry were held against
/// each other when the table was read.
pub(super) fn overlaps(awards: &[Award], table: &AllocationTable) -> Vec<Overlap> {
    let ended = awards.iter().enumerate();
    let ended = ended.filter(|(_, award)| table.has_expiry(&award.account, &award.policy));
    let found = ended.filter_map(|(at, award)| {
        let other = awards.iter().take(at).find(|other| {
            (&other.account, &other.policy, &other.user) == (&award.account, &award.policy, &award.user)
                && other.meets(award)
        })?;
        Some(Overlap {
            line: award.line,
            message: format!(
                "overlaps the award of line {}, which with all its entries is from {} to {}",
                other.line,
                day_text(Some(other.from), ""),
                day_text(other.last_until(), "ever")
            ),
        })
    });
    found.collect()
}
