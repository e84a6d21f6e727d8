//! Which line of an export has the energy of usage.
//!
//! Charges are distinguished by everything that distinguishes a line, and by source, partition and QOS; usage by the same but for
//! the policy, and by more. So for the usage under one such key either a line charges all of it, to the millisecond of core time,
//! and has its energy: the first of several that do, as where a CPU pool and a GPU pool charge the same jobs. Or no line does: the
//! policy is not for these jobs, is for some of them only, began or ended within the period, or their charge is unknown. Which
//! part of the energy a line has is not known then, as energy is not in proportion to core time, and it is in a line of its own.

use std::collections::BTreeMap;

use super::line::{LineKey, LineSubject};
use crate::amounts::add;
use crate::error::Result;
use crate::report::charges::AccountCharge;
use crate::report::usage_energy::UsageEnergy;
use crate::report::usage_key::UsageKey;

/// What usage and a line share: what the line is of, under a key of usage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ChargedKey<'a> {
    usage: UsageKey<'a>,
    subject: LineSubject<'a>,
}

/// By key of usage the line that charges all of it. What has no such line is not in it.
pub(super) fn bearing_lines<'a>(
    charged: &'a [AccountCharge],
    usage: &'a [UsageEnergy],
) -> Result<BTreeMap<UsageKey<'a>, LineKey<'a>>> {
    if usage.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut used_ms: BTreeMap<UsageKey<'_>, i128> = BTreeMap::new();
    for row in usage {
        add(used_ms.entry(row.key()).or_default(), row.alloc_core_ms, "alloc_core_s")?;
    }
    let mut charged_ms: BTreeMap<ChargedKey<'_>, i128> = BTreeMap::new();
    for row in charged.iter().filter(|row| row.is_of_jobs && row.charge_e9.is_some()) {
        let key = ChargedKey {
            usage: row.usage_key(),
            subject: LineKey::of(row).subject,
        };
        add(charged_ms.entry(key).or_default(), row.alloc_core_ms, "alloc_core_s")?;
    }
    let mut bearing = BTreeMap::new();
    for (ChargedKey { usage, subject }, core_ms) in charged_ms {
        if used_ms.get(&usage) == Some(&core_ms) {
            let line = LineKey {
                subject,
                ..LineKey::of_energy(&usage)
            };
            bearing.entry(usage).or_insert(line);
        }
    }
    Ok(bearing)
}
