//! The occupancy kernel: the paper's figures as cases, and an independent brute force.

mod brute;
mod cases;
mod queue;
mod random;
mod room;
