//! Evidence of local times about their zone: when its clocks were changed.

use crate::numbers::Comparand;
use crate::record::JobRow;
use crate::schema::batch::addend;

const HOUR_MS: i64 = 3_600_000;

/// Jobs that took an hour more or less than their printed times give.
#[derive(Debug, Default)]
pub(super) struct ClockChanges {
    forward: ClockChange,
    back: ClockChange,
}

/// Jobs that show changes in one direction.
#[derive(Debug, Default)]
struct ClockChange {
    jobs: u64,
    /// What all of them have in common: their latest start and earliest end, as printed, in Unix milliseconds.
    common: Option<(i64, i64)>,
}

impl ClockChanges {
    /// Looks at a job whose local times were read as if they were UTC.
    pub(super) fn look(&mut self, row: &JobRow<'_>) {
        let (Some(start), Some(end), Some(wall)) = (row.start_ms, row.end_ms, row.wall_ms) else {
            return;
        };
        let suspended = addend(row.suspended_s).product_to_compare(1000);
        let surplus = end
            .difference_to_compare(start)
            .difference_to_compare(wall)
            .difference_to_compare(suspended);
        match surplus {
            HOUR_MS => self.forward.add(start, end),
            // The hour occurs twice, and the end may be in the second one.
            _ if surplus == -HOUR_MS => self.back.add(start, end.sum_to_compare(HOUR_MS)),
            _ => {}
        }
    }

    /// A sentence for each direction.
    pub(super) fn reported(&self) -> Vec<String> {
        let each = [("forward", "less", &self.forward), ("back", "more", &self.back)];
        each.into_iter()
            .filter_map(|(direction, how, change)| {
                let n = change.jobs;
                let (from, to) = change.common.filter(|(from, to)| from < to)?;
                let time = crate::time::instant::instant_text;
                let (from, to) = (time(from)?, time(to)?);
                let (from, to) = (from.trim_end_matches('Z'), to.trim_end_matches('Z'));
                Some(format!(
                    "{n} jobs took an hour {how} than their times give: clocks went {direction} between {from} and {to}, \
                     local time; timezone must be a zone where they did"
                ))
            })
            .collect()
    }
}

impl ClockChange {
    fn add(&mut self, start: i64, end: i64) {
        self.jobs += 1;
        let (latest, earliest) = self.common.unwrap_or((start, end));
        self.common = Some((latest.max(start), earliest.min(end)));
    }
}
