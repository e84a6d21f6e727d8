//! Lineage events of a run, after `OpenLineage` 2-0-2: what it reads, what it publishes, and how it ended.
//!
//! In: the plan and the report of a run, its lake, and the variables `OPENLINEAGE_*`. Out: one JSON object for each event, to a
//! file, to stderr or to a server. Promise: an event that cannot be sent is a warning, in bounded time; no run fails for it.

mod dataset_name;
mod event;
mod facet;
mod parent;
mod settings;
mod sink;
mod yaml_settings;

pub use dataset_name::DatasetName;
pub use event::{EventType, LineageInput, LineageRun, PRODUCER, SCHEMA_URL};
pub use parent::{LineageName, LineageParent};
pub use settings::{LineageSettings, Variables};
pub use sink::{LineageSink, RequestLimits};
