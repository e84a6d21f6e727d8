//! Inputs and output must not overlap: what is published must not be read as input by the next run. Nor may what a run writes
//! elsewhere be written over either of them.

use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern};
use url::Url;

use crate::config::Plan;
use crate::error::{Error, Kind, Result};
use crate::sources::input::{clean, is_skipped};
use crate::sources::location::is_url;
use crate::store::{Manifest, Store};

/// As files are found.
const MATCHING: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// Refuses an output that is in what is read, and inputs that are in the output, also before either exists.
///
/// # Errors
/// [`crate::error::Kind::Config`] naming the source, the input and the output.
pub(crate) fn hold_apart(plan: &Plan, output: &str) -> Result<()> {
    for source in plan.all_sources() {
        for input in &source.paths {
            let why = match (place(input), place(output)) {
                (Some(input), Some(output)) => clash(&real(&input), &real(&output)),
                (None, None) => clash(
                    Path::new(input.trim_end_matches('/')),
                    Path::new(output.trim_end_matches('/')),
                ),
                _ => None,
            };
            if let Some(why) = why {
                let message = format!(
                    "source {}: {why}: what is published would be read as input; put one of them elsewhere",
                    source.name
                );
                return Err(Error::config(message).at("input", input).at("output", output));
            }
        }
    }
    Ok(())
}

/// Refuses an output in a folder of a lake: what is published there would not be in the manifest of that lake, which verifying it
/// reports as damage.
///
/// # Errors
/// [`Kind::Config`] naming the output and the lake around it.
pub(crate) fn hold_outside_lakes(output: &str) -> Result<()> {
    // Fallback: a folder that cannot be read, or whose manifest is of another program, is not known to be a lake.
    let is_lake = |folder: &&String| {
        Store::open_existing(folder)
            .and_then(|store| Manifest::load(&store))
            .is_ok_and(|found| found.is_some())
    };
    match folders_above(output).iter().find(is_lake) {
        Some(lake) => {
            let message =
                "the output is in a folder of another lake, which would not verify any more; put it elsewhere";
            Err(Error::config(message).at("output", output).at("lake", lake))
        }
        None => Ok(()),
    }
}

/// The folders that an output is in, and the bucket.
fn folders_above(output: &str) -> Vec<String> {
    if let Some(path) = place(output) {
        let above = real(&path);
        let above = above.ancestors().skip(1);
        return above.map(|folder| folder.display().to_string()).collect();
    }
    let Some((scheme, path)) = output.trim_end_matches('/').split_once("://") else {
        return Vec::new();
    };
    let above = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
    above.map(|folder| format!("{scheme}://{folder}")).collect()
}

/// Refuses a file that a run writes for other programs, where that would be written over its pipeline file, an input or what is
/// published. `what` names it for people.
///
/// # Errors
/// [`Kind::Usage`] naming the file and what it is.
pub(crate) fn hold_file_apart(plan: &Plan, output: &str, what: &str, file: &Path) -> Result<()> {
    let wrong = |why: &str| {
        let message = format!(
            "{what} cannot be written to {}: {why}; name another file",
            file.display()
        );
        Err(Error::new(Kind::Usage, message))
    };
    let path = real(&std::path::absolute(file).map_or_else(|_| file.to_owned(), |path| clean(&path)));
    if path == real(&plan.file) {
        return wrong("it is the pipeline file");
    }
    if place(output).is_some_and(|output| path.starts_with(real(&output))) {
        return wrong("it is in the output");
    }
    for source in plan.all_sources() {
        let mut inputs = source.paths.iter().filter_map(|input| place(input));
        if inputs.any(|input| clash(&real(&input), &path).is_some()) {
            return wrong(&format!("the source {} reads it", source.name));
        }
    }
    Ok(())
}

/// The path on the disk; `None` for an object store.
fn place(text: &str) -> Option<PathBuf> {
    // Fallback: a URL that is none is refused where the output is opened.
    if let Some(url) = text.starts_with("file://").then(|| Url::parse(text).ok()).flatten() {
        // Fallback: a URL of another machine names no folder of this one.
        return url.to_file_path().ok();
    }
    (!is_url(text)).then(|| std::path::absolute(text).map_or_else(|_| PathBuf::from(text), |path| clean(&path)))
}

/// A path without links, as far as it is there.
fn real(path: &Path) -> PathBuf {
    let there = path
        .ancestors()
        // Fallback: what is not there yet has no links, its parent may.
        .find_map(|there| Some((there, there.canonicalize().ok()?)));
    let Some((there, real)) = there else {
        return path.to_owned();
    };
    // By its parts: where nothing is left to be joined, a join ends the path with a slash, which no pattern matches.
    path.strip_prefix(there)
        .map_or_else(|_| path.to_owned(), |rest| real.join(rest).components().collect())
}

fn clash(input: &Path, output: &Path) -> Option<&'static str> {
    if input.starts_with(output) && input != output {
        return Some("the input is in the output");
    }
    // Fallback: a pattern that is none is refused where inputs are found.
    let pattern = Pattern::new(&input.to_string_lossy()).ok();
    let is_read = |folder: &&Path| {
        let is_matched = || {
            let pattern = pattern.as_ref()?;
            Some(pattern.matches_path_with(folder, MATCHING))
        };
        *folder == input || is_matched() == Some(true)
    };
    // Readers leave out everything below a folder with such a name.
    let is_left_out = |folder: &Path| {
        let below = output.strip_prefix(folder).map(Path::components);
        below.is_ok_and(|mut parts| parts.any(|part| is_skipped(&part.as_os_str().to_string_lossy())))
    };
    let read = output.ancestors().find(is_read)?;
    (!is_left_out(read)).then_some("the output is in the input")
}
