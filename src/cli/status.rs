//! `gridtally status`

use std::process::ExitCode;

use super::formats::ReportFormat;
use super::reading::reading;
use super::{age, output};
use crate::error::Result;
use crate::monitor::status::{LakeStatus, StatusLevel, StatusLimits};
use crate::monitor::status_text::plugin_line;
use crate::report::lake::Lake;
use crate::runtime::clock;
use crate::store::StatePart;

/// The status of a lake: when a run last ended well, how the last one ended, missing days, silent sources.
///
/// Reads the note of the last run, the dataset `runs`, the ledger and the newest records; nothing is changed. Ages are judged
/// only where a limit is set. A last run that failed, days of the last two months that look incomplete (as in
/// `gridtally report completeness`), a silent source and records more than a day in the future are warnings.
///
/// The exit code is 0 for every lake that can be read. With --nagios it is that of a plugin: 0 OK, 1 WARNING, 2 CRITICAL,
/// 3 UNKNOWN (also where the lake cannot be read or the command line is wrong).
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  Look at a lake:
    gridtally status out

  As a check of Nagios or Icinga, for a pipeline that runs each day:
    gridtally status out --nagios --warning 26h --critical 50h --source-age 3d")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    /// Age of the last run that ended well from which the state is WARNING, such as 26h, 90m, 2d or 3600 (seconds).
    #[arg(long, value_name = "AGE", value_parser = age::parse)]
    warning: Option<i64>,

    /// The same for CRITICAL.
    #[arg(long, value_name = "AGE", value_parser = age::parse)]
    critical: Option<i64>,

    /// Age of the newest record of a source from which the source is silent.
    #[arg(long, value_name = "AGE", value_parser = age::parse)]
    source_age: Option<i64>,

    /// Print as a plugin of Nagios does, with performance data, and end with its exit code.
    #[arg(long, conflicts_with = "report")]
    nagios: bool,

    /// Format of the report on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    report: ReportFormat,
}

pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let mut level = StatusLevel::Unknown;
    let answered = reading(&[&args.lake], StatePart::Published, || {
        level = answer(args)?;
        Ok(())
    });
    match answered {
        Err(why) if args.nagios => {
            output::text(&plugin_line(StatusLevel::Unknown, &why.to_string()))?;
            Ok(ExitCode::from(StatusLevel::Unknown.exit_code()))
        }
        Err(why) => Err(why),
        Ok(()) if args.nagios => Ok(ExitCode::from(level.exit_code())),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}

fn answer(args: &Args) -> Result<StatusLevel> {
    let limits = StatusLimits {
        warning_s: args.warning,
        critical_s: args.critical,
        source_s: args.source_age,
    };
    let status = LakeStatus::read(&Lake::open(&args.lake)?, limits, clock::now_ms())?;
    match (args.nagios, args.report) {
        (true, _) => output::text(&status.nagios())?,
        (false, ReportFormat::Text) => output::text(&status.text())?,
        (false, ReportFormat::Json) => output::json_line(&status)?,
    }
    Ok(status.level)
}

/// A command line that cannot be understood, of a check: a plugin must not end with 2 then, which is CRITICAL.
pub(super) fn is_check() -> bool {
    let mut words = std::env::args_os().skip(1);
    let is_status = words.any(|word| word == "status");
    is_status && words.any(|word| word == "--nagios")
}
