//! `gridtally init`

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use tracing::warn;

use super::output;
use super::progress::Terminal;
use crate::error::{Error, Kind, Result};
use crate::inspect::init::{InspectedInput, PipelineDraft, draft};
use crate::inspect::{self, InspectLook};
use crate::runtime::Progress as _;
use crate::sources::input::{clean, legible};
use crate::sources::location::is_url;

/// Write a commented pipeline file for dumps.
///
/// Reads each dump as `inspect` does and writes the sources and inventories it proposes. What a dump does not state, such
/// as the site or the zone of its times, is left empty, with a comment; `gridtally check` names the line of each. A file
/// that exists is never overwritten.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  gridtally init dumps/sacct-2026-03.txt.xz
  gridtally check pipeline.toml

  A spool of APEL messages and a listing of nodes:
    gridtally init --pipeline bay.toml spool nodes.csv")]
pub(super) struct Args {
    /// Files, folders or URLs.
    #[arg(required = true, value_name = "DUMP")]
    dump: Vec<PathBuf>,

    /// The pipeline file to write.
    #[arg(long, value_name = "FILE", default_value = "pipeline.toml")]
    pipeline: PathBuf,
}

/// Where the pipeline file will be, and so how it writes the paths of dumps.
struct PipelinePlace {
    /// The current folder.
    here: PathBuf,
    /// The pipeline file, absolute.
    file: String,
    /// Whether it is in the current folder, so that paths relative to this one are good in it.
    is_here: bool,
}

impl PipelinePlace {
    fn new(pipeline: &Path) -> Result<Self> {
        let here = PathBuf::from(legible(std::env::current_dir()?.as_os_str()));
        let file = clean(&here.join(pipeline));
        Ok(Self {
            is_here: file.parent() == Some(&here),
            file: file.to_string_lossy().into_owned(),
            here,
        })
    }

    /// What `word` names, as yet without files. An absolute folder stays absolute.
    fn input(&self, word: &Path) -> InspectedInput {
        let is_relative = self.is_here && word.is_dir() && !word.is_absolute();
        InspectedInput {
            path: self.path(word, &legible(word.as_os_str())),
            base: is_relative.then(|| self.here.clone()),
            files: Vec::new(),
        }
    }

    /// The path of what was found by `word`. Where this is a folder it is absolute, so that files are known to be in it however
    /// it is written; that of a file is as written where the pipeline file is in the current folder.
    fn path(&self, word: &Path, path: &str) -> String {
        if is_url(path) {
            path.to_owned()
        } else if word.is_dir() {
            clean(&self.here.join(path)).to_string_lossy().into_owned()
        } else if self.is_here {
            path.to_owned()
        } else {
            let path: PathBuf = self.here.join(path).components().collect();
            path.to_string_lossy().into_owned()
        }
    }
}

pub(super) fn run(args: &Args) -> Result<()> {
    // Known before dumps are read; what happens meanwhile is found when the file is made.
    if args.pipeline.exists() {
        return Err(exists(&args.pipeline));
    }
    let place = PipelinePlace::new(&args.pipeline)?;
    let progress = Terminal::new();
    let mut inputs = Vec::new();
    for word in &args.dump {
        let (files, troubles) = inspect::files(word)?;
        if let Some(trouble) = troubles.into_iter().next() {
            return Err(trouble);
        }
        let mut input = place.input(word);
        for file in files {
            progress.begin(&file.path, 0, "rows");
            let report = inspect::inspect(&file, InspectLook::Usual, &progress);
            progress.end();
            let report = report?;
            input.files.push((place.path(word, &report.path), report));
        }
        inputs.push(input);
    }
    let name = args
        .pipeline
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    let name = name.ok_or_else(|| Error::new(Kind::Usage, format!("{} names no file", args.pipeline.display())))?;
    let draft = draft(&name, &place.file, &inputs);
    for file in &draft.unknown {
        warn!("{file}");
    }
    if draft.source_n == 0 {
        return Err(Error::new(
            Kind::Data,
            "no file is a dump or a listing that gridtally reads: nothing is written",
        ));
    }
    write(&args.pipeline, &draft)?;
    output::text(&summary(&args.pipeline, &draft))
}

/// Writes a file that does not exist.
fn write(path: &Path, draft: &PipelineDraft) -> Result<()> {
    let at = |why: std::io::Error| Error::io(format!("{} cannot be written", path.display())).because(why);
    let mut file = match OpenOptions::new().write(true).create_new(true).open(path) {
        Err(why) if why.kind() == ErrorKind::AlreadyExists => return Err(exists(path)),
        opened => opened.map_err(at)?,
    };
    file.write_all(draft.text.as_bytes()).map_err(at)
}

fn exists(path: &Path) -> Error {
    let message = format!(
        "{} exists and is not overwritten; --pipeline names another file",
        path.display()
    );
    Error::new(Kind::Usage, message)
}

fn summary(path: &Path, draft: &PipelineDraft) -> String {
    let path = path.display();
    let n = draft.source_n;
    let mut lines = vec![format!("{path}: {n} source{}", if n == 1 { "" } else { "s" })];
    lines.extend(
        draft
            .open
            .iter()
            .map(|(line, key)| format!("{path}:{line}: fill in {key}")),
    );
    lines.push(format!("then: gridtally check {path}"));
    lines.join("\n")
}
