//! `gridtally policy`

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use tracing::{info, warn};

use super::formats::ReportFormat;
use super::output;
use super::policy_test;
use super::reading::reading;
use crate::audit::{billing, billing_comparison, reprice};
use crate::charge::inputs::INPUTS;
use crate::charge::{Options, Policy, Tariff, page};
use crate::diagnostics::Problems;
use crate::error::{Error, Kind, Result};
use crate::store::StatePart;

/// Test and show charge policies.
///
/// A policy is a TOML file that states for which jobs and when it applies, what a job costs as an SQL expression over
/// documented columns, and worked examples. A policy whose examples fail is refused by `check` and `run`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  Run the examples of every policy in a folder:
    gridtally policy test pipelines/policies

  And those of the rules awards are used under:
    gridtally policy test pipelines/period-rules

  A policy as a page:
    gridtally policy show pipelines/policies/fasrc-tres.toml

  What a formula can read:
    gridtally policy columns

  What if GPUs were charged by reference units?
    gridtally policy diff gpu-2019.toml rgu-2024.toml --lake out

  What would each account pay under these three?
    gridtally policy price a.toml b.toml c.toml --lake out

  Billing weights of your own partitions as a policy:
    gridtally policy weights out > billing.toml

  Does Slurm's recorded billing follow from them?
    gridtally policy billing out")]
pub(super) struct Args {
    #[command(subcommand)]
    command: PolicyCommand,
}

#[derive(Debug, Subcommand)]
enum PolicyCommand {
    /// Run the worked examples that policies and period rules carry; exit code 65 when one fails.
    Test {
        /// Policy files, files of period rules, or folders of them; without any, the folders `policies` and `period-rules`, here
        /// or in `pipelines`.
        files: Vec<PathBuf>,

        /// Format of the report on stdout.
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        report: ReportFormat,
    },
    /// Print a policy as a page: formula, tables, examples.
    Show {
        /// Policy files, or folders of them.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Price the jobs that count in a lake, without its corrections, under two policies: whose part of the whole grows, whose shrinks.
    Diff {
        /// The first policy file.
        a: PathBuf,

        /// The second policy file.
        b: PathBuf,

        #[command(flatten)]
        pricing: Pricing,
    },
    /// Price the jobs that count in a lake, without its corrections, under any number of policies, account by account, whenever they hold.
    Price {
        /// Policy files; options at their defaults unless set by `--option`.
        #[arg(required = true)]
        files: Vec<PathBuf>,

        #[command(flatten)]
        pricing: Pricing,
    },
    /// Compare the billing Slurm recorded with that of a policy, partition by partition; exit code 65 when a job differs. Jobs whose
    /// billing the policy cannot give are counted with the reason; they do not differ.
    Billing {
        /// Folder or URL results were published to.
        out: String,

        /// A policy that sets `billing_is`; without one, the weights recorded by an inventory of the lake.
        file: Option<PathBuf>,

        /// The cluster; may be left out when there is one, and under a policy for all of them.
        #[arg(long)]
        cluster: Option<String>,

        /// An option of a policy, as name=value; may be given again.
        #[arg(long, value_name = "NAME=VALUE", requires = "file")]
        option: Vec<String>,

        /// Format of the report on stdout.
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        report: ReportFormat,
    },
    /// List the columns a formula can read.
    Columns,
    /// Print the policy of a cluster's `TRESBillingWeights`, as recorded by an inventory of the lake.
    Weights {
        /// Folder or URL results were published to.
        out: String,

        /// The cluster; may be left out when there is one.
        #[arg(long)]
        cluster: Option<String>,
    },
}

/// What is priced, and how.
#[derive(Debug, clap::Args)]
struct Pricing {
    /// Folder or URL results were published to.
    #[arg(long, value_name = "URL", alias = "from")]
    lake: String,

    /// An option of a policy, as name=value; may be given again.
    #[arg(long, value_name = "NAME=VALUE")]
    option: Vec<String>,

    /// Format of the report on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    report: ReportFormat,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let lakes: &[&str] = match &args.command {
        PolicyCommand::Diff { pricing, .. } | PolicyCommand::Price { pricing, .. } => &[&pricing.lake],
        PolicyCommand::Billing { out, .. } | PolicyCommand::Weights { out, .. } => &[out],
        PolicyCommand::Test { .. } | PolicyCommand::Show { .. } | PolicyCommand::Columns => &[],
    };
    reading(lakes, StatePart::Published, || answer(args))
}

fn answer(args: &Args) -> Result<()> {
    match &args.command {
        PolicyCommand::Test { files, report } => policy_test::test(files, *report),
        PolicyCommand::Show { files } => {
            let policies = load(files)?;
            let pages = policies.iter().map(page::page).collect::<Result<Vec<_>>>()?;
            output::text(&pages.join("\n"))
        }
        PolicyCommand::Diff { a, b, pricing } => {
            let both = [tariff(a, &pricing.option)?, tariff(b, &pricing.option)?];
            refuse_odd(&pricing.option, &both)?;
            let [a, b] = &both;
            let compared = reprice::compare(&pricing.lake, a, b)?;
            warn_of_left_out(compared.uncounted_job_n, compared.left_out_correction_n);
            match pricing.report {
                ReportFormat::Text => output::text(&compared.text()),
                ReportFormat::Json => output::json(&compared),
            }
        }
        PolicyCommand::Price { files, pricing } => {
            let tariffs = files.iter().map(|file| tariff(file, &pricing.option));
            let tariffs = tariffs.collect::<Result<Vec<_>>>()?;
            refuse_odd(&pricing.option, &tariffs)?;
            let priced = reprice::all(&pricing.lake, &tariffs)?;
            if let Some(priced) = priced.first() {
                warn_of_left_out(priced.uncounted_job_n, priced.left_out_correction_n);
            }
            match pricing.report {
                ReportFormat::Text => {
                    let pages: Vec<String> = priced.iter().map(reprice::Priced::text).collect();
                    output::text(&pages.join("\n"))
                }
                ReportFormat::Json => output::json(&priced),
            }
        }
        PolicyCommand::Billing {
            out,
            file,
            cluster,
            option,
            report,
        } => {
            let tariff = match file {
                Some(file) => {
                    let tariff = tariff(file, option)?;
                    refuse_odd(option, std::slice::from_ref(&tariff))?;
                    tariff
                }
                None => Tariff::restored("weights", &billing::policy(out, cluster.as_deref())?, "")?,
            };
            let compared = billing_comparison::compare(out, &tariff, cluster.as_deref())?;
            match report {
                ReportFormat::Text => output::text(&compared.text())?,
                ReportFormat::Json => output::json(&compared)?,
            }
            if compared.unknown_n() > 0 {
                info!(
                    "the billing of {} jobs cannot be recomputed; what is unknown is listed with the first of them",
                    compared.unknown_n()
                );
            }
            match compared.different_n() {
                0 => Ok(()),
                n => {
                    let message = format!("the recorded billing of {n} jobs is not what the policy gives");
                    Err(Error::new(Kind::Data, message))
                }
            }
        }
        PolicyCommand::Weights { out, cluster } => output::text(&billing::policy(out, cluster.as_deref())?),
        PolicyCommand::Columns => {
            let mut table = String::new();
            for input in INPUTS {
                // Writing to a string cannot fail.
                let _ = writeln!(table, "{:<18} {:<9} {}", input.name, input.kind.as_str(), input.doc);
            }
            output::text(&table)
        }
    }
}

fn warn_of_left_out(uncounted_job_n: u64, correction_n: u64) {
    if uncounted_job_n > 0 {
        info!(
            "{uncounted_job_n} jobs are not priced, because the lake does not count them: they are refused, summaries count in \
             their place, or they have not ended in a lake that counts jobs by their end"
        );
    }
    if correction_n > 0 {
        warn!("{correction_n} corrections of the lake are left out: jobs are priced as they were recorded");
    }
}

/// The files that are named, and those of folders that are.
pub(super) fn toml_files(named: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = Vec::new();
    for path in named {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let unreadable = |why| Error::new(Kind::NoInput, format!("{} cannot be read", path.display())).because(why);
        let mut inside: Vec<PathBuf> = Vec::new();
        for entry in std::fs::read_dir(path).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                inside.push(path);
            }
        }
        inside.sort();
        files.append(&mut inside);
    }
    if files.is_empty() {
        return Err(Error::new(Kind::NoInput, "there is no policy file"));
    }
    Ok(files)
}

/// The policies of the files and folders named.
fn load(named: &[PathBuf]) -> Result<Vec<Policy>> {
    let files = toml_files(named)?;
    let mut problems = Problems::default();
    let policies = files
        .iter()
        .filter_map(|file| Policy::load(file, &file.display().to_string(), &mut problems))
        .collect();
    for warning in problems.finish()? {
        warn!("{warning}");
    }
    Ok(policies)
}

/// An option that none of the policies has is a mistake.
fn refuse_odd(options: &[String], tariffs: &[Tariff]) -> Result<()> {
    let has = |name: &str| tariffs.iter().any(|tariff| tariff.options.contains_key(name));
    let is_odd = |option: &&String| !option.split_once('=').is_some_and(|(name, _)| has(name));
    match options.iter().find(is_odd) {
        Some(odd) => Err(Error::new(Kind::Usage, format!("no policy here has the option {odd}"))),
        None => Ok(()),
    }
}

/// The policy of a file, whose examples must hold, with those of the options it has.
fn tariff(file: &Path, options: &[String]) -> Result<Tariff> {
    let policy = load(&[file.to_path_buf()])?.into_iter().next();
    let policy = policy.ok_or_else(|| Error::new(Kind::NoInput, "there is no policy file"))?;
    if policy.test()?.iter().any(|verdict| !verdict.failures.is_empty()) {
        let message = format!(
            "examples of {} fail; see gridtally policy test {}",
            policy.name(),
            file.display()
        );
        return Err(Error::config(message));
    }
    let mut chosen = Options::new();
    for option in options {
        let Some((name, value)) = option.split_once('=') else {
            return Err(Error::new(Kind::Usage, format!("--option {option} is not NAME=VALUE")));
        };
        if policy.choices.iter().any(|choice| choice.name == name) {
            chosen.insert(name.to_owned(), value.to_owned());
        }
    }
    Tariff::new(policy, &chosen).map_err(Error::config)
}
