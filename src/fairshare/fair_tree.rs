//! Fair Tree: every user is ranked, account by account.

use super::algorithm::{AssociationScore, LevelFairshare, TieRule};
use super::association::RawShares;
use super::classic::fraction;
use super::float::of_integer;
use super::level_shares::{ShareSource, share_sources};
use super::tree::{AssociationId, AssociationTree};
use crate::numbers::{Extent, count_i128};

/// What Slurm sorts an account by that has `parent` for shares (`NO_VAL`): after what is unused, before everything else.
/// It is also what it compares the first sibling with.
const NO_VALUE: f64 = 4_294_967_294.0;

/// The scores under Fair Tree.
pub(super) fn scores(tree: &AssociationTree, totals_e6: &[i128], ties: TieRule) -> Vec<AssociationScore> {
    // Fallback: never taken, a tree has a root and usage of it.
    let all_e6 = totals_e6.first().copied().unwrap_or_default();
    let sources = share_sources(tree);
    let mut scores: Vec<AssociationScore> = Vec::with_capacity(tree.len());
    for (((id, association), usage_e6), source) in tree.iter().zip(totals_e6).zip(&sources) {
        let mut score = AssociationScore {
            id,
            usage_e6: *usage_e6,
            norm_shares: norm_shares(source, &scores, tree.root()),
            norm_usage: fraction(*usage_e6, all_e6),
            effective_usage: 1.0,
            level_fs: LevelFairshare::Blank,
            factor: None,
        };
        if let Some(above_e6) = source.above.and_then(|above| totals_e6.get(above.index())) {
            score.effective_usage = fraction(*usage_e6, *above_e6);
            score.level_fs = match association.shares {
                RawShares::Parent => LevelFairshare::Blank,
                RawShares::Number(_) if score.norm_shares <= 0.0 => LevelFairshare::Finite(0.0),
                RawShares::Number(_) if score.effective_usage <= 0.0 => LevelFairshare::Infinite,
                RawShares::Number(_) => LevelFairshare::Finite(score.norm_shares / score.effective_usage),
            };
        }
        scores.push(score);
    }
    let keys: Vec<f64> = (tree.iter().zip(&scores))
        .map(|((_, association), score)| match score.level_fs {
            LevelFairshare::Finite(level_fs) => level_fs,
            LevelFairshare::Infinite => f64::INFINITY,
            LevelFairshare::Blank if association.key.is_user() => f64::INFINITY,
            LevelFairshare::Blank => NO_VALUE,
        })
        .collect();
    let mut ranking = Ranking {
        tree,
        keys: &keys,
        rank: tree.user_n(),
        next_rank: tree.user_n(),
        ties,
    };
    ranking.walk(&mut scores);
    scores
}

/// The fraction of the level; of an association without shares that of the account it stands for.
fn norm_shares(source: &ShareSource, scores: &[AssociationScore], root: AssociationId) -> f64 {
    match (source.above, source.shares) {
        (None, _) => 0.0,
        (Some(above), RawShares::Parent) if above == root => 1.0,
        (Some(above), RawShares::Parent) => scores.get(above.index()).map_or(0.0, |score| score.norm_shares),
        (Some(_), RawShares::Number(number)) => fraction(i128::from(number), i128::from(source.level_shares)),
    }
}

/// Users in the order of their ranks.
struct Ranking<'a> {
    tree: &'a AssociationTree,
    /// What siblings are sorted by, in the order of the tree.
    keys: &'a [f64],
    /// The rank that was given last.
    rank: usize,
    /// The rank of the next user that is not tied.
    next_rank: usize,
    ties: TieRule,
}

/// Siblings that are being walked.
struct Siblings {
    sorted: Vec<AssociationId>,
    next: usize,
    /// What the last one was sorted by.
    last_key: f64,
    /// Whether the first of them is tied with whoever was ranked before.
    starts_tied: bool,
}

impl Ranking<'_> {
    fn walk(&mut self, scores: &mut [AssociationScore]) {
        let user_n = of_integer(count_i128(self.tree.user_n()));
        let mut open = vec![self.siblings(&[self.tree.root()], false)];
        while let Some(level) = open.last_mut() {
            let Some(id) = level.sorted.get(level.next).copied() else {
                open.pop();
                continue;
            };
            let is_first = level.next == 0;
            let key = self.key(id);
            let is_tied = (is_first && level.starts_tied) || level.last_key.total_cmp(&key).is_eq();
            level.next += 1;
            level.last_key = key;
            if self.tree.get(id).is_some_and(|association| association.key.is_user()) {
                if !is_tied {
                    self.rank = self.next_rank;
                }
                if let Some(score) = scores.get_mut(id.index()) {
                    score.factor = Some(of_integer(count_i128(self.rank)) / user_n);
                }
                self.next_rank = self.next_rank.less(1);
                continue;
            }
            let mut accounts = vec![id];
            while self.ties == TieRule::AsDocumented
                && let Some(tied) = level.sorted.get(level.next)
                && self.key(*tied).total_cmp(&key).is_eq()
            {
                accounts.push(*tied);
                level.next += 1;
            }
            let inside = self.siblings(&accounts, is_tied);
            open.push(inside);
        }
    }

    fn key(&self, id: AssociationId) -> f64 {
        self.keys.get(id.index()).copied().unwrap_or(NO_VALUE)
    }

    /// What is in accounts, highest level fair share first, users before accounts, otherwise in the order of the tree.
    fn siblings(&self, accounts: &[AssociationId], starts_tied: bool) -> Siblings {
        let inside = accounts.iter().filter_map(|id| self.tree.get(*id));
        let mut sorted: Vec<AssociationId> = inside.flat_map(|account| account.children.iter().copied()).collect();
        let is_account = |id: AssociationId| self.tree.get(id).is_none_or(|association| !association.key.is_user());
        sorted.sort_by(|one, other| {
            (self.key(*other).total_cmp(&self.key(*one))).then_with(|| is_account(*one).cmp(&is_account(*other)))
        });
        Siblings {
            sorted,
            next: 0,
            last_key: NO_VALUE,
            starts_tied,
        }
    }
}
