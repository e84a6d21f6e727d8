//! A cell of `usage`: what it holds, the jobs behind it, the corrections that touched it and the benchmarks in it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use arrow_array::RecordBatch;
use serde::Serialize;

use super::cell::no_cell;
use crate::amounts::add;
use crate::error::{Error, Kind, Result};
use crate::lake::calendar_fact;
use crate::lake::refused_records::RefusedRecords;
use crate::reference::decimal::text as amount;
use crate::schema::batch::{addend, decimal, id, int, number, text, word, word_or_empty};
use crate::store::Fact;
use crate::store::{Manifest, Store, lake, read_table};
use crate::summarise::share::{PeriodShare, ShareSplitter};
use crate::summarise::view::RecordView;

/// The kinds of benchmark, as columns name them.
const BENCHMARKS: [&str; 3] = ["hs06", "hs23", "si00"];

/// Sums of a part of a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CellTotals {
    /// Jobs.
    pub job_n: i64,
    /// Wall time, not times cores, seconds.
    pub wall_s: i64,
    /// Wall time times cores.
    pub alloc_core_s: i64,
    /// What that leaves of wall time times cores, milliseconds.
    pub alloc_core_fraction_ms: i64,
    /// CPU time, milliseconds; unknown counts as none.
    pub cpu_ms: i64,
}

/// One job's part of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedPart {
    /// Job id.
    pub job_id: String,
    /// Account.
    pub account: Option<String>,
    /// What the cell has of it.
    pub part: CellTotals,
    /// Wall time of the whole job, seconds.
    pub of_wall_s: i64,
    /// Cores allocated.
    pub core_n: Option<i64>,
    /// Benchmarks that scaled it: kind, value per core, where it came from.
    pub benchmarks: Vec<[String; 3]>,
}

/// One value of a benchmark in a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BenchmarkUse {
    /// `hs06`, `hs23` or `si00`; `none` for jobs without any.
    pub benchmark: String,
    /// Value per core.
    pub per_core: String,
    /// Where it came from.
    pub origin: String,
    /// What it scales.
    pub scaled: CellTotals,
    /// Wall time times cores times the value.
    pub core_wall_s: String,
}

/// What a correction did to a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Touch {
    /// Its id.
    pub correction_id: String,
    /// What it does.
    pub action: String,
    /// Who signed.
    pub author: String,
    /// Why.
    pub reason: String,
    /// What it changes here.
    pub change: CellTotals,
}

/// One view of a cell; views are never added up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ViewUsage {
    /// Its word.
    pub name: String,
    /// What the file holds of records.
    pub recorded: CellTotals,
    /// What the jobs below and all others come to: the same, when jobs are what was counted.
    pub of_jobs: CellTotals,
    /// What corrections changed.
    pub corrections: Vec<Touch>,
    /// Recorded and corrected together.
    pub total: CellTotals,
    /// Benchmarks, those that scale most first.
    pub benchmarks: Vec<BenchmarkUse>,
    /// Jobs with a part in the cell.
    pub job_n: usize,
    /// Those with the most core time, the most first.
    pub top: Vec<ExplainedPart>,
}

/// A cell of `usage`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UsageCell {
    /// Its file.
    pub path: String,
    /// How jobs are attributed to periods.
    pub attribution: String,
    /// Zone, first day of the allocation year and grain.
    pub calendar: String,
    /// By view.
    pub views: Vec<ViewUsage>,
}

/// What is known of the jobs of one view.
#[derive(Default)]
struct CellJobs {
    parts: Vec<ExplainedPart>,
    benchmarks: BTreeMap<(String, i128, String), CellTotals>,
}

/// The usage behind `path`, a file of `usage` as the lake names it, or the folder it is in, with the `top` jobs.
///
/// # Errors
/// [`Kind::NoInput`] when there is no lake, or no such cell in it; [`Kind::Data`] when the lake was made by a version that
/// did not write down its calendar.
pub fn usage(output: &str, path: &str, top: usize) -> Result<UsageCell> {
    let (store, manifest) = Manifest::open(output)?;
    let wanted = path.trim_end_matches('/');
    let file = manifest
        .dataset("usage")
        .find(|file| file.path == wanted || file.path.starts_with(&format!("{wanted}/")));
    let file = file.ok_or_else(|| no_cell(output, &manifest, "usage", wanted))?;
    let (site, vo, year) =
        lake::parse_usage_path(&file.path).ok_or_else(|| Error::internal("a cell without a name"))?;
    let (attribution, calendar) = calendar_fact::restored(&manifest.facts)?;
    let mut splitter = ShareSplitter::new(attribution, calendar);
    let mut views = held(&store, &file.path)?;
    name_corrections(&store, &manifest, &mut views)?;
    let mut jobs: BTreeMap<String, CellJobs> = BTreeMap::new();
    for file in manifest.dataset("records") {
        if lake::parse_month_path(&file.path).is_none_or(|of| of.site != site) {
            continue;
        }
        let refused = RefusedRecords::of_file(&store, &manifest, &file.path)?;
        for batch in read_table(store.reader(&file.path)?, None, 16_384)? {
            let batch = batch?;
            let (vos, view, ids) = (text(&batch, "vo")?, text(&batch, "view")?, id(&batch, "record_id")?);
            let record_view = RecordView::new(&batch)?;
            for row in 0..batch.num_rows() {
                if word(vos, row) != vo.as_deref() || refused.reason(ids.value(row)).is_some() {
                    continue;
                }
                let shares = splitter.shares(&record_view, row);
                let own: Vec<&PeriodShare> = shares
                    .iter()
                    .filter(|share| share.period.allocation_year == year)
                    .collect();
                if !own.is_empty() {
                    jobs.entry(view.value(row).to_owned())
                        .or_default()
                        .add(&batch, row, &own)?;
                }
            }
        }
    }
    for view in &mut views {
        if let Some(jobs) = jobs.remove(&view.name) {
            jobs.finish_into(view, top)?;
        }
    }
    Ok(UsageCell {
        path: file.path.clone(),
        attribution: attribution.as_str().to_owned(),
        // Fallback: a lake of an earlier version records no calendar.
        calendar: manifest.facts.get(Fact::Calendar).unwrap_or_default().to_owned(),
        views,
    })
}

/// What the file itself holds, by view.
fn held(store: &Store, path: &str) -> Result<Vec<ViewUsage>> {
    let mut views: BTreeMap<String, ViewUsage> = BTreeMap::new();
    for batch in read_table(store.reader(path)?, None, 16_384)? {
        let batch = batch?;
        let (view, corrections) = (text(&batch, "view")?, text(&batch, "correction_id")?);
        for row in 0..batch.num_rows() {
            let word_of_view = view.value(row).to_owned();
            let own = views.entry(word_of_view.clone()).or_insert_with(|| ViewUsage {
                name: word_of_view,
                ..ViewUsage::default()
            });
            let part = CellTotals::of(&batch, row)?;
            own.total.add(&part)?;
            match word(corrections, row) {
                None => own.recorded.add(&part)?,
                Some(correction) => {
                    let known = own
                        .corrections
                        .iter()
                        .position(|touch| touch.correction_id == correction);
                    let at = known.unwrap_or_else(|| {
                        own.corrections.push(Touch {
                            correction_id: correction.to_owned(),
                            ..Touch::default()
                        });
                        own.corrections.len() - 1
                    });
                    if let Some(touch) = own.corrections.get_mut(at) {
                        touch.change.add(&part)?;
                    }
                }
            }
        }
    }
    Ok(views.into_values().collect())
}

/// Who signed the corrections, and why.
fn name_corrections(store: &Store, manifest: &Manifest, views: &mut [ViewUsage]) -> Result<()> {
    for file in manifest.dataset("corrections") {
        for batch in read_table(store.reader(&file.path)?, None, 16_384)? {
            let batch = batch?;
            let of = |name: &str| text(&batch, name);
            let (ids, action, author, reason) = (of("correction_id")?, of("action")?, of("author")?, of("reason")?);
            for touch in views.iter_mut().flat_map(|view| &mut view.corrections) {
                let found = ids.iter().position(|id| id == Some(&touch.correction_id));
                if let Some(row) = found {
                    let own = |column: &arrow_array::StringArray| word_or_empty(column, row).to_owned();
                    (touch.action, touch.author, touch.reason) = (own(action), own(author), own(reason));
                }
            }
        }
    }
    Ok(())
}

impl CellTotals {
    fn of(batch: &RecordBatch, row: usize) -> Result<Self> {
        let sum = |name: &str| -> Result<i64> { Ok(addend(number(int(batch, name)?, row))) };
        Ok(Self {
            job_n: sum("job_n")?,
            wall_s: sum("wall_s")?,
            alloc_core_s: sum("alloc_core_s")?,
            alloc_core_fraction_ms: sum("alloc_core_fraction_ms")?,
            cpu_ms: sum("cpu_ms")?,
        })
    }

    /// Adds other totals.
    ///
    /// # Errors
    /// [`Kind::Data`] naming the sum that does not fit 63 bits.
    fn add(&mut self, other: &Self) -> Result<()> {
        for (sum, part, what) in [
            (&mut self.job_n, other.job_n, "job_n"),
            (&mut self.wall_s, other.wall_s, "wall_s"),
            (&mut self.alloc_core_s, other.alloc_core_s, "alloc_core_s"),
            (
                &mut self.alloc_core_fraction_ms,
                other.alloc_core_fraction_ms,
                "alloc_core_fraction_ms",
            ),
            (&mut self.cpu_ms, other.cpu_ms, "cpu_ms"),
        ] {
            add(sum, part, what)?;
        }
        Ok(())
    }

    /// Wall time times cores, milliseconds.
    fn core_ms(&self) -> i128 {
        i128::from(self.alloc_core_s) * 1000 + i128::from(self.alloc_core_fraction_ms)
    }

    fn text(&self) -> String {
        format!(
            "{} jobs, {} s wall, {} core s, {} ms CPU",
            self.job_n, self.wall_s, self.alloc_core_s, self.cpu_ms
        )
    }
}

impl CellJobs {
    fn add(&mut self, batch: &RecordBatch, row: usize, shares: &[&PeriodShare]) -> Result<()> {
        let mut part = CellTotals::default();
        for share in shares {
            part.add(&CellTotals {
                job_n: i64::from(share.is_counted),
                wall_s: share.wall_s,
                alloc_core_s: share.alloc_core_s,
                alloc_core_fraction_ms: share.alloc_core_fraction_ms,
                cpu_ms: addend(share.cpu_ms),
            })?;
        }
        let mut benchmarks = Vec::new();
        for kind in BENCHMARKS {
            let Some(value) = number(decimal(batch, &format!("{kind}_per_core"))?, row) else {
                continue;
            };
            let origin = word_or_empty(text(batch, &format!("{kind}_origin"))?, row);
            let scaled = self
                .benchmarks
                .entry((kind.to_owned(), value, origin.to_owned()))
                .or_default();
            scaled.add(&part)?;
            benchmarks.push([kind.to_owned(), amount(value, 4), origin.to_owned()]);
        }
        if benchmarks.is_empty() {
            let none = ("none".to_owned(), 0, String::new());
            self.benchmarks.entry(none).or_default().add(&part)?;
        }
        self.parts.push(ExplainedPart {
            job_id: text(batch, "job_id")?.value(row).to_owned(),
            account: word(text(batch, "account")?, row).map(str::to_owned),
            part,
            of_wall_s: int(batch, "wall_s")?.value(row),
            core_n: number(int(batch, "alloc_core_n")?, row),
            benchmarks,
        });
        Ok(())
    }

    fn finish_into(mut self, view: &mut ViewUsage, top: usize) -> Result<()> {
        view.job_n = self.parts.len();
        for part in &self.parts {
            view.of_jobs.add(&part.part)?;
        }
        self.parts.sort_by(|a, b| {
            let most = b.part.alloc_core_s.cmp(&a.part.alloc_core_s);
            most.then_with(|| (&a.job_id, &a.account).cmp(&(&b.job_id, &b.account)))
        });
        self.parts.truncate(top);
        view.top = self.parts;
        let uses = self.benchmarks.into_iter().map(|((benchmark, value, origin), scaled)| {
            let work = scaled.core_ms().checked_mul(value);
            let too_large = || Error::new(Kind::Data, "the work of the cell does not fit").at("benchmark", &benchmark);
            Ok(BenchmarkUse {
                core_wall_s: amount(work.ok_or_else(too_large)?, 7),
                benchmark,
                per_core: amount(value, 4),
                origin,
                scaled,
            })
        });
        view.benchmarks = uses.collect::<Result<_>>()?;
        view.benchmarks
            .sort_by(|a, b| (&a.benchmark, b.scaled.alloc_core_s).cmp(&(&b.benchmark, a.scaled.alloc_core_s)));
        Ok(())
    }
}

impl UsageCell {
    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!(
            "{}\njobs are attributed {}, calendar {}\n",
            self.path, self.attribution, self.calendar
        );
        let mut add_line = |line: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{line}");
        };
        for view in &self.views {
            add_line(&format!("\nView {}: {}", view.name, view.total.text()));
            add_line(&format!("  as recorded: {}", view.recorded.text()));
            for touch in &view.corrections {
                add_line(&format!(
                    "  correction {} ({} by {}: {}): {}",
                    touch.correction_id,
                    touch.action,
                    touch.author,
                    touch.reason,
                    touch.change.text()
                ));
            }
            if view.recorded == view.of_jobs {
                add_line(&format!(
                    "  the records below come to what is recorded: {} of them have a part in it",
                    view.job_n
                ));
            } else {
                add_line(&format!(
                    "  the records of jobs come to {}: here summaries count, see gridtally summaries",
                    view.of_jobs.text()
                ));
            }
            for used in &view.benchmarks {
                let line = if used.benchmark == "none" {
                    format!("  no benchmark: {}", used.scaled.text())
                } else {
                    format!(
                        "  {} {} per core (from: {}): {}; {} core s * {} = {}",
                        used.benchmark,
                        used.per_core,
                        used.origin,
                        used.scaled.text(),
                        used.scaled.alloc_core_s,
                        used.per_core,
                        used.core_wall_s
                    )
                };
                add_line(&line);
            }
            if !view.top.is_empty() {
                add_line("  most core time:");
            }
            for job in &view.top {
                let account = job.account.as_deref().unwrap_or("no account");
                let cores = job
                    .core_n
                    .map_or_else(|| "unknown".to_owned(), |cores| cores.to_string());
                let scaled: Vec<String> = job
                    .benchmarks
                    .iter()
                    .map(|[kind, value, origin]| format!(", {kind} {value} ({origin})"))
                    .collect();
                add_line(&format!(
                    "    {:>14} core s  job {} ({account}): {} of its {} s * {cores} cores, {} ms CPU{}",
                    job.part.alloc_core_s,
                    job.job_id,
                    job.part.wall_s,
                    job.of_wall_s,
                    job.part.cpu_ms,
                    scaled.concat()
                ));
            }
        }
        text
    }
}
