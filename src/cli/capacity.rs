//! `gridtally capacity`

use std::path::PathBuf;

use super::output;
use super::selection::{SiteArgs, day};
use crate::capacity::{CapacityQuestion, CapacityReport, ReferenceChoice, limit};
use crate::diagnostics::Problems;
use crate::error::Result;
use crate::reference::node_type::NodeTypeTable;
use crate::report::render::TableFormat;
use crate::time::Day;

/// What a site could deliver: installed capacity, the values to publish, and what its nodes must scale by.
///
/// Reads a table of node types and reports, for each site and while nothing changes: `CE_PHYSCPU`, `CE_LOGCPU`, `Cores`,
/// the mean `Benchmark`, installed capacity, `CE_SI00` and `CPUScalingReferenceSI00`; for each type its scaling factor
/// (`$cpumult`, `$wallmult`), what accounting makes of an hour on it, and time limits as the node must hold them. It
/// warns where the reference reports too much or too little.
///
/// Calculated exactly and rounded half up where printed: HEPSPEC06 to 5 decimals, SI00 to 2, factors to 4.
/// 1 HEPSPEC06 is 250 SI00 by decree; HEPSPEC06 and HEPscore23 add up one to one, as WLCG decided.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  gridtally capacity node_types.csv

  What the mean as reference would report wrongly, and limits on each type:
    gridtally capacity node_types.csv --reference mean --cpu-limit 48h --wall-limit 72h

Columns of the table (counts are of one node):
  site,cluster,node_type,node_n,physical_cpu_n,logical_cpu_n,benchmark,value_per_core,valid_from,valid_to
value_per_node may substitute for value_per_core (of a logical CPU). slot_n (job slots, if not as many as
logical CPUs), cpumult and wallmult (what the node multiplies its times by) may be added. Days are
YYYY-MM-DD, midnight UTC; valid_from is included, valid_to is not, an empty one is open.")]
pub(super) struct Args {
    /// The table of node types.
    nodes: PathBuf,

    #[command(flatten)]
    sites: SiteArgs,

    /// Only what holds on this day (YYYY-MM-DD): the nodes there are then.
    #[arg(long, value_name = "DAY", value_parser = day)]
    on: Option<Day>,

    /// Accounting reference: `slowest`, `mean`, or a number such as `1000si00` or `5.32hs06`.
    #[arg(long, value_name = "REFERENCE", default_value = "slowest", value_parser = ReferenceChoice::parse)]
    reference: ReferenceChoice,

    /// CPU time limit at the reference (`48:00:00`, `48h`).
    #[arg(long, value_name = "TIME", value_parser = limit::parse)]
    cpu_limit: Option<i64>,

    /// Wall time limit at the reference.
    #[arg(long, value_name = "TIME", value_parser = limit::parse)]
    wall_limit: Option<i64>,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = super::formats::only(super::formats::PLAIN))]
    format: TableFormat,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let mut problems = Problems::default();
    let table = NodeTypeTable::load(&args.nodes, &args.nodes.to_string_lossy(), &mut problems);
    problems.finish()?;
    let question = CapacityQuestion {
        sites: args.sites.names(),
        on: args.on,
        reference: args.reference,
        cpu_limit_s: args.cpu_limit,
        wall_limit_s: args.wall_limit,
    };
    let report = CapacityReport::new(&table, &question)?;
    match args.format {
        TableFormat::Table => output::text(&report.text()),
        TableFormat::Json => output::json(&report),
        // What else there is was refused with the command line.
        _ => output::data(&report.csv()?),
    }
}
