//! Awards: who may use how much, from when until when, and what becomes of what is not used.
//!
//! In: entries of the table of allocations, period rules that are data, and use by day. Out: awards with every change they
//! went through, what each period makes available, and projections with their past errors. Promise: pure functions of
//! whole numbers. Parts of an award add up to it, no rule creates hours, and every step can be read.
//!
//! [`ledger`] makes awards of entries, [`award`] is one of them, [`unit`] counts use in its unit. [`rule`] is a period rule,
//! [`read_rule`] reads its file, [`apply`] applies it to [`rule_use`] and [`check_rule`] holds it against its examples. [`projection`]
//! estimates where use will end. [`plan`] resolves the awards of a pipeline and [`use_rows`] counts use for them.

pub mod apply;
#[expect(clippy::module_inception, reason = "an award is what the room is about")]
pub mod award;
pub mod check_rule;
mod decay;
pub mod ledger;
mod parts;
pub mod plan;
pub mod projection;
mod read_rule;
pub mod rule;
pub mod rule_use;
mod same_award;
pub mod unit;
pub mod use_rows;

pub use award::{Award, AwardChange, AwardLimit};
pub use ledger::{AwardLedger, AwardUser};
pub use plan::AwardPlan;
pub use rule::PeriodRule;
