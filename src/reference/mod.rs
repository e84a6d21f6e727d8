//! Dated tables the pipeline looks things up in.

pub mod benchmark;
pub mod correction;
mod csv_table;
pub mod decimal;
pub mod vo;
