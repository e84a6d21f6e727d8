//! `gridtally report shares`

use std::collections::BTreeSet;
use std::path::PathBuf;

use tracing::{info, warn};

use super::print::print;
use crate::cli::as_of::AsOfArgs;
use crate::cli::output;
use crate::cli::reading::reading;
use crate::cli::selection::{Finest, PeriodArgs, day};
use crate::diagnostics::Problems;
use crate::error::{Error, Kind, Result};
use crate::reference::cpu_tres::CpuTresTable;
use crate::reference::minute_limit::MinuteLimitTable;
use crate::reference::node_owner::NodeOwnerTable;
use crate::report::lake::Lake;
use crate::report::render::TableFormat;
use crate::report::shares::changes::ShareChanges;
use crate::report::shares::cluster::ShareCluster;
use crate::report::shares::commands::commands;
use crate::report::shares::day::{DayShares, ShareRule, ShareSources, ShareTables};
use crate::report::shares::load_file::LoadFile;
use crate::report::shares::table::{day_table, history_table};
use crate::runtime::clock;
use crate::store::StatePart;
use crate::time::Day;

/// Compute the shares of accounts from what the site and its labs bought, and what of Slurm's shares differs from them.
///
/// Gratis shares are the nodes of public partitions over the number of accounts, lab shares those of nodes an account owns,
/// communal shares its parts of nodes it owns with others, all in CPU TRES: cores times what a core counts for. Nodes and
/// partitions are those of the newest listing up to the day, and so are accounts. Nothing is applied.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  What each account is granted today, what Slurm has, and the difference:
    gridtally report shares out --owners owners.csv --core-tres tres.csv --public shared --requeue serial_requeue

  The commands that change it, to be read before they are run:
    gridtally report shares out --owners owners.csv --core-tres tres.csv --public shared --for sacctmgr > shares.sh

  On which days of a year shares changed:
    gridtally report shares out --owners owners.csv --core-tres tres.csv --public shared --from 2026-01 --to 2026-12

An account above others has the sum of what is in it; gratis shares are of accounts that no account is in. Whole shares are
rounded to the nearest, halves up, and are at least 1 where something is granted.

Columns of --owners: account, nodes or partition, and as wanted part (1/3, 25% or 0.25), cluster, valid_from (included),
valid_to (not included) and purchase. Of --core-tres: tres_per_core, and as wanted feature, nodes, valid_from and valid_to. Of
--minutes: account, tres, minutes, and as wanted valid_from and valid_to.")]
pub(super) struct Args {
    /// Folder or URL results were published to.
    lake: String,

    #[command(flatten)]
    as_of: AsOfArgs,

    /// Table of who owns which nodes.
    #[arg(long, value_name = "CSV")]
    owners: PathBuf,

    /// Table of what a core counts for.
    #[arg(long, value_name = "CSV")]
    core_tres: PathBuf,

    /// A partition that is for everyone: its nodes are the gratis share; may be given several times.
    #[arg(long, value_name = "PARTITION")]
    public: Vec<String>,

    /// A partition of others' nodes whose jobs may be stopped: it grants nothing; may be given several times.
    #[arg(long, value_name = "PARTITION")]
    requeue: Vec<String>,

    /// An account that is left as it is, with all that is in it, and not counted; may be given several times.
    #[arg(long, value_name = "ACCOUNT")]
    except: Vec<String>,

    /// Whole shares of one CPU TRES: more of them keep small shares apart.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    shares_per_tres: u32,

    /// The cluster; may be left out when there is one.
    #[arg(long)]
    cluster: Option<String>,

    /// Only listings of this inventory of the pipeline; may be given several times.
    #[arg(long, value_name = "NAME")]
    inventory: Vec<String>,

    /// Only what holds on this day (YYYY-MM-DD): purchases, and the newest listings up to its end; today (UTC) if not given.
    #[arg(long, value_name = "DAY", value_parser = day, conflicts_with_all = ["from", "to"])]
    on: Option<Day>,

    #[command(flatten)]
    period: PeriodArgs,

    /// Table of minutes that accounts may use, to be set as limits (`GrpTRESMins`).
    #[arg(long, value_name = "CSV", requires = "reader")]
    minutes: Option<PathBuf>,

    /// Write what this reads, in place of --format.
    #[arg(long = "for", id = "reader", value_name = "PROGRAM", conflicts_with_all = ["format", "from", "to"])]
    reader: Option<ShareReader>,

    /// Format on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: TableFormat,
}

/// Who reads shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ShareReader {
    /// A shell: one call of sacctmgr for each account that changes.
    Sacctmgr,
    /// `sacctmgr load`: the whole tree, without `clean`.
    SacctmgrLoad,
}

pub(super) fn run(args: &Args) -> Result<()> {
    reading(&[args.as_of.place(&args.lake)?], StatePart::Published, || answer(args))
}

fn answer(args: &Args) -> Result<()> {
    let mut problems = Problems::default();
    let name = |path: &PathBuf| path.to_string_lossy().into_owned();
    let tables = ShareTables {
        owners: NodeOwnerTable::load(&args.owners, &name(&args.owners), &mut problems),
        owners_file: name(&args.owners),
        tres: CpuTresTable::load(&args.core_tres, &name(&args.core_tres), &mut problems),
        tres_file: name(&args.core_tres),
    };
    // Without a table there are no limits to set.
    let limits = args.minutes.as_ref().map_or_else(MinuteLimitTable::default, |path| {
        MinuteLimitTable::load(path, &name(path), &mut problems)
    });
    problems.finish()?;
    let lake = Lake::open(args.as_of.place(&args.lake)?)?;
    let names = |names: &[String]| names.iter().cloned().collect::<BTreeSet<_>>();
    let rule = ShareRule {
        public: names(&args.public),
        requeue: names(&args.requeue),
        except: names(&args.except),
        shares_per_tres: args.shares_per_tres,
    };
    let cluster = ShareCluster::of_lake(&lake, args.cluster.as_deref(), &args.inventory)?;
    let sources = ShareSources::read(&lake, cluster, rule, tables)?;
    let cluster = &sources.cluster.cluster;
    let span = args.period.days(Finest::Day)?;
    if span.from.is_some() || span.to.is_some() {
        let history = sources.history(span)?;
        print(&history_table(&history, cluster), args.format)?;
        history.notes.iter().for_each(|note| info!("{note}"));
        return Ok(());
    }
    let today = Day::try_from(clock::now_ms().div_euclid(86_400_000))
        .map_err(|_| Error::new(Kind::Usage, "the clock shows no day: state --on"))?;
    let shares = sources.on(args.on.unwrap_or(today))?;
    let limits_file = args.minutes.as_ref().map_or_else(String::new, name);
    let changes = ShareChanges::of(&shares, &limits, &limits_file)?;
    match args.reader {
        None => print(&day_table(&shares, cluster), args.format)?,
        Some(ShareReader::Sacctmgr) => {
            output::data(commands(&changes, cluster)?.as_bytes())?;
            report_changes(&changes, &shares);
        }
        Some(ShareReader::SacctmgrLoad) => {
            let file = LoadFile::of(&shares, &changes, cluster)?;
            output::data(file.text.as_bytes())?;
            report_file(&file);
            report_changes(&changes, &shares);
        }
    }
    shares.notes.iter().for_each(|note| info!("{note}"));
    Ok(())
}

/// What would change, account by account, and that nothing did.
fn report_changes(changes: &ShareChanges, shares: &DayShares) {
    for change in &changes.accounts {
        info!("{}", change.text());
    }
    let added_n = changes.accounts.iter().filter(|change| change.is_added()).count();
    let changed_n = changes.accounts.len() - added_n;
    info!(
        "nothing is applied; accounts: {added_n} added (their listing has no number of shares), {changed_n} changed, {} unchanged, \
         {} left as they are",
        changes.unchanged_n,
        shares.left.len()
    );
}

/// What a load file cannot hold.
fn report_file(file: &LoadFile) {
    for (field, association_n) in &file.unknown {
        info!("not in the file, so that it stays: {field} of {association_n} associations");
    }
    for (field, association_n) in &file.unquotable {
        info!("not in the file because of quotes, so that it stays: {field} of {association_n} associations");
    }
    if !file.typed.is_empty() {
        let names: Vec<&str> = file.typed.iter().map(String::as_str).collect();
        warn!(
            "limits of typed resources, which sacctmgr load reads since Slurm 26.05: {}",
            names.join(", ")
        );
    }
    info!("load it without clean, which would delete the cluster's associations first");
}
