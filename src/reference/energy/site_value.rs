//! Dated values of sites: PUE, and the carbon intensity of their electricity.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::cells::{ONE_E4, WrittenSpan, decimal_e4};
use super::columns::{CARBON_INTENSITY, PUE};
use super::span_value::{SpanFault, SpanValue, WrittenValue, resolve};
use crate::diagnostics::{Problems, did_you_mean};
use crate::reference::csv_table::{CsvTable, is_any};
use crate::reference::table_columns::TableColumn;
use crate::time::instant::second_text;

/// More than any site adds to the energy of its nodes.
const MOST_PUE: i64 = 100;
/// More than any plant emits, grams for each kilowatt hour.
const MOST_INTENSITY: i64 = 100_000;

/// By what an intensity is accounted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CarbonBasis {
    /// By the grid at the place of the site.
    Location,
    /// By the contracts of the site.
    Market,
}

impl CarbonBasis {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Location, Self::Market];

    /// The word in tables and in the pipeline file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Location => "location",
            Self::Market => "market",
        }
    }

    /// The basis of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|basis| basis.as_str() == word)
    }
}

/// Values by site: those of a site, or of any where it has none.
#[derive(Clone, Debug, Default)]
pub struct SiteValues {
    sites: BTreeMap<Option<String>, Vec<SpanValue>>,
}

impl SiteValues {
    /// The values of a site in the order of time.
    #[must_use]
    pub fn of(&self, site: &str) -> &[SpanValue] {
        let own = self.sites.get(&Some(site.to_owned()));
        crate::absent::list(own.or_else(|| self.sites.get(&None)))
    }

    /// The sites of values; `None` is any.
    #[must_use]
    pub fn sites(&self) -> BTreeSet<Option<&str>> {
        self.sites.keys().map(Option::as_deref).collect()
    }

    /// Whether no site has a value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    /// What of it decides figures of a site between two instants (Unix milliseconds): equal texts, equal figures.
    #[must_use]
    pub fn relevant(&self, site: &str, from_ms: i64, until_ms: i64) -> String {
        let mut text = String::new();
        let held = self.of(site).iter();
        for span in held.filter(|span| span.from_ms <= until_ms && span.until_ms > from_ms) {
            let (from, until) = (span.from_ms.max(from_ms), span.until_ms.min(until_ms));
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{from} {until} {:?}", span.value_e4);
        }
        text
    }

    fn of_rows<K: Ord>(
        rows: BTreeMap<K, Vec<WrittenValue>>,
        what: &str,
        file: &str,
        problems: &mut Problems,
    ) -> BTreeMap<K, Vec<SpanValue>> {
        let resolved = rows.into_iter().map(|(key, rows)| {
            let (values, faults) = resolve(&rows);
            for fault in faults {
                report(fault, what, file, problems);
            }
            (key, values)
        });
        resolved.collect()
    }
}

fn report(fault: SpanFault, what: &str, file: &str, problems: &mut Problems) {
    match fault {
        SpanFault::Overlap { first, second } => {
            let message = format!("line {second} overlaps line {first}: two values of {what} of one site hold at once");
            problems.mistake(file, second, message);
        }
        SpanFault::Gap {
            before,
            behind,
            from_ms,
            until_ms,
        } => {
            let at = |ms: i64| crate::absent::phrase(second_text(ms));
            let message = format!(
                "no row states {what} from {} to {}, between line {before} and line {behind}: a row with an empty value states \
                 that it is unknown",
                at(from_ms),
                at(until_ms)
            );
            problems.mistake(file, behind, message);
        }
    }
}

/// Rows of a table with their lines, as far as its header is right.
fn table(text: &[u8], columns: &[TableColumn], file: &str, problems: &mut Problems) -> Option<CsvTable> {
    let csv = CsvTable::read(text, file, problems);
    csv.has_header(columns, file, problems).then_some(csv)
}

/// The rows of `pue`: `site,pue,valid_from,valid_to`, and as wanted `recorded_at` and `source`.
#[derive(Clone, Debug, Default)]
pub struct PueTable {
    /// By site, in ten-thousandths.
    pub values: SiteValues,
}

impl PueTable {
    /// Reads a table; `file` is its name in reported mistakes. Rows with a mistake are left out, and so are rows recorded after
    /// `known_on_ms`.
    #[must_use]
    pub fn read(text: &[u8], file: &str, known_on_ms: Option<i64>, problems: &mut Problems) -> Self {
        let Some(csv) = table(text, PUE, file, problems) else {
            return Self::default();
        };
        let mut rows: BTreeMap<Option<String>, Vec<WrittenValue>> = BTreeMap::new();
        for (line, cells) in &csv.rows {
            let cell = |name: &str| csv.cell(cells, name);
            let row = WrittenSpan::read(&cell).and_then(|span| Ok((span, pue_e4(&cell)?)));
            match row {
                Ok((span, value_e4)) => {
                    let site = Some(cell("site")).filter(|site| !is_any(site)).map(str::to_owned);
                    if known_on_ms.is_none_or(|day| span.learnt_at <= day) {
                        let line = *line;
                        rows.entry(site)
                            .or_default()
                            .push(WrittenValue { span, value_e4, line });
                    }
                }
                Err(why) => problems.mistake(file, *line, why),
            }
        }
        let sites = SiteValues::of_rows(rows, "PUE", file, problems);
        Self {
            values: SiteValues { sites },
        }
    }
}

fn pue_e4<'c>(cell: &impl Fn(&str) -> &'c str) -> Result<Option<i64>, String> {
    let value_e4 = decimal_e4(cell, "pue", MOST_PUE)?;
    if value_e4.is_some_and(|value_e4| value_e4 < ONE_E4) {
        let text = cell("pue");
        return Err(format!(
            "pue: \"{text}\" is below 1: a site takes at least the energy of its nodes"
        ));
    }
    Ok(value_e4)
}

/// The rows of `intensity`: `site,basis,g_per_kwh,valid_from,valid_to`, and as wanted `recorded_at` and `source`. A row holds for
/// a year, a month, an hour, or any other time.
#[derive(Clone, Debug, Default)]
pub struct IntensityTable {
    by_basis: BTreeMap<CarbonBasis, SiteValues>,
}

impl IntensityTable {
    /// Reads a table; see [`PueTable::read`].
    #[must_use]
    pub fn read(text: &[u8], file: &str, known_on_ms: Option<i64>, problems: &mut Problems) -> Self {
        let Some(csv) = table(text, CARBON_INTENSITY, file, problems) else {
            return Self::default();
        };
        let mut rows: BTreeMap<(CarbonBasis, Option<String>), Vec<WrittenValue>> = BTreeMap::new();
        for (line, cells) in &csv.rows {
            let cell = |name: &str| csv.cell(cells, name);
            let row = basis(cell("basis")).and_then(|basis| {
                let value_e4 = decimal_e4(&cell, "g_per_kwh", MOST_INTENSITY)?;
                Ok((basis, WrittenSpan::read(&cell)?, value_e4))
            });
            match row {
                Ok((basis, span, value_e4)) => {
                    let site = Some(cell("site")).filter(|site| !is_any(site)).map(str::to_owned);
                    if known_on_ms.is_none_or(|day| span.learnt_at <= day) {
                        let line = *line;
                        rows.entry((basis, site))
                            .or_default()
                            .push(WrittenValue { span, value_e4, line });
                    }
                }
                Err(why) => problems.mistake(file, *line, why),
            }
        }
        let mut table = Self::default();
        for ((basis, site), values) in SiteValues::of_rows(rows, "carbon intensity", file, problems) {
            table.by_basis.entry(basis).or_default().sites.insert(site, values);
        }
        table
    }

    /// The values of one basis, in ten-thousandths of grams for each kilowatt hour; `None` where no row is of it.
    #[must_use]
    pub fn of(&self, basis: CarbonBasis) -> Option<&SiteValues> {
        self.by_basis.get(&basis)
    }
}

fn basis(word: &str) -> Result<CarbonBasis, String> {
    CarbonBasis::parse(word).ok_or_else(|| {
        let words = CarbonBasis::ALL.map(CarbonBasis::as_str);
        let hint = did_you_mean(word, words);
        format!("basis: \"{word}\" is not one of {}{hint}", words.join(", "))
    })
}
