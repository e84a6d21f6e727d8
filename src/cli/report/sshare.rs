//! `gridtally report sshare`

use tracing::info;

use super::fairshare_rule::{FairshareRuleArgs, instant, threshold};
use super::print::print;
use crate::cli::output;
use crate::cli::reading::reading;
use crate::config::fairshare_change::FairshareChange;
use crate::error::Result;
use crate::report::lake::Lake;
use crate::report::recovery::RecoveryRequest;
use crate::report::render::TableFormat;
use crate::report::sshare::{ListedUsers, Sshare, SshareColumns};
use crate::store::StatePart;

/// Print what Slurm's sshare prints, of any instant, from jobs and associations.
///
/// Usage is added up from the records of jobs under the rules of [[fairshare]] in the pipeline. Jobs that still ran when
/// they were dumped count for their time up to then. With --half-life, --decay or --algorithm it shows what another rule would
/// give, and changes nothing.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  As sshare -a -l -P, at an instant:
    gridtally report sshare out --users --long --parsable --at 2026-11-21T03:20:00Z

  What a half-life of two weeks would make of the same usage:
    gridtally report sshare out --half-life 14-00:00:00

  In how many days each account would be back at a factor of a half if it stayed idle:
    gridtally report sshare out --algorithm classic --recovery 0.5")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    /// The cluster; may be left out when there is one.
    #[arg(long)]
    cluster: Option<String>,

    /// The instant (YYYY-MM-DDThh:mm:ssZ); the end of the last job if not given.
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    at: Option<i64>,

    /// Also `NormUsage`, and `LevelFS` where the algorithm has it.
    #[arg(long, short = 'l')]
    long: bool,

    /// Name users, as sshare -a.
    #[arg(long)]
    users: bool,

    /// Columns separated by |, as sshare -P.
    #[arg(long, short = 'P', conflicts_with = "format")]
    parsable: bool,

    #[command(flatten)]
    rule: FairshareRuleArgs,

    /// Add in how many days without jobs a factor below this is back at it (a factor such as 0.5).
    #[arg(long, value_name = "FACTOR", value_parser = threshold)]
    recovery: Option<f64>,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT")]
    format: Option<TableFormat>,
}

pub(super) fn run(args: &Args) -> Result<()> {
    reading(&[&args.lake], StatePart::Published, || answer(args))
}

fn answer(args: &Args) -> Result<()> {
    let lake = Lake::open(&args.lake)?;
    let mut change = FairshareChange::default();
    args.rule.add_to(&mut change);
    let sshare = Sshare::of_lake(&lake, args.cluster.as_deref(), args.at, |plan| {
        *plan = change.applied_to(plan)?;
        Ok(())
    })?;
    let which = if args.long {
        SshareColumns::Long
    } else {
        SshareColumns::Usual
    };
    let users = if args.users {
        ListedUsers::All
    } else {
        ListedUsers::None
    };
    let sshare = match args.recovery {
        Some(threshold) => sshare.with_recovery(RecoveryRequest { threshold, users })?,
        None => sshare,
    };
    match (args.format, args.parsable) {
        (Some(format), _) => print(&sshare.table(which, users), format)?,
        (None, true) => output::text(&sshare.parsable(which, users))?,
        (None, false) => output::text(&sshare.fixed(which, users))?,
    }
    for (reason, job_n) in sshare.instant.uncounted.counts() {
        info!("{job_n} jobs are not counted: {reason}");
    }
    if !sshare.instant.unlisted_e6.is_empty() {
        info!(
            "{} associations with usage are not in the listing of associations",
            sshare.instant.unlisted_e6.len()
        );
    }
    Ok(())
}
