//! The pipeline file as it is written: every key, its type and its line. It can only fail on spelling; what the words
//! mean is decided in [`super::compile`].

use super::awards_spec::AwardsSpec;
use super::charge_spec::{ChargeSpec, charges};
use super::energy_spec::{self, EnergySpec};
use super::fairshare_spec::{self, FairshareSpec};
use super::inventory_spec::{InventorySpec, inventories};
use super::normalise_spec::{self, NormaliseSpec};
use super::overhead_spec::OverheadSpec;
use super::plan::Overlap;
use super::privacy_spec::PrivacySpec;
use super::reject_limits::{RejectLimits, reject_limits};
use super::source_key::StatedKey;
use super::source_options::SOURCE_KEYS;
use super::source_spec::SourceSpec;
use super::{awards_spec, capacity_spec, keep_spec, overhead_spec, privacy_spec};
use crate::diagnostics::Problems;
use crate::diagnostics::section::{At, Section, SectionSource, root, table_of};
use crate::store::snapshots::KeepPolicy;
use crate::summarise::attribution::Attribution;
use crate::time::grain::Grain;

/// `[pipeline]`
#[derive(Debug, Default)]
pub struct PipelineSpec {
    /// `name`
    pub name: Option<At<String>>,
    /// `output`
    pub output: Option<At<String>>,
    /// `allocation_year_start`, `MM-DD`
    pub allocation_year_start: Option<At<String>>,
    /// `calendar_timezone`
    pub calendar_timezone: Option<At<String>>,
    /// `attribution`
    pub attribution: Option<At<Attribution>>,
    /// `grain`
    pub grain: Option<At<Grain>>,
    /// `overlap`
    pub overlap: Option<At<Overlap>>,
    /// `copied_jobs = "keep"`
    pub keeps_copies: Option<At<bool>>,
    /// `max_rejected` and `max_unread`
    pub limits: RejectLimits,
    /// `keep`
    pub keep: Option<KeepPolicy>,
    /// `delta_log = "on"`
    pub delta_log: Option<At<bool>>,
    /// `corrections`
    pub corrections: Option<At<String>>,
}

/// A pipeline file.
#[derive(Debug, Default)]
pub struct Spec {
    /// `[pipeline]`
    pub pipeline: PipelineSpec,
    /// `[[source]]`
    pub sources: Vec<SourceSpec>,
    /// `[[inventory]]`
    pub inventories: Vec<InventorySpec>,
    /// `[overhead]`
    pub overhead: Option<OverheadSpec>,
    /// `[normalise]`
    pub normalise: Option<NormaliseSpec>,
    /// `[[charge]]`
    pub charges: Vec<ChargeSpec>,
    /// `[privacy]`
    pub privacy: Option<PrivacySpec>,
    /// `node_types` of `[capacity]`
    pub capacity: Option<At<String>>,
    /// `[[fairshare]]`
    pub fairshare: Vec<FairshareSpec>,
    /// `[awards]`
    pub awards: Option<AwardsSpec>,
    /// `[energy]`
    pub energy: Option<EnergySpec>,
}

impl Spec {
    /// Reads `text`; `file` is its name in reported mistakes. Invalid parts are reported and left out.
    pub fn read(file: &str, text: &str, problems: &mut Problems) -> Self {
        let source = SectionSource { file, text };
        let Some(table) = table_of(source, problems) else {
            return Self::default();
        };
        let top = root(
            source,
            &table,
            "the pipeline file",
            &[
                "pipeline",
                "source",
                "inventory",
                "overhead",
                "normalise",
                "charge",
                "privacy",
                "capacity",
                "fairshare",
                "awards",
                "energy",
            ],
            problems,
        );
        if !top.has("pipeline") {
            top.wrong(0, "there is no [pipeline]", problems);
        }
        if !top.has("source") && !top.has("inventory") {
            top.wrong(0, "there is no [[source]]", problems);
        }
        Self {
            pipeline: pipeline(&top, problems),
            sources: sources(&top, problems),
            inventories: inventories(&top, problems),
            overhead: overhead_spec::read(&top, problems),
            normalise: normalise_spec::read(&top, problems),
            charges: charges(&top, problems),
            privacy: privacy_spec::read(&top, problems),
            capacity: capacity_spec::read(&top, problems),
            fairshare: fairshare_spec::read(&top, problems),
            awards: awards_spec::read(&top, problems),
            energy: energy_spec::read(&top, problems),
        }
    }
}

pub(crate) fn pipeline(top: &Section<'_>, problems: &mut Problems) -> PipelineSpec {
    const KEYS: &[&str] = &[
        "name",
        "output",
        "allocation_year_start",
        "calendar_timezone",
        "attribution",
        "grain",
        "overlap",
        "copied_jobs",
        "max_rejected",
        "max_unread",
        "keep",
        "delta_log",
        "corrections",
    ];
    const OVERLAPS: &[(&str, Overlap)] = &[
        ("jobs", Overlap::Jobs),
        ("summaries", Overlap::Summaries),
        ("reject", Overlap::Reject),
    ];
    let Some(section) = top.section("pipeline", "[pipeline]", KEYS, problems) else {
        return PipelineSpec::default();
    };
    PipelineSpec {
        name: section.required_name("name", "a short name for this pipeline", problems),
        output: section.required_text("output", "the folder or URL results go to", problems),
        allocation_year_start: section.text("allocation_year_start", problems),
        calendar_timezone: section.text("calendar_timezone", problems),
        attribution: section.word(
            "attribution",
            &[("prorated", Attribution::Prorated), ("by-end", Attribution::ByEnd)],
            problems,
        ),
        grain: section.word("grain", &[("month", Grain::Month), ("day", Grain::Day)], problems),
        overlap: section.word("overlap", OVERLAPS, problems),
        keeps_copies: section.word("copied_jobs", &[("keep", true), ("stop", false)], problems),
        limits: reject_limits(&section, problems),
        keep: keep_spec::read(&section, problems),
        delta_log: keep_spec::delta_log(&section, problems),
        corrections: section.text("corrections", problems),
    }
}

/// Every `[[source]]` of a pipeline file.
fn sources(top: &Section<'_>, problems: &mut Problems) -> Vec<SourceSpec> {
    let keys: Vec<&str> = SOURCE_KEYS.iter().map(|row| row.key).collect();
    let sections = top.sections("source", "[[source]]", &keys, problems);
    sections.iter().map(|section| source(section, problems)).collect()
}

fn source(section: &Section<'_>, problems: &mut Problems) -> SourceSpec {
    let mut spec = SourceSpec::at(section.line());
    for row in SOURCE_KEYS {
        let Some((_, line)) = section.get(row.key) else {
            if let Some(what) = row.required {
                let message = format!("[[source]] has no {} ({})", row.key, what());
                section.wrong(section.line(), message, problems);
            }
            continue;
        };
        spec.stated.insert(row.key, line);
        let mut stated = StatedKey {
            key: row.key,
            section,
            problems,
        };
        (row.read)(&mut stated, &mut spec);
    }
    spec
}
