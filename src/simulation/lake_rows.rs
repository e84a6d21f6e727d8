//! The jobs of a lake that may be simulated: what the records of one cluster state, row by row.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::RecordBatch;
use xxhash_rust::xxh3::xxh3_128;

use super::shared_kind::{SharedColumns, SharedKind};
use crate::error::{Error, Kind, Result};
use crate::lake::refused_records::summed_records;
use crate::numbers::count_u64;
use crate::occupancy::Resources;
use crate::overhead::job_amounts::AmountColumns;
use crate::overhead::node_inventory::{any_model_n, model_n};
use crate::record::SiteMonth;
use crate::runtime::column::{Column, ColumnBudget, ColumnWriter};
use crate::schema::batch::{addend, id, identity, int, number, text, time, word};
use crate::store::lake::parse_month_path;
use crate::store::{Manifest, Store, TableRows};
use crate::time::MsSpan;

/// Rows read at once.
const BATCH_ROWS: usize = 16_384;
/// The view whose hours are the site's own account.
const OWN_VIEW: &str = "batch";
/// Bytes of a MiB.
const MIB: i64 = 1 << 20;
/// Milliseconds of a second.
const SECOND_MS: i64 = 1000;

/// Columns that a simulation takes.
const COLUMNS: [&str; 29] = [
    "record_id",
    "job_id",
    "raw_job_id",
    "job_name",
    "requested_dependency",
    "reservation",
    "burst_buffer_byte",
    "licenses",
    "cluster",
    "view",
    "vo",
    "account",
    "user",
    "partition",
    "qos",
    "state",
    "submit_utc",
    "eligible_utc",
    "start_utc",
    "end_utc",
    "time_limit_s",
    "alloc_core_n",
    "requested_core_n",
    "alloc_node_n",
    "alloc_gpu_n",
    "gpus",
    "alloc_memory_byte",
    "requested_memory_byte",
    "energy_j",
];

/// Which records of a lake are simulated.
#[derive(Clone, Debug, Default)]
pub struct LakeSelection {
    /// The site; may be left out when there is one.
    pub site: Option<String>,
    /// The cluster; may be left out when the site has one.
    pub cluster: Option<String>,
    /// Jobs that start in it.
    pub started: Option<MsSpan>,
    /// How much of its rows is in memory.
    pub budget: ColumnBudget,
}

/// By what amounts of records are counted.
#[derive(Clone, Copy, Debug)]
pub struct RowCounting<'a> {
    /// GPU models that are counted one by one.
    pub models: &'a [String],
    /// What is followed of nodes.
    pub resources: &'a Resources,
    /// What is counted of the cluster as a whole.
    pub shared: &'a [SharedKind],
}

/// Whose a job is, and where it was submitted to, as far as schedulers look at it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobOwner {
    /// User.
    pub user: Option<String>,
    /// Partition.
    pub partition: Option<String>,
    /// Quality of service.
    pub qos: Option<String>,
}

/// What one record states. Times are Unix seconds; what is not stated is `None`.
#[derive(Clone, Debug, Default)]
pub struct LakeRow {
    /// Identity of the record.
    pub record_id: u128,
    /// Name of the job.
    pub job_id: String,
    /// The number behind that name, where both are stated.
    pub raw_job_id: Option<u32>,
    /// A key of its user and the name that user gave it, where both are known: equal keys mean equal names.
    pub name_key: Option<u128>,
    /// What it waits for, by the command that submitted it.
    pub dependency: Option<String>,
    /// The reservation it ran in.
    pub reservation: Option<String>,
    /// Account.
    pub account: Option<String>,
    /// VO.
    pub vo: Option<String>,
    /// Who priorities and reservations know it by.
    pub owner: JobOwner,
    /// State word.
    pub state: Option<String>,
    /// Submission.
    pub submit_s: Option<i64>,
    /// When it could have started.
    pub eligible_s: Option<i64>,
    /// Start.
    pub start_s: Option<i64>,
    /// End.
    pub end_s: Option<i64>,
    /// Time limit.
    pub limit_s: Option<i64>,
    /// Allocated cores.
    pub core_n: Option<i64>,
    /// Requested cores.
    pub requested_core_n: Option<i64>,
    /// Allocated nodes.
    pub node_n: Option<i64>,
    /// Allocated GPUs of any model.
    pub gpu_n: Option<i64>,
    /// Allocated memory, else requested memory, in MiB, rounded up.
    pub memory_mib: Option<i64>,
    /// GPUs of each model that is counted.
    pub model_n: Vec<i64>,
    /// Of its GPUs, those whose model is not stated.
    pub unstated_model_n: i64,
    /// What it had of each kind that is counted of the cluster as a whole.
    pub shared: Vec<i64>,
    /// What it held, in the order of the resources followed of nodes.
    pub held: Vec<i64>,
    /// Energy, joules.
    pub energy_j: Option<i64>,
}

/// The records of one cluster.
#[derive(Clone, Debug, Default)]
pub struct LakeRows {
    /// Its site.
    pub site: String,
    /// The cluster, where records name one.
    pub cluster: Option<String>,
    /// All clusters that records of the site name.
    pub clusters: BTreeSet<String>,
    /// Its rows of the site's own view.
    pub rows: Column<LakeRow>,
    /// Records of other views, which describe the same hours again.
    pub other_view_n: u64,
    /// Records that started outside the period.
    pub outside_n: u64,
    /// Rows with burst buffer, and rows with licences.
    pub shared_n: [u64; 2],
    /// Rows that state a reservation.
    pub reservation_n: u64,
}

impl LakeRows {
    /// Reads the records of a cluster. `models` are GPU models that are counted one by one, `resources` what nodes are followed by.
    ///
    /// # Errors
    /// [`Kind::Usage`] when the site or cluster is not stated and there are several, or there is no such; [`Kind::Io`].
    pub fn read(
        store: &Store,
        manifest: &Manifest,
        selection: &LakeSelection,
        counted: RowCounting<'_>,
    ) -> Result<Self> {
        let mut files: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for file in manifest.dataset("records") {
            if let Some(SiteMonth { site, .. }) = parse_month_path(&file.path) {
                files.entry(site).or_default().push(&file.path);
            }
        }
        let site = one_of(
            "site",
            selection.site.as_ref(),
            &files.keys().cloned().map(Some).collect(),
        )?;
        let site = crate::absent::text(site.as_deref()).to_owned();
        let mut all: BTreeMap<Option<String>, ClusterRows> = BTreeMap::new();
        for path in crate::absent::list(files.get(&site)) {
            for batch in summed_records(store, manifest, path, &TableRows::of_columns(&COLUMNS, BATCH_ROWS))? {
                add(&batch?, selection, counted, &mut all)?;
            }
        }
        let names = all.keys().cloned().collect();
        let clusters = all.keys().flatten().cloned().collect();
        let cluster = one_of("cluster", selection.cluster.as_ref(), &names)?;
        let rows = all.remove(&cluster);
        let rows = rows.ok_or_else(|| Error::new(Kind::NoInput, "the lake has no records"))?;
        Ok(Self {
            site,
            cluster,
            clusters,
            rows: rows.rows.finish()?,
            other_view_n: rows.other_view_n,
            outside_n: rows.outside_n,
            shared_n: rows.shared_n,
            reservation_n: rows.reservation_n,
        })
    }

    /// How many records were read of the cluster.
    #[must_use]
    pub fn read_n(&self) -> u64 {
        count_u64(self.rows.len()) + self.other_view_n + self.outside_n
    }
}

/// The rows of a cluster while they are read.
struct ClusterRows {
    rows: ColumnWriter<LakeRow>,
    other_view_n: u64,
    outside_n: u64,
    shared_n: [u64; 2],
    reservation_n: u64,
}

impl ClusterRows {
    fn new(budget: ColumnBudget) -> Self {
        Self {
            rows: ColumnWriter::new(budget),
            other_view_n: 0,
            outside_n: 0,
            shared_n: [0; 2],
            reservation_n: 0,
        }
    }
}

/// The one that is named, or the only one there is.
fn one_of(what: &str, named: Option<&String>, known: &BTreeSet<Option<String>>) -> Result<Option<String>> {
    let words = || {
        let words: Vec<&str> = known
            .iter()
            .map(|name| name.as_deref().map_or("-", |name| name))
            .collect();
        words.join(", ")
    };
    if let Some(named) = named {
        let found = known.iter().find(|known| known.as_ref() == Some(named));
        return found.cloned().ok_or_else(|| {
            let why = format!("the lake has no {what} {named}; it has {}", words());
            Error::new(Kind::Usage, why)
        });
    }
    let mut all = known.iter();
    match (all.next(), all.next()) {
        (Some(only), None) => Ok(only.clone()),
        (None, _) => Err(Error::new(Kind::NoInput, "the lake has no records to simulate")),
        (Some(_), Some(_)) => {
            let why = format!(
                "one {what} is simulated at a time: --{what} NAME; the lake has {}",
                words()
            );
            Err(Error::new(Kind::Usage, why))
        }
    }
}

/// The key of a user and a job name.
fn name_key(user: &str, name: &str) -> u128 {
    xxh3_128(format!("{} {user} {name}", user.len()).as_bytes())
}

fn add(
    batch: &RecordBatch,
    selection: &LakeSelection,
    counted: RowCounting<'_>,
    all: &mut BTreeMap<Option<String>, ClusterRows>,
) -> Result<()> {
    let batch = &crate::schema::batch::decoded(batch)?;
    let texts = |name| text(batch, name);
    let ints = |name| int(batch, name);
    let (ids, job_ids) = (id(batch, "record_id")?, texts("job_id")?);
    let (clusters, views) = (texts("cluster")?, texts("view")?);
    let (vos, accounts, states) = (texts("vo")?, texts("account")?, texts("state")?);
    let (users, partitions, qos) = (texts("user")?, texts("partition")?, texts("qos")?);
    let (submits, eligibles) = (time(batch, "submit_utc")?, time(batch, "eligible_utc")?);
    let (starts, ends) = (time(batch, "start_utc")?, time(batch, "end_utc")?);
    let limits = ints("time_limit_s")?;
    let (cores, asked_cores) = (ints("alloc_core_n")?, ints("requested_core_n")?);
    let (nodes, gpus) = (ints("alloc_node_n")?, ints("alloc_gpu_n")?);
    let (energy, amounts) = (ints("energy_j")?, AmountColumns::of(batch)?);
    let (raw_ids, job_names) = (texts("raw_job_id")?, texts("job_name")?);
    let reservations = texts("reservation")?;
    let (dependencies, shared) = (texts("requested_dependency")?, SharedColumns::of(batch)?);
    let (memory, asked_memory) = (ints("alloc_memory_byte")?, ints("requested_memory_byte")?);
    for row in 0..batch.num_rows() {
        let cluster = word(clusters, row).map(str::to_owned);
        let own = all.entry(cluster).or_insert_with(|| ClusterRows::new(selection.budget));
        if word(views, row) != Some(OWN_VIEW) {
            own.other_view_n += 1;
            continue;
        }
        let is_outside = selection
            .started
            .is_some_and(|span| number(starts, row).is_some_and(|ms| ms < span.from_ms || ms >= span.until_ms));
        if is_outside {
            own.outside_n += 1;
            continue;
        }
        let second = |ms: Option<i64>| ms.map(|ms| ms.div_euclid(SECOND_MS));
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let byte_n = number(memory, row).or_else(|| number(asked_memory, row));
        let model_n = counted.models.iter().map(|model| {
            let n = model_n(batch, "gpus", row, model)?;
            Ok(addend(n))
        });
        for (n, has) in own.shared_n.iter_mut().zip(shared.has(row)) {
            *n += u64::from(has);
        }
        own.reservation_n += u64::from(word(reservations, row).is_some());
        own.rows.push(LakeRow {
            record_id: identity(ids, row)?,
            job_id: crate::absent::text(word(job_ids, row)).to_owned(),
            // Fallback: what is not the number of a Slurm job is not named by a dependency.
            raw_job_id: word(raw_ids, row).and_then(|raw| raw.parse().ok()),
            name_key: word(users, row)
                .zip(word(job_names, row))
                .map(|(user, name)| name_key(user, name)),
            dependency: owned(word(dependencies, row)),
            reservation: owned(word(reservations, row)),
            account: owned(word(accounts, row)),
            vo: owned(word(vos, row)),
            owner: JobOwner {
                user: owned(word(users, row)),
                partition: owned(word(partitions, row)),
                qos: owned(word(qos, row)),
            },
            state: owned(word(states, row)),
            submit_s: second(number(submits, row)),
            eligible_s: second(number(eligibles, row)),
            start_s: second(number(starts, row)),
            end_s: second(number(ends, row)),
            limit_s: number(limits, row).filter(|limit_s| *limit_s > 0),
            core_n: number(cores, row),
            requested_core_n: number(asked_cores, row),
            node_n: number(nodes, row),
            gpu_n: number(gpus, row),
            memory_mib: byte_n.map(|byte_n| byte_n.div_euclid(MIB) + i64::from(byte_n.rem_euclid(MIB) > 0)),
            model_n: model_n.collect::<Result<_>>()?,
            unstated_model_n: (addend(number(gpus, row)) - addend(any_model_n(batch, "gpus", row)?)).max(0),
            shared: shared.row(row, counted.shared)?,
            held: amounts.row(row, counted.resources)?.held(),
            energy_j: number(energy, row).filter(|energy_j| *energy_j >= 0),
        })?;
    }
    Ok(())
}
