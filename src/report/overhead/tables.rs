//! The tables of the report.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::data::{Fitted, FreeShape, Ledger, OverheadPageCluster, OverheadPageSums, OverheadView, PageFindings};
use crate::amounts::finer;
use crate::numbers::{count_i64, tally};
use crate::report::table::{Cell, ColumnKind, Table, divide};
use crate::schema::batch::addend;
use crate::time::Day;
use crate::time::month::date_of;

/// Rows of a list of the largest.
const TOP_N: usize = 15;
const HOUR_S: i128 = 3600;
const GIB: i128 = 1 << 30;

/// Resources with the unit of their hours and the seconds of one.
const RESOURCES: [(&str, &str, i128); 3] = [
    ("cores", "core h", HOUR_S),
    ("memory", "GiB h", HOUR_S * GIB),
    ("GPUs", "GPU h", HOUR_S),
];

fn resource(at: usize) -> (&'static str, &'static str, i128) {
    RESOURCES.get(at).copied().unwrap_or(("", "", 1))
}

/// A resource of the ledger by its place.
pub(super) fn resource_name(at: usize) -> &'static str {
    resource(at).0
}

/// Tenths of a percent, rounded once; `None` of nothing.
pub(super) fn permille(part: i128, whole: i128) -> Option<i32> {
    let permille = divide(part.checked_mul(1000)?, whole).filter(|_| whole > 0)?;
    i32::try_from(permille).ok()
}

/// Percent with one decimal; nothing of nothing.
fn percent(part: i128, whole: i128) -> Cell {
    match divide(finer(part, 1000), whole) {
        Some(value) if whole > 0 => Cell::Decimal { value, scale: 1 },
        _ => Cell::Empty,
    }
}

/// Shares of what was allocated, overhead, stranded, down and reserved, each rounded by itself: whoever asks the lake for
/// one of them finds the same digits.
fn ledger_shares(ledger: &Ledger) -> [Cell; 5] {
    let share = |part: i128| percent(part, ledger.capacity);
    let known = |part: i128| if ledger.unknown > 0 { Cell::Empty } else { share(part) };
    [
        share(ledger.allocated),
        known(ledger.overhead),
        known(ledger.stranded),
        share(ledger.down),
        share(ledger.reserved),
    ]
}

/// Units free on a node on average; empty where a node's listing is not sufficient.
fn units_free(sums: &OverheadPageSums) -> Cell {
    if sums.unknown_s > 0 {
        return Cell::Empty;
    }
    Cell::ratio(sums.unit_s, sums.up_s, 1)
}

/// Name, unit and kind.
type OverheadTableColumn = (&'static str, &'static str, ColumnKind);

const fn share(name: &'static str) -> OverheadTableColumn {
    (name, "%", ColumnKind::Decimal(1))
}

/// The columns of [`ledger_shares`].
const SHARES: [OverheadTableColumn; 5] = [
    share("allocated"),
    share("overhead"),
    share("stranded"),
    share("down"),
    share("reserved"),
];

fn hours(value: i128, per: i128) -> Cell {
    Cell::ratio(value, per, 1)
}

/// The one sentence.
pub(super) fn sentence(view: &OverheadView) -> String {
    let lead = view.lead();
    let ledger = tally(view.all.ledgers.get(lead).copied());
    let (_, hour, per) = resource(lead);
    let [allocated, overhead, stranded, ..] = ledger_shares(&ledger);
    let mut sentence = format!(
        "{} nodes: of {} {hour} jobs were given {allocated} %",
        view.nodes.len(),
        Cell::ratio(ledger.capacity, per, 0),
    );
    // Writing to a string cannot fail.
    let _ = match (overhead, units_free(&view.all)) {
        (Cell::Empty, _) | (_, Cell::Empty) => {
            write!(sentence, "; what more could have run is not known.")
        }
        (overhead, units) => write!(
            sentence,
            ", {overhead} % could have run more units, {stranded} % were stranded. {units} units were free on a node on \
             average."
        ),
    };
    sentence
}

/// The ledger by resource.
pub(super) fn ledger(view: &OverheadView) -> Table {
    let columns = [
        &[
            ("resource", "", ColumnKind::Text),
            ("unit", "", ColumnKind::Text),
            ("capacity", "", ColumnKind::Decimal(1)),
        ][..],
        &SHARES,
        &[
            share("over_allocated"),
            share("rate"),
            ("providers_loss", "", ColumnKind::Decimal(1)),
        ],
    ];
    let mut table = Table::new("The ledger", &columns.concat());
    for (at, ledger) in view.all.ledgers.iter().enumerate() {
        let (name, hour, per) = resource(at);
        if ledger.capacity == 0 && ledger.over == 0 {
            continue;
        }
        let known = |cell: Cell| if ledger.unknown > 0 { Cell::Empty } else { cell };
        let mut row = vec![Cell::text(name), Cell::text(hour), hours(ledger.capacity, per)];
        row.extend(ledger_shares(ledger));
        row.extend([
            percent(ledger.over, ledger.capacity),
            known(percent(ledger.billed, ledger.allocated)),
            known(hours(ledger.capacity - ledger.billed, per)),
        ]);
        table.push(row);
    }
    table
}

/// The distribution of units.
pub(super) fn histogram(view: &OverheadView) -> Table {
    let columns = [
        ("units_free", "", ColumnKind::Text),
        ("node_time", "h", ColumnKind::DecimalSum(1)),
        ("share", "%", ColumnKind::Decimal(1)),
    ];
    let mut table = Table::new("Units free on a node, share of the time", &columns);
    let bars = bars(&view.histogram);
    let all: i128 = bars.iter().map(|(_, time_s)| time_s).sum();
    for (label, time_s) in bars {
        table.push(vec![Cell::text(label), hours(time_s, HOUR_S), percent(time_s, all)]);
    }
    table.set_totals(vec![Cell::Empty, hours(all, HOUR_S), Cell::Empty]);
    table
}

/// Bars of a distribution: each number of units by itself, or ranges of them when there are many.
pub(super) fn bars(histogram: &BTreeMap<i64, i128>) -> Vec<(String, i128)> {
    const BAR_N: i64 = 11;
    let Some(most) = histogram.keys().next_back().copied() else {
        return Vec::new();
    };
    let width = if most < BAR_N { 1 } else { (most - 1) / (BAR_N - 1) + 1 };
    // A count without any unit is the most general one, so it has a separate table.
    let mut bars = vec![("0".to_owned(), tally(histogram.get(&0).copied()))];
    let mut from = 1;
    while from <= most {
        // Fallback: the last bar of a histogram is open.
        let until = from.saturating_add(width);
        let time_s = histogram.range(from..until).map(|(_, time_s)| time_s).sum();
        let label = if width == 1 {
            from.to_string()
        } else {
            format!("{from}-{}", until - 1)
        };
        bars.push((label, time_s));
        from = until;
    }
    bars
}

/// Hours of the week with the most units free, the distribution's other half.
pub(super) fn hours_of_week(view: &OverheadView) -> Table {
    const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let columns = [
        ("day", "", ColumnKind::Text),
        ("00-06", "units", ColumnKind::Decimal(1)),
        ("06-12", "units", ColumnKind::Decimal(1)),
        ("12-18", "units", ColumnKind::Decimal(1)),
        ("18-24", "units", ColumnKind::Decimal(1)),
    ];
    let mut table = Table::new("Units free on a node by the time of the week", &columns);
    for (day, name) in (0_i64..).zip(DAYS) {
        let quarter = |nth: i64| {
            let from = day * 24 + nth * 6;
            let sums = view.hours.range(from..from + 6);
            let (time_s, unit_s) = sums.fold((0, 0), |sum, (_, (time_s, unit_s))| (sum.0 + time_s, sum.1 + unit_s));
            Cell::ratio(unit_s, time_s, 1)
        };
        table.push(vec![Cell::text(name), quarter(0), quarter(1), quarter(2), quarter(3)]);
    }
    table
}

/// A group of nodes or days and its sums.
struct NamedSums<'v> {
    name: String,
    sums: &'v OverheadPageSums,
}

impl<'v> NamedSums<'v> {
    fn new(name: &str, sums: &'v OverheadPageSums) -> Self {
        let name = name.to_owned();
        Self { name, sums }
    }
}

fn groups<'v>(title: &str, name: &'static str, rows: impl Iterator<Item = NamedSums<'v>>, lead: usize) -> Table {
    let (of, hour, per) = resource(lead);
    let columns = [
        &[(name, "", ColumnKind::Text), ("capacity", hour, ColumnKind::Decimal(1))][..],
        &SHARES,
        &[("units_free", "", ColumnKind::Decimal(1))],
    ];
    let mut table = Table::new(format!("{title} ({of})"), &columns.concat());
    for NamedSums { name, sums } in rows {
        let ledger = tally(sums.ledgers.get(lead).copied());
        let mut row = vec![Cell::text(name), hours(ledger.capacity, per)];
        row.extend(ledger_shares(&ledger));
        row.push(units_free(sums));
        table.push(row);
    }
    table
}

/// Partitions, if there are several.
pub(super) fn partitions(view: &OverheadView) -> Table {
    let rows = view.partitions.iter().filter(|_| view.partitions.len() > 1);
    groups(
        "By partition",
        "partition",
        rows.map(|(name, sums)| NamedSums::new(name, sums)),
        view.lead(),
    )
}

/// The nodes with the most overhead.
pub(super) fn nodes(view: &OverheadView) -> Table {
    let lead = view.lead();
    let mut rows: Vec<(&String, &OverheadPageSums)> = view.nodes.iter().collect();
    let overhead = |sums: &OverheadPageSums| sums.ledgers.get(lead).map_or(0, |ledger| ledger.overhead);
    rows.sort_by_key(|(name, sums)| (Reverse(overhead(sums)), *name));
    let rows = rows
        .into_iter()
        .take(TOP_N)
        .map(|(name, sums)| NamedSums::new(name, sums));
    groups("Nodes with the most overhead", "node", rows, lead)
}

/// A day as it is printed.
pub(super) fn day_name(day: Day) -> String {
    date_of(day).map_or_else(String::new, |date| date.to_string())
}

/// Every day, for those who cannot see the drawing.
pub(super) fn days(view: &OverheadView) -> Table {
    let rows = view
        .days
        .iter()
        .map(|(day, sums)| NamedSums::new(&day_name(*day), sums));
    groups("By day", "day", rows, view.lead())
}

/// The shapes that were free longest, weighted by what they hold.
pub(super) fn shapes(cluster: &OverheadPageCluster) -> Table {
    /// GiB that weigh as much as a core, and as a GPU.
    const CORE_GIB: i128 = 4;
    const GPU_GIB: i128 = 64;
    let mut table = Table::new(
        "Top wasted shapes: resources free together on a node, by time and size (4 GiB weigh as a core, 64 as a GPU)",
        &[
            ("cores", "", ColumnKind::Number),
            ("memory", "GiB", ColumnKind::Number),
            ("GPUs", "", ColumnKind::Number),
            ("node_time", "h", ColumnKind::Decimal(1)),
            ("core_time", "core h", ColumnKind::Decimal(1)),
            ("share_of_node_time", "%", ColumnKind::Decimal(1)),
        ],
    );
    let all: i128 = cluster.shapes.values().sum();
    let weight = |shape: &FreeShape| {
        i128::from(shape.core_n) * CORE_GIB + i128::from(shape.memory_gib) + i128::from(shape.gpu_n) * GPU_GIB
    };
    let mut shapes: Vec<_> = cluster.shapes.iter().filter(|(shape, _)| weight(shape) > 0).collect();
    // Fallback: a weight at the end of the type sorts before every other.
    shapes.sort_by_key(|(shape, time_s)| (Reverse(weight(shape).saturating_mul(**time_s)), **shape));
    for (
        FreeShape {
            core_n,
            memory_gib,
            gpu_n,
        },
        time_s,
    ) in shapes.into_iter().take(TOP_N)
    {
        table.push(vec![
            Cell::int(*core_n),
            Cell::int(*memory_gib),
            Cell::int(*gpu_n),
            hours(*time_s, HOUR_S),
            hours(*time_s * i128::from(*core_n), HOUR_S),
            percent(*time_s, all),
        ]);
    }
    table
}

/// Jobs that waited while there was room for them. Shares are of the time waited on days of which it is known whether
/// they would have fitted; that of the other days is unknown.
pub(super) fn queues(cluster: &OverheadPageCluster) -> Table {
    let mut table = Table::new(
        "Jobs that waited and would have fitted",
        &[
            ("partition", "", ColumnKind::Text),
            ("unit", "", ColumnKind::Text),
            ("job_days", "", ColumnKind::Number),
            ("fitting", "", ColumnKind::Number),
            ("waited", "h", ColumnKind::Decimal(1)),
            share("unknown"),
            share("unknown_by_units"),
            share("would_fit"),
            share("by_units"),
            share("cause_unknown"),
            share("reservation"),
            share("drain"),
            ("some_fit", "h", ColumnKind::Decimal(1)),
        ],
    );
    for ((partition, unit), waited) in &cluster.queues {
        let reported = |part: fn(&Fitted) -> i128| waited.by_vector.as_ref().map(part);
        let share_of =
            |part: fn(&Fitted) -> i128| reported(part).map_or(Cell::Empty, |part| percent(part, waited.vector_known_s));
        let unknown = |known_s: i128| percent(waited.wait_s - known_s, waited.wait_s);
        let by_units = waited.unit_s.map(|unit_s| percent(unit_s, waited.unit_known_s));
        table.push(vec![
            Cell::text(partition),
            Cell::word(unit.as_deref()),
            Cell::Int(waited.job_n),
            reported(|fitted| fitted.job_n).map_or(Cell::Empty, Cell::Int),
            hours(waited.wait_s, HOUR_S),
            unknown(waited.vector_known_s),
            unknown(waited.unit_known_s),
            share_of(|fitted| fitted.unknown_s + fitted.reservation_s + fitted.drain_s),
            by_units.unwrap_or(Cell::Empty),
            share_of(|fitted| fitted.unknown_s),
            share_of(|fitted| fitted.reservation_s),
            share_of(|fitted| fitted.drain_s),
            reported(|fitted| fitted.moment_s).map_or(Cell::Empty, |moment_s| hours(moment_s, HOUR_S)),
        ]);
    }
    table
}

/// Kind and resource.
type OverheadTableKey<'f> = (&'f str, Option<&'f str>);

/// Findings by kind and resource.
pub(super) fn finding_kinds(cluster: &OverheadPageCluster) -> Table {
    let columns = [
        ("kind", "", ColumnKind::Text),
        ("resource", "", ColumnKind::Text),
        ("findings", "", ColumnKind::Number),
        ("nodes", "", ColumnKind::Number),
    ];
    let mut table = Table::new("Contradictory or incomplete records", &columns);
    let mut kinds: BTreeMap<OverheadTableKey<'_>, (i64, BTreeSet<&str>)> = BTreeMap::new();
    for found in &cluster.findings {
        let (n, nodes) = kinds.entry((&found.kind, found.resource.as_deref())).or_default();
        *n += 1;
        nodes.extend(found.node.as_deref());
    }
    for ((kind, resource), (n, nodes)) in kinds {
        let node_n = count_i64(nodes.len());
        table.push(vec![
            Cell::text(kind),
            Cell::word(resource),
            Cell::int(n),
            Cell::int(node_n),
        ]);
    }
    table
}

/// The findings that weigh most.
pub(super) fn findings(cluster: &OverheadPageCluster) -> Table {
    let mut table = Table::new(
        "The largest of them (GiB where it is memory)",
        &[
            ("kind", "", ColumnKind::Text),
            ("node", "", ColumnKind::Text),
            ("resource", "", ColumnKind::Text),
            ("from", "UTC", ColumnKind::Text),
            ("to", "UTC", ColumnKind::Text),
            ("held", "", ColumnKind::Decimal(1)),
            ("there_is", "", ColumnKind::Decimal(1)),
            ("jobs", "", ColumnKind::Number),
            ("excess", "h", ColumnKind::Decimal(1)),
        ],
    );
    let mut findings: Vec<&PageFindings> = cluster.findings.iter().collect();
    // As a share of what there is, so that bytes do not drown cores.
    let weight = |found: &PageFindings| {
        let capacity = found.capacity_n.map_or(1, |n| i128::from(n.max(1)));
        finer(addend(found.over), 1000) / capacity
    };
    findings.sort_by(|a, b| {
        let order = weight(b).cmp(&weight(a)).then_with(|| a.kind.cmp(&b.kind));
        order.then_with(|| (a.start_ms, &a.node).cmp(&(b.start_ms, &b.node)))
    });
    let time = |ms: i64| {
        let at = crate::time::instant::instant_text(ms);
        at.map_or(Cell::Empty, |at| Cell::text(at.trim_end_matches('Z').replace('T', " ")))
    };
    for found in findings.into_iter().take(TOP_N) {
        let per = if found.resource.as_deref() == Some("memory") {
            GIB
        } else {
            1
        };
        let amount = |n: Option<i64>| n.map_or(Cell::Empty, |n| Cell::ratio(n.into(), per, 1));
        table.push(vec![
            Cell::text(&found.kind),
            Cell::word(found.node.as_deref()),
            Cell::word(found.resource.as_deref()),
            time(found.start_ms),
            time(found.end_ms),
            amount(found.used_n),
            amount(found.capacity_n),
            found.job_n.map_or(Cell::Empty, Cell::int),
            found.over.map_or(Cell::Empty, |over| hours(over, per * HOUR_S)),
        ]);
    }
    table
}
