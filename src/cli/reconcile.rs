//! `gridtally reconcile`

use tracing::info;

use super::output;
use super::reading::reading;
use super::selection::{Finest, SelectionArgs};
use crate::error::{Error, Kind, Result};
use crate::report::lake::Selection;
use crate::report::reconcile::compare::{Difference, compare};
use crate::report::reconcile::difference_cause::Cause;
use crate::report::reconcile::usage_source::UsageSource;
use crate::report::render::{TableFormat, render};
use crate::report::work_scale::WorkScale;
use crate::store::StatePart;
use crate::time::DaySpan;

/// Compare two accounts of the same usage by site, VO and month, and state why they differ.
///
/// Either side is a lake, one source of a lake, or a file or folder of APEL messages (jobs, summaries, normalised
/// summaries, sync records) or of CAR XML. Each difference gets the causes its numbers prove, a row for each: the columns
/// that end in _more are by how much B is more than A because of it, and add up to the difference. Work and cores that
/// one side knows nothing of are not compared, which is reported, and have no such number. Sync records count all
/// jobs of a site and are not compared where `--vo` is given.
///
/// Where both sides hold single jobs, these are matched by identity, and causes are proven job by job: missing jobs, days and
/// input files, jobs counted twice, other versions, views, corrections, names, months, times, cores and factors. Where one
/// side has sums alone, the least set of causes that explains a difference exactly is named. What no rule proves is called
/// unexplained, with the rest in numbers. Of the sides A is the one to hold on to: a factor is stale when B kept what A changed.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  Does APEL have what we have?
    gridtally reconcile out received.msg --from 2026-03 --to 2026-03

  Two sources of one lake, sums within half a percent, as a page:
    gridtally reconcile out out --source-a gratia --source-b apel --tolerance 0.5 --format html > difference.html")]
pub(super) struct Args {
    /// The first account: a lake, messages, or CAR XML.
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

    /// Benchmark in which work is counted.
    #[arg(long, value_name = "NAME", default_value = "hs23")]
    work: WorkScale,

    /// Fail (exit code 65) when there is a finding: a difference.
    #[arg(long)]
    strict: bool,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: TableFormat,
}

/// A percentage in millionths of the whole.
pub(super) fn percent_e6(text: &str) -> Result<i128, String> {
    let wrong = || format!("{text:?} is not a percentage such as 0.5");
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = !whole.is_empty() && whole.chars().chain(fraction.chars()).all(|c| c.is_ascii_digit());
    if !is_number || fraction.len() > 4 || whole.len() > 3 {
        return Err(wrong());
    }
    let digits = format!("{whole}{fraction:0<4}");
    digits.parse().map_err(|_| wrong())
}

pub(super) fn run(args: &Args) -> Result<()> {
    reading(&[&args.a, &args.b], StatePart::Published, || answer(args))
}

fn answer(args: &Args) -> Result<()> {
    let selection = args
        .selection
        .selection(Finest::Month("accounts are compared by month, and so are the causes"))?;
    let side = |path: &str, source: &Option<String>| UsageSource::open(path, source.as_deref(), &selection, args.work);
    let (mut a, mut b) = (side(&args.a, &args.source_a)?, side(&args.b, &args.source_b)?);
    let mut known = a.known.clone();
    known.extend(&b.known);
    known.must_have(&selection, "both accounts have")?;
    let mut comparison = compare(&a, &b, args.tolerance)?;
    let is_bounded = selection.days != DaySpan::default();
    let has_other = |one: &Difference| one.has(Cause::OtherFactor);
    if is_bounded && comparison.differences.iter().any(has_other) {
        // Whether a factor is stale is seen in months that were not requested.
        let ever = Selection {
            days: DaySpan::default(),
            ..selection.clone()
        };
        let levels = |path: &str, source: &Option<String>| {
            UsageSource::open(path, source.as_deref(), &ever, args.work).map(|side| side.levels)
        };
        a.levels = levels(&args.a, &args.source_a)?;
        b.levels = levels(&args.b, &args.source_b)?;
        comparison = compare(&a, &b, args.tolerance)?;
    }
    for note in &comparison.notes {
        info!("{note}");
    }
    output::data(&render(&comparison.table(), args.format)?)?;
    let [a, b] = &comparison.names;
    let reported = format!(
        "{a} against {b}: {} of {} differ",
        comparison.differences.len(),
        comparison.compared_n
    );
    if args.strict && !comparison.differences.is_empty() {
        return Err(Error::new(Kind::Data, reported));
    }
    info!("{reported}");
    Ok(())
}
