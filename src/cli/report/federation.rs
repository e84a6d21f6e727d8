//! `gridtally report egi`, `wlcg` and `osg`

use std::path::PathBuf;

use tracing::info;

use super::print::print;
use crate::cli::as_of::AsOfArgs;
use crate::cli::output;
use crate::cli::reading::reading;
use crate::cli::selection::{Finest, SelectionArgs};
use crate::error::{Error, Kind, Result};
use crate::reference::federation_site::FederationSites;
use crate::reference::pledge::Pledges;
use crate::report::federation::{FederationUsage, gather};
use crate::report::lake::Lake;
use crate::report::render::TableFormat;
use crate::report::site_case;
use crate::report::vo_case::{VoCase, VoCaseOutcome};
use crate::report::work_scale::WorkScale;
use crate::report::{osg as osg_report, portal};
use crate::runtime::clock;
use crate::store::StatePart;

/// What these reports have in common.
#[derive(Clone, Debug, clap::Args)]
struct Common {
    /// Folder or URL results were published to.
    lake: String,

    #[command(flatten)]
    as_of: AsOfArgs,

    #[command(flatten)]
    selection: SelectionArgs,

    /// Benchmark in which work is counted; the table is named by what was found.
    #[arg(long, value_name = "NAME", default_value = "hs23")]
    work: WorkScale,

    /// Table of what the federation knows of its sites: `site,federation,country,ngi,tier,norm_factor,resources`.
    #[arg(long, value_name = "CSV")]
    sites: Option<PathBuf>,

    /// Merge VOs whose names differ in letter case alone, as APEL's server does.
    #[arg(long)]
    merge_case: bool,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: TableFormat,
}

impl Common {
    fn gather(&self, finest: Finest) -> Result<FederationUsage> {
        let lake = Lake::open(self.as_of.place(&self.lake)?)?;
        let selection = self.selection.of(&lake, finest)?;
        let mut usage = gather(&lake, &selection)?;
        let case = VoCase::find(&usage.groups);
        let outcome = if self.merge_case {
            case.merge(&mut usage.groups);
            VoCaseOutcome::Merged
        } else {
            VoCaseOutcome::KeptApart
        };
        usage.notes.extend(case.note(outcome));
        usage.notes.extend(site_case::note(&usage.groups));
        if !selection.days.is_of_months() {
            usage.notes.push(format!(
                "{}: months at the ends are cut to these days (UTC)",
                selection.days
            ));
        }
        for note in &usage.notes {
            info!("{note}");
        }
        Ok(usage)
    }

    fn sites(&self) -> Result<FederationSites> {
        let path = self.sites.as_deref();
        path.map_or_else(|| Ok(FederationSites::default()), FederationSites::load)
    }
}

/// Show usage as EGI's accounting portal does, or export it in the portal's columns.
///
/// Hours of CPU, of wall time, of wall time times processors, raw and normalised; efficiency as EGI defines it (of
/// normalised times) and as WLCG does (of raw ones). Each job counts completely in the UTC month of its end. A benchmark counts
/// with three decimals, rounded half up, as APEL's server stores it; where that changes a value, stderr reports it.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  A quarter by site, VO and month:
    gridtally report egi out --from 2026-01 --to 2026-03

  The series the portal exports, by CE:
    gridtally report egi out --series --sites sites.csv --format json")]
pub(super) struct EgiArgs {
    #[command(flatten)]
    common: Common,

    /// The columns of the portal's export, by CE, in place of its metrics.
    #[arg(long)]
    series: bool,
}

pub(super) fn egi(args: &EgiArgs) -> Result<()> {
    if args.common.sites.is_some() && !args.series {
        return Err(Error::new(Kind::Usage, "--sites does nothing without --series"));
    }
    reading(
        &[args.common.as_of.place(&args.common.lake)?],
        StatePart::Published,
        || egi_table(args),
    )
}

fn egi_table(args: &EgiArgs) -> Result<()> {
    let usage = args.common.gather(Finest::Day)?;
    let table = if args.series {
        portal::export(&usage.groups, args.common.work, &args.common.sites()?)?
    } else {
        portal::egi(&usage.groups, args.common.work)?
    };
    print(&table, args.common.format)
}

/// Show usage as WLCG's reports do: work of all cores by federation, VO and month, grid and local, next to the pledges.
///
/// A pledge is the power promised times the hours of the month; pledge years run from April to March. Each job counts completely
/// in the UTC month of its end. A benchmark counts with three decimals, rounded half up, as APEL's server stores it; where that
/// changes a value, stderr reports it.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Example:
  A pledge year:
    gridtally report wlcg out --from 2025-04 --to 2026-03 --sites sites.csv --pledges pledges.csv")]
pub(super) struct WlcgArgs {
    #[command(flatten)]
    common: Common,

    /// Table of pledges: `federation,vo,pledge_year,power`. The year is the one in which the pledge year begins.
    #[arg(long, value_name = "CSV", requires = "sites")]
    pledges: Option<PathBuf>,
}

pub(super) fn wlcg(args: &WlcgArgs) -> Result<()> {
    reading(
        &[args.common.as_of.place(&args.common.lake)?],
        StatePart::Published,
        || wlcg_table(args),
    )
}

fn wlcg_table(args: &WlcgArgs) -> Result<()> {
    let pledges = args.pledges.as_deref();
    let pledges = pledges.map_or_else(|| Ok(Pledges::default()), Pledges::load)?;
    let sites = args.common.sites()?;
    let finest = match args.pledges {
        Some(_) => Finest::Month("a pledge is the power promised times the hours of a month"),
        None => Finest::Day,
    };
    let usage = args.common.gather(finest)?;
    let table = portal::wlcg(&usage.groups, args.common.work, &sites, &pledges)?;
    print(&table, args.common.format)
}

/// Write OSG's federation report: fifteen columns by resource group, VO and month, in hours.
///
/// Each job counts completely in the UTC month of its end. A benchmark counts with three decimals, rounded half up, as APEL's
/// server stores it; where that changes a value, stderr reports it.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Example:
  The file OSG publishes, tab separated without a header:
    gridtally report osg out --from 2013-06 --to 2013-06 --sites sites.csv --summary-dat > 2013-06.summary.dat")]
pub(super) struct OsgArgs {
    #[command(flatten)]
    common: Common,

    /// Write the published form, tab separated and without a header, in place of --format.
    #[arg(long, conflicts_with = "format")]
    summary_dat: bool,

    /// Value of the column `reported_at`; now (UTC) if not given.
    #[arg(long, value_name = "TIME")]
    reported_at: Option<String>,
}

pub(super) fn osg(args: &OsgArgs) -> Result<()> {
    reading(
        &[args.common.as_of.place(&args.common.lake)?],
        StatePart::Published,
        || osg_table(args),
    )
}

fn osg_table(args: &OsgArgs) -> Result<()> {
    let sites = args.common.sites()?;
    let usage = args.common.gather(Finest::Day)?;
    let now = crate::time::instant::spaced_text(clock::now_ms());
    // Fallback: never taken, the clock has a time that can be written.
    let reported_at = args.reported_at.clone().or(now).unwrap_or_default();
    let table = osg_report::report(&usage.groups, args.common.work, &sites, &reported_at)?;
    if args.summary_dat {
        return output::text(&osg_report::summary_dat(&table));
    }
    print(&table, args.common.format)
}
