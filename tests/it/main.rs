//! The only integration-test binary: one module per behaviour.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

mod amounts;
mod apel;
mod apel_alike;
mod apel_car;
mod apel_damage;
mod apel_golden;
mod apel_summaries;
mod asked;
mod awards;
mod benchmarks;
mod byte_text;
mod decimal;
#[cfg(unix)]
mod deploy;
mod descriptions;
mod dialect_registry;
mod energy;
mod engine;
mod everything;
mod fairshare;
mod faults;
mod folders;
mod fuzz;
mod garbage;
#[path = "../generator/mod.rs"]
mod generator;
mod golden;
mod gracc;
mod gracc_encodings;
mod gracc_summaries;
mod hostlist;
mod hygiene;
mod inventory;
mod json_members;
mod lakes;
mod lanes;
mod layers;
mod lessons;
mod limits;
mod logging;
mod logs;
mod mapping;
mod nights;
mod occupancy;
#[cfg(unix)]
mod operations;
mod schemas;
mod share_history;
mod store;
mod support;
mod tampering;

mod apart;
mod capacity;
mod cli;
mod identity;
mod init;
mod inputs;
mod inspect;
mod inspect_advice;
mod inspect_real;
#[cfg(feature = "cloud")]
mod objects;
mod options;
mod oracle;
#[cfg(feature = "cloud")]
mod outages;
mod outputs;
mod overhead;
mod pipeline_file;
mod policies;
mod promises;
mod publishers;
mod publishing;
mod readme;
mod reference_tables;
mod report;
mod sacct;
mod salvage;
mod sample_data;
mod shards;
mod shares;
mod short_texts;
#[cfg(unix)]
mod signals;
mod simulate;
mod snapshots;
mod source_fingerprints;
mod table_lines;
mod value_text;
mod views;
mod written_tables;
mod zone;
