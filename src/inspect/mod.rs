//! What is this file? Looks, reads all of it as a run would, counts, and proposes a source for it.

mod clock_changes;
mod count;
mod folders;
pub mod init;
mod propose;
mod report;
mod toml_text;

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use count::InspectCounts;

use crate::error::{Error, Kind, Result};
use crate::numbers::Extent;
use crate::runtime::Progress;
use crate::sources::apel::acceptance::Acceptance;
use crate::sources::compression::{Compression, Damage, peek, salvage};
use crate::sources::dialect::{Dialect, SiteNaming, SourceOption};
use crate::sources::hints::Hints;
use crate::sources::input::{self, InputFile};
use crate::sources::location::is_url;
use crate::sources::options::ReaderOptions;
use crate::sources::registry::HEAD_BYTES;
use crate::sources::repair::is_repair;
use crate::sources::sacct::SacctOptions;
use crate::sources::steps::until_damage;
use crate::sources::swf::SwfOptions;
use crate::sources::{diagnosis, registry, swf};
use crate::time::Zone;

pub use report::{FileReport, InspectedPeriod, ReasonCount, ValueCount};

/// How closely a file is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InspectLook {
    /// As a run reads it.
    Usual,
    /// The two forms of records that are there twice are compared, too.
    CrossCheck,
    /// Of Slurm text, only at the columns the report shows: what a run would refuse for another one counts as a job.
    Quick,
}

/// Looks into one file.
///
/// # Errors
/// When the file cannot be opened. An unknown dialect, or damage further on, is a finding, not an error.
pub fn inspect(input: &InputFile, look: InspectLook, progress: &dyn Progress) -> Result<FileReport> {
    let at_file = |why: Error| why.at("file", &input.path);
    let (magic, raw) = peek(input.open()?, 16).map_err(at_file)?;
    let compression = Compression::of(&magic);
    let (text, damage) = match salvage(raw) {
        Ok(salvaged) => salvaged,
        Err(why) if why.kind() == Kind::Data => {
            let mut report = FileReport::new(input, compression, None, None);
            report.problems.push(why.to_string());
            report.first_bytes = Some(printable(&magic));
            return Ok(report);
        }
        Err(why) => return Err(at_file(why)),
    };
    let (head, text) = peek(text, HEAD_BYTES).map_err(at_file)?;
    let dialect = registry::recognise(&head);
    let hints = diagnosis::of(dialect, &head);
    let mut report = FileReport::new(input, compression, dialect, hints.version.clone());
    report.problems.extend(hints.problems.iter().cloned());
    if is_repair(&head) {
        let problem = "a repair file, made by gridtally replay: put it among the paths of the source it names";
        report.problems.push(problem.to_owned());
    }
    let Some(dialect) = dialect else {
        report.first_bytes = Some(printable(&head)).filter(|bytes| !bytes.is_empty());
        report.failure = damage.take().map(|why| why.to_string());
        return Ok(report);
    };
    report.column_n = hints.column_n;
    if let Some(layout) = hints.layout {
        let problem = format!(
            "no header: the columns have the fixed order of layout = \"{}\"",
            layout.as_str()
        );
        report.problems.push(problem);
    }
    report.delimiter.clone_from(&hints.delimiter);
    report.times.clone_from(&hints.times);
    if hints.naive_times {
        let problem = "times are naive: set timezone in the source (counted here as if they were UTC)";
        report.problems.push(problem.to_owned());
    }
    let is_double = look == InspectLook::CrossCheck;
    let new_counts = || {
        let names_site = dialect.row().site != SiteNaming::Source;
        let mut counts = InspectCounts::new(dialect);
        if names_site {
            counts.require_sites();
        }
        if is_double {
            counts.compare_twins();
        }
        if hints.naive_times {
            counts.look_for_clock_changes();
        }
        if look == InspectLook::Quick {
            counts.be_quick();
        }
        counts
    };
    let mut counts = new_counts();
    // What a reader refuses, or damage in the middle, is a finding: what came before it still counts.
    let usual = stand_in(dialect, &hints);
    report.failure = read(dialect, usual, text, &damage, &mut counts, progress);
    if dialect.uses(SourceOption::Acceptance) && counts.refused() > 0 {
        let options = ReaderOptions {
            acceptance: Acceptance::Salvage,
            ..stand_in(dialect, &hints)
        };
        let mut salvaged = new_counts();
        let again = input.open().and_then(salvage);
        let is_read = again.is_ok_and(|(text, damage)| {
            read(dialect, options, text, &damage, &mut salvaged, progress).is_some() == report.failure.is_some()
        });
        let saved_n = counts.refused().less(salvaged.refused());
        // What comes through a pipe is gone.
        if is_read && salvaged.rows() == counts.rows() && saved_n > 0 {
            report.salvaged_row_n = Some(saved_n);
            report.problems.push(format!(
                "APEL's server refuses the whole of a message for one bad record: acceptance = \"salvage\" keeps {saved_n} \
                 good rows of such messages (counted here as kept)"
            ));
            counts = salvaged;
        }
    }
    let is_lost = report.failure.is_some() && counts.rows() == 0;
    if hints.has_cpu_column && counts.jobs() > 0 && counts.steps() == 0 && !counts.has_cpu() {
        let problem = "-X dump: CPU time unknown (without step rows sacct prints 00:00:00 for every job)";
        report.problems.push(problem.to_owned());
    }
    if dialect.inventory().is_some() {
        counts.fill_inventory(&mut report);
    } else {
        counts.fill(&mut report);
    }
    let is_empty_listing = report.has_settings_only();
    if is_empty_listing {
        let problem = "only settings: no line names a node, a partition or an association";
        report.problems.push(problem.to_owned());
    }
    // A dump of which nothing can be read would be refused by a run, however it is named.
    report.proposal = (!is_lost && !is_empty_listing).then(|| propose::source(&report, dialect, &hints));
    Ok(report)
}

/// Counts what can be read; what is wrong with the rest.
fn read(
    dialect: Dialect,
    options: ReaderOptions,
    text: Box<dyn Read + Send>,
    damage: &Damage,
    counts: &mut InspectCounts,
    progress: &dyn Progress,
) -> Option<String> {
    let pieces = match dialect.pieces(text, Arc::new(options)) {
        Ok(pieces) => until_damage(pieces, damage.clone()),
        Err(why) => return Some(why.to_string()),
    };
    for work in pieces {
        let before = counts.rows();
        match work {
            Ok(work) => work(counts),
            Err(why) => return Some(why.to_string()),
        }
        progress.add(counts.rows().less(before));
    }
    None
}

/// The source a file is read as when no pipeline configures it: nothing overridden, good records of bad messages kept.
pub(crate) fn stand_in(dialect: Dialect, hints: &Hints) -> ReaderOptions {
    ReaderOptions {
        zone: Some(Zone::utc()),
        sacct: SacctOptions {
            layout: hints.layout,
            ..SacctOptions::default()
        },
        swf: SwfOptions {
            unix_start_time: Some(0),
            is_start_submit: hints.needed.contains(&swf::START_FROM),
        },
        ..ReaderOptions::new("inspect", dialect.format())
    }
}

/// The files a word of the command line means: one file, all files of a folder, or those of a URL; and an error for each
/// part of a folder that could not be looked into.
///
/// # Errors
/// [`crate::error::Kind::NoInput`] when there is no such file.
pub fn files(word: &Path) -> Result<(Vec<InputFile>, Vec<Error>)> {
    let url = word.to_str().filter(|word| is_url(word));
    if url.is_none() && !word.is_dir() {
        let file = InputFile::local(word, input::legible(word.as_os_str()))?;
        return Ok((vec![file], Vec::new()));
    }
    let here = std::env::current_dir()?;
    let (found, troubles) = match url {
        Some(url) => (input::find(url, &here)?, Vec::new()),
        None => input::below(&here.join(word), &here),
    };
    if found.is_empty() && troubles.is_empty() {
        return Err(Error::new(Kind::NoInput, format!("{} matches no file", word.display())));
    }
    Ok((found, troubles))
}

/// The first bytes, fit for a terminal.
fn printable(head: &[u8]) -> String {
    const SHOWN: usize = 64;
    head.get(..SHOWN).unwrap_or(head).escape_ascii().to_string()
}
