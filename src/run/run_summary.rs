//! The report of a run in few words: a part of its JSON form, without what grows with the files.

use std::collections::BTreeMap;

use serde::Serialize;

use super::run_ending::RunEnding;
use super::run_identity::RunIdentity;
use super::run_report::{Failure, RunReport, Status};

/// Fields of a [`RunReport`], by the same names and with the same values.
#[derive(Clone, Debug, Serialize)]
pub struct RunSummary<'a> {
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Failure>,
    #[serde(flatten)]
    identity: &'a RunIdentity,
    #[serde(flatten)]
    ending: &'a RunEnding,
    pipeline: &'a str,
    output: &'a str,
    gridtally_version: &'a str,
    files_n: u64,
    files_read_n: u64,
    bytes_read_n: u64,
    rows_read_n: u64,
    read_outcomes: &'a BTreeMap<String, u64>,
    outcomes: &'a BTreeMap<String, u64>,
    runs_head: &'a str,
    phases: &'a BTreeMap<String, f64>,
    seconds: f64,
}

impl<'a> RunSummary<'a> {
    /// Of a report.
    #[must_use]
    pub fn of(report: &'a RunReport) -> Self {
        Self {
            status: report.status,
            error: report.error.as_ref(),
            identity: &report.identity,
            ending: &report.ending,
            pipeline: &report.pipeline,
            output: &report.output,
            gridtally_version: &report.gridtally_version,
            files_n: report.files_n,
            files_read_n: report.files_read_n,
            bytes_read_n: report.bytes_read_n,
            rows_read_n: report.rows_read_n,
            read_outcomes: &report.read_outcomes,
            outcomes: &report.outcomes,
            runs_head: &report.runs_head,
            phases: &report.phases,
            seconds: report.seconds,
        }
    }
}
