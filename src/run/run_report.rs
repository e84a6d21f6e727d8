//! The report of a run for people and tools.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::copied_report::{CopiedReport, copied_text};
use super::edited_policies::EditedPolicy;
use super::former_snapshots::FormerSnapshots;
use super::incomplete_days::{IncompleteDays, incomplete_text};
use super::moved_report::{MovedReport, moved_text};
use super::options::RunOptions;
use super::overlap_report::OverlapReport;
use super::priced::{PolicyReport, UnpricedCorrection};
use super::recompute::Recomputed;
use super::recompute_energy::RecomputedEnergy;
use super::reduced_report::{ReducedReport, reduced_text};
use super::reservation_report::ReservationReport;
use super::run_ending::{PartitionCounts, RunEnding};
use super::run_identity::RunIdentity;
use super::run_words::commonest;
use super::source_report::SourceReport;
use super::summary_kinds::{SummaryKindsReport, kinds_text};
use crate::config::Plan;
use crate::dedupe::{ContradictoryTimes, MappingCounts, UnknownCores};
use crate::display_text::without_passwords;
use crate::energy::{EnergyCoreGap, EnergyTableGap};
use crate::error::Error;
use crate::ingest::findings::{EmptyFile, Findings, RefusedFile, empty_text, refused_text};
use crate::ingest::shared_jobs::{SharedJobs, shared_text};
use crate::ingest::shrunk_files::{ShrunkFile, shrunk_text};
use crate::lake::state::State;
use crate::ledger::Reason;
use crate::numbers::{Extent, count_u64};
use crate::overhead::report::OverheadReport;
use crate::share_history::UncountedReport;
use crate::sources::input::InputFile;
use crate::store::{Committed, Store};

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Something was published.
    #[default]
    Published,
    /// Every input was known and nothing changed.
    Unchanged,
    /// `--dry-run`: everything was checked, nothing was published.
    DryRun,
    /// It failed; `error` is the reason.
    Failed,
}

impl Status {
    /// The word of the JSON form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Unchanged => "unchanged",
            Self::DryRun => "dry_run",
            Self::Failed => "failed",
        }
    }
}

/// Why a run, or another command, failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Exit code.
    pub exit_code: u8,
    /// What is printed for people.
    pub message: String,
}

impl Failure {
    /// As a report has it.
    #[must_use]
    pub fn of(error: &Error) -> Self {
        Self {
            exit_code: error.kind().exit_code(),
            message: error.to_string(),
        }
    }
}

/// One run. The JSON form is stable: fields are added, never renamed.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunReport {
    /// How it ended.
    pub status: Status,
    /// Why it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// What identifies it.
    #[serde(flatten)]
    pub identity: RunIdentity,
    /// How it ended, for those who watch over runs.
    #[serde(flatten)]
    pub ending: RunEnding,
    /// Pipeline.
    pub pipeline: String,
    /// Lake.
    pub output: String,
    /// Version of the program.
    pub gridtally_version: String,
    /// Input files found.
    pub files_n: u64,
    /// Input files read; the others were known.
    pub files_read_n: u64,
    /// Bytes read, as stored.
    pub bytes_read_n: u64,
    /// Rows read.
    pub rows_read_n: u64,
    /// Rows of the files this run read, by outcome.
    pub read_outcomes: BTreeMap<String, u64>,
    /// By source.
    pub sources: BTreeMap<String, SourceReport>,
    /// Files of this run with refused rows, their reasons and first examples; those of which nothing was read first.
    pub refused: Vec<RefusedFile>,
    /// Files of this run without a row.
    pub empty: Vec<EmptyFile>,
    /// Files of this run with fewer rows than before, and no new one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shrunk: Vec<ShrunkFile>,
    /// Days of the last two months that look incomplete.
    pub incomplete: Vec<IncompleteDays>,
    /// Rows of the whole lake by outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Rows of the whole lake by outcome and reason.
    pub reasons: BTreeMap<String, u64>,
    /// Views of sites and months with both jobs and summaries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overlaps: Vec<OverlapReport>,
    /// Views of sites and months with summaries of several kinds, all of which count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub summary_kinds: Vec<SummaryKindsReport>,
    /// Jobs that two files contain with other times or another cluster, and that `copied_jobs` keeps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copied_jobs: Vec<CopiedReport>,
    /// Jobs that two files seem to contain, too few of them or in dialects too different to be certain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub possible_copies: Vec<CopiedReport>,
    /// Jobs that files of two sites have both.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shared_jobs: Vec<SharedJobs>,
    /// Jobs whose accepted rows have less than rows that they replaced, or that did not replace them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reduced_jobs: Vec<ReducedReport>,
    /// Jobs that are there twice because their start moved while they ran.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moved_starts: Vec<MovedReport>,
    /// Corrections that match nothing, by id.
    pub unmatched_corrections: Vec<String>,
    /// Jobs of the months this run built, by policy that charges for jobs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<PolicyReport>,
    /// Policies whose text changed and whose version did not, so that charges of past months are others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edited_policies: Vec<EditedPolicy>,
    /// Windows of reservations of the whole lake, if a policy charges for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reservations: Option<ReservationReport>,
    /// What corrections add in these months whose charge under a policy is unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unpriced_corrections: Vec<UnpricedCorrection>,
    /// Jobs of the days this run computed that the fairshare of a cluster does not count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fairshare_uncounted: Vec<UncountedReport>,
    /// What was swept for `[overhead]`, if the pipeline has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<OverheadReport>,
    /// Records of the partitions built, by benchmark and where its value came from; `none` without any value.
    pub benchmarks: BTreeMap<String, BTreeMap<String, u64>>,
    /// What other benchmarks than before made of work that was published.
    pub recomputed: Vec<Recomputed>,
    /// What other tables of energy than before made of energy and carbon that were published.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recomputed_energy: Vec<RecomputedEnergy>,
    /// Tables of energy that state nothing of sites of the lake, and have rows of other sites or none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub energy_table_gaps: Vec<EnergyTableGap>,
    /// Rows of the energy table of nodes that state other cores than the last listings of these nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub energy_core_gaps: Vec<EnergyCoreGap>,
    /// Files published.
    pub written: Vec<String>,
    /// Files taken away.
    pub removed: Vec<String>,
    /// Files that were built and found unchanged.
    pub unchanged_n: u64,
    /// BLAKE3 of the last page of `runs`, which stands for all that is published; empty while there is none.
    pub runs_head: String,
    /// Wall-clock seconds by phase.
    pub phases: BTreeMap<String, f64>,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Snapshots that hold names which are withheld from this run on.
    #[serde(skip)]
    pub(crate) former_snapshots: FormerSnapshots,
    /// Whether the pipeline withholds names: what the lake keeps of this report must have none.
    #[serde(skip)]
    pub are_names_withheld: bool,
}

impl RunReport {
    /// Of a run that has not begun.
    #[must_use]
    pub fn new(plan: &Plan, options: &RunOptions) -> Self {
        Self {
            identity: RunIdentity::begin(),
            pipeline: plan.name.clone(),
            output: without_passwords(options.out.as_ref().unwrap_or(&plan.output)).into_owned(),
            gridtally_version: env!("CARGO_PKG_VERSION").to_owned(),
            are_names_withheld: plan.privacy.is_some(),
            ..Self::default()
        }
    }

    /// Of a run that failed before its pipeline could be read: the file stands for its name.
    #[must_use]
    pub fn of_file(file: &str) -> Self {
        Self {
            identity: RunIdentity::begin(),
            pipeline: file.to_owned(),
            gridtally_version: env!("CARGO_PKG_VERSION").to_owned(),
            ..Self::default()
        }
    }

    pub(crate) fn find(&mut self, store: Option<&Store>, files: usize) {
        if let Some(store) = store {
            store.url().clone_into(&mut self.output);
        }
        self.files_n = count_u64(files);
    }

    /// Why the run failed.
    pub fn fail(&mut self, error: &Error) {
        self.status = Status::Failed;
        self.error = Some(Failure::of(error));
    }

    pub(crate) fn found(&mut self, findings: Findings) {
        self.read_outcomes = findings.outcomes;
        self.refused = findings.refused;
        self.empty = findings.empty;
        self.shrunk = findings.shrunk;
    }

    pub(crate) fn read(&mut self, source: &str, file: &InputFile, rows_read: u64, rejected: u64) {
        self.files_read_n += 1;
        self.bytes_read_n += file.bytes;
        self.rows_read_n += rows_read;
        let source = self.sources.entry(source.to_owned()).or_default();
        source.files_read_n += 1;
        source.bytes_read_n += file.bytes;
        source.rows_read_n += rows_read;
        source.rejected_n += rejected;
    }

    pub(crate) fn mapped(&mut self, source: &str, mapping: &MappingCounts) {
        self.sources
            .entry(source.to_owned())
            .or_default()
            .mapping
            .merge(mapping);
    }

    pub(crate) fn looked_for_cores(&mut self, source: &str, path: &str, cores: UnknownCores) {
        let source = self.sources.entry(source.to_owned()).or_default();
        source.coreless.look(path, cores);
    }

    pub(crate) fn timed(&mut self, source: &str, times: ContradictoryTimes) {
        self.sources.entry(source.to_owned()).or_default().times.merge(times);
    }

    /// Takes the outcomes of the whole lake from the ledger.
    pub(crate) fn settle(&mut self, state: &State) {
        for (file_id, input) in state.book.inputs() {
            // Under every other name it was seen, a file is a duplicate of itself.
            let copies = count_u64(input.paths.len().less(1)) * input.rows_read;
            if copies > 0 {
                let reason = Reason::SameFile;
                *self.outcomes.entry(reason.outcome().to_string()).or_default() += copies;
                *self
                    .reasons
                    .entry(format!("{}/{reason}", reason.outcome()))
                    .or_default() += copies;
            }
            for (place, rows) in state.book.places(file_id).into_iter().flatten() {
                let reason = place.reason;
                *self.outcomes.entry(reason.outcome().to_string()).or_default() += rows;
                *self
                    .reasons
                    .entry(format!("{}/{}", reason.outcome(), reason))
                    .or_default() += rows;
            }
        }
    }

    /// Notes how long the run has taken, by its own clock.
    pub(crate) fn time_taken(&mut self) {
        self.seconds = (self.identity.clock.elapsed().as_secs_f64() * 1000.0).round() / 1000.0;
    }

    pub(crate) fn finish_unchanged(&mut self, runs_head: String) {
        self.status = Status::Unchanged;
        self.runs_head = runs_head;
        self.time_taken();
    }

    pub(crate) fn finish_dry(&mut self) {
        self.status = Status::DryRun;
        self.time_taken();
    }

    pub(crate) fn finish(&mut self, committed: &Committed) {
        self.written.clone_from(&committed.written);
        self.removed.clone_from(&committed.removed);
        self.unchanged_n = count_u64(committed.unchanged);
        self.ending.partitions = PartitionCounts {
            written_n: count_u64(committed.written.len()),
            removed_n: count_u64(committed.removed.len()),
            unchanged_n: self.unchanged_n,
        };
        let nothing = committed.written.is_empty() && committed.removed.is_empty();
        self.status = if nothing { Status::Unchanged } else { Status::Published };
    }

    /// After the commit of what was finished.
    pub(crate) fn end(&mut self, runs_head: String) {
        self.runs_head = runs_head;
        self.time_taken();
    }

    /// What a person must know of the inputs, in words.
    pub(crate) fn warnings_text(&self) -> String {
        copied_text("counted twice", &self.copied_jobs)
            + &shared_text(&self.shared_jobs)
            + &copied_text("perhaps counted twice", &self.possible_copies)
            + &kinds_text(&self.summary_kinds)
            + &self.sources_text()
            + &reduced_text(&self.reduced_jobs)
            + &moved_text(&self.moved_starts)
            + &refused_text(self.refused.iter(), true)
            + &empty_text(&self.empty)
            + &incomplete_text(&self.incomplete)
            + &self.former_snapshots.text()
    }

    /// A line for each source whose zone may be wrong, and for each with files without cores.
    fn sources_text(&self) -> String {
        let mut text = String::new();
        for (name, source) in &self.sources {
            if !source.times.is_empty() {
                let _ = writeln!(text, "  warning: {}", source.times.warning(name));
            }
            if !source.coreless.is_empty() {
                let _ = writeln!(text, "  warning: {}", source.coreless.warning(name));
            }
        }
        text
    }

    /// What this run read, in words.
    fn read_text(&self) -> String {
        let files = format!("this run read {} of {} input files", self.files_read_n, self.files_n);
        if self.files_read_n == 0 {
            return format!("{files}, the others are known");
        }
        let outcomes: Vec<String> = self
            .read_outcomes
            .iter()
            .map(|(outcome, rows)| format!("{rows} {outcome}"))
            .collect();
        let outcomes = if outcomes.is_empty() {
            String::new()
        } else {
            format!(": {}", outcomes.join(", "))
        };
        format!("{files}, {} rows{outcomes}", self.rows_read_n)
    }

    /// The report for people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let head = match self.status {
            Status::Published => "published",
            Status::Unchanged => "nothing new: every input is known and no byte changed",
            Status::DryRun => "dry run: nothing was published",
            Status::Failed => "failed",
        };
        let _ = writeln!(
            text,
            "{}: {head} ({}, {:.1} s)",
            self.pipeline, self.output, self.seconds
        );
        let _ = writeln!(text, "  {}", self.read_text());
        let rows: u64 = self.outcomes.values().sum();
        let _ = writeln!(
            text,
            "  the lake {} {rows} rows:",
            if self.status == Status::DryRun {
                "would hold"
            } else {
                "holds"
            }
        );
        for (reason, rows) in &self.reasons {
            let _ = writeln!(text, "  {rows:>12} {}", reason.replace('/', ": "));
        }
        for (name, source) in &self.sources {
            let mapping = &source.mapping;
            let of_site = "unmapped, so that the site of the record holds where it states one:";
            for (what, rules, before, unknown) in [
                ("VO", &mapping.vo_rules, "no VO known for", &mapping.vo_unmapped),
                ("site", &mapping.site_rules, of_site, &mapping.site_unmapped),
            ] {
                if rules.is_empty() {
                    continue;
                }
                let counts = |counts: &BTreeMap<String, u64>| {
                    let counts: Vec<String> = counts.iter().map(|(rule, n)| format!("{rule} {n}")).collect();
                    counts.join(", ")
                };
                let _ = writeln!(text, "  {name}: {what} by {}", counts(rules));
                if !unknown.is_empty() {
                    let _ = writeln!(text, "  {name}: {before} {}", counts(&commonest(unknown)));
                }
            }
        }
        for (benchmark, origins) in &self.benchmarks {
            let counts: Vec<String> = origins.iter().map(|(origin, n)| format!("{origin} {n}")).collect();
            let what = if benchmark == "none" { "no benchmark" } else { benchmark };
            let counts = if benchmark == "none" {
                counts.join("").replace("none ", "")
            } else {
                counts.join(", ")
            };
            let _ = writeln!(text, "  records by {what}: {counts}");
        }
        for month in &self.recomputed {
            let _ = writeln!(text, "  {}", month.text());
        }
        for month in &self.recomputed_energy {
            let _ = writeln!(text, "  {}", month.text());
        }
        for gap in &self.energy_table_gaps {
            let _ = writeln!(text, "  [energy] {}", gap.text());
        }
        for gap in &self.energy_core_gaps {
            let _ = writeln!(text, "  [energy] {}", gap.text());
        }
        if !self.unmatched_corrections.is_empty() {
            let ids = self.unmatched_corrections.join(", ");
            let _ = writeln!(text, "  corrections that match nothing: {ids}");
        }
        for policy in &self.policies {
            let _ = writeln!(text, "  {}", policy.text());
        }
        for policy in &self.edited_policies {
            let _ = writeln!(text, "  {}", policy.text());
        }
        if let Some(reservations) = &self.reservations {
            let _ = writeln!(text, "  {}", reservations.text());
        }
        if let Some(overhead) = self.overhead.as_ref().filter(|overhead| overhead.has_changes()) {
            text.push_str(&overhead.text());
        }
        text.push_str(&shrunk_text(&self.shrunk));
        text.push_str(&self.warnings_text());
        text.push_str(&self.files_text());
        text
    }

    /// What was published, in words.
    fn files_text(&self) -> String {
        let mut text = String::new();
        if self.status == Status::Published {
            let _ = writeln!(
                text,
                "  {} files written, {} removed, {} unchanged",
                self.written.len(),
                self.removed.len(),
                self.unchanged_n
            );
        }
        if !self.runs_head.is_empty() {
            let _ = writeln!(text, "  head of runs: {}", self.runs_head);
        }
        text
    }
}
