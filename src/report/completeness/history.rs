//! What ended on each day at each CE, read from the records of a lake.

use std::collections::BTreeMap;

use arrow_array::{Array as _, ArrayRef, RecordBatch, StringArray, UInt32Array};

use crate::absent;
use crate::amounts::{add, too_large};
use crate::error::{Error, Result};
use crate::numbers::index;
use crate::report::lake::{Lake, Selection};
use crate::schema::batch::{ColumnWords, codes, column, encoded, int, number, time, words_of};
use crate::time::zone::OffsetSpan;
use crate::time::{Day, Month, Zone};

/// What ended on a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndedOnDay {
    /// Jobs.
    pub job_n: i64,
    /// Wall time times cores, seconds.
    pub core_s: i64,
}

impl EndedOnDay {
    fn take(&mut self, more: Self) -> Result<()> {
        self.job_n += more.job_n;
        add(&mut self.core_s, more.core_s, "alloc_core_s")
    }
}

/// What ended, by day in the zone of the lake.
pub type Days = BTreeMap<Day, EndedOnDay>;

/// A CE of a site.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SiteCe {
    /// Site.
    pub site: String,
    /// CE, or cluster where jobs do not name one.
    pub ce: String,
}

/// The days of every CE.
pub type CompletenessHistory = BTreeMap<SiteCe, Days>;

/// Reads the history of every site and CE from the records of a lake. All of it, because the usual number of jobs is taken from the past;
/// only sites are selected.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read.
pub fn history(lake: &Lake, selection: &Selection) -> Result<CompletenessHistory> {
    history_since(lake, selection, None)
}

/// The same from a month on.
pub(super) fn history_since(lake: &Lake, selection: &Selection, since: Option<Month>) -> Result<CompletenessHistory> {
    const COLUMNS: [&str; 6] = ["view", "cluster", "submit_host", "end_utc", "wall_s", "alloc_core_n"];
    let zone = lake.zone()?;
    let mut local = LocalDays::new(&zone);
    let mut history = CompletenessHistory::new();
    for (site, month, path) in lake.months("records")? {
        if !selection.has_site(&site) || since.is_some_and(|since| month < since) {
            continue;
        }
        for batch in lake.coded_record_batches(&path, &COLUMNS)? {
            let batch = batch?;
            let of_site = |error: Error| error.at("site", &site);
            let mut ended = EndedJobs::of(&batch, &mut local).map_err(of_site)?;
            for at_ce in ended.by_name() {
                let (ce, days) = at_ce.map_err(of_site)?;
                if days.is_empty() {
                    continue;
                }
                let of = SiteCe {
                    site: site.clone(),
                    ce: ce.to_owned(),
                };
                let known = history.entry(of).or_default();
                for (day, more) in days {
                    known.entry(day).or_default().take(more).map_err(of_site)?;
                }
            }
        }
    }
    Ok(history)
}

/// The day of an instant on the clocks of a zone.
#[must_use]
pub fn local_day(zone: &Zone, ms: i64) -> Day {
    LocalDays::new(zone).day(ms)
}

/// The days of instants on the clocks of a zone; instants near each other share an offset.
struct LocalDays<'z> {
    zone: &'z Zone,
    span: OffsetSpan,
}

impl<'z> LocalDays<'z> {
    fn new(zone: &'z Zone) -> Self {
        let span = zone.offset_span(0);
        Self { zone, span }
    }

    /// The day of an instant in Unix milliseconds.
    fn day(&mut self, ms: i64) -> Day {
        let unix_s = ms.div_euclid(1000);
        if !self.span.has(unix_s) {
            self.span = self.zone.offset_span(unix_s);
        }
        // Fallback: no offset of a zone reaches past 63 bits from an instant of a clock.
        let local_s = unix_s.saturating_add(self.span.offset_s);
        // Fallback: a day beyond 31 bits is after every other day.
        Day::try_from(local_s.div_euclid(86_400)).unwrap_or(Day::MAX)
    }
}

/// What ended at the CEs of a batch of records.
struct EndedJobs {
    /// The submit hosts, then the clusters, which are the CEs of records without a host, then records without either.
    by_ce: Vec<EndedAtCe>,
    hosts: StringArray,
    clusters: StringArray,
}

impl EndedJobs {
    fn of(batch: &RecordBatch, local: &mut LocalDays<'_>) -> Result<Self> {
        let (views, view_names) = codes_of(column(batch, "view")?)?;
        let (host_codes, hosts) = codes_of(column(batch, "submit_host")?)?;
        let (cluster_codes, clusters) = codes_of(column(batch, "cluster")?)?;
        let (end, wall) = (time(batch, "end_utc")?, int(batch, "wall_s")?);
        let cores = int(batch, "alloc_core_n")?;
        let mut by_ce = vec![EndedAtCe::default(); hosts.len() + clusters.len() + 1];
        let is_batch: Vec<bool> = view_names.iter().map(|name| name == Some("batch")).collect();
        for row in 0..batch.num_rows() {
            let Some(end_ms) = number(end, row) else { continue };
            if code(&views, row).and_then(|view| is_batch.get(view)) != Some(&true) {
                continue;
            }
            let ce = match (code(&host_codes, row), code(&cluster_codes, row)) {
                (Some(host), _) => host,
                (None, Some(cluster)) => hosts.len() + cluster,
                (None, None) => hosts.len() + clusters.len(),
            };
            let core_n = number(cores, row).unwrap_or(1);
            let held_core_s = wall.value(row).checked_mul(core_n);
            let held_core_s = held_core_s.ok_or_else(|| too_large("alloc_core_s"))?;
            if let Some(ended) = by_ce.get_mut(ce) {
                ended.add_job(local.day(end_ms), held_core_s)?;
            }
        }
        Ok(Self { by_ce, hosts, clusters })
    }

    /// The days of each CE.
    fn by_name(&mut self) -> impl Iterator<Item = Result<(&str, Days)>> {
        let names = self.hosts.iter().chain(&self.clusters).chain([None]);
        let ended = names.zip(std::mem::take(&mut self.by_ce));
        ended.map(|(name, ended)| Ok((absent::text(name), ended.into_days()?)))
    }
}

/// Codes and entries of a column of texts, which are made where it has none.
fn codes_of(array: &ArrayRef) -> Result<(UInt32Array, StringArray)> {
    if array.null_count() == array.len() {
        return Ok((UInt32Array::new_null(array.len()), StringArray::new_null(0)));
    }
    let array = match words_of(array)? {
        ColumnWords::Coded(..) => ArrayRef::clone(array),
        ColumnWords::Plain(texts) => encoded(texts),
    };
    let (codes, entries) = codes(&array)?;
    Ok((codes.clone(), entries.clone()))
}

/// The code of a row; `None` when null.
fn code(codes: &UInt32Array, row: usize) -> Option<usize> {
    number(codes, row).map(index)
}

/// What ended at a CE.
#[derive(Clone, Default)]
struct EndedAtCe {
    days: Days,
    /// What ended on the days seen last, and is not among `days` yet: records that follow each other mostly ended on days near each
    /// other. Each day has its place by its number.
    near: [(Day, EndedOnDay); NEAR_DAYS],
}

/// A power of two, longer than most jobs.
const NEAR_DAYS: usize = 16;

impl EndedAtCe {
    fn add_job(&mut self, day: Day, core_s: i64) -> Result<()> {
        let at = index(day.cast_unsigned()) % NEAR_DAYS;
        if let Some((near, sums)) = self.near.get_mut(at) {
            if *near != day {
                close(&mut self.days, *near, sums)?;
                *near = day;
            }
            sums.job_n += 1;
            add(&mut sums.core_s, core_s, "alloc_core_s")?;
        }
        Ok(())
    }

    fn into_days(mut self) -> Result<Days> {
        for (day, sums) in &mut self.near {
            close(&mut self.days, *day, sums)?;
        }
        Ok(self.days)
    }
}

/// Adds the jobs of a day since the last call to it.
fn close(days: &mut Days, day: Day, sums: &mut EndedOnDay) -> Result<()> {
    let more = std::mem::take(sums);
    if more.job_n > 0 {
        days.entry(day).or_default().take(more)?;
    }
    Ok(())
}
