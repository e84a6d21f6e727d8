//! What the page is about: usage of one site as the lake has it.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::Array;

use super::coverage::Coverage;
use super::quality::SiteQuality;
use super::supply::Supply;
use super::users::TopUsers;
use crate::absent;
use crate::amounts::add;
use crate::amounts::finer;
use crate::error::{Error, Kind, Result};
use crate::report::completeness::{Incomplete, find, history};
use crate::report::energy::EnergyKey;
use crate::report::lake::{Lake, Selection};
use crate::report::table::{Cell, ColumnKind, Table, known_sum};
use crate::schema::batch::{addend, date, decimal, int, number, text, word};
use crate::store::LakeFacts;
use crate::store::lake::parse_usage_path;
use crate::time::{DaySpan, Month};

/// Units of the decimals of usage.
const WORK_SCALE: i128 = 10_000_000;
/// Digits behind the point of hours in the files next to the page, which shows of them those that matter: both round once.
pub const FILE_DIGITS: u8 = 9;

/// Sums of one VO or account, view and month.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SitePageSums {
    /// Jobs.
    pub job_n: i128,
    /// Core time, seconds.
    pub core_s: i128,
    /// CPU time, milliseconds; `None` where it is unknown of every job.
    pub cpu_ms: Option<i128>,
    /// GPU time, seconds; `None` where no record of the view states how many GPUs a job had.
    pub gpu_s: Option<i128>,
    /// Work of core time in HEPSPEC06 and `HEPscore23` seconds; `None` where none is known.
    pub work_s: [Option<i128>; 2],
    /// Jobs without any work.
    pub benchmark_missing_n: i128,
    /// Jobs whose CPU time is unknown.
    pub cpu_unknown_n: i128,
    /// Jobs that corrections added or took away.
    pub corrected_job_n: i128,
    /// Core seconds that corrections added or took away.
    pub corrected_core_s: i128,
}

impl SitePageSums {
    /// Adds another; exact for those of rows that were read within their bound.
    pub fn add(&mut self, other: &Self) {
        self.job_n += other.job_n;
        self.core_s += other.core_s;
        self.cpu_ms = known_sum(self.cpu_ms, other.cpu_ms);
        self.gpu_s = known_sum(self.gpu_s, other.gpu_s);
        self.benchmark_missing_n += other.benchmark_missing_n;
        self.cpu_unknown_n += other.cpu_unknown_n;
        self.corrected_job_n += other.corrected_job_n;
        self.corrected_core_s += other.corrected_core_s;
        for (work, more) in self.work_s.iter_mut().zip(other.work_s) {
            *work = known_sum(*work, more);
        }
    }
}

/// What usage on the page is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SitePageKey {
    /// Month.
    pub month: Month,
    /// VO or account.
    pub name: String,
    /// View.
    pub view: String,
}

/// By whose name usage is grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// By VO.
    #[default]
    Vo,
    /// By account, where the VO of no job is known: a site without grid jobs.
    Account,
}

impl Grouping {
    /// The same of energy.
    fn energy_key(self) -> EnergyKey {
        match self {
            Self::Vo => EnergyKey::Vo,
            Self::Account => EnergyKey::Account,
        }
    }

    /// The column of usage.
    #[must_use]
    pub fn column(self) -> &'static str {
        match self {
            Self::Vo => "vo",
            Self::Account => "account",
        }
    }

    /// The word in a sentence.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Vo => "VO",
            Self::Account => "account",
        }
    }

    /// Of the names of both the one that is meant.
    #[must_use]
    pub fn name<'a>(self, vo: Option<&'a str>, account: Option<&'a str>) -> Option<&'a str> {
        match self {
            Self::Vo => vo,
            Self::Account => account,
        }
    }
}

/// Columns of usage that have a table of their own on the page where anything is known of them, and its title.
pub const PARTS: [(&str, &str); 2] = [("partition", "Partitions"), ("qos", "QOS")];

/// Everything the page shows.
#[derive(Clone, Debug, Default)]
pub struct SiteData {
    /// Site.
    pub site: String,
    /// By whose name usage is grouped.
    pub grouping: Grouping,
    /// The sizes of the work of all rows together, by benchmark: within them every sum of some rows is exact.
    pub bound_work_s: [i128; 2],
    /// Usage, with corrections.
    pub usage: BTreeMap<SitePageKey, SitePageSums>,
    /// Usage of the site's own account by each of [`PARTS`]; `None` where it is unknown.
    pub parts: [BTreeMap<Option<String>, SitePageSums>; PARTS.len()],
    /// Which jobs have work in which benchmark.
    pub coverage: Coverage,
    /// The site, the months and the VOs of the page.
    pub period: Selection,
    /// The users who used most, where names are requested.
    pub top_users: Option<TopUsers>,
    /// What is odd about its records, and where its input rows went.
    pub quality: SiteQuality,
    /// What looks incomplete.
    pub incomplete: Vec<Incomplete>,
    /// The data shown in addition to usage.
    pub supply: Supply,
    /// Energy and carbon; `None` where the lake has none.
    pub energy: Option<Table>,
    /// The facts the lake records about itself.
    pub facts: LakeFacts,
    /// Published files the page was made of, by their hash.
    pub blake3: String,
}

/// Views whose hours are the site's own account; others describe the same hours.
#[must_use]
pub fn is_own(view: &str) -> bool {
    matches!(view, "batch" | "summary")
}

impl SiteData {
    /// The VOs that the page is limited to, for people; `None` where it is of all.
    #[must_use]
    pub fn vos(&self) -> Option<String> {
        let names: Vec<&str> = self.period.vos.iter().map(String::as_str).collect();
        let word = if names.len() > 1 { "VOs" } else { "VO" };
        (!names.is_empty()).then(|| format!("{word} {}", names.join(", ")))
    }

    /// Reads one site.
    ///
    /// # Errors
    /// [`Kind::Usage`] when the lake has no such site, naming those it has; [`Kind::Io`] when it cannot be read.
    pub fn read(lake: &Lake, site: &str, selection: &Selection) -> Result<Self> {
        let mut data = Self {
            site: site.to_owned(),
            facts: lake.manifest.facts.clone(),
            ..Self::default()
        };
        let mut hasher = blake3::Hasher::new();
        let mut sites = BTreeSet::new();
        let of_gpus = views_with_gpus(lake, site)?;
        data.grouping = grouping(lake, site, selection);
        for file in lake.manifest.dataset("usage") {
            let Some((of, vo, _)) = parse_usage_path(&file.path) else {
                continue;
            };
            if of == site && selection.has_vo(vo.as_deref()) {
                hasher.update(file.blake3.as_bytes());
                data.add_usage(lake, &file.path, vo.as_deref(), selection, &of_gpus)?;
            }
            sites.insert(of);
        }
        if !sites.contains(site) {
            let names: Vec<String> = sites.into_iter().collect();
            let message = format!("the lake has no usage of {site:?}; it has {}", names.join(", "));
            return Err(Error::new(Kind::Usage, message));
        }
        data.quality = SiteQuality::read(lake, site, selection)?;
        let own = Selection {
            sites: std::iter::once(site.to_owned()).collect(),
            ..selection.clone()
        };
        // The delivered amounts are shown with the capacity of the same months.
        let months = data.by_month();
        let period = Selection {
            days: DaySpan {
                from: own.days.from.or(months.keys().next().map(|month| month.first_day())),
                to: own.days.to.or(months.keys().next_back().map(|month| month.last_day())),
            },
            ..own.clone()
        };
        data.supply = Supply::read(lake, site, &period, |blake3| {
            hasher.update(blake3.as_bytes());
        })?;
        data.energy = super::energy::read(lake, &period, data.grouping.energy_key())?;
        data.coverage.add_records(lake, site, &period)?;
        data.period = period;
        data.blake3 = hasher.finalize().to_hex().to_string();
        data.incomplete = find(&history(lake, &own)?, &own, None);
        Ok(data)
    }

    fn add_usage(
        &mut self,
        lake: &Lake,
        path: &str,
        vo: Option<&str>,
        selection: &Selection,
        of_gpus: &BTreeSet<String>,
    ) -> Result<()> {
        for batch in lake.batches(path, None)? {
            let batch = batch?;
            let (month, view) = (date(&batch, "month")?, text(&batch, "view")?);
            let (correction, account) = (text(&batch, "correction_id")?, text(&batch, "account")?);
            let parts = [text(&batch, PARTS[0].0)?, text(&batch, PARTS[1].0)?];
            let (jobs, cores, gpus) = (
                int(&batch, "job_n")?,
                int(&batch, "alloc_core_s")?,
                int(&batch, "alloc_gpu_s")?,
            );
            let (cpu, missing) = (int(&batch, "cpu_ms")?, int(&batch, "benchmark_missing_job_n")?);
            let unknown = int(&batch, "cpu_unknown_job_n")?;
            let works = [
                decimal(&batch, "core_wall_hs06_s")?,
                decimal(&batch, "core_wall_hs23_s")?,
            ];
            for row in 0..batch.num_rows() {
                let Some(of) = Month::of_day(month.value(row)).filter(|month| selection.has_month(*month)) else {
                    continue;
                };
                for (bound, work) in self.bound_work_s.iter_mut().zip(works) {
                    add(bound, addend(number(work, row)).abs(), "core_wall_work")?;
                }
                let is_correction = word(correction, row).is_some();
                let corrected = |value: i64| if is_correction { i128::from(value) } else { 0 };
                let sums = SitePageSums {
                    job_n: jobs.value(row).into(),
                    core_s: cores.value(row).into(),
                    cpu_ms: number(cpu, row).map(i128::from),
                    gpu_s: (gpus.value(row) != 0 || of_gpus.contains(view.value(row))).then(|| gpus.value(row).into()),
                    work_s: works.map(|work| number(work, row)),
                    benchmark_missing_n: missing.value(row).into(),
                    cpu_unknown_n: unknown.value(row).into(),
                    corrected_job_n: corrected(jobs.value(row)),
                    corrected_core_s: corrected(cores.value(row)),
                };
                if is_own(view.value(row)) {
                    if view.value(row) != "batch" && !is_correction {
                        self.coverage.count(sums.work_s.map(|work| work.is_some()), sums.job_n);
                    }
                    for (by_name, names) in self.parts.iter_mut().zip(parts) {
                        let name = word(names, row).map(str::to_owned);
                        by_name.entry(name).or_default().add(&sums);
                    }
                }
                let name = absent::text(self.grouping.name(vo, word(account, row)));
                let key = SitePageKey {
                    month: of,
                    name: name.to_owned(),
                    view: view.value(row).to_owned(),
                };
                self.usage.entry(key).or_default().add(&sums);
            }
        }
        Ok(())
    }

    /// The sums of the site's own account: views that describe the same hours again are left out.
    #[must_use]
    pub fn total(&self) -> SitePageSums {
        let mut total = SitePageSums::default();
        for (SitePageKey { view, .. }, sums) in &self.usage {
            if is_own(view) {
                total.add(sums);
            }
        }
        total
    }

    /// Usage by month, VO or account, and view: what the page shows and the file next to it contains.
    #[must_use]
    pub fn table(&self) -> Table {
        let hour = ColumnKind::DecimalSum(FILE_DIGITS);
        let mut table = Table::new(
            format!("Usage of {}", self.site),
            &[
                ("month", "", ColumnKind::Text),
                (self.grouping.column(), "", ColumnKind::Text),
                ("view", "", ColumnKind::Text),
                ("jobs", "1", ColumnKind::Sum),
                ("core_hours", "core h", hour),
                ("cpu_hours", "h", hour),
                ("efficiency", "%", ColumnKind::Decimal(1)),
                ("gpu_hours", "gpu h", hour),
                ("hs06_hours", "HS06 h", hour),
                ("hs23_hours", "HS23 h", hour),
                ("jobs_without_benchmark", "1", ColumnKind::Sum),
                ("corrected_jobs", "1", ColumnKind::Sum),
            ],
        );
        for (SitePageKey { month, name, view }, sums) in &self.usage {
            let mut row = vec![
                Cell::text(month.to_string()),
                Cell::text(if name.is_empty() { "(unknown)" } else { name.as_str() }),
                Cell::text(view.as_str()),
            ];
            row.extend(amounts(sums));
            table.push(row);
        }
        table
    }

    /// Sums by VO or account of the site's own account, largest first.
    #[must_use]
    pub fn by_name(&self) -> Vec<(String, SitePageSums)> {
        let mut by_name: BTreeMap<&str, SitePageSums> = BTreeMap::new();
        for (SitePageKey { name, view, .. }, sums) in &self.usage {
            if is_own(view) {
                by_name.entry(name).or_default().add(sums);
            }
        }
        let named = by_name.into_iter().map(|(name, sums)| (name.to_owned(), sums));
        largest_first(named.collect())
    }

    /// Sums by month of the site's own account.
    #[must_use]
    pub fn by_month(&self) -> BTreeMap<Month, SitePageSums> {
        let mut by_month: BTreeMap<Month, SitePageSums> = BTreeMap::new();
        for (SitePageKey { month, view, .. }, sums) in &self.usage {
            if is_own(view) {
                by_month.entry(*month).or_default().add(sums);
            }
        }
        by_month
    }
}

/// Sorted by core time, the most first.
pub(super) fn largest_first<N: Ord>(by_name: BTreeMap<N, SitePageSums>) -> Vec<(N, SitePageSums)> {
    let mut named: Vec<_> = by_name.into_iter().collect();
    named.sort_by(|a, b| b.1.core_s.cmp(&a.1.core_s).then_with(|| a.0.cmp(&b.0)));
    named
}

/// Accounts where no VO of the site is known; VOs otherwise, and where a selection names some.
fn grouping(lake: &Lake, site: &str, selection: &Selection) -> Grouping {
    let mut paths = lake.manifest.dataset("usage");
    let is_of_vos = !selection.vos.is_empty()
        || paths.any(|file| parse_usage_path(&file.path).is_some_and(|(of, vo, _)| of == site && vo.is_some()));
    if is_of_vos { Grouping::Vo } else { Grouping::Account }
}

/// The views of a site in which some record states how many GPUs its job had. Usage sums known values, and is zero where
/// nothing is.
fn views_with_gpus(lake: &Lake, site: &str) -> Result<BTreeSet<String>> {
    let mut views = BTreeSet::new();
    for (of, _, path) in lake.months("records")? {
        if of != site {
            continue;
        }
        for batch in lake.record_batches(&path, &["view", "alloc_gpu_n"])? {
            let batch = batch?;
            let (view, gpus) = (text(&batch, "view")?, int(&batch, "alloc_gpu_n")?);
            for row in (0..batch.num_rows()).filter(|row| gpus.is_valid(*row)) {
                if !views.contains(view.value(row)) {
                    views.insert(view.value(row).to_owned());
                }
            }
        }
    }
    Ok(views)
}

/// CPU time of core time in percent.
#[must_use]
pub fn efficiency(sums: &SitePageSums) -> Cell {
    let cpu_ms = sums.cpu_ms.map(|cpu_ms| finer(cpu_ms, 100));
    cpu_ms.map_or(Cell::Empty, |cpu_ms| Cell::ratio(cpu_ms, finer(sums.core_s, 1000), 1))
}

/// Jobs, core hours, CPU hours, efficiency, GPU hours, work, jobs without benchmark, corrected jobs.
#[must_use]
pub fn amounts(sums: &SitePageSums) -> Vec<Cell> {
    let hours = |seconds: i128| Cell::ratio(seconds, 3600, FILE_DIGITS);
    let [hs06, hs23] = sums.work_s.map(|work| match work {
        Some(work) => Cell::ratio(work, 3600 * WORK_SCALE, FILE_DIGITS),
        None => Cell::Empty,
    });
    vec![
        Cell::Int(sums.job_n),
        hours(sums.core_s),
        sums.cpu_ms
            .map_or(Cell::Empty, |cpu_ms| Cell::ratio(cpu_ms, 3_600_000, FILE_DIGITS)),
        efficiency(sums),
        sums.gpu_s.map_or(Cell::Empty, hours),
        hs06,
        hs23,
        Cell::Int(sums.benchmark_missing_n),
        Cell::Int(sums.corrected_job_n),
    ]
}
