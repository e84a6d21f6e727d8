//! One source as the pipeline file states it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::compiler::Compiler;
use super::fingerprint;
use super::reject_limits::RejectLimits;
use super::scaled_spec::ScaledSpec;
use super::source_plan::SourcePlan;
use crate::dedupe::options::IntakeOptions;
use crate::dedupe::summary::publishing::{Publishing, Replacement, SummaryParts, SummaryPublication};
use crate::diagnostics::section::At;
use crate::privacy::Privacy;
use crate::record::infrastructure::StatedInfrastructure;
use crate::reference::site::{SiteColumn, SiteRule, SiteTable};
use crate::reference::topology::{Topology, TopologyLevel};
use crate::reference::vo::VoTable;
use crate::reference::vo_corrections::VoCorrections;
use crate::reference::vo_rule::{VoColumn, VoRule};
use crate::sources::apel::acceptance::Acceptance;
use crate::sources::dialect::{Content, SiteNaming, SourceOption, VoNaming};
use crate::sources::format::Format;
use crate::sources::location::is_url;
use crate::sources::options::ReaderOptions;
use crate::sources::sacct::FixedOrder;

/// `vo = { .. }`
#[derive(Debug)]
pub enum VoSpec {
    /// `column`
    Column(VoColumn),
    /// `table`
    Table(At<String>),
    /// `corrections`, `known`, or both
    Corrections {
        /// Table of corrections.
        corrections: Option<At<String>>,
        /// Table of known VOs.
        known: Option<At<String>>,
    },
    /// `value`
    Value(String),
}

/// `site = { .. }`
#[derive(Debug)]
pub enum SiteSpec {
    /// `column`
    Column(SiteColumn),
    /// `table`
    Table(At<String>),
    /// `topology` with `level`
    Topology(At<String>, TopologyLevel),
}

/// `[[source]]`
#[derive(Debug)]
pub struct SourceSpec {
    /// Line of the table.
    pub line: usize,
    /// `name`
    pub name: Option<At<String>>,
    /// `format`
    pub format: Option<At<Format>>,
    /// `paths`
    pub paths: Vec<At<String>>,
    /// `site`
    pub site: Option<At<String>>,
    /// `site = { .. }`
    pub site_rule: Option<SiteSpec>,
    /// `cluster`
    pub cluster: Option<At<String>>,
    /// `infrastructure`
    pub infrastructure: Option<At<StatedInfrastructure>>,
    /// `timezone`
    pub timezone: Option<At<String>>,
    /// `delimiter`
    pub delimiter: Option<At<String>>,
    /// `layout`
    pub layout: Option<At<FixedOrder>>,
    /// `vo`
    pub vo: Option<VoSpec>,
    /// Whether there is a `vo`, right or wrong.
    pub has_vo: bool,
    /// Whether there is a `site`, right or wrong.
    pub has_site: bool,
    /// `acceptance`
    pub acceptance: Option<At<Acceptance>>,
    /// `blah`
    pub blah: Vec<At<String>>,
    /// `unix_start_time`
    pub unix_start_time: Option<At<i64>>,
    /// `start_from = "submit"`
    pub start_from_submit: Option<At<()>>,
    /// `scaled_to`
    pub scaled_to: Option<ScaledSpec>,
    /// `summaries`
    pub summaries: Option<At<Replacement>>,
    /// `publication`
    pub publication: Option<At<SummaryPublication>>,
    /// `publication_parts`
    pub parts: Option<At<SummaryParts>>,
    /// `max_rejected` and `max_unread`
    pub limits: RejectLimits,
}

impl Compiler {
    pub(crate) fn source(&mut self, spec: SourceSpec, privacy: Option<&Privacy>) -> Option<SourcePlan> {
        self.refuse_secrets(&spec.paths);
        self.odd_combinations(&spec);
        let zone = spec.timezone.as_ref().map(|name| self.zone(name));
        let vo = match spec.vo {
            None => VoRule::Record,
            Some(VoSpec::Column(column)) => VoRule::Column(column),
            Some(VoSpec::Value(vo)) => VoRule::Value(vo),
            Some(VoSpec::Corrections { corrections, known }) => {
                let mut rule = VoCorrections::default();
                if let Some(table) = &corrections {
                    let path = self.beside(table, "a table of VO corrections")?;
                    let label = self.table_label(&table.value);
                    rule.load(Path::new(&path), &label, &mut self.problems);
                }
                if let Some(table) = &known {
                    let path = self.beside(table, "a table of known VOs")?;
                    let label = self.table_label(&table.value);
                    rule.load_known(Path::new(&path), &label, &mut self.problems);
                }
                VoRule::Corrections(Arc::new(rule))
            }
            Some(VoSpec::Table(table)) => {
                let label = self.table_label(&table.value);
                let path = self.resolve(&table.value);
                if is_url(&table.value) {
                    self.wrong(table.line, "a VO table is a file beside the pipeline, not a URL");
                    return None;
                }
                VoRule::Table(Arc::new(VoTable::load(Path::new(&path), &label, &mut self.problems)))
            }
        };
        let site_rule = match spec.site_rule {
            None => SiteRule::Record,
            Some(SiteSpec::Column(column)) => SiteRule::Column(column),
            Some(SiteSpec::Table(table)) => {
                let (path, label) = (self.beside(&table, "a site table")?, self.table_label(&table.value));
                let table = SiteTable::load(Path::new(&path), &label, &mut self.problems);
                SiteRule::Table(Arc::new(table))
            }
            Some(SiteSpec::Topology(table, level)) => {
                let (path, label) = (self.beside(&table, "a topology")?, self.table_label(&table.value));
                let topology = Topology::load(Path::new(&path), &label, &mut self.problems);
                SiteRule::Topology(Arc::new(topology), level)
            }
        };
        let name = spec.name?.value;
        let mut plan = SourcePlan {
            name: name.clone(),
            reader: Arc::new(ReaderOptions {
                source: name.clone(),
                format: spec.format?.value,
                zone: match zone {
                    Some(zone) => Some(zone?),
                    None => None,
                },
                delimiter: spec.delimiter.map(|at| at.value),
                layout: spec.layout.map(|at| at.value),
                acceptance: spec.acceptance.map_or_else(Default::default, |at| at.value),
                unix_start_time: spec.unix_start_time.map(|at| at.value),
                is_start_submit: spec.start_from_submit.is_some(),
                nodes_by_kind: BTreeMap::new(),
            }),
            intake: Arc::new(IntakeOptions {
                source: name,
                site: spec.site.map(|at| at.value),
                site_rule,
                cluster: spec.cluster.map(|at| at.value),
                infrastructure: spec.infrastructure.map(|at| at.value),
                vo,
                scaled_to: spec.scaled_to.map(|spec| spec.scaled_to),
            }),
            blah: spec.blah.iter().map(|path| self.resolve(&path.value)).collect(),
            paths: spec.paths.iter().map(|path| self.resolve(&path.value)).collect(),
            publishing: Publishing {
                replacement: spec.summaries.map_or_else(Default::default, |at| at.value),
                publication: spec.publication.map(|at| at.value),
                parts: spec.parts.map_or_else(Default::default, |at| at.value),
            },
            limits: spec.limits,
            written: self.written(spec.line, &spec.paths),
            fingerprint: String::new(),
        };
        plan.fingerprint = fingerprint::of_source(&plan, privacy);
        Some(plan)
    }

    /// Keys that are spelled right and do nothing, or are missing where the format does not stand in for them.
    fn odd_combinations(&mut self, spec: &SourceSpec) {
        let Some(format) = spec.format.as_ref().map(|at| at.value) else {
            return;
        };
        let word = format.as_str();
        if let Some(dialect) = format
            .dialect()
            .filter(|dialect| dialect.row().content == Content::Jobs)
        {
            if dialect.row().site == SiteNaming::Source && !spec.has_site {
                self.wrong(spec.line, format!("{word} names no site: give the source a site"));
            }
            if dialect.row().vo == VoNaming::Source && !spec.has_vo {
                let message = format!("{word} names no VO: without a vo every job is counted as unmapped");
                self.doubt(spec.line, message);
            }
        }
        let unused = [
            (SourceOption::Delimiter, spec.delimiter.as_ref().map(|at| at.line)),
            (SourceOption::Layout, spec.layout.as_ref().map(|at| at.line)),
            (SourceOption::Timezone, spec.timezone.as_ref().map(|at| at.line)),
            (
                SourceOption::UnixStartTime,
                spec.unix_start_time.as_ref().map(|at| at.line),
            ),
            (
                SourceOption::StartFrom,
                spec.start_from_submit.as_ref().map(|at| at.line),
            ),
            (SourceOption::Summaries, spec.summaries.as_ref().map(|at| at.line)),
            (SourceOption::Acceptance, spec.acceptance.as_ref().map(|at| at.line)),
        ];
        for (option, line) in unused {
            if let Some(line) = line.filter(|_| !format.may_use(option)) {
                let why = match option {
                    SourceOption::Timezone => ": its times carry their zone",
                    _ => "",
                };
                self.doubt(line, format!("{} does nothing for {word}{why}", option.key()));
            }
        }
        if let Some(first) = spec.blah.first().filter(|_| !format.may_use(SourceOption::CeLogs)) {
            self.wrong(
                first.line,
                format!("blah does nothing for {word}: it completes the log of a batch system"),
            );
        }
        if let Some(infrastructure) = &spec.infrastructure
            && !spec.blah.is_empty()
        {
            let message =
                "infrastructure does nothing beside blah: the logs of the CE decide which jobs are of the grid";
            self.doubt(infrastructure.line, message);
        }
        if let Some(summaries) = &spec.summaries
            && summaries.value == Replacement::Snapshot
            && spec.publication.is_none()
        {
            let message = "summaries = \"snapshot\" needs to know what a publication is complete for: \
                           publication = \"source\" or \"site\"";
            self.wrong(summaries.line, message);
        }
        if let Some(parts) = &spec.parts
            && spec.publication.is_none()
        {
            let message = "publication_parts does nothing without publication = \"source\" or \"site\"";
            self.wrong(parts.line, message);
        }
    }
}
