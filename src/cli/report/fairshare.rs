//! `gridtally report fairshare`

use std::path::PathBuf;

use tracing::info;

use super::fairshare_rule::{FairshareRuleArgs, instant, threshold};
use super::print::print;
use crate::cli::as_of::AsOfArgs;
use crate::cli::output;
use crate::cli::reading::reading;
use crate::cli::selection::{Finest, PeriodArgs};
use crate::config::fairshare_change::FairshareChange;
use crate::config::what_if_spec;
use crate::diagnostics::Problems;
use crate::error::{Error, Kind, Result};
use crate::reference::share_change::{ShareAmount, ShareChange, ShareChangeTable};
use crate::report::lake::Lake;
use crate::report::recovery::RecoveryRequest;
use crate::report::render::{TableFormat, json, ndjson};
use crate::report::sshare::ListedUsers;
use crate::report::what_if::tables::WhatIfReader;
use crate::report::what_if::{FairshareWhatIf, WhatIfRequest, WhatIfTable};
use crate::store::StatePart;

/// What if fairshare had other rules or other shares: before and after, and who gains and who loses.
///
/// Shares, usage, factors, ranks and priority points of every account and user, from the same jobs under what the pipeline
/// states and under what is assumed; also of the waiting jobs of the newest listing, and day by day over a period. Jobs stay
/// what they were. Nothing is published or applied, and every assumption is printed, old and new.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  A lab buys nodes for 40 shares:
    gridtally report fairshare out --shares alab=+40

  Half the half-life under the classic formula, with users, as a page with charts:
    gridtally report fairshare out --half-life 3-12:00:00 --algorithm classic --users --format html > what-if.html

  What a file assumes, on every day of a quarter, for a program:
    gridtally report fairshare out --what-if cheap-gpus.toml --from 2026-04 --to 2026-06 --table days --format csv

  Shares after a purchase, as report shares computes them:
    gridtally report shares out --owners bought.csv --core-tres tres.csv --public shared --format csv > shares.csv
    gridtally report fairshare out --shares-table shares.csv

A file of --what-if has keys of [[fairshare]]: usage, decay, half_life, calc_period, calc_anchor, reset, algorithm,
dampening_factor, priority_weight, usage_factors. Its own are policy, the file of a policy that jobs are priced under, with its
options; [priority_weights] with age, association, job_size, partition and qos; [shares], such as alab = \"+40\" or
\"alab/ann\" = 3; and shares_table. Columns of a table of shares: account, shares, and as wanted user and partition.")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    #[command(flatten)]
    as_of: AsOfArgs,

    /// File of what is assumed.
    #[arg(long, value_name = "TOML")]
    what_if: Option<PathBuf>,

    #[command(flatten)]
    rule: FairshareRuleArgs,

    /// Other shares of an account (ACCOUNT=40, ACCOUNT=+40, ACCOUNT=parent) or of a user (ACCOUNT/USER=3); may be given
    /// several times.
    #[arg(long, value_name = "NAME=SHARES")]
    shares: Vec<String>,

    /// Table of other shares.
    #[arg(long, value_name = "CSV")]
    shares_table: Option<PathBuf>,

    /// The cluster; may be left out when there is one.
    #[arg(long)]
    cluster: Option<String>,

    /// The instant (YYYY-MM-DDThh:mm:ssZ); the end of the last job if not given.
    #[arg(long, value_name = "INSTANT", value_parser = instant, conflicts_with_all = ["from", "to"])]
    at: Option<i64>,

    #[command(flatten)]
    period: PeriodArgs,

    /// Add in how many days without jobs a factor below this is back at it (a factor such as 0.5).
    #[arg(long, value_name = "FACTOR", value_parser = threshold)]
    recovery: Option<f64>,

    /// Name users.
    #[arg(long)]
    users: bool,

    /// One table alone.
    #[arg(long, value_name = "TABLE")]
    table: Option<WhatIfTable>,

    /// Format on stdout. Only one --table goes into CSV or Parquet: each has columns of its own.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: TableFormat,
}

pub(super) fn run(args: &Args) -> Result<()> {
    reading(&[args.as_of.place(&args.lake)?], StatePart::Published, || answer(args))
}

fn answer(args: &Args) -> Result<()> {
    let users = if args.users {
        ListedUsers::All
    } else {
        ListedUsers::None
    };
    let request = WhatIfRequest {
        cluster: args.cluster.clone(),
        at_s: args.at,
        days: args.period.days(Finest::Day)?,
        change: args.change()?,
        recovery: args.recovery.map(|threshold| RecoveryRequest { threshold, users }),
    };
    let has_period = request.days.from.is_some() || request.days.to.is_some();
    if !has_period && matches!(args.table, Some(WhatIfTable::Period | WhatIfTable::Days)) {
        let message = "the table is of a period: state --from or --to";
        return Err(Error::new(Kind::Usage, message));
    }
    let lake = Lake::open(args.as_of.place(&args.lake)?)?;
    let what_if = FairshareWhatIf::of_lake(&lake, &request)?;
    if args.table == Some(WhatIfTable::Queue) && what_if.queue.is_none() {
        notes(&what_if);
        let message = "the lake has no listing of waiting jobs of the cluster that can be compared";
        return Err(Error::new(Kind::NoInput, message));
    }
    match (args.table, args.format) {
        (Some(which), format) => {
            let reader = match format {
                TableFormat::Table => WhatIfReader::Terminal,
                TableFormat::Html | TableFormat::Markdown => WhatIfReader::Page,
                TableFormat::Csv | TableFormat::Json | TableFormat::Ndjson | TableFormat::Parquet => {
                    WhatIfReader::Program
                }
            };
            print(&what_if.table(which, reader, users)?, format)?;
            assumptions(&what_if);
        }
        (None, TableFormat::Table) => output::text(&what_if.text(users)?)?,
        (None, TableFormat::Markdown) => output::text(&what_if.markdown(users)?)?,
        (None, TableFormat::Html) => output::text(&what_if.html(users)?)?,
        (None, TableFormat::Json) => output::text(&json(&what_if.objects(users)?))?,
        (None, TableFormat::Ndjson) => output::text(&ndjson(&what_if.objects(users)?))?,
        (None, TableFormat::Csv | TableFormat::Parquet) => {
            let message = "the tables have different columns: select one by --table (see --help)";
            return Err(Error::new(Kind::Usage, message));
        }
    }
    notes(&what_if);
    Ok(())
}

/// What a single table does not hold.
fn assumptions(what_if: &FairshareWhatIf) {
    for assumption in &what_if.assumptions {
        info!(
            "assumed: {}: {} -> {}",
            assumption.what, assumption.before, assumption.after
        );
    }
    if what_if.assumptions.is_empty() {
        info!("nothing is assumed to be other than it is");
    }
}

fn notes(what_if: &FairshareWhatIf) {
    for note in &what_if.notes {
        info!("{note}");
    }
}

impl Args {
    /// What is assumed: that of the file, then that of the options.
    fn change(&self) -> Result<FairshareChange> {
        if self.what_if.is_none() && self.shares.is_empty() && self.shares_table.is_none() && !self.rule.is_any() {
            let message =
                "nothing is assumed: state --what-if, --shares, --shares-table, --half-life, --decay or --algorithm";
            return Err(Error::new(Kind::Usage, message));
        }
        let mut change = match &self.what_if {
            Some(file) => what_if_spec::load(file)?,
            None => FairshareChange::default(),
        };
        self.rule.add_to(&mut change);
        let mut problems = Problems::default();
        if let Some(path) = &self.shares_table {
            let table = ShareChangeTable::load(path, &path.to_string_lossy(), &mut problems);
            change.shares.extend(table.rows);
        }
        problems.finish()?;
        for text in &self.shares {
            change.shares.push(share(text)?);
        }
        Ok(change)
    }
}

/// `NAME=SHARES`.
fn share(text: &str) -> Result<ShareChange> {
    let place = format!("--shares {text}");
    let change = match text.rsplit_once('=') {
        Some((name, amount)) => {
            ShareAmount::parse(amount).and_then(|amount| ShareChange::named(name, amount, place.clone()))
        }
        None => Err("not NAME=SHARES".to_owned()),
    };
    change.map_err(|why| Error::new(Kind::Usage, format!("{place}: {why}")))
}
