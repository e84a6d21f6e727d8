//! Cores that were planned for jobs while they waited, hour by hour, as Slurm's roll-up counts them: those a job requested,
//! from when it was eligible until it started or was given up.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::Array;

use super::events::{EventKind, NodeEvent};
use super::jobs::SreportJobs;
use super::reserved::Reserved;
use crate::error::Result;
use crate::numbers::tally;
use crate::report::lake::LakePiece;
use crate::schema::batch::{int, number, text, time, word, word_or_empty};
use crate::summarise::correction_effect::CorrectionEffect;
use crate::time::MsSpan;

const COLUMNS: [&str; 8] = [
    "view",
    "vo",
    "cluster",
    "account",
    "reservation",
    "eligible_utc",
    "start_utc",
    "end_utc",
];

/// The cores a job requested; records of before version [`ASKED_SINCE`] do not have them.
const ASKED: &str = "requested_core_n";

/// The first version of `records` with the cores a job requested.
const ASKED_SINCE: u32 = 9;

/// An hour of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClusterHour {
    cluster: String,
    hour: i64,
}

/// When clusters were registered: jobs are planned for no other time.
pub(super) type Registered = BTreeMap<ClusterHour, MsSpan>;

/// The time of every hour in which a cluster was registered, from the first event to the last.
pub(super) fn registered(jobs: &SreportJobs<'_>, events: &[NodeEvent]) -> Registered {
    let mut spans = Registered::new();
    for event in events.iter().filter(|event| event.kind == EventKind::Registered) {
        for (hour, from_ms, until_ms) in jobs.period.hours(event.span) {
            let part = MsSpan { from_ms, until_ms };
            let cluster = event.cluster.clone();
            let span = spans.entry(ClusterHour { cluster, hour }).or_insert(part);
            *span = span.joined(part);
        }
    }
    spans
}

/// What was planned, in core seconds.
#[derive(Debug, Default)]
pub(super) struct Planned {
    seconds: BTreeMap<ClusterHour, i128>,
    /// Jobs of each cluster that may have waited, whose start of waiting or number of cores is unknown.
    unknown: BTreeMap<String, u64>,
}

impl Planned {
    pub(super) fn absorb(&mut self, more: Self) {
        for (key, seconds) in more.seconds {
            *self.seconds.entry(key).or_default() += seconds;
        }
        for (cluster, job_n) in more.unknown {
            *self.unknown.entry(cluster).or_default() += job_n;
        }
    }

    /// What was planned in an hour.
    pub(super) fn of(&self, cluster: &str, hour: i64) -> i128 {
        let cluster = cluster.to_owned();
        let key = ClusterHour { cluster, hour };
        tally(self.seconds.get(&key).copied())
    }

    /// Jobs that keep what was planned from being known.
    pub(super) fn unknown_n(&self, cluster: &str) -> u64 {
        tally(self.unknown.get(cluster).copied())
    }

    /// One line for each cluster of which it is unknown.
    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        self.unknown.iter().map(|(cluster, job_n)| {
            format!(
                "Planned and Idle of cpu of {cluster} are summed in Idle or Planned: {job_n} jobs do not state since when \
                 they were eligible, or how many cores they requested"
            )
        })
    }

    /// Adds the jobs of a piece.
    pub(super) fn read(
        &mut self,
        jobs: &SreportJobs<'_>,
        piece: &LakePiece,
        reserved: &Reserved,
        registered: &Registered,
    ) -> Result<()> {
        let file = jobs.lake.manifest.file(&piece.path);
        let is_asked = file.is_some_and(|file| file.schema_version >= ASKED_SINCE);
        let effects = jobs.corrections.of_site(&piece.site);
        let mut columns: BTreeSet<&str> = COLUMNS.into_iter().chain(effects.columns()).collect();
        columns.extend(is_asked.then_some(ASKED));
        let columns: Vec<&str> = columns.into_iter().collect();
        for batch in jobs.lake.piece_batches(piece, &columns)? {
            let batch = batch?;
            let looked_at = effects.of_batch(&batch)?;
            let words = |name| text(&batch, name);
            let (view, vo, account) = (words("view")?, words("vo")?, words("account")?);
            let (cluster, reservation) = (words("cluster")?, words("reservation")?);
            let (eligible, start) = (time(&batch, "eligible_utc")?, time(&batch, "start_utc")?);
            let end = time(&batch, "end_utc")?;
            let asked = is_asked.then(|| int(&batch, ASKED)).transpose()?;
            for row in 0..batch.num_rows() {
                // Given up before it started, or still waiting when last heard of.
                let until_ms = number(start, row).or_else(|| number(end, row));
                let until_ms = until_ms.unwrap_or(jobs.period.until_ms);
                let eligible_ms = number(eligible, row);
                // One that was never eligible never waited; one that started was.
                let is_unknown = eligible_ms.is_none() && start.is_valid(row);
                let from_ms = eligible_ms.or_else(|| is_unknown.then_some(until_ms - 1));
                let span = from_ms.and_then(|from_ms| jobs.period.clip(from_ms, until_ms));
                let Some(span) = span.filter(|_| view.value(row) == "batch") else {
                    continue;
                };
                let cluster = word_or_empty(cluster, row);
                let own = PlannedWait {
                    cluster,
                    reservation: word(reservation, row),
                    core_n: asked.and_then(|asked| number(asked, row)).filter(|_| !is_unknown),
                };
                let mut visit = |effect: CorrectionEffect<'_>, span| {
                    if !effect.is_void && jobs.selection.has_vo(effect.vo) {
                        self.wait(&own, span, jobs, reserved, registered);
                    }
                };
                if effects.is_empty() {
                    let effect = CorrectionEffect {
                        is_void: false,
                        vo: word(vo, row),
                        account: word(account, row),
                    };
                    visit(effect, span);
                } else {
                    jobs.fates_of(&effects, &looked_at, row, span, until_ms, visit);
                }
            }
        }
        Ok(())
    }

    /// Adds the planned time of a job. One that waits for a reservation does not wait for other cores, and the cores of that are taken
    /// as a whole, unless others may run on in it.
    fn wait(
        &mut self,
        job: &PlannedWait<'_>,
        span: MsSpan,
        jobs: &SreportJobs<'_>,
        reserved: &Reserved,
        registered: &Registered,
    ) {
        let Some(core_n) = job.core_n else {
            *self.unknown.entry(job.cluster.to_owned()).or_default() += 1;
            return;
        };
        let spans: Vec<MsSpan> = match job.reservation {
            None => vec![span],
            Some(name) => (reserved.windows.iter())
                .filter(|window| window.ignores_jobs && window.name == name)
                .filter(|window| window.cluster.as_deref() == Some(job.cluster))
                .map(|window| span.within(window.span))
                .collect(),
        };
        for span in spans {
            for (hour, from_ms, until_ms) in jobs.period.hours(span) {
                let cluster = job.cluster.to_owned();
                let key = ClusterHour { cluster, hour };
                let Some(span) = registered.get(&key) else { continue };
                let ms = MsSpan { from_ms, until_ms }.within(*span).length_ms();
                if ms > 0 {
                    *self.seconds.entry(key).or_default() += i128::from(core_n) * i128::from(ms / 1000);
                }
            }
        }
    }
}

/// What of a waiting job counts.
struct PlannedWait<'a> {
    cluster: &'a str,
    reservation: Option<&'a str>,
    /// Unknown where it, or the start of waiting, is not recorded.
    core_n: Option<i64>,
}
