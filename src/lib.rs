//! gridtally: where did every core-hour go, what was it worth, who pays - and prove it.
//!
//! Data walks through the rooms once, in this order:
//!
//! ```text
//! sources    bytes of one dialect -> job rows and rejects
//! records    one identity, one typed model, duplicates resolved, bucket by bucket in bounded memory
//! normalise  dated benchmark -> factors per job
//! charge     policies as data -> what each job costs
//! occupancy  jobs on nodes -> free resources per instant -> canonical units, true overhead, billing rates
//! summarise  jobs -> periods -> groups; contributions added up per site, VO and allocation year
//! report     the lake in the words of those who want to hear it: federation messages, tables, pages
//! ```
//!
//! Beside them: `schema` (every column, a leaf), `reference` (dated tables, and the machine behind the jobs),
//! `capacity` (what nodes could deliver), `publishers` (what others make of the same jobs), `ledger` (where every row
//! went), `engine` (group-bys and formulas on typed batches), `privacy` (who is named), `store` (everything written),
//! `time` (zones, months, allocation years), `scratch` (what does not fit memory), `allocator` (how soon memory is
//! given back), `lines` (tables as lines of text), `leb128` (numbers in few bytes), `plain` (what may be shown of a text), `small_file` (what people
//! write), `interruption` (what a signal leaves whole), `pipeline` (file -> plan -> run), `problems` (what is wrong with a pipeline or policy file, all of it at once), `inspect`, `cli`.
//!
//! Invariants, held by tests:
//! * Only `sources` knows a vendor's column name; it tells a [`sources::Sink`] and nobody else. A sink that stands before
//!   another forwards by one piece of code, so that it cannot forget a kind of row.
//! * Only `store` writes outputs, and only through a publication: all of a run, or nothing.
//! * Only `engine::bridge` knows both Arrow implementations, and only there unsafe code runs.
//! * Only `pipeline::clock` knows what time it is: equal inputs give equal bytes on any day.
//! * Identity holds the instant that places a record, so all versions of a job share one day bucket.
//! * The order among versions of a job does not depend on when a row was read.
//! * For every input file, the rows framed equal the rows that ended somewhere, or the run fails.

mod allocator;
pub mod capacity;
pub mod charge;
pub mod cli;
pub mod engine;
pub mod error;
pub mod inspect;
mod interruption;
mod leb128;
pub mod ledger;
mod lines;
pub mod normalise;
pub mod occupancy;
pub mod pipeline;
mod plain;
pub mod privacy;
pub mod problems;
pub mod publishers;
pub mod records;
pub mod reference;
pub mod report;
pub mod schema;
mod scratch;
mod small_file;
pub mod sources;
pub mod store;
pub mod summarise;
pub mod time;
