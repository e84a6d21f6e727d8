//! What a site could deliver: installed capacity, the values a site publishes, and what its batch system must scale by.
//!
//! Two values are distinguished everywhere. The *power* is the measured score of nodes, independent of the batch system.
//! The *accounting reference* is what one second of the batch system's times is multiplied by. They are equal where all
//! nodes are alike and nothing is scaled.

pub mod limit;
mod lines;
pub mod monthly;
pub mod reference;
pub mod report;
pub mod site;

pub use reference::{Reference, ReferenceChoice};
pub use report::{CapacityQuestion, CapacityReport};
pub use site::SitePower;
