//! One summary, normalised summary or sync record, by the rules of the APEL 2.5 server.
//!
//! Left out on purpose: the server refuses a month that is in the future. That depends on the day of the run, and the
//! same input must give the same bytes on any day. A sync record of month 13 passes the server and is taken here
//! without a month, so that it alone is refused and not its message.
//!
//! Salvage also reads what archives hold: v0.2 summaries of before 2014 with `Group` for the VO and normalised
//! durations, in which all durations are **hours** (shown by the reports published from real ones); and
//! summaries without nodes, cores or benchmark, which pass the server's parser but not its database.

use super::acceptance::Acceptance;
use super::values::{lines, pair};
use super::{python_scalars, service_level};
use crate::absent;
use crate::ledger::Reason;
use crate::record::{SummaryKind, SummaryRow};
use crate::sources::refusal::Refusal;
use crate::sources::truncate::clip;
use crate::time::Month;

/// What a record of this kind looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SummaryLayout {
    /// Summary v0.2: benchmark type and value.
    Levelled,
    /// Summary v0.4: benchmarks as a dictionary.
    LevelledV04,
    /// Normalised summary, which goes by the header of a summary v0.3.
    Normalised,
    /// Normalised summary v0.4: work as dictionaries.
    NormalisedV04,
    /// Sync record.
    Sync,
}

impl SummaryLayout {
    fn kind(self) -> SummaryKind {
        match self {
            Self::Levelled | Self::LevelledV04 => SummaryKind::Summary,
            Self::Normalised | Self::NormalisedV04 => SummaryKind::NormalisedSummary,
            Self::Sync => SummaryKind::Sync,
        }
    }

    /// Whether the server knows the key in such a record. Case matters.
    fn knows(self, key: &str) -> bool {
        const SYNC: &[&str] = &["Site", "SubmitHost", "NumberOfJobs", "Month", "Year", "UpdateTime"];
        const ALL: &[&str] = &[
            "GlobalUserName",
            "VO",
            "VOGroup",
            "VORole",
            "InfrastructureDescription",
            "NodeCount",
            "Processors",
            "EarliestEndTime",
            "LatestEndTime",
            "WallDuration",
            "CpuDuration",
            "ServiceLevelType",
        ];
        let own: &[&str] = match self {
            Self::Levelled | Self::LevelledV04 => &["InfrastructureType", "ServiceLevel"],
            Self::Normalised | Self::NormalisedV04 => {
                &["Infrastructure", "NormalisedWallDuration", "NormalisedCpuDuration"]
            }
            Self::Sync => return SYNC.contains(&key),
        };
        SYNC.contains(&key) || ALL.contains(&key) || own.contains(&key)
    }
}

/// Keys and values of one record; null words are already gone, of a repeated key the last holds.
struct SummaryValues<'a> {
    pairs: Vec<(&'a str, Option<&'a str>)>,
    /// Seconds in the unit of its durations: 1, or 3600 in the old summaries.
    unit_s: i64,
}

impl<'a> SummaryValues<'a> {
    fn read(text: &'a str, shape: SummaryLayout, acceptance: Acceptance) -> Result<Self, Refusal> {
        const OLD: &[&str] = &["Group", "NormalisedWallDuration", "NormalisedCpuDuration"];
        let mut values = Self {
            pairs: Vec::with_capacity(20),
            unit_s: 1,
        };
        for line in lines(text) {
            let (key, value) = pair(line)?;
            if !shape.knows(key) {
                let is_old =
                    shape == SummaryLayout::Levelled && acceptance == Acceptance::Salvage && OLD.contains(&key);
                if !is_old {
                    let detail = format!("{:?} is not a key of a {} record", clip(key), shape.kind().as_str());
                    return Err(Refusal::new(Reason::UnknownField, detail));
                }
                values.unit_s = 3600;
            }
            let value = (!python_scalars::is_null(value)).then_some(value);
            match values.pairs.iter_mut().find(|(known, _)| *known == key) {
                Some(known) => known.1 = value,
                None => values.pairs.push((key, value)),
            }
        }
        Ok(values)
    }

    fn get(&self, key: &str) -> Option<&'a str> {
        self.pairs.iter().find(|(known, _)| *known == key)?.1
    }

    fn required(&self, key: &str) -> Result<&'a str, Refusal> {
        self.get(key)
            .ok_or_else(|| Refusal::new(Reason::MissingField, format!("{key} is missing")))
    }

    fn int(&self, key: &str, reason: Reason) -> Result<Option<i64>, Refusal> {
        let Some(text) = self.get(key) else { return Ok(None) };
        let value = python_scalars::int(text);
        let wrong = || {
            let why = if python_scalars::is_int(text) {
                "does not fit 64 bits"
            } else {
                "is not an integer"
            };
            Refusal::new(reason, format!("{key} {:?} {why}", clip(text)))
        };
        value.map(Some).ok_or_else(wrong)
    }

    /// A 32-bit count of at least 0. Python lets a negative one through; there can be none.
    fn count(&self, key: &str) -> Result<Option<i64>, Refusal> {
        let count = self.int(key, Reason::BadNumber)?;
        match count.map(i32::try_from) {
            Some(Ok(n)) if n < 0 => Err(Refusal::new(Reason::BadNumber, format!("{key} {n} is negative"))),
            Some(Err(_)) => {
                let detail = format!("{key} {:?} does not fit 32 bits", clip(absent::text(self.get(key))));
                Err(Refusal::new(Reason::BadNumber, detail))
            }
            _ => Ok(count),
        }
    }

    /// Nodes or cores, which the server's database must have; 0 is unknown.
    fn size(&self, key: &str, acceptance: Acceptance) -> Result<Option<i64>, Refusal> {
        let count = self.count(key)?;
        if count.is_none() && acceptance == Acceptance::StrictApel {
            let detail = format!("{key} is missing: the server's database takes no summary without it");
            return Err(Refusal::new(Reason::MissingField, detail));
        }
        Ok(count.filter(|&n| n > 0))
    }

    fn duration_s(&self, key: &str) -> Result<i64, Refusal> {
        self.duration(key, 1)
    }

    fn duration_ms(&self, key: &str) -> Result<i64, Refusal> {
        self.duration(key, 1000)
    }

    /// A duration in parts of a second.
    fn duration(&self, key: &str, per_s: i64) -> Result<i64, Refusal> {
        let text = self.required(key)?;
        self.int(key, Reason::BadDuration)?
            .filter(|&value| value >= 0)
            .and_then(|value| value.checked_mul(self.unit_s)?.checked_mul(per_s))
            .ok_or_else(|| {
                Refusal::new(
                    Reason::BadDuration,
                    format!("{key} {:?} is negative or too long", clip(text)),
                )
            })
    }

    fn time_ms(&self, key: &str) -> Result<Option<i64>, Refusal> {
        let Some(text) = self.get(key) else { return Ok(None) };
        let wrong = || {
            let detail = format!(
                "{key} {:?} is neither Unix seconds nor YYYY-MM-DDTHH:MM:SSZ",
                clip(text)
            );
            Refusal::new(Reason::BadTime, detail)
        };
        python_scalars::datetime_s(text)
            .map(|s| Some(s * 1000))
            .ok_or_else(wrong)
    }

    /// When the record was last written, as set by its publisher: Unix seconds, or a time as messages or the server's
    /// database print it. The server takes anything here, so any other text counts as no time.
    fn made_ms(&self) -> Option<i64> {
        let text = self.get("UpdateTime")?;
        let second = python_scalars::datetime_s(text)
            .or_else(|| python_scalars::datetime_s(&format!("{}Z", text.replacen(' ', "T", 1))));
        second.map(|second| second * 1000)
    }

    fn month(&self, is_checked: bool) -> Result<Option<Month>, Refusal> {
        let (month, year) = (self.required("Month")?, self.required("Year")?);
        let number = |key| self.int(key, Reason::BadTime);
        let found = number("Month")?
            .zip(number("Year")?)
            .and_then(|(month, year)| Month::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?));
        if found.is_none() && is_checked {
            let detail = format!("there is no month {} of year {}", clip(month), clip(year));
            return Err(Refusal::new(Reason::BadTime, detail));
        }
        Ok(found)
    }
}

/// Reads the text of one record, without the `%%` and without blanks around it.
pub(super) fn parse(text: &str, shape: SummaryLayout, acceptance: Acceptance) -> Result<SummaryRow<'_>, Refusal> {
    let values = SummaryValues::read(text, shape, acceptance)?;
    let mut row = SummaryRow {
        kind: shape.kind(),
        view: "batch",
        site: Some(values.required("Site")?),
        month: values.month(shape != SummaryLayout::Sync)?,
        submit_host: values.get("SubmitHost"),
        made_ms: values.made_ms(),
        job_n: values.count("NumberOfJobs")?,
        ..SummaryRow::default()
    };
    values.required("NumberOfJobs")?;
    if shape == SummaryLayout::Sync {
        return Ok(row);
    }
    row.vo = values.get("VO").or_else(|| values.get("Group"));
    row.vo_group = values.get("VOGroup");
    row.vo_role = values.get("VORole");
    row.global_user = values.get("GlobalUserName");
    row.infrastructure = values
        .get("InfrastructureType")
        .or_else(|| values.get("Infrastructure"));
    row.infrastructure_description = values.get("InfrastructureDescription");
    row.alloc_node_n = values.size("NodeCount", acceptance)?;
    row.alloc_core_n = values.size("Processors", acceptance)?;
    row.wall_ms = Some(values.duration_ms("WallDuration")?);
    row.cpu_ms = Some(values.duration_ms("CpuDuration")?);
    row.earliest_end_ms = values.time_ms("EarliestEndTime")?;
    row.latest_end_ms = values.time_ms("LatestEndTime")?;
    check_ends(&row)?;
    benchmark(&values, shape, acceptance, &mut row)?;
    Ok(row)
}

/// Both ends are in the month, whose last instant is the first of the next, and in their order.
fn check_ends(row: &SummaryRow<'_>) -> Result<(), Refusal> {
    let Some(month) = row.month else { return Ok(()) };
    let midnight_ms = |day: i32| i64::from(day) * 86_400_000;
    let within = midnight_ms(month.first_day())..=midnight_ms(month.next().first_day());
    for (key, end_ms) in [
        ("EarliestEndTime", row.earliest_end_ms),
        ("LatestEndTime", row.latest_end_ms),
    ] {
        if let Some(end_ms) = end_ms.filter(|end_ms| !within.contains(end_ms)) {
            let detail = format!("{key} {} is outside the month {month}", end_ms / 1000);
            return Err(Refusal::new(Reason::BadTime, detail));
        }
    }
    match (row.earliest_end_ms, row.latest_end_ms) {
        (Some(earliest), Some(latest)) if earliest > latest => {
            let detail = "EarliestEndTime is after LatestEndTime".to_owned();
            Err(Refusal::new(Reason::BadTime, detail))
        }
        _ => Ok(()),
    }
}

fn benchmark<'a>(
    values: &SummaryValues<'a>,
    shape: SummaryLayout,
    acceptance: Acceptance,
    row: &mut SummaryRow<'a>,
) -> Result<(), Refusal> {
    let (kind, level) = (values.get("ServiceLevelType"), values.get("ServiceLevel"));
    match (shape, level) {
        (SummaryLayout::Levelled, _) if values.unit_s != 1 => {
            // Work in hours, without its benchmark.
            row.kind = SummaryKind::NormalisedSummary;
            row.normalised_wall_s = Some(values.duration_s("NormalisedWallDuration")?);
            row.normalised_cpu_s = Some(values.duration_s("NormalisedCpuDuration")?);
            row.service_level_type = kind;
        }
        (SummaryLayout::Levelled | SummaryLayout::LevelledV04, None) => {
            if acceptance == Acceptance::StrictApel {
                let detail = "ServiceLevel is missing: the server's database takes no summary without it".to_owned();
                return Err(Refusal::new(Reason::MissingField, detail));
            }
            row.service_level_type = kind;
        }
        (SummaryLayout::Levelled, Some(level)) => {
            // The type is not checked by the server: `weird` is stored, and scaled as if it were HEPSPEC06.
            row.service_level_type = kind;
            row.benchmark = kind.and_then(service_level::benchmark);
            row.benchmark_milli_per_core = Some(service_level::value(level)?);
        }
        (SummaryLayout::LevelledV04, level) => {
            let level = service_level::dictionary(kind, level)?;
            row.benchmark = Some(level.benchmark);
            row.service_level_type = Some(stored(level.benchmark));
            row.benchmark_milli_per_core = Some(level.milli_per_core);
        }
        (SummaryLayout::Normalised, _) => {
            row.normalised_wall_s = Some(values.duration_s("NormalisedWallDuration")?);
            row.normalised_cpu_s = Some(values.duration_s("NormalisedCpuDuration")?);
            row.service_level_type = kind;
            row.benchmark = kind.and_then(service_level::benchmark);
        }
        (SummaryLayout::NormalisedV04, _) => {
            let (of_wall, wall_s) = work(values, "NormalisedWallDuration")?;
            let (of_cpu, cpu_s) = work(values, "NormalisedCpuDuration")?;
            let is_mixed =
                of_wall != of_cpu || kind.is_some_and(|kind| service_level::benchmark(kind) != Some(of_wall));
            if is_mixed {
                let detail = "the normalised durations are of different benchmarks".to_owned();
                return Err(Refusal::new(Reason::BadBenchmark, detail));
            }
            row.benchmark = Some(of_wall);
            row.service_level_type = Some(stored(of_wall));
            (row.normalised_wall_s, row.normalised_cpu_s) = (Some(wall_s), Some(cpu_s));
        }
        (SummaryLayout::Sync, _) => {}
    }
    // A benchmark below zero cannot be, though the server stores it.
    if row.benchmark_milli_per_core.is_some_and(|milli| milli < 0) {
        row.benchmark_milli_per_core = None;
    }
    Ok(())
}

/// The spelling under which the server stores what it picked from a dictionary.
fn stored(benchmark: &str) -> &'static str {
    match benchmark {
        "hs23" => "hepscore23",
        "hs06" => "hepspec",
        _ => "si2k",
    }
}

/// The preferred entry of a dictionary of work; fractions of a second are cut off, as the server does.
fn work(values: &SummaryValues<'_>, key: &str) -> Result<(&'static str, i64), Refusal> {
    let text = values.required(key)?;
    let bad = |why: &str| Refusal::new(Reason::BadDuration, format!("{key} {:?}: {why}", clip(text)));
    let (benchmark, number) = service_level::pick(text).map_err(bad)?;
    let seconds = python_scalars::truncated(number).ok_or_else(|| bad("it is not a number"))?;
    if seconds < 0 {
        return Err(bad("it is negative"));
    }
    Ok((benchmark, seconds))
}
