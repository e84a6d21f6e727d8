//! Simulated schedules: logs, the schedules of two other simulators job by job, invariants, and a verifier that finds
//! planted errors.

mod any_reservations;
mod command;
mod dependencies;
mod displaced;
mod flat;
mod flat_lake;
mod invariants;
mod lake;
mod lake_counted;
mod lake_outages;
mod lake_overhead;
mod lake_priorities;
mod limits;
mod measures;
mod multifactor;
mod outages;
mod reference;
mod replay;
mod reservations;
mod reservations_of_lakes;
mod solvers;
mod swf;
mod table_one;
mod verifier;
mod windows;
mod workloads;

use gridtally::runtime::column::ColumnBudget;
use gridtally::simulate::demand::Demand;
use gridtally::simulate::job::Job;
use gridtally::simulate::machine::{Machine, ResourceKind};
use gridtally::simulate::swf::SwfLog;

/// A job of one kind of resource.
fn job(id: i64, submit_s: i64, run_s: i64, limit_s: i64, amounts: &[i64]) -> Job {
    Job::new(id, submit_s, run_s, limit_s, Demand::of(amounts))
}

/// A machine with nodes and burst buffer.
fn machine(node_n: i64, burst_buffer: i64) -> Machine {
    let kind = |name: &str, capacity| ResourceKind {
        name: name.to_owned(),
        capacity,
    };
    Machine::new(vec![kind("nodes", node_n), kind("burst_buffer_gb", burst_buffer)]).unwrap()
}

/// A log that is in memory.
fn read_log(bytes: &[u8]) -> SwfLog {
    SwfLog::read(bytes, ColumnBudget::default()).unwrap()
}
