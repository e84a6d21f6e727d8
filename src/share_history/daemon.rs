//! The runs of a scheduler's daemon: those of the pipeline, and the starts that listings of settings state.

use std::collections::BTreeSet;

use super::files::ClusterFiles;
use super::settings::READ_ROWS;
use crate::config::fairshare_plan::{DecayMode, FairsharePlan};
use crate::error::{Error, Result};
use crate::fairshare::{DaemonRun, UsageRule};
use crate::numbers::Extent;
use crate::schema::batch::{int, number, text, word};
use crate::store::{Store, read_table};
use crate::time::instant::instant_text_s;

/// The setting that states when the daemon started.
const DAEMON_START: &str = "BOOT_TIME";

/// What is known of the runs of a daemon.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownRuns {
    /// In the order of time, without contradiction.
    runs: Vec<DaemonRun>,
    /// How many of them the pipeline states.
    stated: Vec<DaemonRun>,
}

impl KnownRuns {
    /// Completes the runs that the pipeline states by starts of listings. A start of a listing that is within what a run took to
    /// its first calculation is that run. An instant of calculation that the pipeline states (`calc_anchor`) without runs counts
    /// before all listings.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when a listing cannot be read; [`crate::error::Kind::Config`] when a listing states a start
    /// while a stated run runs.
    pub(super) fn read(store: &Store, files: &ClusterFiles, of: &FairsharePlan) -> Result<Self> {
        let is_anchored = of.calc_anchor_s.is_some() && of.daemon_runs.is_empty();
        if is_anchored || of.decay != DecayMode::SlurmSteps {
            return Ok(Self::default());
        }
        let mut runs = of.daemon_runs.clone();
        for start_s in starts_s(store, files, of)? {
            let is_stated = |run: &DaemonRun| run.start_s <= start_s && start_s <= run.calculated_s;
            if !of.daemon_runs.iter().any(is_stated) {
                runs.push(DaemonRun::started_at(start_s));
            }
        }
        runs.sort_by_key(|run| run.start_s);
        if let Some((at, why)) = DaemonRun::contradiction(&runs) {
            let start_s = runs.get(at).map(|run| run.start_s);
            let start = start_s.and_then(instant_text_s);
            let message = format!(
                "a listing of settings states that the daemon of {} started at {} ({DAEMON_START}), and daemon_runs in \
                 [[fairshare]] something else: {why}",
                of.cluster,
                // Fallback: an instant outside the calendar has no text.
                start.unwrap_or_default()
            );
            return Err(Error::config(message));
        }
        Ok(Self {
            runs,
            stated: of.daemon_runs.clone(),
        })
    }

    /// Those that had started at an instant.
    pub(super) fn up_to(&self, at_s: i64) -> &[DaemonRun] {
        let started = self.runs.partition_point(|run| run.start_s <= at_s);
        // Fallback: never taken, no more runs have started than there are.
        self.runs.get(..started).unwrap_or_default()
    }

    /// What the pipeline states of them up to an instant, in words for people; `None` where it states none.
    #[must_use]
    pub fn words_at(&self, at_s: i64, rule: &UsageRule) -> Option<String> {
        let stated = self.stated.iter().filter(|run| run.start_s <= at_s).count();
        if stated == 0 {
            return None;
        }
        // A stated run is one of all.
        let listed = self.up_to(at_s).len().less(stated);
        let not_aged_s = rule.runs.as_ref().map_or(0, |runs| runs.not_aged_s(at_s));
        let lost = if not_aged_s > 0 {
            format!("; runs that were killed left out {not_aged_s} seconds of decay, and of jobs")
        } else {
            String::new()
        };
        Some(format!(
            "daemon_runs states {stated} runs of the daemon, listings of settings {listed} more{lost}"
        ))
    }
}

/// When listings of settings state that the daemon of a scheduler started (`BOOT_TIME`), Unix seconds.
///
/// # Errors
/// [`crate::error::Kind::Io`] when a listing cannot be read.
fn starts_s(store: &Store, files: &ClusterFiles, of: &FairsharePlan) -> Result<BTreeSet<i64>> {
    let mut starts_s = BTreeSet::new();
    for file in &files.settings {
        for batch in read_table(store.reader(&file.place)?, None, READ_ROWS)? {
            let batch = batch?;
            let (site, cluster) = (text(&batch, "site")?, text(&batch, "cluster")?);
            let (names, values_s) = (text(&batch, "setting")?, int(&batch, "value_s")?);
            let is_start = |row: &usize| {
                word(names, *row) == Some(DAEMON_START) && of.may_be_of(word(site, *row), word(cluster, *row))
            };
            starts_s.extend(
                (0..batch.num_rows())
                    .filter(is_start)
                    .filter_map(|row| number(values_s, row)),
            );
        }
    }
    Ok(starts_s)
}
