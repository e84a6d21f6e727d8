//! Days and hours of a slice, as the pipeline's calendar cuts them.

use crate::time::{Day, Zone};

/// Hours of a week.
pub const WEEK_HOUR_N: usize = 168;

/// A time within one local hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridCell {
    /// First second.
    pub from_s: i64,
    /// Local day.
    pub day: Day,
    /// Local hour of the week, 0 from Monday 00:00.
    pub hour_of_week: u8,
}

/// A slice cut wherever a local hour begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    cells: Vec<GridCell>,
    until_s: i64,
}

impl Grid {
    /// Cuts `from_s..until_s` in `zone`.
    #[must_use]
    pub fn new(zone: &Zone, from_s: i64, until_s: i64) -> Self {
        /// No offset from UTC is cut finer.
        const STEP_S: i64 = 900;
        let mut cells: Vec<GridCell> = Vec::new();
        let mut at_s = from_s;
        while at_s < until_s {
            // Fallback: no slice is near the ends of 63 bits of seconds.
            let local_s = at_s.saturating_add(zone.offset_at(at_s));
            // Fallback: never taken, the days of a slice are days of months.
            let day = Day::try_from(local_s.div_euclid(86_400)).unwrap_or(Day::MAX);
            // 1970-01-01 was a Thursday.
            let hour = (local_s.div_euclid(3600) + 3 * 24).rem_euclid(168);
            let cell = GridCell {
                from_s: at_s,
                day,
                // Fallback: never taken, the remainder by 168 fits eight bits.
                hour_of_week: u8::try_from(hour).unwrap_or(0),
            };
            // A repeated hour continues the first one.
            if cells
                .last()
                .is_none_or(|last| (last.day, last.hour_of_week) != (cell.day, cell.hour_of_week))
            {
                cells.push(cell);
            }
            at_s = (at_s.div_euclid(STEP_S) + 1) * STEP_S;
        }
        Self { cells, until_s }
    }

    /// Its cells in the order of time.
    #[must_use]
    pub fn cells(&self) -> &[GridCell] {
        &self.cells
    }

    /// First second; the end when it is empty.
    #[must_use]
    pub fn from_s(&self) -> i64 {
        self.cells.first().map_or(self.until_s, |cell| cell.from_s)
    }

    /// The second after the last.
    #[must_use]
    pub fn until_s(&self) -> i64 {
        self.until_s
    }
}
