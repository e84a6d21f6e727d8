//! Which jobs have work in which benchmark: hours in two benchmarks are compared only where both are of the same
//! jobs.

use crate::error::Result;
use crate::reference::benchmark::Benchmark;
use crate::report::lake::{Lake, Selection};
use crate::report::shown::grouped;
use crate::report::sreport::SreportPeriod;
use crate::report::table::Table;
use crate::schema::batch::{decimal, int, number, text, time, word};
use crate::summarise::Attribution;

const COLUMNS: [&str; 7] = [
    "view",
    "vo",
    "start_utc",
    "end_utc",
    "wall_s",
    "hs06_per_core",
    "hs23_per_core",
];

/// Jobs by the benchmarks they have work in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// HEPSPEC06 and HEPscore23.
    pub both_n: i128,
    /// HEPSPEC06 alone.
    pub hs06_n: i128,
    /// HEPscore23 alone.
    pub hs23_n: i128,
}

impl Coverage {
    /// Counts jobs of which it is known whether they have HEPSPEC06 and HEPscore23.
    pub fn count(&mut self, [has_hs06, has_hs23]: [bool; 2], job_n: i128) {
        match (has_hs06, has_hs23) {
            (true, true) => self.both_n += job_n,
            (true, false) => self.hs06_n += job_n,
            (false, true) => self.hs23_n += job_n,
            (false, false) => {}
        }
    }

    /// Counts the jobs whose hours are in a selection of one site: not those of months in which summaries count.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when the lake cannot be read.
    pub fn add_records(&mut self, lake: &Lake, site: &str, selection: &Selection) -> Result<()> {
        let zone = lake.zone()?;
        let period = SreportPeriod::of_days(selection, &zone);
        let is_by_end = Attribution::of_lake(&lake.manifest.facts) == Some(Attribution::ByEnd);
        let displaced = lake.summarised_places()?;
        let is_displaced = |end_ms: i64| {
            let month = zone.month_of(end_ms);
            month.is_some_and(|month| displaced.contains(&(site.to_lowercase(), month)))
        };
        for piece in lake.record_pieces(&Selection {
            sites: std::iter::once(site.to_owned()).collect(),
            ..Selection::default()
        })? {
            for batch in lake.piece_batches(&piece, &COLUMNS)? {
                let batch = batch?;
                let (view, vo) = (text(&batch, "view")?, text(&batch, "vo")?);
                let (start, end) = (time(&batch, "start_utc")?, time(&batch, "end_utc")?);
                let wall = int(&batch, "wall_s")?;
                let (hs06, hs23) = (decimal(&batch, "hs06_per_core")?, decimal(&batch, "hs23_per_core")?);
                for row in 0..batch.num_rows() {
                    let Some(end_ms) = number(end, row) else { continue };
                    let start_ms = number(start, row).unwrap_or(end_ms - wall.value(row) * 1000);
                    let held_from_ms = if is_by_end { end_ms } else { start_ms.min(end_ms) };
                    let is_in = period.clip(held_from_ms, end_ms.max(held_from_ms + 1)).is_some();
                    let is_own = view.value(row) == "batch" && selection.has_vo(word(vo, row));
                    if is_in && is_own && !is_displaced(end_ms) {
                        self.count([number(hs06, row).is_some(), number(hs23, row).is_some()], 1);
                    }
                }
            }
        }
        Ok(())
    }

    /// The benchmark whose hours are left out, because other jobs have the other; `None` where both are of the same jobs.
    #[must_use]
    pub fn left_out(&self) -> Option<Benchmark> {
        match (self.hs06_n, self.hs23_n) {
            (0, 0) => None,
            (hs06_n, hs23_n) if hs06_n > hs23_n => Some(Benchmark::Hs23),
            _ => Some(Benchmark::Hs06),
        }
    }

    /// Why one benchmark is left out.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let is_hs06 = self.left_out()? == Benchmark::Hs23;
        let (kept, left_out, kept_n, left_out_n) = if is_hs06 {
            ("HS06", "HS23", self.hs06_n, self.hs23_n)
        } else {
            ("HS23", "HS06", self.hs23_n, self.hs06_n)
        };
        let with_any_n = self.both_n + self.hs06_n + self.hs23_n;
        let others = match left_out_n {
            0 => String::new(),
            n => format!(
                " Jobs that have {left_out} alone are not in these hours: {}.",
                grouped(n)
            ),
        };
        Some(format!(
            "Work is in {kept} hours, not in {left_out} hours: of {} jobs with a benchmark {} have no {left_out} value.{others}",
            grouped(with_any_n),
            grouped(kept_n)
        ))
    }

    /// A table without the columns of the benchmark that is left out.
    #[must_use]
    pub fn columns_of(&self, table: &Table) -> Table {
        let Some(left_out) = self.left_out() else {
            return table.clone();
        };
        let word = if left_out == Benchmark::Hs06 { "hs06" } else { "hs23" };
        table.with_columns(|_, column| !column.name.contains(word))
    }
}
