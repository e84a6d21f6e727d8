//! Rows of the `fairshare` dataset.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch};

use crate::error::Result;
use crate::fairshare::AssociationKey;
use crate::schema;
use crate::schema::batch::{dates, decimals, ints, texts};
use crate::time::Day;

/// Digits behind the point of usage.
const USAGE_SCALE: i8 = 6;
/// Digits behind the point of fractions.
const FRACTION_SCALE: i8 = 9;

/// Digits behind the point of days.
const DAY_SCALE: i8 = 2;

/// Fairshare of one association at the end of one day.
#[derive(Clone, Debug)]
pub(super) struct FairshareRow<'a> {
    pub(super) day: Day,
    pub(super) key: &'a AssociationKey,
    /// The account above it.
    pub(super) parent_account: Option<&'a str>,
    pub(super) is_listed: bool,
    pub(super) share_n: Option<u32>,
    pub(super) added_usage_e6: i128,
    pub(super) own_usage_e6: i128,
    pub(super) usage_e6: i128,
    /// Of associations of the tree.
    pub(super) score: RowScore,
}

/// The fractions of an association, 10^-9; nothing where it is not listed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowScore {
    pub(super) norm_shares_e9: Option<i128>,
    pub(super) norm_usage_e9: Option<i128>,
    pub(super) effective_usage_e9: Option<i128>,
    pub(super) factor_e9: Option<i128>,
    pub(super) level_fs_e9: Option<i128>,
    pub(super) is_level_fs_infinite: Option<bool>,
    pub(super) priority_n: Option<i64>,
    pub(super) regime: Option<&'static str>,
    /// In how many hundredths of a day its usage is no longer above its shares.
    pub(super) recovery_day_e2: Option<i128>,
    /// The same as a word.
    pub(super) recovery: Option<&'static str>,
}

/// The rows as a batch of the dataset; they are in its order.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when they are not what the schema declares.
pub(super) fn to_batch(rows: &[FairshareRow<'_>]) -> Result<RecordBatch> {
    let fractions = |of: fn(&RowScore) -> Option<i128>| decimals(rows.iter().map(|row| of(&row.score)), FRACTION_SCALE);
    let usage = |of: fn(&FairshareRow<'_>) -> i128| decimals(rows.iter().map(|row| Some(of(row))), USAGE_SCALE);
    let truths = |of: fn(&FairshareRow<'_>) -> Option<bool>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<BooleanArray>())
    };
    schema::dataset("fairshare")?.batch(vec![
        dates(rows.iter().map(|row| Some(row.day))),
        texts(rows.iter().map(|row| Some(&row.key.account))),
        texts(rows.iter().map(|row| row.key.user.as_ref())),
        texts(rows.iter().map(|row| row.key.partition.as_ref())),
        texts(rows.iter().map(|row| row.parent_account)),
        truths(|row| Some(row.is_listed)),
        ints(rows.iter().map(|row| row.share_n.map(i64::from))),
        fractions(|score| score.norm_shares_e9)?,
        usage(|row| row.added_usage_e6)?,
        usage(|row| row.own_usage_e6)?,
        usage(|row| row.usage_e6)?,
        fractions(|score| score.norm_usage_e9)?,
        fractions(|score| score.effective_usage_e9)?,
        fractions(|score| score.factor_e9)?,
        fractions(|score| score.level_fs_e9)?,
        truths(|row| row.score.is_level_fs_infinite),
        ints(rows.iter().map(|row| row.score.priority_n)),
        texts(rows.iter().map(|row| row.score.regime)),
        decimals(rows.iter().map(|row| row.score.recovery_day_e2), DAY_SCALE)?,
        texts(rows.iter().map(|row| row.score.recovery)),
    ])
}
