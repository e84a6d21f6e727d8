//! A page about the awards of an allocation year: what is left, who is owed, and where use will end. The same numbers are in CSV
//! next to it.
//!
//! [`data`] reads the lake; [`burn_down`], [`forecast`], [`owed`] and [`shares`] are what it is made of, [`tables`] its tables, [`chart`] and [`shares_chart`] draw, [`page`] writes.

mod axes;
pub mod burn_down;
mod chart;
pub mod data;
mod downtime;
pub mod forecast;
pub mod owed;
pub mod page;
pub mod shares;
mod shares_chart;
pub mod tables;
mod terms;
