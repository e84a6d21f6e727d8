//! Slurm's own tables, as `sreport` prints them: from records, cut to the period whatever the lake's attribution, after
//! signed corrections. What no job says is empty, not zero.

mod accounts;
mod events;
mod gathered;
mod jobs;
mod period;
mod planned;
mod reserved;
mod sizes;
mod tree;
mod unit;
mod used;
mod users;
mod utilization;
mod windows;

use std::collections::{BTreeMap, BTreeSet};

pub use period::Period;
pub use unit::TimeUnit;

use super::lake::{Lake, Selection};
use super::table::{Cell, ColumnKind, Table};
use crate::error::{Error, Kind, Result};
use crate::time::DaySpan;
use gathered::Gathered;
use jobs::Jobs;
use reserved::Reserved;
use tree::Trees;
use used::Used;

/// Which table of sreport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum SreportKind {
    /// What accounts used, each with those below it; no people are named.
    #[default]
    #[value(alias = "accountutilization")]
    AccountUtilization,
    /// The same with a line for each user (sreport cluster `AccountUtilizationByUser`).
    #[value(alias = "accountutilizationbyuser")]
    AccountUtilizationByUser,
    /// Users and their accounts, most cores first (sreport cluster `UserUtilizationByAccount`).
    #[value(alias = "userutilizationbyaccount")]
    UserUtilizationByAccount,
    /// The first of them (sreport user `TopUsage`).
    #[value(alias = "usertopusage", alias = "user-top-usage", alias = "topusage")]
    TopUsage,
    /// Core time by account and number of cores (sreport job `SizesByAccount` `FlatView`).
    #[value(alias = "sizesbyaccount")]
    SizesByAccount,
    /// What of the cluster was allocated, down and idle (sreport cluster Utilization).
    #[value(alias = "clusterutilization", alias = "cluster-utilization")]
    Utilization,
}

impl SreportKind {
    /// Whether it names people.
    #[must_use]
    pub fn names_people(self) -> bool {
        matches!(
            self,
            Self::AccountUtilizationByUser | Self::UserUtilizationByAccount | Self::TopUsage
        )
    }
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// Which table.
    pub kind: SreportKind,
    /// Sites and VOs; its months are those of `period`.
    pub selection: Selection,
    /// Of which time.
    pub period: Period,
    /// In what usage is reported.
    pub unit: TimeUnit,
    /// Only these trackable resources; empty for all a lake can tell of.
    pub tres: BTreeSet<String>,
    /// How many lines of users at most ([`SreportKind::TopUsage`]).
    pub top_n: usize,
    /// Numbers of cores at which the next column begins ([`SreportKind::SizesByAccount`]), ascending.
    pub edges: Vec<i64>,
    /// Jobs in place of their time ([`SreportKind::SizesByAccount`]).
    pub is_job_count: bool,
}

impl Request {
    /// A table with what sreport takes where nothing else is said.
    #[must_use]
    pub fn new(kind: SreportKind, selection: Selection, period: Period) -> Self {
        Self {
            kind,
            selection,
            period,
            unit: TimeUnit::default(),
            tres: BTreeSet::new(),
            top_n: 10,
            edges: vec![50, 250, 500, 1000],
            is_job_count: false,
        }
    }

    fn has_tres(&self, name: &str) -> bool {
        self.tres.is_empty() || self.tres.contains(name)
    }

    fn check(&self) -> Result<()> {
        if let Some(name) = self.tres.iter().find(|name| !used::is_name(name)) {
            let message = format!(
                "--tres {name}: a lake tells of {} and gres/gpu:TYPE",
                used::TRES.join(", ")
            );
            return Err(Error::new(Kind::Usage, message));
        }
        let needs_end = self.unit.has_percent() && self.kind != SreportKind::SizesByAccount;
        if (needs_end || self.kind == SreportKind::Utilization) && !self.period.is_closed() {
            let message = "shares of a cluster need a period: give --from and --to, or --start and --end";
            return Err(Error::new(Kind::Usage, message));
        }
        Ok(())
    }
}

/// A table, and what people have to know of it.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The table.
    pub table: Table,
    /// What is not in it, or in it other than one would think.
    pub notes: Vec<String>,
}

/// Makes a table.
///
/// # Errors
/// [`Kind::Io`] when the lake cannot be read; [`Kind::Data`] when it does not say in which zone its months are cut;
/// [`Kind::Usage`] when what is asked for has no answer.
pub fn answer(lake: &Lake, request: &Request) -> Result<Answer> {
    request.check()?;
    let jobs = Jobs::new(lake, &request.selection, request.period)?;
    let mut answer = match request.kind {
        SreportKind::SizesByAccount => sizes::answer(&jobs, request)?,
        SreportKind::Utilization => utilization::answer(&jobs, request)?,
        kind => {
            let trees = Trees::read(lake)?;
            let windows = windows::read(lake, &request.selection, request.period, &trees)?;
            let reserved = Reserved::new(windows, request.period);
            let gathered = Gathered::read(&jobs, &reserved)?;
            let wholes = Wholes::read(&jobs, request)?;
            let mut answer = match kind {
                SreportKind::TopUsage | SreportKind::UserUtilizationByAccount => {
                    users::answer(&gathered, &wholes, request)
                }
                _ => accounts::answer(&gathered, &trees, &wholes, request),
            };
            answer.notes.extend(gathered.notes);
            answer.notes.extend(wholes.notes);
            answer
        }
    };
    answer.notes.extend(of_summaries(&jobs)?);
    Ok(answer)
}

/// Summaries tell of jobs added up, which cannot be cut to a period or told apart by user.
fn of_summaries(jobs: &Jobs<'_>) -> Result<Option<String>> {
    let rows = jobs.lake.summaries(&Selection {
        days: DaySpan::default(),
        ..jobs.selection.clone()
    })?;
    let own = rows
        .iter()
        .filter(|row| row.is_usage() && jobs.period.touches(row.month, &jobs.zone));
    let (mut row_n, mut job_n) = (0_u64, 0_i64);
    for row in own {
        row_n += 1;
        job_n += row.number("job_n").unwrap_or_default();
    }
    Ok((row_n > 0).then(|| format!("{row_n} summaries of {job_n} jobs are left out: they name no single jobs")))
}

/// Seconds clusters registered of each resource, of which percentages are.
#[derive(Debug, Default)]
struct Wholes {
    seconds: BTreeMap<String, BTreeMap<String, i128>>,
    notes: Vec<String>,
}

impl Wholes {
    /// Reads them, if percentages are asked for.
    fn read(jobs: &Jobs<'_>, request: &Request) -> Result<Self> {
        if !request.unit.has_percent() {
            return Ok(Self::default());
        }
        let events = events::read(jobs.lake, jobs.selection, jobs.period)?;
        let seconds = events::registered(&events);
        let notes = if seconds.is_empty() {
            vec![unregistered("percentages")]
        } else {
            Vec::new()
        };
        Ok(Self { seconds, notes })
    }

    fn of(&self, cluster: &str, tres: &str) -> Option<i128> {
        self.seconds.get(cluster)?.get(tres).copied()
    }
}

/// What is said where nothing tells what a cluster has.
fn unregistered(what: &str) -> String {
    format!(
        "no listing tells what the cluster registered in the period, so {what} are unknown: add `sacctmgr -P show event \
         All_Clusters Start=DAY` under [[inventory]]"
    )
}

/// A table with these words in front of the resource and its amount.
fn table_of(title: &str, words: &[&str], request: &Request) -> Table {
    let mut columns: Vec<(String, &'static str, ColumnKind)> = words
        .iter()
        .chain(&["TRES Name"])
        .map(|name| ((*name).to_owned(), "", ColumnKind::Text))
        .collect();
    columns.extend(request.unit.columns("Used", ColumnKind::Number));
    let columns: Vec<_> = columns
        .iter()
        .map(|(name, unit, kind)| (name.as_str(), *unit, *kind))
        .collect();
    Table::new(title, &columns)
}

/// Adds a line for each resource asked for.
fn push_lines(
    table: &mut Table,
    words: &[Cell],
    used: &Used,
    names: &[String],
    whole: (&Wholes, &str),
    request: &Request,
) {
    for name in names.iter().filter(|name| request.has_tres(name)) {
        let mut row = words.to_vec();
        row.push(Cell::text(name));
        row.extend(request.unit.cells(used.named(name), whole.0.of(whole.1, name)));
        table.push(row);
    }
}
