//! `gridtally report sshare`

use tracing::info;

use super::print::print;
use crate::cli::output;
use crate::cli::reading::reading;
use crate::config::fairshare_plan::{DecayMode, FairsharePlan, HalfLifeSetting};
use crate::config::fairshare_spec::{ALGORITHMS, duration_s};
use crate::error::{Error, Kind, Result};
use crate::fairshare::FairshareAlgorithm;
use crate::report::lake::Lake;
use crate::report::render::TableFormat;
use crate::report::sshare::{ListedUsers, Sshare, SshareColumns};
use crate::store::StatePart;
use crate::time::instant::parse_instant_s;

/// Print what Slurm's sshare prints, of any instant, from jobs and associations.
///
/// Usage is added up from the records of jobs under the rules of [[fairshare]] in the pipeline. Jobs that still ran when
/// they were dumped count for their time up to then. With --half-life, --decay or --algorithm it shows what another rule would
/// give, and changes nothing.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  As sshare -a -l -P, at an instant:
    gridtally report sshare out --users --long --parsable --at 2026-11-21T03:20:00Z

  What a half-life of two weeks would make of the same usage:
    gridtally report sshare out --half-life 14-00:00:00")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    /// The cluster; may be left out when there is one.
    #[arg(long)]
    cluster: Option<String>,

    /// The instant (YYYY-MM-DDThh:mm:ssZ); the end of the last job if not given.
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    at: Option<i64>,

    /// Also `NormUsage`, and `LevelFS` where the algorithm has it.
    #[arg(long, short = 'l')]
    long: bool,

    /// Name users, as sshare -a.
    #[arg(long)]
    users: bool,

    /// Columns separated by |, as sshare -P.
    #[arg(long, short = 'P', conflicts_with = "format")]
    parsable: bool,

    /// Another half-life: D-HH:MM:SS or none.
    #[arg(long, value_name = "DURATION", value_parser = half_life)]
    half_life: Option<HalfLifeSetting>,

    /// Another decay: slurm-steps, continuous or halving-steps.
    #[arg(long, value_name = "WORD", value_parser = decay)]
    decay: Option<DecayMode>,

    /// Another algorithm: fair-tree, fair-tree-merged-ties, classic or depth-oblivious.
    #[arg(long, value_name = "WORD", value_parser = algorithm)]
    algorithm: Option<FairshareAlgorithm>,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT")]
    format: Option<TableFormat>,
}

fn instant(text: &str) -> Result<i64, String> {
    parse_instant_s(text).ok_or_else(|| "not an instant such as 2026-11-21T03:20:00Z".to_owned())
}

fn half_life(text: &str) -> Result<HalfLifeSetting, String> {
    if text == "none" {
        return Ok(HalfLifeSetting::None);
    }
    let seconds = duration_s(text).map(HalfLifeSetting::Seconds);
    seconds.ok_or_else(|| "not a duration such as 7-00:00:00 (D-HH:MM:SS), or none".to_owned())
}

fn decay(text: &str) -> Result<DecayMode, String> {
    word(DecayMode::WORDS, text)
}

fn algorithm(text: &str) -> Result<FairshareAlgorithm, String> {
    word(ALGORITHMS, text)
}

fn word<T: Copy>(words: &[(&str, T)], text: &str) -> Result<T, String> {
    let found = words.iter().find(|(word, _)| *word == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        format!("one of {}", names.join(", "))
    })
}

pub(super) fn run(args: &Args) -> Result<()> {
    reading(&[&args.lake], StatePart::Published, || answer(args))
}

fn answer(args: &Args) -> Result<()> {
    let lake = Lake::open(&args.lake)?;
    let sshare = Sshare::of_lake(&lake, args.cluster.as_deref(), args.at, |plan| args.change(plan))?;
    let which = if args.long {
        SshareColumns::Long
    } else {
        SshareColumns::Usual
    };
    let users = if args.users {
        ListedUsers::All
    } else {
        ListedUsers::None
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
    Ok(())
}

impl Args {
    /// Replaces what the pipeline states.
    fn change(&self, plan: &mut FairsharePlan) -> Result<()> {
        plan.half_life = self.half_life.unwrap_or(plan.half_life);
        plan.decay = self.decay.unwrap_or(plan.decay);
        plan.algorithm = self.algorithm.unwrap_or(plan.algorithm);
        let is_whole = |seconds: u32| seconds.is_multiple_of(86_400);
        match (plan.decay, plan.half_life) {
            (DecayMode::HalvingSteps, HalfLifeSetting::Seconds(seconds)) if !is_whole(seconds) => Err(Error::new(
                Kind::Usage,
                "halving steps count by whole days: choose a half-life of days",
            )),
            _ => Ok(()),
        }
    }
}
