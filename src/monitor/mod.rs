//! What those who watch over runs read: metrics and lineage events of a run, the note of the last run, the status of a lake.
//!
//! In: the report of a run, and a lake. Out: texts in the formats of monitoring systems, and the status of a lake with
//! what is judged of it. Promise: nothing here changes how a run ends, and nothing here is part of what is published.

pub mod exposition;
pub mod incomplete;
pub mod lake_standing;
pub mod last_run;
pub mod lineage;
pub mod status;
pub mod status_text;
pub mod textfile;
