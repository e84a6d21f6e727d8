//! The text format of Prometheus: metrics with a constant help text, a type and samples without timestamps.

use std::fmt::Write as _;

use crate::error::{Error, Kind, Result};

/// A metric: what it is called, and what it is. Both are the same in every file this program writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// Its help text.
    pub help: &'static str,
}

/// A label of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricLabel {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

impl MetricLabel {
    /// A label by its name and value.
    #[must_use]
    pub fn new(name: &str, value: &str) -> Self {
        Self {
            name: name.to_owned(),
            value: value.to_owned(),
        }
    }

    /// Reads `name=value`.
    ///
    /// # Errors
    /// [`Kind::Usage`] when the name is none of a label, or there is no value.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = || Error::new(Kind::Usage, format!("{text:?} is not a label: NAME=VALUE is needed"));
        let (name, value) = text.split_once('=').ok_or_else(wrong)?;
        let is_letter = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
        let is_name = name.starts_with(is_letter)
            && name.chars().all(|letter| is_letter(letter) || letter.is_ascii_digit())
            && !name.starts_with("__");
        (is_name && !value.is_empty())
            .then(|| Self::new(name, value))
            .ok_or_else(wrong)
    }
}

/// Samples by metric, as a file has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exposition {
    text: String,
}

impl Exposition {
    /// Adds a metric with samples, each a line without its end; one without samples is left out.
    pub fn add(&mut self, metric: Metric, samples: &[String]) {
        if samples.is_empty() {
            return;
        }
        let Metric { name, help } = metric;
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} gauge");
        for sample in samples {
            let _ = writeln!(self.text, "{sample}");
        }
    }

    /// The text.
    #[must_use]
    pub fn into_text(self) -> String {
        self.text
    }
}

/// A line of a sample.
#[must_use]
pub fn sample(metric: Metric, labels: &[MetricLabel], value: &str) -> String {
    format!("{} {value}", series(metric, labels))
}

/// The name of a sample with its labels.
#[must_use]
pub fn series(metric: Metric, labels: &[MetricLabel]) -> String {
    if labels.is_empty() {
        return metric.name.to_owned();
    }
    let labels: Vec<String> = labels
        .iter()
        .map(|MetricLabel { name, value }| format!("{name}=\"{}\"", escaped(value)))
        .collect();
    format!("{}{{{}}}", metric.name, labels.join(","))
}

/// A value of a label as the format requires it.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Seconds of an instant, with three decimals where it has any.
#[must_use]
pub fn seconds(ms: i64) -> String {
    let (whole, rest) = (ms.div_euclid(1000), ms.rem_euclid(1000));
    if rest == 0 {
        whole.to_string()
    } else {
        format!("{whole}.{rest:03}")
    }
}
