//! The new rows of the days of a partition, in the order of the days and slice by slice: taken when they are merged, or
//! ahead of that by a thread of its own, once the machine has one to spare.

use std::thread::{Builder, Scope};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::merge_queue::MergeQueue;
use super::partition_context::PartitionContext;
use crate::dedupe::fresh_day::FreshDay;
use crate::dedupe::fresh_slice::FreshSlice;
use crate::error::{Error, Result};
use crate::time::Day;

/// Slices that wait to be merged.
const AHEAD: usize = 1;

/// A slice that was taken ahead; `None` behind the last one of a day.
type TakenSlice = Result<Option<FreshSlice>>;

/// Takes the new rows of days.
pub(super) struct FreshDays<'scope, 'a> {
    scope: &'scope Scope<'scope, 'a>,
    context: &'a PartitionContext<'a>,
    queue: &'a MergeQueue,
    site: &'a str,
    /// Those that were not begun.
    days: &'a [Day],
    /// What another thread takes; `None` where there is none.
    ahead: Option<Receiver<TakenSlice>>,
}

impl<'scope, 'a> FreshDays<'scope, 'a> {
    /// Those of some days of a site; a thread that takes them ahead is one of `scope`.
    pub(super) fn new(
        scope: &'scope Scope<'scope, 'a>,
        context: &'a PartitionContext<'a>,
        queue: &'a MergeQueue,
        site: &'a str,
        days: &'a [Day],
    ) -> Self {
        Self {
            scope,
            context,
            queue,
            site,
            days,
            ahead: None,
        }
    }

    /// The next of the days that have new rows, if it is this one.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when a temporary file cannot be read back.
    pub(super) fn next_if(&mut self, day: Day) -> Result<Option<DaySlices<'a>>> {
        let Some((first, rest)) = self.days.split_first().filter(|(first, _)| **first == day) else {
            return Ok(None);
        };
        if self.ahead.is_none() && self.queue.has_spare_threads() {
            self.take_ahead();
        }
        self.days = rest;
        Ok(Some(match &self.ahead {
            None => DaySlices::Own(take(self.context, self.site, *first)?),
            Some(ahead) => DaySlices::Ahead(ahead.clone()),
        }))
    }

    /// The next of the days that have new rows.
    pub(super) fn peek(&self) -> Option<Day> {
        self.days.first().copied()
    }

    /// Has the days that were not begun taken by a thread.
    fn take_ahead(&mut self) {
        let (context, site, days) = (self.context, self.site, self.days);
        let (send, receive) = bounded(AHEAD);
        let take_all = move || {
            for day in days {
                if !send_all(take(context, site, *day), &send) {
                    return;
                }
            }
        };
        // Fallback: where the machine gives no thread, days are taken when they are merged.
        self.ahead = Builder::new().spawn_scoped(self.scope, take_all).map(|_| receive).ok();
    }
}

/// Hands the slices of a day over; whether there is someone who takes more. Who merges stops at an error, and knows why.
fn send_all(day: Result<FreshDay<'_>>, to: &Sender<TakenSlice>) -> bool {
    let mut day = match day {
        Ok(day) => day,
        Err(why) => return to.send(Err(why)).is_ok(),
    };
    loop {
        let slice = day.next_slice();
        let is_more = matches!(slice, Ok(Some(_)));
        if to.send(slice).is_err() {
            return false;
        }
        if !is_more {
            return true;
        }
    }
}

fn take<'a>(context: &PartitionContext<'a>, site: &str, day: Day) -> Result<FreshDay<'a>> {
    context.spill.take(site, day, context.order)
}

/// The slices of a day.
pub(super) enum DaySlices<'a> {
    /// Taken here.
    Own(FreshDay<'a>),
    /// Taken by another thread.
    Ahead(Receiver<TakenSlice>),
    /// All were returned.
    Ended,
}

impl DaySlices<'_> {
    /// The next one; `None` behind the last one.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when a temporary file cannot be read back.
    pub(super) fn next(&mut self) -> Result<Option<FreshSlice>> {
        let slice = match self {
            Self::Own(day) => day.next_slice()?,
            Self::Ahead(ahead) => match ahead.recv() {
                Ok(slice) => slice?,
                Err(_) => return Err(Error::internal("the thread that takes days ahead died")),
            },
            Self::Ended => None,
        };
        if slice.is_none() {
            *self = Self::Ended;
        }
        Ok(slice)
    }
}
