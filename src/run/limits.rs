//! Holds what a run refused against what the pipeline allows. Only inputs that are new to the lake, or lose more rows than
//! before, can break a limit that nobody wrote; where some lose more, they are weighed with all that was read of their source.

use std::fmt::{self, Write as _};

use super::run_report::RunReport;
use crate::config::Plan;
use crate::config::reject_limits::{RejectLimit, RejectLimits};
use crate::error::{Error, Kind, Result};
use crate::ingest::findings::{Findings, SourceSums, refused_text};

/// Share of a source's rows that may be refused where the pipeline does not set it.
const SHARE: RejectLimit = RejectLimit::Fraction(0.05);
/// Files that may be left unread where the pipeline does not set it.
const UNREAD: RejectLimit = RejectLimit::Count(0);

impl RejectLimit {
    /// Whether `rejected` of `all` are too many.
    #[must_use]
    pub fn exceeded(&self, rejected: u64, all: u64) -> bool {
        match *self {
            Self::Count(limit) => rejected > limit,
            Self::Fraction(_) if self.is_any() || rejected == 0 => false,
            // The quotient is rounded as the number in the file was, so that 29 of 100 does not exceed 0.29.
            Self::Fraction(limit) => all == 0 || float(rejected) / float(all) > limit,
        }
    }

    /// Whether it allows any number.
    #[must_use]
    pub fn is_any(&self) -> bool {
        matches!(*self, Self::Fraction(limit) if limit >= 1.0)
    }
}

impl fmt::Display for RejectLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(limit) => write!(f, "{limit}"),
            Self::Fraction(limit) => write!(f, "{limit:?}"),
        }
    }
}

fn float(count: u64) -> f64 {
    const HALF: f64 = 4_294_967_296.0;
    // Fallback: never taken, a shift leaves 32 bits.
    let high = u32::try_from(count >> 32).unwrap_or(u32::MAX);
    // Fallback: never taken, the mask leaves 32 bits.
    let low = u32::try_from(count & u64::from(u32::MAX)).unwrap_or(u32::MAX);
    f64::from(high) * HALF + f64::from(low)
}

impl RejectLimits {
    /// How many files may be unread: who lets any row be refused lets any file be.
    fn unread(self) -> Option<RejectLimit> {
        self.max_unread.or(self.max_rejected.filter(RejectLimit::is_any))
    }
}

/// Puts what was found into the report of the run, and checks every limit.
///
/// # Errors
/// As [`check`].
pub(crate) fn hold(plan: &Plan, findings: Findings, report: &mut RunReport) -> Result<()> {
    let is_allowed = check(plan, &findings);
    report.found(findings);
    is_allowed
}

/// Checks every limit.
///
/// # Errors
/// [`Kind::Data`] with every limit that is broken, and the files that broke it.
fn check(plan: &Plan, findings: &Findings) -> Result<()> {
    let mut broken = String::new();
    let (mut all, mut guilty) = (SourceSums::default(), Vec::new());
    for (name, sums) in &findings.sources {
        all.rows += sums.rows;
        all.rejected += sums.rejected;
        let named = plan.sources.iter().find(|source| source.name == *name);
        let own = named.map_or_else(RejectLimits::default, |source| source.limits);
        let before = broken.len();
        of_source(name, own, plan.limits, sums, &mut broken);
        if broken.len() > before {
            guilty.push(name.as_str());
        }
    }
    if let Some(limit) = plan.limits.max_rejected
        && limit.exceeded(all.rejected, all.rows)
    {
        let _ = writeln!(
            broken,
            "  pipeline {}: {} of {} rows were refused, more than max_rejected = {limit} allows",
            plan.name, all.rejected, all.rows
        );
        guilty.extend(findings.sources.keys().map(String::as_str));
    }
    if broken.is_empty() {
        return Ok(());
    }
    let files = findings.refused.iter();
    let files = files.filter(|file| guilty.contains(&file.source.as_str()));
    let message = format!(
        "more was refused than the pipeline allows: nothing was published, the lake is as before\n{broken}{}Dump these \
         files again, mend them or move them away. To publish without what is refused, set max_unread (files of which \
         nothing is read or a part is lost) or max_rejected (rows) in the [[source]] or [pipeline].",
        refused_text(files, false)
    );
    Err(Error::new(Kind::Data, message))
}

fn of_source(name: &str, own: RejectLimits, pipeline: RejectLimits, sums: &SourceSums, broken: &mut String) {
    let rows = own.max_rejected.map(|limit| (limit, sums.rejected, sums.rows));
    if let Some((limit, rejected_n, row_n)) = rows {
        if limit.exceeded(rejected_n, row_n) {
            let _ = writeln!(
                broken,
                "  source {name}: {rejected_n} of {row_n} rows were refused, more than max_rejected = {limit} allows"
            );
        }
    } else if SHARE.exceeded(sums.new_rejected, sums.new_rows)
        && pipeline
            .max_rejected
            .is_none_or(|limit| limit.exceeded(sums.new_rejected, sums.new_rows))
    {
        let _ = writeln!(
            broken,
            "  source {name}: {} of {} rows were refused, more than the 5 % of a source without max_rejected of its own{}",
            sums.new_rejected,
            sums.new_rows,
            pipeline.max_rejected.map_or_else(String::new, |limit| format!(
                ", and more than max_rejected = {limit} of [pipeline] allows"
            ))
        );
    }
    let limit = own.unread().or(pipeline.unread());
    let (unread, part_lost, new) = (sums.unread_files, sums.part_lost_files, sums.new_files);
    if limit.unwrap_or(UNREAD).exceeded(unread + part_lost, new) {
        let of_new = |n: u64| match (n, new) {
            (1, 1) => "its only new file".to_owned(),
            _ => format!("{n} of {new} new files"),
        };
        let what = match (unread, part_lost) {
            (_, 0) => format!("nothing was read of {}", of_new(unread)),
            (0, _) => format!("a part is lost of {}", of_new(part_lost)),
            _ => format!(
                "nothing was read of {unread}, and a part is lost of {}",
                of_new(part_lost)
            ),
        };
        let why = limit.map_or_else(
            || "and no max_unread allows it".to_owned(),
            |limit| format!("more than max_unread = {limit} allows"),
        );
        let _ = writeln!(broken, "  source {name}: {what}, {why}");
    }
}
