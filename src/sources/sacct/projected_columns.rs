//! The columns of a dump that somebody listens to.

use super::column::Role;
use super::fields::RowFields;
use super::layout::ColumnLayout;
use crate::sources::projection::Interest;

/// What is told as text, for the most part.
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
    /// The last of them that is told as text.
    last_name: usize,
    /// What of a job is wanted.
    pub(super) interest: Interest,
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
        Self {
            last_name: names.max().unwrap_or(0),
            columns,
            interest,
        }
    }

    /// The part of a row that names are told of: what is behind it need not be looked at for what is no text.
    #[inline]
    pub(super) fn names<'t>(&self, fields: &RowFields<'t, '_>) -> &'t [u8] {
        fields.upto(self.last_name)
    }

    /// The column `role` is in; `None` when there is no such column, or nobody listens to it.
    #[inline]
    pub(super) fn column(&self, role: Role) -> Option<usize> {
        self.columns.get(role.index()).copied().flatten()
    }
}
