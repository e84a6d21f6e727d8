//! The chart of used shares next to shares.

use super::axes::{ChartDays, ChartScale, DayValue, draw, within};
use super::shares::{AccountShares, AwardShares, ShareAccount};
use crate::error::Result;
use crate::reference::node_type::day_text;
use crate::report::drawing::{ChartShape, LegendEntry, figure};

/// Pixels.
const HEIGHT: u32 = 200;
/// Digits after the point of shares in per cent, which are billionths.
const DIGITS: u8 = 7;

/// Used shares next to shares, day by day.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when it cannot be drawn.
pub(super) fn used_shares(all: &AwardShares, account: &ShareAccount, days: &[AccountShares]) -> Result<Option<String>> {
    let (Some(first), Some(last)) = (days.first(), days.last()) else {
        return Ok(None);
    };
    let shown = ChartDays {
        from: first.day,
        until: last.day + 1,
    };
    let series = |of: &dyn Fn(&AccountShares) -> Option<i128>| -> Vec<DayValue> {
        let values = days.iter().filter_map(|shares| Some((shares.day, of(shares)?)));
        values
            .flat_map(|(day, value)| [day, day + 1].map(|day| DayValue { day, value }))
            .collect()
    };
    let used = series(&|shares| all.used(&account.place, shares));
    let granted = series(&|shares| shares.norm_shares);
    let most = used.iter().chain(&granted).map(|point| point.value).max();
    // Fallback: a chart without values has the least scale.
    let scale = ChartScale::of(0, most.unwrap_or(1));
    let shapes: Vec<ChartShape<'_>> = [(&granted, "series6", 2), (&used, "series0", 3)]
        .into_iter()
        .filter(|(line, ..)| !line.is_empty())
        .map(|(line, ink, width)| ChartShape::Line {
            points: within(line, shown, &scale),
            ink,
            width,
        })
        .collect();
    let alt = format!(
        "Used share and share of {} on {}, from {} to {}, in per cent by day. The tables have all numbers.",
        account.name,
        account.place.cluster,
        day_text(Some(first.day), ""),
        day_text(Some(last.day), "")
    );
    let inks = [
        LegendEntry {
            ink: "series0",
            word: "used",
        },
        LegendEntry {
            ink: "series6",
            word: "share",
        },
    ];
    let svg = draw(shown, HEIGHT, &scale, DIGITS, "%", &shapes)?;
    let title = format!("{} on {}", account.name, account.place.cluster);
    Ok(Some(figure(&title, &inks, &alt, &svg)))
}
