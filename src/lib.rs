//! gridtally: where did every core-hour go, what was it worth, who pays - and prove it.
//!
//! Each room imports only from those above it; a test holds it.
//!
//! ```text
//! display_text text as it may be shown
//! error        the one error: kind, context, cause, exit code
//! numbers      lengths and positions in the type that is needed; nothing lost
//! amounts      sums of usage, work and money: exact, or an error
//! absent       what is not there, where an empty value states the same
//! leb128       numbers in few bytes
//! byte_order_mark  the mark some programs write before UTF-8
//! lines        tables as lines of text
//! small_file   what people write: configuration and tables
//! time         zones, days, months, allocation years
//! schema       every column of every dataset: Arrow, SQL, documentation
//! hive         names in Hive folders
//! diagnostics  what is wrong with a pipeline or policy file, all of it at once
//! expr         group-bys and formulas on typed batches
//! runtime      threads, clock, progress, temporary space, allocator
//! ledger       where every row went
//! record       one row of a job or a summary: the vocabulary of all readers
//! reference    dated tables, and the machine behind the jobs
//! privacy      who is named
//! store        everything written
//! occupancy    jobs on nodes -> free resources per instant -> canonical units, true overhead, billing rates
//! sources      bytes of one dialect -> job rows and rejects
//! dedupe       one identity, one typed model, duplicates resolved, bucket by bucket in bounded memory
//! normalise    dated benchmark -> factors per job
//! energy       readings and dated tables -> energy and carbon per job, with what each is worth
//! charge       policies as data -> what each job costs
//! capacity     what nodes could deliver
//! award        who may use how much, period rules and projections
//! fairshare    shares, decayed usage -> fair share factors, job priorities
//! simulate     jobs of a trace, a machine and a scheduler -> the schedule that was not
//! summarise    jobs -> periods -> groups; contributions added up per site, VO and allocation year
//! config       pipeline file -> plan
//! lake         what is published, as typed facts
//! ingest       input files -> readers -> records and rejects
//! shard        input files shared out, and what each shard came to
//! overhead     the node ledger of a lake: staging, sweep, bills
//! share_history  shares, decayed usage and factors of a lake, day by day
//! simulation   jobs and machine of a log or a lake -> schedules, held against what happened
//! run          one run: what is outdated, partitions, usage, charges, summaries, one publication
//! submit       shards as jobs of a batch system
//! inspect      what a dump holds, and the pipeline it needs
//! report       the lake in the words of those who want to hear it: federation messages, tables, pages
//! monitor      metrics, notes and the status of a lake: for those who watch over runs
//! compat       what others make of the same jobs
//! audit        explained numbers, verification, rejects and their replay, prices compared
//! cli          the command line
//! ```
//!
//! Invariants, held by tests:
//! * Only `sources` knows a vendor's column name; it passes rows to a [`sources::Sink`] only. A sink that forwards to
//!   another forwards by one piece of code, so that it cannot forget a kind of row.
//! * Only `store` writes outputs, and only through a publication: all of a run, or nothing.
//! * Unsafe code is in `runtime` alone: the allocator, and what acts in a process without memory.
//! * Only `runtime::clock` knows what time it is: equal inputs give equal bytes on any day.
//! * Identity holds the instant that places a record, so all versions of a job share one day bucket.
//! * The order among versions of a job does not depend on when a row was read.
//! * For every input file, the rows framed equal the rows that ended somewhere, or the run fails.

pub mod absent;
pub mod amounts;
pub mod audit;
pub mod award;
mod byte_order_mark;
pub mod capacity;
pub mod charge;
pub mod cli;
pub mod compat;
pub mod config;
pub mod dedupe;
pub mod diagnostics;
mod display_text;
pub mod energy;
pub mod error;
pub mod expr;
pub mod fairshare;
pub mod hive;
pub mod ingest;
pub mod inspect;
pub mod lake;
mod leb128;
pub mod ledger;
mod lines;
pub mod monitor;
pub mod normalise;
pub mod numbers;
pub mod occupancy;
pub mod overhead;
pub mod privacy;
pub mod record;
pub mod reference;
pub mod report;
pub mod run;
pub mod runtime;
pub mod schema;
pub mod shard;
pub mod share_history;
pub mod short_texts;
pub mod simulate;
pub mod simulation;
mod small_file;
pub mod sources;
pub mod store;
pub mod submit;
pub mod summarise;
pub mod time;
