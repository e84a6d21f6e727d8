//! `gridtally report sprio`

use tracing::info;

use super::print::print;
use crate::cli::as_of::AsOfArgs;
use crate::cli::reading::reading;
use crate::error::Result;
use crate::report::lake::Lake;
use crate::report::render::TableFormat;
use crate::report::sprio::{PriorityForm, Sprio};
use crate::report::sshare::ListedUsers;
use crate::store::StatePart;

/// Print the priorities of waiting jobs and their terms, as Slurm's sprio, computed again.
///
/// The jobs are those of the newest listing of scontrol show job; the lake also needs listings of partitions and nodes, QOS
/// and settings, such as slurm.conf. Fairshare is that of `report sshare` at the listing. Held jobs have no priority.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  As sprio -l:
    gridtally report sprio out --users

  Fairshare and age alone, up to 20 000 000 and 10 000 000 points:
    gridtally report sprio out --two-term")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    #[command(flatten)]
    as_of: AsOfArgs,

    /// The cluster; may be left out when there is one.
    #[arg(long)]
    cluster: Option<String>,

    /// Fairshare and age alone, as FASRC describes its priorities.
    #[arg(long)]
    two_term: bool,

    /// Name users.
    #[arg(long)]
    users: bool,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: TableFormat,
}

pub(super) fn run(args: &Args) -> Result<()> {
    reading(&[args.as_of.place(&args.lake)?], StatePart::Published, || answer(args))
}

fn answer(args: &Args) -> Result<()> {
    let lake = Lake::open(args.as_of.place(&args.lake)?)?;
    let sprio = Sprio::of_lake(&lake, args.cluster.as_deref())?;
    let form = if args.two_term {
        PriorityForm::TwoTerm
    } else {
        PriorityForm::Multifactor
    };
    let users = if args.users {
        ListedUsers::All
    } else {
        ListedUsers::None
    };
    print(&sprio.table(form, users)?, args.format)?;
    if !sprio.has_association_priorities {
        info!("PriorityWeightAssoc has a weight, and no listing of associations states priorities: the term is 0");
    }
    if sprio.has_size_weight && form == PriorityForm::Multifactor {
        info!(
            "JOBSIZE is of requested CPUs: that of a job that takes whole nodes (--exclusive, OverSubscribe=EXCLUSIVE) is of all \
             CPUs of the nodes planned for it, which the lake does not have"
        );
    }
    if sprio.without_priority_n > 0 {
        info!(
            "{} waiting jobs have no priority: they are held, or their age does not count yet",
            sprio.without_priority_n
        );
    }
    if let Some(job) = sprio.unlisted.first() {
        info!(
            "{} waiting jobs are of no listed association (first: job {job})",
            sprio.unlisted.len()
        );
    }
    Ok(())
}
