//! `gridtally report sreport`

use clap::ValueEnum;
use clap::builder::PossibleValue;
use tracing::info;

use super::print::print;
use crate::cli::as_of::AsOfArgs;
use crate::cli::reading::reading;
use crate::cli::selection::{Finest, SelectionArgs};
use crate::error::{Error, Kind, Result};
use crate::report::lake::Lake;
use crate::report::render::TableFormat;
use crate::report::sreport::answer::{SreportKind, SreportRequest};
use crate::report::sreport::{SreportPeriod, TimeUnit, answer};
use crate::store::StatePart;

/// Print Slurm's familiar tables, with sreport's numbers to the printed digit.
///
/// They are made from the records of jobs, cut to the period whatever the lake's attribution, after signed corrections.
/// Lines of accounts hold those below them, where listings of associations contain the tree. Idle time of reservations goes
/// to those who might have used it, as in Slurm, where listings contain their windows. A measure that no record contains, as APEL's contain nothing
/// about GPUs, is left empty. Tables with names of people need --users.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  What accounts and their users had in October, in seconds:
    gridtally report sreport out --from 2026-10 --to 2026-10 --time seconds --users

  Who used most GPUs on one day:
    gridtally report sreport out top-usage --users --tres gres/gpu --start 2026-10-25T00:00 --end 2026-10-26T00:00

  What of the cluster was allocated, down and idle:
    gridtally report sreport out utilization --from 2026-10 --to 2026-10 --time hourper")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    #[command(flatten)]
    as_of: AsOfArgs,

    /// Which table, also by sreport's own name; account-utilization, or with --users account-utilization-by-user.
    #[arg(value_name = "TABLE", ignore_case = true)]
    table: Option<SreportKind>,

    #[command(flatten)]
    selection: SelectionArgs,

    /// First hour, in place of --from: local time of the lake's zone (YYYY-MM-DDThh:00).
    #[arg(long, value_name = "TIME", requires = "end", conflicts_with_all = ["from", "to"])]
    start: Option<String>,

    /// End of the last hour.
    #[arg(long, value_name = "TIME", requires = "start")]
    end: Option<String>,

    /// Unit of the usage.
    #[arg(long, value_name = "UNIT", default_value = "minutes", ignore_case = true)]
    time: TimeUnit,

    /// Only this trackable resource (cpu, mem, node, billing, gres/gpu, gres/gpu:TYPE); may be given several times.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    tres: Vec<String>,

    /// Name users.
    #[arg(long)]
    users: bool,

    /// How many are listed: lines of top-usage, 10 if not given.
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    /// sizes-by-account: numbers of cores at which the next column begins; 50,250,500,1000 if not given.
    #[arg(long, value_name = "N,N", value_delimiter = ',')]
    grouping: Option<Vec<i64>>,

    /// sizes-by-account: numbers of jobs in place of their time.
    #[arg(long)]
    job_count: bool,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: TableFormat,
}

impl Args {
    /// Refuses options that a table does not read.
    fn refuse_idle(&self, kind: SreportKind) -> Result<()> {
        let is_sizes = kind == SreportKind::SizesByAccount;
        let idle = [
            ("users", self.users && !kind.names_people()),
            ("top", self.top.is_some() && kind != SreportKind::TopUsage),
            ("grouping", self.grouping.is_some() && !is_sizes),
            ("job-count", self.job_count && !is_sizes),
        ];
        let Some((option, _)) = idle.into_iter().find(|(_, is_idle)| *is_idle) else {
            return Ok(());
        };
        let table = kind.to_possible_value();
        let table = table.as_ref().map_or("this table", PossibleValue::get_name);
        Err(Error::new(Kind::Usage, format!("--{option} does nothing for {table}")))
    }
}

pub(super) fn run(args: &Args) -> Result<()> {
    reading(&[args.as_of.place(&args.lake)?], StatePart::Published, || {
        print_tables(args)
    })
}

fn print_tables(args: &Args) -> Result<()> {
    let kind = match (args.table, args.users) {
        (Some(kind), false) if kind.names_people() => {
            return Err(Error::new(
                Kind::Usage,
                "this table names people: request it with --users",
            ));
        }
        (Some(kind), _) => kind,
        (None, true) => SreportKind::AccountUtilizationByUser,
        (None, false) => SreportKind::AccountUtilization,
    };
    args.refuse_idle(kind)?;
    let lake = Lake::open(args.as_of.place(&args.lake)?)?;
    let selection = args.selection.of(&lake, Finest::Day)?;
    let zone = lake.zone()?;
    let period = match args.start.as_deref().zip(args.end.as_deref()) {
        Some((start, end)) => SreportPeriod::between(start, end, &zone)?,
        None => SreportPeriod::of_days(&selection, &zone),
    };
    let mut request = SreportRequest {
        unit: args.time,
        tres: args.tres.iter().cloned().collect(),
        is_job_count: args.job_count,
        ..SreportRequest::new(kind, selection, period)
    };
    if let Some(top_n) = args.top {
        request.top_n = top_n;
    }
    if let Some(edges) = &args.grouping {
        request.edges.clone_from(edges);
    }
    let answer = answer(&lake, &request)?;
    print(&answer.table, args.format)?;
    for note in &answer.notes {
        info!("{note}");
    }
    Ok(())
}
