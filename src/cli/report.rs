//! `gridtally report`

mod apel;
mod awards;
mod balance;
mod check_apel;
mod completeness;
mod energy;
mod fairshare;
pub(super) mod fairshare_rule;
mod federation;
mod focus;
mod gracc;
mod greendigit;
mod node_energy;
mod overhead;
pub(super) mod page_files;
pub(super) mod print;
mod receiver;
mod shares;
mod site;
mod sprio;
mod sreport;
mod sshare;
mod users;

use crate::error::Result;

/// Report from a lake in the form a federation, a portal or a board requires.
///
/// Reports read a published lake and change nothing in it, but for the book `apel --receiver` keeps of what was sent.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  The summaries and sync records of March for APEL, as files in a folder:
    gridtally report apel out --from 2026-03 --to 2026-03 --message summary-v0.4 --message sync --out outgoing

  What WLCG's portal shows of a year, next to what was pledged:
    gridtally report wlcg out --from 2025-04 --to 2026-03 --sites sites.csv --pledges pledges.csv

  A page for the board, about one site:
    gridtally report site out --site ALP-T2 --out board

  What is wrong with messages that were received, or are about to be sent:
    gridtally report check-apel spool/incoming")]
pub(super) struct Args {
    #[command(subcommand)]
    kind: ReportKind,
}

#[derive(Debug, clap::Subcommand)]
enum ReportKind {
    Apel(Box<apel::Args>),
    Awards(Box<awards::Args>),
    Balance(balance::Args),
    CheckApel(check_apel::Args),
    Egi(federation::EgiArgs),
    Energy(energy::Args),
    Wlcg(federation::WlcgArgs),
    Osg(federation::OsgArgs),
    Fairshare(Box<fairshare::Args>),
    Focus(focus::Args),
    Gracc(gracc::Args),
    Greendigit(greendigit::Args),
    NodeEnergy(node_energy::Args),
    Overhead(overhead::Args),
    Shares(Box<shares::Args>),
    Sprio(sprio::Args),
    Sreport(sreport::Args),
    Sshare(sshare::Args),
    Completeness(completeness::Args),
    Site(site::Args),
}

pub(super) fn run(args: &Args) -> Result<()> {
    match &args.kind {
        ReportKind::Apel(args) => apel::run(args),
        ReportKind::Awards(args) => awards::run(args),
        ReportKind::Balance(args) => balance::run(args),
        ReportKind::CheckApel(args) => check_apel::run(args),
        ReportKind::Energy(args) => energy::run(args),
        ReportKind::Egi(args) => federation::egi(args),
        ReportKind::Wlcg(args) => federation::wlcg(args),
        ReportKind::Osg(args) => federation::osg(args),
        ReportKind::Fairshare(args) => fairshare::run(args),
        ReportKind::Focus(args) => focus::run(args),
        ReportKind::Greendigit(args) => greendigit::run(args),
        ReportKind::Gracc(args) => gracc::run(args),
        ReportKind::NodeEnergy(args) => node_energy::run(args),
        ReportKind::Overhead(args) => overhead::run(args),
        ReportKind::Shares(args) => shares::run(args),
        ReportKind::Sprio(args) => sprio::run(args),
        ReportKind::Sreport(args) => sreport::run(args),
        ReportKind::Sshare(args) => sshare::run(args),
        ReportKind::Completeness(args) => completeness::run(args),
        ReportKind::Site(args) => site::run(args),
    }
}
