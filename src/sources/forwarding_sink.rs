//! A sink that forwards to another one, for the members of an archive and the rows of a repair.

use super::cross_check::CrossCheck;
use super::dialect::Dialect;
use super::projection::Interest;
use super::{GridIdentity, Position, Sink};
use crate::ledger::Reason;
use crate::record::{JobRow, SummaryRow};
use crate::reference::inventory::InventoryRow;

/// Forwards all rows to another sink; an implementation defines only what it changes. It is itself a [`Sink`].
///
/// [`Sink`] has methods with a default body, which count rows as out of scope. A sink in between that forgot one would
/// lose those rows without a word; so nothing here is forwarded by hand but in one place, where the lint below counts.
pub(crate) trait Relay {
    /// The sink behind it.
    fn inner(&mut self) -> &mut dyn Sink;

    /// The position, for the next sink, of a row `at` a position.
    fn place(&self, at: Position) -> Position {
        at
    }

    /// Forwards a job; `at` is its position for the next sink.
    fn relay_job(&mut self, row: &JobRow<'_>, at: Position, step_n: u32) {
        self.inner().job(row, at, step_n);
    }

    /// Forwards a refusal, with `at` as given by the reader.
    fn relay_reject(&mut self, reason: Reason, at: Position, rows: u64, detail: &str, raw: &[u8]) {
        let place = self.place(at);
        self.inner().reject(reason, place, rows, detail, raw);
    }
}

#[deny(clippy::missing_trait_methods)]
impl<R: Relay> Sink for R {
    fn rows_read(&mut self, n: u64) {
        self.inner().rows_read(n);
    }

    fn job(&mut self, row: &JobRow<'_>, at: Position, step_n: u32) {
        let place = self.place(at);
        self.relay_job(row, place, step_n);
    }

    fn summary(&mut self, row: &SummaryRow<'_>, at: Position) {
        let place = self.place(at);
        self.inner().summary(row, place);
    }

    fn reject(&mut self, reason: Reason, at: Position, rows: u64, detail: &str, raw: &[u8]) {
        self.relay_reject(reason, at, rows, detail, raw);
    }

    fn inventory(&mut self, row: &InventoryRow, at: Position, rows: u64) {
        let place = self.place(at);
        self.inner().inventory(row, place, rows);
    }

    fn out_of_scope(&mut self, reason: Reason, rows: u64) {
        self.inner().out_of_scope(reason, rows);
    }

    fn tool_message(&mut self, at: Position, text: &[u8]) {
        let place = self.place(at);
        self.inner().tool_message(place, text);
    }

    fn interest(&mut self) -> Interest {
        self.inner().interest()
    }

    fn dialect(&mut self, dialect: Dialect) {
        self.inner().dialect(dialect);
    }

    fn cross_check(&mut self) -> Option<&mut CrossCheck> {
        self.inner().cross_check()
    }

    fn grid_identity(&mut self, identity: &GridIdentity<'_>, at: Position) {
        let place = self.place(at);
        self.inner().grid_identity(identity, place);
    }
}
