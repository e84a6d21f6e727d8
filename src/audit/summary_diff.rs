//! The difference between two ways of counting summaries: by row, as APEL's server does, and by publication; and counts
//! that were sent to be compared.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::sync::{self, SyncCount};
use crate::amounts::add;
use crate::dedupe::summary::from_batch;
use crate::error::{Error, Kind, Result};
use crate::ledger::Reason;
use crate::record::{SiteMonth, Summary};
use crate::schema::batch::addend;
use crate::store::{Manifest, lake, read_table};

/// What some summaries come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MonthSum {
    /// Rows.
    pub row_n: u64,
    /// Jobs.
    pub job_n: i64,
    /// Wall time, not times cores, seconds.
    pub wall_s: i64,
    /// CPU time, milliseconds.
    pub cpu_ms: i64,
    /// CPU time times the benchmark as the publishers normalised it, seconds.
    pub normalised_cpu_s: i64,
}

/// One source, month and view.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MonthDifference {
    /// Source.
    pub source: String,
    /// Month.
    pub month: String,
    /// Whose account of the hours it is; views are never added up.
    pub view: String,
    /// The last version of every row.
    pub upsert: MonthSum,
    /// The rows of the last publication; absent when the source does not define a publication.
    pub snapshot: Option<MonthSum>,
}

/// A row that counts by row and not by publication.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct StaleRow {
    /// Source.
    pub source: String,
    /// Month.
    pub month: String,
    /// View.
    pub view: String,
    /// Site.
    pub site: String,
    /// VO.
    pub vo: Option<String>,
    /// User.
    pub global_user: Option<String>,
    /// Submit host.
    pub submit_host: Option<String>,
    /// Jobs.
    pub job_n: i64,
    /// Wall time, not times cores, seconds.
    pub wall_s: i64,
    /// Its input file.
    pub file_id: String,
    /// Line of that file.
    pub line: i64,
}

/// Both totals and what makes the difference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StaleReport {
    /// Lake.
    pub output: String,
    /// By source and month.
    pub months: Vec<MonthDifference>,
    /// The rows that differ.
    pub stale: Vec<StaleRow>,
    /// Counts of jobs that sites sent, next to the number that arrived.
    pub sync: Vec<SyncCount>,
}

/// Compares the two ways for the lake at a path or URL. Rows that lost to jobs are not compared; sync records are no
/// usage.
///
/// # Errors
/// [`Kind::NoInput`] when there is no lake; [`Kind::Io`] when it cannot be read.
pub fn report(output: &str) -> Result<StaleReport> {
    let (store, manifest) = Manifest::open(output)?;
    let mut months: BTreeMap<(String, String, String), (MonthSum, MonthSum, bool)> = BTreeMap::new();
    let mut stale = Vec::new();
    for file in manifest.dataset("summary").chain(manifest.dataset("summary_history")) {
        let Some(SiteMonth { site, month }) = lake::parse_month_path(&file.path) else {
            return Err(Error::new(Kind::Data, "the path names no site and month").at("path", &file.path));
        };
        for batch in read_table(store.reader(&file.path)?, None, 16_384)? {
            for row in from_batch(&batch?, &site, month)? {
                if !matches!(row.reason, Reason::SummaryRecord | Reason::StaleSummary) {
                    continue;
                }
                // Fallback: a summary that does not state a view is shown without one.
                let view = row.words.view.as_deref().unwrap_or_default().to_owned();
                let key = (row.source.clone(), month.to_string(), view);
                let (upsert, snapshot, is_stated) =
                    months
                        .entry(key)
                        .or_insert((MonthSum::default(), MonthSum::default(), true));
                upsert.add(&row)?;
                match row.is_stale {
                    Some(true) => stale.push(stale_row(&row)),
                    Some(false) => snapshot.add(&row)?,
                    None => *is_stated = false,
                }
            }
        }
    }
    stale.sort();
    let months = months.into_iter().map(
        |((source, month, view), (upsert, snapshot, is_stated))| MonthDifference {
            source,
            month,
            view,
            upsert,
            snapshot: is_stated.then_some(snapshot),
        },
    );
    Ok(StaleReport {
        output: store.url().to_owned(),
        months: months.collect(),
        stale,
        sync: sync::counts(&store, &manifest)?,
    })
}

fn stale_row(row: &Summary) -> StaleRow {
    let words = &row.words;
    StaleRow {
        source: row.source.clone(),
        month: row.month.to_string(),
        // Fallback: as for the sums, a summary without a view is shown without.
        view: words.view.clone().unwrap_or_default(),
        site: row.site.clone(),
        vo: words.vo.clone(),
        global_user: words.global_user.clone(),
        submit_host: words.submit_host.clone(),
        job_n: addend(row.numbers.job_n),
        wall_s: addend(row.numbers.wall_s),
        file_id: row.file_id.to_string(),
        line: row.line,
    }
}

impl MonthSum {
    /// Adds a row.
    ///
    /// # Errors
    /// [`Kind::Data`] when a sum of the month does not fit 63 bits.
    fn add(&mut self, row: &Summary) -> Result<()> {
        let numbers = &row.numbers;
        self.row_n += 1;
        for (sum, part, what) in [
            (&mut self.job_n, numbers.job_n, "job_n"),
            (&mut self.wall_s, numbers.wall_s, "wall_s"),
            (&mut self.cpu_ms, numbers.cpu_ms, "cpu_ms"),
            (&mut self.normalised_cpu_s, numbers.normalised_cpu_s, "normalised_cpu_s"),
        ] {
            add(sum, addend(part), what).map_err(|e| e.at("month", row.month))?;
        }
        Ok(())
    }
}

impl StaleReport {
    /// The report for people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for month in &self.months {
            let view = if month.view == "batch" { "" } else { &month.view };
            let _ = writeln!(
                text,
                "{}",
                format!("{} {} {view}", month.source, month.month).trim_end()
            );
            line(&mut text, "upsert", &month.upsert);
            match &month.snapshot {
                Some(snapshot) => line(&mut text, "snapshot", snapshot),
                None => text.push_str("  snapshot  unknown: the source does not define a publication\n"),
            }
            for row in self
                .stale
                .iter()
                .filter(|row| (&row.source, &row.month, &row.view) == (&month.source, &month.month, &month.view))
            {
                let word = |word: &Option<String>| word.clone().unwrap_or_else(|| "-".to_owned());
                let _ = writeln!(
                    text,
                    "    stale: {} {} {} {}: {} jobs, {} s wall (file {}, line {})",
                    row.site,
                    word(&row.vo),
                    word(&row.global_user),
                    word(&row.submit_host),
                    row.job_n,
                    row.wall_s,
                    row.file_id,
                    row.line
                );
            }
        }
        if self.months.is_empty() {
            text.push_str("no summary counts here\n");
        }
        sync::text_of(&self.sync, &mut text);
        text
    }
}

fn line(text: &mut String, name: &str, sum: &MonthSum) {
    let _ = writeln!(
        text,
        "  {name:<9} {} rows, {} jobs, {} s wall, {} s CPU, {} s CPU normalised",
        sum.row_n,
        sum.job_n,
        sum.wall_s,
        sum.cpu_ms.div_euclid(1000),
        sum.normalised_cpu_s
    );
}
