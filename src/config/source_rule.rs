//! Rules of a source for the site and the VO of its records: `site = { .. }` and `vo = { .. }`.

use toml::de::DeValue;

use crate::diagnostics::Problems;
use crate::diagnostics::description::{ValueForm, optional, table, words};
use crate::diagnostics::section::{At, Section};
use crate::reference::first_match::MatchColumn as _;
use crate::reference::site::SiteColumn;
use crate::reference::topology::{LEVELS, TopologyLevel};
use crate::reference::vo_rule::VoColumn;

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

/// Whether the value of a key is a table.
pub(crate) fn is_table(section: &Section<'_>, key: &str) -> bool {
    matches!(section.get(key), Some((DeValue::Table(_), _)))
}

/// Values of `site`.
pub(crate) fn site_form() -> ValueForm {
    let keys = vec![
        optional(
            "column",
            words(SiteColumn::KNOWN),
            "The column of the record that is the site.",
        ),
        optional("table", ValueForm::Text, "A table of sites with `to_site`."),
        optional("topology", ValueForm::Text, "OSG's table of resources."),
        optional("level", words(LEVELS), "The level of the topology that is the site."),
    ];
    ValueForm::OneOf(vec![
        ValueForm::Text,
        table(
            "site = { .. }",
            "A rule for the site: exactly one of `column`, `table` and `topology`.",
            keys,
        ),
    ])
}

/// Values of `vo`.
pub(crate) fn vo_form() -> ValueForm {
    let keys = vec![
        optional(
            "column",
            words(VoColumn::KNOWN),
            "The column of the record that is the VO.",
        ),
        optional("table", ValueForm::Text, "A table of VOs with `to_vo`."),
        optional("value", ValueForm::Text, "The VO of all jobs."),
        optional("corrections", ValueForm::Text, "A table of corrections of VO names."),
        optional("known", ValueForm::Text, "A table of known VOs."),
    ];
    table(
        "vo = { .. }",
        "A rule for the VO: exactly one of `column`, `table`, `value`, and `corrections` with or without `known`.",
        keys,
    )
}

/// The rule of `site = { .. }`.
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
    let level = rule.word("level", LEVELS, problems);
    let level = level.map_or_else(TopologyLevel::default, |at| at.value);
    rule.text("topology", problems)
        .map(|table| SiteSpec::Topology(table, level))
}

/// The rule of `vo = { .. }`.
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
