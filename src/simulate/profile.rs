//! What is free at every time to come, and the earliest time for a job in it.

use super::demand::Demand;
use crate::numbers::Extent;

/// From a time on, until the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    from_s: i64,
    free: Demand,
}

/// Amounts that become free.
#[derive(Clone, Copy, Debug)]
pub(super) struct FreedAt {
    /// When.
    pub(super) at_s: i64,
    /// How much.
    pub(super) amounts: Demand,
}

/// What is free from now on. The last step lasts for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Profile {
    steps: Vec<Step>,
}

impl Profile {
    pub(super) fn new(free: Demand) -> Self {
        Self {
            steps: vec![Step { from_s: i64::MIN, free }],
        }
    }

    /// What is free now, and when running jobs end, in the order of their ends. A job that should have ended counts as one that
    /// ends a second later.
    pub(super) fn of_ends(now_s: i64, free: Demand, ends: impl Iterator<Item = FreedAt>) -> Self {
        let mut steps = vec![Step { from_s: i64::MIN, free }];
        let mut free = free;
        for end in ends {
            free.add(&end.amounts);
            let from_s = end.at_s.max(now_s + 1);
            match steps.last_mut() {
                Some(last) if last.from_s == from_s => last.free = free,
                _ => steps.push(Step { from_s, free }),
            }
        }
        Self { steps }
    }

    /// Forgets what was before `now_s`.
    pub(super) fn forget_before(&mut self, now_s: i64) {
        let at = self.at(now_s);
        self.steps.drain(..at);
    }

    /// The step that holds at a time; before the first step that holds too, since it begins before all times there are.
    fn at(&self, time_s: i64) -> usize {
        let begun_n = self.steps.partition_point(|step| step.from_s <= time_s);
        begun_n.less(1)
    }

    /// The step that begins at a time; the one that holds there is split.
    fn split(&mut self, time_s: i64) -> usize {
        let at = self.at(time_s);
        match self.steps.get(at) {
            Some(step) if step.from_s != time_s => {
                let free = step.free;
                self.steps.insert(at + 1, Step { from_s: time_s, free });
                at + 1
            }
            _ => at,
        }
    }

    /// Takes amounts for a time.
    pub(super) fn take(&mut self, from_s: i64, until_s: i64, amounts: &Demand) {
        self.change(from_s, until_s, |free| free.take(amounts));
    }

    /// Gives amounts back for a time.
    pub(super) fn give(&mut self, from_s: i64, until_s: i64, amounts: &Demand) {
        self.change(from_s, until_s, |free| free.add(amounts));
    }

    /// Gives amounts for all time from a second on.
    pub(super) fn give_from(&mut self, from_s: i64, amounts: &Demand) {
        let first = self.split(from_s);
        for step in self.steps.iter_mut().skip(first) {
            step.free.add(amounts);
        }
    }

    fn change(&mut self, from_s: i64, until_s: i64, change: impl Fn(&mut Demand)) {
        if until_s <= from_s {
            return;
        }
        let (first, end) = (self.split(from_s), self.split(until_s));
        for step in self.steps.iter_mut().take(end).skip(first) {
            change(&mut step.free);
        }
        // Steps that no longer differ from the one before are not needed.
        for at in [end, first] {
            let is_same =
                at > 0 && self.steps.get(at - 1).map(|step| step.free) == self.steps.get(at).map(|step| step.free);
            if is_same {
                self.steps.remove(at);
            }
        }
    }

    /// The earliest time from `from_s` on at which so much is free for so long; `None` when not even the last step, in which
    /// nothing runs, has so much: on a machine part of which takes no jobs.
    pub(super) fn earliest(&self, from_s: i64, length_s: i64, need: &Demand) -> Option<i64> {
        let mut start_s = from_s;
        for (at, step) in self.steps.iter().enumerate().skip(self.at(from_s)) {
            if step.from_s >= start_s + length_s && step.from_s > start_s {
                break;
            }
            if !need.fits_in(&step.free) {
                start_s = start_s.max(self.steps.get(at + 1)?.from_s);
            }
        }
        Some(start_s)
    }
}
