//! `gridtally reconcile`

use super::output;
use super::selection::SelectionArgs;
use crate::error::{Error, Kind, Result};
use crate::report::reconcile::compare::compare;
use crate::report::reconcile::side::Side;
use crate::report::render::{TableFormat, render};
use crate::report::work_scale::Scale;

/// Compare two accounts of the same usage by site, VO and month, and say why they differ.
///
/// Either side is a lake, one source of a lake, or APEL messages (a file or a folder): jobs, summaries, normalised
/// summaries or sync records. Each difference gets the cause its numbers prove: missing jobs, another factor, a factor of
/// another month, the 250 between SI00 and HEPSPEC06, months cut in another zone, double counting, letter case of names,
/// another name, wall time times cores, hours for seconds, stale rows. What no rule proves is called unexplained.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  Does APEL have what we have?
    gridtally reconcile out received.msg --from 2026-03 --to 2026-03

  Two sources of one lake, sums within half a percent, as a page:
    gridtally reconcile out out --source-a gratia --source-b apel --tolerance 0.5 --format html > difference.html")]
pub(super) struct Args {
    /// The first account: a lake, or messages.
    a: String,

    /// The second account.
    b: String,

    /// Only this source of the first lake.
    #[arg(long, value_name = "NAME")]
    source_a: Option<String>,

    /// Only this source of the second lake.
    #[arg(long, value_name = "NAME")]
    source_b: Option<String>,

    #[command(flatten)]
    selection: SelectionArgs,

    /// Sums that differ by no more are the same, in percent of the larger.
    #[arg(long, value_name = "PERCENT", default_value = "0", value_parser = percent_e6)]
    tolerance: i128,

    /// Benchmark in which work is compared.
    #[arg(long, value_name = "NAME", default_value = "hs23")]
    work: Scale,

    /// Fail (exit code 65) when anything differs.
    #[arg(long)]
    strict: bool,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: TableFormat,
}

/// A percentage in millionths of the whole.
fn percent_e6(text: &str) -> Result<i128, String> {
    let wrong = || format!("{text:?} is no percentage such as 0.5");
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = !whole.is_empty() && whole.chars().chain(fraction.chars()).all(|c| c.is_ascii_digit());
    if !is_number || fraction.len() > 4 || whole.len() > 3 {
        return Err(wrong());
    }
    let digits = format!("{whole}{fraction:0<4}");
    digits.parse().map_err(|_| wrong())
}

pub(super) fn run(args: &Args) -> Result<()> {
    let selection = args.selection.selection()?;
    let side = |path: &str, source: &Option<String>| Side::open(path, source.as_deref(), &selection, args.work);
    let (a, b) = (side(&args.a, &args.source_a)?, side(&args.b, &args.source_b)?);
    let comparison = compare(&a, &b, args.tolerance);
    output::data(&render(&comparison.table(), args.format)?)?;
    let [a, b] = &comparison.names;
    let told = format!(
        "{a} against {b}: {} of {} differ",
        comparison.differences.len(),
        comparison.compared_n
    );
    if args.strict && !comparison.differences.is_empty() {
        return Err(Error::new(Kind::Data, told));
    }
    output::people(&told);
    Ok(())
}
