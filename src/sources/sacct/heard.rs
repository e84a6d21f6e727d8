//! The columns of a dump that somebody listens to.

use super::column::Role;
use super::layout::Layout;
use crate::sources::interest::Interest;

/// The columns a piece is read for.
#[derive(Clone, Debug)]
pub(super) struct Heard {
    columns: [Option<usize>; Role::COUNT],
    /// What of a job is wanted.
    pub(super) interest: Interest,
}

impl Heard {
    /// The columns of `layout` that `interest` takes.
    pub(super) fn new(layout: &Layout, interest: Interest) -> Self {
        let mut columns = [None; Role::COUNT];
        for (role, slot) in Role::ALL.iter().zip(&mut columns) {
            let parts = role.parts();
            if parts.is_empty() || interest.any(parts) {
                *slot = layout.column(*role);
            }
        }
        Self { columns, interest }
    }

    /// The column `role` is in; `None` when there is no such column, or nobody listens to it.
    #[inline]
    pub(super) fn column(&self, role: Role) -> Option<usize> {
        self.columns.get(role.index()).copied().flatten()
    }
}
