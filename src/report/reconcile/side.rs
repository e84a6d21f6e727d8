//! One account of usage, from a lake or from messages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::error::{Error, Kind, Result};
use crate::records::SummaryKind;
use crate::report::apel::MessageKind;
use crate::report::apel::aggregate::{Aggregate, Gathering, additions, of_summary, preferred};
use crate::report::apel::jobs::{LeftOutCounts, Wanted, each_job};
use crate::report::apel::users::Users;
use crate::report::lake::{Lake, Selection};
use crate::report::publication::diff::by_key;
use crate::report::publication::messages::texts;
use crate::report::publication::told::Told;
use crate::report::table::divide;
use crate::report::work_scale::Scale;
use crate::time::Month;

/// How far from the edge of a month a job may end for a zone to matter, in seconds.
const EDGE_S: i64 = 14 * 3600;

/// What some usage comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Jobs.
    pub job_n: i128,
    /// Wall time, not times cores, seconds.
    pub wall_s: i128,
    /// CPU time, seconds.
    pub cpu_s: i128,
    /// Wall time times cores, seconds.
    pub core_wall_s: i128,
    /// Wall work, not times cores, seconds.
    pub wall_work_s: i128,
    /// CPU work, seconds.
    pub cpu_work_s: i128,
}

impl Amount {
    /// The sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.zip(other, i128::saturating_add)
    }

    /// The difference.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.zip(other, i128::saturating_sub)
    }

    /// So many times.
    #[must_use]
    pub fn times(self, n: i128) -> Self {
        self.zip(self, |a, _| a.saturating_mul(n))
    }

    fn zip(self, other: Self, of: impl Fn(i128, i128) -> i128) -> Self {
        Self {
            job_n: of(self.job_n, other.job_n),
            wall_s: of(self.wall_s, other.wall_s),
            cpu_s: of(self.cpu_s, other.cpu_s),
            core_wall_s: of(self.core_wall_s, other.core_wall_s),
            wall_work_s: of(self.wall_work_s, other.wall_work_s),
            cpu_work_s: of(self.cpu_work_s, other.cpu_work_s),
        }
    }

    /// Whether jobs, wall and CPU time are the same.
    #[must_use]
    pub fn has_same_time(self, other: Self) -> bool {
        (self.job_n, self.wall_s, self.cpu_s) == (other.job_n, other.wall_s, other.cpu_s)
    }
}

/// A row below the level of site, VO and month.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fine {
    /// What tells it from others: name of the field and value.
    pub key: BTreeMap<&'static str, String>,
    /// What it comes to.
    pub amount: Amount,
}

/// A site, VO and month, all spellings of the names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// By the spelling of site and VO.
    pub spellings: BTreeMap<(String, String), Amount>,
    /// Its rows.
    pub rows: Vec<Fine>,
}

impl Cell {
    /// All of it.
    #[must_use]
    pub fn amount(&self) -> Amount {
        self.spellings.values().fold(Amount::default(), |sum, of| sum.plus(*of))
    }
}

/// Site and VO in lower case, and the month.
pub type CellKey = (String, String, Month);

/// A job that ended so near to the edge of a month that another zone would put it elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeJob {
    /// Site and VO in lower case.
    pub of: (String, String),
    /// End, Unix seconds.
    pub end_s: i64,
    /// What it comes to.
    pub amount: Amount,
}

/// One account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// What people call it.
    pub name: String,
    /// Usage by site, VO and month.
    pub cells: BTreeMap<CellKey, Cell>,
    /// Jobs near the edges of months, where single jobs are known.
    pub edge_jobs: Vec<EdgeJob>,
    /// Values per core in use, in thousandths, by site in lower case and month.
    pub levels_e3: BTreeMap<(String, Month), BTreeSet<i64>>,
    /// Jobs by site in lower case and month, where only their number is told (sync records).
    pub counts: BTreeMap<(String, Month), i128>,
}

impl Side {
    /// Opens an account: a lake, or a message file or folder. `source` takes one source of a lake alone.
    ///
    /// # Errors
    /// [`Kind::NoInput`] when there is neither; [`Kind::Io`] when it cannot be read; [`Kind::Data`] when messages are none.
    pub fn open(path: &str, source: Option<&str>, selection: &Selection, scale: Scale) -> Result<Self> {
        let is_lake = path.contains("://") || Path::new(path).join("manifest.json").exists();
        let mut side = if is_lake {
            Self::of_lake(&Lake::open(path)?, source, selection, scale)?
        } else if source.is_some() {
            return Err(Error::new(
                Kind::Usage,
                format!("{path} is no lake, and has no sources"),
            ));
        } else {
            let mut told = Vec::new();
            for (file, text) in texts(Path::new(path))? {
                told.extend(Told::read(&text).map_err(|e| e.at("file", file.display()))?);
            }
            Self::of_messages(&told, selection)
        };
        side.name = source.map_or_else(|| path.to_owned(), |source| format!("{path} ({source})"));
        Ok(side)
    }

    /// A lake, or one of its sources.
    ///
    /// # Errors
    /// [`Kind::Io`] when it cannot be read.
    pub fn of_lake(lake: &Lake, source: Option<&str>, selection: &Selection, scale: Scale) -> Result<Self> {
        let mut side = Self::default();
        let mut unknown = LeftOutCounts::new();
        let mut gathering = Gathering::default();
        each_job(lake, selection, Wanted::Everything, &mut unknown, |site, job| {
            if source.is_some_and(|source| source != job.source) {
                return Ok(());
            }
            gathering.add(site, job, &Users::Keep);
            let to_edge = edge_distance_s(job.end_s);
            if to_edge <= EDGE_S {
                let wall_s = i128::from(job.wall_s);
                side.edge_jobs.push(EdgeJob {
                    of: (site.to_lowercase(), job.vo.unwrap_or_default().to_lowercase()),
                    end_s: job.end_s,
                    amount: Amount {
                        job_n: 1,
                        wall_s,
                        cpu_s: i128::from(job.cpu_ms) / 1000,
                        core_wall_s: wall_s * i128::from(job.core_n.unwrap_or(1)),
                        ..Amount::default()
                    },
                });
            }
            Ok(())
        })?;
        let added = if source.is_none() {
            additions(lake, selection)?
        } else {
            Vec::new()
        };
        for group in gathering.finish().into_iter().chain(added) {
            side.add_group(&group, scale);
        }
        for row in lake.summaries(selection)? {
            if source.is_some_and(|source| source != row.source) {
                continue;
            }
            if row.kind == SummaryKind::Sync {
                let count = side.counts.entry((row.site.to_lowercase(), row.month)).or_default();
                *count += i128::from(row.number("sync_job_n").unwrap_or(0));
            } else {
                side.add_group(&of_summary(&row, &Users::Keep), scale);
            }
        }
        Ok(side)
    }

    fn add_group(&mut self, group: &Aggregate, scale: Scale) {
        let [user, vo, vo_group, vo_role, host, infrastructure] = &group.words;
        let (wall_work, cpu_work) = scale.work(group).map_or((0, 0), |work| (work.wall_s, work.cpu_s));
        let wall_s = i128::from(group.sums.wall_s);
        let amount = Amount {
            job_n: i128::from(group.sums.job_n),
            wall_s,
            cpu_s: i128::from(group.sums.cpu_s()),
            core_wall_s: wall_s * i128::from(group.core_n.max(1)),
            wall_work_s: i128::from(wall_work),
            cpu_work_s: i128::from(cpu_work),
        };
        let place = preferred(|place| group.levels_e3.get(place).is_some_and(Option::is_some), None);
        let level = place.and_then(|place| group.levels_e3.get(place).copied().flatten());
        let mut key = BTreeMap::new();
        for (name, value) in [
            ("user", user.clone()),
            ("vo_group", vo_group.clone()),
            ("vo_role", vo_role.clone()),
            ("submit_host", host.clone()),
            ("infrastructure", infrastructure.clone()),
            ("nodes", Some(group.node_n.to_string())),
            ("cores", Some(group.core_n.to_string())),
            ("benchmark", level.map(|e3| e3.to_string())),
        ] {
            if let Some(value) = value {
                key.insert(name, value.to_lowercase());
            }
        }
        self.add(
            &group.site,
            vo.as_deref().unwrap_or_default(),
            group.month,
            Fine { key, amount },
        );
        if let Some(level) = level {
            let of = (group.site.to_lowercase(), group.month);
            self.levels_e3.entry(of).or_default().insert(level);
        }
    }

    fn add(&mut self, site: &str, vo: &str, month: Month, row: Fine) {
        let cell = self
            .cells
            .entry((site.to_lowercase(), vo.to_lowercase(), month))
            .or_default();
        let sum = cell.spellings.entry((site.to_owned(), vo.to_owned())).or_default();
        *sum = sum.plus(row.amount);
        cell.rows.push(row);
    }

    /// Messages of any kind. Of several with one key the last holds.
    #[must_use]
    pub fn of_messages(told: &[Told], selection: &Selection) -> Self {
        let mut account = Self::default();
        for told in by_key(told).into_values() {
            let Some(month) = told.month().filter(|month| selection.has_month(*month)) else {
                continue;
            };
            let (site, vo) = (told.site(), told.vo());
            let number = |name: &str| i128::from(told.number(name).unwrap_or(0));
            if !selection.has_site(site) {
                continue;
            }
            if told.form == MessageKind::Sync.into() {
                *account.counts.entry((site.to_lowercase(), month)).or_default() += number("NumberOfJobs");
                continue;
            }
            if !selection.has_vo(Some(vo)) {
                continue;
            }
            let cores = number("Processors");
            let wall_s = i128::from(told.wall_s().unwrap_or(0));
            let cpu_s = i128::from(told.cpu_s().unwrap_or(0));
            let level = level_e3(told);
            let (wall_work_s, cpu_work_s) = if let Some((level, unit)) = level {
                let work = |seconds: i128| divide(seconds * i128::from(level), unit).unwrap_or(0);
                (work(wall_s), work(cpu_s))
            } else {
                let (wall, cpu) = told.work_s();
                (i128::from(wall.unwrap_or(0)), i128::from(cpu.unwrap_or(0)))
            };
            let mut key = BTreeMap::new();
            for (name, field) in [
                ("user", "GlobalUserName"),
                ("vo_group", "VOGroup"),
                ("vo_role", "VORole"),
                ("submit_host", "SubmitHost"),
            ] {
                if let Some(value) = told.word(field) {
                    key.insert(name, value.to_lowercase());
                }
            }
            if let Some(infrastructure) = told.infrastructure() {
                key.insert("infrastructure", infrastructure.to_lowercase());
            }
            key.insert("nodes", number("NodeCount").to_string());
            key.insert("cores", cores.to_string());
            if let Some((level, _)) = level {
                key.insert("benchmark", level.to_string());
                account
                    .levels_e3
                    .entry((site.to_lowercase(), month))
                    .or_default()
                    .insert(level);
            }
            let amount = Amount {
                job_n: i128::from(told.job_n()),
                wall_s,
                cpu_s,
                core_wall_s: wall_s * cores.max(1),
                wall_work_s,
                cpu_work_s,
            };
            account.add(site, vo, month, Fine { key, amount });
        }
        account
    }
}

/// Thousandths per core of the benchmark the server would pick, and what a product with seconds is divided by.
fn level_e3(told: &Told) -> Option<(i64, i128)> {
    const BY_PREFERENCE: [&str; 3] = ["hepscore23", "hepspec", "si2k"];
    let value = told.word("ServiceLevel")?;
    let inside = value.trim_start_matches('{').trim_end_matches('}');
    let stated = told.word("ServiceLevelType").unwrap_or_default();
    let entries = || {
        inside
            .split(',')
            .map(|entry| entry.split_once(':').unwrap_or((stated, entry)))
    };
    let of = |wanted: &str| entries().find(|(name, _)| name.trim().eq_ignore_ascii_case(wanted));
    let (name, number) = BY_PREFERENCE.into_iter().find_map(of).or_else(|| entries().next())?;
    let (whole, fraction) = number.trim().split_once('.').unwrap_or((number.trim(), ""));
    let digits: String = fraction.chars().chain("000".chars()).take(3).collect();
    let level = format!("{whole}{digits}").parse().ok()?;
    let is_si00 = name.trim().eq_ignore_ascii_case("si2k");
    Some((level, if is_si00 { 250_000 } else { 1000 }))
}

/// How far an instant is from the nearest edge of a UTC month, in seconds.
fn edge_distance_s(end_s: i64) -> i64 {
    let Some(month) = Month::of_ms(end_s.saturating_mul(1000)) else {
        return i64::MAX;
    };
    let first_s = |month: Month| i64::from(month.first_day()) * 86_400;
    (end_s - first_s(month)).min(first_s(month.next()) - end_s)
}
