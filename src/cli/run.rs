//! `gridtally run`

use std::path::PathBuf;

use tracing::{info, warn};

use super::formats::ReportFormat;
use super::progress::Terminal;
use super::selection::PeriodArgs;
use super::wait::WaitArgs;
use super::{output, signals, stopped};
use crate::config::Plan;
use crate::error::Result;
use crate::report::completeness::of_last_months;
use crate::report::lake::Lake;
use crate::run::RunOptions;
use crate::run::run_report::{IncompleteDays, RunReport};
use crate::run::stages::run_into;
use crate::runtime::clock;
use crate::time::month::date_of;

/// Run a pipeline: read its sources, publish its results.
///
/// Reads every input the pipeline names, counts every row exactly once, and replaces the partitions of the output that
/// change. Running twice changes nothing; a run that was killed is finished by the next one.
///
/// With --from and --to it takes the records of some months: by the UTC month of the start (sacct, SWF) or of the end (all
/// others). The rest of the files is left for a later run.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  Run a pipeline, results where the file configures:
    gridtally run zoo.toml

  Take the records of one quarter to another place, with a report for a program:
    gridtally run zoo.toml --out s3://accounting/zoo --from 2026-01 --to 2026-03 --report json

  See what would happen:
    gridtally run zoo.toml --dry-run")]
pub(super) struct Args {
    /// The pipeline file.
    pipeline: PathBuf,

    /// Folder or URL to write to: the lake, in place of the pipeline's `output`; a relative path starts at the working directory.
    #[arg(long, value_name = "URL")]
    out: Option<String>,

    #[command(flatten)]
    period: PeriodArgs,

    /// Read and check everything, publish nothing.
    #[arg(long)]
    dry_run: bool,

    /// Format of the report on stdout; as JSON it is one line, also of a run that fails.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    report: ReportFormat,

    /// Threads to parse with; one per core if not given. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = threads)]
    threads: Option<usize>,

    #[command(flatten)]
    wait: WaitArgs,
}

fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=1024) => Ok(n),
        _ => Err("a number from 1 to 1024 is needed".to_owned()),
    }
}

impl Args {
    fn options(&self) -> Result<RunOptions> {
        let (from, to) = self.period.months("a run replaces the records of a month as a whole")?;
        Ok(RunOptions {
            out: self.out.clone(),
            from,
            to,
            dry_run: self.dry_run,
            threads: self.threads,
            wait: self.wait.or(0),
            ..RunOptions::default()
        })
    }
}

pub(super) fn run(args: &Args) -> Result<()> {
    let mut report = RunReport::of_file(&args.pipeline.to_string_lossy());
    let is_json = args.report == ReportFormat::Json;
    if is_json {
        signals::report(&report);
    }
    let reported = stopped::whole(|| attempt(args, &mut report));
    signals::no_report();
    if let Err(why) = &reported {
        report.fail(why);
    } else {
        let text = report.text();
        match args.report {
            ReportFormat::Text => output::text(&text)?,
            ReportFormat::Json => info!("{text}"),
        }
    }
    if is_json {
        output::json_line(&report)?;
    }
    reported
}

fn attempt(args: &Args, report: &mut RunReport) -> Result<()> {
    let options = args.options()?;
    let (plan, warnings) = Plan::load(&args.pipeline)?;
    for warning in &warnings {
        warn!("{warning}");
    }
    *report = RunReport::new(&plan, &options);
    if args.report == ReportFormat::Json {
        signals::report(report);
    }
    let ended = run_into(&plan, &options, &Terminal::new(), report);
    if ended.is_ok() && !options.dry_run {
        // A run that was published has not failed because this could not be looked at.
        match incomplete(&report.output) {
            Ok(days) => report.incomplete = days,
            Err(why) => warn!("whether days are missing could not be looked at: {why}"),
        }
    }
    if report.written.is_empty() {
        return ended.map_err(|why| why.of_full_disk(&report.output));
    }
    // It was published, and what failed came after.
    ended
}

/// Days of the last months that look incomplete.
fn incomplete(lake: &str) -> Result<Vec<IncompleteDays>> {
    let found = of_last_months(&Lake::open(lake)?, clock::now_ms())?.into_iter();
    let day = |day| date_of(day).map_or_else(String::new, |date| date.to_string());
    let reported = found.map(|one| IncompleteDays {
        site: one.site,
        ce: one.ce,
        finding: one.finding.as_str(),
        from: day(one.from),
        to: day(one.to),
        usual: one.usual,
        observed: one.observed,
    });
    Ok(reported.collect())
}
