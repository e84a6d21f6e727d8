//! What ended on each day at each CE, read from the records of a lake.

use std::collections::BTreeMap;

use crate::absent;
use crate::amounts::{add, too_large};
use crate::error::{Error, Result};
use crate::report::lake::{Lake, Selection};
use crate::schema::batch::{int, number, text, time, word};
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
        for batch in lake.record_batches(&path, &COLUMNS)? {
            let batch = batch?;
            let (view, cluster, host) = (
                text(&batch, "view")?,
                text(&batch, "cluster")?,
                text(&batch, "submit_host")?,
            );
            let (end, wall, cores) = (
                time(&batch, "end_utc")?,
                int(&batch, "wall_s")?,
                int(&batch, "alloc_core_n")?,
            );
            let of_site = |error: Error| error.at("site", &site);
            let mut ended = EndedJobs::default();
            for row in 0..batch.num_rows() {
                let Some(end_ms) = number(end, row) else { continue };
                if view.value(row) != "batch" {
                    continue;
                }
                let ce = absent::text(word(host, row).or(word(cluster, row)));
                let core_n = number(cores, row).unwrap_or(1);
                let held_core_s = wall.value(row).checked_mul(core_n);
                let held_core_s = held_core_s.ok_or_else(|| of_site(too_large("alloc_core_s")))?;
                ended.add_job(ce, local.day(end_ms), held_core_s).map_err(of_site)?;
            }
            for (ce, days) in ended.into_days().map_err(of_site)? {
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

/// What ended at the CEs of a batch of records. Records that follow each other are often of one CE and day: these are added up
/// before they are looked up.
#[derive(Default)]
struct EndedJobs<'b> {
    days: BTreeMap<&'b str, Days>,
    ce: &'b str,
    day: Day,
    sums: EndedOnDay,
}

impl<'b> EndedJobs<'b> {
    fn add_job(&mut self, ce: &'b str, day: Day, core_s: i64) -> Result<()> {
        if (self.day, self.ce) != (day, ce) {
            self.close()?;
            (self.ce, self.day) = (ce, day);
        }
        self.sums.job_n += 1;
        add(&mut self.sums.core_s, core_s, "alloc_core_s")
    }

    /// Adds the jobs since the last call to their CE and day.
    fn close(&mut self) -> Result<()> {
        let more = std::mem::take(&mut self.sums);
        if more.job_n > 0 {
            let days = self.days.entry(self.ce).or_default();
            days.entry(self.day).or_default().take(more)?;
        }
        Ok(())
    }

    fn into_days(mut self) -> Result<BTreeMap<&'b str, Days>> {
        self.close()?;
        Ok(self.days)
    }
}
