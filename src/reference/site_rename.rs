//! Sites that are published under another name.

use std::io::Read;
use std::path::Path;

use super::csv_table::{self, CsvTable, is_any};
use super::table_columns::SITE_RENAMES;
use crate::diagnostics::Problems;

/// The rows of a table `site,vo,to_site`: the first one that matches gives the name. An empty or `*` cell matches
/// anything.
#[derive(Clone, Debug, Default)]
pub struct SiteRenames {
    rows: Vec<[String; 3]>,
}

impl SiteRenames {
    /// Reads the table at `path`; `file` is its name in reported mistakes.
    pub fn load(path: &Path, file: &str, problems: &mut Problems) -> Self {
        csv_table::open(path, file, problems).map_or_else(Self::default, |input| Self::read(input, file, problems))
    }

    /// Reads a table; `file` is its name in reported mistakes.
    pub fn read(input: impl Read, file: &str, problems: &mut Problems) -> Self {
        let csv = CsvTable::read(input, file, problems);
        let mut table = Self::default();
        if !csv.has_header(SITE_RENAMES, file, problems) {
            return table;
        }
        for (line, cells) in &csv.rows {
            let row = ["site", "vo", "to_site"].map(|name| csv.cell(cells, name).to_owned());
            let [site, vo, to_site] = &row;
            if is_any(to_site) {
                problems.mistake(file, *line, "the row names no site");
            } else if is_any(site) && is_any(vo) {
                problems.mistake(file, *line, "the row renames every site");
            } else {
                table.rows.push(row);
            }
        }
        table
    }

    /// The name a site is published under for a VO.
    #[must_use]
    pub fn name<'a>(&'a self, site: &'a str, vo: Option<&str>) -> &'a str {
        let is_like = |cell: &str, value: Option<&str>| is_any(cell) || Some(cell) == value;
        let found = self
            .rows
            .iter()
            .find(|[of, for_vo, _]| is_like(of, Some(site)) && is_like(for_vo, vo));
        found.map_or(site, |[.., to_site]| to_site)
    }
}
