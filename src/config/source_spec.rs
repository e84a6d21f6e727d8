//! One source as the pipeline file states it.

use std::collections::BTreeMap;

use super::reject_limits::RejectLimits;
use super::scaled_spec::ScaledSpec;
use super::source_rule::{SiteSpec, VoSpec};
use crate::dedupe::options::IntakeOptions;
use crate::dedupe::summary::publishing::Publishing;
use crate::diagnostics::section::At;
use crate::sources::format::Format;
use crate::sources::options::ReaderOptions;

/// `[[source]]`: the values its keys set; [`super::source_options`] defines the keys. A value that has to be looked up first, such as a
/// zone or a table, is kept as written.
#[derive(Debug)]
pub struct SourceSpec {
    /// Line of the table.
    pub line: usize,
    /// The line of each key that is there, right or wrong.
    pub stated: BTreeMap<&'static str, usize>,
    /// `name`
    pub name: Option<At<String>>,
    /// `format`
    pub format: Option<At<Format>>,
    /// `paths`
    pub paths: Vec<At<String>>,
    /// `site = { .. }`
    pub site_rule: Option<SiteSpec>,
    /// `timezone`
    pub timezone: Option<At<String>>,
    /// `vo`
    pub vo: Option<VoSpec>,
    /// `blah`
    pub blah: Vec<At<String>>,
    /// `scaled_to`
    pub scaled_to: Option<ScaledSpec>,
    /// The options of readers, except the zone.
    pub reader: ReaderOptions,
    /// What completes records, but for rules and scales.
    pub intake: IntakeOptions,
    /// How summaries replace one another.
    pub publishing: Publishing,
    /// `max_rejected` and `max_unread`
    pub limits: RejectLimits,
}

impl SourceSpec {
    /// A source that states nothing.
    pub(crate) fn at(line: usize) -> Self {
        Self {
            line,
            stated: BTreeMap::new(),
            name: None,
            format: None,
            paths: Vec::new(),
            site_rule: None,
            timezone: None,
            vo: None,
            blah: Vec::new(),
            scaled_to: None,
            reader: ReaderOptions::new("", Format::Auto),
            intake: IntakeOptions::new(""),
            publishing: Publishing::default(),
            limits: RejectLimits::default(),
        }
    }
}
