//! Simulated schedules as reports: the methods of a scheduler over the jobs of one log, next to what was recorded, by class
//! of jobs, on the axes of a Kiviat graph, and job by job.

mod answer_tables;
mod explain;
mod page;
mod tables;
mod trial_tables;

pub use answer_tables::sentences;
pub use explain::explain;
pub use page::page;
pub use tables::SimulationTable;
