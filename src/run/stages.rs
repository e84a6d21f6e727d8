//! One run as its stages: read what is new, merge it, attribute it, publish all of it at once or nothing.
//!
//! Each stage takes the value of the stage before and returns a value of its own type. A run that fails drops that value:
//! nothing was published then, and the lake is as before.

mod accepted;
mod context;
mod entered;
mod merge_inputs;
mod merged;
mod open_lake;
mod read_inputs;
mod scope;
mod staged;

use self::context::{RunContext, RunMonitor};
use self::open_lake::OpenLake;
use self::read_inputs::ReadInputs;
use self::scope::{RunInputs, RunScope};
use super::options::RunOptions;
use super::run_report::RunReport;
use crate::config::Plan;
use crate::error::Result;
use crate::ingest::inputs;
use crate::runtime::progress::Progress;
use crate::shard::collected::CollectedShards;
use crate::shard::list::ShardList;

/// Runs a pipeline.
///
/// # Errors
/// [`Kind::Config`] for a pipeline that cannot be executed, [`Kind::NoInput`] for a pattern without a file,
/// [`Kind::Data`] when more rows are refused than the pipeline allows (nothing is published then), [`Kind::Busy`]
/// while another run holds the lake, [`Kind::Io`], and [`Kind::Internal`] when the ledger does not close.
///
/// [`Kind::Config`]: crate::error::Kind::Config
/// [`Kind::NoInput`]: crate::error::Kind::NoInput
/// [`Kind::Data`]: crate::error::Kind::Data
/// [`Kind::Busy`]: crate::error::Kind::Busy
/// [`Kind::Io`]: crate::error::Kind::Io
/// [`Kind::Internal`]: crate::error::Kind::Internal
pub fn run(plan: &Plan, options: &RunOptions, progress: &dyn Progress) -> Result<RunReport> {
    let mut report = RunReport::new(plan, options);
    run_into(plan, options, progress, &mut report)?;
    Ok(report)
}

/// As [`run`], with a report that also shows how far a failed run came.
///
/// # Errors
/// As [`run`].
pub fn run_into(plan: &Plan, options: &RunOptions, progress: &dyn Progress, report: &mut RunReport) -> Result<()> {
    let context = RunContext::new(plan, options, progress);
    let monitor = RunMonitor::start(report);
    let found = inputs::find(plan, options.output(plan))?;
    publish(context, RunInputs { found, shards: None }, monitor)
}

/// As [`run_into`], of the files in a list, which shards have read. The months of `options` are those of the list.
///
/// # Errors
/// As [`run`], and [`Kind::Config`] when the lake changed since the list was made, so that a file has to be read that no shard
/// has read.
///
/// [`Kind::Config`]: crate::error::Kind::Config
pub fn merge_into(
    plan: &Plan,
    options: &RunOptions,
    shards: CollectedShards,
    progress: &dyn Progress,
    report: &mut RunReport,
) -> Result<()> {
    let context = RunContext::new(plan, options, progress);
    let monitor = RunMonitor::start(report);
    let found = shards.found(plan)?;
    let shards = Some(shards);
    publish(context, RunInputs { found, shards }, monitor)
}

/// The files that a run would read, shared out to at most `shard_n` shards. The lake stays as it is.
///
/// # Errors
/// As [`run`], before anything is read.
pub fn list_shards(plan: &Plan, options: &RunOptions, shard_n: u32, progress: &dyn Progress) -> Result<ShardList> {
    let options = RunOptions {
        dry_run: true,
        ..options.clone()
    };
    let context = RunContext::new(plan, &options, progress);
    let mut report = RunReport::new(plan, &options);
    let mut monitor = RunMonitor::start(&mut report);
    let found = inputs::find(plan, options.output(plan))?;
    let lake = OpenLake::open(context)?;
    let scope = RunScope::survey(context, lake, RunInputs { found, shards: None }, &mut monitor)?;
    ShardList::new(plan, context.window, &scope.found, &scope.files, shard_n)
}

/// The stages of a run, one after another.
fn publish(context: RunContext<'_>, inputs: RunInputs, mut monitor: RunMonitor<'_>) -> Result<()> {
    let lake = OpenLake::open(context)?;
    let scope = RunScope::survey(context, lake, inputs, &mut monitor)?;
    if scope.is_unchanged() {
        scope.finish_unchanged(&mut monitor);
        return Ok(());
    }
    let read = ReadInputs::read(scope, &mut monitor)?;
    let entered = read.enter(&mut monitor)?;
    let merged = entered.merge(&mut monitor)?;
    let accepted = merged.hold_limits(&mut monitor)?;
    let staged = accepted.stage(&mut monitor)?;
    staged.publish(monitor)
}
