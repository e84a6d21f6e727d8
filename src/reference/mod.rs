//! Dated tables the pipeline looks things up in, and the machine behind the jobs.

pub mod allocation;
pub mod benchmark;
pub mod correction;
pub mod cpu_tres;
pub(crate) mod csv_table;
pub mod currency;
pub mod decimal;
pub mod energy;
pub mod first_match;
pub mod hostlist;
pub mod inventory;
pub mod job_hosts;
pub mod minute_limit;
pub mod node_owner;
pub mod node_type;
pub mod ratio;
pub mod share_change;
pub mod site;
pub mod site_rename;
pub mod stored;
pub mod table_columns;
pub mod topology;
pub mod vo;
pub mod vo_corrections;
pub mod vo_rule;
mod written_day;
pub mod written_tables;
