//! What of clusters was allocated, down and idle, hour by hour as Slurm's roll-up counts it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use super::answer::{SreportAnswer, SreportRequest, unregistered};
use super::events::{EventKind, NodeEvent, read};
use super::gathered::{Addition, additions, cut};
use super::jobs::{PeriodPart, SreportJobs, cut_suspended};
use super::planned::{Planned, registered};
use super::reserved::Reserved;
use super::tree::Trees;
use super::used::{model_of, names};
use super::windows::{ReservationWindow, read as read_windows};
use crate::error::{Error, Result};
use crate::ledger::Reason;
use crate::numbers::tally;
use crate::reference::hostlist::Hostlist;
use crate::report::lake::on_all_processors;
use crate::report::table::{Cell, ColumnKind, Table};
use crate::schema::batch::{int, text};
use crate::time::MsSpan;

/// A trackable resource of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ClusterTres {
    cluster: String,
    tres: String,
}

impl ClusterTres {
    fn new(cluster: &str, tres: String) -> Self {
        let cluster = cluster.to_owned();
        Self { cluster, tres }
    }
}

/// Seconds by cluster and resource, and by hour.
type Hours = BTreeMap<ClusterTres, BTreeMap<i64, i128>>;

/// What jobs hold, by hour.
#[derive(Debug, Default)]
struct UtilizationHeld {
    /// Outside of reservations, whose windows are allocated as a whole.
    allocated: Hours,
    /// While the controller of the cluster was down.
    unseen: Hours,
    /// Jobs whose number of cores is unknown.
    unknown_n: u64,
    /// Jobs that were suspended and run over an end of the period.
    cut_suspended_n: u64,
    /// What waited.
    planned: Planned,
}

impl UtilizationHeld {
    fn absorb(&mut self, more: Self) {
        self.unknown_n += more.unknown_n;
        self.cut_suspended_n += more.cut_suspended_n;
        self.planned.absorb(more.planned);
        for (into, from) in [(&mut self.allocated, more.allocated), (&mut self.unseen, more.unseen)] {
            for (key, hours) in from {
                let own = into.entry(key).or_default();
                for (hour, seconds) in hours {
                    *own.entry(hour).or_default() += seconds;
                }
            }
        }
    }
}

/// What became of a resource in some time, in seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    allocated: i128,
    down: i128,
    planned_down: i128,
    /// Idle, or planned for jobs that waited: only cores are.
    left: i128,
    /// What of that was planned.
    planned: i128,
    /// How many the cluster had, added up over hours.
    count_sum: i128,
    /// Those hours.
    hour_n: i128,
}

impl Spent {
    /// Cuts to what there was, as the roll-up does: what is allocated first, then what was down.
    fn cut(self, total: i128) -> Self {
        if total == 0 {
            return Self {
                left: 0,
                planned: 0,
                ..self
            };
        }
        let allocated = self.allocated.min(total);
        let down = self.down.min(total - allocated);
        let planned_down = self.planned_down.min(total - allocated - down);
        let left = total - allocated - down - planned_down;
        Self {
            allocated,
            down,
            planned_down,
            left,
            planned: self.planned.min(left),
            ..self
        }
    }

    fn add(&mut self, more: Self) {
        self.allocated += more.allocated;
        self.down += more.down;
        self.planned_down += more.planned_down;
        self.left += more.left;
        self.planned += more.planned;
        self.count_sum += more.count_sum;
        self.hour_n += more.hour_n;
    }

    fn reported(self) -> i128 {
        self.allocated + self.down + self.planned_down + self.left
    }

    /// What the cluster would have reported, had it been registered all the time.
    fn possible(self, period_s: i128) -> Option<i128> {
        self.count_sum
            .checked_div(self.hour_n)
            .map(|count_n| count_n * period_s)
    }
}

pub(super) fn answer(jobs: &SreportJobs<'_>, request: &SreportRequest) -> Result<SreportAnswer> {
    let events = read(jobs.lake, jobs.selection, jobs.period)?;
    let trees = Trees::read(jobs.lake)?;
    let windows = read_windows(jobs.lake, jobs.selection, jobs.period, &trees)?;
    let reserved = Reserved::new(windows, jobs.period);
    let held = Mutex::new(UtilizationHeld::default());
    let registered_spans = registered(jobs, &events);
    on_all_processors(&jobs.pieces()?, |piece| {
        let mut own = UtilizationHeld::default();
        own.cut_suspended_n = jobs.each(piece, |part| hold(part, jobs, &reserved, &events, &mut own))?;
        own.planned.read(jobs, piece, &reserved, &registered_spans)?;
        let mut held = held.lock().map_err(|_| Error::internal("a working thread died"))?;
        held.absorb(own);
        Ok(())
    })?;
    let held = held
        .into_inner()
        .map_err(|_| Error::internal("a working thread died"))?;
    let mut notes = Vec::new();
    if held.unknown_n > 0 {
        let unknown_n = held.unknown_n;
        notes.push(format!(
            "{unknown_n} jobs whose number of cores is unknown are not in the lines of cpu"
        ));
    }
    notes.extend(cut_suspended(held.cut_suspended_n));
    let mut spent = rolled_up(jobs, &events, &reserved.windows, &held);
    for Addition { rule, who, used } in additions(jobs) {
        let Some(used) = used else {
            notes.push(cut(rule));
            continue;
        };
        let models: BTreeSet<&str> = used.models().collect();
        for name in names(&models).into_iter().filter(|name| name != "node") {
            if let Some(seconds) = used.named(&name).filter(|seconds| *seconds != 0) {
                let own = spent.entry(ClusterTres::new(&who.cluster, name)).or_default();
                own.allocated += seconds;
                own.left -= seconds.min(own.left);
                own.planned = own.planned.min(own.left);
            }
        }
    }
    let registered: BTreeSet<&str> = (events.iter())
        .filter(|event| event.kind == EventKind::Registered)
        .map(|event| event.cluster.as_str())
        .collect();
    let is_unknown = |cluster: &str| !registered.contains(cluster);
    if registered.is_empty() || spent.keys().any(|of| is_unknown(&of.cluster)) {
        notes.push(unregistered("idle and reported time"));
    }
    notes.extend(held.planned.notes());
    notes.extend(unstarted(jobs)?);
    let is_together = |cluster: &str| held.planned.unknown_n(cluster) > 0;
    Ok(SreportAnswer {
        table: table(&spent, is_unknown, is_together, request),
        notes,
    })
}

/// Notes what a part of a job holds in every hour.
fn hold(
    part: &PeriodPart<'_>,
    jobs: &SreportJobs<'_>,
    reserved: &Reserved,
    events: &[NodeEvent],
    held: &mut UtilizationHeld,
) {
    let add = |into: &mut Hours, span: MsSpan| {
        for (hour, from_ms, until_ms) in jobs.period.hours(span) {
            let used = part.used(MsSpan { from_ms, until_ms });
            let models: BTreeSet<&str> = used.models().collect();
            for name in names(&models).into_iter().filter(|name| name != "node") {
                if let Some(seconds) = used.named(&name).filter(|seconds| *seconds != 0) {
                    let own = into.entry(ClusterTres::new(part.cluster, name)).or_default();
                    *own.entry(hour).or_default() += seconds;
                }
            }
        }
    };
    held.unknown_n += u64::from(part.amount(0).is_none());
    for event in events {
        let is_outage = event.node.is_none() && event.kind == EventKind::Down && event.cluster == part.cluster;
        if let Some(span) = event.span.common(part.span).filter(|_| is_outage) {
            add(&mut held.unseen, span);
        }
    }
    match reserved.of(part) {
        None => add(&mut held.allocated, part.span),
        Some(windows) => {
            for (_, _, within) in windows.filter(|(_, window, _)| window.ignores_jobs) {
                add(&mut held.allocated, within);
            }
        }
    }
}

/// Every hour in which a cluster was registered, cut to what there was, and added up.
fn rolled_up(
    jobs: &SreportJobs<'_>,
    events: &[NodeEvent],
    windows: &[ReservationWindow],
    held: &UtilizationHeld,
) -> BTreeMap<ClusterTres, Spent> {
    let mut totals: Hours = BTreeMap::new();
    let mut hourly: BTreeMap<(String, String, i64), Spent> = BTreeMap::new();
    let mut unseen: Hours = BTreeMap::new();
    let mut counts: BTreeMap<(String, String, i64), i128> = BTreeMap::new();
    // What is set aside by each window, less its nodes that were down.
    let mut set_aside: BTreeMap<(usize, String, i64), i128> = BTreeMap::new();
    for (place, window) in windows.iter().enumerate() {
        for (hour, from_ms, until_ms) in jobs.period.hours(window.span) {
            for (tres, n) in &window.amounts {
                let seconds = i128::from(*n) * i128::from((until_ms - from_ms) / 1000);
                set_aside.insert((place, tres.clone(), hour), seconds);
            }
        }
    }
    let hosts: Vec<BTreeSet<String>> = windows.iter().map(hosts).collect();
    for event in events {
        for (hour, from_ms, until_ms) in jobs.period.hours(event.span) {
            for (tres, n) in &event.amounts {
                let seconds = |span: MsSpan| i128::from(*n) * i128::from(span.length_ms() / 1000);
                let part = MsSpan { from_ms, until_ms };
                let all = seconds(part);
                let key = ClusterTres::new(&event.cluster, tres.clone());
                let Some(node) = &event.node else {
                    let into = if event.kind == EventKind::Registered {
                        // Of an hour in which it changed, the last.
                        counts.insert((key.cluster.clone(), key.tres.clone(), hour), i128::from(*n));
                        &mut totals
                    } else {
                        &mut unseen
                    };
                    *into.entry(key).or_default().entry(hour).or_default() += all;
                    continue;
                };
                let own = hourly.entry((key.cluster, key.tres, hour)).or_default();
                let mut rest = all;
                for (place, window) in windows.iter().enumerate() {
                    let is_of = window.cluster.as_ref() == Some(&event.cluster)
                        && hosts.get(place).is_some_and(|hosts| hosts.contains(node));
                    let Some(within) = window.span.common(part).filter(|_| is_of) else {
                        continue;
                    };
                    let moved = seconds(within);
                    if window.is_maintenance {
                        own.planned_down += moved;
                    } else {
                        own.down += moved;
                    }
                    rest -= moved;
                    if let Some(left) = set_aside.get_mut(&(place, tres.clone(), hour)) {
                        *left = (*left - moved).max(0);
                    }
                }
                let rest = rest.max(0);
                if event.kind == EventKind::PlannedDown {
                    own.planned_down += rest;
                } else {
                    own.down += rest;
                }
            }
        }
    }
    for ((place, tres, hour), seconds) in set_aside {
        let Some(window) = windows.get(place).filter(|window| !window.ignores_jobs) else {
            continue;
        };
        if let Some(cluster) = &window.cluster {
            let own = hourly.entry((cluster.clone(), tres, hour)).or_default();
            if window.is_maintenance {
                own.planned_down += seconds;
            } else {
                own.allocated += seconds;
            }
        }
    }
    let at = |hours: &Hours, key: &ClusterTres, hour: i64| {
        let own = hours.get(key).and_then(|own| own.get(&hour));
        tally(own.copied())
    };
    let mut spent: BTreeMap<ClusterTres, Spent> = BTreeMap::new();
    for (key, hours) in &totals {
        let sum = spent.entry(key.clone()).or_default();
        for (hour, total) in hours {
            let place = (key.cluster.clone(), key.tres.clone(), *hour);
            let mut own = tally(hourly.get(&place).copied());
            (own.count_sum, own.hour_n) = (tally(counts.get(&place).copied()), 1);
            own.allocated += at(&held.allocated, key, *hour);
            if key.tres == "cpu" {
                own.planned = held.planned.of(&key.cluster, *hour);
            }
            // Jobs continued during a gap in the events of the cluster: what they held was not down.
            own.down += (at(&unseen, key, *hour) - at(&held.unseen, key, *hour)).max(0);
            sum.add(own.cut(*total));
        }
    }
    // For clusters without any listing, what jobs held.
    let registered: BTreeSet<&str> = totals.keys().map(|of| of.cluster.as_str()).collect();
    for (key, hours) in &held.allocated {
        if !registered.contains(key.cluster.as_str()) {
            spent.entry(key.clone()).or_default().allocated += hours.values().sum::<i128>();
        }
    }
    spent
}

fn hosts(window: &ReservationWindow) -> BTreeSet<String> {
    let list = window.nodes.as_deref().and_then(|nodes| Hostlist::parse(nodes).ok());
    list.iter()
        .flat_map(Hostlist::hosts)
        .map(std::borrow::Cow::into_owned)
        .collect()
}

/// The note where dumps contained jobs that had not started: a record is of a job that started or was cancelled.
fn unstarted(jobs: &SreportJobs<'_>) -> Result<Option<String>> {
    let mut row_n = 0;
    for file in jobs.lake.manifest.dataset("ledger") {
        for batch in jobs.lake.batches(&file.path, Some(&["reason", "row_n"]))? {
            let batch = batch?;
            let (reasons, rows) = (text(&batch, "reason")?, int(&batch, "row_n")?);
            let own = (0..batch.num_rows()).filter(|row| reasons.value(*row) == Reason::NotStarted.code());
            row_n += own.map(|row| rows.value(row)).sum::<i64>();
        }
    }
    Ok((row_n > 0).then(|| {
        format!(
            "{row_n} rows of jobs that had not started when they were dumped, or that Slurm up to 20.11 prints with the end for \
             the start, are in no record: what they waited is in Idle"
        )
    }))
}

fn table(
    spent: &BTreeMap<ClusterTres, Spent>,
    is_unknown: impl Fn(&str) -> bool,
    is_together: impl Fn(&str) -> bool,
    request: &SreportRequest,
) -> Table {
    let mut columns = vec![
        ("Cluster".to_owned(), "", ColumnKind::Text),
        ("TRES Name".to_owned(), "", ColumnKind::Text),
    ];
    for name in [
        "Allocated",
        "Down",
        "PLND Down",
        "Idle",
        "Planned",
        "Idle or Planned",
        "Reported",
    ] {
        columns.extend(request.unit.columns(name, ColumnKind::Number));
    }
    let columns: Vec<_> = columns
        .iter()
        .map(|(name, unit, kind)| (name.as_str(), *unit, *kind))
        .collect();
    let mut table = Table::new("Cluster Utilization", &columns);
    let period_s = i128::from(request.period.seconds());
    let mut clusters: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for ClusterTres { cluster, tres } in spent.keys() {
        let models = clusters.entry(cluster).or_default();
        models.extend(model_of(tres));
    }
    for (cluster, models) in clusters {
        for name in names(&models).into_iter().filter(|name| request.has_tres(name)) {
            let Some(own) = spent.get(&ClusterTres::new(cluster, name.clone())) else {
                continue;
            };
            let known = |amount: i128| (!is_unknown(cluster)).then_some(amount);
            // Only cores are planned for jobs that wait.
            let (idle, planned) = if name == "cpu" && is_together(cluster) {
                (None, None)
            } else {
                (known(own.left - own.planned), known(own.planned))
            };
            let whole = known(own.reported());
            let amounts = [
                Some(own.allocated),
                known(own.down),
                known(own.planned_down),
                idle,
                planned,
                known(own.left),
            ];
            let mut row = vec![Cell::text(cluster), Cell::text(&name)];
            for amount in amounts {
                row.extend(request.unit.cells(amount, whole));
            }
            row.extend(request.unit.cells(whole, own.possible(period_s)));
            table.push(row);
        }
    }
    table
}
