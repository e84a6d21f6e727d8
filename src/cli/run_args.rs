//! What `run` and `merge` have in common: options of a run that publishes, and how such a run ends.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tracing::{info, warn};

use super::formats::ReportFormat;
use super::memory_size::{self, MemorySize};
use super::run_watch::{RunJson, RunWatch, report_of};
use super::unchanged_code::{self, UnchangedCode};
use super::wait::WaitArgs;
use super::{output, signals, stopped};
use crate::config::Plan;
use crate::error::Result;
use crate::monitor::exposition::MetricLabel;
use crate::monitor::incomplete::incomplete_days;
use crate::monitor::lineage::{LineageRun, LineageSettings, Variables};
use crate::monitor::textfile::Textfile;
use crate::report::completeness::of_last_months;
use crate::report::lake::Lake;
use crate::run::RunOptions;
use crate::run::incomplete_days::IncompleteDays;
use crate::run::run_report::RunReport;
use crate::runtime::clock;
use crate::runtime::interruption;
use crate::runtime::memory_limit::limit_memory;
use crate::time::month::date_of;

/// Options of a run that publishes.
#[derive(Debug, clap::Args)]
pub(super) struct RunArgs {
    /// Folder or URL to write to: the lake, in place of the pipeline's `output`; a relative path starts at the working directory.
    #[arg(long, value_name = "URL", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    out: Option<String>,

    /// Read and check everything, publish nothing.
    #[arg(long)]
    dry_run: bool,

    /// Format of the report on stdout; as JSON it is one line, also of a run that fails.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    report: ReportFormat,

    /// Print a summary as JSON, in one line: the last one of stdout, also of a run that fails. Its fields are some of those of
    /// `--report json`, by the same names; none of them grows with the files.
    #[arg(long, conflicts_with = "report")]
    summary_json: bool,

    /// Exit code of a run that changes nothing; 0 without it. Codes that mean something else are refused: 0, 1, 2, 64 to 78,
    /// 99, and 126 and more.
    #[arg(long, value_name = "CODE", value_parser = unchanged_code::parse)]
    exit_code_if_unchanged: Option<UnchangedCode>,

    /// File of metrics for the textfile collector of `node_exporter`, such as `gridtally.prom` in its folder. It is replaced when
    /// the run ends, also when it fails.
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    textfile: Option<PathBuf>,

    /// Label of all these metrics, such as pipeline=zoo: files of several pipelines that one `node_exporter` reads need one. May
    /// be repeated.
    #[arg(long = "textfile-label", value_name = "NAME=VALUE", requires = "textfile", value_parser = MetricLabel::parse)]
    textfile_labels: Vec<MetricLabel>,

    /// Send lineage events (`OpenLineage`) of the start and the end of the run: to a file, which is extended by a line for each,
    /// or to a server by its URL. Without it the variables `OPENLINEAGE_*` decide. An event that cannot be sent is a warning.
    #[arg(long, value_name = "PLACE", conflicts_with = "dry_run")]
    openlineage: Option<String>,

    /// Threads to parse with; one per core if not given. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = threads)]
    threads: Option<usize>,

    /// Most memory of the run, heap and stacks, such as 2G; 256M is the least. The system enforces it (Linux): a run that
    /// needs more ends with 71, and publishes nothing but what it had committed before. A smaller share of it keeps records
    /// before they go to a temporary file. Results do not depend on it.
    #[arg(long, value_name = "SIZE", value_parser = memory_size::parse)]
    max_memory: Option<MemorySize>,

    #[command(flatten)]
    wait: WaitArgs,
}

/// A number of threads.
pub(super) fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=1024) => Ok(n),
        _ => Err("a number from 1 to 1024 is needed".to_owned()),
    }
}

/// What a command does with a pipeline once everything else is prepared.
pub(super) trait RunSteps {
    /// The options of the run: those of the command line, and what the command adds.
    fn options(&self, options: RunOptions) -> Result<RunOptions>;

    /// Runs the pipeline.
    fn run(&self, plan: &Plan, options: &RunOptions, report: &mut RunReport) -> Result<()>;
}

impl RunArgs {
    fn options(&self) -> RunOptions {
        RunOptions {
            out: self.out.clone(),
            dry_run: self.dry_run,
            threads: self.threads,
            memory_byte_n: self.max_memory.map(MemorySize::of_records),
            merged_at_once: self.max_memory.map(MemorySize::merged_at_once),
            wait: self.wait.or(0),
            ..RunOptions::default()
        }
    }

    /// Threads, where they are given.
    pub(super) fn threads(&self) -> Option<usize> {
        self.threads
    }

    /// Most memory, where it is given.
    pub(super) fn max_memory(&self) -> Option<MemorySize> {
        self.max_memory
    }

    /// Where lineage events go, if anywhere; those of a run that publishes nothing go nowhere.
    fn lineage(&self) -> Option<LineageRun> {
        if self.dry_run {
            return None;
        }
        // Fallback: no variable of these has a name that is not UTF-8.
        let stated = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        let stated = stated.filter(|(name, _)| name.starts_with("OPENLINEAGE"));
        let variables: Variables = stated
            .map(|(name, value)| (name, value.to_string_lossy().into_owned()))
            .collect();
        let choice = LineageSettings::read(self.openlineage.as_deref(), &variables);
        for warning in &choice.warnings {
            warn!("{warning}");
        }
        choice.settings.map(LineageRun::new)
    }

    /// What is made of the run when it ends.
    ///
    /// # Errors
    /// [`crate::error::Kind::Usage`] when the metrics cannot have the labels that are given.
    fn watch(&self) -> Result<RunWatch> {
        let textfile = self.textfile.clone();
        let textfile = textfile.map(|path| Textfile::new(path, self.textfile_labels.clone()));
        Ok(RunWatch {
            json: match (self.report, self.summary_json) {
                (ReportFormat::Json, _) => RunJson::Report,
                (ReportFormat::Text, true) => RunJson::Summary,
                (ReportFormat::Text, false) => RunJson::None,
            },
            textfile: textfile.transpose()?,
            lineage: self.lineage(),
            unchanged: self.exit_code_if_unchanged,
            is_noted: !self.dry_run,
        })
    }
}

/// Runs a pipeline and reports how it ended, however that is.
pub(super) fn execute(args: &RunArgs, pipeline: &Path, steps: &dyn RunSteps) -> Result<ExitCode> {
    let mut report = RunReport::of_file(&pipeline.to_string_lossy());
    let mut watch = args.watch()?;
    signals::at_end(end_by_signal(&watch, &report), watch.patience());
    let ended = stopped::whole(|| attempt(args, pipeline, steps, &mut watch, &mut report));
    signals::no_end();
    watch.end(&mut report, &ended);
    if ended.is_ok() {
        let text = report.text();
        match args.report {
            ReportFormat::Text => output::text(&text)?,
            ReportFormat::Json => info!("{text}"),
        }
    }
    watch.print(&report)?;
    let exit_code = watch.exit_code(&report, &ended);
    ended.map(|()| ExitCode::from(exit_code))
}

/// What is done when a signal ends the run, as far as it is known now.
fn end_by_signal(watch: &RunWatch, report: &RunReport) -> signals::End {
    let (mut watch, mut report) = (watch.clone(), report.clone());
    Box::new(move |why| watch.end_by_signal(&mut report, why))
}

fn attempt(
    args: &RunArgs,
    pipeline: &Path,
    steps: &dyn RunSteps,
    watch: &mut RunWatch,
    report: &mut RunReport,
) -> Result<()> {
    let options = steps.options(args.options())?;
    if let Some(MemorySize(bytes)) = args.max_memory {
        limit_memory(bytes)?;
    }
    let (plan, warnings) = Plan::load(pipeline)?;
    for warning in &warnings {
        warn!("{warning}");
    }
    *report = report_of(&plan, &options, report);
    watch.hold_files_apart(&plan, &options)?;
    watch.begin(&plan, &options, report);
    signals::at_end(end_by_signal(watch, report), watch.patience());
    let ended = steps.run(&plan, &options, report);
    if ended.is_ok() && !options.dry_run {
        // A run that was published has not failed because this could not be looked at.
        match incomplete(&report.output) {
            Ok(days) => report.incomplete = days,
            Err(why) => warn!("whether days are missing could not be looked at: {why}"),
        }
    }
    if report.written.is_empty() {
        return ended.map_err(|why| {
            why.of_full_disk(&report.output)
                .of_state(interruption::standing_of_failure())
        });
    }
    // It was published, and what failed came after.
    ended
}

/// Days of the last months that look incomplete. Jobs and summaries of the future are a warning.
fn incomplete(lake: &str) -> Result<Vec<IncompleteDays>> {
    let found = of_last_months(&Lake::open(lake)?, clock::now_ms())?;
    if let Some(date) = found.last_future_day.and_then(date_of) {
        let job_n = found.future_job_n;
        warn!(
            "jobs that end in the future: {job_n}, the last on {date}: look at the clocks or the zone of their source"
        );
    }
    let months = &found.future_summary_months;
    if let (Some(first), Some(last)) = (months.first(), months.last()) {
        let span = if first == last {
            first.to_string()
        } else {
            format!("{first} to {last}")
        };
        warn!("summaries of months in the future: {span}: look at the messages and clocks of their sender");
    }
    Ok(found.incomplete.into_iter().map(incomplete_days).collect())
}
