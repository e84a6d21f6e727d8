//! What the meter of one node counted, and its energy over any span of time.
//!
//! The joules of a reading are spread evenly over its time. Sums up to each reading are made once, so that a span of any length takes
//! two parts of readings and one difference. A part of a reading is rounded half up to a microjoule.

/// Microjoules of a joule.
pub const UJ_PER_J: i128 = 1_000_000;

/// What a meter counted between two instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeterReading {
    /// First instant, Unix milliseconds.
    pub from_ms: i64,
    /// The instant after the last.
    pub until_ms: i64,
    /// Joules.
    pub energy_j: i64,
    /// When it was learnt, Unix milliseconds; the earliest instant when the row does not state it.
    pub learnt_at_ms: i64,
    /// Line of the table.
    pub line: usize,
}

impl MeterReading {
    /// Its part between two instants, microjoules; `None` when they are not both in it.
    fn part_uj(&self, from_ms: i64, until_ms: i64) -> Option<i128> {
        if from_ms < self.from_ms || until_ms > self.until_ms {
            return None;
        }
        let whole_ms = i128::from(self.until_ms) - i128::from(self.from_ms);
        let part_ms = i128::from(until_ms) - i128::from(from_ms);
        let doubled = (2 * i128::from(self.energy_j))
            .checked_mul(UJ_PER_J)?
            .checked_mul(part_ms)?;
        Some((doubled + whole_ms).div_euclid(2 * whole_ms))
    }
}

/// What was counted before a reading.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    /// Joules of all readings before.
    energy_j: i128,
    /// Gaps between readings before.
    gap_n: u32,
}

/// Readings of one node, in the order of time, which do not overlap.
#[derive(Clone, Debug, Default)]
pub struct MeterReadings {
    readings: Vec<MeterReading>,
    before: Vec<Before>,
}

impl MeterReadings {
    /// Of readings in the order of time that do not overlap.
    #[must_use]
    pub fn new(readings: Vec<MeterReading>) -> Self {
        let mut sum = Before::default();
        let mut before = Vec::with_capacity(readings.len());
        let mut until_ms = None;
        for reading in &readings {
            sum.gap_n += u32::from(until_ms.is_some_and(|until_ms| until_ms != reading.from_ms));
            before.push(sum);
            sum.energy_j += i128::from(reading.energy_j);
            until_ms = Some(reading.until_ms);
        }
        Self { readings, before }
    }

    /// Them, in the order of time.
    #[must_use]
    pub fn each(&self) -> &[MeterReading] {
        &self.readings
    }

    /// Those of which a part is between two instants (Unix milliseconds).
    pub fn within(&self, from_ms: i64, until_ms: i64) -> impl Iterator<Item = &MeterReading> {
        let first = self.readings.partition_point(|reading| reading.until_ms <= from_ms);
        let behind = self.readings.iter().skip(first);
        behind.take_while(move |reading| reading.from_ms < until_ms)
    }

    /// Energy from an instant until another, which is not included (Unix milliseconds), microjoules; `None` where nothing was counted
    /// for a part of it.
    #[must_use]
    pub fn energy_uj(&self, from_ms: i64, until_ms: i64) -> Option<i128> {
        if until_ms <= from_ms {
            return None;
        }
        let first_at = self.readings.partition_point(|reading| reading.until_ms <= from_ms);
        let last_at = self
            .readings
            .partition_point(|reading| reading.from_ms < until_ms)
            .checked_sub(1)?;
        let (first, last) = (self.readings.get(first_at)?, self.readings.get(last_at)?);
        if first_at == last_at {
            return first.part_uj(from_ms, until_ms);
        }
        let (behind, before) = (self.before.get(first_at + 1)?, self.before.get(last_at)?);
        let before_first = self.before.get(first_at)?;
        if before.gap_n != before_first.gap_n {
            return None;
        }
        let whole_uj = (before.energy_j - behind.energy_j).checked_mul(UJ_PER_J)?;
        let (head_uj, tail_uj) = (
            first.part_uj(from_ms, first.until_ms)?,
            last.part_uj(last.from_ms, until_ms)?,
        );
        Some(head_uj + whole_uj + tail_uj)
    }
}
