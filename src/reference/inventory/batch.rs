//! Rows as batches of the published datasets.

use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder, StringBuilder, StructBuilder};
use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::{DataType, Field};

use super::gpus::Gpus;
use super::row::{AssociationRow, EventRow, InventoryRow, NodeRow, PartitionRow, ReservationRow};
use super::scheduler::{QosRow, QueuedJobRow, SettingRow, ShareRow};
use super::scheduler_batch::{qualities, queued_jobs, settings, shares};
use super::weights::{WEIGHT_PLACES, Weight};
use crate::error::{Error, Result};
use crate::schema;
use crate::schema::batch::{counts, decimals, ints, texts, times};
use crate::schema::dataset::gpu_fields;

/// A row and where it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct InventoryPlaced {
    /// The row.
    pub row: InventoryRow,
    /// Line of the file it begins on.
    pub line: u64,
    /// Input rows it accounts for: more than one when several are folded into it, none when another row of the same
    /// line accounts for them.
    pub input_row_n: u64,
}

/// What the pipeline adds where the file is silent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InventoryOrigin {
    /// Site.
    pub site: Option<String>,
    /// Cluster of rows that do not name one.
    pub cluster: Option<String>,
    /// When it was so, Unix milliseconds.
    pub as_of_ms: Option<i64>,
    /// The file.
    pub file_id: String,
}

/// The batches of one file, one for each dataset that has rows; rows are sorted as the datasets declare.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when a batch is not what the schema declares.
pub fn batches(rows: &[InventoryPlaced], origin: &InventoryOrigin) -> Result<Vec<(&'static str, RecordBatch)>> {
    let mut shelves = Shelves::default();
    for placed in rows {
        match &placed.row {
            InventoryRow::Node(row) => shelves.nodes.push(PlacedRow { placed, row }),
            InventoryRow::Event(row) => shelves.events.push(PlacedRow { placed, row }),
            InventoryRow::Partition(row) => {
                shelves.partitions.push(PlacedRow { placed, row });
                shelves
                    .weights
                    .extend(row.weights.iter().map(|weight| PlacedWeight { placed, row, weight }));
            }
            InventoryRow::Association(row) => shelves.associations.push(PlacedRow { placed, row }),
            InventoryRow::Reservation(row) => shelves.reservations.push(PlacedRow { placed, row }),
            InventoryRow::Qos(row) => shelves.qualities.push(PlacedRow { placed, row }),
            InventoryRow::Share(row) => shelves.shares.push(PlacedRow { placed, row }),
            InventoryRow::Setting(row) => shelves.settings.push(PlacedRow { placed, row }),
            InventoryRow::QueuedJob(row) => shelves.queued_jobs.push(PlacedRow { placed, row }),
        }
    }
    let mut found = Vec::new();
    let mut add = |dataset: &'static str, columns: Vec<ArrayRef>| -> Result<()> {
        if columns.first().is_some_and(|column| !column.is_empty()) {
            found.push((dataset, schema::dataset(dataset)?.batch(columns)?));
        }
        Ok(())
    };
    add("node", nodes(shelves.nodes, origin))?;
    add("node_event", events(shelves.events, origin))?;
    add("partition", partitions(shelves.partitions, origin))?;
    add("billing_weight", weights(shelves.weights, origin)?)?;
    add("association", associations(shelves.associations, origin))?;
    add("reservation", reservations(shelves.reservations, origin))?;
    add("qos", qualities(shelves.qualities, origin)?)?;
    add("share", shares(shelves.shares, origin)?)?;
    add("scheduler_setting", settings(shelves.settings, origin))?;
    add("queued_job", queued_jobs(shelves.queued_jobs, origin))?;
    Ok(found)
}

/// A row and its position.
pub(super) struct PlacedRow<'r, R> {
    pub(super) placed: &'r InventoryPlaced,
    pub(super) row: &'r R,
}

/// The weight of a resource in a partition, and its position.
struct PlacedWeight<'r> {
    placed: &'r InventoryPlaced,
    row: &'r PartitionRow,
    weight: &'r Weight,
}

/// Rows by dataset.
#[derive(Default)]
struct Shelves<'r> {
    nodes: Vec<PlacedRow<'r, NodeRow>>,
    events: Vec<PlacedRow<'r, EventRow>>,
    partitions: Vec<PlacedRow<'r, PartitionRow>>,
    weights: Vec<PlacedWeight<'r>>,
    associations: Vec<PlacedRow<'r, AssociationRow>>,
    reservations: Vec<PlacedRow<'r, ReservationRow>>,
    qualities: Vec<PlacedRow<'r, QosRow>>,
    shares: Vec<PlacedRow<'r, ShareRow>>,
    settings: Vec<PlacedRow<'r, SettingRow>>,
    queued_jobs: Vec<PlacedRow<'r, QueuedJobRow>>,
}

pub(super) fn cluster<'r>(named: Option<&'r String>, origin: &'r InventoryOrigin) -> Option<&'r str> {
    named.or(origin.cluster.as_ref()).map(String::as_str)
}

pub(super) fn flags(values: impl IntoIterator<Item = Option<bool>>) -> ArrayRef {
    Arc::new(values.into_iter().collect::<BooleanArray>())
}

/// What every dataset ends in.
pub(super) fn tail<'r>(
    placed: impl Iterator<Item = &'r InventoryPlaced> + Clone,
    origin: &InventoryOrigin,
) -> [ArrayRef; 3] {
    [
        texts(placed.clone().map(|_| Some(&origin.file_id))),
        counts(placed.clone().map(|placed| placed.line)),
        counts(placed.map(|placed| placed.input_row_n)),
    ]
}

fn gpu_lists<'r>(values: impl Iterator<Item = Option<&'r Gpus>>) -> ArrayRef {
    let element = Field::new("element", DataType::Struct(gpu_fields()), false);
    let mut lists = ListBuilder::new(StructBuilder::from_fields(gpu_fields(), 0)).with_field(element);
    for value in values {
        for (model, device_n) in value.into_iter().flat_map(|gpus| &gpus.models) {
            let one = lists.values();
            if let Some(models) = one.field_builder::<StringBuilder>(0) {
                models.append_value(model);
            }
            if let Some(counts) = one.field_builder::<Int64Builder>(1) {
                counts.append_value(*device_n);
            }
            one.append(true);
        }
        lists.append(value.is_some());
    }
    Arc::new(lists.finish())
}

fn nodes(mut rows: Vec<PlacedRow<'_, NodeRow>>, origin: &InventoryOrigin) -> Vec<ArrayRef> {
    rows.sort_by_key(|PlacedRow { placed, row }| {
        (
            cluster(row.cluster.as_ref(), origin),
            &row.node,
            row.as_of_ms,
            placed.line,
        )
    });
    let text = |of: fn(&NodeRow) -> Option<&String>| texts(rows.iter().map(|PlacedRow { row, .. }| of(row)));
    let int = |of: fn(&NodeRow) -> Option<i64>| ints(rows.iter().map(|PlacedRow { row, .. }| of(row)));
    let mut columns = vec![
        texts(rows.iter().map(|_| origin.site.as_ref())),
        texts(
            rows.iter()
                .map(|PlacedRow { row, .. }| cluster(row.cluster.as_ref(), origin)),
        ),
        text(|row| Some(&row.node)),
        times(
            rows.iter()
                .map(|PlacedRow { row, .. }| row.as_of_ms.or(origin.as_of_ms)),
        ),
        int(|row| row.cpu_n),
        int(|row| row.effective_cpu_n),
        int(|row| row.socket_n),
        int(|row| row.core_per_socket_n),
        int(|row| row.thread_per_core_n),
        int(NodeRow::core_n),
        int(|row| row.memory_byte),
        int(|row| row.system_memory_byte),
        int(|row| row.disk_byte),
        int(|row| row.gpus.as_ref().map(Gpus::device_n)),
        int(|row| row.gpus.as_ref().map(Gpus::mig_device_n)),
        gpu_lists(rows.iter().map(|PlacedRow { row, .. }| row.gpus.as_ref())),
        text(|row| row.gres.as_ref()),
        text(|row| row.features.as_ref()),
        int(|row| row.weight_n),
        text(|row| row.partitions.as_ref()),
        text(|row| row.state.as_ref()),
        text(|row| row.state_flags.as_ref()),
        text(|row| row.reason.as_ref()),
        int(|row| row.billing_n),
        text(|row| row.slurm_version.as_ref()),
    ];
    columns.extend(tail(rows.iter().map(|of| of.placed), origin));
    columns
}

fn events(mut rows: Vec<PlacedRow<'_, EventRow>>, origin: &InventoryOrigin) -> Vec<ArrayRef> {
    rows.sort_by_key(|PlacedRow { placed, row }| {
        (
            cluster(row.cluster.as_ref(), origin),
            &row.node,
            row.start_ms,
            placed.line,
        )
    });
    let text = |of: fn(&EventRow) -> Option<&String>| texts(rows.iter().map(|PlacedRow { row, .. }| of(row)));
    let int = |of: fn(&EventRow) -> Option<i64>| ints(rows.iter().map(|PlacedRow { row, .. }| of(row)));
    let mut columns = vec![
        texts(rows.iter().map(|_| origin.site.as_ref())),
        texts(
            rows.iter()
                .map(|PlacedRow { row, .. }| cluster(row.cluster.as_ref(), origin)),
        ),
        text(|row| row.node.as_ref()),
        times(rows.iter().map(|PlacedRow { row, .. }| Some(row.start_ms))),
        times(rows.iter().map(|PlacedRow { row, .. }| row.end_ms)),
        flags(rows.iter().map(|PlacedRow { row, .. }| Some(row.is_ambiguous))),
        text(|row| row.state.as_ref()),
        text(|row| row.state_flags.as_ref()),
        text(|row| row.reason.as_ref()),
        text(|row| row.user.as_ref()),
        text(|row| row.cluster_nodes.as_ref()),
        text(|row| row.tres.as_ref()),
        int(|row| row.cpu_n),
        int(|row| row.node_n),
        int(|row| row.memory_byte),
        int(|row| row.billing_n),
        int(|row| row.gpus.as_ref().map(Gpus::device_n)),
        gpu_lists(rows.iter().map(|PlacedRow { row, .. }| row.gpus.as_ref())),
    ];
    columns.extend(tail(rows.iter().map(|of| of.placed), origin));
    columns
}

fn partitions(mut rows: Vec<PlacedRow<'_, PartitionRow>>, origin: &InventoryOrigin) -> Vec<ArrayRef> {
    rows.sort_by_key(|PlacedRow { placed, row }| {
        (
            cluster(row.cluster.as_ref(), origin),
            &row.partition,
            row.as_of_ms,
            placed.line,
        )
    });
    let text = |of: fn(&PartitionRow) -> Option<&String>| texts(rows.iter().map(|PlacedRow { row, .. }| of(row)));
    let int = |of: fn(&PartitionRow) -> Option<i64>| ints(rows.iter().map(|PlacedRow { row, .. }| of(row)));
    let mut columns = vec![
        texts(rows.iter().map(|_| origin.site.as_ref())),
        texts(
            rows.iter()
                .map(|PlacedRow { row, .. }| cluster(row.cluster.as_ref(), origin)),
        ),
        text(|row| Some(&row.partition)),
        times(
            rows.iter()
                .map(|PlacedRow { row, .. }| row.as_of_ms.or(origin.as_of_ms)),
        ),
        text(|row| row.nodes.as_ref()),
        int(|row| row.node_n),
        int(|row| row.cpu_n),
        int(|row| row.memory_byte),
        int(|row| row.gpus.as_ref().map(Gpus::device_n)),
        gpu_lists(rows.iter().map(|PlacedRow { row, .. }| row.gpus.as_ref())),
        text(|row| row.state.as_ref()),
        flags(rows.iter().map(|PlacedRow { row, .. }| row.is_default)),
        flags(rows.iter().map(|PlacedRow { row, .. }| row.is_exclusive)),
        text(|row| row.over_subscribe.as_ref()),
        int(|row| row.max_time_s),
        int(|row| row.priority_job_factor_n),
        int(|row| row.priority_tier_n),
        text(|row| row.qos.as_ref()),
        text(|row| row.billing_weights.as_ref()),
        texts(rows.iter().map(|PlacedRow { row, .. }| row.billing_rule)),
    ];
    columns.extend(tail(rows.iter().map(|of| of.placed), origin));
    columns
}

fn weights(mut rows: Vec<PlacedWeight<'_>>, origin: &InventoryOrigin) -> Result<Vec<ArrayRef>> {
    rows.sort_by_key(|PlacedWeight { placed, row, weight }| {
        (
            cluster(row.cluster.as_ref(), origin),
            &row.partition,
            &weight.tres,
            row.as_of_ms,
            placed.line,
        )
    });
    let scale = i8::try_from(WEIGHT_PLACES).map_err(|e| Error::internal("weights have too many places").because(e))?;
    Ok(vec![
        texts(rows.iter().map(|_| origin.site.as_ref())),
        texts(
            rows.iter()
                .map(|PlacedWeight { row, .. }| cluster(row.cluster.as_ref(), origin)),
        ),
        texts(rows.iter().map(|PlacedWeight { row, .. }| Some(&row.partition))),
        texts(rows.iter().map(|PlacedWeight { weight, .. }| Some(&weight.tres))),
        times(
            rows.iter()
                .map(|PlacedWeight { row, .. }| row.as_of_ms.or(origin.as_of_ms)),
        ),
        decimals(
            rows.iter().map(|PlacedWeight { weight, .. }| Some(weight.weight_e12)),
            scale,
        )?,
        ints(rows.iter().map(|PlacedWeight { weight, .. }| Some(weight.per_n))),
        texts(rows.iter().map(|PlacedWeight { row, .. }| row.billing_rule)),
        texts(rows.iter().map(|_| Some(&origin.file_id))),
        counts(rows.iter().map(|of| of.placed.line)),
    ])
}

fn associations(mut rows: Vec<PlacedRow<'_, AssociationRow>>, origin: &InventoryOrigin) -> Vec<ArrayRef> {
    rows.sort_by_key(|PlacedRow { placed, row }| {
        (
            cluster(row.cluster.as_ref(), origin),
            &row.account,
            &row.user,
            &row.partition,
            placed.line,
        )
    });
    let text = |of: fn(&AssociationRow) -> Option<&String>| texts(rows.iter().map(|PlacedRow { row, .. }| of(row)));
    let mut columns = vec![
        texts(rows.iter().map(|_| origin.site.as_ref())),
        texts(
            rows.iter()
                .map(|PlacedRow { row, .. }| cluster(row.cluster.as_ref(), origin)),
        ),
        text(|row| Some(&row.account)),
        text(|row| row.user.as_ref()),
        text(|row| row.partition.as_ref()),
        times(rows.iter().map(|_| origin.as_of_ms)),
        text(|row| row.parent_account.as_ref()),
        ints(rows.iter().map(|PlacedRow { row, .. }| row.share_n)),
        flags(rows.iter().map(|PlacedRow { row, .. }| row.is_parent_share)),
        text(|row| row.default_account.as_ref()),
        text(|row| row.default_qos.as_ref()),
        text(|row| row.qos.as_ref()),
        text(|row| row.description.as_ref()),
        text(|row| row.organization.as_ref()),
        text(|row| row.grp_tres.as_ref()),
        text(|row| row.grp_tres_mins.as_ref()),
        text(|row| row.limits.as_ref()),
    ];
    columns.extend(tail(rows.iter().map(|of| of.placed), origin));
    columns
}

fn reservations(mut rows: Vec<PlacedRow<'_, ReservationRow>>, origin: &InventoryOrigin) -> Vec<ArrayRef> {
    rows.sort_by_key(|PlacedRow { placed, row }| {
        (
            cluster(row.cluster.as_ref(), origin),
            &row.reservation,
            row.start_ms,
            placed.line,
        )
    });
    let text = |of: fn(&ReservationRow) -> Option<&String>| texts(rows.iter().map(|PlacedRow { row, .. }| of(row)));
    let int = |of: fn(&ReservationRow) -> Option<i64>| ints(rows.iter().map(|PlacedRow { row, .. }| of(row)));
    let mut columns = vec![
        texts(rows.iter().map(|_| origin.site.as_ref())),
        texts(
            rows.iter()
                .map(|PlacedRow { row, .. }| cluster(row.cluster.as_ref(), origin)),
        ),
        text(|row| Some(&row.reservation)),
        times(
            rows.iter()
                .map(|PlacedRow { row, .. }| row.as_of_ms.or(origin.as_of_ms)),
        ),
        times(rows.iter().map(|PlacedRow { row, .. }| Some(row.start_ms))),
        times(rows.iter().map(|PlacedRow { row, .. }| Some(row.end_ms))),
        flags(rows.iter().map(|PlacedRow { row, .. }| Some(row.is_ambiguous))),
        text(|row| row.nodes.as_ref()),
        int(|row| row.node_n),
        int(|row| row.core_n),
        int(|row| row.memory_byte),
        int(|row| row.gpus.as_ref().map(Gpus::device_n)),
        gpu_lists(rows.iter().map(|PlacedRow { row, .. }| row.gpus.as_ref())),
        text(|row| row.partition.as_ref()),
        text(|row| row.accounts.as_ref()),
        text(|row| row.users.as_ref()),
        text(|row| row.flags.as_ref()),
        text(|row| row.state.as_ref()),
    ];
    columns.extend(tail(rows.iter().map(|of| of.placed), origin));
    columns
}
