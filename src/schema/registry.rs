//! The datasets, parsed once from the files compiled into the program.

use std::sync::LazyLock;

use super::dataset::Dataset;
use crate::error::{Error, Result};
use crate::numbers::Part;

/// Those of a lake.
const LAKE: &[&str] = &[
    include_str!("../../schemas/usage.toml"),
    include_str!("../../schemas/charges.toml"),
    include_str!("../../schemas/overhead.toml"),
    include_str!("../../schemas/overhead_histogram.toml"),
    include_str!("../../schemas/overhead_queue.toml"),
    include_str!("../../schemas/overhead_shape.toml"),
    include_str!("../../schemas/overhead_finding.toml"),
    include_str!("../../schemas/node_energy.toml"),
    include_str!("../../schemas/fairshare.toml"),
    include_str!("../../schemas/records.toml"),
    include_str!("../../schemas/history.toml"),
    include_str!("../../schemas/summary.toml"),
    include_str!("../../schemas/summary_history.toml"),
    include_str!("../../schemas/rejects.toml"),
    include_str!("../../schemas/repairs.toml"),
    include_str!("../../schemas/ledger.toml"),
    include_str!("../../schemas/inputs.toml"),
    include_str!("../../schemas/usage_part.toml"),
    include_str!("../../schemas/charge_part.toml"),
    include_str!("../../schemas/job_charges.toml"),
    include_str!("../../schemas/policy.toml"),
    include_str!("../../schemas/energy_table.toml"),
    include_str!("../../schemas/capacity.toml"),
    include_str!("../../schemas/awards.toml"),
    include_str!("../../schemas/award_entry.toml"),
    include_str!("../../schemas/award_use.toml"),
    include_str!("../../schemas/award_part.toml"),
    include_str!("../../schemas/corrections.toml"),
    include_str!("../../schemas/runs.toml"),
    include_str!("../../schemas/publication.toml"),
    include_str!("../../schemas/publication_job.toml"),
    include_str!("../../schemas/month_lock.toml"),
    include_str!("../../schemas/node.toml"),
    include_str!("../../schemas/node_event.toml"),
    include_str!("../../schemas/partition.toml"),
    include_str!("../../schemas/billing_weight.toml"),
    include_str!("../../schemas/association.toml"),
    include_str!("../../schemas/reservation.toml"),
    include_str!("../../schemas/qos.toml"),
    include_str!("../../schemas/share.toml"),
    include_str!("../../schemas/scheduler_setting.toml"),
    include_str!("../../schemas/queued_job.toml"),
];

/// Those that commands write elsewhere.
const OTHERS: &[&str] = &[include_str!("../../schemas/simulate.toml")];

static DATASETS: LazyLock<Result<Vec<Dataset>>> =
    LazyLock::new(|| LAKE.iter().chain(OTHERS).map(|text| Dataset::parse(text)).collect());

/// Every dataset, the headline first, and those that are no part of a lake last.
///
/// # Errors
/// [`crate::error::Kind::Internal`] when a compiled-in schema file is wrong.
pub fn datasets() -> Result<&'static [Dataset]> {
    match &*DATASETS {
        Ok(all) => Ok(all),
        Err(e) => Err(Error::internal(e.to_string())),
    }
}

/// The datasets of a lake, the headline first.
///
/// # Errors
/// As [`datasets`].
pub fn lake_datasets() -> Result<&'static [Dataset]> {
    Ok(datasets()?.part(..LAKE.len()))
}

/// The datasets that listings of the machine fill: a folder for each source, a file for each listing. None where a
/// schema file is wrong, which is reported to every caller.
pub fn listing_datasets() -> impl Iterator<Item = &'static Dataset> {
    let all = datasets().into_iter().flatten();
    all.filter(|dataset| {
        dataset
            .partition
            .iter()
            .map(|column| column.name.as_str())
            .eq(["source"])
    })
}

/// The dataset called `name`.
///
/// # Errors
/// [`crate::error::Kind::Usage`] naming the datasets there are.
pub fn dataset(name: &str) -> Result<&'static Dataset> {
    let all = datasets()?;
    all.iter().find(|d| d.name == name).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|d| d.name.as_str()).collect();
        Error::new(
            crate::error::Kind::Usage,
            format!("there is no dataset {name:?}; there are {}", names.join(", ")),
        )
    })
}
