//! A source for the pipeline file, from the findings of a file.

use super::report::FileReport;
use super::toml_text::quoted;
use crate::sources::dialect::{Content, Dialect, SiteNaming, SourceOption};
use crate::sources::hints::Hints;
use crate::sources::inventory::InventoryKind;
use crate::sources::swf;

/// `[[source]]` with comments where a person must decide.
pub(super) fn source(report: &FileReport, dialect: Dialect, hints: &Hints) -> String {
    if let Some(kind) = dialect.inventory() {
        let mut lines = vec![
            "[[inventory]]".to_owned(),
            format!("name = {}", quoted(&name(&report.path))),
            format!("format = {}", quoted(kind.as_str())),
            format!("paths = [{}]", quoted(&report.path)),
        ];
        if report.clusters.is_empty() {
            lines.push("cluster = \"\"              # the file names no cluster".to_owned());
        }
        if kind == InventoryKind::SwfMachines {
            lines
                .push("nodes = {}                # which are of each kind, such as { fat = \"fat[1-20]\" }".to_owned());
        }
        if hints.naive_times {
            lines.push("timezone = \"\"             # zone of the client that printed these times".to_owned());
        }
        if report.problems.iter().any(|problem| problem.contains("as_of")) {
            lines.push(
                "as_of = \"\"                # the day this was true, or \"path\" if the path names it".to_owned(),
            );
        }
        return lines.join("\n");
    }
    if dialect.row().content == Content::GridIdentities {
        let path = quoted(&report.path);
        return format!("# in the [[source]] of the batch system's log:\n# blah = [{path}]");
    }
    let mut lines = vec![
        "[[source]]".to_owned(),
        format!("name = {}", quoted(&name(&report.path))),
        format!("format = {}", quoted(dialect.format().as_str())),
        format!("paths = [{}]", quoted(&report.path)),
    ];
    // Values left empty on purpose: `check` refuses the source until a person has decided.
    match dialect.row().site {
        SiteNaming::Members if !report.sites.is_empty() => {}
        SiteNaming::Source | SiteNaming::Members => lines.push(format!(
            "site = \"\"                 # {} names no site",
            dialect.as_str()
        )),
        SiteNaming::Record if report.sites.is_empty() && report.job_n > Some(0) => {
            lines.push("site = \"\"                 # the records name no site".to_owned());
        }
        SiteNaming::Record => {}
    }
    if dialect.uses(SourceOption::CeLogs) && report.clusters.is_empty() {
        let what = if dialect.uses(SourceOption::ScaledTo) {
            "log"
        } else {
            "dump"
        };
        lines.push(format!("cluster = \"\"              # the {what} names no cluster"));
    }
    if hints.needed.contains(&swf::UNIX_START_TIME) {
        lines.push("unix_start_time = 0         # Unix second from which its times count".to_owned());
    }
    if hints.needed.contains(&swf::START_FROM) {
        lines.push(
            "start_from = \"submit\"       # no job has a wait time: its submit time is taken for its start".to_owned(),
        );
    }
    if hints.naive_times {
        lines.push("timezone = \"\"             # zone of the client that printed these times".to_owned());
    }
    if let Some(layout) = hints.layout {
        lines.push(format!("layout = {}", quoted(layout.as_str())));
    }
    if let Some(delimiter) = hints.delimiter.as_ref().filter(|delimiter| delimiter.as_str() != "|") {
        lines.push(format!("delimiter = {}", quoted(delimiter)));
    }
    lines.extend(dialect.row().proposal.iter().map(|line| (*line).to_owned()));
    if report.salvaged_row_n.is_some() {
        lines.push(
            "acceptance = \"salvage\"    # keep the good records of messages that APEL's server refuses whole"
                .to_owned(),
        );
    }
    if report.aggregates.iter().any(|count| count.value != "sync") {
        lines.push(
            "# publication = \"source\"    # if a file holds all that its publisher has of a month; or \"site\""
                .to_owned(),
        );
        lines.push(
            "# summaries = \"snapshot\"    # then a later file replaces the month; as it is, row by row".to_owned(),
        );
    }
    lines.join("\n")
}

/// What is called so whose path makes no name.
pub(super) const NAMELESS: &str = "source";

/// The name of the file without folders and endings, as far as it makes a name.
pub(super) fn name(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.split('.').next().unwrap_or(file);
    let name: String = stem
        .chars()
        .map(|letter| {
            if letter.is_alphanumeric() {
                letter.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .collect();
    let name = name.trim_matches('-').to_owned();
    if name.is_empty() { NAMELESS.to_owned() } else { name }
}
