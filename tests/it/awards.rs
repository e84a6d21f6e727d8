//! Awards: the ledger and its contradictions, period rules, projections, and what a lake and its reports make of them.

mod acceptance;
mod entries;
mod lake;
mod ledger;
mod page;
mod pending;
mod projection;
mod report;
mod rules;
mod scene;
mod units;
