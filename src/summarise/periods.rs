//! A job cut into the periods it ran in.

use super::attribution::Attribution;
use super::settings::Settings;
use super::view::RecordView;
use crate::time::Calendar;
use crate::time::calendar::Period;

/// Cuts jobs into periods, as the pipeline attributes them.
pub(super) struct PeriodSplitter {
    attribution: Attribution,
    pub(super) calendar: Calendar,
    /// The periods of the job cut last.
    pub(super) pieces: Vec<Period>,
    /// How long it ran in each, milliseconds.
    pub(super) weights: Vec<i64>,
    /// Its first instant, Unix milliseconds.
    pub(super) from_ms: i64,
    /// The instant after its last.
    pub(super) until_ms: i64,
}

impl PeriodSplitter {
    pub(super) fn new(settings: Settings<'_>) -> Self {
        let calendar = Calendar::new(
            settings.calendar_zone.clone(),
            settings.grain,
            settings.allocation_year_start,
        );
        Self::of(settings.attribution, calendar)
    }

    pub(super) fn of(attribution: Attribution, calendar: Calendar) -> Self {
        Self {
            attribution,
            calendar,
            pieces: Vec::new(),
            weights: Vec::new(),
            from_ms: 0,
            until_ms: 0,
        }
    }

    /// Cuts a row into periods with their lengths; returns the piece that holds its end. `None`: nothing to attribute.
    pub(super) fn cut(&mut self, view: &RecordView<'_>, row: usize, end_ms: Option<i64>) -> Option<usize> {
        let start_ms = view.start_ms(row);
        let (from_ms, until_ms) = match (self.attribution, start_ms, end_ms) {
            (Attribution::ByEnd, _, end) => (end?, end?),
            (Attribution::Prorated, Some(start), Some(end)) if end > start => (start, end),
            (Attribution::Prorated, Some(start), None) => (start, start + view.held_s(row) * 1000),
            (Attribution::Prorated, _, Some(end)) => (end, end),
            (Attribution::Prorated, None, None) => {
                let at = view.record_utc.value(row);
                (at, at)
            }
        };
        (self.from_ms, self.until_ms) = (from_ms, until_ms);
        // Nearly every job is in one period, that of the job before.
        if let ([period], [weight]) = (self.pieces.as_slice(), self.weights.as_mut_slice())
            && (period.from_ms..period.until_ms).contains(&from_ms)
            && (from_ms..period.until_ms).contains(&until_ms)
        {
            *weight = until_ms - from_ms;
            return Some(0);
        }
        self.pieces.clear();
        self.weights.clear();
        // The instant of the end is in the period that begins there when it is an edge: periods are half-open.
        let mut at_ms = from_ms;
        loop {
            let period = self.calendar.period(at_ms)?;
            self.pieces.push(period);
            self.weights.push(period.until_ms.min(until_ms) - at_ms);
            if until_ms < period.until_ms || (until_ms == period.until_ms && end_ms.is_none()) {
                return Some(self.pieces.len() - 1);
            }
            at_ms = period.until_ms;
        }
    }
}
