//! The columns of a dump that somebody listens to.

use super::column::Role;
use super::fields::RowFields;
use super::layout::ColumnLayout;
use crate::sources::projection::Interest;

/// The columns that are texts, mostly.
const NAMES: &[Role] = &[
    Role::JobId,
    Role::JobIdRaw,
    Role::Cluster,
    Role::Account,
    Role::User,
    Role::Uid,
    Role::Group,
    Role::Gid,
    Role::Partition,
    Role::Qos,
    Role::Wckey,
    Role::Reservation,
    Role::JobName,
    Role::NodeList,
];

/// The columns a piece is read for.
#[derive(Clone, Debug)]
pub(super) struct ProjectedColumns {
    columns: [Option<usize>; Role::COUNT],
    /// The last of them that is a text.
    last_name: usize,
    /// What of a job is wanted.
    pub(super) interest: Interest,
    /// Whether there is a column of energy.
    pub(super) has_energy: bool,
}

impl ProjectedColumns {
    /// The columns of `layout` that `interest` takes.
    pub(super) fn new(layout: &ColumnLayout, interest: Interest) -> Self {
        let mut columns = [None; Role::COUNT];
        for (role, slot) in Role::ALL.iter().zip(&mut columns) {
            let parts = role.parts();
            if parts.is_empty() || interest.any(parts) {
                *slot = layout.column(*role);
            }
        }
        let names = NAMES
            .iter()
            .filter_map(|role| columns.get(role.index()).copied().flatten());
        let has = |role: Role| columns.get(role.index()).is_some_and(Option::is_some);
        Self {
            has_energy: has(Role::ConsumedEnergyRaw) || has(Role::ConsumedEnergy),
            // Fallback: a table without columns of names has none to look for after the first.
            last_name: names.max().unwrap_or(0),
            columns,
            interest,
        }
    }

    /// The part of a row that contains texts: the bytes after it need no check for invalid UTF-8.
    #[inline]
    pub(super) fn names<'t>(&self, fields: &RowFields<'t, '_>) -> &'t [u8] {
        fields.upto(self.last_name)
    }

    /// The column of `role`; `None` when there is no such column, or it is not projected.
    #[inline]
    pub(super) fn column(&self, role: Role) -> Option<usize> {
        self.columns.get(role.index()).copied().flatten()
    }
}
