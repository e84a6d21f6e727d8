//! What a run reports of jobs that its inputs hold twice.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

/// An input file that copies are of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CopiedFile {
    /// Its path.
    pub path: String,
    /// Its id, by which contents of one path differ.
    pub file_id: String,
    /// This content is no longer among the inputs: the file is gone, or was replaced.
    #[serde(skip)]
    pub is_gone: bool,
}

/// Files named in an error.
pub(super) const NAMED: usize = 10;

/// Jobs of one file of a site that other files contain as well, with times, a cluster or a dialect that differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CopiedReport {
    /// Site.
    pub site: String,
    /// The file read in this run.
    pub file: String,
    /// Its id.
    pub file_id: String,
    /// The cluster its jobs are of.
    pub cluster: Option<String>,
    /// The files that contain the same jobs.
    pub of_files: Vec<String>,
    /// Those of them whose content is no longer among the inputs; the lake keeps its jobs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub of_gone: Vec<CopiedFile>,
    /// The file itself contains the same jobs once more.
    #[serde(skip)]
    pub is_within: bool,
    /// The cluster they are of there.
    pub of_cluster: Option<String>,
    /// Dialect of the file, where that of the other files is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<&'static str>,
    /// Dialect of the other files, where it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_format: Option<&'static str>,
    /// By how much its times are later, seconds; negative where they are earlier.
    pub shift_s: i64,
    /// How many jobs; about, if `is_estimate`.
    pub job_n: u64,
    /// Of how many of the file and site.
    pub of_job_n: u64,
    /// Core hours of these jobs, which would count twice, in tenths; about, if `is_estimate`.
    pub core_hour_tenths: u128,
    /// Where in the file the first of them begins, bytes after decompression; `None` where the whole file is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<u64>,
    /// Where in the file the last of them begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_byte: Option<u64>,
    /// One of the two rows of each job has no end, or both have none.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_open: bool,
    /// Only a sample of the jobs was compared.
    pub is_estimate: bool,
}

/// A line for each, with the words that precede it.
pub(crate) fn copied_text(words: &str, reports: &[CopiedReport]) -> String {
    reports.iter().fold(String::new(), |mut text, report| {
        let _ = writeln!(text, "  {words}: {}", report.sentence());
        text
    })
}

impl CopiedReport {
    /// It in a sentence.
    pub(crate) fn sentence(&self) -> String {
        let about = if self.is_estimate { "about " } else { "" };
        let place = |path: &String| match self.of_gone.iter().find(|gone| gone.path == *path) {
            Some(CopiedFile { file_id, .. }) => {
                format!("what {path} (file_id {file_id}) contained, which is no longer among the inputs,")
            }
            None => path.clone(),
        };
        let (first, more) = match self.of_files.as_slice() {
            [] => ("another file".to_owned(), String::new()),
            [_] if self.is_within => ("the same file once more".to_owned(), String::new()),
            [only] => (place(only), String::new()),
            [first, _] => (place(first), " and 1 more file".to_owned()),
            [first, more @ ..] => (place(first), format!(" and {} more files", more.len())),
        };
        let is_of_two_dialects = self.format != self.of_format;
        let mut how = String::new();
        if self.shift_s != 0 {
            let word = if self.shift_s > 0 { "earlier" } else { "later" };
            let _ = write!(how, ", {} {word} there", duration(self.shift_s.unsigned_abs()));
        }
        if self.cluster != self.of_cluster && !is_of_two_dialects {
            let name = |cluster: &Option<String>| cluster.clone().unwrap_or_else(|| "without a name".to_owned());
            let _ = write!(
                how,
                ", of cluster {} there and {} here",
                name(&self.of_cluster),
                name(&self.cluster)
            );
        }
        if let (Some(format), Some(of_format)) = (&self.format, &self.of_format) {
            let _ = write!(how, ", as {of_format} there and {format} here");
        } else if self.shift_s == 0 && self.cluster == self.of_cluster && self.first_byte.is_none() {
            how.push_str(", and one of the two files has no raw job numbers");
        }
        let cluster = self
            .cluster
            .as_ref()
            .map_or_else(String::new, |name| format!(", cluster {name},"));
        let core_hours = match self.core_hour_tenths {
            0 => "core hours below 0.1 or unknown".to_owned(),
            tenths => format!("{about}{}.{} core hours", tenths / 10, tenths % 10),
        };
        let place = match (self.first_byte, self.last_byte) {
            (Some(first), Some(last)) => format!(" (bytes {first} to {last})"),
            _ => String::new(),
        };
        let facts = if self.is_open {
            "number and wait, without an end in one of them, and the same user and cores"
        } else if is_of_two_dialects {
            "number, start and duration, and the same cores"
        } else {
            "number and duration, and the same user and cores"
        };
        format!(
            "{}{place}: {about}{} of {} jobs of {}{cluster} are in {first}{more} with the same {facts} as far as both state \
             them{how}; {core_hours}",
            self.file, self.job_n, self.of_job_n, self.site,
        )
    }
}

/// What to do about copies that stop a run.
pub(super) fn advice(reports: &[CopiedReport]) -> String {
    let mut advice = "\n  set the timezone the file was printed in or print it again with TZ=UTC, name the cluster as in the other \
                      file, print the file again with raw job numbers, or take it out; copied_jobs = \"keep\" in [pipeline] \
                      counts such jobs twice"
        .to_owned();
    let gone: BTreeMap<&str, &str> = (reports.iter().flat_map(|report| &report.of_gone))
        .map(|gone| (gone.file_id.as_str(), gone.path.as_str()))
        .collect();
    if gone.is_empty() {
        return advice;
    }
    let named = gone
        .iter()
        .take(NAMED)
        .map(|(file_id, path)| format!("{file_id} for {path}"));
    let named: Vec<String> = named.collect();
    let more = gone.len().checked_sub(NAMED).filter(|more| *more > 0);
    let more = more.map_or_else(String::new, |more| format!(" and {more} more"));
    let _ = write!(
        advice,
        "\n  the lake keeps the jobs of contents that are no longer among the inputs: where those are the wrong ones, void them by a \
         correction with action void, their file_id and no other filter ({}{more}), or run into a new lake",
        named.join(", ")
    );
    advice
}

/// A span of time as people read it: days where it is longer than zones are apart.
fn duration(seconds: u64) -> String {
    const DAY_S: u64 = 86_400;
    let (days, rest) = (seconds / DAY_S, seconds % DAY_S);
    let clock = format!("{}:{:02}", rest / 3600, rest / 60 % 60);
    let clock = match rest % 60 {
        0 => format!("{clock} h"),
        second => format!("{clock}:{second:02} h"),
    };
    match days {
        0 => clock,
        days => format!("{days} d {clock}"),
    }
}
