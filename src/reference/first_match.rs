//! Tables whose first matching row answers.

use std::fmt::Write as _;

use ahash::AHashMap;

use super::csv_table::{CsvTable, is_any};
use crate::problems::Problems;
use crate::records::JobRow;

/// A column of a record that rows are matched by.
pub(super) trait Column: Copy {
    /// The word in the header.
    fn word(self) -> &'static str;

    /// What a job says in it; an empty text is nothing.
    fn of_row<'a>(self, row: &JobRow<'a>) -> Option<&'a str>;
}

#[derive(Clone, Debug)]
struct Rule {
    /// One cell per matching column; `None` matches anything, also nothing.
    cells: Vec<Option<String>>,
    answer: String,
}

/// The rows of a table, first match wins. An empty or `*` cell matches anything; every other cell must be equal, letter
/// case included.
#[derive(Clone, Debug)]
pub(super) struct FirstMatch<C> {
    columns: Vec<C>,
    rules: Vec<Rule>,
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

/// What mistakes in a table are told with.
pub(super) struct Wording {
    /// What an answer is: `site`.
    pub(super) noun: &'static str,
    /// A column people match by: `cluster`.
    pub(super) example: &'static str,
}

impl<C: Column> FirstMatch<C> {
    /// The table with its answers in the column at `result`, matched by the columns in `known`. Rows with a mistake are
    /// told and left out.
    pub(super) fn read(
        csv: &CsvTable,
        result: usize,
        known: &[(&str, C)],
        wording: &Wording,
        file: &str,
        problems: &mut Problems,
    ) -> Self {
        let mut places = Vec::new();
        let mut table = Self::default();
        for (place, name) in csv.columns.iter().enumerate() {
            let column = known.iter().find(|(known, _)| known == name);
            if let Some(&(_, column)) = column.filter(|_| place != result) {
                places.push(place);
                table.columns.push(column);
            }
        }
        if places.is_empty() {
            let example = wording.example;
            let message = format!("the header names no column to match, such as \"{example}\"");
            problems.mistake(file, 1, message);
            return table;
        }
        for (line, cells) in &csv.rows {
            let cell = |place: usize| cells.get(place).map_or("", String::as_str);
            if is_any(cell(result)) {
                problems.mistake(file, *line, format!("the row names no {}", wording.noun));
                continue;
            }
            let cells = places
                .iter()
                .map(|&place| Some(cell(place)).filter(|cell| !is_any(cell)).map(str::to_owned))
                .collect();
            table.add(Rule {
                cells,
                answer: cell(result).to_owned(),
            });
        }
        table
    }

    fn add(&mut self, rule: Rule) {
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
    pub(super) fn lookup(&self, row: &JobRow<'_>) -> Option<&str> {
        let first = self.columns.first()?.of_row(row);
        let candidates = first
            .and_then(|value| self.by_first.get(value))
            .unwrap_or(&self.any_first);
        let rules = candidates.iter().filter_map(|&nth| self.rules.get(nth));
        let mut matching = rules.filter(|rule| {
            let mut pairs = self.columns.iter().zip(&rule.cells);
            pairs.all(|(column, cell)| cell.is_none() || cell.as_deref() == column.of_row(row))
        });
        matching.next().map(|rule| rule.answer.as_str())
    }

    /// What the table says, in its order: what decides results.
    pub(super) fn canonical(&self) -> String {
        let mut text = String::new();
        for column in &self.columns {
            text.push_str(column.word());
            text.push(' ');
        }
        for rule in &self.rules {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{:?} {:?}", rule.cells, rule.answer);
        }
        text
    }
}
