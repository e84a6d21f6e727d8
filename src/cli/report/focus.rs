//! `gridtally report focus`

use tracing::info;

use super::print::print;
use crate::cli::as_of::AsOfArgs;
use crate::cli::reading::reading;
use crate::cli::selection::{Finest, SelectionArgs};
use crate::error::Result;
use crate::report::charges;
use crate::report::focus::{FocusBilling, report};
use crate::report::lake::Lake;
use crate::report::render::TableFormat;
use crate::report::usage_energy;
use crate::store::StatePart;

/// Write charges in the columns of FOCUS 1.3, the `FinOps` Open Cost and Usage Specification, for those who bill.
///
/// The provider is the site, the billing account the VO (the site itself where none is known), the sub account the
/// account, the resource the cluster. A policy that counts in money (`usd`, `chf`) is billed in it. One that counts in
/// service units or core hours is priced in these as in a virtual currency, at one each, and no money is due: its
/// costs are 0 in the currency that --currency names. Of jobs only the view `batch` is reported. Where windows of
/// reservations are charged, they have lines of their own, in which `x_JobCount` counts windows. `ConsumedQuantity` is exact core
/// seconds, with parts of seconds where the lake has any; `x_GpuSeconds` are whole seconds. Energy and carbon of the same usage are in
/// columns of their own, each joule in one line; where no single line charges usage, in a line without a cost.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  A quarter in Parquet, under a policy that counts in dollars:
    gridtally report focus out --policy kennesaw-vhpc --from 2026-01 --to 2026-03 --format parquet > focus.parquet

  Service units, at a centre that would bill in euros:
    gridtally report focus out --policy csc-puhti-cpu --currency EUR > focus.csv")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    #[command(flatten)]
    as_of: AsOfArgs,

    #[command(flatten)]
    selection: SelectionArgs,

    /// Only this policy: its charges are reported, by its id or by the name that pages and errors have for it; may be given
    /// once for each pool of jobs, and of reservations.
    #[arg(long, value_name = "POLICY")]
    policy: Vec<String>,

    /// National currency (ISO 4217) of policies that do not count in money.
    #[arg(long, value_name = "CODE")]
    currency: Option<String>,

    /// Who sends the invoice; the site if not given.
    #[arg(long, value_name = "NAME")]
    issuer: Option<String>,

    /// Leave out and count what is unknown, in place of failing: jobs and parts of jobs without a charge, with their core and GPU time.
    #[arg(long)]
    leave_out: bool,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "csv")]
    format: TableFormat,
}

pub(super) fn run(args: &Args) -> Result<()> {
    reading(&[args.as_of.place(&args.lake)?], StatePart::Published, || answer(args))
}

fn answer(args: &Args) -> Result<()> {
    let lake = Lake::open(args.as_of.place(&args.lake)?)?;
    let selection = args.selection.of(&lake, Finest::Day)?;
    let charged = charges::read(&lake, &selection)?;
    charges::refuse_unknown(&charges::known_tariffs(&lake, &charged)?, &args.policy)?;
    let charged = charges::choose(charged, &args.policy)?;
    let usage = usage_energy::read(&lake, &selection)?;
    let billing = FocusBilling {
        currency: args.currency.as_deref().map(str::to_ascii_uppercase),
        issuer: args.issuer.clone(),
        is_leaving_out: args.leave_out,
    };
    let (table, unpriced) = report(&charged, &usage, &lake.zone()?, &billing)?;
    print(&table, args.format)?;
    if unpriced.sum_n > 0 {
        info!("left out: {unpriced}");
    }
    Ok(())
}
