//! What a reader talks to.

use super::cross_check::CrossCheck;
use super::dialect::Dialect;
use super::projection::Interest;
use crate::ledger::Reason;
use crate::record::{JobRow, SummaryRow};
use crate::reference::inventory::InventoryRow;

/// Where in a file (after decompression) something was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// 1-based line on which the record starts.
    pub line: u64,
    /// 0-based byte offset at which the record starts.
    pub byte_offset: u64,
}

/// Receives everything a reader finds. A reader calls [`Sink::rows_read`] when it frames rows, before it looks inside
/// them, and then gives each row exactly one outcome: the ledger compares the two.
pub trait Sink {
    /// `n` more input rows were framed (a step row counts, a header line does not).
    fn rows_read(&mut self, n: u64);

    /// A job, with the number of step rows folded into it.
    fn job(&mut self, row: &JobRow<'_>, at: Position, step_n: u32);

    /// An aggregate over jobs: one input row. Who does not take summaries counts them as out of scope.
    fn summary(&mut self, _row: &SummaryRow<'_>, _at: Position) {
        self.out_of_scope(Reason::OtherRecordType, 1);
    }

    /// `rows` input rows that are refused together, with their raw text (the reader hands over all of it) and one
    /// sentence of detail naming field and value.
    fn reject(&mut self, reason: Reason, at: Position, rows: u64, detail: &str, raw: &[u8]);

    /// Something about the machine behind the jobs, from `rows` input rows: none when another row of the same line
    /// accounts for it. A sink that keeps no inventory refuses it.
    fn inventory(&mut self, row: &InventoryRow, at: Position, rows: u64) {
        if rows > 0 {
            let detail = format!("a row of {}, which this sink does not keep", row.dataset());
            self.reject(Reason::NotARecord, at, rows, &detail, b"");
        }
    }

    /// `rows` input rows that are sound but not accounted here.
    fn out_of_scope(&mut self, reason: Reason, rows: u64);

    /// A message of the tool that made the dump among the rows: one input row, of which the text is handed over.
    fn tool_message(&mut self, at: Position, text: &[u8]) {
        let _ = (at, text);
        self.out_of_scope(Reason::ToolMessage, 1);
    }

    /// What of a job is listened to.
    fn interest(&mut self) -> Interest {
        Interest::all()
    }

    /// What follows is of this dialect: members of an archive may be of several.
    fn dialect(&mut self, _: Dialect) {}

    /// Compares documents that carry their record twice; with `None`, the second form is never decoded.
    fn cross_check(&mut self) -> Option<&mut CrossCheck> {
        None
    }

    /// One input row with the grid identity of a job of the batch system, without its usage.
    fn grid_identity(&mut self, identity: &GridIdentity<'_>, at: Position) {
        let _ = (identity, at);
        self.out_of_scope(Reason::GridIdentity, 1);
    }
}

/// Who a job is in the grid, as its CE logged it when handing it to the batch system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridIdentity<'a> {
    /// The job id of the batch system.
    pub job_id: &'a str,
    /// When the CE handed it over, Unix milliseconds.
    pub submit_ms: i64,
    /// Certificate or token subject.
    pub global_user: Option<&'a str>,
    /// Primary VOMS attribute.
    pub fqan: Option<&'a str>,
    /// The CE, such as `ce.example.org:8443/cream-pbs-atlas`.
    pub submit_host: Option<&'a str>,
    /// The CE's own id of the job.
    pub global_job_id: Option<&'a str>,
}

/// A piece of input that can be parsed on any thread, in any order.
pub type Work = Box<dyn FnOnce(&mut dyn Sink) + Send>;

/// The pieces of one input, in order. Splitting is sequential and cheap; parsing the pieces is not.
pub type Pieces = Box<dyn Iterator<Item = crate::error::Result<Work>> + Send>;
