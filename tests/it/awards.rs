//! Awards: the ledger and its contradictions, period rules, projections, and what a lake and its reports make of them.

mod ledger;
mod projection;
mod rules;
mod units;
