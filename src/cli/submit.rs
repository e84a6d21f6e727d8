//! `gridtally submit`

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tracing::info;

use super::output;
use super::progress::Terminal;
use super::shard_args::{ShardFolderArgs, ShardPlaceArgs};
use crate::config::Plan;
use crate::error::{Error, Kind, Result};
use crate::numbers::Extent;
use crate::runtime::Progress;
use crate::shard::folder::{DigestedList, ShardFolder};
use crate::shard::standing::ShardStanding;
use crate::submit::calls::ProgramCalls;
use crate::submit::condor::{self, DAG};
use crate::submit::controller::{ArrayLimits, answer};
use crate::submit::shell::line;
use crate::submit::slurm::{self, SlurmJob, SlurmSettings, job_id};

/// Read and merge the shards of a list as jobs of a batch system.
///
/// The jobs need the pipeline file, its tables, the folder of the shards and the lake under the paths of this host. Scripts are
/// written into the folder of the shards.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  A job array of Slurm and the merge behind it:
    gridtally submit slurm zoo.toml --slurm-option=--partition=batch --slurm-option=--time=01:00:00

  The shards of a node that was lost, and the merge, once more:
    gridtally submit slurm zoo.toml --missing

  How far they are, by the files in the folder:
    gridtally submit progress zoo.toml --watch 30")]
pub(super) struct Args {
    #[command(subcommand)]
    action: SubmitAction,
}

#[derive(Debug, clap::Subcommand)]
enum SubmitAction {
    /// Submit an array to Slurm, a task for each shard, and the merge with `--dependency=afterok`.
    Slurm(SlurmArgs),
    /// Submit a graph to `HTCondor`, a node for each shard and one for the merge, by `condor_submit_dag`.
    Condor(CondorArgs),
    /// Print how many shards are done, and which are not. No batch system is asked.
    Progress(ProgressArgs),
}

/// What is submitted.
#[derive(Debug, clap::Args)]
struct JobArgs {
    /// The pipeline file.
    pipeline: PathBuf,

    #[command(flatten)]
    folder: ShardFolderArgs,

    /// Folder or URL to write to: the lake, in place of the pipeline's `output`; a relative path starts at the working directory.
    #[arg(long, value_name = "URL", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    out: Option<String>,

    /// Submit only the shards that are not there, and the merge.
    #[arg(long)]
    missing: bool,

    /// Most jobs that read at once.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    running_most: Option<u32>,

    /// Most memory that each job gives gridtally, such as 2G: its --max-memory.
    #[arg(long, value_name = "SIZE")]
    job_memory: Option<String>,

    /// The program, as jobs find it; this one if not given.
    #[arg(long, value_name = "FILE")]
    program: Option<String>,

    /// Read and check everything, publish nothing: what would be submitted is printed, and nothing is submitted or written.
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, clap::Args)]
struct SlurmArgs {
    #[command(flatten)]
    job: JobArgs,

    /// Option of `sbatch` for all jobs, such as --slurm-option=--partition=batch. May be repeated.
    #[arg(long = "slurm-option", value_name = "OPTION", allow_hyphen_values = true)]
    options: Vec<String>,
}

#[derive(Debug, clap::Args)]
struct CondorArgs {
    #[command(flatten)]
    job: JobArgs,

    /// Line of the description of all jobs, such as `--condor-line='request_memory = 2048'`. May be repeated.
    #[arg(long = "condor-line", value_name = "LINE")]
    lines: Vec<String>,
}

#[derive(Debug, clap::Args)]
struct ProgressArgs {
    /// The pipeline file.
    pipeline: PathBuf,

    #[command(flatten)]
    place: ShardPlaceArgs,

    /// Look again every so many seconds until all shards are done.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    watch: Option<u64>,
}

pub(super) fn run(args: &Args) -> Result<()> {
    match &args.action {
        SubmitAction::Slurm(args) => submit_slurm(args),
        SubmitAction::Condor(args) => submit_condor(args),
        SubmitAction::Progress(args) => progress(args),
    }
}

/// What is to be submitted, as it stands in the folder.
struct Job {
    folder: ShardFolder,
    calls: ProgramCalls,
    /// The shards to read, in order.
    shards: Vec<u32>,
}

impl JobArgs {
    fn job(&self) -> Result<Job> {
        let (plan, _) = Plan::load(&self.pipeline)?;
        let folder = ShardFolder::open(&self.folder.place.of(&self.pipeline))?;
        let list = folder.list()?;
        list.list.hold(&plan)?;
        let shard_n = list.list.head.shard_n;
        let shards = if self.missing {
            ShardStanding::of(&folder, &list)?.to_read()
        } else {
            (1..=shard_n).collect()
        };
        let program = match &self.program {
            Some(program) => program.clone(),
            None => text_of(&std::env::current_exe()?)?,
        };
        let pipeline = std::path::absolute(&self.pipeline)?;
        let calls = ProgramCalls {
            program,
            pipeline: text_of(&pipeline)?,
            shard_folder: folder.url().to_owned(),
            maps: self.folder.maps.iter().map(ToString::to_string).collect(),
            out: self.out.as_deref().map(absolute_place).transpose()?,
            max_memory: self.job_memory.clone(),
            name: plan.name.clone(),
            shard_n,
        };
        Ok(Job { folder, calls, shards })
    }
}

fn text_of(path: &Path) -> Result<String> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| Error::config("a path that is not UTF-8 cannot be submitted").at("path", path.display()))
}

/// A place as a job finds it, whatever folder it starts in.
fn absolute_place(place: &str) -> Result<String> {
    if place.contains("://") {
        return Ok(place.to_owned());
    }
    text_of(&std::path::absolute(place)?)
}

fn submit_slurm(args: &SlurmArgs) -> Result<()> {
    let Job { folder, calls, shards } = args.job.job()?;
    let limits = ArrayLimits::parse(&answer("scontrol", &["show".to_owned(), "config".to_owned()], "")?)?;
    let settings = SlurmSettings {
        options: args.options.clone(),
        running_most: args.job.running_most,
        log_folder: folder.local_root().map(text_of).transpose()?,
    };
    let mut ids = Vec::new();
    for array in slurm::arrays(&calls, &shards, limits, &settings) {
        ids.push(submit(&folder, &array, args.job.dry_run, ids.len())?);
    }
    let merge = slurm::merge(&calls, &ids, &settings);
    let merge = submit(&folder, &merge, args.job.dry_run, ids.len())?;
    if args.job.dry_run {
        return Ok(());
    }
    let (shard_n, array_n) = (shards.len(), ids.len());
    output::text(&format!(
        "{shard_n} shards in {array_n} arrays ({}), merge {merge}\n",
        ids.join(" ")
    ))
}

/// Submits a job and returns its id; or prints it, under a name that stands for its id.
fn submit(folder: &ShardFolder, job: &SlurmJob, is_dry_run: bool, nth: usize) -> Result<String> {
    let words = job.sbatch();
    if is_dry_run {
        let call = line(&words);
        output::text(&format!(
            "# {}\n{}# sbatch {call} < {}\n\n",
            job.script_name, job.script, job.script_name
        ))?;
        return Ok(format!("ARRAY{}", nth + 1));
    }
    folder.put_text(&job.script_name, job.script.clone())?;
    job_id(&answer("sbatch", &words, &job.script)?)
}

fn submit_condor(args: &CondorArgs) -> Result<()> {
    let Job { folder, calls, shards } = args.job.job()?;
    let files = condor::files(&calls, &shards, &args.lines);
    if args.job.dry_run {
        let text = files.iter().map(|file| format!("# {}\n{}\n", file.name, file.text));
        return output::text(&text.collect::<String>());
    }
    let Some(root) = folder.local_root() else {
        let message = "DAGMan keeps its files on a disk: name a local folder that all hosts reach with --shard-folder";
        return Err(Error::new(Kind::Usage, message));
    };
    for file in &files {
        folder.put_text(file.name, file.text.clone())?;
    }
    let mut words = vec!["-f".to_owned(), "-usedagdir".to_owned()];
    if let Some(most) = args.job.running_most {
        words.extend(["-maxjobs".to_owned(), most.to_string()]);
    }
    words.push(text_of(&root.join(DAG))?);
    info!("{}", answer("condor_submit_dag", &words, "")?.trim());
    output::text(&format!(
        "{} shards and their merge: {}\n",
        shards.len(),
        root.join(DAG).display()
    ))
}

fn progress(args: &ProgressArgs) -> Result<()> {
    let folder = ShardFolder::open(&args.place.of(&args.pipeline))?;
    let list = folder.list()?;
    let mut standing = ShardStanding::of(&folder, &list)?;
    if let Some(seconds) = args.watch {
        standing = watched(&folder, &list, standing, Duration::from_secs(seconds))?;
    }
    output::text(&text(&standing))
}

/// Looks again until all shards are done.
fn watched(
    folder: &ShardFolder,
    list: &DigestedList,
    mut standing: ShardStanding,
    pause: Duration,
) -> Result<ShardStanding> {
    let terminal = Terminal::new();
    terminal.begin("shards", standing.bytes_n, "bytes");
    terminal.add(standing.bytes_done_n);
    while !standing.to_read().is_empty() {
        std::thread::sleep(pause);
        let now = ShardStanding::of(folder, list)?;
        terminal.add(now.bytes_done_n.less(standing.bytes_done_n));
        standing = now;
    }
    terminal.end();
    Ok(standing)
}

fn text(standing: &ShardStanding) -> String {
    let ShardStanding {
        shard_n,
        done,
        bytes_n,
        bytes_done_n,
        ..
    } = standing;
    let rows: u64 = done.iter().map(|manifest| manifest.rows_read_n).sum();
    let mut text = format!(
        "{} of {shard_n} shards are done: {bytes_done_n} of {bytes_n} bytes, {rows} rows\n",
        done.len()
    );
    // Writing to a string cannot fail.
    if !standing.missing.is_empty() {
        let _ = writeln!(text, "missing: {}", slurm::ranges(&standing.missing));
    }
    for foreign in &standing.foreign {
        let _ = writeln!(text, "shard {} {}", foreign.shard, foreign.why);
    }
    text
}
