//! Looks up and checks what a pipeline file names.

use std::path::Path;

use crate::diagnostics::Problems;
use crate::diagnostics::section::At;
use crate::display_text::secret_of;
use crate::sources::location::{Written, is_url};
use crate::time::Zone;

/// A local path made absolute against the folder `base`; a URL as it is.
pub(crate) fn resolve(base: &str, path: &str) -> String {
    if is_url(path) || Path::new(path).is_absolute() {
        return path.to_owned();
    }
    let path = path.strip_prefix("./").unwrap_or(path);
    format!("{}/{path}", base.trim_end_matches('/'))
}

/// The intended zone, if the name differs by a typing error only: a similar city may be in another country.
fn nearest_zone(name: &str) -> String {
    /// Letters that may differ.
    const SLIPS: usize = 2;
    /// Letters of the longest abbreviations of zones.
    const ABBREVIATION_MOST: usize = 5;
    let split = |name: &str| {
        name.rsplit_once('/')
            .map_or((None, name.to_lowercase()), |(area, city)| {
                (Some(area.to_lowercase()), city.to_lowercase())
            })
    };
    // An abbreviation such as CEST is one letter from the names of zones elsewhere.
    if name.len() <= ABBREVIATION_MOST && name.bytes().all(|letter| letter.is_ascii_uppercase()) {
        return "; an abbreviation is of no single zone: a name of the IANA database, such as Europe/Berlin, is needed"
            .to_owned();
    }
    let (area, city) = split(name);
    let known = crate::time::zone::zone_names().map(str::to_owned);
    let near = known.filter_map(|zone| {
        let (other_area, other_city) = split(&zone);
        let slips = strsim::damerau_levenshtein(&city, &other_city);
        let area_slips = area.as_ref().map_or(0, |area| {
            // Fallback: a zone without an area is compared with an empty one.
            strsim::damerau_levenshtein(area, &other_area.unwrap_or_default())
        });
        (slips + area_slips <= SLIPS.min(city.chars().count() / 3)).then_some((slips + area_slips, zone))
    });
    near.min().map_or_else(
        || "; names are those of the IANA database, Area/City, with the city it lists for your country".to_owned(),
        |(_, zone)| format!(", did you mean \"{zone}\"?"),
    )
}

pub(crate) struct Compiler {
    /// Name of the pipeline file in messages.
    pub(crate) label: String,
    /// Absolute folder of the pipeline file.
    pub(crate) base: String,
    pub(crate) problems: Problems,
}

impl Compiler {
    pub(crate) fn wrong(&mut self, line: usize, message: impl Into<String>) {
        self.problems.mistake(&self.label, line, message);
    }

    pub(crate) fn doubt(&mut self, line: usize, message: impl Into<String>) {
        self.problems.warning(&self.label, line, message);
    }

    /// A URL with a password is a mistake of its line, which does not repeat it.
    pub(crate) fn refuse_secrets(&mut self, places: &[At<String>]) {
        for place in places {
            if let Some(why) = secret_of(&place.value) {
                self.problems.mistake(&self.label, place.line, why);
            }
        }
    }

    /// Where a source and its paths are named.
    pub(crate) fn written(&self, line: usize, paths: &[At<String>]) -> Written {
        Written {
            file: self.label.clone(),
            line,
            path_lines: paths.iter().map(|path| path.line).collect(),
        }
    }

    /// A local path made absolute against the pipeline file; a URL as it is.
    pub(crate) fn resolve(&self, path: &str) -> String {
        resolve(&self.base, path)
    }

    /// The name of a table in messages: relative to the pipeline file, with the path that was given for that.
    pub(crate) fn table_label(&self, table: &str) -> String {
        let folder = Path::new(&self.label).parent().unwrap_or(Path::new(""));
        folder.join(table).to_string_lossy().into_owned()
    }

    pub(crate) fn zone(&mut self, name: &At<String>) -> Option<Zone> {
        match Zone::named(&name.value) {
            Ok(zone) => Some(zone),
            Err(why) => {
                let hint = nearest_zone(&name.value);
                self.wrong(name.line, format!("{why}{hint}"));
                None
            }
        }
    }

    /// The path of a table, which must not be a URL.
    pub(crate) fn relative_path(&mut self, table: &At<String>, what: &str) -> Option<String> {
        if is_url(&table.value) {
            self.wrong(
                table.line,
                format!("{what} is a file relative to the pipeline file, not a URL"),
            );
            return None;
        }
        Some(self.resolve(&table.value))
    }
}
