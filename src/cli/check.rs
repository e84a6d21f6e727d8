//! `gridtally check`

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tracing::warn;

use super::output;
use crate::config::source_key::SourceKey;
use crate::config::source_options::{SOURCE_KEYS, formats};
use crate::config::{Plan, SourcePlan};
use crate::error::{Error, Kind, Result};
use crate::ingest::output_overlap::hold_apart;
use crate::ingest::reading::first_mistake;
use crate::numbers::Extent;
use crate::sources::input::{InputFile, clean};
use crate::sources::inventory::InventoryKind;
use crate::sources::location::{Written, is_url};
use crate::store::Store;

/// A pipeline file with every key of a source; `@keys` is replaced by these, `@sources` and `@inventories` by names of formats.
const EXAMPLE: &str = "\
Example:
  gridtally check zoo.toml

A pipeline file:
  [pipeline]
  name = \"zoo\"
  output = \"out\"                       # path or URL; `run --out` wins
  allocation_year_start = \"04-01\"      # default 01-01
  calendar_timezone = \"Europe/Zurich\"  # where days, months and years are cut; default UTC
  attribution = \"prorated\"             # or \"by-end\", as APEL and GRACC do; default prorated
  grain = \"month\"                      # or \"day\"; default month
  overlap = \"jobs\"                     # or \"summaries\", \"reject\": what counts where both arrive
  corrections = \"corrections.csv\"      # signed corrections, see the manual
  copied_jobs = \"stop\"                 # default; or \"keep\": jobs that are recorded twice, with
                                       # shifted times or under two clusters, count twice
  max_rejected = 0.01                  # rows that may be refused, over all sources: a number of
                                       # them, or a fraction (1.0 is any); more and the run fails
  max_unread = 2                       # new files that need not be read, or not to their end, or a
                                       # fraction; default 0, or any where max_rejected = 1.0
  keep = { nights = 30, months = 24, tags = \"all\" }
                                       # snapshots of the lake that are kept; default none
  delta_log = \"on\"                     # each dataset is a table of Delta Lake too; default \"off\"

  [[source]]
@keys

  [[inventory]]                        # what the batch system states about its own machine
  name = \"zoo-machine\"
  format = \"auto\"                      # @inventories
  paths = [\"machine/*\"]
  site = \"ZOO-T2\"
  cluster = \"zoo\"                      # for files that do not name one
  as_of = 2026-11-01                   # a day, or an instant with offset: when it was so, for files
                                       # that do not state it; \"path\": the day that their path names
  complete = false                     # its listings name only some nodes; true: all of them.
                                       # Without it a listing names all nodes of the listings it
                                       # shares a node with, and nodes it does not name are gone
  timezone = \"Europe/Zurich\"           # zone of printed times, and of the day above

  [overhead]                           # what nodes could still have run
  nodes = [\"nodes.txt\"]              # scontrol, sinfo, slurm.conf or CSV; or \"from-jobs\"; without
                                       # it the inventories above
  period = { from = 2026-10-01, to = 2026-11-01 }   # to is not in it; default: what jobs span
  billing = \"overhead-aware\"         # or \"usage-only\", \"whole-node\"

  [[overhead.unit]]                    # canonical units, any number in parallel
  name = \"1core+2GiB\"
  core = 1
  memory = \"2GiB\"                    # or \"2GB\", 10^9 bytes each
  partition = [\"cpu\"]                # default: all nodes

  [[overhead.unit]]
  preset = \"osg-gpu\"                 # one GPU; or \"osg-cpu\", one core and 2 GB

  [normalise]                          # work that records state counts without it
  benchmarks = \"benchmarks.csv\"        # site,cluster,benchmark,value_per_core,valid_from,valid_to;
                                       # optional
  nodes = \"nodes.csv\"                  # site,cluster,nodes,node_class,cores,valid_from,valid_to
  order = [\"record\", \"node\", \"cluster\", \"site\"]  # where a job's benchmark is looked for first
  known_on = 2026-06-30                # benchmarks recorded later do not count
  missing = \"null\"                     # or \"reject\", or { fallback = 10.0, benchmark = \"hs06\" }

  [[charge]]                           # what jobs cost; see `gridtally policy`
  policies = [\"policies/zoo.toml\"]    # files, or folders of them
  options = { combine = \"max\" }        # of what a policy leaves open

  [capacity]                           # what could be delivered, see `gridtally capacity --help`
  node_types = \"node_types.csv\"

  [energy]                             # energy and carbon of jobs; each table is optional
  pue = \"pue.csv\"                      # site,pue,valid_from,valid_to
  intensity = \"intensity.csv\"          # site,basis,g_per_kwh,valid_from,valid_to
  basis = \"location\"                   # or \"market\": rows of intensity that count
  nodes = \"energy_nodes.csv\"           # site,node_type,nodes,cores,core_idle_w,core_full_w,...
  shared = \"allocated_cores\"           # or \"cpu_time\", \"unused\": of readings of shared nodes
  meters = \"node_meters.csv\"           # node,valid_from,valid_to,joules
  known_on = 2026-06-30                # rows recorded later do not count

  [privacy]                            # what is withheld before anything is written
  user = \"pseudonym\"                   # or \"keep\", \"drop\"; likewise job_name, ...
  rotate = \"quarter\"                   # or \"year\", \"month\"
  key = { env = \"GRIDTALLY_KEY\" }      # or { file = \"privacy.key\" }

Columns of a VO table: any of account, user, global_user (DN), user_group, partition, qos, vo to match by, and to_vo,
the result. Without to_vo the last column must be vo, and that is the result. Empty or * matches
anything; the first match wins.";

/// Column of comments in the example.
const COMMENT_COLUMN: usize = 39;

/// The example of the help: keys of sources and words of formats are those of the readers.
fn example() -> String {
    let keys: String = SOURCE_KEYS.iter().map(key_lines).collect();
    let inventories = ["auto"]
        .into_iter()
        .chain(InventoryKind::all().map(InventoryKind::as_str));
    EXAMPLE
        .replace("@keys\n", &keys)
        .replace("# @sources", &words(formats()))
        .replace("# @inventories", &words(inventories))
}

/// A key with its comment.
fn key_lines(row: &SourceKey) -> String {
    let mut text = format!("  {} = {}", row.key, row.example.value);
    for line in row.example.comment {
        let width = text.rsplit('\n').next().map_or(0, str::len);
        if width >= COMMENT_COLUMN {
            text.push('\n');
        }
        let indent = COMMENT_COLUMN.less(if width >= COMMENT_COLUMN { 0 } else { width });
        text.push_str(&" ".repeat(indent));
        text.push_str("# ");
        text.push_str(line);
    }
    text.push('\n');
    text
}

/// Text as a comment of several lines next to a key.
fn words<'a>(words: impl Iterator<Item = &'a str>) -> String {
    /// The last column of the text in comments.
    const WIDTH: usize = 62;
    let mut lines = vec![String::from("# ")];
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        let text = if words.peek().is_some() {
            format!("{word} | ")
        } else {
            word.to_owned()
        };
        if lines
            .last()
            .is_some_and(|line| line.len() + text.trim_end().len() > WIDTH)
        {
            lines.push(String::from("# "));
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(&text);
        }
    }
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    lines.join(&format!("\n{}", " ".repeat(COMMENT_COLUMN)))
}

/// Check a pipeline file: every mistake at once, before any data is touched.
///
/// Reads the pipeline file and the tables it names, and looks for its inputs, which are opened; of a source without a
/// timezone the head of each is read, to see whether one is needed. Every mistake is reported as `file:line: message`; a remark
/// that is not a mistake is reported as a warning.
#[derive(Debug, clap::Args)]
#[command(after_long_help = example())]
pub(super) struct Args {
    /// The pipeline file.
    pipeline: PathBuf,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let (plan, warnings) = Plan::load(&args.pipeline)?;
    for warning in &warnings {
        warn!("{warning}");
    }
    let (mut lines, mut missing, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
    let mut shared = CheckShared::default();
    for checked in [Store::check_location(&plan.output), hold_apart(&plan, &plan.output)] {
        wrong.extend(checked.err().map(|why| why.to_string()));
    }
    for source in plan.all_sources() {
        match plan.inputs(&source) {
            Ok(files) => {
                shared.add(&source, &files);
                wrong.extend(mistake_of(&source, &files));
                for shut in files.iter().filter_map(|file| file.open().err()) {
                    let name = &source.name;
                    warn!("source {name}: {shut}: a run counts it as unread");
                }
                let bytes: u64 = files.iter().map(|file| file.bytes).sum();
                let (name, format) = (&source.name, source.format().as_str());
                let what = if source.is_inventory() { "inventory" } else { "source" };
                let n = match files.len() {
                    1 => "1 file".to_owned(),
                    n => format!("{n} files"),
                };
                lines.push(format!("{what} {name}: {format}, {n}, {bytes} bytes"));
            }
            Err(why) if why.kind() == Kind::NoInput => missing.push(why.to_string()),
            Err(why) if why.kind() == Kind::Config => wrong.push(why.to_string()),
            Err(why) => return Err(why),
        }
    }
    for warning in shared.warnings() {
        warn!("{warning}");
    }
    if !wrong.is_empty() {
        return Err(Error::config(wrong.join("\n")));
    }
    if !missing.is_empty() {
        return Err(Error::new(Kind::NoInput, missing.join("\n")));
    }
    let output = if is_url(&plan.output) {
        plan.output.clone()
    } else {
        clean(Path::new(&plan.output)).display().to_string()
    };
    lines.push(format!("pipeline {}: good, publishes to {output}", plan.name));
    output::text(&lines.join("\n"))
}

/// What stops a run at the head of some file of a source; the first, and in how many others it is so.
fn mistake_of(source: &Arc<SourcePlan>, files: &[InputFile]) -> Option<String> {
    let is_sound = source.reader.zone.is_some() || source.is_inventory();
    let looked_at = files.iter().filter(|_| !is_sound);
    let mut mistakes = looked_at.filter_map(|file| first_mistake(source, file));
    let Written { file, line, .. } = &source.written;
    let first = format!("{file}:{line}: {}", mistakes.next()?);
    Some(match mistakes.count() {
        0 => first,
        others => format!("{first}; it is so in {others} more files of the source {}", source.name),
    })
}

/// Files that several sources read.
#[derive(Default)]
struct CheckShared {
    /// The first source that reads a file, by its path.
    first: BTreeMap<String, String>,
    /// How many files two sources share, and one of them.
    pairs: BTreeMap<(String, String), (usize, String)>,
}

impl CheckShared {
    fn add(&mut self, source: &SourcePlan, files: &[InputFile]) {
        // Any number of inventories may describe the machines.
        for file in files.iter().filter(|_| !source.is_inventory()) {
            let first = self
                .first
                .entry(file.path.clone())
                .or_insert_with(|| source.name.clone());
            if *first != source.name {
                let pair = (first.clone(), source.name.clone());
                let (n, _) = self.pairs.entry(pair).or_insert_with(|| (0, file.path.clone()));
                *n += 1;
            }
        }
    }

    fn warnings(&self) -> impl Iterator<Item = String> {
        self.pairs.iter().map(|((a, b), (n, example))| {
            format!("sources {a} and {b} read {n} of the same files, such as {example}: if their sites differ, its jobs count twice")
        })
    }
}
