//! Dated tables the pipeline looks things up in.

pub mod benchmark;
mod csv_table;
pub mod decimal;
pub mod site;
pub mod topology;
pub mod vo;
pub mod vo_corrections;
