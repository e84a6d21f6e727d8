//! Tables whose first matching row answers.

use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;

use ahash::AHashMap;

use super::csv_table::{self, CsvTable, is_any};
use crate::diagnostics::Problems;
use crate::hive::check_value;
use crate::record::JobRow;

/// A column of a record that rows are matched by.
pub trait MatchColumn: Copy + PartialEq + 'static {
    /// The columns by the name people write.
    const KNOWN: &'static [(&'static str, Self)];
    /// What a table of these is made of.
    const TABLE: MatchWording;

    /// The value of a job in it; an empty text counts as none.
    fn of<'a>(self, row: &JobRow<'a>) -> Option<&'a str>;

    /// The word in the pipeline file and in the header of a table.
    #[must_use]
    fn as_str(self) -> &'static str {
        let known = Self::KNOWN.iter().find(|(_, column)| *column == self);
        known.map_or("", |(word, _)| word)
    }
}

/// The words of a kind of table.
#[derive(Clone, Copy, Debug)]
pub struct MatchWording {
    /// What an answer is: `site`.
    pub noun: &'static str,
    /// A column people match by: `cluster`.
    pub example: &'static str,
    /// The column that holds the answers: `to_site`.
    pub result: &'static str,
    /// The column that holds them where that one is missing, if it is the last.
    pub last: Option<&'static str>,
}

#[derive(Clone, Debug)]
struct MatchRule {
    /// One cell per matching column; `None` matches anything, also nothing.
    cells: Vec<Option<String>>,
    answer: String,
}

/// The rows of a table, first match wins. The header names the columns a row is matched by, and the column of the answer.
/// An empty or `*` cell matches anything; every other cell must be equal, letter case included.
#[derive(Clone, Debug)]
pub struct FirstMatch<C> {
    columns: Vec<C>,
    rules: Vec<MatchRule>,
    /// Rules that can match a given value of the first column, in order.
    by_first: AHashMap<String, Vec<usize>>,
    /// Rules that match any value of the first column, in order.
    any_first: Vec<usize>,
}

impl<C> Default for FirstMatch<C> {
    fn default() -> Self {
        Self {
            columns: Vec::new(),
            rules: Vec::new(),
            by_first: AHashMap::default(),
            any_first: Vec::new(),
        }
    }
}

impl<C: MatchColumn> FirstMatch<C> {
    /// The columns rows are matched by.
    #[must_use]
    pub fn columns(&self) -> &[C] {
        &self.columns
    }

    /// Reads the table at `path`; `file` is its name in reported mistakes. Rows with a mistake are left out.
    pub fn load(path: &Path, file: &str, problems: &mut Problems) -> Self {
        let input = csv_table::open(path, file, problems);
        input.map_or_else(Self::default, |input| Self::read(input, file, problems))
    }

    /// Reads a table; see [`Self::load`].
    pub fn read(input: impl Read, file: &str, problems: &mut Problems) -> Self {
        let csv = CsvTable::read(input, file, problems);
        let known: Vec<&str> = C::KNOWN
            .iter()
            .map(|&(name, _)| name)
            .chain([C::TABLE.result])
            .collect();
        csv.refuse_unknown(&known, file, problems);
        let mut table = Self::default();
        let Some(result) = result_of::<C>(&csv, file, problems) else {
            return table;
        };
        let mut places = Vec::new();
        for (place, name) in csv.columns.iter().enumerate() {
            let column = C::KNOWN.iter().find(|(known, _)| known == name);
            if let Some(&(_, column)) = column.filter(|_| place != result) {
                places.push(place);
                table.columns.push(column);
            }
        }
        if places.is_empty() {
            let example = C::TABLE.example;
            let message = format!("the header names no column to match, such as \"{example}\"");
            problems.mistake(file, csv.header_line, message);
            return table;
        }
        for (line, cells) in &csv.rows {
            let cell = |place: usize| cells.get(place).map_or("", String::as_str);
            if is_any(cell(result)) {
                problems.mistake(file, *line, format!("the row names no {}", C::TABLE.noun));
                continue;
            }
            if let Err(why) = check_value(C::TABLE.noun, cell(result)) {
                problems.mistake(file, *line, why);
                continue;
            }
            let cells = places
                .iter()
                .map(|&place| Some(cell(place)).filter(|cell| !is_any(cell)).map(str::to_owned))
                .collect();
            table.add(MatchRule {
                cells,
                answer: cell(result).to_owned(),
            });
        }
        table
    }

    fn add(&mut self, rule: MatchRule) {
        let nth = self.rules.len();
        match rule.cells.first().and_then(Option::as_ref) {
            None => {
                self.any_first.push(nth);
                self.by_first.values_mut().for_each(|rules| rules.push(nth));
            }
            Some(value) => {
                let seed = &self.any_first;
                self.by_first
                    .entry(value.clone())
                    .or_insert_with(|| seed.clone())
                    .push(nth);
            }
        }
        self.rules.push(rule);
    }

    /// The answer of the first row that matches.
    #[must_use]
    pub fn lookup(&self, row: &JobRow<'_>) -> Option<&str> {
        let first = self.columns.first()?.of(row);
        let candidates = first
            .and_then(|value| self.by_first.get(value))
            .unwrap_or(&self.any_first);
        let rules = candidates.iter().filter_map(|&nth| self.rules.get(nth));
        let mut matching = rules.filter(|rule| {
            let mut pairs = self.columns.iter().zip(&rule.cells);
            pairs.all(|(column, cell)| cell.is_none() || cell.as_deref() == column.of(row))
        });
        matching.next().map(|rule| rule.answer.as_str())
    }

    /// The content of the table, in its order: all that decides results.
    #[must_use]
    pub fn canonical(&self) -> String {
        let mut text = String::new();
        for column in &self.columns {
            text.push_str(column.as_str());
            text.push(' ');
        }
        for rule in &self.rules {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{:?} {:?}", rule.cells, rule.answer);
        }
        text
    }
}

/// The place of the answers, or a mistake.
fn result_of<C: MatchColumn>(csv: &CsvTable, file: &str, problems: &mut Problems) -> Option<usize> {
    let MatchWording { result, last, .. } = C::TABLE;
    let Some(last) = last else {
        return csv.column(result, file, problems);
    };
    let named = csv.columns.iter().position(|name| name == result);
    let ends_with = csv.columns.last().is_some_and(|name| name == last);
    let found = named.or_else(|| ends_with.then(|| csv.columns.len() - 1));
    if found.is_none() && !csv.is_reported {
        let message = format!("the header names no result: add a column \"{result}\", or put \"{last}\" last");
        problems.mistake(file, csv.header_line, message);
    }
    found
}
