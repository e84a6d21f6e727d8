//! The new rows of the days of a partition, in the order of the days: taken when they are merged, or a day ahead by a thread
//! of its own, where there are fewer partitions than threads.

use std::thread::{Builder, Scope};

use crossbeam_channel::{Receiver, bounded};

use super::partition_context::PartitionContext;
use crate::dedupe::slices::FreshDay;
use crate::error::{Error, Result};
use crate::time::Day;

/// Takes the new rows of days.
pub(super) struct FreshDays<'a> {
    context: &'a PartitionContext<'a>,
    site: &'a str,
    /// What another thread takes; `None` where there is none.
    ahead: Option<Receiver<Result<FreshDay>>>,
}

impl<'a> FreshDays<'a> {
    /// Those of some days of a site, a day ahead by a thread of `scope` if the context allows it and the machine has one.
    pub(super) fn begin<'scope>(
        scope: &'scope Scope<'scope, 'a>,
        context: &'a PartitionContext<'a>,
        site: &'a str,
        days: &'a [Day],
    ) -> Self {
        let ahead = (context.are_days_taken_ahead && days.len() > 1).then(|| {
            // The next day is taken once this one was handed over.
            let (send, receive) = bounded(0);
            let take_all = move || {
                for day in days {
                    // Who merges has stopped, and knows why.
                    if send.send(take(context, site, *day)).is_err() {
                        return;
                    }
                }
            };
            // Fallback: where the machine gives no thread, days are taken when they are merged.
            Builder::new().spawn_scoped(scope, take_all).map(|_| receive).ok()
        });
        Self {
            context,
            site,
            ahead: ahead.flatten(),
        }
    }

    /// Those of a day: the next one of the days that have any.
    ///
    /// # Errors
    /// [`crate::error::Kind::Io`] when a temporary file cannot be read back.
    pub(super) fn next(&self, day: Day) -> Result<FreshDay> {
        match &self.ahead {
            None => take(self.context, self.site, day),
            Some(ahead) => match ahead.recv() {
                Ok(taken) => taken,
                Err(_) => Err(Error::internal("the thread that takes days ahead died")),
            },
        }
    }
}

fn take(context: &PartitionContext<'_>, site: &str, day: Day) -> Result<FreshDay> {
    context.spill.take(site, day, context.order)
}
