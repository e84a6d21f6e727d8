//! Step rows: what they add to their job.

use super::column::Role;
use super::refusal::Refusal;
use super::row::SacctRow;
use super::tres;
use crate::numbers::Comparand;
use crate::schema::batch::addend;
use crate::sources::projection::ColumnPart;

/// The steps of one job so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Steps {
    /// How many rows were folded in.
    pub(super) count: u32,
    /// Their CPU time, milliseconds; `None` while no step states any.
    pub(super) cpu_ms: Option<i64>,
    /// The part of it that was only polled: of steps whose own figure is zero, milliseconds.
    pub(super) polled_ms: i64,
    /// A step row was refused: the CPU time is not the whole sum.
    pub(super) is_incomplete: bool,
    /// Largest resident set, bytes.
    pub(super) max_rss_byte: Option<i64>,
    /// Largest virtual size, bytes.
    pub(super) max_virtual_byte: Option<i64>,
}

impl Steps {
    /// Folds one step row in.
    pub(super) fn add(&mut self, row: &mut SacctRow<'_, '_>) -> Result<(), Refusal> {
        let measured = row.total_cpu_ms()?;
        if row.projected.interest.any(&[ColumnPart::PeakMemory]) {
            let rss = row.size(Role::MaxRss, 1)?.map(|(byte, _)| byte);
            let virtual_size = row.size(Role::MaxVmSize, 1)?.map(|(byte, _)| byte);
            self.max_rss_byte = self.max_rss_byte.max(rss);
            self.max_virtual_byte = self.max_virtual_byte.max(virtual_size);
        }
        // The last poll of the accounting plugin; lower than the rusage at exit, so only where that is missing.
        let polled = match measured {
            None | Some(0) => tres::usage_cpu_ms(row.text(Role::TresUsageInTot)),
            Some(_) => None,
        };
        if measured.is_some() {
            self.polled_ms = self.polled_ms.sum_to_compare(addend(polled));
        }
        if let Some(ms) = polled.or(measured) {
            self.cpu_ms = Some(addend(self.cpu_ms).sum_to_compare(ms));
        }
        self.count += 1;
        Ok(())
    }
}
