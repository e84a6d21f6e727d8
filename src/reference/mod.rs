//! Dated tables the pipeline looks things up in.

pub mod benchmark;
pub mod vo;
