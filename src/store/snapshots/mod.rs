//! Snapshots: what a lake was after each run, and the files of it that later runs replace.
//!
//! In: what a publication commits, where the lake states a policy ([`super::Fact::Keep`]). Out: documents, one for each
//! state, and every file that one of them names under a name made of its content. Promise: a document and the files it
//! names are written once and never changed; they are removed by [`collect`] alone, the documents first. So whoever
//! reads by a document reads one state, whatever is published meanwhile.
//!
//! ```text
//! .gridtally/kept/usage/site=S/vo=V/allocation_year=Y/BLAKE3.parquet    a file, in the folder it was published in
//! .gridtally/snapshots/NUMBER-MILLISECONDS-BLAKE3.json.zst              a document
//! .gridtally/tags/NAME                                                  the name of a document
//! ```
//!
//! The folders of a partition are part of the path because readers take the columns of the partition from there.

pub mod collect;
pub mod document;
pub mod history;
mod keeping;
mod kept_path;
pub mod policy;
pub mod tags;
pub(super) mod verify;
pub(super) mod view;

pub use collect::{Collection, collect, plan_collection};
pub use document::{SnapshotDocument, SnapshotName};
pub use history::{Snapshot, names, snapshots};
pub(super) use keeping::{KeptFile, keep};
pub(crate) use kept_path::kept_path;
pub use policy::KeepPolicy;
pub use tags::{Tag, TagName, remove_tag, set_tag, tags};
