//! What was told to whom: the ledger of publications, what changed since, and months nobody may change.
//!
//! [`told`] is a record as a message tells it, [`diff`] compares two lists of them, [`ledger`] keeps what was sent, [`lock`]
//! keeps months, and [`send`] sends what is new and takes back what is gone.

pub mod diff;
pub mod ledger;
pub mod lock;
pub mod messages;
pub mod send;
pub mod told;
