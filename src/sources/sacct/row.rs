//! A framed row and how its columns are read: every failure names column, value and why.

use super::clock::{Clock, ClockTrouble, Stamp};
use super::column::{Role, SacctKind};
use super::fields::RowFields;
use super::job_id::JobId;
use super::layout::ColumnLayout;
use super::memory::{self, Per};
use super::projected_columns::ProjectedColumns;
use super::refusal::Refusal;
use super::scalar::{self, Int};
use super::{duration, energy, state};
use crate::ledger::Reason;
use crate::record::Anomaly;
use crate::sources::decimal;

/// One row with its layout; notes what it finds odd.
pub(super) struct SacctRow<'t, 'c> {
    /// Its layout.
    pub(super) layout: &'t ColumnLayout,
    /// The columns that are read.
    pub(super) projected: &'c ProjectedColumns,
    /// Its fields, one per column.
    pub(super) fields: RowFields<'t, 'c>,
    /// Bits of [`Anomaly`].
    pub(super) anomalies: u32,
    /// An identifier that was already taken apart, and its column.
    known_id: Option<(usize, JobId<'t>)>,
}

impl<'t, 'c> SacctRow<'t, 'c> {
    /// A row with one field per column.
    pub(super) fn new(layout: &'t ColumnLayout, projected: &'c ProjectedColumns, fields: RowFields<'t, 'c>) -> Self {
        Self {
            layout,
            projected,
            fields,
            anomalies: 0,
            known_id: None,
        }
    }

    /// The same, with the identifier of a column already taken apart.
    pub(super) fn with_id(
        layout: &'t ColumnLayout,
        projected: &'c ProjectedColumns,
        fields: RowFields<'t, 'c>,
        column: usize,
        id: JobId<'t>,
    ) -> Self {
        Self {
            known_id: Some((column, id)),
            ..Self::new(layout, projected, fields)
        }
    }

    /// Notes an oddity.
    pub(super) fn note(&mut self, anomaly: Anomaly) {
        self.anomalies |= anomaly.bit();
    }

    /// The text of `role`; empty when there is no such column, or it is not projected.
    #[inline]
    pub(super) fn text(&self, role: Role) -> &'t [u8] {
        let column = self.projected.column(role);
        // Fallback: a column that is not there is empty, as the method states.
        column.and_then(|column| self.fields.get(column)).unwrap_or_default()
    }

    fn refuse(&self, reason: Reason, role: Role, why: &str) -> Refusal {
        Refusal::of(reason, self.layout, role, self.text(role), why)
    }

    /// The identifier in `role`, where it was taken apart before.
    #[inline]
    pub(super) fn known(&self, role: Role) -> Option<JobId<'t>> {
        let (column, id) = self.known_id?;
        // Both columns of a job that is not a task of an array hold the same number.
        (self.projected.column(role) == Some(column) || id.is_job(self.text(role))).then_some(id)
    }

    /// The identifier in `role`; `Ok(None)` when there is no such column or nothing in it.
    #[inline]
    pub(super) fn id(&self, role: Role) -> Result<Option<JobId<'t>>, Refusal> {
        match self.known(role) {
            None => self.other_id(role),
            known => Ok(known),
        }
    }

    fn other_id(&self, role: Role) -> Result<Option<JobId<'t>>, Refusal> {
        match self.text(role) {
            b"" => Ok(None),
            text => JobId::parse(text)
                .map(Some)
                .ok_or_else(|| self.refuse(Reason::BadJobId, role, "is not a job identifier")),
        }
    }

    /// The job number the row belongs to, and whether it is a step row.
    #[inline]
    pub(super) fn base(&self) -> Result<(&'t [u8], bool), Refusal> {
        if let Some(id) = self.known(Role::JobIdRaw) {
            return Ok((id.base, id.is_step));
        }
        let id = match self.id(Role::JobIdRaw)? {
            Some(id) => Some(id),
            None => self.id(Role::JobId)?,
        };
        Ok(id.map_or((b"", false), |id| (id.base, id.is_step)))
    }

    /// The state word; `Ok(None)` when there is no such column.
    pub(super) fn state(&self) -> Result<Option<&'static str>, Refusal> {
        if self.projected.column(Role::State).is_none() {
            return Ok(None);
        }
        match self.text(Role::State) {
            b"" => Err(self.refuse(Reason::MissingField, Role::State, "is empty")),
            text => state::known(state::first_word(text))
                .map(Some)
                .ok_or_else(|| self.refuse(Reason::UnknownState, Role::State, "is not a state of any known release")),
        }
    }

    /// An instant.
    #[inline]
    pub(super) fn time(&self, clock: &mut Clock<'_>, role: Role) -> Result<Option<Stamp>, Refusal> {
        match self.text(role) {
            b"" => Ok(None),
            text => clock
                .read(text)
                .map_err(|trouble: ClockTrouble| self.refuse(Reason::BadTime, role, trouble.sentence())),
        }
    }

    /// A duration, milliseconds.
    #[inline]
    pub(super) fn duration_ms(&mut self, role: Role) -> Result<Option<i64>, Refusal> {
        match self.text(role) {
            b"" => Ok(None),
            text => match duration::parse_ms(text) {
                None => self.no_duration(role),
                ms => Ok(ms),
            },
        }
    }

    fn no_duration(&mut self, role: Role) -> Result<Option<i64>, Refusal> {
        if self.text(role) == b"INVALID" {
            // What sacct prints for a negative duration.
            self.note(Anomaly::ValueDropped);
            return Ok(None);
        }
        Err(self.refuse(Reason::BadDuration, role, "is not a duration ([D-]HH:MM:SS)"))
    }

    /// Measured CPU time, milliseconds; allocated time in the same column does not count.
    pub(super) fn total_cpu_ms(&mut self) -> Result<Option<i64>, Refusal> {
        let column = self.projected.column(Role::TotalCpu);
        let kind = column.and_then(|column| self.layout.kinds.get(column));
        if kind == Some(&SacctKind::EitherCpu) && SacctKind::Int.accepts(self.text(Role::TotalCpu)) {
            return Ok(None);
        }
        self.duration_ms(Role::TotalCpu)
    }

    /// A whole number.
    #[inline]
    pub(super) fn int(&mut self, role: Role) -> Result<Option<i64>, Refusal> {
        match self.text(role) {
            b"" => Ok(None),
            text => match scalar::int(text) {
                Some(Int::Value(value)) => Ok(Some(value)),
                Some(Int::Dropped) => {
                    self.note(Anomaly::ValueDropped);
                    Ok(None)
                }
                None => Err(self.refuse(Reason::BadNumber, role, "is not a whole number that fits 64 bits")),
            },
        }
    }

    /// A size or a count with its unit, times `base`, and per what it counts.
    #[inline]
    pub(super) fn size(&mut self, role: Role, base: i64) -> Result<Option<(i64, Per)>, Refusal> {
        match self.text(role) {
            b"" => Ok(None),
            text => self.size_of(text, role, base),
        }
    }

    fn size_of(&mut self, text: &[u8], role: Role, base: i64) -> Result<Option<(i64, Per)>, Refusal> {
        match memory::parse(text, base) {
            Ok(Some(value)) => Ok(Some(value)),
            Ok(None) => {
                self.note(Anomaly::ValueDropped);
                Ok(None)
            }
            Err(()) => Err(self.refuse(Reason::BadNumber, role, "is not a number with a unit (K, M, G, T, P)")),
        }
    }

    /// A count, which Slurm may print with a unit.
    #[inline]
    pub(super) fn count(&mut self, role: Role) -> Result<Option<i64>, Refusal> {
        let text = self.text(role);
        if text.is_empty() {
            return Ok(None);
        }
        if let Some(value) = decimal::digits::<4>(text) {
            return Ok(Some(value));
        }
        Ok(self.size_of(text, role, 1)?.map(|(count, _)| count))
    }

    /// `rc:signal`.
    pub(super) fn exit(&self) -> Result<Option<(i64, i64)>, Refusal> {
        match self.text(Role::ExitCode) {
            b"" => Ok(None),
            text => scalar::exit(text)
                .map(Some)
                .ok_or_else(|| self.refuse(Reason::BadNumber, Role::ExitCode, "is not an exit code (rc:signal)")),
        }
    }

    /// Energy in a column of its own. Of a row with surplus fields it is not certain whose text the column has.
    #[inline]
    pub(super) fn stated_energy(&self, role: Role) -> energy::Stated {
        let text = self.text(role);
        energy::joule(text).filter(|_| !self.fields.has_surplus(&self.layout.delimiter))
    }

    /// The time limit, seconds; `Ok(None)` for `UNLIMITED` and `Partition_Limit`.
    pub(super) fn time_limit_s(&mut self) -> Result<Option<i64>, Refusal> {
        let raw = self.text(Role::TimelimitRaw);
        if !raw.is_empty() {
            if duration::is_word(raw) {
                return Ok(None);
            }
            return match self.int(Role::TimelimitRaw)? {
                Some(minute) => minute
                    .checked_mul(60)
                    .map(Some)
                    .ok_or_else(|| self.refuse(Reason::BadNumber, Role::TimelimitRaw, "is too large")),
                None => Ok(None),
            };
        }
        if duration::is_word(self.text(Role::Timelimit)) {
            return Ok(None);
        }
        Ok(self.duration_ms(Role::Timelimit)?.map(|ms| ms / 1000))
    }
}
