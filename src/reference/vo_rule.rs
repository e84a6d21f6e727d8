//! Where the VO of a record comes from.

use std::sync::Arc;

/// Where a record's VO comes from.
#[derive(Clone, Debug)]
pub enum VoRule {
    /// The record names it.
    Record,
    /// A column of the record, such as `account`.
    Column(VoColumn),
    /// A table, first match wins.
    Table(Arc<crate::reference::vo::VoTable>),
    /// GRACC's corrections and known VOs.
    Corrections(Arc<crate::reference::vo_corrections::VoCorrections>),
    /// Always this one.
    Value(String),
}

/// Columns of a record a VO may be taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VoColumn {
    /// `account`
    Account,
    /// `user`
    User,
    /// `global_user`: certificate or token subject
    GlobalUser,
    /// `user_group`
    UserGroup,
    /// `partition`
    Partition,
    /// `qos`
    Qos,
    /// `vo` as the record names it
    Vo,
}
