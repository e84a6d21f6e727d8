//! The only room that does I/O on outputs: objects in, objects out, published all at once or not at all.

#[cfg(feature = "cloud")]
mod certificate;
pub mod chain;
pub(crate) mod connect;
mod deletion;
pub mod delta;
mod disk;
pub mod empty;
pub mod finding;
mod folders;
pub mod machinery;
mod parquet;

#[cfg(feature = "cloud")]
mod http_client;
mod input_hashes;
mod journal;
pub mod lake;
pub mod lake_facts;
mod lake_lock;
mod lease;
pub(crate) mod listing;
mod local;
pub mod location;
mod lock;
mod lock_holder;
pub mod manifest;
#[cfg_attr(not(feature = "cloud"), expect(dead_code, reason = "no server is asked"))]
pub(crate) mod outage;
mod outgoing;
mod own_hash;
mod parts_upload;
pub mod post;
mod present;
mod process;
pub mod publish;
mod reader;
mod run_note;
pub mod seal;
mod sending;
#[cfg(feature = "cloud")]
mod settings;
mod settled;
pub mod snapshots;
mod staged;
pub mod table;
mod table_form;
mod table_reader;
mod temporary;
pub mod verify;
pub mod whole_file;
#[cfg(feature = "cloud")]
mod wire;
mod writer;

pub use crate::store::finding::Finding;
pub use crate::store::verify::{Verified, verify_files, verify_store};
pub use lake_facts::{Fact, LakeFacts};
pub use lake_lock::LakeLock;
pub use lease::{Holder, LockWatch};
pub use location::{Store, StoreEntry};
pub use manifest::{FileEntry, Manifest};
pub use outgoing::Outgoing;
pub use publish::{Committed, Current, Publication};
pub use reader::ObjectReader;
pub use seal::{Heads, Seal, SealHead};
pub use sending::{BookLock, CutOff, Sending};
pub use settled::{LakeState, StatePart};
pub use staged::{Staged, StagedWriter};
pub use table::{SCHEMA_VERSION_KEY, TableWriter};
pub use table_form::TableOptions;
pub use table_reader::{TableFile, TableRows, footer, has_nulls, read_rows, read_table, row_groups, rows};
pub use temporary::TemporaryFolder;
pub use writer::{ObjectWriter, WrittenObject};
