//! What inspecting a file found, for people and for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::ledger::Reason;
use crate::sources::compression::Compression;
use crate::sources::cross_check::CrossCheck;
use crate::sources::dialect::Dialect;
use crate::sources::input::InputFile;

/// How many input rows ended for one reason.
#[derive(Clone, Debug, Serialize)]
pub struct ReasonCount {
    /// `accepted`, `rejected` or `out_of_scope`.
    pub outcome: &'static str,
    /// Code of the reason.
    pub reason: &'static str,
    /// What the reason means.
    pub meaning: &'static str,
    /// Input rows.
    pub row_n: u64,
    /// The first few, with line and detail.
    pub examples: Vec<String>,
}

/// How many jobs, or aggregates, bear a value.
#[derive(Clone, Debug, Serialize)]
pub struct ValueCount {
    /// The value.
    pub value: String,
    /// Jobs.
    pub job_n: u64,
}

/// When the jobs of a file ran.
#[derive(Clone, Debug, Serialize)]
pub struct InspectedPeriod {
    /// Earliest start, UTC, ISO 8601.
    pub earliest_start_utc: Option<String>,
    /// Latest end, UTC, ISO 8601.
    pub latest_end_utc: Option<String>,
}

impl InspectedPeriod {
    pub(super) fn new(start_ms: Option<i64>, end_ms: Option<i64>) -> Self {
        let text = |ms: Option<i64>| ms.and_then(crate::time::instant::instant_text);
        Self {
            earliest_start_utc: text(start_ms),
            latest_end_utc: text(end_ms),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.earliest_start_utc.is_none() && self.latest_end_utc.is_none()
    }
}

/// What is known about one file. Counts are absent when no reader could read it.
#[derive(Clone, Debug, Serialize)]
pub struct FileReport {
    /// Path or URL.
    pub path: String,
    /// Size as stored, bytes.
    pub size_byte: u64,
    /// `none`, `gzip`, `zstd`, `bzip2` or `xz`.
    pub compression: &'static str,
    /// The word of the pipeline file's `format`, `archive`, or the form of an inventory; absent when unknown.
    pub dialect: Option<&'static str>,
    /// The evidence for the version of the format.
    pub version: Option<String>,
    /// Columns of the table.
    pub column_n: Option<usize>,
    /// Delimiter of the table.
    pub delimiter: Option<String>,
    /// How a table prints its times.
    pub times: Option<String>,
    /// First bytes of a file nothing is known about.
    pub first_bytes: Option<String>,
    /// Input rows.
    pub row_n: Option<u64>,
    /// Jobs among them.
    pub job_n: Option<u64>,
    /// Step rows folded into jobs.
    pub step_n: Option<u64>,
    /// Aggregates by kind: `summary`, `normalised_summary`, `sync`.
    pub aggregates: Vec<ValueCount>,
    /// When the jobs ran; of aggregates, their months.
    pub period: Option<InspectedPeriod>,
    /// The sums of a file about the machine: nodes, CPUs, ...
    pub inventory: BTreeMap<&'static str, i128>,
    /// Rows by outcome and reason.
    pub outcomes: Vec<ReasonCount>,
    /// Sites the records name, most frequent first.
    pub sites: Vec<ValueCount>,
    /// Clusters.
    pub clusters: Vec<ValueCount>,
    /// Views.
    pub views: Vec<ValueCount>,
    /// VOs.
    pub vos: Vec<ValueCount>,
    /// Oddities the reader noticed.
    pub anomalies: Vec<ValueCount>,
    /// Why the file could not be read to its end; the counts are those up to there.
    pub failure: Option<String>,
    /// What to look at before this file is accounted.
    pub problems: Vec<String>,
    /// Rows kept by `acceptance = "salvage"` that are refused otherwise, where there are any: the counts are with them.
    pub salvaged_row_n: Option<u64>,
    /// Comparison of the two forms of records that exist in both, when it was requested.
    pub cross_check: Option<CrossCheck>,
    /// A `[[source]]` or `[[inventory]]` to start from.
    pub proposal: Option<String>,
}

impl FileReport {
    pub(super) fn new(
        input: &InputFile,
        compression: Compression,
        dialect: Option<Dialect>,
        version: Option<String>,
    ) -> Self {
        Self {
            path: input.path.clone(),
            size_byte: input.bytes,
            compression: compression.as_str(),
            dialect: dialect.map(Dialect::as_str),
            version,
            column_n: None,
            delimiter: None,
            times: None,
            first_bytes: None,
            row_n: None,
            job_n: None,
            step_n: None,
            aggregates: Vec::new(),
            period: None,
            inventory: BTreeMap::new(),
            outcomes: Vec::new(),
            sites: Vec::new(),
            clusters: Vec::new(),
            views: Vec::new(),
            vos: Vec::new(),
            anomalies: Vec::new(),
            failure: None,
            problems: Vec::new(),
            salvaged_row_n: None,
            cross_check: None,
            proposal: None,
        }
    }

    /// Adds the comparison, and reports every field the forms disagree on.
    pub(super) fn crossed(&mut self, check: CrossCheck) {
        if check.document_n == 0 {
            let problem = "nothing to cross-check: no record is there in two forms that can be read";
            self.problems.push(problem.to_owned());
        }
        for (field, found) in check.differences() {
            let n = found.differ_n + found.only_flat_n + found.only_xml_n;
            // Fallback: a finding without an example is shown without one.
            let example = found.example.as_deref().unwrap_or_default();
            self.problems.push(format!(
                "cross-check: {field} differs in {n} documents, such as {example}"
            ));
        }
        if let Some(example) = &check.unreadable_example {
            let n = check.unreadable_n;
            self.problems.push(format!(
                "cross-check: the XML of {n} documents cannot be read, such as {example}"
            ));
        }
        self.cross_check = Some(check);
    }

    /// Whether it is configuration of which no line lists a part of the machine, such as `gres.conf`.
    pub(super) fn has_settings_only(&self) -> bool {
        let setting = Reason::Setting.code();
        !self.outcomes.is_empty() && self.outcomes.iter().all(|count| count.reason == setting)
    }

    /// Why no source can be proposed for it.
    pub(super) fn refusal(&self) -> String {
        let reasons: Vec<&str> = match &self.failure {
            Some(failure) if self.dialect.is_some() => vec![failure],
            failure => failure.iter().chain(&self.problems).map(String::as_str).collect(),
        };
        reasons.join("; ")
    }

    /// The report as text for a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = format!("{}\n", self.path);
        // Writing to a string cannot fail.
        let mut line = |key: &str, value: &str| {
            let _ = writeln!(out, "  {key:<12} {value}");
        };
        line(
            "size",
            &format!("{} bytes, compression {}", self.size_byte, self.compression),
        );
        let version = self
            .version
            .as_ref()
            .map_or_else(String::new, |version| format!(", {version}"));
        line("dialect", &format!("{}{version}", self.dialect.unwrap_or("unknown")));
        if let (Some(column_n), Some(delimiter)) = (self.column_n, &self.delimiter) {
            line("columns", &format!("{column_n}, delimiter {delimiter:?}"));
        }
        if let Some(times) = &self.times {
            line("times", times);
        }
        if let Some(bytes) = &self.first_bytes {
            line("begins with", bytes);
        }
        if let (Some(row_n), Some(job_n), Some(step_n)) = (self.row_n, self.job_n, self.step_n) {
            let of_jobs = format!("{row_n} ({job_n} jobs, {step_n} steps)");
            line(
                "rows",
                &if self.inventory.is_empty() {
                    of_jobs
                } else {
                    row_n.to_string()
                },
            );
        }
        if !self.inventory.is_empty() {
            let sums: Vec<String> = self.inventory.iter().map(|(what, n)| format!("{what} {n}")).collect();
            line("machine", &sums.join(", "));
        }
        if let Some(period) = &self.period {
            let text = |end: &Option<String>| end.clone().unwrap_or_else(|| "?".to_owned());
            let (start, end) = (text(&period.earliest_start_utc), text(&period.latest_end_utc));
            line("period", &format!("{start} to {end}"));
        }
        for count in &self.outcomes {
            let meaning = count.meaning.trim_end_matches('.');
            line(count.outcome, &format!("{} {}: {meaning}", count.row_n, count.reason));
            for example in &count.examples {
                line("", &format!("  {example}"));
            }
        }
        let values = [
            ("sites", &self.sites),
            ("clusters", &self.clusters),
            ("views", &self.views),
            ("aggregates", &self.aggregates),
            ("VOs", &self.vos),
            ("anomalies", &self.anomalies),
        ];
        for (key, counts) in values.iter().filter(|(_, counts)| !counts.is_empty()) {
            let counts: Vec<String> = counts
                .iter()
                .map(|count| format!("{} {}", count.value, count.job_n))
                .collect();
            line(key, &counts.join(", "));
        }
        if let Some(check) = &self.cross_check {
            let digits: u64 = check.fields.values().map(|field| field.last_digits_n).sum();
            let text = format!(
                "{} of {} documents agree in both forms ({digits} numbers up to the last digits of a float), {} keep no \
                 XML",
                check.agreeing_n, check.document_n, check.without_xml_n
            );
            line("cross-check", &text);
        }
        if let Some(failure) = &self.failure {
            line("FAILURE", failure);
        }
        for problem in &self.problems {
            line("problem", problem);
        }
        if let Some(proposal) = &self.proposal {
            out.push('\n');
            for text in proposal.lines() {
                let _ = writeln!(out, "  {text}");
            }
        }
        out
    }
}
