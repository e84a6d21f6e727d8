//! A commented pipeline file for dumps that were inspected: known values are filled in, unknown ones are left empty.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use super::folders::{is_in, whole_folders};
use super::propose;
use super::report::FileReport;
use super::toml_text::quoted;
use crate::sources::input::relative;

/// What one word of the command line named: a file, or a folder with the files in it.
#[derive(Debug)]
pub struct InspectedInput {
    /// A path or URL; absolute and without `..` where it is a folder.
    pub path: String,
    /// The folder that the pipeline file writes the paths relative to; `None` where it writes them as they are.
    pub base: Option<PathBuf>,
    /// Every file that was found there, with its own path: below that of the folder.
    pub files: Vec<(String, FileReport)>,
}

impl InspectedInput {
    /// A path in it as written in the pipeline file.
    fn written(&self, path: &str) -> String {
        let base = self.base.as_ref();
        base.map_or_else(|| path.to_owned(), |base| relative(Path::new(path), base))
    }
}

/// A pipeline file to start from.
#[derive(Debug, PartialEq, Eq)]
pub struct PipelineDraft {
    /// Its text.
    pub text: String,
    /// Tables of sources and inventories in it.
    pub source_n: usize,
    /// Keys that are empty, with their lines: a person fills them in.
    pub open: Vec<(usize, String)>,
    /// Files for which no source can be proposed.
    pub unknown: Vec<UnknownFile>,
}

/// A file for which no source can be proposed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFile {
    /// Its path as written in the pipeline file.
    pub path: String,
    /// Why, as `inspect` reports it.
    pub reason: String,
}

impl fmt::Display for UnknownFile {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "not read: {}: {}", self.path, self.reason)
    }
}

/// Files that one `[[source]]` or `[[inventory]]` reads.
struct ProposedSource {
    title: String,
    name: String,
    keys: Vec<String>,
    paths: Vec<String>,
    findings: Vec<String>,
}

/// Writes the pipeline file for `inputs`; `file` is where it will be, absolute. Files that one table can read share a source.
#[must_use]
pub fn draft(name: &str, file: &str, inputs: &[InspectedInput]) -> PipelineDraft {
    let mut sources: Vec<ProposedSource> = Vec::new();
    let (mut remarks, mut unknown) = (Vec::new(), Vec::new());
    for input in inputs {
        // The source of each file, by its place in `sources`; none of a file that no source reads.
        let mut owners: BTreeMap<&str, Option<usize>> = BTreeMap::new();
        // A folder that holds the pipeline file is not named: its results come into it, too.
        owners.insert(file, None);
        for (path, report) in &input.files {
            let Some(proposal) = &report.proposal else {
                unknown.push(UnknownFile {
                    path: input.written(path),
                    reason: report.refusal(),
                });
                owners.insert(path, None);
                continue;
            };
            let Some(found) = proposed(proposal) else {
                remarks.extend(proposal.lines().map(str::to_owned));
                owners.insert(path, None);
                continue;
            };
            let place = sources.iter().position(|source| source.is_like(&found));
            let place = place.unwrap_or(sources.len());
            let keys = found.keys.clone();
            if place == sources.len() {
                sources.push(found);
            }
            owners.insert(path, Some(place));
            if let Some(source) = sources.get_mut(place) {
                source.merge(keys);
                source.paths.push(input.written(path));
                source.add_findings(report);
            }
        }
        // A folder of one kind of file is named by itself: what comes into it later is read, too.
        for (folder, place) in whole_folders(&input.path, &owners) {
            if let Some(source) = sources.get_mut(place) {
                source.take_folder(&input.written(folder));
            }
        }
    }
    let clusters = clusters(inputs);
    for source in &mut sources {
        source.suggest_cluster(&clusters);
    }
    let mut names = BTreeSet::new();
    for source in &mut sources {
        source.name = unique(&source.name, &mut names);
    }
    let text = written(name, &sources, &remarks, &unknown);
    PipelineDraft {
        source_n: sources.len(),
        open: open(&text),
        text,
        unknown,
    }
}

impl ProposedSource {
    /// Whether one table can read the files of both: what differs is remarks and what becomes of bad messages.
    fn is_like(&self, other: &Self) -> bool {
        let decisive = |key: &&String| !key.starts_with('#') && !key.starts_with("acceptance = ");
        self.title == other.title && (self.keys.iter().filter(decisive)).eq(other.keys.iter().filter(decisive))
    }

    /// Takes in what another proposal has besides.
    fn merge(&mut self, keys: Vec<String>) {
        for key in keys {
            if !self.keys.contains(&key) {
                self.keys.push(key);
            }
        }
    }

    /// Names a folder in place of the files in it, and the source by it where it is the only one.
    fn take_folder(&mut self, folder: &str) {
        self.paths.retain(|path| !is_in(path, folder));
        self.paths.push(folder.to_owned());
        let name = propose::name(folder.trim_end_matches('/'));
        if self.paths.len() == 1 && name != propose::NAMELESS {
            self.name = name;
        }
    }

    /// Writes next to an empty cluster which ones the jobs of the other dumps name.
    fn suggest_cluster(&mut self, clusters: &BTreeSet<&str>) {
        /// The most names that are written.
        const MOST: usize = 4;
        if clusters.is_empty() || clusters.len() > MOST {
            return;
        }
        let named: Vec<String> = clusters.iter().map(|cluster| quoted(cluster)).collect();
        for key in self.keys.iter_mut().filter(|key| key.starts_with("cluster = \"\"")) {
            key.push_str("; jobs of these dumps name ");
            key.push_str(&named.join(", "));
        }
    }

    /// What a person should know of a file of this source, each finding once.
    fn add_findings(&mut self, report: &FileReport) {
        for finding in report.problems.iter().chain(&report.failure) {
            let text = format!("{}: {finding}", report.path);
            if !self.findings.iter().any(|known| known.ends_with(finding.as_str())) {
                self.findings.push(text);
            }
        }
    }
}

/// The clusters that dumps of jobs name.
fn clusters(inputs: &[InspectedInput]) -> BTreeSet<&str> {
    let files = inputs.iter().flat_map(|input| &input.files);
    let of_jobs = files.filter(|(_, report)| report.job_n > Some(0));
    of_jobs
        .flat_map(|(_, report)| &report.clusters)
        .map(|count| count.value.as_str())
        .collect()
}

/// A proposal in parts; `None` when it is a remark for another source.
fn proposed(proposal: &str) -> Option<ProposedSource> {
    let mut lines = proposal.lines();
    let title = lines.next().filter(|line| line.starts_with("[["))?.to_owned();
    let (mut name, mut keys) = (None, Vec::new());
    for line in lines {
        match line.split_once(" = ") {
            Some(("name", text)) => name = Some(text.trim_matches('"').to_owned()),
            Some(("paths", _)) => {}
            _ => keys.push(line.to_owned()),
        }
    }
    Some(ProposedSource {
        title,
        name: name?,
        keys,
        paths: Vec::new(),
        findings: Vec::new(),
    })
}

/// The name, with a number behind it if another source has it.
fn unique(name: &str, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2..).map(|number: usize| format!("{name}-{number}"));
    let free = std::iter::once(name.to_owned())
        .chain(numbered)
        .find(|name| !taken.contains(name));
    let free = free.unwrap_or_else(|| name.to_owned());
    taken.insert(free.clone());
    free
}

/// The keys that are empty, with their lines.
fn open(text: &str) -> Vec<(usize, String)> {
    let lines = text.lines().zip(1..);
    lines
        .filter_map(|(line, number)| {
            let (key, value) = line.split_once(" = ")?;
            let is_open = !key.starts_with('#') && (value.starts_with("\"\"") || value.starts_with("{}"));
            is_open.then(|| (number, key.to_owned()))
        })
        .collect()
}

fn written(name: &str, sources: &[ProposedSource], remarks: &[String], unknown: &[UnknownFile]) -> String {
    /// The most findings of a source that are written to the file.
    const FINDINGS: usize = 8;
    let mut lines = vec![
        "# Fill in what is empty (\"\"); `gridtally check` names each such line. All keys: `gridtally help check`.".to_owned(),
        String::new(),
        "[pipeline]".to_owned(),
        format!("name = {}", quoted(name)),
        "output = \"out\"                # folder or URL that results are published to, relative to this file".to_owned(),
        "calendar_timezone = \"UTC\"     # where days, months and years are cut".to_owned(),
        "allocation_year_start = \"01-01\" # first day of an allocation year, MM-DD".to_owned(),
        "attribution = \"prorated\"      # jobs over the end of a month are split; or \"by-end\", as APEL and GRACC count"
            .to_owned(),
        "grain = \"month\"               # or \"day\"".to_owned(),
        "# overlap = \"jobs\"            # what counts where jobs and summaries of a month arrive; or \"summaries\", \"reject\""
            .to_owned(),
    ];
    for source in sources {
        lines.push(String::new());
        for finding in source.findings.iter().take(FINDINGS) {
            lines.push(comment(finding));
        }
        lines.push(source.title.clone());
        lines.push(format!("name = {}", quoted(&source.name)));
        let paths: Vec<String> = source.paths.iter().map(|path| quoted(path)).collect();
        if let [path] = paths.as_slice() {
            lines.push(format!("paths = [{path}]"));
        } else {
            lines.push(
                "paths = [                     # files, folders, globs such as \"dumps/*.txt.gz\", URLs".to_owned(),
            );
            lines.extend(paths.iter().map(|path| format!("    {path},")));
            lines.push("]".to_owned());
        }
        lines.extend(source.keys.iter().cloned());
    }
    if !remarks.is_empty() {
        lines.push(String::new());
        lines.extend(remarks.iter().cloned());
    }
    if !unknown.is_empty() {
        lines.push(String::new());
        lines.extend(unknown.iter().map(|file| comment(&file.to_string())));
    }
    lines.extend([
        String::new(),
        "# [normalise]                  # work by dated benchmarks: see the guide to benchmarks".to_owned(),
        "# benchmarks = \"benchmarks.csv\"".to_owned(),
        "# missing = \"null\"             # jobs without a known benchmark have no work; or \"reject\"".to_owned(),
        String::new(),
        "# [overhead]                   # what nodes could still have run, where listings state what they have"
            .to_owned(),
        "# [[overhead.unit]]            # what one more job would take".to_owned(),
        "# name = \"1core+2GiB\"".to_owned(),
        "# core = 1".to_owned(),
        "# memory = \"2GiB\"".to_owned(),
        String::new(),
        "# [[charge]]                   # what jobs cost: see `gridtally policy`".to_owned(),
        "# policies = [\"policies/site.toml\"]".to_owned(),
    ]);
    lines.join("\n") + "\n"
}

/// A line of comment, whatever characters the text has.
fn comment(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("# {plain}")
}
