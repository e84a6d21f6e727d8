//! The pipeline file as it is written: every key, its type and its line. It can only fail on spelling; what the words
//! mean is decided in [`super::compile`].

use toml::de::{DeTable, DeValue};

use super::charge_spec::{ChargeSpec, charges};
use super::inventory_spec::{InventorySpec, inventories};
use super::normalise_spec::{self, NormaliseSpec};
use super::overhead_spec::OverheadSpec;
use super::plan::Overlap;
use super::privacy_spec::PrivacySpec;
use super::reject_limits::{RejectLimits, reject_limits};
use super::source_spec::{SiteSpec, SourceSpec, VoSpec};
use super::{capacity_spec, overhead_spec, privacy_spec, scaled_spec};
use crate::dedupe::summary::publishing::{Replacement, SummaryParts, SummaryPublication};
use crate::diagnostics::Problems;
use crate::diagnostics::section::{At, Section, SectionSource, kind, root, toml_mistake};
use crate::record::infrastructure::StatedInfrastructure;
use crate::reference::first_match::MatchColumn;
use crate::reference::site::SiteColumn;
use crate::reference::topology::TopologyLevel;
use crate::reference::vo_rule::VoColumn;
use crate::sources::apel::acceptance::Acceptance;
use crate::sources::registry;
use crate::sources::sacct::FixedOrder;
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
}

impl Spec {
    /// Reads `text`; `file` is the name mistakes are told with. What is wrong is told and left out.
    pub fn read(file: &str, text: &str, problems: &mut Problems) -> Self {
        let source = SectionSource { file, text };
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            let line = error.span().map_or(0, |span| source.line(span.start));
            problems.mistake(file, line, toml_mistake(source, line, error.message()));
        }
        if !errors.is_empty() {
            // What was recovered from broken TOML would only give mistakes that are not there.
            return Self::default();
        }
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
        name: section.required_text("name", "a short name for this pipeline", problems),
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
        corrections: section.text("corrections", problems),
    }
}

fn sources(top: &Section<'_>, problems: &mut Problems) -> Vec<SourceSpec> {
    const KEYS: &[&str] = &[
        "name",
        "format",
        "paths",
        "site",
        "cluster",
        "infrastructure",
        "timezone",
        "delimiter",
        "layout",
        "vo",
        "acceptance",
        "blah",
        "unix_start_time",
        "start_from",
        "scaled_to",
        "summaries",
        "publication",
        "publication_parts",
        "max_rejected",
        "max_unread",
    ];
    const REPLACEMENTS: &[(&str, Replacement)] =
        &[("upsert", Replacement::Upsert), ("snapshot", Replacement::Snapshot)];
    const PUBLICATIONS: &[(&str, SummaryPublication)] = &[
        ("source", SummaryPublication::Source),
        ("site", SummaryPublication::Site),
    ];
    const ACCEPTANCES: &[(&str, Acceptance)] = &[
        ("strict-apel", Acceptance::StrictApel),
        ("salvage", Acceptance::Salvage),
    ];
    top.sections("source", "[[source]]", KEYS, problems)
        .iter()
        .map(|section| {
            if !section.has("format") {
                let words: Vec<String> = registry::declarable()
                    .map(|dialect| format!("\"{}\"", dialect.as_str()))
                    .collect();
                let message = format!("[[source]] has no format ({} or \"auto\")", words.join(", "));
                section.wrong(section.line(), message, problems);
            }
            if !section.has("paths") {
                let message = "[[source]] has no paths (files, folders, globs or URLs)";
                section.wrong(section.line(), message, problems);
            }
            SourceSpec {
                line: section.line(),
                name: section.required_folder_name("name", "one of its own for every source", problems),
                format: section.word_or_alias("format", &registry::format_words(), &registry::aliases(), problems),
                paths: section.texts("paths", problems).map_or_else(Vec::new, |at| at.value),
                site: (!is_table(section, "site"))
                    .then(|| section.folder_name("site", problems))
                    .flatten(),
                site_rule: is_table(section, "site").then(|| site(section, problems)).flatten(),
                cluster: section.text("cluster", problems),
                infrastructure: section.word("infrastructure", StatedInfrastructure::WORDS, problems),
                timezone: section.text("timezone", problems),
                delimiter: delimiter(section, problems),
                layout: section.word("layout", FixedOrder::WORDS, problems),
                vo: vo(section, problems),
                has_vo: section.has("vo"),
                has_site: section.has("site"),
                acceptance: section.word("acceptance", ACCEPTANCES, problems),
                blah: section.texts("blah", problems).map_or_else(Vec::new, |at| at.value),
                unix_start_time: unix_second(section, problems),
                start_from_submit: section.word("start_from", &[("submit", ())], problems),
                scaled_to: scaled_spec::read(section, problems),
                summaries: section.word("summaries", REPLACEMENTS, problems),
                publication: section.word("publication", PUBLICATIONS, problems),
                parts: parts(section, problems),
                limits: reject_limits(section, problems),
            }
        })
        .collect()
}

/// Which files are one publication.
pub(crate) fn parts(section: &Section<'_>, problems: &mut Problems) -> Option<At<SummaryParts>> {
    /// Longest pause: a day, in seconds. Publications of a month are farther apart.
    const LONGEST_S: i64 = 86_400;
    const KEY: &str = "publication_parts";
    if !is_table(section, KEY) {
        return section.word(
            KEY,
            &[("file", SummaryParts::File), ("folder", SummaryParts::Folder)],
            problems,
        );
    }
    let within = section.section(KEY, KEY, &["within_s"], problems)?;
    let found = within.get("within_s");
    let line = found.map_or(within.line(), |(_, line)| line);
    let pause_s = match found {
        Some((DeValue::Integer(number), _)) => {
            i64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok()
        }
        _ => None,
    };
    let Some(pause_s) = pause_s.filter(|pause_s| (1..=LONGEST_S).contains(pause_s)) else {
        let message = format!("within_s of {KEY} must be a whole number of seconds from 1 to {LONGEST_S}");
        within.wrong(line, message, problems);
        return None;
    };
    let value = SummaryParts::Within {
        pause_ms: pause_s * 1000,
    };
    Some(At { value, line })
}

/// A Unix second.
fn unix_second(section: &Section<'_>, problems: &mut Problems) -> Option<At<i64>> {
    let (value, line) = section.get("unix_start_time")?;
    let second = match value {
        DeValue::Integer(number) => i64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok(),
        _ => None,
    };
    if second.is_none() {
        let message = "unix_start_time must be a whole number: seconds since 1970-01-01 UTC";
        section.wrong(line, message, problems);
    }
    second.map(|value| At { value, line })
}

/// A delimiter may be white space, such as a tab, but not nothing and not a line end.
pub(crate) fn delimiter(section: &Section<'_>, problems: &mut Problems) -> Option<At<String>> {
    let (value, line) = section.get("delimiter")?;
    match value.as_str() {
        Some(text) if !text.is_empty() && !text.contains(['\n', '\r']) => Some(At {
            value: text.to_owned(),
            line,
        }),
        Some(_) => {
            section.wrong(line, "delimiter must be one or more characters of one line", problems);
            None
        }
        None => {
            let found = kind(value);
            section.wrong(
                line,
                format!("delimiter must be a text in quotes, not {found}"),
                problems,
            );
            None
        }
    }
}

fn is_table(section: &Section<'_>, key: &str) -> bool {
    matches!(section.get(key), Some((DeValue::Table(_), _)))
}

pub(crate) fn site(section: &Section<'_>, problems: &mut Problems) -> Option<SiteSpec> {
    const WAYS: &[&str] = &["column", "table", "topology"];
    let rule = section.section("site", "site", &["column", "table", "topology", "level"], problems)?;
    if WAYS.iter().filter(|way| rule.has(way)).count() != 1 {
        let message = "site takes exactly one of column, table and topology, or is the site itself in quotes";
        rule.wrong(rule.line(), message, problems);
        return None;
    }
    if rule.has("level") && !rule.has("topology") {
        rule.wrong(rule.line(), "level goes with topology", problems);
    }
    if rule.has("column") {
        return rule
            .word("column", SiteColumn::KNOWN, problems)
            .map(|at| SiteSpec::Column(at.value));
    }
    if rule.has("table") {
        return rule.text("table", problems).map(SiteSpec::Table);
    }
    let level = rule.word("level", crate::reference::topology::LEVELS, problems);
    let level = level.map_or_else(TopologyLevel::default, |at| at.value);
    rule.text("topology", problems)
        .map(|table| SiteSpec::Topology(table, level))
}

pub(crate) fn vo(section: &Section<'_>, problems: &mut Problems) -> Option<VoSpec> {
    const WAYS: &[&str] = &["column", "table", "value", "corrections"];
    let rule = section.section(
        "vo",
        "vo",
        &["column", "table", "value", "corrections", "known"],
        problems,
    )?;
    let is_corrected = rule.has("corrections") || rule.has("known");
    let ways = WAYS
        .iter()
        .filter(|way| rule.has(way) && **way != "corrections")
        .count();
    if ways + usize::from(is_corrected) != 1 {
        let message = "vo takes exactly one of column, table, value, and corrections (with or without known)";
        rule.wrong(rule.line(), message, problems);
        return None;
    }
    if is_corrected {
        return Some(VoSpec::Corrections {
            corrections: rule.text("corrections", problems),
            known: rule.text("known", problems),
        });
    }
    if rule.has("column") {
        return rule
            .word("column", VoColumn::KNOWN, problems)
            .map(|at| VoSpec::Column(at.value));
    }
    if rule.has("table") {
        return rule.text("table", problems).map(VoSpec::Table);
    }
    rule.folder_name("value", problems).map(|at| VoSpec::Value(at.value))
}
