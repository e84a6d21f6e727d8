//! Energy and carbon: dated tables, the class of a job's figure, and whole lakes whose tables change.

mod course;
mod job;
mod lake;
mod node_energy;
mod node_meter;
mod tables;
