//! Why the counters of a scheduler differ from usage that is computed from jobs.
//!
//! In come a tree, the rule of usage, the counters that the scheduler stated at an instant (and at an earlier one, where
//! there is a second listing) and the jobs of every association. Out comes a cause for each association with the evidence
//! for it. A cause is named only where its own rule holds; the rest is [`DriftCause::Unknown`]. The rules are on the page
//! about fair share of the manual, in the order in which they are tried.
//!
//! ```text
//! cause     the words
//! facts     what is known of each association, and when two amounts agree
//! judge     the order of the rules, users first, then accounts
//! factor    one ratio or another half-life for all
//! reset     usage since one instant
//! past      usage that truncated billing lacks, usage from before the records, and jobs that are missing in them
//! ```

pub mod cause;
mod factor;
mod facts;
mod judge;
mod past;
mod reset;

pub use cause::{DriftCause, DriftFinding};
pub use facts::{CounterFacts, DriftFacts, EarlierInstant};
