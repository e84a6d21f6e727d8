//! The status of a lake: when a run ended well, how the last one ended, days that are missing, sources that fell silent; and
//! what is judged of it.

use serde::Serialize;

use super::incomplete::incomplete_days;
use super::lake_standing::LakeStanding;
use super::last_run::LastRun;
use crate::error::Result;
use crate::numbers::count_u64;
use crate::report::completeness::of_last_months;
use crate::report::lake::Lake;
use crate::run::incomplete_days::IncompleteDays;
use crate::schema::batch::{number, time};
use crate::store::Fact;
use crate::time::instant::{instant_text, parse_instant_s};

/// How bad it is. The words and exit codes are those of the plugins of Nagios.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum StatusLevel {
    /// Nothing was found.
    Ok,
    /// Somebody should look at it.
    Warning,
    /// Somebody must look at it.
    Critical,
    /// It could not be looked at.
    Unknown,
}

impl StatusLevel {
    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Warning => "WARNING",
            Self::Critical => "CRITICAL",
            Self::Unknown => "UNKNOWN",
        }
    }

    /// The exit code of a plugin.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Warning => 1,
            Self::Critical => 2,
            Self::Unknown => 3,
        }
    }
}

/// Ages from which something is judged, seconds. Without one it is only reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatusLimits {
    /// Of the last success: a warning.
    pub warning_s: Option<i64>,
    /// Of the last success: critical.
    pub critical_s: Option<i64>,
    /// Of the newest record of a source: it is silent.
    pub source_s: Option<i64>,
}

/// What is judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StatusFinding {
    /// How bad it is.
    pub level: StatusLevel,
    /// What: `last_success`, `last_run`, `incomplete`, `silent_source` or `future_records`.
    pub what: &'static str,
    /// In words.
    pub message: String,
}

/// A source of the lake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceStatus {
    /// Its name.
    pub source: String,
    /// Its newest record that is not in the future, UTC; null for one without records, such as the listings of a machine.
    pub newest_record_utc: Option<String>,
    /// Age of that, seconds; negative where it is in the day to come.
    pub age_s: Option<i64>,
    /// Whether that is older than allowed; null where no age is set.
    pub is_silent: Option<bool>,
    /// Records that are more than a day in the future.
    pub future_record_n: u64,
    /// The newest of them, UTC.
    pub newest_future_record_utc: Option<String>,
    /// Its records, where none of them states its time, as summaries may do; else zero.
    pub undated_record_n: u64,
}

/// The status of a lake. The JSON form is stable: fields are added, never renamed.
#[derive(Clone, Debug, Serialize)]
pub struct LakeStatus {
    /// The worst level of the findings.
    pub level: StatusLevel,
    /// Lake.
    pub lake: String,
    /// Pipeline.
    pub pipeline: Option<String>,
    /// What is judged, the worst first.
    pub findings: Vec<StatusFinding>,
    /// End of the last run that ended well, UTC.
    pub last_success_utc: Option<String>,
    /// Age of that, seconds.
    pub last_success_age_s: Option<i64>,
    /// The last run; null in a lake of a version that noted none.
    pub last_run: Option<LastRun>,
    /// Days of the last two months that look incomplete, as in `gridtally report completeness`.
    pub incomplete: Vec<IncompleteDays>,
    /// Sources.
    pub sources: Vec<SourceStatus>,
    /// Share of rejected rows among all rows the lake knows; null without rows.
    pub rejected_ratio: Option<f64>,
    /// Bytes of the published files.
    pub lake_byte_n: u64,
    /// What is judged by.
    #[serde(skip)]
    pub limits: StatusLimits,
}

impl LakeStatus {
    /// Looks at a lake at an instant, Unix milliseconds.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when it cannot be read, [`crate::error::Kind::Data`] when its note is damaged.
    pub fn read(lake: &Lake, limits: StatusLimits, now_ms: i64) -> Result<Self> {
        let standing = LakeStanding::read(lake, now_ms)?;
        let last_run = LastRun::load(&lake.store)?;
        let noted_s = last_run
            .as_ref()
            .and_then(|run| parse_instant_s(run.last_success_utc.as_deref()?));
        let age_s = |at_s: i64| now_ms.div_euclid(1000) - at_s;
        let known_s = [noted_s, last_change_s(lake)?];
        // A run whose clock was ahead does not hide those after it.
        let past_s = known_s.into_iter().flatten().filter(|at_s| !is_future(age_s(*at_s)));
        let success_s = past_s.max().or(known_s.into_iter().flatten().max());
        let mut status = Self {
            level: StatusLevel::Ok,
            lake: lake.store.url().to_owned(),
            pipeline: lake.manifest.facts.get(Fact::Pipeline).map(str::to_owned),
            findings: Vec::new(),
            last_success_utc: success_s.and_then(|s| instant_text(s.checked_mul(1000)?)),
            last_success_age_s: success_s.map(age_s),
            last_run,
            incomplete: (of_last_months(lake, now_ms)?.incomplete.into_iter())
                .map(incomplete_days)
                .collect(),
            sources: sources(&standing, limits, now_ms),
            rejected_ratio: standing.rejected_ratio(),
            lake_byte_n: standing.lake_byte_n,
            limits,
        };
        status.judge();
        Ok(status)
    }

    fn judge(&mut self) {
        let mut findings = Vec::new();
        let mut find = |level, what, message| findings.push(StatusFinding { level, what, message });
        let LakeStatus { limits, .. } = *self;
        let age = self.last_success_age_s;
        let exceeded = |limit: Option<i64>| limit.filter(|limit| age.is_none_or(|age| age >= *limit));
        let level = if exceeded(limits.critical_s).is_some() {
            Some((StatusLevel::Critical, limits.critical_s))
        } else {
            exceeded(limits.warning_s).map(|limit| (StatusLevel::Warning, Some(limit)))
        };
        if let Some((level, Some(limit))) = level {
            let age = age.map_or_else(
                || "no run is known to have ended well".to_owned(),
                |age| format!("the last run that ended well ended {} ago", age_text(age)),
            );
            find(
                level,
                "last_success",
                format!("{age}, the limit is {}", age_text(limit)),
            );
        }
        if let (Some(age_s), Some(at)) = (age.filter(|age_s| is_future(*age_s)), &self.last_success_utc) {
            let ahead = age_text(age_s.abs());
            let message =
                format!("the last run that ended well ended at {at}, {ahead} in the future: look at its clock");
            find(StatusLevel::Warning, "last_success", message);
        }
        if let Some(run) = self.last_run.as_ref().filter(|run| run.status == "failed") {
            let why = run.message.as_deref().and_then(|message| message.lines().next());
            let why = why.map_or_else(String::new, |why| format!(": {why}"));
            let message = format!(
                "the last run failed with {} at {}{why}",
                run.exit_code, run.finished_utc
            );
            find(StatusLevel::Warning, "last_run", message);
        }
        for days in &self.incomplete {
            find(StatusLevel::Warning, "incomplete", days.what());
        }
        for source in self.sources.iter().filter(|source| source.is_silent == Some(true)) {
            // Fallback: a silent source has an age.
            let age = age_text(source.age_s.unwrap_or(0));
            let message = format!("the newest record of the source {} is {age} old", source.source);
            find(StatusLevel::Warning, "silent_source", message);
        }
        for source in &self.sources {
            if let Some(newest) = &source.newest_future_record_utc {
                let (name, record_n) = (&source.source, source.future_record_n);
                let message =
                    format!("records of the source {name} are in the future: {record_n}, the newest at {newest}");
                find(StatusLevel::Warning, "future_records", message);
            }
        }
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
        // Fallback: without a finding nothing is wrong.
        self.level = findings.first().map_or(StatusLevel::Ok, |worst| worst.level);
        self.findings = findings;
    }

    /// Sources that fell silent.
    #[must_use]
    pub fn silent_n(&self) -> u64 {
        count_u64(
            self.sources
                .iter()
                .filter(|source| source.is_silent == Some(true))
                .count(),
        )
    }
}

/// Clocks of machines differ by less.
const CLOCK_DIFFERENCE_S: i64 = 300;

/// Whether what is so old has yet to come.
fn is_future(age_s: i64) -> bool {
    age_s < -CLOCK_DIFFERENCE_S
}

fn sources(standing: &LakeStanding, limits: StatusLimits, now_ms: i64) -> Vec<SourceStatus> {
    let of = |source: &String| {
        let newest_ms = standing.newest_ms.get(source).copied();
        let age_s = newest_ms.map(|ms| (now_ms - ms).div_euclid(1000));
        let future = standing.future.get(source);
        SourceStatus {
            source: source.clone(),
            newest_record_utc: newest_ms.and_then(instant_text),
            age_s,
            is_silent: limits.source_s.zip(age_s).map(|(limit_s, age_s)| age_s >= limit_s),
            future_record_n: future.map_or(0, |future| future.record_n),
            newest_future_record_utc: future.and_then(|future| instant_text(future.newest_ms)),
            // Fallback: a source without such records has none of them.
            undated_record_n: standing.undated_n.get(source).copied().unwrap_or(0),
        }
    };
    standing.sources.iter().map(of).collect()
}

/// End of the last run that changed something, Unix seconds: of the last page of `runs`.
fn last_change_s(lake: &Lake) -> Result<Option<i64>> {
    // The names begin with the start of a run, so the last name is the last run.
    let Some(page) = lake.store.list("runs")?.pop() else {
        return Ok(None);
    };
    let mut last = None;
    for batch in lake.batches(&page.path, Some(&["finished_utc"]))? {
        let batch = batch?;
        let finished = time(&batch, "finished_utc")?;
        let ends = (0..batch.num_rows()).filter_map(|row| number(finished, row));
        last = last.max(ends.map(|ms| ms.div_euclid(1000)).max());
    }
    Ok(last)
}

/// An age as people read it: its two largest units.
#[must_use]
pub fn age_text(age_s: i64) -> String {
    let (days, hours, minutes) = (age_s / 86_400, age_s % 86_400 / 3600, age_s % 3600 / 60);
    match (days, hours, minutes) {
        (1.., 0, _) => format!("{days} d"),
        (1.., ..) => format!("{days} d {hours} h"),
        (_, 1.., 0) => format!("{hours} h"),
        (_, 1.., _) => format!("{hours} h {minutes} min"),
        (_, _, 1..) => format!("{minutes} min"),
        _ => format!("{age_s} s"),
    }
}
