//! `gridtally work`

use std::path::PathBuf;

use tracing::{info, warn};

use super::output;
use super::reading::reading;
use super::selection::{Finest, SelectionArgs};
use crate::compat::{PeerDimension, PeerMode, PeerReportQuestion, remarks, report};
use crate::diagnostics::Problems;
use crate::error::{Error, Kind, Result};
use crate::reference::benchmark::BenchmarkTable;
use crate::reference::site_rename::SiteRenames;
use crate::report::lake::Lake;
use crate::report::render::{TableFormat, render};
use crate::store::StatePart;

/// What others would have published of a lake's jobs, and the difference to their exact work.
///
/// Modes, for `--as`:
///
/// * `native`: exact work of each job, added up and rounded nowhere.
///
/// * `apel`: benchmarks of three decimals, one for each job (HEPscore23, else HEPSPEC06, else SI00); work is rounded half
///   up once for each group of equal users, hosts, benchmark, nodes and cores.
///
/// * `apel-pre-2.3`: the same by a server before 2.3.0, which divided every benchmark but HEPSPEC06 by 250.
///
/// * `gracc`: the unweighted mean of the distinct benchmarks of a site, VO, user and number of cores, 12 when none is known
///   or it is 200 and more (then the site's own in `--site-values`, if there is one); seconds and work are cut off.
///
/// * `auditor`: work is rounded to whole seconds for each job and then added up.
///
/// Jobs belong to the UTC month of their end. A job's benchmark is the one its record states, else the one the pipeline
/// scales it by; exact work is by the pipeline's values alone. Work is in seconds of HEPSPEC06 or HEPscore23; SI00 counts as
/// 1/250 of HEPSPEC06.
/// `normalised_*` is what the mode publishes, `native_*` the exact work of the same jobs, and wall time is times cores
/// only in `core_wall`. Two efficiencies, jobs of unknown cores counted as one core: EGI's is normalised CPU over
/// normalised core wall time, WLCG's is CPU time over core wall time, not normalised.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  What APEL's server makes of the lake, by site, month, VO and benchmark:
    gridtally work out --as apel

  Its rows one by one, for a spreadsheet:
    gridtally work out --as apel --by all --format csv

  What OSG's exporter would send for two VOs:
    gridtally work out --as gracc --vo atlas --vo cms --rename renames.csv

Columns of --rename: site,vo,to_site; an empty or * cell matches anything, the first match wins.
--site-values is a table as `benchmarks` of the pipeline file; its rows for whole sites count.")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    out: String,

    /// Whose rules: native, apel, apel-pre-2.3, gracc, auditor.
    #[arg(long = "as", value_name = "MODE", value_parser = PeerMode::parse)]
    mode: PeerMode,

    /// What is distinguished besides site and month: `all`, or any of `vo`, `vo_group`, `vo_role`, `global_user`,
    /// `submit_host`, `infrastructure`, `benchmark`, `benchmark_per_core`, `alloc_node_n`, `alloc_core_n`.
    #[arg(long, value_name = "COLUMN,...")]
    by: Option<String>,

    #[command(flatten)]
    selection: SelectionArgs,

    /// Table of sites that are published under another name (only `gracc` has such).
    #[arg(long, value_name = "FILE")]
    rename: Option<PathBuf>,

    /// Table of benchmarks of whole sites, for values of 200 and more (only `gracc` distrusts such).
    #[arg(long, value_name = "FILE")]
    site_values: Option<PathBuf>,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: TableFormat,
}

pub(super) fn run(args: &Args) -> Result<()> {
    reading(&[&args.out], StatePart::Published, || answer(args))
}

fn answer(args: &Args) -> Result<()> {
    let usage = |why: String| Error::new(Kind::Usage, why);
    let of_gracc = [("rename", &args.rename), ("site-values", &args.site_values)];
    if let Some((option, _)) = of_gracc
        .iter()
        .find(|(_, given)| given.is_some() && args.mode != PeerMode::Gracc)
    {
        return Err(usage(format!("--{option} does nothing for {}", args.mode.as_str())));
    }
    let by = match args.by.as_deref() {
        None => None,
        Some("all") => Some(PeerDimension::all()),
        Some(list) => {
            let columns = list.split(',').map(|name| PeerDimension::parse(name.trim()));
            Some(
                columns
                    .collect::<Result<Vec<_>, String>>()
                    .map_err(|why| usage(format!("--by: {why}")))?,
            )
        }
    };
    let mut problems = Problems::default();
    let renames = args.rename.as_ref().map_or_else(SiteRenames::default, |path| {
        SiteRenames::load(path, &path.to_string_lossy(), &mut problems)
    });
    let site_values = args
        .site_values
        .as_ref()
        .map(|path| BenchmarkTable::load(path, &path.to_string_lossy(), None, &mut problems));
    for remark in problems.finish()? {
        warn!("{remark}");
    }
    let finest = if matches!(args.mode, PeerMode::Apel | PeerMode::ApelPre23) {
        Finest::Month("APEL's server rounds and replaces what it has of a month")
    } else {
        Finest::Day
    };
    let selection = args.selection.of(&Lake::open(&args.out)?, finest)?;
    let question = PeerReportQuestion {
        mode: args.mode,
        site_values: site_values.as_ref(),
        by,
        selection: &selection,
        renames: &renames,
    };
    let report = report(&args.out, &question)?;
    if !matches!(args.format, TableFormat::Table | TableFormat::Json) {
        for remark in remarks(&report) {
            info!("{remark}");
        }
    }
    match args.format {
        TableFormat::Table => output::text(&report.text()),
        TableFormat::Json => output::json(&report.json()),
        TableFormat::Csv => output::data(&report.csv()?),
        format => output::data(&render(&report.table(), format)?),
    }
}
