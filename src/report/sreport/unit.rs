//! The unit of usage, and how sreport rounds.

use crate::report::table::{Cell, ColumnKind};

/// In what usage is reported, by the words of `sreport -t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Minutes, sreport's default.
    #[default]
    Minutes,
    /// Hours.
    Hours,
    /// Percentage of what the cluster reported.
    Percent,
    /// Seconds and percentage.
    #[value(name = "secper")]
    SecondsPercent,
    /// Minutes and percentage.
    #[value(name = "minper")]
    MinutesPercent,
    /// Hours and percentage.
    #[value(name = "hourper")]
    HoursPercent,
}

impl TimeUnit {
    /// Seconds of one, and its name; `None` where only a percentage is requested.
    fn amount(self) -> Option<(i128, &'static str)> {
        match self {
            Self::Seconds | Self::SecondsPercent => Some((1, "TRES s")),
            Self::Minutes | Self::MinutesPercent => Some((60, "TRES min")),
            Self::Hours | Self::HoursPercent => Some((3600, "TRES h")),
            Self::Percent => None,
        }
    }

    /// Whether a percentage is printed.
    #[must_use]
    pub fn has_percent(self) -> bool {
        !matches!(self, Self::Seconds | Self::Minutes | Self::Hours)
    }

    /// The columns of one amount called `name`.
    pub(super) fn columns(self, name: &str, kind: ColumnKind) -> Vec<(String, &'static str, ColumnKind)> {
        let mut columns = Vec::new();
        if let Some((_, unit)) = self.amount() {
            columns.push((name.to_owned(), unit, kind));
        }
        if self.has_percent() {
            let name = if columns.is_empty() {
                name.to_owned()
            } else {
                format!("{name} %")
            };
            columns.push((name, "%", ColumnKind::Decimal(2)));
        }
        columns
    }

    /// The cells of one amount in seconds, of a whole in seconds; empty where it is unknown.
    pub(super) fn cells(self, amount_s: Option<i128>, whole_s: Option<i128>) -> Vec<Cell> {
        let mut cells = Vec::new();
        if let Some((unit_s, _)) = self.amount() {
            cells.push(amount_s.map_or(Cell::Empty, |amount_s| Cell::Int(half_even(amount_s, unit_s))));
        }
        if self.has_percent() {
            let known = amount_s
                .zip(whole_s)
                .and_then(|(amount_s, whole_s)| percent(amount_s, whole_s));
            cells.push(known.map_or(Cell::Empty, |value| Cell::Decimal { value, scale: 2 }));
        }
        cells
    }
}

/// `amount / unit`, a half to the even neighbour, as C prints a double without decimals. `unit` is above zero.
pub(super) fn half_even(amount: i128, unit: i128) -> i128 {
    let (quotient, rest) = (amount.div_euclid(unit), amount.rem_euclid(unit));
    let is_up = match (rest * 2).cmp(&unit) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => quotient % 2 != 0,
        std::cmp::Ordering::Greater => true,
    };
    quotient + i128::from(is_up)
}

/// Hundredths of a percent, by the two steps and the doubles of sreport: only these round as it does.
#[expect(clippy::cast_precision_loss, reason = "sreport prints a double")]
pub(super) fn percent(amount_s: i128, whole_s: i128) -> Option<i128> {
    if whole_s <= 0 {
        return (amount_s == 0).then_some(0);
    }
    let percent = amount_s as f64 / whole_s as f64 * 100.0;
    format!("{percent:.2}").replace('.', "").parse().ok()
}
