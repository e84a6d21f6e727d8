//! Rows about scheduling as batches of the published datasets.

use arrow_array::ArrayRef;

use super::batch::{InventoryOrigin, PlacedRow, cluster, flags, tail};
use super::gpus::Gpus;
use super::scheduler::{QosRow, QueuedJobRow, SHARE_PLACES, SettingRow, ShareRow, USAGE_PLACES};
use crate::error::{Error, Result};
use crate::schema::batch::{decimals, ints, texts, times};

fn scaled(values: impl IntoIterator<Item = Option<i128>>, places: u32) -> Result<ArrayRef> {
    let scale = i8::try_from(places).map_err(|e| Error::internal("a decimal has too many places").because(e))?;
    decimals(values, scale)
}

pub(super) fn qualities(mut rows: Vec<PlacedRow<'_, QosRow>>, origin: &InventoryOrigin) -> Result<Vec<ArrayRef>> {
    rows.sort_by_key(|of| (cluster(of.row.cluster.as_ref(), origin), &of.row.qos, of.placed.line));
    let text = |of: fn(&QosRow) -> Option<&String>| texts(rows.iter().map(|placed| of(placed.row)));
    let int = |of: fn(&QosRow) -> Option<i64>| ints(rows.iter().map(|placed| of(placed.row)));
    let flag = |of: fn(&QosRow) -> Option<bool>| flags(rows.iter().map(|placed| of(placed.row)));
    let factor = |of: fn(&QosRow) -> Option<i128>| scaled(rows.iter().map(|placed| of(placed.row)), USAGE_PLACES);
    let mut columns = vec![
        texts(rows.iter().map(|_| origin.site.as_ref())),
        texts(rows.iter().map(|of| cluster(of.row.cluster.as_ref(), origin))),
        text(|row| Some(&row.qos)),
        times(rows.iter().map(|_| origin.as_of_ms)),
        int(|row| row.priority_n),
        factor(|row| row.usage_factor_e6)?,
        factor(|row| row.usage_threshold_e6)?,
        factor(|row| row.limit_factor_e6)?,
        text(|row| row.flags.as_ref()),
        flag(|row| row.is_no_decay),
        flag(|row| row.is_usage_factor_safe),
        text(|row| row.preempt.as_ref()),
        text(|row| row.preempt_mode.as_ref()),
        int(|row| row.grace_time_s),
        text(|row| row.description.as_ref()),
        text(|row| row.grp_tres_mins.as_ref()),
        text(|row| row.limits.as_ref()),
    ];
    columns.extend(tail(rows.iter().map(|of| of.placed), origin));
    Ok(columns)
}

pub(super) fn shares(mut rows: Vec<PlacedRow<'_, ShareRow>>, origin: &InventoryOrigin) -> Result<Vec<ArrayRef>> {
    rows.sort_by_key(|PlacedRow { placed, row }| {
        (
            cluster(row.cluster.as_ref(), origin),
            &row.account,
            &row.user,
            &row.partition,
            placed.line,
        )
    });
    let text = |of: fn(&ShareRow) -> Option<&String>| texts(rows.iter().map(|placed| of(placed.row)));
    let int = |of: fn(&ShareRow) -> Option<i64>| ints(rows.iter().map(|placed| of(placed.row)));
    let flag = |of: fn(&ShareRow) -> Option<bool>| flags(rows.iter().map(|placed| of(placed.row)));
    let share = |of: fn(&ShareRow) -> Option<i128>| scaled(rows.iter().map(|placed| of(placed.row)), SHARE_PLACES);
    let mut columns = vec![
        texts(rows.iter().map(|_| origin.site.as_ref())),
        texts(rows.iter().map(|of| cluster(of.row.cluster.as_ref(), origin))),
        text(|row| Some(&row.account)),
        text(|row| row.user.as_ref()),
        text(|row| row.partition.as_ref()),
        times(rows.iter().map(|_| origin.as_of_ms)),
        text(|row| row.parent_account.as_ref()),
        int(|row| row.association_id),
        int(|row| row.raw_share_n),
        flag(|row| row.is_parent_share),
        int(|row| row.level_share_n),
        share(|row| row.norm_shares_e12)?,
        scaled(rows.iter().map(|of| of.row.raw_usage_e6), USAGE_PLACES)?,
        share(|row| row.norm_usage_e12)?,
        share(|row| row.effective_usage_e12)?,
        share(|row| row.fairshare_factor_e12)?,
        share(|row| row.level_fs_e12)?,
        flag(|row| row.is_level_fs_infinite),
        text(|row| row.grp_tres_mins.as_ref()),
        text(|row| row.tres_run_mins.as_ref()),
    ];
    columns.extend(tail(rows.iter().map(|of| of.placed), origin));
    Ok(columns)
}

pub(super) fn settings(mut rows: Vec<PlacedRow<'_, SettingRow>>, origin: &InventoryOrigin) -> Vec<ArrayRef> {
    rows.sort_by_key(|of| {
        (
            cluster(of.row.cluster.as_ref(), origin),
            &of.row.setting,
            of.placed.line,
        )
    });
    let mut columns = vec![
        texts(rows.iter().map(|_| origin.site.as_ref())),
        texts(rows.iter().map(|of| cluster(of.row.cluster.as_ref(), origin))),
        texts(rows.iter().map(|of| Some(&of.row.setting))),
        times(rows.iter().map(|of| of.row.as_of_ms.or(origin.as_of_ms))),
        texts(rows.iter().map(|of| of.row.value.as_ref())),
        ints(rows.iter().map(|of| of.row.value_s)),
    ];
    columns.extend(tail(rows.iter().map(|of| of.placed), origin));
    columns
}

pub(super) fn queued_jobs(mut rows: Vec<PlacedRow<'_, QueuedJobRow>>, origin: &InventoryOrigin) -> Vec<ArrayRef> {
    // All rows of a file are of one cluster: that of the pipeline.
    rows.sort_by_key(|of| (&of.row.job_id, of.placed.line));
    let text = |of: fn(&QueuedJobRow) -> Option<&String>| texts(rows.iter().map(|placed| of(placed.row)));
    let int = |of: fn(&QueuedJobRow) -> Option<i64>| ints(rows.iter().map(|placed| of(placed.row)));
    let time = |of: fn(&QueuedJobRow) -> Option<i64>| times(rows.iter().map(|placed| of(placed.row)));
    let flag = |of: fn(&QueuedJobRow) -> Option<bool>| flags(rows.iter().map(|placed| of(placed.row)));
    let mut columns = vec![
        texts(rows.iter().map(|_| origin.site.as_ref())),
        texts(rows.iter().map(|_| origin.cluster.as_ref())),
        text(|row| Some(&row.job_id)),
        times(rows.iter().map(|_| origin.as_of_ms)),
        text(|row| row.array_job_id.as_ref()),
        text(|row| row.array_tasks.as_ref()),
        text(|row| row.account.as_ref()),
        text(|row| row.user.as_ref()),
        text(|row| row.partitions.as_ref()),
        text(|row| row.qos.as_ref()),
        time(|row| row.submit_ms),
        time(|row| row.eligible_ms),
        time(|row| row.accrue_ms),
        flag(|row| Some(row.is_ambiguous)),
        int(|row| row.time_limit_s),
        int(|row| row.min_node_n),
        int(|row| row.max_node_n),
        int(|row| row.cpu_n),
        int(|row| row.memory_byte),
        int(|row| row.gpus.as_ref().map(Gpus::device_n)),
        int(|row| row.billing_n),
        text(|row| row.req_tres.as_ref()),
        int(|row| row.priority_n),
        int(|row| row.nice_n),
        text(|row| row.reason.as_ref()),
        flag(|row| row.is_held),
    ];
    columns.extend(tail(rows.iter().map(|of| of.placed), origin));
    columns
}
