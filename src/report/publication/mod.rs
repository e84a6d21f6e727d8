//! What was told to whom: the ledger of publications, what changed since, and months nobody may change.
//!
//! [`told`] is a record as a message or a document tells it, in a [`form`], [`diff`] compares two lists of them, [`ledger`]
//! keeps what was sent and [`jobs`] single jobs by their keys, [`lock`] keeps months, [`teller`] says what there is to say,
//! [`plan`] compares it with what a receiver holds by its [`terms`], and with what its server made of jobs
//! ([`super_summaries`]), and [`send`] sends what is new and takes back what is gone. [`outbox`] puts it where it is wanted,
//! and [`replaced`] finds what would replace one another there. [`carry`] takes the books over into a lake built anew.

pub mod carry;
pub mod diff;
pub mod exporter;
pub mod jobs;
pub mod ledger;
pub mod lock;
pub mod message_record;
pub mod messages;
pub mod outbox;
pub mod plan;
pub mod record_format;
pub mod replaced;
pub mod send;
pub mod super_summaries;
pub mod terms;
