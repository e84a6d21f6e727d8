//! `[[inventory]]` as it is written, and what it means.

use std::sync::Arc;

use toml::de::DeValue;

use super::as_of::AsOf;
use super::compiler::Compiler;
use super::fingerprint;
use super::reject_limits::{RejectLimits, reject_limits};
use super::source_plan::SourcePlan;
use crate::dedupe::options::IntakeOptions;
use crate::dedupe::summary::publishing::Publishing;
use crate::diagnostics::Problems;
use crate::diagnostics::section::{At, Section, kind};
use crate::privacy::Privacy;
use crate::reference::hostlist::Hostlist;
use crate::sources::format::Format;
use crate::sources::inventory::InventoryKind;
use crate::sources::options::ReaderOptions;
use crate::time::Zone;

/// `[[inventory]]`
#[derive(Debug)]
pub struct InventorySpec {
    /// Line of the table.
    pub line: usize,
    /// `name`
    pub name: Option<At<String>>,
    /// `format`
    pub format: Option<At<Option<InventoryKind>>>,
    /// `paths`
    pub paths: Vec<At<String>>,
    /// `site`
    pub site: Option<At<String>>,
    /// `cluster`
    pub cluster: Option<At<String>>,
    /// `as_of`
    pub as_of: Option<At<String>>,
    /// `complete`
    pub complete: Option<bool>,
    /// `timezone`
    pub timezone: Option<At<String>>,
    /// `nodes`: which are of each kind of a machine file.
    pub nodes: Vec<(String, At<String>)>,
    /// `max_rejected` and `max_unread`
    pub limits: RejectLimits,
}

/// Reads every `[[inventory]]`.
pub(crate) fn inventories(top: &Section<'_>, problems: &mut Problems) -> Vec<InventorySpec> {
    const KEYS: &[&str] = &[
        "name",
        "format",
        "paths",
        "site",
        "cluster",
        "as_of",
        "complete",
        "timezone",
        "nodes",
        "max_rejected",
        "max_unread",
    ];
    let kinds = InventoryKind::all().map(|kind| (kind.as_str(), Some(kind)));
    let words: Vec<(&str, Option<InventoryKind>)> = [("auto", None)].into_iter().chain(kinds).collect();
    let sections = top.sections("inventory", "[[inventory]]", KEYS, problems);
    let specs = sections.iter().map(|section| {
        if !section.has("paths") {
            let message = "[[inventory]] has no paths (files, folders, globs or URLs)";
            section.wrong(section.line(), message, problems);
        }
        InventorySpec {
            line: section.line(),
            name: section.required_folder_name("name", "one of its own for every inventory and source", problems),
            format: section.word("format", &words, problems),
            paths: section.texts("paths", problems).map_or_else(Vec::new, |at| at.value),
            site: section.folder_name("site", problems),
            cluster: section.text("cluster", problems),
            as_of: as_of(section, problems),
            complete: complete(section, problems),
            timezone: section.text("timezone", problems),
            nodes: nodes(section, problems),
            limits: reject_limits(section, problems),
        }
    });
    specs.collect()
}

/// Host lists by kind of node.
fn nodes(section: &Section<'_>, problems: &mut Problems) -> Vec<(String, At<String>)> {
    let Some(kinds) = section.free_section("nodes", "nodes", problems) else {
        return Vec::new();
    };
    let entries = kinds.entries().into_iter().filter_map(|(kind, _, line)| {
        let list = kinds.text(kind, problems)?;
        if let Err(why) = Hostlist::parse(&list.value) {
            let message = format!("nodes.{kind} = \"{}\" is not a list of nodes: {why}", list.value);
            section.wrong(line, message, problems);
            return None;
        }
        Some((kind.to_owned(), list))
    });
    entries.collect()
}

/// Whether listings name all nodes.
fn complete(section: &Section<'_>, problems: &mut Problems) -> Option<bool> {
    match section.get("complete")? {
        (DeValue::Boolean(is_complete), _) => Some(*is_complete),
        (other, line) => {
            let message = format!("complete must be true or false, not {}", kind(other));
            section.wrong(line, message, problems);
            None
        }
    }
}

/// A day or an instant, with or without quotes, or where to find it.
fn as_of(section: &Section<'_>, problems: &mut Problems) -> Option<At<String>> {
    let (value, line) = section.get("as_of")?;
    match value {
        DeValue::Datetime(time) => Some(At {
            value: time.to_string(),
            line,
        }),
        DeValue::String(_) => section.text("as_of", problems),
        other => {
            let message = format!("as_of must be a day, an instant or \"path\", not {}", kind(other));
            section.wrong(line, message, problems);
            None
        }
    }
}

impl Compiler {
    /// What is legal in an `[[inventory]]` and probably not meant.
    pub(crate) fn doubt_inventory(&mut self, spec: &InventorySpec) {
        let kind = spec.format.as_ref().and_then(|at| at.value);
        let has_times = matches!(
            kind,
            None | Some(InventoryKind::SacctmgrEvent | InventoryKind::ScontrolJob)
        );
        if spec.timezone.is_none() && has_times {
            let message =
                "no timezone: events and waiting jobs are rejected when their times are printed without an offset";
            self.doubt(spec.line, message);
        }
        // Whether the files of the others state it is known when they are read.
        if spec.as_of.is_none() && kind.is_some_and(|kind| !kind.may_state_date()) {
            let message = "no as_of: its files do not state when they were true, and their rows have no date";
            self.doubt(spec.line, message);
        }
    }

    /// What an `[[inventory]]` means, and when its files were true if they do not state it.
    pub(crate) fn inventory(
        &mut self,
        spec: InventorySpec,
        privacy: Option<&Privacy>,
    ) -> Option<(SourcePlan, Option<AsOf>)> {
        let kind = spec.format.as_ref().and_then(|at| at.value);
        if let Some((_, at)) = spec.nodes.first()
            && let Some(kind) = kind.filter(|kind| *kind != InventoryKind::SwfMachines)
        {
            let message = format!(
                "nodes names the nodes of the kinds of a machine file (swf-machines), {} names them itself",
                kind.as_str()
            );
            self.wrong(at.line, message);
        }
        let zone = match spec.timezone.as_ref().map(|name| self.zone(name)) {
            Some(zone) => Some(zone?),
            None => None,
        };
        let as_of = match &spec.as_of {
            None => None,
            Some(text) => {
                let found = AsOf::parse(&text.value, zone.as_ref().unwrap_or(&Zone::utc()));
                if found.is_none() {
                    let message = format!(
                        "as_of = \"{}\" is neither a day such as 2026-11-01, nor an instant with an offset such as \
                         2026-11-01T06:00:00Z, nor \"path\"",
                        text.value
                    );
                    self.wrong(text.line, message);
                }
                found
            }
        };
        let name = spec.name?.value;
        let format = kind.map_or(Format::AutoInventory, |kind| Format::Dialect(kind.dialect()));
        let mut plan = SourcePlan {
            reader: Arc::new(ReaderOptions {
                zone,
                nodes_by_kind: spec
                    .nodes
                    .into_iter()
                    .map(|(kind, nodes)| (kind, nodes.value))
                    .collect(),
                ..ReaderOptions::new(&name, format)
            }),
            intake: Arc::new(IntakeOptions {
                site: spec.site.map(|at| at.value),
                cluster: spec.cluster.map(|at| at.value),
                ..IntakeOptions::new(&name)
            }),
            name,
            blah: Vec::new(),
            paths: spec.paths.iter().map(|path| self.resolve(&path.value)).collect(),
            limits: spec.limits,
            written: self.written(spec.line, &spec.paths),
            publishing: Publishing::default(),
            fingerprint: String::new(),
        };
        plan.fingerprint = fingerprint::of_inventory(&plan, as_of.as_ref(), privacy);
        Some((plan, as_of))
    }
}
