//! The batch system's description of its own machine: nodes, their events, partitions, associations, and what its scheduler
//! states of shares, settings and waiting jobs.
//!
//! One row of the file (a node of `scontrol`, a line of `sinfo`, a logical line of `slurm.conf`, an element of JSON)
//! gets exactly one outcome. Headers, comments and blank lines are no rows. Files are small compared with accounting dumps and
//! are read whole, within a limit.

mod assoc;
mod assoc_mgr;
mod conf_lines;
mod conf_partition;
mod csv_nodes;
mod document;
mod dump;
mod event;
mod fields;
mod kind;
mod lines;
mod machines;
mod moment;
mod node_json;
mod pairs;
mod partition_json;
mod qos;
mod queued_job;
pub mod recognise;
mod registry;
mod reservation;
mod scontrol;
mod setting;
mod share;
mod share_json;
mod sinfo;
mod sinfo_json;
mod slurm_conf;
mod table;
pub mod trouble;
pub(crate) mod yaml;

use std::io::Read;
use std::sync::Arc;

use super::dialect::Input;
use super::hints::Hints;
use super::options::ReaderOptions;
use super::{Pieces, Sink, Work};
use crate::error::{Error, Kind as ErrorKind, Result};
use crate::numbers::count_u64;

pub use super::inventory::kind::InventoryKind;
pub use super::inventory::recognise::recognise;
pub use assoc::ASSOC_COMMAND;
pub use registry::DIALECTS;

/// Largest file, bytes unpacked: 50 000 nodes as JSON, a million associations.
const FILE_LIMIT: u64 = 128 << 20;

/// Reads an inventory file of a known kind as one piece.
///
/// # Errors
/// [`ErrorKind::Data`] when the file is larger than the limit; what reading gives.
pub fn pieces(kind: InventoryKind, input: Input, options: Arc<ReaderOptions>) -> Result<Pieces> {
    kind.dialect().pieces(input, options)
}

fn read_whole(
    input: Input,
    options: Arc<ReaderOptions>,
    read: fn(&[u8], &ReaderOptions, &mut dyn Sink),
) -> Result<Pieces> {
    let mut bytes = Vec::new();
    input.take(FILE_LIMIT + 1).read_to_end(&mut bytes)?;
    if count_u64(bytes.len()) > FILE_LIMIT {
        let message = format!("an inventory of more than {FILE_LIMIT} bytes");
        return Err(Error::new(ErrorKind::Data, message));
    }
    let work: Work = Box::new(move |sink| read(&bytes, &options, sink));
    Ok(Box::new(std::iter::once(Ok(work))))
}

/// Notes for people from the first bytes of a file.
#[must_use]
pub fn hints(kind: InventoryKind, head: &[u8]) -> Hints {
    let text = String::from_utf8_lossy(head);
    let after = |mark: &str| {
        let rest = text.split(mark).nth(1)?;
        let end = rest.find([' ', '"', '\n', ',']).unwrap_or(rest.len());
        rest.get(..end).filter(|version| !version.is_empty()).map(str::to_owned)
    };
    let version = match kind {
        InventoryKind::ScontrolNode => after(" Version="),
        InventoryKind::NodeJson
        | InventoryKind::PartitionJson
        | InventoryKind::SinfoJson
        | InventoryKind::SshareJson => after("\"release\": \"")
            .or_else(|| after("release: !!str "))
            .or_else(|| after("\"version\": \""))
            .or_else(|| after("\"slurmd_version\": \"")),
        _ => None,
    };
    Hints {
        version: version.map(|version| format!("Slurm {version}")),
        naive_times: matches!(
            kind,
            InventoryKind::SacctmgrEvent
                | InventoryKind::Sinfo
                | InventoryKind::ScontrolConfig
                | InventoryKind::ScontrolJob
                | InventoryKind::ScontrolReservation
                | InventoryKind::SacctmgrReservation
        ) && text.contains(':'),
        ..Hints::default()
    }
}
