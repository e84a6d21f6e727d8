//! Energy and carbon of a job, with what each figure is worth.
//!
//! In: what the record of a job states, and the dated tables of a site. Out: its energy with a quality class, and what follows
//! from it: energy of the site, carbon of the electricity, its part of the carbon of its nodes. Promise: what is unknown stays
//! unknown, never zero; every amount is an integer, rounded half up once for each job and period.
//!
//! The class of a figure follows from one rule ([`job_energy`]): a reading of nodes the job had to itself is its own; of a reading
//! of shared nodes it has a part, by a share that the pipeline names; without a reading the power of its nodes' type models it.

pub mod core_gap;
pub mod energy_class;
pub mod energy_plan;
pub mod job_energy;
pub mod job_load;
pub mod meter_users;
pub mod node_part;
pub mod nodes_share;
pub mod site_energy;
mod site_means;
pub mod table_gap;

pub use core_gap::{EnergyCoreGap, ListedNode};
pub use energy_class::EnergyClass;
pub use energy_plan::{EnergyPlan, EnergySettings, EnergyTables, NamedTable, SharedRule};
pub use job_energy::{ClassedEnergy, JobEnergy};
pub use job_load::{JobLoad, RunSpan};
pub use meter_users::{MeterUses, SharedMeter};
pub use node_part::NodePart;
pub use nodes_share::OwnNodes;
pub use site_energy::SiteEnergy;
pub use site_means::SiteMeans;
pub use table_gap::EnergyTableGap;
