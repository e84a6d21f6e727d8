//! The records room's front desk: takes what a reader says, resolves site and VO, seals identity, and keeps the tally.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::RecordBatch;

use super::anomaly::Anomaly;
use super::columns::{Columns, Origin, Sealed};
use super::identity::{DAY_MS, content_hash, record_id, record_ms};
use super::mapping::MappingCounts;
use super::row::JobRow;
use crate::error::{Error, Result};
use crate::ledger::Reason;
use crate::pipeline::plan::VoRule;
use crate::pipeline::{Format, SourcePlan};
use crate::reference::site::SiteRule;
use crate::reference::vo_corrections::VoOrigin;
use crate::sources::{Position, Sink};
use crate::time::Month;

/// No job holds this many cores, nodes or GPUs, runs this long (ms) or uses this much CPU (ms): beyond it a number is
/// a mistake. The products of two of them fit 63 bits.
const COUNT_LIMIT: i64 = 100_000_000;
const WALL_LIMIT_MS: i64 = 10_000_000_000_000;
const CPU_LIMIT_MS: i64 = 1_000_000_000_000_000_000;
/// Jobs lie between 1970 and 2200; anything else is a broken clock.
const TIME_LIMIT_MS: std::ops::Range<i64> = 0..7_258_118_400_000;
/// 2^64 nanoseconds in milliseconds: where a wrapped counter lands.
const COUNTER_WRAP_MS: i64 = 18_446_744_073_000;

/// Rows of a waiting batch: so many that its dictionaries pay, so few that no thread holds much back.
const BATCH_ROWS: usize = 8192;

/// One refusal, as `rejects` stores it.
#[derive(Clone, Debug)]
pub struct Reject {
    /// Why.
    pub reason: Reason,
    /// Where.
    pub at: Position,
    /// Rows refused together.
    pub rows: u64,
    /// Field, value and why.
    pub detail: String,
    /// Raw text.
    pub raw: Vec<u8>,
}

/// Where rows went that did not become candidates for `records`: (site, month, reason) -> rows.
pub type Tally = BTreeMap<(Option<String>, Option<Month>, Reason), u64>;

/// Day bucket a record belongs to: everything that can be the same job is in the same bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bucket {
    /// Index into [`Harvest::sites`].
    pub site: u32,
    /// Days since 1970 of `record_utc`.
    pub day: i32,
}

/// What one piece of input came to.
pub struct Harvest {
    /// The records, in reading order, as a waiting batch.
    pub batch: RecordBatch,
    /// Bucket of each record.
    pub buckets: Vec<Bucket>,
    /// Sites named by the buckets.
    pub sites: Vec<String>,
    /// Refusals.
    pub rejects: Vec<Reject>,
    /// Rows that are not candidates.
    pub tally: Tally,
    /// Rules that gave VO and site, and names they do not know.
    pub mapping: MappingCounts,
    /// Rows the reader framed.
    pub rows_read: u64,
    /// Rows that are candidates, steps included.
    pub rows_candidate: u64,
}

/// Months a run was asked for, both included; `None` is open.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    /// First month.
    pub from: Option<Month>,
    /// Last month.
    pub to: Option<Month>,
}

impl Window {
    /// Whether every month is asked for.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.from.is_none() && self.to.is_none()
    }

    /// Whether `month` is asked for.
    #[must_use]
    pub fn holds(&self, month: Month) -> bool {
        self.from.is_none_or(|from| month >= from) && self.to.is_none_or(|to| month <= to)
    }
}

/// A [`Sink`] for one thread and one input file.
pub struct Intake {
    source: Arc<SourcePlan>,
    format: Format,
    file_id: Arc<str>,
    window: Window,
    columns: Columns,
    buckets: Vec<Bucket>,
    sites: Vec<String>,
    rejects: Vec<Reject>,
    tally: Tally,
    mapping: MappingCounts,
    rows_read: u64,
    rows_candidate: u64,
    scratch: Vec<u8>,
    failure: Option<Error>,
}

impl Intake {
    /// An intake for `file_id`, read as `format` for `source`; `columns` are empty, their room is used again.
    #[must_use]
    pub fn new(source: Arc<SourcePlan>, format: Format, file_id: Arc<str>, window: Window, columns: Columns) -> Self {
        Self {
            source,
            format,
            file_id,
            window,
            columns,
            buckets: Vec::new(),
            sites: Vec::new(),
            rejects: Vec::new(),
            tally: Tally::new(),
            mapping: MappingCounts::default(),
            rows_read: 0,
            rows_candidate: 0,
            scratch: Vec::with_capacity(1024),
            failure: None,
        }
    }

    /// Whether it holds as much as is worth a waiting batch. Refusals come with their raw text and do not wait.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.columns.rows() >= BATCH_ROWS || !self.rejects.is_empty()
    }

    /// Everything taken in, and the columns, empty again.
    ///
    /// # Errors
    /// [`crate::error::Kind::Internal`] when the columns disagree.
    pub fn harvest(mut self) -> Result<(Harvest, Columns)> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let harvest = Harvest {
            batch: self.columns.finish(Origin {
                source: &self.source.name,
                format: self.format.as_str(),
                file_id: &self.file_id,
            })?,
            buckets: self.buckets,
            sites: self.sites,
            rejects: self.rejects,
            tally: self.tally,
            mapping: self.mapping,
            rows_read: self.rows_read,
            rows_candidate: self.rows_candidate,
        };
        Ok((harvest, self.columns))
    }

    fn site_index(&mut self, site: &str) -> u32 {
        // Nearly always the last one: files hold one site, or long runs of one.
        let found = self.sites.iter().rposition(|known| known == site);
        let index = found.unwrap_or_else(|| {
            self.sites.push(site.to_owned());
            self.sites.len() - 1
        });
        u32::try_from(index).unwrap_or(u32::MAX)
    }

    fn refuse(&mut self, reason: Reason, at: Position, rows: u64, row: &JobRow<'_>, detail: &str) {
        let raw = format!("{row:?}");
        self.reject(reason, at, rows, detail, raw.as_bytes());
    }

    /// The site by a rule; which one fired is counted.
    fn site<'r>(&mut self, rule: &'r SiteRule, row: &JobRow<'r>) -> Option<&'r str> {
        let (site, fired) = rule.site(row);
        if let Some(fired) = fired {
            let unknown = (fired == "unmapped").then(|| {
                let payload = row.payload_site.filter(|_| row.view == "payload");
                payload.or(row.cluster).or(row.site).unwrap_or("(none)")
            });
            self.mapping.site(fired, unknown);
        }
        site
    }

    /// The VO by a rule; which of GRACC's corrections fired is counted.
    fn vo<'r>(&mut self, rule: &'r VoRule, row: &JobRow<'r>) -> Option<&'r str> {
        if let VoRule::Corrections(corrections) = rule {
            let (vo, origin) = corrections.resolve(row);
            let is_unknown = matches!(origin, VoOrigin::Unmapped | VoOrigin::Sentinel);
            let unknown = row.vo_name.or(row.vo).filter(|_| is_unknown);
            self.mapping.vo(origin.as_str(), unknown);
            return vo;
        }
        let vo = rule.vo(row);
        if let (VoRule::Table(_), None) = (rule, vo) {
            self.mapping.vo("unmapped", row.vo_name.or(row.vo).or(row.account));
        }
        vo
    }

    fn count(&mut self, site: Option<&str>, month: Option<Month>, reason: Reason, rows: u64) {
        *self.tally.entry((site.map(str::to_owned), month, reason)).or_default() += rows;
    }
}

impl Sink for Intake {
    fn rows_read(&mut self, n: u64) {
        self.rows_read += n;
    }

    fn job(&mut self, row: &JobRow<'_>, at: Position, step_n: u32) {
        let rows = 1 + u64::from(step_n);
        let source = Arc::clone(&self.source);
        let site = match &source.site {
            Some(site) => Some(site.as_str()),
            None => self.site(&source.site_rule, row),
        };
        let site = site.filter(|site| !site.is_empty());
        let Some(site) = site else {
            return self.refuse(
                Reason::SiteUnknown,
                at,
                rows,
                row,
                "neither the record nor the source names the site",
            );
        };
        let Some(record_ms) = record_ms(self.format, row) else {
            return self.refuse(
                Reason::TimeUnknown,
                at,
                rows,
                row,
                "no start, submit or end time places the record",
            );
        };
        let times = [Some(record_ms), row.start_ms, row.end_ms];
        if times.into_iter().flatten().any(|ms| !TIME_LIMIT_MS.contains(&ms)) {
            return self.refuse(
                Reason::BadTime,
                at,
                rows,
                row,
                "a start or end before 1970 or after 2200",
            );
        }
        let wall_ms = match settle_wall(row) {
            Ok(wall_ms) => wall_ms,
            Err(detail) => return self.refuse(Reason::BadDuration, at, rows, row, detail),
        };
        if let Some(detail) = beyond_limits(row, wall_ms) {
            return self.refuse(Reason::BadNumber, at, rows, row, detail);
        }
        let month = Month::of_ms(record_ms);
        if month.is_some_and(|month| !self.window.holds(month)) {
            return self.count(Some(site), month, Reason::OutsidePeriod, rows);
        }
        let fallback_cluster = if row.cluster.is_none() {
            source.cluster.as_deref()
        } else {
            None
        };
        let mut anomalies = row.anomalies | anomalies_of(row, wall_ms);
        let is_negative = row.cpu_ms.is_some_and(|cpu| cpu < 0);
        if is_negative {
            anomalies |= Anomaly::ValueDropped.bit() | Anomaly::CpuUnknown.bit();
        }
        let corrected;
        let row = if is_negative || fallback_cluster.is_some() {
            corrected = JobRow {
                cluster: row.cluster.or(fallback_cluster),
                cpu_ms: row.cpu_ms.filter(|cpu| *cpu >= 0),
                ..row.clone()
            };
            &corrected
        } else {
            row
        };
        let vo = self.vo(&source.vo, row).filter(|vo| !vo.is_empty());
        if vo.is_none() {
            anomalies |= Anomaly::VoUnmapped.bit();
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let sealed = Sealed {
            record_id: record_id(self.format, site, row, record_ms, &mut scratch),
            record_ms,
            vo,
            wall_ms,
            anomalies,
            step_n,
            line: i64::try_from(at.line).unwrap_or(i64::MAX),
            byte_offset: i64::try_from(at.byte_offset).unwrap_or(i64::MAX),
            content_hash: content_hash(row, wall_ms, vo, &mut scratch),
        };
        if let Err(e) = self.columns.push(row, &sealed) {
            self.failure.get_or_insert(e);
        }
        self.scratch = scratch;
        let site = self.site_index(site);
        let day = i32::try_from(record_ms.div_euclid(DAY_MS)).unwrap_or(i32::MAX);
        self.buckets.push(Bucket { site, day });
        self.rows_candidate += rows;
    }

    fn reject(&mut self, reason: Reason, at: Position, rows: u64, detail: &str, raw: &[u8]) {
        self.count(None, None, reason, rows);
        self.rejects.push(Reject {
            reason,
            at,
            rows,
            detail: detail.to_owned(),
            raw: raw.to_vec(),
        });
    }

    fn out_of_scope(&mut self, reason: Reason, rows: u64) {
        self.count(None, None, reason, rows);
    }

    fn format(&mut self, format: Format) {
        self.format = format;
    }
}

/// Wall time as stated, or the span without suspension; zero for a job that never started.
fn settle_wall(row: &JobRow<'_>) -> Result<i64, &'static str> {
    let wall_ms = match (row.wall_ms, row.start_ms, row.end_ms) {
        (Some(wall_ms), ..) => wall_ms,
        (None, Some(start), Some(end)) => (end - start).max(0) - row.suspended_s.unwrap_or(0).saturating_mul(1000),
        (None, None, _) => 0,
        (None, Some(_), None) => return Err("no elapsed time, and no end to derive it from"),
    };
    if wall_ms < 0 {
        Err("the wall time is negative")
    } else {
        Ok(wall_ms)
    }
}

fn beyond_limits(row: &JobRow<'_>, wall_ms: i64) -> Option<&'static str> {
    let count = |n: Option<i64>| n.is_some_and(|n| !(0..=COUNT_LIMIT).contains(&n));
    if wall_ms > WALL_LIMIT_MS
        || row
            .suspended_s
            .is_some_and(|s| !(0..=WALL_LIMIT_MS / 1000).contains(&s))
    {
        Some("a wall or suspended time of more than 300 years")
    } else if row.cpu_ms.is_some_and(|cpu| cpu > CPU_LIMIT_MS) {
        Some("a CPU time of more than 30 million years")
    } else if count(row.alloc_core_n) || count(row.alloc_node_n) || count(row.alloc_gpu_n) || count(row.alloc_billing_n)
    {
        Some("a number of cores, nodes, GPUs or billing units that is negative or above 100 million")
    } else {
        None
    }
}

fn anomalies_of(row: &JobRow<'_>, wall_ms: i64) -> u32 {
    let mut bits = 0;
    let mut flag = |when: bool, anomaly: Anomaly| {
        if when {
            bits |= anomaly.bit();
        }
    };
    let core_n = row.alloc_core_n.unwrap_or(0);
    let core_wall_ms = wall_ms.saturating_mul(core_n);
    if let Some(cpu_ms) = row.cpu_ms {
        flag(
            core_n > 0 && cpu_ms > core_wall_ms.saturating_add(core_wall_ms / 10).saturating_add(60_000),
            Anomaly::CpuAboveCoreWall,
        );
        flag(
            core_n >= 2 && wall_ms >= 60_000 && cpu_ms == core_wall_ms,
            Anomaly::CpuEqualsCoreWall,
        );
        flag(cpu_ms >= COUNTER_WRAP_MS, Anomaly::CpuCounterWrap);
    }
    flag(row.cpu_ms.is_none() && wall_ms > 0, Anomaly::CpuUnknown);
    flag(core_n == 0 && wall_ms > 0, Anomaly::CoreUnknown);
    if let Some(start) = row.start_ms {
        flag((0..DAY_MS).contains(&start), Anomaly::EpochStart);
        if let Some(end) = row.end_ms {
            flag(end < start, Anomaly::EndBeforeStart);
            let held_ms = wall_ms.saturating_add(row.suspended_s.unwrap_or(0).saturating_mul(1000));
            flag(
                (end.saturating_sub(start)).abs_diff(held_ms) > 1000,
                Anomaly::WallUnlikeSpan,
            );
        }
    }
    bits
}
