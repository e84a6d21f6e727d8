//! `dated_usage` of `[[fairshare]]` as it is written, and what it means.

use std::sync::Arc;

use super::compiler::Compiler;
use super::fairshare_plan::DatedUsage;
use crate::charge::Tariff;
use crate::diagnostics::Problems;
use crate::diagnostics::section::{At, Section};
use crate::time::SecondSpan;

/// Keys of a time.
pub(super) const KEYS: &[&str] = &["from", "until", "usage"];

/// A time in which jobs are counted by something else.
#[derive(Debug)]
pub struct DatedUsageSpec {
    line: usize,
    from: Option<At<String>>,
    until: Option<At<String>>,
    usage: Option<At<String>>,
}

/// Reads the times of a cluster.
pub(super) fn read(section: &Section<'_>, problems: &mut Problems) -> Vec<DatedUsageSpec> {
    let times = section.sections("dated_usage", "[[fairshare.dated_usage]]", KEYS, problems);
    let specs = times.iter().map(|time| DatedUsageSpec {
        line: time.line(),
        from: time.required_text("from", "the first second in which it holds", problems),
        until: time.text("until", problems),
        usage: time.required_text("usage", "what jobs are counted by then", problems),
    });
    specs.collect()
}

impl Compiler {
    /// Times with what jobs are counted by; `None` when one is wrong.
    pub(super) fn dated_usage(&mut self, specs: &[DatedUsageSpec], tariffs: &[Arc<Tariff>]) -> Option<Vec<DatedUsage>> {
        let mut dated: Vec<DatedUsage> = Vec::new();
        for spec in specs {
            let start_s = self.instant_s("from", spec.from.as_ref()?)?;
            let end_s = match &spec.until {
                Some(text) => self.instant_s("until", text)?,
                None => i64::MAX,
            };
            let span = SecondSpan { start_s, end_s };
            let wrong = if span.is_empty() {
                Some("it ends before it begins")
            } else if dated.last().is_some_and(|before| before.span.end_s > start_s) {
                Some(
                    "it begins before the one stated before it has ended: state each time once, in order, with its until",
                )
            } else {
                None
            };
            if let Some(why) = wrong {
                self.wrong(spec.line, format!("dated_usage: {why}"));
                return None;
            }
            dated.push(DatedUsage {
                span,
                usage: self.usage_basis(spec.usage.as_ref()?, tariffs)?,
            });
        }
        Some(dated)
    }
}
