//! When jobs of the records waited for their nodes and held them.

use std::collections::BTreeSet;

use arrow_array::RecordBatch;
use serde::{Deserialize, Serialize};

use super::facts::RECORD_RULES;
use crate::error::Result;
use crate::numbers::count_u64;
use crate::reference::hostlist::is_none;
use crate::schema::batch::{addend, int, number, text, time, word};
use crate::time::SecondSpan;

/// The view of jobs that hold nodes: what runs inside of them holds none of its own.
pub(crate) const BATCH: &str = "batch";
/// Columns with the times a job waited and held nodes.
pub(crate) const SPAN_COLUMNS: [&str; 10] = [
    "job_id",
    "cluster",
    "view",
    "submit_utc",
    "eligible_utc",
    "start_utc",
    "end_utc",
    "wall_s",
    "suspended_s",
    "node_list",
];
/// No job holds its nodes for longer than five years: such a record is from a broken clock.
const LONGEST_S: i64 = 5 * 366 * 86_400;

/// When a job of the batch system held its nodes, in Unix seconds, half-open; `None` for what is no such job, for what
/// never started, and for one that held them longer than plausible. It holds them from its start for its wall time and the
/// time it was suspended, at most to its end: what is left of the time to its end is no wall time, and it held nothing then.
/// Instants are cut to whole seconds.
pub(crate) fn span(batch: &JobColumns<'_>, row: usize) -> Option<SecondSpan> {
    JobTimes::of(batch, row)?.held
}

/// When a job of the batch system held its nodes and waited for them.
pub(super) struct JobTimes {
    /// See [`span`].
    pub(super) held: Option<SecondSpan>,
    /// The span from start to end of a job, where that is longer than plausible.
    pub(super) too_long: Option<SecondSpan>,
    /// From when it was eligible (or was submitted, where unspecified) to when it started, or was cancelled, in Unix seconds,
    /// half-open. `None` where an edge is not known.
    pub(super) waited: Option<SecondSpan>,
}

impl JobTimes {
    /// Those of a row; `None` for what is no job of the batch system.
    pub(super) fn of(batch: &JobColumns<'_>, row: usize) -> Option<Self> {
        if batch.view.value(row) != BATCH {
            return None;
        }
        let stated = stated_span(batch, row);
        let is_plausible = |span: &SecondSpan| span.length_s() <= LONGEST_S;
        Some(Self {
            held: stated.filter(is_plausible).and_then(|span| held_part(batch, row, span)),
            too_long: stated.filter(|span| !is_plausible(span)),
            waited: wait(batch, row),
        })
    }
}

/// From start to end; of a job that has not ended as long as it is known to have run.
fn stated_span(batch: &JobColumns<'_>, row: usize) -> Option<SecondSpan> {
    let start_s = number(batch.start, row)?.div_euclid(1000);
    let end_s = match number(batch.end, row) {
        Some(end_ms) => end_ms.div_euclid(1000),
        None => start_s.checked_add(held_s(batch, row)?)?,
    };
    (start_s < end_s).then_some(SecondSpan { start_s, end_s })
}

/// Wall time and suspension, seconds.
fn held_s(batch: &JobColumns<'_>, row: usize) -> Option<i64> {
    let run_s = number(batch.wall, row)?.max(0);
    run_s.checked_add(addend(number(batch.suspended, row)).max(0))
}

/// The part of the time from start to end in which the job held its nodes; `None` where it has no wall time.
fn held_part(batch: &JobColumns<'_>, row: usize, span: SecondSpan) -> Option<SecondSpan> {
    let end_s = match held_s(batch, row) {
        Some(held_s) => span.start_s.checked_add(held_s)?.min(span.end_s),
        None => span.end_s,
    };
    let held = SecondSpan { end_s, ..span };
    (!held.is_empty()).then_some(held)
}

fn wait(batch: &JobColumns<'_>, row: usize) -> Option<SecondSpan> {
    let eligible_ms = number(batch.eligible, row).or_else(|| number(batch.submit, row))?;
    let start_ms = number(batch.start, row).or_else(|| number(batch.end, row))?;
    let waited = SecondSpan {
        start_s: eligible_ms.div_euclid(1000),
        end_s: start_ms.div_euclid(1000),
    };
    (!waited.is_empty()).then_some(waited)
}

/// The columns of times.
pub(crate) struct JobColumns<'b> {
    pub(super) job_id: &'b arrow_array::StringArray,
    pub(super) cluster: &'b arrow_array::StringArray,
    view: &'b arrow_array::StringArray,
    submit: &'b arrow_array::TimestampMillisecondArray,
    eligible: &'b arrow_array::TimestampMillisecondArray,
    start: &'b arrow_array::TimestampMillisecondArray,
    end: &'b arrow_array::TimestampMillisecondArray,
    wall: &'b arrow_array::Int64Array,
    pub(super) suspended: &'b arrow_array::Int64Array,
    node_list: &'b arrow_array::StringArray,
}

impl<'b> JobColumns<'b> {
    /// Those of a batch of records.
    pub(crate) fn of(batch: &'b RecordBatch) -> Result<Self> {
        Ok(Self {
            job_id: text(batch, "job_id")?,
            cluster: text(batch, "cluster")?,
            view: text(batch, "view")?,
            submit: time(batch, "submit_utc")?,
            eligible: time(batch, "eligible_utc")?,
            start: time(batch, "start_utc")?,
            end: time(batch, "end_utc")?,
            wall: int(batch, "wall_s")?,
            suspended: int(batch, "suspended_s")?,
            node_list: text(batch, "node_list")?,
        })
    }

    /// The nodes it names.
    pub(super) fn list(&self, row: usize) -> Option<&'b str> {
        word(self.node_list, row).filter(|list| !is_none(list))
    }
}

/// What the records of one file span.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reach {
    /// Rows.
    pub(crate) row_n: u64,
    /// First second and the one after the last in which a job ran that names its nodes.
    pub(crate) span: Option<SecondSpan>,
    /// The cluster in which a job without one ran.
    pub(crate) loose: Option<SecondSpan>,
    /// The same in which one waited.
    pub(crate) wait: Option<SecondSpan>,
    /// Clusters with jobs that name their nodes.
    pub(crate) clusters: BTreeSet<Option<String>>,
    /// Jobs that are left out, because they ran longer than plausible.
    #[serde(default)]
    pub(crate) too_long_n: u64,
    /// The first of them.
    #[serde(default)]
    pub(crate) first_too_long: Option<String>,
    /// The rules by which the times of records were read.
    #[serde(default)]
    rules: u32,
}

impl Reach {
    /// Of no rows.
    pub(crate) fn new() -> Self {
        Self {
            rules: RECORD_RULES,
            ..Self::default()
        }
    }

    /// Whether it was made by the rules of today.
    pub(crate) fn is_current(&self) -> bool {
        self.rules == RECORD_RULES
    }

    /// Adds a batch.
    pub(crate) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = JobColumns::of(batch)?;
        self.row_n += count_u64(batch.num_rows());
        for row in 0..batch.num_rows() {
            let Some(JobTimes { held, too_long, waited }) = JobTimes::of(&columns, row) else {
                continue;
            };
            if let Some(waited) = waited {
                self.wait = Some(join(self.wait, waited));
            }
            if let Some(held) = too_long {
                self.loose = Some(join(self.loose, first_second(held)));
                self.too_long_n += 1;
                self.first_too_long
                    .get_or_insert_with(|| columns.job_id.value(row).to_owned());
            }
            let Some(held) = held else { continue };
            if columns.list(row).is_none() {
                self.loose = Some(join(self.loose, held));
                continue;
            }
            self.span = Some(join(self.span, held));
            let cluster = word(columns.cluster, row);
            let is_new = !self.clusters.iter().any(|known| known.as_deref() == cluster);
            if is_new {
                self.clusters.insert(cluster.map(str::to_owned));
            }
        }
        Ok(())
    }

    /// The time in which a job ran or waited.
    pub(crate) fn all(&self) -> Option<SecondSpan> {
        let spans = [self.span, self.loose, self.wait].into_iter().flatten();
        spans.fold(None, |all, span| Some(join(all, span)))
    }
}

/// The second in which it begins.
pub(super) fn first_second(span: SecondSpan) -> SecondSpan {
    SecondSpan {
        end_s: span.start_s + 1,
        ..span
    }
}

/// The least span that holds both.
pub(crate) fn join(one: Option<SecondSpan>, other: SecondSpan) -> SecondSpan {
    one.map_or(other, |one| one.joined(other))
}
