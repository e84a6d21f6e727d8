//! A simulation as it is requested: jobs and machine of a log or a lake, the schedules of several methods, and what each comes
//! to next to what happened.
//!
//! In: a log or a lake, a machine or its inventory, and a scheduler with its methods. Out: schedules that the verifier holds, the
//! recorded starts held against the machine, and the back-test of the base policy. Promise: what a record lacks is counted by
//! reason, and no answer is without the back-test it rests on. The room [`crate::simulate`] makes schedules; this one knows where
//! jobs come from.
//!
//! [`question`] is what is asked, [`input`] what is simulated, [`lake_input`] takes it from a lake: [`lake_rows`] of records in [`lake_kind`]s become a
//! [`lake_trace`], nodes a machine, with the [`shared_kind`]s of the cluster as a whole; `lake_reservations` are what is set aside of them, as `reserved_nodes`, for `reserved_jobs` and `reserved_records`; `lake_dependencies` are what its jobs wait for, `lake_priorities` and `log_priorities` are what its jobs wait by. [`run`] makes the schedules and [`back_test`] holds the base policy against what happened.
//! What it takes of memory does not grow with the jobs but for those that wait for others, priorities and limits: rows, jobs and what the lake knows of them
//! (`lake_values`) are columns, and `record_places` find the job of a record.
//! [`answers`] are what a schedule comes to: [`charged`] by the engines of a run, and [`node_ledger`] by that of the overhead, of `ledger_nodes`. [`dataset`] is what is kept of it.

pub mod answers;
pub mod back_test;
pub mod charged;
pub mod dataset;
pub mod group_limits;
pub mod input;
mod lake_dependencies;
pub mod lake_input;
pub mod lake_kind;
mod lake_machine;
mod lake_priorities;
mod lake_reservations;
pub mod lake_rows;
pub mod lake_source;
pub mod lake_trace;
mod lake_values;
mod ledger_nodes;
mod log_priorities;
mod moved_records;
pub mod node_ledger;
mod placement;
pub mod question;
mod record_places;
mod reserved_jobs;
mod reserved_nodes;
mod reserved_records;
pub mod run;
pub mod shared_kind;
pub mod stated_priorities;
