//! `gridtally policy test`: the worked examples of policies and of period rules.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tracing::warn;

use super::formats::ReportFormat;
use super::output;
use super::policy::toml_files;
use crate::award::PeriodRule;
use crate::award::check_rule::RuleVerdict;
use crate::charge::Policy;
use crate::charge::check_example::Verdict;
use crate::diagnostics::Problems;
use crate::error::{Error, Kind, Result};
use crate::small_file;

/// An example and what came of it.
struct TestedExample {
    /// The policy or rule as people name it.
    of: String,
    file: String,
    line: usize,
    name: String,
    expected: String,
    computed: String,
    printed: String,
    failures: Vec<String>,
    /// As JSON.
    row: Value,
}

impl TestedExample {
    fn of_policy(policy: &Policy, verdict: Verdict) -> Self {
        let row = json!({
            "policy": policy.id, "version": policy.version, "file": policy.file, "line": verdict.line,
            "example": verdict.name, "expected": verdict.expected, "computed": verdict.computed,
            "printed": verdict.printed, "printed_of": verdict.printed_of,
            "printed_is": verdict.printed.as_ref().map(|_| verdict.printing.as_str()),
            "failures": verdict.failures,
        });
        Self {
            of: policy.name(),
            file: policy.file.clone(),
            line: verdict.line,
            printed: verdict.print(),
            name: verdict.name,
            expected: verdict.expected,
            computed: verdict.computed,
            failures: verdict.failures,
            row,
        }
    }

    fn of_rule(rule: &PeriodRule, verdict: RuleVerdict) -> Self {
        let row = json!({
            "period_rule": rule.id, "version": rule.version, "file": rule.file, "line": verdict.line,
            "example": verdict.name, "expected": verdict.expected, "computed": verdict.computed,
            "printed": verdict.printed, "failures": verdict.failures,
        });
        Self {
            of: format!("{} {}", rule.id, rule.version),
            file: rule.file.clone(),
            line: verdict.line,
            name: verdict.name,
            expected: verdict.expected,
            computed: verdict.computed,
            // Fallback: an example that was not computed prints nothing.
            printed: verdict.printed.unwrap_or_default(),
            failures: verdict.failures,
            row,
        }
    }
}

/// Runs the examples of files and folders, or of the usual ones.
pub(super) fn test(files: &[PathBuf], report: ReportFormat) -> Result<()> {
    let usual = usual();
    let files = toml_files(if files.is_empty() { &usual } else { files })?;
    let tested = tested(&files)?;
    match report {
        ReportFormat::Text => output::text(&table(&tested))?,
        ReportFormat::Json => {
            let rows: Vec<&Value> = tested.iter().map(|example| &example.row).collect();
            output::json(&json!(rows))?;
        }
    }
    let failed = tested.iter().filter(|example| !example.failures.is_empty()).count();
    if failed > 0 {
        let examples = if failed == 1 { "example" } else { "examples" };
        let message = format!("{failed} {examples} of policies failed");
        return Err(Error::new(Kind::Data, message));
    }
    Ok(())
}

fn tested(files: &[PathBuf]) -> Result<Vec<TestedExample>> {
    let mut problems = Problems::default();
    let (mut policies, mut rules) = (Vec::new(), Vec::new());
    for file in files {
        let label = file.display().to_string();
        // A file that cannot be read is reported by the reader of policies.
        let is_rule = small_file::text(file).is_ok_and(|text| PeriodRule::is_rule(&text));
        if is_rule {
            rules.extend(PeriodRule::load(file, &label, &mut problems));
        } else {
            policies.extend(Policy::load(file, &label, &mut problems));
        }
    }
    for warning in problems.finish()? {
        warn!("{warning}");
    }
    let mut tested = Vec::new();
    for policy in &policies {
        let verdicts = policy.test()?.into_iter();
        tested.extend(verdicts.map(|verdict| TestedExample::of_policy(policy, verdict)));
    }
    for rule in &rules {
        let verdicts = rule.test()?.into_iter();
        tested.extend(verdicts.map(|verdict| TestedExample::of_rule(rule, verdict)));
    }
    Ok(tested)
}

/// Where policies and period rules are when no path is given.
fn usual() -> Vec<PathBuf> {
    let places = [
        "policies",
        "pipelines/policies",
        "period-rules",
        "pipelines/period-rules",
    ];
    let places = places.map(Path::new).into_iter();
    places.filter(|path| path.is_dir()).map(Path::to_path_buf).collect()
}

/// A line for every example, and below one that fails, why.
fn table(tested: &[TestedExample]) -> String {
    let width = |of: fn(&TestedExample) -> &str, least: usize| {
        let widths = tested.iter().map(|example| of(example).chars().count());
        widths.fold(least, usize::max)
    };
    let (of_width, name_width) = (width(|example| &example.of, 6), width(|example| &example.name, 7));
    let mut text = format!(
        "{:<of_width$}  {:<name_width$}  {:>12}  {:>20}  printed\n",
        "policy", "example", "expected", "computed"
    );
    let mut passed = 0;
    for example in tested {
        let line = format!(
            "{:<of_width$}  {:<name_width$}  {:>12}  {:>20}  {}",
            example.of, example.name, example.expected, example.computed, example.printed
        );
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", line.trim_end());
        if example.failures.is_empty() {
            passed += 1;
            continue;
        }
        let _ = writeln!(text, "  FAILED {}:{}", example.file, example.line);
        for failure in &example.failures {
            let _ = writeln!(text, "    {failure}");
        }
    }
    let _ = writeln!(text, "{passed} of {} examples hold", tested.len());
    text
}
