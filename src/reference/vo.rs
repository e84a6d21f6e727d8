//! VO by account, user, certificate subject, group, partition or QOS.

use super::first_match::{FirstMatch, MatchColumn, MatchWording};
use super::vo_rule::{VoColumn, VoRule};
use crate::record::JobRow;

impl MatchColumn for VoColumn {
    const KNOWN: &'static [(&'static str, Self)] = &[
        ("account", Self::Account),
        ("user", Self::User),
        ("global_user", Self::GlobalUser),
        ("user_group", Self::UserGroup),
        ("partition", Self::Partition),
        ("qos", Self::Qos),
        ("vo", Self::Vo),
    ];
    const TABLE: MatchWording = MatchWording {
        noun: "VO",
        example: "account",
        result: "to_vo",
        last: Some("vo"),
    };

    fn of<'a>(self, row: &JobRow<'a>) -> Option<&'a str> {
        match self {
            Self::Account => row.account,
            Self::User => row.user,
            Self::GlobalUser => row.global_user,
            Self::UserGroup => row.user_group,
            Self::Partition => row.partition,
            Self::Qos => row.qos,
            Self::Vo => row.vo,
        }
        .filter(|text| !text.is_empty())
    }
}

/// VOs by values of records; the result is in `to_vo`, or in a `vo` that is the last column.
pub type VoTable = FirstMatch<VoColumn>;

impl VoRule {
    /// The VO of a job; `None` when the rule has no answer.
    #[must_use]
    pub fn vo<'a>(&'a self, row: &JobRow<'a>) -> Option<&'a str> {
        match self {
            Self::Record => VoColumn::Vo.of(row),
            Self::Column(column) => column.of(row),
            Self::Table(table) => table.lookup(row),
            Self::Corrections(corrections) => corrections.resolve(row).0,
            Self::Value(vo) => Some(vo),
        }
    }
}
