//! Amounts of each kind of resource.

/// Most kinds of resources a machine may have.
pub const KIND_N: usize = 6;

/// How much of each kind of resource a job requests, a machine has or is free, in the order of the machine's kinds. The
/// first kind is what jobs are counted by: nodes, or processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Demand([i64; KIND_N]);

impl Demand {
    /// Nothing of any kind.
    pub const NOTHING: Self = Self([0; KIND_N]);

    /// Amounts of the first kinds; the others are zero. Amounts beyond [`KIND_N`] are not kept: a machine has no such kinds.
    #[must_use]
    pub fn of(amounts: &[i64]) -> Self {
        let mut demand = Self::NOTHING;
        for (to, from) in demand.0.iter_mut().zip(amounts) {
            *to = *from;
        }
        demand
    }

    /// The amount of a kind; a kind that no machine has is never requested.
    #[inline]
    #[must_use]
    pub fn get(&self, kind: usize) -> i64 {
        self.0.get(kind).map_or(0, |amount| *amount)
    }

    /// The amount of the first kind.
    #[inline]
    #[must_use]
    pub fn first(&self) -> i64 {
        let [first, ..] = self.0;
        first
    }

    /// The same with another amount of a kind.
    #[must_use]
    pub fn with(mut self, kind: usize, amount: i64) -> Self {
        if let Some(place) = self.0.get_mut(kind) {
            *place = amount;
        }
        self
    }

    /// Whether there is enough of every kind in `free`. What is not requested need not be there: less than nothing is free of
    /// a kind while jobs run on what takes no others.
    #[inline]
    #[must_use]
    pub fn fits_in(&self, free: &Self) -> bool {
        self.first() <= free.first().max(0) && self.0.iter().zip(&free.0).all(|(need, free)| *need <= (*free).max(0))
    }

    /// Whether there is no more of any kind than in `most`.
    #[must_use]
    pub fn is_within(&self, most: &Self) -> bool {
        self.0.iter().zip(&most.0).all(|(amount, most)| amount <= most)
    }

    /// The first kind there is not enough of in `free`.
    #[must_use]
    pub fn missing_in(&self, free: &Self) -> Option<usize> {
        self.0
            .iter()
            .zip(&free.0)
            .position(|(need, free)| *need > (*free).max(0))
    }

    /// Adds amounts. They fit: no machine has more than [`super::machine::AMOUNT_MAX`] of a kind.
    #[inline]
    pub fn add(&mut self, more: &Self) {
        for (sum, more) in self.0.iter_mut().zip(&more.0) {
            *sum += more;
        }
    }

    /// Takes amounts away.
    #[inline]
    pub fn take(&mut self, less: &Self) {
        for (rest, less) in self.0.iter_mut().zip(&less.0) {
            *rest -= less;
        }
    }

    /// What is left without these amounts; below zero where there are not so many.
    #[inline]
    #[must_use]
    pub fn without(mut self, less: &Self) -> Self {
        self.take(less);
        self
    }

    /// The amounts that are above zero; the others are zero.
    #[must_use]
    pub fn at_least_nothing(mut self) -> Self {
        for amount in &mut self.0 {
            *amount = (*amount).max(0);
        }
        self
    }

    /// The larger amount of each kind.
    #[must_use]
    pub fn larger(mut self, other: &Self) -> Self {
        for (amount, other) in self.0.iter_mut().zip(&other.0) {
            *amount = (*amount).max(*other);
        }
        self
    }

    /// The smaller amount of each kind.
    #[must_use]
    pub fn smaller(mut self, other: &Self) -> Self {
        for (amount, other) in self.0.iter_mut().zip(&other.0) {
            *amount = (*amount).min(*other);
        }
        self
    }

    /// The amounts, one a kind.
    pub fn amounts(&self) -> impl Iterator<Item = i64> {
        self.0.into_iter()
    }
}
