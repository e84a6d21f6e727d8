//! The jobs of a site on its nodes and in its queues, put into slices of time.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::RecordBatch;

use super::finding::OverheadFindings;
use super::jobs::NodePlacement;
use super::node_inventory::NodeInventory;
use super::record_batches::{FileRecords, RecordBatches};
use super::record_files::RecordFile;
use crate::config::overhead_plan::OverheadPlan;
use crate::error::Result;
use crate::occupancy::{Resources, Slices, peaks};
use crate::store::Store;
use crate::time::SecondSpan;
use crate::time::calendar::Period;

/// Everything that is swept.
pub(crate) struct OverheadStage {
    /// Nodes, shapes and asks.
    pub(crate) board: NodePlacement,
    /// What runs and waits in the slices that are due.
    pub(crate) slices: Slices,
    /// The periods they are.
    pub(crate) due: Vec<DuePeriod>,
    /// What was found on the way.
    pub(crate) findings: OverheadFindings,
    /// Files that were read.
    pub(crate) read: Vec<StagedFile>,
}

/// A file of records that was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StagedFile {
    /// Its place in the list of files.
    pub(crate) place: usize,
    /// The number of its first record.
    pub(crate) first_tag: u64,
}

/// A slice: a calendar month, or the part of it that is in one allocation year.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DuePeriod {
    pub(crate) period: Period,
    /// The part of it in the requested period.
    pub(crate) span: SecondSpan,
}

/// A site and what is known of it.
#[derive(Clone, Copy)]
pub(crate) struct SweptSite<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// The names of all sites that have nodes.
    pub(crate) all: &'a BTreeSet<String>,
    /// Its records.
    pub(crate) files: &'a [RecordFile],
    /// The rows of inventories; without one the capacity of nodes comes from jobs.
    pub(crate) machine: Option<&'a NodeInventory>,
}

/// Reads the jobs that run or wait in the slices that are due. `seen` receives every batch with the number of its
/// first record.
///
/// # Errors
/// [`crate::error::Kind::Config`] when the cluster of a listing cannot be determined, [`crate::error::Kind::Io`].
pub(crate) fn stage(
    store: &Store,
    site: SweptSite<'_>,
    overhead: &OverheadPlan,
    resources: &Resources,
    due: Vec<DuePeriod>,
    columns: &[&str],
    mut seen: impl FnMut(&RecordBatch, u64) -> Result<()>,
) -> Result<OverheadStage> {
    let mut stage = OverheadStage {
        board: NodePlacement::new(machines(site)?, resources, &overhead.units),
        slices: Slices::new(due.iter().map(|due| due.span)),
        due,
        findings: OverheadFindings::default(),
        read: Vec::new(),
    };
    let files = site.files.iter().enumerate().filter(|(_, file)| {
        let all = file.reach.all();
        all.is_some_and(|span| stage.slices.overlaps(span).next().is_some())
    });
    let batches = RecordBatches {
        store,
        files: files.collect(),
        columns,
    };
    batches.each(|FileRecords { place, rows, refused }| {
        let first_tag = stage.board.next_tag;
        if stage.read.last().is_none_or(|last| last.place != place) {
            stage.read.push(StagedFile { place, first_tag });
        }
        seen(&rows, first_tag)?;
        (stage.board).add(&rows, &refused, &mut stage.slices, &mut stage.findings)
    })?;
    if site.machine.is_none() {
        capacity_from_jobs(&mut stage.board, &stage.slices)?;
    }
    Ok(stage)
}

/// The overhead of every cluster of a site with jobs that name their nodes.
fn machines(site: SweptSite<'_>) -> Result<BTreeMap<Option<String>, Option<NodeInventory>>> {
    let clusters: BTreeSet<&Option<String>> = (site.files).iter().flat_map(|file| &file.reach.clusters).collect();
    let named: BTreeSet<String> = clusters.iter().copied().flatten().cloned().collect();
    let mut machines = BTreeMap::new();
    for cluster in clusters {
        let of = match site.machine {
            Some(machine) => Some(machine.of(site.name, site.all, cluster.as_deref(), &named)?),
            None => None,
        };
        machines.insert(cluster.clone(), of);
    }
    Ok(machines)
}

/// Takes the most that jobs held at one time for what a node has. A resource that no job on it recorded is unknown, except GPUs:
/// a node whose jobs have none is taken to have none.
fn capacity_from_jobs(board: &mut NodePlacement, slices: &Slices) -> Result<()> {
    for nth in 0..slices.len() {
        let most = peaks(slices.slice(nth, board.nodes.len())?, &board.shapes)?;
        for (node, most) in board.nodes.iter_mut().zip(most) {
            let Some(segment) = node.history.segments.first_mut() else {
                continue;
            };
            for (has, most) in segment.capacity.iter_mut().zip(most) {
                *has = (*has).max(most);
            }
        }
    }
    for node in &mut board.nodes {
        let Some(segment) = node.history.segments.first() else {
            continue;
        };
        for (at, (known, has)) in node.history.known.iter_mut().zip(&segment.capacity).enumerate() {
            *known = *has > 0 || at >= 2;
        }
    }
    Ok(())
}
