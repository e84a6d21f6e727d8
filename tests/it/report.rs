//! Reports of a lake in the formats of their readers.

mod apel;
mod balance;
mod browser;
mod check;
mod completeness;
mod corrected;
mod credit;
pub(crate) mod every;
mod federation;
mod left_out;
mod money;
mod names;
mod portals;
mod publication;
mod reconcile;
mod restated;
mod retraction;
mod scene;
mod server;
mod server_golden;
mod shown;
mod site;
mod site_case;
mod site_quality;
mod site_without_grid;
mod sreport;
mod stored;
