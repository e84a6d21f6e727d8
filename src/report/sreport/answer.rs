//! A question to `report sreport`, and its answer as tables.

use std::collections::{BTreeMap, BTreeSet};

use super::jobs::SreportJobs;
use super::period::SreportPeriod;
use super::unit::TimeUnit;
use super::used::Used;
use super::{events, used};
use crate::error::{Error, Kind, Result};
use crate::report::lake::Selection;
use crate::report::table::{Cell, ColumnKind, Table};

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

/// The request.
#[derive(Clone, Debug)]
pub struct SreportRequest {
    /// Which table.
    pub kind: SreportKind,
    /// Sites and VOs; its months are those of `period`.
    pub selection: Selection,
    /// Of which time.
    pub period: SreportPeriod,
    /// In what usage is reported.
    pub unit: TimeUnit,
    /// Only these trackable resources; empty for all that a lake contains.
    pub tres: BTreeSet<String>,
    /// How many lines of users at most ([`SreportKind::TopUsage`]).
    pub top_n: usize,
    /// Numbers of cores at which the next column begins ([`SreportKind::SizesByAccount`]), ascending.
    pub edges: Vec<i64>,
    /// Jobs in place of their time ([`SreportKind::SizesByAccount`]).
    pub is_job_count: bool,
}

impl SreportRequest {
    /// A table with sreport's defaults.
    #[must_use]
    pub fn new(kind: SreportKind, selection: Selection, period: SreportPeriod) -> Self {
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

    pub(crate) fn has_tres(&self, name: &str) -> bool {
        self.tres.is_empty() || self.tres.contains(name)
    }

    pub(crate) fn check(&self) -> Result<()> {
        if let Some(name) = self.tres.iter().find(|name| !used::is_name(name)) {
            let message = format!(
                "--tres {name}: a lake contains {} and gres/gpu:TYPE",
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
pub struct SreportAnswer {
    /// The table.
    pub table: Table,
    /// What is not in it, or in it other than one would think.
    pub notes: Vec<String>,
}

/// Seconds clusters registered of each resource, of which percentages are.
#[derive(Debug, Default)]
pub(crate) struct Wholes {
    seconds: BTreeMap<String, BTreeMap<String, i128>>,
    pub(crate) notes: Vec<String>,
}

impl Wholes {
    /// Reads them, if percentages are requested.
    pub(crate) fn read(jobs: &SreportJobs<'_>, request: &SreportRequest) -> Result<Self> {
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

/// The note where no record states the resources of a cluster.
pub(crate) fn unregistered(what: &str) -> String {
    format!(
        "no listing states what the cluster registered in the period, so {what} are unknown: add `sacctmgr -P show event \
         All_Clusters Start=DAY` under [[inventory]]"
    )
}

/// A table with these words in front of the resource and its amount.
pub(crate) fn table_of(title: &str, words: &[&str], request: &SreportRequest) -> Table {
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

/// Adds a line for each resource requested.
pub(crate) fn push_lines(
    table: &mut Table,
    words: &[Cell],
    used: &Used,
    names: &[String],
    wholes: &Wholes,
    cluster: &str,
    request: &SreportRequest,
) {
    for name in names.iter().filter(|name| request.has_tres(name)) {
        let mut row = words.to_vec();
        row.push(Cell::text(name));
        row.extend(request.unit.cells(used.named(name), wholes.of(cluster, name)));
        table.push(row);
    }
}
