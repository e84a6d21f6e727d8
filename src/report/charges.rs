//! Published charges for reports, under one policy at a time: two policies are two views of the same jobs.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::Array;

use super::lake::{Lake, Selection};
use super::usage_key::UsageKey;
use crate::amounts::{add, too_large};
pub use crate::charge::charged_tariff::BalanceTariff;
use crate::charge::charged_tariff::names;
use crate::charge::charged_view::is_counted;
use crate::charge::policy::Subject;
use crate::error::{Error, Kind, Result};
use crate::schema::batch::{addend, date, decimal, int, number, text, word};
use crate::store::lake::parse_usage_path;
use crate::time::{Day, Month};

/// The reports that are limited to complete months where the pipeline does not set `grain = "day"`.
const CHARGES: &str = "charges (whose pipeline has no grain = \"day\", or that corrections make)";

/// One row of `charges`, without the columns that no report uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountCharge {
    /// Site.
    pub site: String,
    /// VO.
    pub vo: Option<String>,
    /// Month, in the lake's zone.
    pub month: Month,
    /// Day, at day grain.
    pub day: Option<Day>,
    /// Under what.
    pub tariff: BalanceTariff,
    /// Version of the policy.
    pub version: String,
    /// Cluster.
    pub cluster: Option<String>,
    /// Account that pays.
    pub account: Option<String>,
    /// Name of the pipeline's source.
    pub source: Option<String>,
    /// Partition.
    pub partition: Option<String>,
    /// Quality of service.
    pub qos: Option<String>,
    /// Whether jobs are charged for, and not what is reserved or stored.
    pub is_of_jobs: bool,
    /// The signed correction it is an entry of; `None` for usage as recorded.
    pub correction_id: Option<String>,
    /// Jobs charged that ended in the period.
    pub job_n: i64,
    /// Jobs whose charge is unknown that ended in the period.
    pub unpriced_job_n: i64,
    /// Core milliseconds of these jobs, exact: whole core seconds and what they leave.
    pub alloc_core_ms: i128,
    /// GPU seconds of these jobs; the lake keeps whole ones.
    pub alloc_gpu_s: i64,
    /// The charge, in units of 10^-9 of the tariff's; `None` when it is unknown, which it is of all of the row then.
    pub charge_e9: Option<i128>,
}

impl AccountCharge {
    /// What it is distinguished by as the usage that is charged.
    #[must_use]
    pub fn usage_key(&self) -> UsageKey<'_> {
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

/// The version of `charges` since which what has no charge is in rows of its own.
const APART_SINCE: u32 = 5;

/// Refuses sums of `dataset` that a version before `since` added up, where jobs have no charge: their sums would seem complete.
///
/// # Errors
/// [`Kind::Data`] for such sums; [`Kind::Io`] when the lake cannot be read.
pub(super) fn refuse_mixed(lake: &Lake, dataset: &str, since: u32) -> Result<()> {
    if lake.manifest.dataset(dataset).all(|file| file.schema_version >= since) {
        return Ok(());
    }
    for file in lake.manifest.dataset("job_charges") {
        for batch in lake.batches(&file.path, Some(&["charge"]))? {
            if decimal(&batch?, "charge")?.null_count() > 0 {
                let message = "some charges of this lake are unknown, and its sums, which an earlier version added up, leave them out: a run of \
                               this version adds them up again";
                return Err(Error::new(Kind::Data, message).at("lake", lake.store.url()));
            }
        }
    }
    Ok(())
}

/// The charges of a selection, under every tariff: of jobs in the view `batch` alone, and of windows of reservations.
///
/// # Errors
/// [`Kind::NoInput`] when the lake has no charges; [`Kind::Io`] when it cannot be read; [`Kind::Usage`] when days are requested
/// and charges are by month; [`Kind::Data`] when their sum is too large, or an earlier version left out unknown ones.
pub fn read(lake: &Lake, selection: &Selection) -> Result<Vec<AccountCharge>> {
    if lake.manifest.dataset("charges").next().is_none() {
        let message = "the lake has no charges: its pipeline needs [[charge]]";
        return Err(Error::new(Kind::NoInput, message).at("lake", lake.store.url()));
    }
    refuse_mixed(lake, "charges", APART_SINCE)?;
    let (mut charged, mut bound) = (Vec::new(), ChargeBound::default());
    for file in lake.manifest.dataset("charges") {
        let Some((site, vo, _)) = parse_usage_path(&file.path) else {
            continue;
        };
        if !selection.has_site(&site) || !selection.has_vo(vo.as_deref()) {
            continue;
        }
        for batch in lake.batches(&file.path, None)? {
            let batch = batch?;
            let (month, day) = (date(&batch, "month")?, date(&batch, "day")?);
            let words = |name| text(&batch, name);
            let (pool, policy, version) = (words("pool")?, words("policy")?, words("policy_version")?);
            let (options, unit, view) = (words("options")?, words("unit")?, words("view")?);
            let (cluster, account) = (words("cluster")?, words("account")?);
            let (source, partition, qos) = (words("source")?, words("partition")?, words("qos")?);
            let subject = words("subject")?;
            let correction = words("correction_id")?;
            let (jobs, unpriced) = (int(&batch, "job_n")?, int(&batch, "unpriced_job_n")?);
            let (cores, gpus) = (int(&batch, "alloc_core_s")?, int(&batch, "alloc_gpu_s")?);
            let core_fractions = int(&batch, "alloc_core_fraction_ms")?;
            let charge = decimal(&batch, "charge")?;
            for row in 0..batch.num_rows() {
                bound.take(jobs.value(row), unpriced.value(row), number(charge, row))?;
                if !is_counted(subject.value(row), view.value(row)) {
                    continue;
                }
                let Some(month) = selection.month_of(month.value(row), number(day, row), CHARGES)? else {
                    continue;
                };
                charged.push(AccountCharge {
                    site: site.clone(),
                    vo: vo.clone(),
                    month,
                    day: number(day, row),
                    tariff: BalanceTariff {
                        pool: pool.value(row).to_owned(),
                        policy: policy.value(row).to_owned(),
                        options: options.value(row).to_owned(),
                        unit: unit.value(row).to_owned(),
                    },
                    version: version.value(row).to_owned(),
                    cluster: word(cluster, row).map(str::to_owned),
                    account: word(account, row).map(str::to_owned),
                    source: word(source, row).map(str::to_owned),
                    partition: word(partition, row).map(str::to_owned),
                    qos: word(qos, row).map(str::to_owned),
                    is_of_jobs: subject.value(row) == Subject::Jobs.as_str(),
                    correction_id: word(correction, row).map(str::to_owned),
                    job_n: jobs.value(row),
                    unpriced_job_n: unpriced.value(row),
                    alloc_core_ms: i128::from(cores.value(row)) * 1000 + i128::from(core_fractions.value(row)),
                    alloc_gpu_s: gpus.value(row),
                    charge_e9: number(charge, row),
                });
            }
        }
    }
    Ok(charged)
}

/// The sizes of all rows together, whatever their sign: within them every sum of some of the rows is exact.
#[derive(Default)]
struct ChargeBound {
    job_n: i64,
    unpriced_job_n: i64,
    charge_e9: i128,
}

impl ChargeBound {
    fn take(&mut self, job_n: i64, unpriced_job_n: i64, charge_e9: Option<i128>) -> Result<()> {
        let size = |n: i64, what| n.checked_abs().ok_or_else(|| too_large(what));
        add(&mut self.job_n, size(job_n, "job_n")?, "job_n")?;
        add(
            &mut self.unpriced_job_n,
            size(unpriced_job_n, "unpriced_job_n")?,
            "unpriced_job_n",
        )?;
        add(&mut self.charge_e9, addend(charge_e9).abs(), "charge")
    }
}

/// Everything the lake charges by, whether it charged anything or not.
///
/// # Errors
/// [`Kind::Io`] when the lake cannot be read.
pub fn tariffs(lake: &Lake) -> Result<BTreeSet<BalanceTariff>> {
    let mut tariffs = BTreeSet::new();
    for file in lake.manifest.dataset("policy") {
        for batch in lake.batches(&file.path, Some(&["id", "options", "pool", "unit"]))? {
            let batch = batch?;
            let (ids, options) = (text(&batch, "id")?, text(&batch, "options")?);
            let (pools, units) = (text(&batch, "pool")?, text(&batch, "unit")?);
            tariffs.extend((0..batch.num_rows()).map(|row| BalanceTariff {
                pool: pools.value(row).to_owned(),
                policy: ids.value(row).to_owned(),
                options: options.value(row).to_owned(),
                unit: units.value(row).to_owned(),
            }));
        }
    }
    Ok(tariffs)
}

/// Everything that charges are, or may be, under: what the lake charges by, and what it once charged by.
///
/// # Errors
/// As [`tariffs`].
pub fn known_tariffs(lake: &Lake, charged: &[AccountCharge]) -> Result<BTreeSet<BalanceTariff>> {
    let mut all = tariffs(lake)?;
    all.extend(charged.iter().map(|row| row.tariff.clone()));
    Ok(all)
}

/// Refuses the name of a policy that nothing is charged under, whether anything was in a period or not.
///
/// # Errors
/// [`Kind::Usage`] naming all of them.
pub fn refuse_unknown(known: &BTreeSet<BalanceTariff>, asked: &[String]) -> Result<()> {
    let is_unknown = |word: &&String| !known.iter().any(|tariff| tariff.is_called(word));
    asked.iter().find(is_unknown).map_or(Ok(()), |word| {
        let message = format!("nothing is charged under {word:?}; there is {}", names(known));
        Err(Error::new(Kind::Usage, message))
    })
}

/// The charges under the requested tariffs, or under the only one of jobs and the only one of reservations; none where nothing was
/// charged under them. Jobs and reservations may draw on one pool: who charges windows does not charge the jobs inside. Versions of
/// one policy that charge in different units charge each job once.
///
/// # Errors
/// [`Kind::Usage`] when charges of one pool would be reported twice; the message names all of them.
pub fn choose(charged: Vec<AccountCharge>, asked: &[String]) -> Result<Vec<AccountCharge>> {
    let all: BTreeSet<(BalanceTariff, bool)> = (charged.iter())
        .map(|row| (row.tariff.clone(), row.is_of_jobs))
        .collect();
    let is_several = |of_jobs: bool| {
        let mut own = all.iter().filter(|(_, is_of_jobs)| *is_of_jobs == of_jobs);
        let first = own.next();
        first.is_some_and(|(first, _)| own.any(|(other, _)| !other.differs_in_unit(first)))
    };
    if asked.is_empty() && (is_several(true) || is_several(false)) {
        let message = format!(
            "charges under several policies are views of the same jobs: select one by --policy: {}",
            names(all.iter().map(|(tariff, _)| tariff))
        );
        return Err(Error::new(Kind::Usage, message));
    }
    let is_chosen = |tariff: &BalanceTariff| asked.is_empty() || asked.iter().any(|word| tariff.is_called(word));
    let mut pools: BTreeMap<(&str, bool), &BalanceTariff> = BTreeMap::new();
    for (tariff, is_of_jobs) in all.iter().filter(|(tariff, _)| is_chosen(tariff)) {
        let first = *pools.entry((&tariff.pool, *is_of_jobs)).or_insert(tariff);
        if first != tariff && !first.differs_in_unit(tariff) {
            let same = all.iter().filter(|(_, of_jobs)| of_jobs == is_of_jobs);
            let same = same.map(|(other, _)| other);
            let same = same.filter(|other| is_chosen(other) && other.pool == tariff.pool);
            let message = format!("one pool would be charged twice: choose one of {}", names(same));
            return Err(Error::new(Kind::Usage, message));
        }
    }
    Ok(charged.into_iter().filter(|row| is_chosen(&row.tariff)).collect())
}
