//! The status of a lake as text: for people, and for Nagios and its kin.

use std::fmt::Write as _;

use super::status::{LakeStatus, SourceStatus, StatusLevel, age_text};

impl LakeStatus {
    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("{}: {}\n", self.level.as_str(), self.lake);
        // Writing to a string cannot fail.
        let _ = match (&self.last_success_utc, self.last_success_age_s) {
            (Some(at), Some(age)) => writeln!(text, "  last success: {at}, {} ago", age_text(age)),
            _ => writeln!(text, "  last success: none is known"),
        };
        if let Some(run) = &self.last_run {
            let warnings = match run.warning_n {
                0 => String::new(),
                1 => ", 1 warning".to_owned(),
                n => format!(", {n} warnings"),
            };
            let _ = writeln!(
                text,
                "  last run: {}, exit code {}{warnings}, ended {} ({})",
                run.status, run.exit_code, run.finished_utc, run.run_id
            );
            for warning in &run.warnings {
                let _ = writeln!(text, "    {warning}");
            }
        }
        for source in &self.sources {
            let _ = match (&source.newest_record_utc, source.age_s) {
                (Some(at), Some(age)) => {
                    writeln!(
                        text,
                        "  source {}: newest record {at}, {} old",
                        source.source,
                        age_text(age.max(0))
                    )
                }
                _ => writeln!(text, "  source {}: {}", source.source, without_newest(source)),
            };
        }
        for finding in &self.findings {
            let _ = writeln!(text, "  {}: {}", finding.level.as_str(), finding.message);
        }
        text
    }

    /// As a plugin of Nagios prints it: the state and the worst finding with performance data in the first line, all findings
    /// in further ones.
    #[must_use]
    pub fn nagios(&self) -> String {
        let words = match (self.findings.as_slice(), self.last_success_age_s) {
            ([], Some(age)) => format!("last success {} ago", age_text(age)),
            ([], None) => "no run is known to have ended well, and no limit is set".to_owned(),
            ([only], _) => only.message.clone(),
            ([first, rest @ ..], _) => format!("{} (and {} more)", first.message, rest.len()),
        };
        let mut text = format!("{}|{}\n", plugin_line(self.level, &words), self.performance());
        if self.findings.len() > 1 {
            for finding in &self.findings {
                let _ = writeln!(text, "{}", plugin_line(finding.level, &finding.message));
            }
        }
        text
    }

    /// `label=value[unit];warning;critical;minimum;maximum`, separated by blanks.
    fn performance(&self) -> String {
        let limit = |limit: Option<i64>| limit.map_or_else(String::new, |limit| limit.to_string());
        let mut data = Vec::new();
        if let Some(age) = self.last_success_age_s {
            let (warning, critical) = (limit(self.limits.warning_s), limit(self.limits.critical_s));
            data.push(format!("last_success_age={age}s;{warning};{critical};0"));
        }
        if let Some(run) = &self.last_run {
            data.push(format!("last_exit_code={};;;0", run.exit_code));
            data.push(format!("last_warnings={};;;0", run.warning_n));
        }
        data.push(format!("incomplete={};;;0", self.incomplete.len()));
        data.push(format!("silent_sources={};;;0", self.silent_n()));
        if let Some(ratio) = self.rejected_ratio {
            data.push(format!("rejected_ratio={ratio};;;0;1"));
        }
        data.push(format!("lake_bytes={}B;;;0", self.lake_byte_n));
        for source in &self.sources {
            if let Some(age) = source.age_s {
                let label = label(&format!("newest_record_age_{}", source.source));
                data.push(format!("{label}={age}s;{};;0", limit(self.limits.source_s)));
            }
        }
        data.join(" ")
    }
}

/// The line of a plugin: a state and one line of words, without the sign that begins performance data.
#[must_use]
pub fn plugin_line(level: StatusLevel, words: &str) -> String {
    let words = words.replace('|', "/").replace(['\n', '\r'], " ");
    format!("{} - {words}", level.as_str())
}

/// A label of performance data: quoted where it has to be, without an equals sign.
fn label(text: &str) -> String {
    let text = text.replace('=', "_");
    if text.contains([' ', '\'', '"', ';']) {
        format!("'{}'", text.replace('\'', "''"))
    } else {
        text
    }
}

/// Why a source has no newest record.
fn without_newest(source: &SourceStatus) -> String {
    match (source.future_record_n, source.undated_record_n) {
        (0, 0) => "it has no records".to_owned(),
        (0, n) => format!("none of its {n} records states when its jobs ended"),
        (n, _) => format!("its {n} records are all of the future"),
    }
}
