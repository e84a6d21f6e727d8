//! A table of a report: typed cells under columns with units, rendered by [`super::render`].

use std::fmt;

use crate::amounts::{add, finer};
use crate::error::Result;
use crate::time::instant::second_text;

/// One value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    /// Unknown or not applicable.
    Empty,
    /// Words.
    Text(String),
    /// A whole number.
    Int(i128),
    /// An instant: Unix milliseconds, shown in UTC to the second.
    Instant(i64),
    /// An exact decimal: `value` in units of 10^-`scale`.
    Decimal {
        /// The digits.
        value: i128,
        /// Digits after the point.
        scale: u8,
    },
}

impl Cell {
    /// Words, or nothing.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Words where there are any.
    #[must_use]
    pub fn word(word: Option<&str>) -> Self {
        word.map_or(Self::Empty, |word| Self::Text(word.to_owned()))
    }

    /// A whole number.
    pub fn int(value: impl Into<i128>) -> Self {
        Self::Int(value.into())
    }

    /// `numerator / denominator` rounded once, half away from zero, to `scale` digits after the point; nothing when
    /// there is nothing to divide by, or it does not fit.
    #[must_use]
    pub fn ratio(numerator: i128, denominator: i128, scale: u8) -> Self {
        let power = 10_i128.checked_pow(u32::from(scale));
        let shifted = power.and_then(|power| numerator.checked_mul(power));
        match shifted.and_then(|shifted| divide(shifted, denominator)) {
            Some(value) => Self::Decimal { value, scale },
            None => Self::Empty,
        }
    }

    /// A part of a whole in percent, rounded once; nothing where it is not a part: negative, or more than the whole. Corrections
    /// make such sums.
    #[must_use]
    pub fn percent(part: i128, whole: i128, scale: u8) -> Self {
        if (0..=whole).contains(&part) {
            Self::ratio(finer(part, 100), whole, scale)
        } else {
            Self::Empty
        }
    }

    fn is_number(&self) -> bool {
        matches!(self, Self::Int(_) | Self::Decimal { .. })
    }

    /// Adds a cell of the column `name`; one that is not a number adds nothing.
    fn add(&mut self, more: &Self, name: &str) -> Result<()> {
        match (&mut *self, more) {
            (Self::Int(sum), Self::Int(more))
            | (Self::Decimal { value: sum, .. }, Self::Decimal { value: more, .. }) => add(sum, *more, name),
            (sum, more) => {
                if !sum.is_number() && more.is_number() {
                    *sum = more.clone();
                }
                Ok(())
            }
        }
    }
}

/// The sum of two parts of what was read within a bound (see [`crate::amounts`]); unknown where neither is known.
#[must_use]
pub fn known_sum(a: Option<i128>, b: Option<i128>) -> Option<i128> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}

/// Rounds half away from zero; `None` when there is nothing to divide by.
#[must_use]
pub fn divide(numerator: i128, denominator: i128) -> Option<i128> {
    if denominator == 0 {
        return None;
    }
    let (quotient, rest) = (numerator / denominator, numerator % denominator);
    let is_up = rest.unsigned_abs() >= denominator.unsigned_abs() - rest.unsigned_abs();
    let away = if (numerator < 0) == (denominator < 0) { 1 } else { -1 };
    Some(if is_up && rest != 0 { quotient + away } else { quotient })
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => Ok(()),
            Self::Text(text) => f.write_str(text),
            Self::Int(value) | Self::Decimal { value, scale: 0 } => write!(f, "{value}"),
            Self::Instant(ms) => second_text(*ms).map_or(Ok(()), |text| f.write_str(&text)),
            Self::Decimal { value, scale } => {
                // Fallback: never taken, no column has more than 38 places.
                let power = 10_u128.saturating_pow(u32::from(*scale));
                let (whole, rest) = (value.unsigned_abs() / power, value.unsigned_abs() % power);
                let sign = if *value < 0 { "-" } else { "" };
                write!(f, "{sign}{whole}.{rest:0width$}", width = usize::from(*scale))
            }
        }
    }
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Words.
    Text,
    /// Instants.
    Instant,
    /// Whole numbers that are added up in the totals.
    Sum,
    /// Decimals with so many digits after the point that are added up in the totals.
    DecimalSum(u8),
    /// Whole numbers without a total.
    Number,
    /// Decimals without a total.
    Decimal(u8),
}

impl ColumnKind {
    /// Whole numbers about jobs in rows of `kind_n` kinds that describe the same jobs: several kinds have no total.
    #[must_use]
    pub fn distinguished_by(kind_n: usize) -> Self {
        if kind_n > 1 { Self::Number } else { Self::Sum }
    }

    /// Whether it is set to the right.
    #[must_use]
    pub fn is_number(self) -> bool {
        !matches!(self, Self::Text | Self::Instant)
    }

    /// Whether it has a total.
    #[must_use]
    pub fn is_sum(self) -> bool {
        matches!(self, Self::Sum | Self::DecimalSum(_))
    }
}

/// One column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// Its name in files.
    pub name: String,
    /// Its unit, for people; empty where it has none.
    pub unit: &'static str,
    /// What it holds.
    pub kind: ColumnKind,
    /// Whether pages show all digits after the point, as of money, and not only those that matter.
    pub has_all_digits: bool,
}

/// Rows under columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// Its columns.
    pub columns: Vec<TableColumn>,
    /// Its rows, each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
    /// Totals that are known better than by adding up rounded cells.
    pub exact_totals: Option<Vec<Cell>>,
}

impl Table {
    /// A table of (name, unit, kind) columns without rows.
    #[must_use]
    pub fn new(title: impl Into<String>, columns: &[(&str, &'static str, ColumnKind)]) -> Self {
        let columns = columns.iter().map(|&(name, unit, kind)| TableColumn {
            name: name.to_owned(),
            unit,
            kind,
            has_all_digits: false,
        });
        Self {
            title: title.into(),
            columns: columns.collect(),
            rows: Vec::new(),
            exact_totals: None,
        }
    }

    /// Adds a row.
    pub fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len(), "{}", self.title);
        self.rows.push(row);
    }

    /// Sets the totals to those of a row that was made of the sums of all rows: each is rounded once. Columns without a total
    /// have none.
    pub fn set_totals(&mut self, row: Vec<Cell>) {
        let totals = row.into_iter().zip(&self.columns).enumerate();
        let totals = totals.map(|(at, (cell, column))| match (column.kind.is_sum(), at) {
            (true, _) => cell,
            (false, 0) => Cell::text("total"),
            (false, _) => Cell::Empty,
        });
        self.exact_totals = Some(totals.collect());
    }

    /// The table with those of its columns that `is_kept`, by their place.
    #[must_use]
    pub fn with_columns(&self, is_kept: impl Fn(usize, &TableColumn) -> bool) -> Self {
        let kept: Vec<bool> = (0..)
            .zip(&self.columns)
            .map(|(at, column)| is_kept(at, column))
            .collect();
        let cells = |row: &Vec<Cell>| {
            let cells = row.iter().zip(&kept).filter(|(_, is_kept)| **is_kept);
            cells.map(|(cell, _)| cell.clone()).collect()
        };
        let columns = self.columns.iter().zip(&kept).filter(|(_, is_kept)| **is_kept);
        Self {
            title: self.title.clone(),
            columns: columns.map(|(column, _)| column.clone()).collect(),
            rows: self.rows.iter().map(cells).collect(),
            exact_totals: self.exact_totals.as_ref().map(cells),
        }
    }

    /// The table without columns that have no value in any row. A table without rows keeps its columns.
    #[must_use]
    pub fn without_empty_columns(&self) -> Self {
        let has_value = |at: usize| {
            self.rows
                .iter()
                .any(|row| row.get(at).is_some_and(|cell| *cell != Cell::Empty))
        };
        self.with_columns(|at, _| self.rows.is_empty() || has_value(at))
    }

    /// The totals of the columns that have any; `None` when none does, or there are fewer than two rows.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] naming the column whose total is too large.
    pub fn totals(&self) -> Result<Option<Vec<Cell>>> {
        if self.rows.len() < 2 || !self.columns.iter().any(|column| column.kind.is_sum()) {
            return Ok(None);
        }
        if self.exact_totals.is_some() {
            return Ok(self.exact_totals.clone());
        }
        let totals = self.columns.iter().enumerate().map(|(at, column)| {
            if !column.kind.is_sum() {
                return Ok(if at == 0 { Cell::text("total") } else { Cell::Empty });
            }
            let mut sum = Cell::Empty;
            for cell in self.rows.iter().filter_map(|row| row.get(at)) {
                sum.add(cell, &column.name)?;
            }
            Ok(sum)
        });
        totals.collect::<Result<_>>().map(Some)
    }
}
