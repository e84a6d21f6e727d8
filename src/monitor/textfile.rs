//! Metrics of a run for the textfile collector of `node_exporter`.
//!
//! The file is replaced by every run, also by one that fails. What a run does not know (when one ended well, how the lake is)
//! stays as the former file has it. No sample has a timestamp, for the collector refuses the file then, and help texts and
//! labels are the same in every file: whether values are old is seen from the instants among them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::exposition::{Exposition, Metric, MetricLabel, sample, seconds, series};
use super::lake_standing::LakeStanding;
use crate::error::{Error, Kind, Result};
use crate::run::run_report::{RunReport, Status};
use crate::store::whole_file::{replace_file, text_of};

const BUILD: Metric = Metric {
    name: "gridtally_build_info",
    help: "Version of the gridtally that wrote this file; always 1.",
};
const SUCCESS: Metric = Metric {
    name: "gridtally_run_last_success_timestamp_seconds",
    help: "End of the last run that ended well, whether or not it changed anything.",
};
const COMPLETION: Metric = Metric {
    name: "gridtally_run_last_completion_timestamp_seconds",
    help: "End of the last run, however it ended.",
};
const EXIT_CODE: Metric = Metric {
    name: "gridtally_run_last_exit_code",
    help: "Exit code of the last run.",
};
const DURATION: Metric = Metric {
    name: "gridtally_run_duration_seconds",
    help: "Wall-clock time of the last run.",
};
const ROWS: Metric = Metric {
    name: "gridtally_rows",
    help: "Rows of all input files that the lake knows, by outcome.",
};
const REJECTED: Metric = Metric {
    name: "gridtally_rejected_ratio",
    help: "Share of rejected rows among the rows of all input files that the lake knows.",
};
const NEWEST: Metric = Metric {
    name: "gridtally_source_newest_record_timestamp_seconds",
    help: "Newest record of each source in the lake: the latest of the instants that place records.",
};
const BYTES: Metric = Metric {
    name: "gridtally_lake_bytes",
    help: "Bytes of the published files of the lake.",
};

/// The metrics, in the order of the file.
pub const METRICS: [Metric; 9] = [
    BUILD, SUCCESS, COMPLETION, EXIT_CODE, DURATION, ROWS, REJECTED, NEWEST, BYTES,
];

/// Names of the labels that some of these metrics have anyway.
const OWN_LABELS: [&str; 3] = ["outcome", "source", "version"];

/// How a file of metrics begins, of this version and of others.
const BEGINNING: &str = "# HELP ";

/// A file of metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Textfile {
    /// Its path.
    path: PathBuf,
    /// Labels that every sample has.
    labels: Vec<MetricLabel>,
}

/// What the metrics of a run are made of.
#[derive(Clone, Copy, Debug)]
pub struct TextfileContent<'a> {
    /// The run, ended.
    pub report: &'a RunReport,
    /// Its end, Unix milliseconds.
    pub finished_ms: i64,
    /// Its lake; `None` where it could not be read.
    pub lake: Option<&'a LakeStanding>,
    /// When a run ended well before, as the lake notes it, Unix milliseconds.
    pub noted_success_ms: Option<i64>,
}

impl Textfile {
    /// A file at a path, with these labels in addition to those that metrics have anyway.
    ///
    /// # Errors
    /// [`Kind::Usage`] when a sample would have two labels of one name.
    pub fn new(path: PathBuf, labels: Vec<MetricLabel>) -> Result<Self> {
        let mut names = BTreeSet::from(OWN_LABELS);
        for MetricLabel { name, .. } in &labels {
            if OWN_LABELS.contains(&name.as_str()) {
                let message =
                    format!("the label {name} cannot be set: some of the metrics have it, with values of their own");
                return Err(Error::new(Kind::Usage, message));
            }
            if !names.insert(name) {
                return Err(Error::new(Kind::Usage, format!("the label {name} is given twice")));
            }
        }
        Ok(Self { path, labels })
    }

    /// Replaces the file.
    ///
    /// # Errors
    /// [`Kind::Io`] when it cannot be written, or what is there cannot be read or is no file of metrics.
    pub fn write(&self, content: &TextfileContent<'_>) -> Result<()> {
        // Fallback: without a former file nothing is taken from it.
        let former = text_of(&self.path)?.unwrap_or_default();
        if !former.is_empty() && !former.starts_with(BEGINNING) {
            let message = "what is there is no file of metrics, and stays";
            return Err(Error::io(message).at("path", self.path.display()));
        }
        replace_file(&self.path, self.text(content, &former).as_bytes())
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The text of the file that follows a former one.
    #[must_use]
    pub fn text(&self, content: &TextfileContent<'_>, former: &str) -> String {
        let TextfileContent {
            report,
            finished_ms,
            lake,
            noted_success_ms,
        } = *content;
        let mut file = Exposition::default();
        file.add(
            BUILD,
            &[self.labelled(BUILD, "version", &report.gridtally_version, "1")],
        );
        let success = if report.status == Status::Failed {
            let kept = self.kept(SUCCESS, former).pop();
            kept.or_else(|| noted_success_ms.map(|ms| self.plain(SUCCESS, &seconds(ms))))
        } else {
            Some(self.plain(SUCCESS, &seconds(finished_ms)))
        };
        file.add(SUCCESS, success.as_slice());
        file.add(COMPLETION, &[self.plain(COMPLETION, &seconds(finished_ms))]);
        // Fallback: an end without a code of its own is 0.
        let code = report.ending.exit_code.unwrap_or(0);
        file.add(EXIT_CODE, &[self.plain(EXIT_CODE, &code.to_string())]);
        file.add(DURATION, &[self.plain(DURATION, &report.seconds.to_string())]);
        let Some(lake) = lake else {
            for metric in [ROWS, REJECTED, NEWEST, BYTES] {
                file.add(metric, &self.kept(metric, former));
            }
            return file.into_text();
        };
        let rows: Vec<String> = lake
            .outcomes
            .iter()
            .map(|(outcome, n)| self.labelled(ROWS, "outcome", outcome, &n.to_string()))
            .collect();
        file.add(ROWS, &rows);
        let ratio = lake
            .rejected_ratio()
            .map(|ratio| self.plain(REJECTED, &ratio.to_string()));
        file.add(REJECTED, ratio.as_slice());
        let newest: Vec<String> = lake
            .newest_ms
            .iter()
            .map(|(source, ms)| self.labelled(NEWEST, "source", source, &seconds(*ms)))
            .collect();
        file.add(NEWEST, &newest);
        file.add(BYTES, &[self.plain(BYTES, &lake.lake_byte_n.to_string())]);
        file.into_text()
    }

    fn plain(&self, metric: Metric, value: &str) -> String {
        sample(metric, &self.labels, value)
    }

    fn labelled(&self, metric: Metric, name: &str, label: &str, value: &str) -> String {
        let mut labels = self.labels.clone();
        labels.push(MetricLabel::new(name, label));
        sample(metric, &labels, value)
    }

    /// The samples of a metric in a former file that have the labels of this one.
    fn kept(&self, metric: Metric, former: &str) -> Vec<String> {
        let plain = series(metric, &self.labels);
        let begins = plain.strip_suffix('}').unwrap_or(&plain);
        let is_kept = |line: &&str| {
            let rest = line.strip_prefix(begins);
            let is_whole = rest.is_some_and(|rest| rest.starts_with([' ', '{', '}', ',']));
            let value = line.rsplit_once(' ').map(|(_, value)| value);
            is_whole && value.is_some_and(|value| value.parse::<f64>().is_ok())
        };
        former.lines().filter(is_kept).map(str::to_owned).collect()
    }
}
