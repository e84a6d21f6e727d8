//! What a `[[source]]` means: zone, tables and paths looked up, combinations of keys checked.

use std::path::Path;
use std::sync::Arc;

use super::compiler::Compiler;
use super::fingerprint;
use super::source_key::{Misplaced, UsedBy};
use super::source_options::SOURCE_KEYS;
use super::source_plan::SourcePlan;
use super::source_rule::{SiteSpec, VoSpec};
use super::source_spec::SourceSpec;
use crate::dedupe::options::IntakeOptions;
use crate::dedupe::summary::publishing::Replacement;
use crate::privacy::Privacy;
use crate::reference::site::{SiteRule, SiteTable};
use crate::reference::topology::Topology;
use crate::reference::vo::VoTable;
use crate::reference::vo_corrections::VoCorrections;
use crate::reference::vo_rule::VoRule;
use crate::sources::dialect::{Content, SiteNaming, VoNaming};
use crate::sources::location::is_url;
use crate::sources::options::ReaderOptions;

impl Compiler {
    pub(crate) fn source(&mut self, spec: SourceSpec, privacy: Option<&Privacy>) -> Option<SourcePlan> {
        self.refuse_secrets(&spec.paths);
        self.odd_combinations(&spec);
        let zone = spec.timezone.as_ref().map(|name| self.zone(name));
        let vo = self.vo_rule(spec.vo)?;
        let site_rule = self.site_rule(spec.site_rule)?;
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
                ..spec.reader
            }),
            intake: Arc::new(IntakeOptions {
                source: name,
                site_rule,
                vo,
                scaled_to: spec.scaled_to.map(|spec| spec.scaled_to),
                ..spec.intake
            }),
            blah: spec.blah.iter().map(|path| self.resolve(&path.value)).collect(),
            paths: spec.paths.iter().map(|path| self.resolve(&path.value)).collect(),
            publishing: spec.publishing,
            limits: spec.limits,
            written: self.written(spec.line, &spec.paths),
            fingerprint: String::new(),
        };
        plan.fingerprint = fingerprint::of_source(&plan, privacy);
        Some(plan)
    }

    /// The rule for the VO; `None` where its table cannot be one.
    fn vo_rule(&mut self, spec: Option<VoSpec>) -> Option<VoRule> {
        Some(match spec {
            None => VoRule::Record,
            Some(VoSpec::Column(column)) => VoRule::Column(column),
            Some(VoSpec::Value(vo)) => VoRule::Value(vo),
            Some(VoSpec::Corrections { corrections, known }) => {
                let mut rule = VoCorrections::default();
                if let Some(table) = &corrections {
                    let path = self.relative_path(table, "a table of VO corrections")?;
                    let label = self.table_label(&table.value);
                    rule.load(Path::new(&path), &label, &mut self.problems);
                }
                if let Some(table) = &known {
                    let path = self.relative_path(table, "a table of known VOs")?;
                    let label = self.table_label(&table.value);
                    rule.load_known(Path::new(&path), &label, &mut self.problems);
                }
                VoRule::Corrections(Arc::new(rule))
            }
            Some(VoSpec::Table(table)) => {
                let label = self.table_label(&table.value);
                let path = self.resolve(&table.value);
                if is_url(&table.value) {
                    self.wrong(
                        table.line,
                        "a VO table is a file relative to the pipeline file, not a URL",
                    );
                    return None;
                }
                VoRule::Table(Arc::new(VoTable::load(Path::new(&path), &label, &mut self.problems)))
            }
        })
    }

    /// The rule for the site; `None` where its table cannot be one.
    fn site_rule(&mut self, spec: Option<SiteSpec>) -> Option<SiteRule> {
        Some(match spec {
            None => SiteRule::Record,
            Some(SiteSpec::Column(column)) => SiteRule::Column(column),
            Some(SiteSpec::Table(table)) => {
                let (path, label) = (
                    self.relative_path(&table, "a site table")?,
                    self.table_label(&table.value),
                );
                let table = SiteTable::load(Path::new(&path), &label, &mut self.problems);
                SiteRule::Table(Arc::new(table))
            }
            Some(SiteSpec::Topology(table, level)) => {
                let (path, label) = (
                    self.relative_path(&table, "a topology")?,
                    self.table_label(&table.value),
                );
                let topology = Topology::load(Path::new(&path), &label, &mut self.problems);
                SiteRule::Topology(Arc::new(topology), level)
            }
        })
    }

    /// Valid keys without effect, and keys that are missing where the format has no default for them.
    fn odd_combinations(&mut self, spec: &SourceSpec) {
        let Some(format) = spec.format.as_ref().map(|at| at.value) else {
            return;
        };
        let word = format.as_str();
        if let Some(dialect) = format
            .dialect()
            .filter(|dialect| dialect.row().content == Content::Jobs)
        {
            if dialect.row().site == SiteNaming::Source && !spec.stated.contains_key("site") {
                self.wrong(spec.line, format!("{word} names no site: give the source a site"));
            }
            if dialect.row().vo == VoNaming::Source && !spec.stated.contains_key("vo") {
                let message = format!("{word} names no VO: without a vo every job is counted as unmapped");
                self.doubt(spec.line, message);
            }
        }
        for row in SOURCE_KEYS.iter().filter(|row| !row.may_serve(format)) {
            let Some(&line) = spec.stated.get(row.key) else {
                continue;
            };
            let key = row.key;
            match &row.used_by {
                UsedBy::Listed(_, Misplaced::Mistake(why)) => {
                    self.wrong(line, format!("{key} does nothing for {word}{why}"));
                }
                UsedBy::Listed(_, Misplaced::Remark(why)) => {
                    self.doubt(line, format!("{key} does nothing for {word}{why}"));
                }
                UsedBy::Reader(_) => self.doubt(line, format!("{key} does nothing for {word}")),
                UsedBy::Every | UsedBy::Listed(_, Misplaced::CheckedApart) => {}
            }
        }
        if let Some(&line) = spec.stated.get("infrastructure")
            && !spec.blah.is_empty()
        {
            let message =
                "infrastructure has no effect with blah: the logs of the CE decide which jobs are of the grid";
            self.doubt(line, message);
        }
        if let Some(&line) = spec.stated.get("summaries")
            && spec.publishing.replacement == Replacement::Snapshot
            && spec.publishing.publication.is_none()
        {
            let message = "summaries = \"snapshot\" needs to know what a publication is complete for: \
                           publication = \"source\" or \"site\"";
            self.wrong(line, message);
        }
        if let Some(&line) = spec.stated.get("publication_parts")
            && spec.publishing.publication.is_none()
        {
            let message = "publication_parts does nothing without publication = \"source\" or \"site\"";
            self.wrong(line, message);
        }
    }
}
