//! Dated tables of energy and carbon: what a site adds to the energy of its nodes, what its electricity emits, and what its
//! nodes draw and took to make.

mod cells;
pub mod columns;
pub mod course;
pub mod half_up;
pub mod meter_readings;
pub mod node_meter;
pub mod node_row;
pub mod node_rows;
pub mod site_value;
pub mod span_value;

pub use course::Course;
pub use node_meter::NodeMeterTable;
pub use node_row::NodeEnergyRow;
pub use node_rows::NodeEnergyTable;
pub use site_value::{CarbonBasis, IntensityTable, PueTable, SiteValues};
