//! The command line: one file per subcommand, and one definition for parser, help, manual and completions.

mod age;
mod as_of;
mod capacity;
mod check;
mod completions;
mod diff;
mod explain;
pub mod failure;
pub mod formats;
mod gc;
mod help;
mod init;
mod inspect;
mod log;
mod man;
mod memory_size;
mod merge;
pub mod output;
mod plan;
mod policy;
mod policy_test;
pub mod progress;
mod publication;
mod reading;
mod reconcile;
mod rehash;
mod rejects;
mod replay;
mod report;
mod run;
mod run_args;
mod run_watch;
mod schema;
mod selection;
mod shard_args;
mod signals;
mod simulate;
mod simulate_priorities;
mod simulate_window;
mod simulate_words;
mod snapshots;
mod sql;
mod status;
pub mod stopped;
mod submit;
mod summaries;
mod tag;
mod unchanged_code;
mod verify;
mod wait;
mod warnings;
mod work;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use tracing::error;

use crate::error::{Kind, Result};
use crate::monitor::status::StatusLevel;
use crate::monitor::status_text::plugin_line;
use crate::runtime::sudden_end;
use crate::sources::input::legible;

/// Where did every core-hour go, what was it worth, who pays - and prove it.
///
/// gridtally turns months of raw accounting records (Slurm sacct dumps, APEL messages, GRACC records, logs of batch
/// systems) into typed, partitioned Parquet. A pipeline file states what is read and how it is counted; see
/// `gridtally help check`.
///
/// stdout is data, stderr is people: what a command prints to stdout can be piped into the next one.
#[derive(Debug, Parser)]
#[command(name = "gridtally", version, after_long_help = help::epilogue(), subcommand_required = true,
          arg_required_else_help = true, propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Leave cells of CSV as they are that begin like a formula (=, +, -, @); otherwise a quote (') is put before them, so
    /// that no spreadsheet computes them. Numbers are always left.
    #[arg(long, global = true)]
    leave_formulas: bool,

    #[command(flatten)]
    log: log::LogOptions,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    Plan(plan::Args),
    Merge(merge::Args),
    Submit(submit::Args),
    Check(check::Args),
    Inspect(inspect::Args),
    Init(init::Args),
    Schema(schema::Args),
    Sql(sql::Args),
    Snapshots(snapshots::Args),
    Tag(tag::Args),
    Gc(gc::Args),
    Diff(diff::Args),
    Report(report::Args),
    Publication(publication::Args),
    Reconcile(reconcile::Args),
    Policy(policy::Args),
    Explain(explain::Args),
    Capacity(capacity::Args),
    Simulate(simulate::Args),
    Summaries(summaries::Args),
    Rejects(rejects::Args),
    Replay(replay::Args),
    Work(work::Args),
    Verify(verify::Args),
    Status(status::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Executes the command line; the exit code is that of the error's kind.
#[must_use]
pub fn main() -> ExitCode {
    sudden_end::watch_aborts();
    let command = match Cli::try_parse() {
        Ok(cli) => {
            cli.log.start();
            if cli.leave_formulas {
                crate::lines::leave_formulas();
            }
            cli.command
        }
        Err(stop) if stop.kind() == ErrorKind::InvalidUtf8 => {
            let odd = std::env::args_os().find(|word| word.to_str().is_none());
            // Fallback: an error of the parser that names no word is shown without one.
            let odd = odd.map(|word| legible(&word)).unwrap_or_default();
            output::stderr_line(&format!(
                "gridtally: the argument {odd} is not UTF-8, as it must be here (bytes that are not are shown as \\x..)"
            ));
            return ExitCode::from(Kind::Usage.exit_code());
        }
        Err(stop) => {
            // Help and version arrive here too, and go to stdout. A failure to print cannot be reported anywhere.
            let _ = stop.print();
            if stop.use_stderr() && status::is_check() {
                let line = plugin_line(StatusLevel::Unknown, "the command line is wrong");
                // As above.
                let _ = output::text(&line);
                return ExitCode::from(StatusLevel::Unknown.exit_code());
            }
            return ExitCode::from(if stop.use_stderr() { Kind::Usage.exit_code() } else { 0 });
        }
    };
    signals::watch();
    stopped::install_panic_hook();
    match stopped::whole(|| execute(&command)) {
        Ok(code) => code,
        Err(error) => {
            error!(exit_code = error.kind().exit_code(), "{error}");
            ExitCode::from(error.kind().exit_code())
        }
    }
}

fn execute(command: &Command) -> Result<ExitCode> {
    let done = match command {
        Command::Run(args) => return run::run(args),
        Command::Merge(args) => return merge::run(args),
        Command::Status(args) => return status::run(args),
        Command::Plan(args) => plan::run(args),
        Command::Submit(args) => submit::run(args),
        Command::Check(args) => check::run(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Init(args) => init::run(args),
        Command::Schema(args) => schema::run(args),
        Command::Sql(args) => sql::run(args),
        Command::Snapshots(args) => snapshots::run(args),
        Command::Tag(args) => tag::run(args),
        Command::Gc(args) => gc::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Report(args) => report::run(args),
        Command::Publication(args) => publication::run(args),
        Command::Reconcile(args) => reconcile::run(args),
        Command::Policy(args) => policy::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Capacity(args) => capacity::run(args),
        Command::Simulate(args) => simulate::run(args),
        Command::Summaries(args) => summaries::run(args),
        Command::Rejects(args) => rejects::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Work(args) => work::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
    };
    done.map(|()| ExitCode::SUCCESS)
}
