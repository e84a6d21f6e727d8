//! How a command that failed is reported to programs.

use super::formats::ReportFormat;
use super::output;
use crate::error::Result;
use crate::run::run_report::Failure;

/// The findings of a command about a lake; when it fails and its report is read by a program, the failure is one line of JSON.
pub(crate) fn or_failure<T>(format: ReportFormat, lake: &str, found: Result<T>) -> Result<T> {
    if let (Err(why), ReportFormat::Json) = (&found, format) {
        output::json_line(&serde_json::json!({ "output": lake, "status": "failed", "error": Failure::of(why) }))?;
    }
    found
}
