//! What `usage` has of a job, period by period: as it was recorded, and what corrections took of it and gave.

use arrow_array::RecordBatch;
use serde::Serialize;

use super::job::day_text;
use crate::error::Result;
use crate::schema::batch::{text, word};
use crate::store::lake;
use crate::summarise::correction_effect::{CorrectionEntry, Corrections};
use crate::summarise::share::PeriodShare;

/// What `usage` has of a job in one period.
#[derive(Clone, Debug, Serialize)]
pub struct JobUsage {
    /// First day of the month.
    pub month: String,
    /// The day, in a lake of days.
    pub day: Option<String>,
    /// Its time from start to end in the period, and in all, milliseconds.
    pub ran_ms: [i64; 2],
    /// Its part of the wall time, seconds.
    pub wall_s: i64,
    /// That times the cores.
    pub alloc_core_s: i64,
    /// Its part of the CPU time, milliseconds.
    pub cpu_ms: Option<i64>,
    /// Whether the job counts here, as it was recorded.
    pub is_counted: bool,
    /// The file of `usage` it was added to.
    pub cell: String,
    /// What corrections took of it and gave, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub corrections: Vec<CorrectedUsage>,
}

/// What a correction took out of `usage`, or gave to it.
#[derive(Clone, Debug, Serialize)]
pub struct CorrectedUsage {
    /// The correction it is an entry of.
    pub correction_id: String,
    /// What the correction does.
    pub action: &'static str,
    /// Who signed it.
    pub author: String,
    /// Why.
    pub reason: String,
    /// Whether it was taken from the VO and account; else it was given to them.
    pub is_taken: bool,
    /// VO.
    pub vo: Option<String>,
    /// Account.
    pub account: Option<String>,
    /// Jobs, below zero where they were taken out.
    pub job_n: i64,
    /// Wall time, seconds.
    pub wall_s: i64,
    /// That times the cores.
    pub alloc_core_s: i64,
    /// CPU time, milliseconds.
    pub cpu_ms: Option<i64>,
    /// The file of `usage` it was added to.
    pub cell: String,
}

/// What usage has of the one row of `record`.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when a column is not there.
pub(super) fn used(
    record: &RecordBatch,
    shares: &[PeriodShare],
    site: &str,
    corrections: &Corrections,
) -> Result<Vec<JobUsage>> {
    let vo = word(text(record, "vo")?, 0);
    let effects = corrections.of_site(site);
    let columns = effects.of_batch(record)?;
    let used = shares.iter().map(|share| JobUsage {
        month: day_text(share.period.month),
        day: share.period.day.map(day_text),
        ran_ms: [share.ran_ms, share.of_ms],
        wall_s: share.wall_s,
        alloc_core_s: share.alloc_core_s,
        cpu_ms: share.cpu_ms,
        is_counted: share.is_counted,
        cell: lake::usage_path(site, vo, share.period.allocation_year),
        // Its first instant is in the period, and so in the month the part counts in.
        corrections: (effects.entries(&columns, 0, share.from_ms).iter())
            .map(|entry| corrected(entry, share, site))
            .collect(),
    });
    Ok(used.collect())
}

fn corrected(entry: &CorrectionEntry<'_>, share: &PeriodShare, site: &str) -> CorrectedUsage {
    let signed = |amount: i64| {
        if entry.is_taken {
            // Fallback: only the least number changes, and no part of a job has it.
            amount.saturating_neg()
        } else {
            amount
        }
    };
    CorrectedUsage {
        correction_id: entry.rule.id.clone(),
        action: entry.rule.action.as_str(),
        author: entry.rule.author.clone(),
        reason: entry.rule.reason.clone(),
        is_taken: entry.is_taken,
        vo: entry.vo.map(str::to_owned),
        account: entry.account.map(str::to_owned),
        job_n: signed(i64::from(share.is_counted)),
        wall_s: signed(share.wall_s),
        alloc_core_s: signed(share.alloc_core_s),
        cpu_ms: share.cpu_ms.map(signed),
        cell: lake::usage_path(site, entry.vo, share.period.allocation_year),
    }
}

impl JobUsage {
    /// For people, a line each.
    pub(super) fn lines(&self) -> Vec<String> {
        let [ran_ms, of_ms] = self.ran_ms;
        let part = if of_ms == 0 {
            "all of it".to_owned()
        } else {
            format!("{ran_ms} of {of_ms} ms from start to end")
        };
        let counted = match (self.is_counted, self.corrections.is_empty()) {
            (false, _) => "",
            (true, true) => ", counted here",
            (true, false) => ", counted here as recorded",
        };
        let mut lines = vec![format!(
            "{}: {part}: {}{counted} -> {}",
            self.day.as_ref().unwrap_or(&self.month),
            amounts(self.wall_s, self.alloc_core_s, self.cpu_ms),
            self.cell
        )];
        lines.extend(self.corrections.iter().map(|of| format!("  {}", of.line())));
        lines
    }
}

impl CorrectedUsage {
    fn line(&self) -> String {
        let direction = if self.is_taken { "taken from" } else { "given to" };
        let vo = self.vo.as_deref().unwrap_or("no VO");
        let account = self.account.as_deref().unwrap_or("no account");
        let counted = match self.job_n {
            0 => "",
            ..0 => ", counted here no longer",
            1.. => ", counted here",
        };
        format!(
            "correction {} ({} by {}: {}): {direction} {vo}, {account}: {}{counted} -> {}",
            self.correction_id,
            self.action,
            self.author,
            self.reason,
            amounts(self.wall_s, self.alloc_core_s, self.cpu_ms),
            self.cell
        )
    }
}

fn amounts(wall_s: i64, alloc_core_s: i64, cpu_ms: Option<i64>) -> String {
    let cpu = cpu_ms.map_or_else(|| "CPU unknown".to_owned(), |cpu_ms| format!("{cpu_ms} ms CPU"));
    format!("{wall_s} s wall, {alloc_core_s} core s, {cpu}")
}
