//! What the overhead datasets of a lake add up to.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::{Array, RecordBatch};

use crate::error::{Error, Kind, Result};
use crate::occupancy::resource::LEDGER_COLUMNS;
use crate::schema::batch::{addend, date, decimal, int, number, text, time, word};
use crate::store::lake::parse_overhead_path;
use crate::store::{FileEntry, Manifest, Store, read_table};
use crate::time::Day;

/// Rows read at once.
const READ_ROWS: usize = 65_536;

/// Resource-seconds of one resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ledger {
    pub(super) capacity: i128,
    pub(super) allocated: i128,
    pub(super) overhead: i128,
    pub(super) stranded: i128,
    pub(super) down: i128,
    pub(super) reserved: i128,
    pub(super) over: i128,
    pub(super) billed: i128,
    /// Capacity of rows in which overhead and stranded are not known.
    pub(super) unknown: i128,
}

/// Sums over some nodes and days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OverheadPageSums {
    pub(super) node_s: i128,
    pub(super) up_s: i128,
    pub(super) unit_s: i128,
    /// Of `up_s`, time of nodes whose listing is not sufficient to count units.
    pub(super) unknown_s: i128,
    pub(super) ledgers: [Ledger; 3],
}

/// One canonical unit on one cluster.
#[derive(Clone, Debug, Default)]
pub(super) struct OverheadView {
    pub(super) all: OverheadPageSums,
    pub(super) is_from_jobs: bool,
    /// By resource of the ledger: nodes whose capacity of it is unknown at some time.
    pub(super) unknown: [BTreeSet<String>; 3],
    pub(super) days: BTreeMap<Day, OverheadPageSums>,
    pub(super) partitions: BTreeMap<String, OverheadPageSums>,
    pub(super) nodes: BTreeMap<String, OverheadPageSums>,
    pub(super) node_days: BTreeMap<(String, Day), OverheadPageSums>,
    /// Node-seconds by number of units.
    pub(super) histogram: BTreeMap<i64, i128>,
    /// Node-seconds and unit-node-seconds by hour of the week.
    pub(super) hours: BTreeMap<i64, (i128, i128)>,
}

/// Jobs that waited, in job-seconds but for their number and for moments. Whether they would have fitted is not known of
/// every day: what did is held against the time waited on the days of which it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Waited {
    pub(super) job_n: i128,
    pub(super) wait_s: i128,
    /// Jobs that would have fitted by their request; `None` where that is known for no day.
    pub(super) by_vector: Option<Fitted>,
    /// Of `wait_s`, that of the days `by_vector` is of.
    pub(super) vector_known_s: i128,
    /// They would have fitted by units, whatever the cause; `None` where that is known of no day.
    pub(super) unit_s: Option<i128>,
    /// Of `wait_s`, that of the days `unit_s` is of.
    pub(super) unit_known_s: i128,
}

/// Of jobs that waited, what would have fitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fitted {
    pub(super) job_n: i128,
    /// By cause.
    pub(super) unknown_s: i128,
    pub(super) reservation_s: i128,
    pub(super) drain_s: i128,
    /// At least one of them would have fitted.
    pub(super) moment_s: i128,
}

/// What is free together on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FreeShape {
    pub(super) core_n: i64,
    pub(super) memory_gib: i64,
    pub(super) gpu_n: i64,
}

/// One finding as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageFindings {
    pub(super) kind: String,
    pub(super) node: Option<String>,
    pub(super) resource: Option<String>,
    pub(super) start_ms: i64,
    pub(super) end_ms: i64,
    pub(super) used_n: Option<i64>,
    pub(super) capacity_n: Option<i64>,
    pub(super) job_n: Option<i64>,
    pub(super) over: Option<i128>,
}

/// One cluster of a site.
#[derive(Clone, Debug, Default)]
pub(super) struct OverheadPageCluster {
    /// By unit; nodes no unit is for under none.
    pub(super) views: BTreeMap<Option<String>, OverheadView>,
    pub(super) shapes: BTreeMap<FreeShape, i128>,
    pub(super) findings: Vec<PageFindings>,
    /// By partition that jobs waited in, and the unit they are measured in.
    pub(super) queues: BTreeMap<(String, Option<String>), Waited>,
}

/// Which cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OverheadPagePlace {
    pub(super) site: String,
    pub(super) cluster: String,
}

/// Reads the overhead datasets of a lake.
///
/// # Errors
/// [`Kind::NoInput`] when there are none, [`Kind::Io`] when they cannot be read.
pub(super) fn read(
    store: &Store,
    manifest: &Manifest,
    asked: &BTreeSet<String>,
) -> Result<BTreeMap<OverheadPagePlace, OverheadPageCluster>> {
    let nothing = |what: &str| Error::new(Kind::NoInput, format!("{} {what}", store.url()));
    let mut clusters: BTreeMap<OverheadPagePlace, OverheadPageCluster> = BTreeMap::new();
    for (dataset, add) in [
        (
            "overhead",
            overhead as fn(&RecordBatch, &str, &mut BTreeMap<OverheadPagePlace, OverheadPageCluster>) -> Result<()>,
        ),
        ("overhead_histogram", histogram),
        ("overhead_queue", queues),
        ("overhead_shape", shapes),
        ("overhead_finding", findings),
    ] {
        let files = manifest
            .dataset(dataset)
            .filter_map(|file| of_site(file, asked).map(|of| (file, of)));
        for (file, of) in files {
            for batch in read_table(store.reader(&file.path)?, None, READ_ROWS)? {
                add(&batch?, &of, &mut clusters)?;
            }
        }
    }
    if clusters.is_empty() {
        let what = if asked.is_empty() {
            "has no overhead: its pipeline needs [overhead]".to_owned()
        } else {
            let names: Vec<&str> = asked.iter().map(String::as_str).collect();
            format!("has no overhead of the site {}", names.join(", "))
        };
        return Err(nothing(&what));
    }
    Ok(clusters)
}

fn of_site(file: &FileEntry, asked: &BTreeSet<String>) -> Option<String> {
    let (of, ..) = parse_overhead_path(&file.path)?;
    (asked.is_empty() || asked.contains(&of)).then_some(of)
}

fn place(site: &str, cluster: Option<&str>) -> OverheadPagePlace {
    OverheadPagePlace {
        site: site.to_owned(),
        cluster: cluster.unwrap_or("-").to_owned(),
    }
}

fn overhead(
    batch: &RecordBatch,
    site: &str,
    into: &mut BTreeMap<OverheadPagePlace, OverheadPageCluster>,
) -> Result<()> {
    let (cluster, partition) = (text(batch, "cluster")?, text(batch, "partition")?);
    let (node, unit, day) = (text(batch, "node")?, text(batch, "unit")?, date(batch, "day")?);
    let from_jobs = crate::schema::batch::flag(batch, "is_from_jobs")?;
    let (node_s, up_s, unit_s) = (int(batch, "node_s")?, int(batch, "up_s")?, int(batch, "unit_s")?);
    let amount = |column: &str, row: usize| -> Result<Option<i128>> {
        if column.ends_with("_byte_s") {
            return Ok(number(decimal(batch, column)?, row));
        }
        Ok(number(int(batch, column)?, row).map(i128::from))
    };
    for row in 0..batch.num_rows() {
        let counted = number(unit_s, row).map(i128::from);
        let up_s = i128::from(up_s.value(row));
        let mut sums = OverheadPageSums {
            node_s: node_s.value(row).into(),
            up_s,
            unit_s: addend(counted),
            unknown_s: counted.map_or(up_s, |_| 0),
            ..OverheadPageSums::default()
        };
        let mut is_unknown = [false; 3];
        for ((ledger, is_unknown), resource) in sums.ledgers.iter_mut().zip(&mut is_unknown).zip(LEDGER_COLUMNS) {
            let of = |measure: &str| amount(&format!("{measure}_{resource}_s"), row);
            let overhead = of("overhead")?;
            *is_unknown = of("capacity")?.is_none();
            *ledger = Ledger {
                capacity: of("capacity").map(addend)?,
                allocated: of("allocated").map(addend)?,
                overhead: addend(overhead),
                stranded: of("stranded").map(addend)?,
                down: of("down").map(addend)?,
                reserved: of("reserved").map(addend)?,
                over: of("over_allocated").map(addend)?,
                billed: of("billed").map(addend)?,
                unknown: 0,
            };
            if overhead.is_none() {
                ledger.unknown = ledger.capacity - ledger.allocated - ledger.down - ledger.reserved;
            }
        }
        let view = into
            .entry(place(site, word(cluster, row)))
            .or_default()
            .views
            .entry(word(unit, row).map(str::to_owned))
            .or_default();
        let (name, day) = (node.value(row).to_owned(), day.value(row));
        view.is_from_jobs |= from_jobs.value(row);
        for (nodes, _) in view.unknown.iter_mut().zip(is_unknown).filter(|(_, is)| *is) {
            nodes.insert(name.clone());
        }
        view.all.add(&sums);
        view.days.entry(day).or_default().add(&sums);
        let partition = word(partition, row).unwrap_or("-").to_owned();
        view.partitions.entry(partition).or_default().add(&sums);
        view.nodes.entry(name.clone()).or_default().add(&sums);
        view.node_days.entry((name, day)).or_default().add(&sums);
    }
    Ok(())
}

fn histogram(
    batch: &RecordBatch,
    site: &str,
    into: &mut BTreeMap<OverheadPagePlace, OverheadPageCluster>,
) -> Result<()> {
    let (cluster, unit) = (text(batch, "cluster")?, text(batch, "unit")?);
    let (hour, unit_n, time_s) = (
        int(batch, "hour_of_week")?,
        int(batch, "units_n")?,
        int(batch, "time_s")?,
    );
    for row in 0..batch.num_rows() {
        let view = into
            .entry(place(site, word(cluster, row)))
            .or_default()
            .views
            .entry(word(unit, row).map(str::to_owned))
            .or_default();
        let (unit_n, time_s) = (unit_n.value(row), i128::from(time_s.value(row)));
        *view.histogram.entry(unit_n).or_default() += time_s;
        let hour = view.hours.entry(hour.value(row)).or_default();
        hour.0 += time_s;
        hour.1 += time_s * i128::from(unit_n);
    }
    Ok(())
}

fn queues(batch: &RecordBatch, site: &str, into: &mut BTreeMap<OverheadPagePlace, OverheadPageCluster>) -> Result<()> {
    let (cluster, partition, unit) = (text(batch, "cluster")?, text(batch, "partition")?, text(batch, "unit")?);
    for row in 0..batch.num_rows() {
        let reported = |name: &str| Ok::<_, Error>(number(int(batch, name)?, row).map(i128::from));
        let n = |name: &str| Ok::<_, Error>(addend(reported(name)?));
        let cluster = into.entry(place(site, word(cluster, row))).or_default();
        let key = (
            word(partition, row).unwrap_or("-").to_owned(),
            word(unit, row).map(str::to_owned),
        );
        let waited = cluster.queues.entry(key).or_default();
        let wait_s = n("wait_s")?;
        waited.job_n += n("job_n")?;
        waited.wait_s += wait_s;
        if let Some(job_n) = reported("fitting_job_n")? {
            let fitted = Fitted {
                job_n,
                unknown_s: n("vector_unknown_s")?,
                reservation_s: n("vector_reservation_s")?,
                drain_s: n("vector_drain_s")?,
                moment_s: n("vector_moment_s")?,
            };
            waited.by_vector = Some(waited.by_vector.map_or(fitted, |sum| sum.plus(fitted)));
            waited.vector_known_s += wait_s;
        }
        if let Some(unknown_s) = reported("unit_unknown_s")? {
            let unit_s = unknown_s + n("unit_reservation_s")? + n("unit_drain_s")?;
            waited.unit_s = Some(addend(waited.unit_s) + unit_s);
            waited.unit_known_s += wait_s;
        }
    }
    Ok(())
}

fn shapes(batch: &RecordBatch, site: &str, into: &mut BTreeMap<OverheadPagePlace, OverheadPageCluster>) -> Result<()> {
    let cluster = text(batch, "cluster")?;
    let amounts = [
        int(batch, "free_core_n")?,
        int(batch, "free_memory_gib_n")?,
        int(batch, "free_gpu_n")?,
    ];
    let time_s = int(batch, "time_s")?;
    for row in 0..batch.num_rows() {
        let [core_n, memory_gib, gpu_n] = amounts.map(|amounts| amounts.value(row));
        let shapes = &mut into.entry(place(site, word(cluster, row))).or_default().shapes;
        let shape = FreeShape {
            core_n,
            memory_gib,
            gpu_n,
        };
        *shapes.entry(shape).or_default() += i128::from(time_s.value(row));
    }
    Ok(())
}

fn findings(
    batch: &RecordBatch,
    site: &str,
    into: &mut BTreeMap<OverheadPagePlace, OverheadPageCluster>,
) -> Result<()> {
    let (kind, cluster) = (text(batch, "kind")?, text(batch, "cluster")?);
    let (node, resource) = (text(batch, "node")?, text(batch, "resource")?);
    let (start, end) = (time(batch, "start_utc")?, time(batch, "end_utc")?);
    let (used, capacity, jobs) = (int(batch, "used_n")?, int(batch, "capacity_n")?, int(batch, "job_n")?);
    let over = decimal(batch, "over_s")?;
    for row in 0..batch.num_rows() {
        let findings = &mut into.entry(place(site, word(cluster, row))).or_default().findings;
        findings.push(PageFindings {
            kind: kind.value(row).to_owned(),
            node: word(node, row).map(str::to_owned),
            resource: word(resource, row).map(str::to_owned),
            start_ms: start.value(row),
            end_ms: end.value(row),
            used_n: number(used, row),
            capacity_n: number(capacity, row),
            job_n: number(jobs, row),
            over: over.is_valid(row).then(|| over.value(row)),
        });
    }
    Ok(())
}

impl Fitted {
    fn plus(self, other: Self) -> Self {
        Self {
            job_n: self.job_n + other.job_n,
            unknown_s: self.unknown_s + other.unknown_s,
            reservation_s: self.reservation_s + other.reservation_s,
            drain_s: self.drain_s + other.drain_s,
            moment_s: self.moment_s + other.moment_s,
        }
    }
}

impl OverheadPageSums {
    pub(super) fn add(&mut self, other: &Self) {
        self.node_s += other.node_s;
        self.up_s += other.up_s;
        self.unit_s += other.unit_s;
        self.unknown_s += other.unknown_s;
        for (ledger, other) in self.ledgers.iter_mut().zip(&other.ledgers) {
            ledger.capacity += other.capacity;
            ledger.allocated += other.allocated;
            ledger.overhead += other.overhead;
            ledger.stranded += other.stranded;
            ledger.down += other.down;
            ledger.reserved += other.reserved;
            ledger.over += other.over;
            ledger.billed += other.billed;
            ledger.unknown += other.unknown;
        }
    }
}

impl OverheadView {
    /// Place of the resource the drawings are of: the first of cores, GPUs and memory that the unit takes of.
    pub(super) fn lead(&self) -> usize {
        let [core, memory, gpu] = &self.all.ledgers;
        match (core.overhead > 0, gpu.overhead > 0, memory.overhead > 0) {
            (true, ..) => 0,
            (_, true, _) => 2,
            (_, _, true) => 1,
            _ => 0,
        }
    }
}
