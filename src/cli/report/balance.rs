//! `gridtally report balance`

use std::path::PathBuf;

use tracing::{info, warn};

use super::print::print;
use crate::cli::as_of::AsOfArgs;
use crate::cli::output;
use crate::cli::reading::reading;
use crate::cli::selection::day;
use crate::diagnostics::Problems;
use crate::error::{Error, Result};
use crate::reference::allocation::AllocationTable;
use crate::reference::node_type::day_text;
use crate::report::accounts::Accounts;
use crate::report::balance::{
    Balance, On, add_users, balances, coldfront, ondemand, refuse_unknown, table, tariffs_meant,
};
use crate::report::charges::BalanceTariff;
use crate::report::lake::{Lake, Selection};
use crate::report::render::TableFormat;
use crate::report::shown::hours;
use crate::report::{balance_table, charges};
use crate::runtime::clock;
use crate::store::StatePart;
use crate::time::Day;

/// Report the balance of allocations: what was granted less what was charged, exactly.
///
/// An allocation names account, policy, amount and days. Charges of its days count, up to --on and that day included:
/// where the lake reports charges by month, allocations begin and end with a month, and so does a past day. Where no allocation is good
/// on the day there are no balances, and a warning. Where a listing
/// of associations has the tree of accounts, an account uses what it is granted together with those below it. Rows for the
/// same account, policy and days add up.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  What is left today:
    gridtally report balance out --allocations allocations.csv

  The file Open OnDemand warns users from (OOD_BALANCE_PATH), every day:
    gridtally report balance out --allocations allocations.csv --policy csc-puhti-cpu --for ondemand > balances.json

  Usage of ColdFront's allocations:
    gridtally report balance out --allocations allocations.csv --for coldfront > usage.json
    coldfront loaddata usage.json

A policy is named by its id, or as pages and errors name it: \"1core+2GiB, overhead-aware (pool core)\". Where its versions
charge in different units, an allocation is in the unit it states, or in that of \"POLICY (pool POOL, unit UNIT)\". CSV, JSON
and Parquet have every digit; tables for people those that matter.

Columns of --allocations: account,policy,amount,valid_from and as wanted valid_to (not included), site, cluster, unit,
project, users (separated by ;) and coldfront_attribute (the primary key of the allocation attribute in ColdFront).
Where no users are named, those of the account in the newest listing of associations see the balance, else those who
had jobs under it.")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    #[command(flatten)]
    as_of: AsOfArgs,

    /// Table of allocations.
    #[arg(long, value_name = "CSV")]
    allocations: PathBuf,

    /// Only this policy: allocations of it, whichever of its pools they name; or only this pool of it, "POLICY (pool POOL)"; may be
    /// given several times.
    #[arg(long, value_name = "POLICY")]
    policy: Vec<String>,

    /// Only what holds on this day (YYYY-MM-DD): allocations that are good then, and what is left of them when it ends; today
    /// (UTC) if not given.
    #[arg(long, value_name = "DAY", value_parser = day)]
    on: Option<Day>,

    /// Write what this reads, in place of --format.
    #[arg(long = "for", value_name = "PROGRAM", conflicts_with = "format")]
    reader: Option<BalanceReader>,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: TableFormat,
}

/// Who reads balances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum BalanceReader {
    /// Open `OnDemand`: its balance file, version 1.
    Ondemand,
    /// `ColdFront`: a fixture of the usage of allocation attributes.
    Coldfront,
}

pub(super) fn run(args: &Args) -> Result<()> {
    reading(&[args.as_of.place(&args.lake)?], StatePart::Published, || answer(args))
}

fn answer(args: &Args) -> Result<()> {
    let now_ms = clock::now_ms();
    // Fallback: never taken, a clock that counts days beyond 31 bits does not exist.
    let today = Day::try_from(now_ms.div_euclid(86_400_000)).unwrap_or(Day::MAX);
    let day = args.on.unwrap_or(today);
    let on = On {
        day,
        is_past: day < today,
    };
    let mut problems = Problems::default();
    let mut allocations = AllocationTable::load(&args.allocations, &args.allocations.to_string_lossy(), &mut problems);
    problems.finish()?;
    let lake = Lake::open(args.as_of.place(&args.lake)?)?;
    let mut charged = charges::read(&lake, &Selection::default())?;
    if !args.policy.is_empty() {
        let known = charges::known_tariffs(&lake, &charged)?;
        charges::refuse_unknown(&known, &args.policy)?;
        let is_asked = |tariff: &BalanceTariff| args.policy.iter().any(|word| tariff.is_called(word));
        let rows = &mut allocations.rows;
        rows.retain(|row| tariffs_meant(row, &known).into_iter().any(is_asked));
        charged.retain(|charge| is_asked(&charge.tariff));
    }
    let at_table = |e: Error| e.at("file", args.allocations.display());
    let accounts = Accounts::listed(&lake)?;
    let mut found = balances(&allocations, &charged, &accounts, on).map_err(at_table)?;
    refuse_unknown(&allocations, &accounts, &lake, on).map_err(at_table)?;
    if found.is_empty() {
        warn!(
            "no allocation of {} is good on {}: there are no balances",
            args.allocations.display(),
            day_text(Some(day), "")
        );
    }
    add_users(&mut found, &accounts, &lake)?;
    match args.reader {
        None => {
            let is_for_people = matches!(
                args.format,
                TableFormat::Table | TableFormat::Markdown | TableFormat::Html
            );
            let table = if is_for_people {
                balance_table::table(&found, day)
            } else {
                table(&found, day)
            };
            print(&table, args.format)?;
        }
        Some(BalanceReader::Ondemand) => output::text(&ondemand(&found, now_ms.div_euclid(1000))?)?,
        Some(BalanceReader::Coldfront) => output::text(&coldfront(&found).map_err(at_table)?)?,
    }
    for balance in &found {
        let unknown = unknown_in_words(balance);
        if !unknown.is_empty() {
            info!(
                "{}: the charge is unknown of {unknown}, so that less is left than is reported",
                balance.project()
            );
        }
    }
    for balance in found.iter().filter(|balance| !balance.other_units.is_empty()) {
        let units: Vec<&str> = balance.other_units.iter().map(String::as_str).collect();
        warn!(
            "{}: a version of {} charged its jobs in {} as well; an allocation in {} does not count that",
            balance.project(),
            balance.tariff,
            units.join(", "),
            balance.tariff.unit
        );
    }
    if args.reader == Some(BalanceReader::Ondemand) {
        for balance in found.iter().filter(|balance| balance.users.is_empty()) {
            info!("{}: no user is known who may see its balance", balance.project());
        }
    }
    Ok(())
}

/// Of what the charge is unknown; empty where all of it is known.
fn unknown_in_words(balance: &Balance) -> String {
    let (job_n, part_n) = (balance.unpriced_job_n, balance.unpriced_part_n);
    let correction_n = balance.unpriced_correction_n;
    let jobs = (job_n != 0).then(|| format!("{job_n} jobs"));
    let parts = (part_n > 0).then(|| {
        format!("{part_n} sums of parts of jobs that end in another period or under another version of the policy")
    });
    let corrections = (correction_n > 0).then(|| format!("{correction_n} corrections without jobs"));
    let all: Vec<String> = [jobs, parts, corrections].into_iter().flatten().collect();
    let hours = match balance.unpriced_core_ms {
        0 => String::new(),
        core_ms => format!(" ({} core hours)", hours(core_ms)),
    };
    all.join(", ") + &hours
}
