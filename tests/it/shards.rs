//! Shards as commands and as jobs of a batch system: what is submitted, what a kill leaves, and how far shards are.

mod jobs;
mod kills;
mod scene;
