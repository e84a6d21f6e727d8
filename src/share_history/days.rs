//! Day by day: usage ages, a day is added, and the tree in force makes scores of it.

use std::collections::BTreeMap;
use std::ops::Range;

use arrow_array::RecordBatch;

use super::basis::{Reaches, day_of};
use super::listing::DatedTrees;
use super::rows::{FairshareRow, RowScore};
use super::settings::FairshareSettings;
use super::usage_days::UsageDays;
use crate::config::fairshare_plan::FairsharePlan;
use crate::error::{Error, Result};
use crate::fairshare::float::{e9, too_large};
use crate::fairshare::recovery::{ShareRecovery, hundredths_of_days};
use crate::fairshare::{
    AssociationId, AssociationKey, AssociationScore, AssociationTree, FairshareRegime, HalfLife, LevelFairshare,
    TreeUsage, UsageDecay,
};
use crate::schema::batch::{date, decimal, number, text, word};
use crate::store::Publication;
use crate::store::lake::{batches, fairshare_path};
use crate::time::{Day, Month, SecondSpan, Zone};

/// Halvings after which nothing of a usage of 10^-6 can be left: it is below 2^127.
const MOST_HALVINGS: i64 = 126;

/// Usage by association, 10^-6.
pub(super) type OwnUsage = BTreeMap<AssociationKey, i128>;

/// Days from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DayRange {
    pub(super) first: Day,
    pub(super) last: Day,
}

impl DayRange {
    /// From the first day that a job ran on to the last; `None` without jobs.
    pub(super) fn of(reaches: &Reaches, zone: &Zone) -> Option<Self> {
        let spans = || reaches.values().filter_map(|file| file.span);
        Some(Self {
            first: spans().filter_map(|span| day_of(span.start_s, zone)).min()?,
            last: spans().filter_map(|span| day_of(span.end_s, zone)).max()?,
        })
    }

    /// Its part from a day on that continues from the day before; at least the last day, which may have become the last
    /// because later ones are gone. `None` where there is no day before.
    pub(super) fn continued_from(self, changed: Day) -> Option<Self> {
        let first = changed.min(self.last);
        (first > self.first).then_some(Self { first, last: self.last })
    }

    /// The first second of every day, and of the day after the last.
    pub(super) fn edges_s(self, zone: &Zone) -> Vec<i64> {
        // Fallback: the days of jobs end in 2200, long before those of the type.
        let days = self.first..=self.last.saturating_add(1);
        days.map(|day| zone.begins_ms(day).div_euclid(1000)).collect()
    }

    /// All of their seconds, and the one before: a calculation at midnight counts jobs that ended then.
    pub(super) fn span_s(self, zone: &Zone) -> SecondSpan {
        let begins_s = |day| zone.begins_ms(day).div_euclid(1000);
        SecondSpan {
            start_s: begins_s(self.first) - 1,
            // Fallback: the days of jobs end in 2200, long before those of the type.
            end_s: begins_s(self.last.saturating_add(1)),
        }
    }
}

/// A day, and the second after its last.
#[derive(Clone, Copy)]
struct DayEnd {
    day: Day,
    ends_s: i64,
}

/// Where usage of a key counts in a tree.
#[derive(Clone, Copy)]
enum Placement {
    /// It is an association of the tree.
    Listed(AssociationId),
    /// Its account is, or was in an account that is.
    InAccount(AssociationId),
    /// Nothing of it is.
    Nowhere,
}

/// What makes the days of a range.
pub(super) struct History<'a> {
    pub(super) settings: &'a FairshareSettings,
    pub(super) trees: &'a DatedTrees,
    pub(super) added: &'a UsageDays,
    pub(super) range: DayRange,
}

impl History<'_> {
    /// Hands over the rows of every month of the range, in the order of the dataset. `before` is the usage at the end of
    /// the day before the range.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when usage does not fit; what `each` gives.
    pub(super) fn each_month(
        &self,
        before: &OwnUsage,
        mut each: impl FnMut(Month, &[FairshareRow<'_>]) -> Result<()>,
    ) -> Result<()> {
        let edges_s = self.range.edges_s(&self.settings.rule.zone);
        let keys = self.keys(before);
        let mut usage = UsageSeries::new(&keys, before, self)?;
        let mut rows: Vec<FairshareRow<'_>> = Vec::new();
        let mut month = None;
        let mut placed: Option<PlacedKeys<'_>> = None;
        for (day, edge) in (self.range.first..=self.range.last).zip(edges_s.windows(2)) {
            let &[begins_s, ends_s] = edge else { continue };
            let of_day = Month::of_day(day).ok_or_else(|| Error::internal("a day outside the calendar"))?;
            if let Some(done) = month.replace(of_day).filter(|done| *done != of_day) {
                each(done, &rows)?;
                rows.clear();
            }
            usage.end_day(begins_s, ends_s)?;
            // Fallback: an edge beyond all milliseconds has the last tree.
            let tree = self.trees.at(ends_s.saturating_mul(1000) - 1);
            let tree = tree.ok_or_else(|| Error::internal("a cluster without a tree"))?;
            if placed.as_ref().is_none_or(|placed| !std::ptr::eq(placed.tree, tree)) {
                placed = Some(PlacedKeys::new(tree, &keys));
            }
            if let Some(placed) = &placed {
                let end = DayEnd { day, ends_s };
                self.day_rows(end, placed, &usage, &mut rows)?;
            }
        }
        match month {
            Some(month) => each(month, &rows),
            None => Ok(()),
        }
    }

    /// What has usage, in the order of rows.
    pub(super) fn keys<'k>(&'k self, before: &'k OwnUsage) -> Vec<&'k AssociationKey> {
        let mut keys: Vec<&AssociationKey> = before.keys().chain(self.added.added_e6.keys()).collect();
        keys.sort_by_key(|key| row_order(key));
        keys.dedup();
        keys
    }

    /// Appends the rows of a day.
    fn day_rows<'k>(
        &self,
        end: DayEnd,
        placed: &PlacedKeys<'k>,
        usage: &UsageSeries<'_>,
        rows: &mut Vec<FairshareRow<'k>>,
    ) -> Result<()> {
        let tree = placed.tree;
        let scores = self.settings.method.scores(tree, &placed.tree_usage(usage)?)?;
        for line in &placed.lines {
            let of_key = |series: &[i128]| line.key_at.and_then(|at| series.get(at)).copied();
            // What has no job has no usage.
            // Fallback: an association without a job has used nothing.
            let own_usage_e6 = of_key(&usage.own_e6).unwrap_or_default();
            // Fallback: an association without a job adds nothing on any day.
            let added_usage_e6 = of_key(&usage.day_e6).unwrap_or_default();
            let score = line.id.and_then(|id| scores.get(id.index()));
            if score.is_none() && own_usage_e6 == 0 && added_usage_e6 == 0 {
                continue;
            }
            // The root is granted nothing: all is below it.
            let granted = score.filter(|_| line.parent_account.is_some());
            let recovery = granted.and_then(|score| self.recovery(score, end.ends_s));
            rows.push(FairshareRow {
                day: end.day,
                key: line.key,
                parent_account: line.parent_account,
                is_listed: score.is_some(),
                share_n: line.share_n,
                added_usage_e6,
                own_usage_e6,
                usage_e6: score.map_or(own_usage_e6, |score| score.usage_e6),
                score: match score {
                    Some(score) => RowScore {
                        regime: granted.and_then(regime),
                        recovery_day_e2: match recovery {
                            Some(ShareRecovery::WhenIdle(days)) => Some(hundredths_of_days(days)?),
                            Some(ShareRecovery::Above | ShareRecovery::Never) | None => None,
                        },
                        recovery: recovery.map(ShareRecovery::as_str),
                        ..self.row_score(score)?
                    },
                    None => RowScore::default(),
                },
            });
        }
        Ok(())
    }

    fn row_score(&self, score: &AssociationScore) -> Result<RowScore> {
        let level_fs_e9 = match score.level_fs {
            LevelFairshare::Finite(level_fs) => Some(e9(level_fs)?),
            LevelFairshare::Infinite | LevelFairshare::Blank => None,
        };
        Ok(RowScore {
            norm_shares_e9: Some(e9(score.norm_shares)?),
            norm_usage_e9: Some(e9(score.norm_usage)?),
            effective_usage_e9: Some(e9(score.effective_usage)?),
            factor_e9: score.factor.map(e9).transpose()?,
            level_fs_e9,
            is_level_fs_infinite: match score.level_fs {
                LevelFairshare::Blank => None,
                LevelFairshare::Infinite => Some(true),
                LevelFairshare::Finite(_) => Some(false),
            },
            priority_n: self.settings.priority_points(score.factor)?,
            ..RowScore::default()
        })
    }

    /// When its usage is no longer above its shares.
    fn recovery(&self, score: &AssociationScore, at_s: i64) -> Option<ShareRecovery> {
        ShareRecovery::of(score, &self.settings.method, self.settings.rule.decay, at_s)
    }
}

/// How much of its shares an association used.
fn regime(score: &AssociationScore) -> Option<&'static str> {
    FairshareRegime::of_usage(score.effective_usage, score.norm_shares).map(FairshareRegime::as_str)
}

/// The order of rows of one day.
fn row_order(key: &AssociationKey) -> (&str, Option<&str>, Option<&str>) {
    (&key.account, key.user.as_deref(), key.partition.as_deref())
}

/// One line of every day.
struct Line<'k> {
    key: &'k AssociationKey,
    /// Place of its usage.
    key_at: Option<usize>,
    /// Place in the tree.
    id: Option<AssociationId>,
    parent_account: Option<&'k str>,
    share_n: Option<u32>,
}

/// Where the usage of every key counts in one tree, and the lines of its days.
pub(super) struct PlacedKeys<'k> {
    pub(super) tree: &'k AssociationTree,
    placements: Vec<Placement>,
    lines: Vec<Line<'k>>,
}

impl<'k> PlacedKeys<'k> {
    pub(super) fn new(tree: &'k AssociationTree, keys: &[&'k AssociationKey]) -> Self {
        let mut key_at: BTreeMap<AssociationId, usize> = BTreeMap::new();
        let mut placements = Vec::new();
        let mut lines = Vec::new();
        for (at, &key) in keys.iter().enumerate() {
            let placement = match (tree.find(key), tree.account_of(key)) {
                (Some(id), _) => Placement::Listed(id),
                (None, Some(account)) => Placement::InAccount(account),
                (None, None) => Placement::Nowhere,
            };
            let account = match placement {
                Placement::InAccount(id) => tree.get(id),
                Placement::Listed(_) | Placement::Nowhere => None,
            };
            placements.push(placement);
            match placement {
                Placement::Listed(id) => {
                    key_at.insert(id, at);
                }
                Placement::InAccount(_) | Placement::Nowhere => lines.push(Line {
                    key,
                    key_at: Some(at),
                    id: None,
                    parent_account: account.map(|account| account.key.account.as_str()),
                    share_n: None,
                }),
            }
        }
        for (id, association) in tree.iter() {
            let parent = association.parent.and_then(|parent| tree.get(parent));
            lines.push(Line {
                key: &association.key,
                key_at: key_at.get(&id).copied(),
                id: Some(id),
                parent_account: parent.map(|parent| parent.key.account.as_str()),
                share_n: association.shares.number(),
            });
        }
        lines.sort_by(|a, b| row_order(a.key).cmp(&row_order(b.key)));
        Self {
            tree,
            placements,
            lines,
        }
    }
}

impl PlacedKeys<'_> {
    /// The usage of every association of the tree at the end of a day.
    pub(super) fn tree_usage(&self, usage: &UsageSeries<'_>) -> Result<TreeUsage> {
        let mut tree_usage = TreeUsage::none(self.tree);
        for (placement, own_e6) in self.placements.iter().zip(&usage.own_e6) {
            match placement {
                Placement::Listed(id) | Placement::InAccount(id) => tree_usage.add(*id, *own_e6)?,
                Placement::Nowhere => {}
            }
        }
        Ok(tree_usage)
    }
}

/// Usage of every key, from day to day.
pub(super) struct UsageSeries<'a> {
    history: &'a History<'a>,
    /// What the parts of days add.
    added: Vec<Option<&'a [i128]>>,
    /// Usage at the end of the day.
    own_e6: Vec<i128>,
    /// What the day added.
    day_e6: Vec<i128>,
}

impl<'a> UsageSeries<'a> {
    pub(super) fn new(keys: &[&AssociationKey], before: &OwnUsage, history: &'a History<'a>) -> Result<Self> {
        let added = |key: &&AssociationKey| history.added.added_e6.get(*key).map(Vec::as_slice);
        // Fallback: what was not stored on the day before had no usage.
        let own = |key: &&AssociationKey| before.get(*key).copied().unwrap_or_default();
        if !before.is_empty() && history.settings.rule.decay.chained().is_none() {
            return Err(Error::internal("usage in halving steps cannot be continued"));
        }
        Ok(Self {
            history,
            added: keys.iter().map(added).collect(),
            own_e6: keys.iter().map(own).collect(),
            day_e6: vec![0; keys.len()],
        })
    }

    /// Ages usage to the end of a day, and adds the day. A reset at that midnight belongs to the next day.
    pub(super) fn end_day(&mut self, begins_s: i64, ends_s: i64) -> Result<()> {
        let rule = &self.history.settings.rule;
        let cuts = &self.history.added.cuts;
        let (begun_n, ended_n) = (cuts.part_n(begins_s), cuts.part_n(ends_s));
        let usages = self.own_e6.iter_mut().zip(&mut self.day_e6);
        for ((own_e6, day_e6), added) in usages.zip(&self.added) {
            *day_e6 = sum_e6(parts(*added, begun_n..ended_n))?;
            *own_e6 = match rule.decay {
                UsageDecay::Chained(_) => {
                    let aged = rule.aged_over_period_e6(*own_e6, begins_s, ends_s)?;
                    // A chained decay can be aged.
                    // Fallback: never taken, a chained decay can be aged.
                    aged.unwrap_or_default().checked_add(*day_e6).ok_or_else(too_large)?
                }
                UsageDecay::HalvingSteps(half_life) => {
                    let zero_s = rule.reset.last_s(&rule.zone, ends_s - 1);
                    let first = zero_s.map_or(0, |zero_s| cuts.part_n(zero_s));
                    let ends = cuts.instants_s().get(first + 1..=ended_n);
                    halved_e6(
                        parts(*added, first..ended_n),
                        // Fallback: never taken, a reset of a day is before the end of the day.
                        ends.unwrap_or_default(),
                        half_life,
                    )?
                }
            };
        }
        Ok(())
    }
}

/// What some parts of days add to the usage of an association.
fn parts(added_e6: Option<&[i128]>, which: Range<usize>) -> &[i128] {
    // Fallback: an association without a job in the range adds nothing.
    added_e6.and_then(|added_e6| added_e6.get(which)).unwrap_or_default()
}

fn sum_e6(parts_e6: &[i128]) -> Result<i128> {
    let mut parts = parts_e6.iter();
    parts
        .try_fold(0_i128, |sum, part| sum.checked_add(*part))
        .ok_or_else(too_large)
}

/// Usage of parts of days at the end of the last one, which counts half for every half-life before that. `ends_s` are the ends of
/// the parts, in order; none of them is over a halving.
fn halved_e6(parts_e6: &[i128], ends_s: &[i64], half_life: HalfLife) -> Result<i128> {
    let Some(at_s) = ends_s.last() else { return Ok(0) };
    let (mut whole_e6, mut halvings, mut of_step_e6) = (0_i128, 0_i64, 0_i128);
    for (part_e6, end_s) in parts_e6.iter().zip(ends_s).rev() {
        let own_halvings = (at_s - end_s) / half_life.seconds();
        if own_halvings > MOST_HALVINGS {
            break;
        }
        if own_halvings != halvings {
            whole_e6 = whole_e6.checked_add(of_step_e6 >> halvings).ok_or_else(too_large)?;
            (halvings, of_step_e6) = (own_halvings, 0);
        }
        of_step_e6 = of_step_e6.checked_add(*part_e6).ok_or_else(too_large)?;
    }
    whole_e6.checked_add(of_step_e6 >> halvings).ok_or_else(too_large)
}

/// The published usage of a cluster's associations at the end of a day.
///
/// # Errors
/// [`crate::error::Kind::Io`] when it cannot be read.
pub(super) fn stored_usage(publication: &Publication, of: &FairsharePlan, on: Day) -> Result<OwnUsage> {
    let mut usage = OwnUsage::new();
    let Some(month) = Month::of_day(on) else {
        return Ok(usage);
    };
    let path = fairshare_path(&of.site, &of.cluster, month);
    for batch in batches(publication, &path)?.into_iter().flatten() {
        let batch = batch?;
        let (days, own) = (date(&batch, "day")?, decimal(&batch, "own_usage_s")?);
        let (account, user) = (text(&batch, "account")?, text(&batch, "user")?);
        let partition = text(&batch, "partition")?;
        for row in (0..batch.num_rows()).filter(|row| days.value(*row) == on) {
            let owned = |column, row| word(column, row).map(str::to_owned);
            if let (Some(account), Some(own_e6)) = (owned(account, row), number(own, row)) {
                let key = AssociationKey {
                    account,
                    user: owned(user, row),
                    partition: owned(partition, row),
                };
                usage.insert(key, own_e6);
            }
        }
    }
    Ok(usage)
}

/// The published rows of a file before a day.
///
/// # Errors
/// [`crate::error::Kind::Io`] when it cannot be read.
pub(super) fn stored_before(publication: &Publication, path: &str, first: Day) -> Result<Vec<RecordBatch>> {
    let mut kept = Vec::new();
    for batch in batches(publication, path)?.into_iter().flatten() {
        let batch = batch?;
        let until = date(&batch, "day")?.values().partition_point(|day| *day < first);
        if until > 0 {
            kept.push(batch.slice(0, until));
        }
    }
    Ok(kept)
}
