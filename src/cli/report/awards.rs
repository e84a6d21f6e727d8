//! `gridtally report awards`

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tracing::info;

use super::page_files::{PageFile, write_page};
use super::print::print;
use crate::award::projection::ProjectionMethod;
use crate::cli::as_of::AsOfArgs;
use crate::cli::output;
use crate::cli::reading::reading;
use crate::cli::selection::day;
use crate::diagnostics::{Problems, must_be_known};
use crate::error::{Error, Kind, Result};
use crate::reference::stored::StoredTable;
use crate::report::accounts::{Account, Accounts, used, why_unknown};
use crate::report::award_back_test::back_test;
use crate::report::award_files::{BalanceValue, coldfront_script, ondemand, waldur};
use crate::report::award_page::data::AwardPage;
use crate::report::award_page::page;
use crate::report::award_use::LakeAwards;
use crate::report::awards::{AwardDetail, AwardQuestion, AwardView, states, table};
use crate::report::lake::Lake;
use crate::report::render::TableFormat;
use crate::report::table::Table;
use crate::runtime::clock;
use crate::store::StatePart;
use crate::time::Day;

/// Report who may use how much, and who did: awards, their settled use, and where it will end.
///
/// The pipeline's [awards] names the table. An allocation year begins where the pipeline's calendar begins it. Use beyond an
/// award is reported and refuses nothing; days on which nothing could run count as days; what is over is not projected.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  Awards of this allocation year, and use of accounts without one:
    gridtally report awards out

  Use of every cluster, last year:
    gridtally report awards out --view resource --year 2024

  Who used an award, and when:
    gridtally report awards out --account rrg-ice --detail submitter
    gridtally report awards out --account rrg-ice --detail monthly

  How wrong projections would have been:
    gridtally report awards out --back-test

  A page with charts, and the same numbers as CSV next to it:
    gridtally report awards out --page awards

  Files of Open OnDemand (OOD_BALANCE_PATH), one for each unit, and of the days that are left:
    gridtally report awards out --unit core_year --for ondemand > balances.json
    gridtally report awards out --for ondemand-days > days.json

  Usage in ColdFront, by slurm_account_name:
    gridtally report awards out --for coldfront | coldfront shell

CSV, JSON and Parquet have nine digits after the point, tables for people three. What is in flight is empty where no dump
states running jobs, what is pending where no listing states waiting jobs: both are unknown then.")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    #[command(flatten)]
    as_of: AsOfArgs,

    /// What rows are of.
    #[arg(long, value_name = "VIEW", default_value = "project", conflicts_with_all = ["back_test", "reader"])]
    view: ViewChoice,

    /// Divide rows by this; the parts add up to the row.
    #[arg(long, value_name = "PART", conflicts_with_all = ["back_test", "reader"])]
    detail: Option<DetailChoice>,

    /// Allocation year, by the year in which it begins; that of --on if not given.
    #[arg(long, value_name = "YEAR")]
    year: Option<i64>,

    /// Only what holds on this day (YYYY-MM-DD): awards and their use when it ends; today (UTC) if not given.
    #[arg(long, value_name = "DAY", value_parser = day)]
    on: Option<Day>,

    /// Only awards and use of this account; may be given several times.
    #[arg(long, value_name = "ACCOUNT")]
    account: Vec<String>,

    /// Table of what accounts have stored, the use of awards of storage: account, day, stored bytes and as wanted the site.
    #[arg(long, value_name = "CSV")]
    stored: Option<PathBuf>,

    /// Only awards in this unit, for the PROGRAM of --for.
    #[arg(long, value_name = "UNIT", requires = "reader", conflicts_with_all = ["back_test", "page"])]
    unit: Option<String>,

    /// How use continues until the end.
    #[arg(
        long,
        value_name = "METHOD",
        default_value = "constant-rate",
        conflicts_with = "back_test"
    )]
    method: MethodChoice,

    /// What each method would have projected at the end of past months, and how wrong it was.
    #[arg(long, conflicts_with = "reader")]
    back_test: bool,

    /// Write what this reads, in place of --format.
    #[arg(long = "for", id = "reader", value_name = "PROGRAM", conflicts_with = "format")]
    reader: Option<AwardReader>,

    /// Name of `ColdFront`'s attribute that usage is set of; "Core Usage (Hours)" if not given.
    #[arg(long, value_name = "NAME")]
    coldfront_attribute: Option<String>,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: TableFormat,

    /// Write a page, in place of --format: folder or URL to write to, index.html and the CSV files next to it.
    #[arg(long, value_name = "URL", conflicts_with_all = ["format", "view", "detail", "back_test", "reader"])]
    page: Option<String>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ViewChoice {
    /// Clusters.
    Resource,
    /// Awards, and accounts that used something without one.
    Project,
    /// Those who submitted.
    Submitter,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum DetailChoice {
    /// Months.
    Monthly,
    /// Those who submitted.
    Submitter,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum MethodChoice {
    /// At the average rate of the days that went by.
    ConstantRate,
    /// At the average rate of the last days: `projection_window` of the pipeline.
    RecentWindow,
    /// Running and waiting jobs run to their limits, and nothing else; unknown where neither are listed.
    JobsToLimits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum AwardReader {
    /// Open `OnDemand`: what is left, in whole units, rounded down.
    Ondemand,
    /// Open `OnDemand`: days that are left at the present rate.
    OndemandDays,
    /// `ColdFront`: a script that calls `set_usage` by `slurm_account_name`.
    Coldfront,
    /// Waldur: usage of components, by resource and user.
    Waldur,
}

pub(super) fn run(args: &Args) -> Result<()> {
    if args.coldfront_attribute.is_some() && args.reader != Some(AwardReader::Coldfront) {
        let message = "--coldfront-attribute does nothing without --for coldfront";
        return Err(Error::new(Kind::Usage, message));
    }
    let Some(url) = &args.page else {
        return reading(&[args.as_of.place(&args.lake)?], StatePart::Published, || answer(args));
    };
    let (html, files) = reading(&[args.as_of.place(&args.lake)?], StatePart::Published, || page_of(args))?;
    let written = write_page(url, html, &files)?;
    info!("{} in {url}", written.join(", "));
    Ok(())
}

/// The awards of a lake, and what is requested of them.
struct ReadAwards {
    lake: Lake,
    awards: LakeAwards,
    question: AwardQuestion,
    now_ms: i64,
}

/// The page and the files next to it.
fn page_of(args: &Args) -> Result<(String, Vec<PageFile>)> {
    let read = read_awards(args, true)?;
    let page = AwardPage::read(&read.lake, &read.awards, &read.question)?;
    let html = page::write(&page)?;
    let file = |name, table: Table, is_there: bool| PageFile {
        name,
        table: is_there.then_some(table),
    };
    let has_shares = !page.shares.accounts.is_empty();
    let files = vec![
        file("awards.csv", page.overview(ALL)?, true),
        file("owed.csv", page.owed(ALL), true),
        file("burn_down.csv", page.burn_downs(ALL), true),
        file("projections.csv", page.forecasts(ALL), true),
        file("fairshare.csv", page.shares.fairshare(), has_shares),
        file("owed_shares.csv", page.shares.owed(), has_shares),
    ];
    Ok((html, files))
}

/// Digits after the point for people.
const PEOPLE: u8 = 3;
/// Digits after the point for programs.
const ALL: u8 = 9;

fn read_awards(args: &Args, is_for_people: bool) -> Result<ReadAwards> {
    let now_ms = clock::now_ms();
    let today = Day::try_from(now_ms.div_euclid(86_400_000))
        .map_err(|why| Error::internal("today is no day of the calendar").because(why))?;
    let on = args.on.unwrap_or(today);
    let lake = Lake::open(args.as_of.place(&args.lake)?)?;
    let mut awards = LakeAwards::read(&lake, on)?;
    awards.stored = args.stored.as_deref().map(stored_table).transpose()?;
    awards.hold_day(on, on < today)?;
    refuse_unknown(&awards, &lake)?;
    let year = match args.year {
        Some(year) => year,
        None => awards
            .year_of(on)
            .ok_or_else(|| Error::new(Kind::Usage, "that day is in no allocation year"))?,
    };
    let question = AwardQuestion {
        view: match args.view {
            ViewChoice::Resource => AwardView::Resource,
            ViewChoice::Project => AwardView::Project,
            ViewChoice::Submitter => AwardView::Submitter,
        },
        detail: args.detail.map(|detail| match detail {
            DetailChoice::Monthly => AwardDetail::Monthly,
            DetailChoice::Submitter => AwardDetail::Submitter,
        }),
        year,
        on,
        method: match args.method {
            MethodChoice::ConstantRate => ProjectionMethod::ConstantRate,
            MethodChoice::RecentWindow => ProjectionMethod::RecentWindow,
            MethodChoice::JobsToLimits => ProjectionMethod::JobsToLimits,
        },
        accounts: args.account.clone(),
        digits: if is_for_people { PEOPLE } else { ALL },
    };
    if awards.running.unknown_n > 0 {
        info!(
            "{} running jobs have no limit, account or charge: what they will use is unknown",
            awards.running.unknown_n
        );
    }
    if awards.pending.unknown_n > 0 {
        info!(
            "{} waiting jobs have no account, limit or charge: what they will use is unknown",
            awards.pending.unknown_n
        );
    }
    Ok(ReadAwards {
        lake,
        awards,
        question,
        now_ms,
    })
}

fn answer(args: &Args) -> Result<()> {
    let is_for_people = matches!(
        args.format,
        TableFormat::Table | TableFormat::Markdown | TableFormat::Html
    );
    let ReadAwards {
        awards,
        question,
        now_ms,
        ..
    } = read_awards(args, is_for_people)?;
    let on = question.on;
    let Some(reader) = args.reader else {
        let report = if args.back_test {
            back_test(&awards, &question)?
        } else {
            table(&awards, &question)?
        };
        let report = if is_for_people {
            report.without_empty_columns()
        } else {
            report
        };
        return print(&report, args.format);
    };
    let mut found = states(&awards, &question)?;
    if let Some(unit) = &args.unit {
        let known: BTreeSet<String> = found.iter().map(|state| state.measure.unit.clone()).collect();
        must_be_known("the awards have", "unit", unit, &known)?;
        found.retain(|state| state.measure.unit == *unit);
    }
    let is_over = |until: Option<Day>| until.is_some_and(|until| until <= on);
    found.retain(|state| !is_over(state.award.until(on)));
    let timestamp = now_ms.div_euclid(1000);
    match reader {
        AwardReader::Ondemand => output::text(&ondemand(&found, BalanceValue::Remaining, timestamp)?),
        AwardReader::OndemandDays => output::text(&ondemand(&found, BalanceValue::DaysLeft, timestamp)?),
        AwardReader::Coldfront => output::text(&coldfront_script(&found, attribute(args))?),
        AwardReader::Waldur => output::text(&waldur(&found, on)?),
    }
}

/// The name of `ColdFront`'s attribute.
fn attribute(args: &Args) -> &str {
    let given = args.coldfront_attribute.as_deref();
    // Fallback: the name that the manual states is taken where none is given.
    given.unwrap_or("Core Usage (Hours)")
}

fn stored_table(path: &Path) -> Result<StoredTable> {
    let mut problems = Problems::default();
    let table = StoredTable::load(path, &path.display().to_string(), &mut problems);
    problems.finish()?;
    Ok(table)
}

/// Accounts of awards that nothing knows of: mistakes where listings of associations name all accounts, all at once with
/// their lines; remarks where only jobs do, for a new account has none yet.
fn refuse_unknown(awards: &LakeAwards, lake: &Lake) -> Result<()> {
    let accounts = Accounts::listed(lake)?;
    let mut known: BTreeSet<Account> = accounts.names().cloned().collect();
    known.append(&mut used(lake)?);
    let mut unknown = Vec::new();
    for award in &awards.plan.ledger.awards {
        let (site, cluster) = (award.site.as_deref(), award.cluster.as_deref());
        if let Some(why) = why_unknown(&award.account, site, cluster, &known) {
            unknown.push(format!("line {}: {why}", award.line));
        }
    }
    if unknown.is_empty() {
        return Ok(());
    }
    if accounts.is_empty() {
        for why in unknown {
            info!("table of awards, {why}");
        }
        return Ok(());
    }
    Err(Error::config(format!("table of awards: {}", unknown.join("\n"))))
}
