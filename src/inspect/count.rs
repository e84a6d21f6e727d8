//! Counts everything a reader delivers.

use std::collections::BTreeMap;

use super::clock_changes::ClockChanges;
use super::report::{FileReport, InspectedPeriod, ReasonCount, ValueCount};
use crate::dedupe::limits::{check_names, check_summary, place};
use crate::ledger::{Outcome, Reason};
use crate::numbers::{Extent, tally};
use crate::record::{Anomaly, JobRow, SummaryKind, SummaryRow};
use crate::reference::inventory::{Gpus, InventoryRow};
use crate::sources::cross_check::CrossCheck;
use crate::sources::dialect::Dialect;
use crate::sources::inventory::ASSOC_COMMAND;
use crate::sources::projection::{ColumnPart, Interest};
use crate::sources::{Position, Sink};
use crate::time::DAY_MS;

/// Distinct values followed per column; of more values only that fact is reported.
const DISTINCT: usize = 10_000;
/// Values shown per column.
const SHOWN: usize = 5;
/// Examples kept per reason.
const EXAMPLES: usize = 2;

#[derive(Debug, Default)]
struct ByReason {
    rows: u64,
    examples: Vec<String>,
}

/// What was seen so far.
#[derive(Debug)]
pub(super) struct InspectCounts {
    /// The kind of the records read now, which decides the instant that places one.
    dialect: Dialect,
    rows: u64,
    jobs: u64,
    steps: u64,
    aggregates: BTreeMap<SummaryKind, u64>,
    without_benchmark: u64,
    reasons: BTreeMap<Reason, ByReason>,
    start_ms: Option<i64>,
    end_ms: Option<i64>,
    anomalies: [u64; 32],
    sites: BTreeMap<String, u64>,
    clusters: BTreeMap<String, u64>,
    views: BTreeMap<String, u64>,
    vos: BTreeMap<String, u64>,
    without_end: u64,
    without_core: u64,
    /// Looked for where times are local.
    changes: Option<ClockChanges>,
    /// Counted where the records have to name their site.
    without_site: Option<u64>,
    /// Of those, the ones that are refused for another reason.
    refused_without_site: u64,
    without_vo: u64,
    cross_check: Option<CrossCheck>,
    with_cpu: u64,
    inventory: BTreeMap<&'static str, i128>,
    undated: bool,
    /// Accounts other than the top one, and whether any names the account above it.
    account_n: u64,
    has_parents: bool,
    /// Look only at what is shown.
    is_quick: bool,
}

impl InspectCounts {
    /// Nothing seen yet of a file of this dialect.
    pub(super) fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            rows: 0,
            jobs: 0,
            steps: 0,
            aggregates: BTreeMap::new(),
            without_benchmark: 0,
            reasons: BTreeMap::new(),
            start_ms: None,
            end_ms: None,
            anomalies: [0; 32],
            sites: BTreeMap::new(),
            clusters: BTreeMap::new(),
            views: BTreeMap::new(),
            vos: BTreeMap::new(),
            without_end: 0,
            without_core: 0,
            changes: None,
            without_site: None,
            refused_without_site: 0,
            without_vo: 0,
            cross_check: None,
            with_cpu: 0,
            inventory: BTreeMap::new(),
            undated: false,
            account_n: 0,
            has_parents: false,
            is_quick: false,
        }
    }

    /// Records have to name their site.
    pub(super) fn require_sites(&mut self) {
        self.without_site = Some(0);
    }

    /// Compares records that are there twice.
    pub(super) fn compare_twins(&mut self) {
        self.cross_check = Some(CrossCheck::default());
    }

    /// Looks only into the columns that the report shows.
    pub(super) fn be_quick(&mut self) {
        self.is_quick = true;
    }

    /// Looks for jobs over which clocks were changed: local times are read as if they were UTC.
    pub(super) fn look_for_clock_changes(&mut self) {
        self.changes = Some(ClockChanges::default());
    }

    /// Writes what was counted of a machine into a report.
    pub(super) fn fill_inventory(self, report: &mut FileReport) {
        let undated = self.undated;
        let is_treeless = self.account_n > 0 && !self.has_parents;
        let inventory = self.inventory.clone();
        let before = report.problems.clone();
        self.fill(report);
        // Nothing is missing of jobs where there are none.
        report.problems = before;
        report.inventory = inventory;
        if undated {
            let problem = "the file does not state when it was true: set as_of in the inventory";
            report.problems.push(problem.to_owned());
        }
        if is_treeless {
            report.problems.push(format!(
                "no account names the one above it, so that there is no tree of accounts: list them with `{ASSOC_COMMAND}`"
            ));
        }
    }

    /// Adds a row of the machine up.
    fn machine(&mut self, row: &InventoryRow) {
        let mut add = |what: &'static str, n: Option<i64>| {
            if let Some(n) = n {
                *self.inventory.entry(what).or_default() += i128::from(n);
            }
        };
        add(row.dataset(), Some(1));
        self.undated |= row.is_undated();
        let cluster = match row {
            InventoryRow::Node(node) => {
                add("cpu_n", node.cpu_n);
                add("core_n", node.core_n());
                add("memory_byte", node.memory_byte);
                add("gpu_n", node.gpus.as_ref().map(Gpus::device_n));
                &node.cluster
            }
            InventoryRow::Event(event) => {
                self.start_ms = earlier(self.start_ms, Some(event.start_ms));
                self.end_ms = self.end_ms.max(event.end_ms);
                &event.cluster
            }
            InventoryRow::Partition(partition) => {
                add("billing_weight", i64::try_from(partition.weights.len()).ok());
                &partition.cluster
            }
            InventoryRow::Association(association) => {
                if association.user.is_none() && association.account != "root" {
                    self.account_n += 1;
                    self.has_parents |= association.parent_account.is_some();
                }
                &association.cluster
            }
            InventoryRow::Reservation(reservation) => {
                self.start_ms = earlier(self.start_ms, Some(reservation.start_ms));
                self.end_ms = self.end_ms.max(Some(reservation.end_ms));
                &reservation.cluster
            }
            InventoryRow::Qos(qos) => &qos.cluster,
            InventoryRow::Share(share) => &share.cluster,
            InventoryRow::Setting(setting) => &setting.cluster,
            InventoryRow::QueuedJob(job) => {
                self.start_ms = earlier(self.start_ms, job.submit_ms);
                self.end_ms = self.end_ms.max(job.submit_ms);
                &None
            }
        };
        self::add(&mut self.clusters, cluster.as_deref());
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Rows refused so far.
    pub(super) fn refused(&self) -> u64 {
        let refused = self
            .reasons
            .iter()
            .filter(|(reason, _)| reason.outcome() == Outcome::Rejected);
        refused.map(|(_, by)| by.rows).sum()
    }

    pub(super) fn jobs(&self) -> u64 {
        self.jobs
    }

    /// Whether any job contains the CPU time it used.
    pub(super) fn has_cpu(&self) -> bool {
        self.with_cpu > 0
    }

    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    /// Counts jobs without a site among others that have one as a run will, which refuses them. Where no job has one,
    /// the source must name it, and then none is refused.
    fn refuse_without_site(&mut self) {
        let n = tally(self.without_site);
        if n == 0 || n == self.jobs {
            return;
        }
        let n = n.less(self.refused_without_site);
        if let Some(accepted) = self.reasons.get_mut(&Reason::Job) {
            accepted.rows = accepted.rows.less(n);
        }
        self.reasons.entry(Reason::SiteUnknown).or_default().rows += n;
    }

    /// Writes the counts into a report.
    pub(super) fn fill(mut self, report: &mut FileReport) {
        self.refuse_without_site();
        report.row_n = Some(self.rows);
        report.job_n = Some(self.jobs);
        report.step_n = Some(self.steps);
        report.aggregates = (self.aggregates.iter())
            .map(|(kind, n)| ValueCount {
                value: kind.as_str().to_owned(),
                job_n: *n,
            })
            .collect();
        report.period = Some(InspectedPeriod::new(self.start_ms, self.end_ms)).filter(|period| !period.is_empty());
        for (reason, by) in self.reasons {
            report.outcomes.push(ReasonCount {
                outcome: reason.outcome().as_str(),
                reason: reason.code(),
                meaning: reason.meaning(),
                row_n: by.rows,
                examples: by.examples,
            });
        }
        for (nth, &job_n) in self.anomalies.iter().enumerate().filter(|&(_, &n)| n > 0) {
            let known = Anomaly::ALL
                .iter()
                .find(|anomaly| anomaly.bit().trailing_zeros() == bit(nth));
            report.anomalies.push(ValueCount {
                value: known.map_or_else(|| format!("bit {nth}"), |anomaly| anomaly.column().to_owned()),
                job_n,
            });
        }
        if ["batch", "payload"].iter().all(|view| self.views.contains_key(*view)) {
            let problem = "batch and payload are two accounts of the same hours: never add them up";
            report.problems.push(problem.to_owned());
        }
        report.problems.extend(spellings(&self.vos));
        report
            .problems
            .extend(self.changes.iter().flat_map(ClockChanges::reported));
        report.sites = top(self.sites);
        report.clusters = top(self.clusters);
        report.views = top(self.views);
        report.vos = top(self.vos);
        let mut add_line = |n: u64, what: &str| {
            if n > 0 {
                report.problems.push(format!("{n} of {} jobs {what}", self.jobs));
            }
        };
        add_line(
            self.without_end,
            "have no end: they still run, or their end is not recorded",
        );
        add_line(self.without_core, "do not state how many cores they had");
        add_line(self.without_vo, "name no VO");
        add_line(
            tally(self.without_site),
            "name no site: only a source that names it takes them",
        );
        if self.jobs == 0 && self.rows > 0 && self.aggregates.is_empty() {
            report.problems.push("no row is a job".to_owned());
        }
        if self.without_benchmark > 0 {
            report.problems.push(format!(
                "{} summaries name no known benchmark: the unit of their work is unknown",
                self.without_benchmark
            ));
        }
        if self.aggregates.keys().any(|kind| *kind != SummaryKind::Sync) {
            let problem = "summaries count usage a second time where the site also sends jobs: overlap in [pipeline] \
                           sets which counts";
            report.problems.push(problem.to_owned());
        }
        if let Some(check) = self.cross_check {
            report.crossed(check);
        }
    }
}

fn bit(nth: usize) -> u32 {
    // Fallback: names past the 32 bits are counted as the last one.
    u32::try_from(nth).unwrap_or(u32::MAX)
}

fn add(counts: &mut BTreeMap<String, u64>, value: Option<&str>) {
    let Some(value) = value else { return };
    if let Some(n) = counts.get_mut(value) {
        *n += 1;
    } else if counts.len() < DISTINCT {
        counts.insert(value.to_owned(), 1);
    }
}

/// The most frequent values, then how many more there are.
fn top(counts: BTreeMap<String, u64>) -> Vec<ValueCount> {
    let mut counts: Vec<ValueCount> = counts
        .into_iter()
        .map(|(value, job_n)| ValueCount { value, job_n })
        .collect();
    counts.sort_by(|a, b| b.job_n.cmp(&a.job_n).then_with(|| a.value.cmp(&b.value)));
    if counts.len() > SHOWN {
        let more = counts.split_off(SHOWN);
        counts.push(ValueCount {
            value: format!("({} more)", more.len()),
            job_n: more.iter().map(|count| count.job_n).sum(),
        });
    }
    counts
}

/// Names that differ in letter case alone, which are as many VOs until something makes one of them.
fn spellings(vos: &BTreeMap<String, u64>) -> Option<String> {
    let mut folded: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for vo in vos.keys() {
        folded.entry(vo.to_lowercase()).or_default().push(vo);
    }
    let several: Vec<String> = folded
        .into_values()
        .filter(|names| names.len() > 1)
        .map(|names| names.join(" and "))
        .collect();
    (!several.is_empty()).then(|| {
        let names = several.get(..SHOWN).unwrap_or(&several).join(", ");
        format!("VOs in several letter cases ({names}): vo = {{ known = \"vos.csv\" }} makes one of each")
    })
}

fn earlier(seen: Option<i64>, new: Option<i64>) -> Option<i64> {
    [seen, new].into_iter().flatten().min()
}

impl Sink for InspectCounts {
    fn rows_read(&mut self, n: u64) {
        self.rows += n;
    }

    fn job(&mut self, row: &JobRow<'_>, at: Position, step_n: u32) {
        self.jobs += 1;
        self.steps += u64::from(step_n);
        // A quick look has not read the columns that decide it.
        let judged = || check_names(row.site, row.vo).and_then(|()| place(self.dialect, row));
        let refused = (!self.is_quick).then(|| judged().err()).flatten();
        if let Some((reason, detail)) = refused {
            self.reject(reason, at, 1 + u64::from(step_n), detail, &[]);
            self.refused_without_site += u64::from(row.site.is_none_or(str::is_empty));
        } else {
            self.reasons.entry(Reason::Job).or_default().rows += 1;
            if step_n > 0 {
                self.reasons.entry(Reason::Step).or_default().rows += u64::from(step_n);
            }
        }
        self.start_ms = earlier(self.start_ms, row.start_ms);
        self.end_ms = self.end_ms.max(row.end_ms);
        for (nth, n) in self.anomalies.iter_mut().enumerate() {
            *n += u64::from(row.anomalies >> bit(nth).min(31) & 1);
        }
        add(&mut self.sites, row.site);
        add(&mut self.clusters, row.cluster);
        add(&mut self.views, Some(row.view));
        add(&mut self.vos, row.vo);
        self.without_end += u64::from(row.end_ms.is_none());
        self.without_core += u64::from(row.alloc_core_n.is_none());
        self.without_vo += u64::from(row.vo.is_none());
        if let Some(changes) = &mut self.changes {
            changes.look(row);
        }
        if let Some(n) = &mut self.without_site {
            *n += u64::from(row.site.is_none_or(str::is_empty));
        }
        self.with_cpu += u64::from(row.cpu_ms.is_some_and(|ms| ms > 0));
    }

    fn summary(&mut self, row: &SummaryRow<'_>, at: Position) {
        *self.aggregates.entry(row.kind).or_default() += 1;
        match check_names(row.site, row.vo).and_then(|()| check_summary(row)) {
            Ok(()) => self.reasons.entry(row.kind.accepted()).or_default().rows += 1,
            Err((reason, detail)) => self.reject(reason, at, 1, detail, &[]),
        }
        let edges = row
            .month
            .map(|month| [month.first_day(), month.next().first_day()].map(i64::from));
        let [first_ms, last_ms] = edges.map_or([None; 2], |[first, next]| {
            let last_ms = next * DAY_MS - 1000;
            [
                Some(first * DAY_MS),
                Some(row.latest_end_ms.map_or(last_ms, |end_ms| end_ms.min(last_ms))),
            ]
        });
        self.start_ms = earlier(self.start_ms, first_ms);
        self.end_ms = self.end_ms.max(last_ms);
        add(&mut self.sites, row.site);
        add(&mut self.vos, row.vo);
        self.without_benchmark += u64::from(row.kind != SummaryKind::Sync && row.benchmark.is_none());
    }

    fn reject(&mut self, reason: Reason, at: Position, rows: u64, detail: &str, _: &[u8]) {
        let by = self.reasons.entry(reason).or_default();
        by.rows += rows;
        if by.examples.len() < EXAMPLES {
            by.examples.push(format!("line {}: {detail}", at.line));
        }
    }

    fn inventory(&mut self, row: &InventoryRow, _: Position, rows: u64) {
        if rows > 0 {
            self.reasons.entry(Reason::Inventory).or_default().rows += rows;
        }
        self.machine(row);
    }

    fn out_of_scope(&mut self, reason: Reason, rows: u64) {
        self.reasons.entry(reason).or_default().rows += rows;
    }

    fn interest(&mut self) -> Interest {
        if self.is_quick {
            Interest::only(&[ColumnPart::Cluster, ColumnPart::Cores, ColumnPart::Cpu])
        } else {
            Interest::all()
        }
    }

    fn dialect(&mut self, dialect: Dialect) {
        self.dialect = dialect;
    }

    fn cross_check(&mut self) -> Option<&mut CrossCheck> {
        self.cross_check.as_mut()
    }
}
