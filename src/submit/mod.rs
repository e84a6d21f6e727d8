//! Shards as jobs of a batch system: an array of Slurm, or a graph of `HTCondor`'s `DAGMan`, and the merge that depends on it.
//!
//! In: which shards are to be read, and how the program is called. Out: scripts, and the commands that submit them. Promise: what
//! is submitted is written next to the list, and the batch system is asked once for its limits and never for its jobs.

pub mod calls;
pub mod condor;
pub mod controller;
pub mod shell;
pub mod slurm;
