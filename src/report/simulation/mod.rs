//! Simulated schedules as reports: the methods of a scheduler over the jobs of one log, next to what was recorded, by class
//! of jobs, on the axes of a Kiviat graph, and job by job.

mod explain;
mod question;
mod run;
mod tables;

pub use explain::explain;
pub use question::{MeasuredTime, SimulationInput, SimulationQuestion};
pub use run::{MethodRun, Simulation};
pub use tables::SimulationTable;
