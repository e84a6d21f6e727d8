//! What was sent to which receiver: the ledger of publications, the changes since, and locked months.
//!
//! [`message_record`] is a record of a message or document, [`record_format`] its form, [`diff`] compares two lists of them, [`ledger`]
//! keeps what was sent and [`jobs`] single jobs by their keys, [`lock`] keeps months, [`exporter`] writes the messages of a lake,
//! [`plan`] compares it with what a receiver holds by its [`terms`], row by row of the receiver ([`receiver_rows`]), and with what its server made of jobs
//! ([`super_summaries`]), and [`send`] sends new records and retracts removed ones. [`outbox`] delivers them,
//! and [`replaced`] finds records that would replace one another there. [`carry`] takes the books over into a rebuilt lake.

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
pub mod receiver_rows;
pub mod record_format;
pub mod replaced;
pub mod send;
pub mod super_summaries;
pub mod terms;
