//! VO names corrected as GRACC does: by a table of corrections, then by the parts of the name itself.

use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;

use ahash::AHashMap;

use super::csv_table::{self, CsvTable, is_any};
use super::table_columns::{VO_CORRECTIONS, names};
use crate::diagnostics::Problems;
use crate::hive::check_value;
use crate::record::JobRow;

/// Names that mean no VO.
const SENTINELS: [&str; 8] = [
    "unknown",
    "other",
    "none",
    "generic",
    "obsolete",
    "n/a",
    "null",
    "undefined",
];

/// Which rule gave a VO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoOrigin {
    /// A row of the table of corrections.
    Correction,
    /// The name is a known VO without a change.
    Known,
    /// The first path element of an FQAN is a known VO.
    FirstPathElement,
    /// A known VO in another letter case.
    CaseFold,
    /// The short name the record states next to it is a known VO, in any letter case.
    ReportableName,
    /// The record states that its VO is unknown.
    Sentinel,
    /// No correction lists the name, and no known VOs are given: it stays as it is.
    Unlisted,
    /// No rule knows the name.
    Unmapped,
    /// The record has no VO.
    Missing,
}

impl VoOrigin {
    /// The word in the run report.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Correction => "correction",
            Self::Known => "known",
            Self::FirstPathElement => "first_path_element",
            Self::CaseFold => "case_fold",
            Self::ReportableName => "reportable_name",
            Self::Sentinel => "sentinel",
            Self::Unlisted => "unlisted",
            Self::Unmapped => "unmapped",
            Self::Missing => "missing",
        }
    }
}

/// A table of corrections and the VOs that are known.
///
/// The corrections are a CSV table of `vo_name` (VO or FQAN as the record prints it), `reportable_vo` (the short name
/// next to it; empty or `*` matches any) and `to_vo`. Both names must be equal, letter case included; first match wins.
/// Known VOs are all results of the table, and those of a second table with a column `VO`. Only with such a second table is
/// a VO that is not known none: corrections alone list no more than the names to be changed.
#[derive(Clone, Debug, Default)]
pub struct VoCorrections {
    rows: Vec<(String, Option<String>, String)>,
    by_name: AHashMap<String, Vec<usize>>,
    /// By lower case: the first spelling.
    known: AHashMap<String, String>,
    known_order: Vec<String>,
    /// Known VOs are given besides the results.
    is_complete: bool,
}

impl VoCorrections {
    /// Reads the corrections at `path`; `file` is its name in reported mistakes.
    pub fn load(&mut self, path: &Path, file: &str, problems: &mut Problems) {
        if let Some(input) = csv_table::open(path, file, problems) {
            self.read(input, file, problems);
        }
    }

    /// Reads a table of corrections.
    pub fn read(&mut self, input: impl Read, file: &str, problems: &mut Problems) {
        let csv = CsvTable::read(input, file, problems);
        csv.refuse_unknown(&names(VO_CORRECTIONS), file, problems);
        let name = csv.column("vo_name", file, problems);
        let result = csv.column("to_vo", file, problems);
        let reportable = csv.columns.iter().position(|column| column == "reportable_vo");
        let (Some(name), Some(result)) = (name, result) else {
            return;
        };
        for (line, cells) in &csv.rows {
            let cell = |place: usize| cells.get(place).map_or("", String::as_str);
            if is_any(cell(name)) || is_any(cell(result)) {
                problems.mistake(file, *line, "the row needs a vo_name and a to_vo");
                continue;
            }
            if let Err(why) = check_value("VO", cell(result)) {
                problems.mistake(file, *line, why);
                continue;
            }
            let reportable = reportable.map(cell).filter(|cell| !is_any(cell)).map(str::to_owned);
            self.by_name
                .entry(cell(name).to_owned())
                .or_default()
                .push(self.rows.len());
            self.rows
                .push((cell(name).to_owned(), reportable, cell(result).to_owned()));
            self.know(cell(result));
        }
    }

    /// Reads the known VOs at `path`: a table with a column `VO`, such as OSG topology's.
    pub fn load_known(&mut self, path: &Path, file: &str, problems: &mut Problems) {
        if let Some(input) = csv_table::open(path, file, problems) {
            self.read_known(input, file, problems);
        }
    }

    /// Reads a table of known VOs.
    pub fn read_known(&mut self, input: impl Read, file: &str, problems: &mut Problems) {
        self.is_complete = true;
        let csv = CsvTable::read(input, file, problems);
        let Some(place) = csv.column("VO", file, problems) else {
            return;
        };
        for (line, cells) in &csv.rows {
            let Some(vo) = cells.get(place).filter(|vo| !is_any(vo)) else {
                continue;
            };
            match check_value("VO", vo) {
                Ok(()) => self.know(vo),
                Err(why) => problems.mistake(file, *line, why),
            }
        }
    }

    fn know(&mut self, vo: &str) {
        let folded = vo.to_lowercase();
        if !self.known.contains_key(&folded) {
            self.known.insert(folded, vo.to_owned());
            self.known_order.push(vo.to_owned());
        }
    }

    fn folded(&self, name: &str) -> Option<&str> {
        self.known.get(&name.to_lowercase()).map(String::as_str)
    }

    /// The VO of a job and the rule that gave it; no VO is ever made up.
    #[must_use]
    pub fn resolve<'a>(&'a self, row: &JobRow<'a>) -> (Option<&'a str>, VoOrigin) {
        let Some(name) = row.vo_name.or(row.vo).map(str::trim).filter(|name| !name.is_empty()) else {
            return (None, VoOrigin::Missing);
        };
        let rows = self.by_name.get(name).into_iter().flatten();
        let corrected = rows.filter_map(|&nth| self.rows.get(nth)).find(|(_, reportable, _)| {
            let reportable = reportable.as_deref();
            reportable.is_none() || reportable == row.reportable_vo.or(row.vo)
        });
        if let Some((_, _, vo)) = corrected {
            return (Some(vo), VoOrigin::Correction);
        }
        let first = name
            .strip_prefix('/')
            .map(|path| path.split('/').next().unwrap_or(path));
        let short = first.unwrap_or(name);
        if let Some(vo) = self.folded(short) {
            let origin = match (vo == short, first) {
                (true, None) => VoOrigin::Known,
                (true, Some(_)) => VoOrigin::FirstPathElement,
                (false, _) => VoOrigin::CaseFold,
            };
            return (Some(vo), origin);
        }
        let stated = [row.reportable_vo, row.vo].into_iter().flatten();
        if let Some(vo) = stated.filter(|_| self.is_complete).find_map(|vo| self.folded(vo)) {
            return (Some(vo), VoOrigin::ReportableName);
        }
        if SENTINELS.contains(&short.to_lowercase().as_str()) {
            return (None, VoOrigin::Sentinel);
        }
        match row.vo.filter(|_| !self.is_complete) {
            Some(vo) => (Some(vo), VoOrigin::Unlisted),
            None => (None, VoOrigin::Unmapped),
        }
    }

    /// The content of the tables, in their order: all that decides results.
    #[must_use]
    pub fn canonical(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = write!(text, "{:?}\n{:?}", self.rows, self.known_order);
        if !self.is_complete {
            // Lakes written when names that no correction lists lost their VO are read again.
            text.push_str("\nother names stay");
        }
        text
    }
}
