//! A member's rows on their way to the sink of the whole archive.

use crate::ledger::Reason;
use crate::numbers::Extent;
use crate::record::JobRow;
use crate::sources::arrival::arrival_ms;
use crate::sources::forwarding_sink::Relay;
use crate::sources::{Position, Sink};

/// Facts of a row that come from its archive member.
#[derive(Clone, Debug)]
pub(super) struct ArchivePlace {
    /// Name of the member.
    pub(super) name: String,
    /// Unpacked bytes of all members before it.
    pub(super) base: u64,
    /// Arrival time of its records, where the name contains one.
    received_ms: Option<i64>,
}

impl ArchivePlace {
    pub(super) fn new(name: String, base: u64) -> Self {
        let received_ms = arrival_ms(&name).or_else(|| archived_ms(&name));
        Self {
            name,
            base,
            received_ms,
        }
    }

    fn of(&self, at: Position) -> Position {
        Position {
            line: at.line.further(self.base),
            byte_offset: at.byte_offset.further(self.base),
        }
    }
}

/// Arrival by the names of GRACC's archive, `gracc/YYYY/MM/DD/HH/record-..`: the hour, UTC.
fn archived_ms(name: &str) -> Option<i64> {
    let mut parts = name.rsplit('/');
    parts.next().filter(|file| file.starts_with("record-"))?;
    let mut digits = |n: usize| parts.next().filter(|part| part.len() == n);
    let (hour, day, month, year) = (digits(2)?, digits(2)?, digits(2)?, digits(4)?);
    crate::sources::instant::rfc3339_ms(&format!("{year}-{month}-{day}T{hour}:00:00Z"))
}

/// Adds the member to every row and refusal.
pub(super) struct Inside<'s> {
    pub(super) sink: &'s mut dyn Sink,
    pub(super) place: &'s ArchivePlace,
}

impl Relay for Inside<'_> {
    fn inner(&mut self) -> &mut dyn Sink {
        self.sink
    }

    fn place(&self, at: Position) -> Position {
        self.place.of(at)
    }

    fn relay_job(&mut self, row: &JobRow<'_>, at: Position, step_n: u32) {
        if row.received_ms.is_none() && self.place.received_ms.is_some() {
            let mut row = row.clone();
            row.received_ms = self.place.received_ms;
            self.sink.job(&row, at, step_n);
        } else {
            self.sink.job(row, at, step_n);
        }
    }

    fn relay_reject(&mut self, reason: Reason, at: Position, rows: u64, detail: &str, raw: &[u8]) {
        let detail = format!("{}, line {}: {detail}", self.place.name, at.line);
        self.sink.reject(reason, self.place.of(at), rows, &detail, raw);
    }
}
