//! What a cluster registered with slurmdbd, and what of it was down: the events of its accounting.

use std::collections::BTreeMap;

use super::jobs::models;
use super::period::SreportPeriod;
use super::used::model_name;
use crate::error::Result;
use crate::report::lake::{Lake, Selection};
use crate::schema::batch::{int, number, text, time, word, word_or_empty};
use crate::time::MsSpan;

/// One event, cut to the period.
#[derive(Clone, Debug)]
pub(super) struct NodeEvent {
    /// Cluster; empty when unknown.
    pub(super) cluster: String,
    /// Node; `None` for the whole cluster.
    pub(super) node: Option<String>,
    pub(super) span: MsSpan,
    pub(super) kind: EventKind,
    /// Trackable resources it is about.
    pub(super) amounts: Vec<(String, i64)>,
}

/// The facts of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventKind {
    /// The cluster has these resources.
    Registered,
    /// They are down.
    Down,
    /// They are down as planned: nodes that are not there yet, or powered down.
    PlannedDown,
}

/// Cluster, node and start: what distinguishes events.
type EventKey = (String, Option<String>, i64);

/// The events of a selection and period, sorted; each once, however many listings describe it, and as in the one that
/// knows its end.
pub(super) fn read(lake: &Lake, selection: &Selection, period: SreportPeriod) -> Result<Vec<NodeEvent>> {
    let mut events: BTreeMap<EventKey, (Option<i64>, Option<NodeEvent>)> = BTreeMap::new();
    for file in lake.manifest.dataset("node_event") {
        for batch in lake.batches(&file.path, None)? {
            let batch = batch?;
            let words = |name| text(&batch, name);
            let (site, cluster, node) = (words("site")?, words("cluster")?, words("node")?);
            let (state, flags) = (words("state")?, words("state_flags")?);
            let (start, end) = (time(&batch, "start_utc")?, time(&batch, "end_utc")?);
            let counts = [
                ("cpu", int(&batch, "cpu_n")?, 0),
                ("mem", int(&batch, "memory_byte")?, 20),
                ("billing", int(&batch, "billing_n")?, 0),
                ("gres/gpu", int(&batch, "gpu_n")?, 0),
            ];
            let typed = models(&batch)?;
            for row in 0..batch.num_rows() {
                if word(site, row).is_some_and(|site| !selection.has_site(site)) {
                    continue;
                }
                let has = |flag: &str| word(flags, row).is_some_and(|flags| flags.split('+').any(|own| own == flag));
                // Maintenance is represented by its reservation.
                if word(state, row) == Some("MAINT") || has("MAINT") || has("MAINTENANCE") {
                    continue;
                }
                let kind = match (word(node, row), word(state, row)) {
                    (None, None) => EventKind::Registered,
                    (Some(_), Some("FUTURE")) => EventKind::PlannedDown,
                    (Some(_), _) if has("POWERED_DOWN") => EventKind::PlannedDown,
                    _ => EventKind::Down,
                };
                let mut amounts: Vec<(String, i64)> = (counts.iter())
                    .filter_map(|(tres, column, shift)| Some(((*tres).to_owned(), number(column, row)? >> shift)))
                    .collect();
                amounts.extend(typed.of(row).map(|(model, n)| (model_name(model), n)));
                let key = (
                    word_or_empty(cluster, row).to_owned(),
                    word(node, row).map(str::to_owned),
                    start.value(row),
                );
                let end_ms = number(end, row);
                // Fallback: an event that has not ended lasts to the end of the period.
                let span = period.clip(start.value(row), end_ms.unwrap_or(i64::MAX));
                let event = span.map(|span| NodeEvent {
                    cluster: key.0.clone(),
                    node: key.1.clone(),
                    span,
                    kind,
                    amounts,
                });
                let known = events.entry(key).or_insert_with(|| (end_ms, event.clone()));
                if end_ms > known.0 {
                    *known = (end_ms, event);
                }
            }
        }
    }
    Ok(events.into_values().filter_map(|(_, event)| event).collect())
}

/// Seconds of each resource that clusters registered: what percentages are of.
pub(super) fn registered(events: &[NodeEvent]) -> BTreeMap<String, BTreeMap<String, i128>> {
    let mut whole: BTreeMap<String, BTreeMap<String, i128>> = BTreeMap::new();
    for event in events.iter().filter(|event| event.kind == EventKind::Registered) {
        let own = whole.entry(event.cluster.clone()).or_default();
        for (tres, n) in &event.amounts {
            *own.entry(tres.clone()).or_default() += i128::from(*n) * i128::from(event.span.length_ms() / 1000);
        }
    }
    whole
}
