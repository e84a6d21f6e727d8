//! The machine behind the jobs: nodes, what happened to them, partitions with their billing weights, associations.
//! Typed rows and their published batches; the readers of the vendor's formats are in [`crate::sources::inventory`].

mod batch;
pub mod gpus;
pub mod quantity;
pub mod row;
pub mod state;
pub mod tres;
pub mod weights;

pub use batch::{DATASETS, Origin, Placed, batches};
pub use gpus::Gpus;
pub use row::{AssociationRow, EventRow, InventoryRow, NodeRow, PartitionRow, ReservationRow};

/// The words Slurm prints for nothing.
#[must_use]
pub fn is_absent(text: &str) -> bool {
    matches!(
        text,
        "" | "(null)" | "N/A" | "n/a" | "n/s" | "None" | "none" | "Unknown" | "UNKNOWN_TIME" | "NONE"
    )
}
