//! What if: the schedule that was not, simulated over the jobs of a trace.
//!
//! In: jobs with submission, run time, limit and amounts, a machine, and what the scheduler does. Out: a start for each job
//! with the reason for it, measures of the schedule, and what a verifier that knows nothing of the scheduler found wrong. A
//! pure computation: it reads no file and knows no lake, and puts into temporary ones what many jobs come to.
//!
//! What it promises:
//! * Integers: times are seconds, amounts are those of the machine's kinds of resources. Only the utility order and bin
//!   packing compare doubles, made by operations with the same result on every machine.
//! * Every job that was read is simulated or counted under a reason ([`trace::Trace::is_closed`]).
//! * Equal inputs give equal schedules: the order of the input does not matter, random numbers depend on a seed alone.
//! * The modes named after other simulators reproduce their schedules job by job.
//! * Memory does not grow with the jobs, but for those that wait for others, priorities and limits: jobs and starts are columns
//!   ([`crate::runtime::column`]), and the engine holds the jobs that wait or run.
//! * The shadow of backfilling considers every kind of resource, and is made again in every pass.
//!
//! ```text
//! demand        amounts of each kind of resource
//! machine       how much there is of each kind; nodes with local storage of two sizes
//! job, swf, trace   lines of a log -> jobs under rules, and what became of all others
//! jobs, job_record  the jobs of a trace by place: in memory while they are few, in a temporary file when they are many
//! predecessor   what a job waits for: starts and ends of others
//! settings      what the scheduler does
//! reserved_pool   reservations: a part of the machine for their jobs, from a second to a second
//! pools, reserved_pass   what is free and runs in reservations; a pass over them
//! displaced     what jobs have of parts of the machine that are no longer theirs
//! engine        the loop over events, one pass after another
//! active        the jobs that wait or run, which alone are looked at again
//! easy, conservative, wfp   backfilling and orders
//! multifactor, shares, halved_usage   priorities of Slurm; usage that grows with the schedule, and the factors that follow from it
//! order         the order in which jobs wait
//! limits        what jobs of one user, account, partition or QOS may have at a time
//! window        a set of the first waiting jobs: exact Pareto front, genetic algorithm, decision rules
//! schedule      a start and its reason for each job
//! observer, explain   what each pass finds; why a job starts when it does
//! replay, replay_check, reserved_use   recorded starts as a schedule, how alike two schedules are, and where recorded starts exceed the machine
//! correlation   how starts and waits of two schedules go together
//! use_change    what is taken and given back, in the order of time
//! verify, verify_easy, verify_reserved   what is wrong with a schedule, found out from it alone
//! metrics, kiviat   use, wait and slowdown; methods compared
//! workload      requests of burst buffer and local storage for the jobs of a trace
//! ```

mod active;
mod cluster;
mod conservative;
pub mod correlation;
pub mod demand;
mod displaced;
mod easy;
pub mod engine;
pub mod explain;
pub mod halved_usage;
pub mod job;
mod job_record;
pub mod jobs;
pub mod kiviat;
pub mod limits;
pub mod machine;
pub mod metrics;
pub mod multifactor;
pub mod observer;
mod order;
mod pools;
pub mod predecessor;
mod profile;
pub mod replay;
pub mod replay_check;
mod reserved_pass;
pub mod reserved_pool;
mod reserved_use;
pub mod rng;
mod running;
pub mod schedule;
pub mod settings;
pub mod shares;
pub mod swf;
pub mod trace;
pub mod trace_change;
mod use_change;
pub mod verify;
pub mod verify_easy;
mod verify_reserved;
pub mod wfp;
pub mod window;
pub mod workload;
