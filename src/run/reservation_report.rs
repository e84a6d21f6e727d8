//! The report of a run about reservations: the number of charged windows, and those that were only planned.

use std::fmt::Write as _;

use serde::Serialize;

use crate::absent;
use crate::numbers::count_u64;

/// Planned windows that are named.
const NAMED: usize = 5;

/// Windows of reservations, where policies charge for them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReservationReport {
    /// Windows charged.
    pub charged_n: u64,
    /// Windows that had not begun when they were last listed, and are not charged.
    pub planned_n: u64,
    /// The first of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub planned: Vec<PlannedWindow>,
}

/// A window that had not begun when it was last listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct PlannedWindow {
    /// Its start in UTC.
    pub start_utc: String,
    /// Its name.
    pub reservation: String,
    /// Its cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// When the last listing that contains it was made, in UTC.
    pub listed_utc: String,
}

impl ReservationReport {
    /// Of so many charged windows, and of all planned ones.
    pub(super) fn new(charged_n: usize, mut planned: Vec<PlannedWindow>) -> Self {
        planned.sort();
        let planned_n = count_u64(planned.len());
        planned.truncate(NAMED);
        Self {
            charged_n: count_u64(charged_n),
            planned_n,
            planned,
        }
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let mut text = format!("reservations: {} windows charged", self.charged_n);
        if self.planned_n > 0 {
            let names = self
                .planned
                .iter()
                .map(PlannedWindow::text)
                .collect::<Vec<_>>()
                .join(", ");
            let more = if self.planned_n > count_u64(self.planned.len()) {
                ", ..."
            } else {
                ""
            };
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "; {} not charged, which had not begun when they were last listed: {names}{more}",
                self.planned_n
            );
        }
        text
    }
}

impl PlannedWindow {
    fn text(&self) -> String {
        let cluster = absent::phrase(self.cluster.as_ref().map(|cluster| format!(" of {cluster}")));
        format!(
            "{}{cluster} (from {}, listed {})",
            self.reservation, self.start_utc, self.listed_utc
        )
    }
}
