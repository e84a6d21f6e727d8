//! The machine behind the jobs: nodes, what happened to them, partitions with their billing weights, associations, and what
//! its scheduler states: qualities of service, shares, settings, jobs that wait.
//! Typed rows and their published batches; the readers of the vendor's formats are in [`crate::sources::inventory`].

pub mod absent;
mod batch;
pub mod gpus;
pub mod quantity;
pub mod row;
pub mod scheduler;
mod scheduler_batch;
pub mod state;
pub mod tres;
pub mod weights;

pub use batch::{InventoryOrigin, InventoryPlaced, batches};
pub use gpus::Gpus;
pub use row::{AssociationRow, EventRow, InventoryRow, NodeRow, PartitionRow, ReservationRow, WITHHELD_USER};
pub use scheduler::{QosRow, QueuedJobRow, SettingRow, ShareRow};
