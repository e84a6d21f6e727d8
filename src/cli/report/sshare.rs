//! `gridtally report sshare`

use tracing::info;

use super::fairshare_rule::{FairshareRuleArgs, instant, threshold};
use super::print::print;
use crate::cli::as_of::AsOfArgs;
use crate::cli::output;
use crate::cli::reading::reading;
use crate::cli::reconcile::percent_e6;
use crate::config::fairshare_change::FairshareChange;
use crate::error::{Error, Kind, Result};
use crate::fairshare::float::of_integer;
use crate::report::drift::{DriftReport, DriftRequest};
use crate::report::lake::Lake;
use crate::report::recovery::RecoveryRequest;
use crate::report::render::TableFormat;
use crate::report::sshare::{ListedUsers, Sshare, SshareColumns};
use crate::store::StatePart;
use crate::time::instant::instant_text_s;

/// One of a part, 10^-6.
const E6: f64 = 1e6;

/// Print what Slurm's sshare prints, of any instant, from jobs and associations.
///
/// Usage is added up from the records of jobs under the rules of [[fairshare]] in the pipeline. Jobs that still ran when
/// they were dumped count for their time up to then. With --half-life, --decay or --algorithm it shows what another rule would
/// give, and changes nothing. With --drift it compares usage with what Slurm itself counted, by listings of sshare or
/// `assoc_mgr` in the lake, and names the cause of each difference.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  As sshare -a -l -P, at an instant:
    gridtally report sshare out --users --long --parsable --at 2026-11-21T03:20:00Z

  What a half-life of two weeks would make of the same usage:
    gridtally report sshare out --half-life 14-00:00:00

  In how many days each account would be back at a factor of a half if it stayed idle:
    gridtally report sshare out --algorithm classic --recovery 0.5

  Whether Slurm still counts what the records hold, and why not; exit code 65 when it does not:
    gridtally report sshare out --drift --strict")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a flag for each option of sshare and of the comparison"
)]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    #[command(flatten)]
    as_of: AsOfArgs,

    /// The cluster; may be left out when there is one.
    #[arg(long)]
    cluster: Option<String>,

    /// The instant (YYYY-MM-DDThh:mm:ssZ); the end of the last job if not given, with --drift the newest listing of shares.
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    at: Option<i64>,

    /// Also `NormUsage`, `LevelFS` where the algorithm has it, `GrpTRESMins` and `TRESRunMins`; with --drift also shares and
    /// factors.
    #[arg(long, short = 'l')]
    long: bool,

    /// As --long, with `GrpTRESRaw`: decayed minutes of each resource.
    #[arg(long)]
    tres_raw: bool,

    /// Compare with what Slurm itself counted.
    #[arg(long, conflicts_with_all = ["parsable", "tres_raw"])]
    drift: bool,

    /// Sums that differ by no more are the same, in percent of the larger.
    #[arg(long, value_name = "PERCENT", value_parser = percent_e6, default_value = "0.1", requires = "drift")]
    tolerance: i128,

    /// Fail (exit code 65) when there is a finding: Slurm counts something else.
    #[arg(long, requires = "drift")]
    strict: bool,

    /// Name users, as sshare -a.
    #[arg(long)]
    users: bool,

    /// Columns separated by |, as sshare -P.
    #[arg(long, short = 'P', conflicts_with = "format")]
    parsable: bool,

    #[command(flatten)]
    rule: FairshareRuleArgs,

    /// Add in how many days without jobs a factor below this is back at it (a factor such as 0.5).
    #[arg(long, value_name = "FACTOR", value_parser = threshold, conflicts_with = "drift")]
    recovery: Option<f64>,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT")]
    format: Option<TableFormat>,
}

pub(super) fn run(args: &Args) -> Result<()> {
    reading(&[args.as_of.place(&args.lake)?], StatePart::Published, || answer(args))
}

fn answer(args: &Args) -> Result<()> {
    let lake = Lake::open(args.as_of.place(&args.lake)?)?;
    let which = match (args.tres_raw, args.long) {
        (true, _) => SshareColumns::LongWithUsed,
        (false, true) => SshareColumns::Long,
        (false, false) => SshareColumns::Usual,
    };
    let mut change = FairshareChange::default();
    args.rule.add_to(&mut change);
    if args.drift {
        return drift(args, &change, &lake, which);
    }
    let users = args.listed_users();
    let sshare = Sshare::of_lake(&lake, args.cluster.as_deref(), args.at, |plan| {
        *plan = change.applied_to(plan)?;
        Ok(())
    })?;
    let sshare = sshare.with_columns(&lake, which)?;
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
    for words in sshare.stated_operation() {
        info!("{words}");
    }
    let Some(resources) = &sshare.resources else {
        return Ok(());
    };
    for name in &resources.unknown {
        info!("the records do not hold {name} of jobs: TRESRunMins and GrpTRESRaw are without it");
    }
    if resources.unlimited_n > 0 {
        info!(
            "{} running jobs have no known time limit: TRESRunMins is without them",
            resources.unlimited_n
        );
    }
    Ok(())
}

fn drift(args: &Args, change: &FairshareChange, lake: &Lake, columns: SshareColumns) -> Result<()> {
    let request = DriftRequest {
        cluster: args.cluster.as_deref(),
        at_s: args.at,
        tolerance: of_integer(args.tolerance) / E6,
        columns,
    };
    let report = DriftReport::of_lake(lake, request, |plan| {
        *plan = change.applied_to(plan)?;
        Ok(())
    })?;
    // Fallback: people read the text format, as of other reports.
    print(
        &report.table(args.listed_users()),
        args.format.unwrap_or(TableFormat::Table),
    )?;
    if report.undated_n > 0 {
        info!(
            "{} rows of listings of shares state no instant, and are not compared",
            report.undated_n
        );
    }
    if let Some(earlier) = report.earlier_s.and_then(instant_text_s) {
        info!("the listing of {earlier} is the one before");
    } else {
        info!("there is no listing before: a second one shows more causes");
    }
    for words in &report.stated_operation {
        info!("{words}");
    }
    let counts = report.counts();
    let words: Vec<String> = counts.iter().map(|(cause, n)| format!("{cause} {n}")).collect();
    let (drift_n, counter_n) = (report.drift_n(), report.counter_n());
    info!("{drift_n} of {counter_n} counters drift: {}", words.join(", "));
    if args.strict && drift_n > 0 {
        let message = format!("{drift_n} of {counter_n} counters are not what the records come to");
        return Err(Error::new(Kind::Data, message));
    }
    Ok(())
}

impl Args {
    fn listed_users(&self) -> ListedUsers {
        if self.users {
            ListedUsers::All
        } else {
            ListedUsers::None
        }
    }
}
