//! Messages of the APEL accounting system, from what the lake holds.
//!
//! [`jobs`] finds what can be sent, [`aggregate`] adds it up by the keys of the server, which [`server_key`] knows, [`message`]
//! writes records and frames them, [`check`] holds every one of them against the server's rules before it leaves, and
//! [`publish`] does all of it.

pub mod additions;
pub mod aggregate;
pub mod check;
pub mod dictionary;
pub mod jobs;
pub mod kind;
pub mod message;
pub mod publish;
pub mod rounded_levels;
pub mod rules;
pub mod server_key;
pub mod server_sites;
pub mod sums;
pub mod sync_counts;
pub mod users;

pub use kind::MessageKind;
