//! Site by cluster, probe, CE, payload site or table, or by a topology of resources.

use std::borrow::Cow;
use std::sync::Arc;

use super::first_match::{FirstMatch, MatchColumn, MatchWording};
use super::topology::{Topology, TopologyLevel};
use crate::record::JobRow;

/// Columns of a record a site may be taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SiteColumn {
    /// `site` as the record names it
    Site,
    /// `cluster`: Slurm cluster, LRMS server or GRACC probe
    Cluster,
    /// `submit_host`: CE
    SubmitHost,
    /// `partition`
    Partition,
    /// `payload_site`: where a payload reports it ran
    PayloadSite,
    /// `view`
    View,
}

impl MatchColumn for SiteColumn {
    const KNOWN: &'static [(&'static str, Self)] = &[
        ("site", Self::Site),
        ("cluster", Self::Cluster),
        ("submit_host", Self::SubmitHost),
        ("partition", Self::Partition),
        ("payload_site", Self::PayloadSite),
        ("view", Self::View),
    ];
    const TABLE: MatchWording = MatchWording {
        noun: "site",
        example: "cluster",
        result: "to_site",
        last: None,
    };

    fn of<'a>(self, row: &JobRow<'a>) -> Option<&'a str> {
        match self {
            Self::Site => row.site,
            Self::Cluster => row.cluster,
            Self::SubmitHost => row.submit_host,
            Self::Partition => row.partition,
            Self::PayloadSite => row.payload_site,
            Self::View => Some(row.view),
        }
        .filter(|text| !text.is_empty())
    }
}

/// Sites by values of records; the result is in `to_site`.
pub type SiteTable = FirstMatch<SiteColumn>;

/// Where a record's site comes from when the source does not name it.
#[derive(Clone, Debug, Default)]
pub enum SiteRule {
    /// The record names it.
    #[default]
    Record,
    /// A column of the record.
    Column(SiteColumn),
    /// A table, first match wins; else the record.
    Table(Arc<SiteTable>),
    /// A topology of resources; else the record.
    Topology(Arc<Topology>, TopologyLevel),
}

impl SiteRule {
    /// The site of a job and the rule that gave it: no rule for plain records, `unmapped` when a table or
    /// topology does not know the job and its own site is used.
    #[must_use]
    pub fn site<'a>(&'a self, row: &JobRow<'a>) -> (Option<&'a str>, Option<&'static str>) {
        let own = SiteColumn::Site.of(row);
        let (found, rule) = match self {
            Self::Record => return (own, None),
            Self::Column(column) => return (column.of(row), Some(column.as_str())),
            Self::Table(table) => (table.lookup(row), "table"),
            Self::Topology(topology, level) => match topology.find(row, *level) {
                Some((site, rule)) => (Some(site), rule),
                None => (None, "unmapped"),
            },
        };
        match found {
            Some(site) => (Some(site), Some(rule)),
            None => (own, Some("unmapped")),
        }
    }

    /// What an unmapped job is named by in reports: the values that a table matches it by; elsewhere where its payload ran,
    /// its cluster or its own site.
    #[must_use]
    pub fn unmapped_name<'a>(&self, row: &JobRow<'a>) -> Cow<'a, str> {
        const NONE: &str = "(none)";
        let Self::Table(table) = self else {
            let payload = row.payload_site.filter(|_| row.view == "payload");
            return payload.or(row.cluster).or(row.site).map_or(NONE.into(), Cow::Borrowed);
        };
        let values = table.columns().iter().filter_map(|column| column.of(row));
        let joined = values.map(Cow::Borrowed).reduce(|all, value| all + ", " + value);
        joined.unwrap_or(NONE.into())
    }

    /// What decides results; `None` for plain records.
    #[must_use]
    pub fn canonical(&self) -> Option<String> {
        match self {
            Self::Record => None,
            Self::Column(column) => Some(format!("column {}", column.as_str())),
            Self::Table(table) => Some(format!("table {}", table.canonical())),
            Self::Topology(topology, level) => Some(format!("topology {} {}", level.as_str(), topology.canonical())),
        }
    }
}
