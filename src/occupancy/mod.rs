//! What every node could still have run: jobs on nodes -> free resources per instant -> canonical units, true overhead,
//! and who bears the cost of what was not used.
//!
//! The canonical unit is that of Andrijauskas, Sfiligoi and Würthwein (*Defining a canonical unit for accounting
//! purposes*). A unit names resources with thresholds (1 core and 2 GB; 1 GPU). At an instant a node holds
//! `min over the named resources of floor(free / threshold)` units: what the scheduler could still have placed there.
//!
//! **The ledger.** For every node, resource and period
//! `capacity = allocated + overhead + stranded + down + reserved`, exactly, in resource-seconds:
//!
//! * *capacity*: the resources of the node according to the inventory;
//! * *allocated*: what jobs were given (never what their processes used), as much of it as there is;
//! * *overhead*: units times threshold, of each resource the unit names: jobs of that shape would have fitted;
//! * *stranded*: free, and of no use to this unit: leftovers below a threshold, resources the unit does not name, and
//!   everything not held by a job that has the node exclusively;
//! * *down*: not allocated while the node is down or drained. What runs on a draining node is allocated;
//! * *reserved*: not allocated while the node is in a reservation or in maintenance, and what is set aside for the
//!   system at all times.
//!
//! What jobs hold beyond capacity is not part of this: it is summed up as *over-allocated* and every stretch of it is a
//! [`OverAllocation`]. Nothing is cut off without being reported.
//!
//! **Billing.** A node's jobs share its billable resources in proportion to what they hold: what is allocated (by usage),
//! with what is stranded (overhead-aware, the paper's scheme: overhead is the provider's loss), or with both stranded and
//! overhead (the whole node). Where nothing of a resource is allocated no job can be billed: its rate is unknown and the
//! loss is the provider's.
//!
//! **The queue.** A job waits from the second it is eligible to the one it starts. At an instant it would have fitted by
//! *vector* when enough suitable nodes have everything it requests free, and by *units* when they have as many
//! canonical units free as it takes. Both are reported: a job of 3 cores and 3 GB fits into 3 free cores and 4 GB, which
//! are two units of 1 core and 2 GB, not three; and a job of 1 core and 4 GB takes two units. Nodes that take jobs count
//! as room for an unknown cause; nodes that are reserved, or will be before the job's time limit, and nodes that are down
//! or drained are distinguished.
//!
//! Time is whole seconds, intervals are half-open, amounts are integers. The kernel goes through each node's events once,
//! in order; nodes are independent of one another and are worked on in parallel, as are slices of time.

pub mod allocation_shapes;
pub mod billing;
mod constant_interval;
mod events;
pub mod grid;
pub mod history;
pub mod node_room;
pub mod node_totals;
pub mod over_allocation;
pub mod parallel;
pub mod queue;
pub mod resource;
pub mod seconds;
pub mod slice;
pub mod slices;
mod spill_rows;
pub mod sweep;
pub mod time_histogram;
pub mod unit;

pub use crate::occupancy::allocation_shapes::AllocationShapes;
pub use crate::occupancy::node_totals::{DaySums, NodeQuery, NodeTotals, UnitSums, tally};
pub use crate::occupancy::over_allocation::OverAllocation;
pub use crate::occupancy::time_histogram::TimeHistogram;
pub use billing::{BillingShare, Scheme, bill, node_bill, rate, shares};
pub use grid::Grid;
pub use history::{CapacitySegment, CapacityState, History};
pub use node_room::NodeLoad;
pub use parallel::{TimeHistograms, each_node, merge, peaks, tally_all};
pub use queue::{Ask, Cause, Queue, QueueKey, QueueMachine, QueueSums, Wait, queue};
pub use resource::{GPU_PLACE, LEDGER_N, Resource, Resources};
pub use seconds::Seconds;
pub use slice::{Interval, Slice};
pub use slices::Slices;
pub use sweep::{TimeRange, Visit, sweep};
pub use unit::{PRESETS, Thresholds, Unit};
