//! What a federation knows of its sites and a lake does not: federation, country, NGI, tier, factor, resources.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use super::csv_table::{self, CsvTable};
use super::table_columns::{TEXT, TableColumn, optional, required};
use crate::diagnostics::Problems;
use crate::error::Result;

/// Of `--sites`.
pub(super) const COLUMNS: &[TableColumn] = &[
    required("site", TEXT, "Site, as the lake names it; not empty."),
    optional(
        "federation",
        TEXT,
        "Federation of the memorandum of understanding, by which `wlcg` adds up and pledges are made.",
    ),
    optional("country", TEXT, "Country, for the columns of the portal's export."),
    optional("ngi", TEXT, "National grid initiative, likewise."),
    optional("tier", TEXT, "Tier, such as `2`, likewise."),
    optional(
        "norm_factor",
        TEXT,
        "Normalisation factor as the federation publishes it: a column of `osg`, by which nothing is multiplied.",
    ),
    optional("resources", "texts between `;`", "Resources that report, for `osg`."),
];

/// One site of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FederationSite {
    /// Federation of the memorandum of understanding.
    pub federation: String,
    /// Country.
    pub country: String,
    /// National grid initiative.
    pub ngi: String,
    /// Tier: 0, 1, 2.
    pub tier: String,
    /// Normalisation factor, as the federation publishes it.
    pub norm_factor: String,
    /// Resources that report, separated by `;`.
    pub resources: String,
}

/// What is known of each site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FederationSites {
    by_site: BTreeMap<String, FederationSite>,
}

impl FederationSites {
    /// Reads the table at `path`.
    ///
    /// # Errors
    /// [`crate::error::Kind::Config`] naming file and line of every mistake.
    pub fn load(path: &Path) -> Result<Self> {
        csv_table::load(path, Self::read)
    }

    /// Reads a table; `file` is its name in reported mistakes. A site that is named twice is one.
    pub fn read(input: impl Read, file: &str, problems: &mut Problems) -> Self {
        let csv = CsvTable::read(input, file, problems);
        let mut table = Self::default();
        if !csv.has_header(COLUMNS, file, problems) {
            return table;
        }
        for (line, cells) in &csv.rows {
            let cell = |name: &str| csv.cell(cells, name).to_owned();
            let site = cell("site");
            if site.is_empty() {
                problems.mistake(file, *line, "the row names no site");
                continue;
            }
            let of_site = FederationSite {
                federation: cell("federation"),
                country: cell("country"),
                ngi: cell("ngi"),
                tier: cell("tier"),
                norm_factor: cell("norm_factor"),
                resources: cell("resources"),
            };
            if table.by_site.insert(site.clone(), of_site).is_some() {
                problems.mistake(file, *line, format!("the site \"{site}\" is named twice"));
            }
        }
        table
    }

    /// What is known of a site; `None` where no row names it.
    #[must_use]
    pub fn get(&self, site: &str) -> Option<&FederationSite> {
        self.by_site.get(site)
    }
}
