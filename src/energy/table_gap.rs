//! Tables of energy that state nothing of sites of a lake, and have rows of sites that it does not have: a name may be misspelt.

use std::collections::BTreeSet;

use serde::Serialize;

/// A table without rows of some sites of the lake.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EnergyTableGap {
    /// Name of the table, as the pipeline has it.
    pub table: String,
    /// Sites of the lake of which no row is, nor one of any site.
    pub unstated_sites: Vec<String>,
    /// Sites of rows that the lake does not have; empty where the table has no row.
    pub unknown_sites: Vec<String>,
}

impl EnergyTableGap {
    /// Of a table whose rows are of these sites, of which `None` is any; `None` where it has rows of all sites of the lake, or none
    /// of other sites.
    pub(super) fn of(table: &str, rows: &BTreeSet<Option<&str>>, lake: &BTreeSet<&str>) -> Option<Self> {
        let owned = |sites: Vec<&str>| sites.into_iter().map(str::to_owned).collect();
        let unstated: Vec<&str> = lake
            .iter()
            .copied()
            .filter(|site| !rows.contains(&None) && !rows.contains(&Some(site)))
            .collect();
        let unknown: Vec<&str> = rows
            .iter()
            .flatten()
            .copied()
            .filter(|site| !lake.contains(site))
            .collect();
        let is_gap = !unstated.is_empty() && (rows.is_empty() || !unknown.is_empty());
        is_gap.then(|| Self {
            table: table.to_owned(),
            unstated_sites: owned(unstated),
            unknown_sites: owned(unknown),
        })
    }

    /// A line for people.
    pub(crate) fn text(&self) -> String {
        let Self {
            table,
            unstated_sites,
            unknown_sites,
        } = self;
        let unstated = unstated_sites.join(", ");
        if unknown_sites.is_empty() {
            return format!("{table}: has no row, and states nothing of {unstated}");
        }
        format!(
            "{table}: no row is of {unstated}, and rows are of sites that the lake does not have: {}",
            unknown_sites.join(", ")
        )
    }
}
