//! Energy and carbon of usage, row by row of `usage`, under the keys that charges have as well.

use super::energy_sums::{EnergyColumns, EnergySums};
use super::lake::{Lake, Selection};
use super::usage_key::{OWN_VIEW, UsageKey};
use crate::error::Result;
use crate::schema::batch::{date, int, number, text, word};
use crate::store::lake::parse_usage_path;
use crate::time::{Day, Month};

/// What is limited to complete months where the pipeline does not set `grain = "day"`.
const ENERGY: &str = "energy (whose pipeline has no grain = \"day\")";

/// A row of `usage` of the view `batch`, with its energy.
#[derive(Clone, Debug)]
pub struct UsageEnergy {
    /// Site.
    pub site: String,
    /// VO.
    pub vo: Option<String>,
    /// Account that pays.
    pub account: Option<String>,
    /// Cluster.
    pub cluster: Option<String>,
    /// Month, in the lake's zone.
    pub month: Month,
    /// Day, at day grain.
    pub day: Option<Day>,
    /// The signed correction it is an entry of.
    pub correction_id: Option<String>,
    /// Name of the pipeline's source.
    pub source: Option<String>,
    /// Partition.
    pub partition: Option<String>,
    /// Quality of service.
    pub qos: Option<String>,
    /// Core milliseconds, exact.
    pub alloc_core_ms: i128,
    /// Energy and carbon.
    pub energy: EnergySums,
}

impl UsageEnergy {
    /// Its key.
    #[must_use]
    pub fn key(&self) -> UsageKey<'_> {
        UsageKey {
            site: &self.site,
            vo: self.vo.as_deref(),
            account: self.account.as_deref(),
            cluster: self.cluster.as_deref(),
            month: self.month,
            day: self.day,
            correction: self.correction_id.as_deref(),
            source: self.source.as_deref(),
            partition: self.partition.as_deref(),
            qos: self.qos.as_deref(),
        }
    }
}

/// The usage of a selection with its energy; nothing, and nothing is read, where the lake has no tables of energy.
///
/// # Errors
/// [`crate::error::Kind::Io`] when it cannot be read; [`crate::error::Kind::Usage`] when days are requested and usage is by month.
pub fn read(lake: &Lake, selection: &Selection) -> Result<Vec<UsageEnergy>> {
    let mut rows = Vec::new();
    if lake.manifest.dataset("energy_table").next().is_none() {
        return Ok(rows);
    }
    for file in lake.manifest.dataset("usage") {
        let Some((site, vo, _)) = parse_usage_path(&file.path) else {
            continue;
        };
        if !selection.has_site(&site) || !selection.has_vo(vo.as_deref()) {
            continue;
        }
        for batch in lake.batches(&file.path, None)? {
            let batch = batch?;
            let (month, day, view) = (date(&batch, "month")?, date(&batch, "day")?, text(&batch, "view")?);
            let words = |name| text(&batch, name);
            let (account, cluster, source) = (words("account")?, words("cluster")?, words("source")?);
            let (partition, qos, correction) = (words("partition")?, words("qos")?, words("correction_id")?);
            let cores = int(&batch, "alloc_core_s")?;
            let core_fractions = int(&batch, "alloc_core_fraction_ms")?;
            let energy = EnergyColumns::of(&batch)?;
            for row in 0..batch.num_rows() {
                if word(view, row) != Some(OWN_VIEW) {
                    continue;
                }
                let day = number(day, row);
                let Some(month) = selection.month_of(month.value(row), day, ENERGY)? else {
                    continue;
                };
                let own = |words| word(words, row).map(str::to_owned);
                rows.push(UsageEnergy {
                    site: site.clone(),
                    vo: vo.clone(),
                    account: own(account),
                    cluster: own(cluster),
                    month,
                    day,
                    correction_id: own(correction),
                    source: own(source),
                    partition: own(partition),
                    qos: own(qos),
                    alloc_core_ms: i128::from(cores.value(row)) * 1000 + i128::from(core_fractions.value(row)),
                    energy: energy.sums(row),
                });
            }
        }
    }
    Ok(rows)
}
