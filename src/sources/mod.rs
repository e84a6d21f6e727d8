//! Bytes of one dialect become job rows, or rows about the machine, and rejects. Only this room knows a vendor's column name.

pub mod apel;
pub mod archive;
mod arrival;
pub mod blah;
mod buffer;
pub(crate) mod byte_text;
pub mod compression;
pub mod cross_check;
pub mod decimal;
mod decoders;
pub mod diagnosis;
pub mod dialect;
pub mod file_stamp;
mod find_local;
mod find_remote;
mod foreign_form;
pub mod format;
pub(crate) mod forwarding_sink;
pub mod fqan;
pub mod gracc;
pub mod hashing;
pub mod head;
pub mod hints;
mod host_slots;
pub mod htcondor;
pub mod input;
mod input_stream;
pub mod instant;
pub mod inventory;
pub mod json;
pub mod lines;
pub mod location;
pub mod lsf;
pub mod options;
mod pattern;
pub mod pbs;
pub mod place_list;
pub mod projection;
pub mod raw_rows;
mod refusal;
pub mod registry;
mod remote;
pub mod repair;
pub mod sacct;
pub mod sge;
pub mod simd_scan;
pub mod sink;
pub mod source_option;
pub(crate) mod steps;
pub mod swf;
mod truncate;
mod unsupported_files;
mod window;
mod xml_scan;

use dialect::Dialect;

/// Every dialect of files that are no inventory, in the order of the help.
pub static DIALECTS: &[Dialect] = &[
    sacct::DIALECT,
    apel::DIALECT,
    gracc::DIALECT,
    pbs::DIALECT,
    sge::DIALECT,
    lsf::DIALECT,
    htcondor::DIALECT,
    blah::DIALECT,
    swf::DIALECT,
    archive::DIALECT,
];

pub use format::Format;
pub use sink::{GridIdentity, Pieces, Position, Sink, Work};
