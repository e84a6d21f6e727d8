//! What usage counts for and how factors are made of it: the pipeline, completed by listings of settings and QOS.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::files::ClusterFiles;
use super::listed::newest;
use crate::charge::Tariff;
use crate::config::fairshare_plan::{DatedUsage, DecayMode, FairsharePlan, HalfLifeSetting, UsageBasis};
use crate::error::{Error, Result};
use crate::fairshare::float::to_integer;
use crate::fairshare::usage::UsageRule;
use crate::fairshare::{
    CalculationTimes, ChainedDecay, DaemonRun, DaemonRuns, DecaySteps, FairshareMethod, HalfLife, UsageDecay,
};
use crate::schema::batch::{decimal, int, number};
use crate::store::Store;
use crate::time::Zone;

/// Rules of this room; a change of what is published for equal inputs is another version.
const VERSION: &str = "5";
/// A usage factor of one, 10^-9.
pub(crate) const ONE_E9: i128 = 1_000_000_000;
/// What a usage factor of a listing is to be multiplied by: its column has six decimals.
const E6_TO_E9: i128 = 1_000;
/// Seconds of a day, which halving steps count by.
const DAY_S: i64 = 86_400;
/// Rows read at once.
pub(crate) const READ_ROWS: usize = 16_384;

/// What is known of when the scheduler calculates priorities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calculations {
    /// One instant is stated: all are known.
    Known(CalculationTimes),
    /// No instant is stated: whole periods from 1970 on are assumed.
    Assumed(CalculationTimes),
    /// Usage does not follow the calculations of a scheduler.
    None,
}

impl Calculations {
    /// Of a period and a stated instant.
    fn of(period_s: u32, anchor_s: Option<i64>) -> Option<Self> {
        match anchor_s {
            Some(anchor_s) => CalculationTimes::new(period_s, anchor_s).map(Self::Known),
            None => CalculationTimes::new(period_s, 0).map(Self::Assumed),
        }
    }

    /// The instants, where they are known.
    #[must_use]
    pub fn known(self) -> Option<CalculationTimes> {
        match self {
            Self::Known(times) => Some(times),
            Self::Assumed(_) | Self::None => None,
        }
    }
}

/// Settings that can run.
#[derive(Clone, Debug)]
pub struct FairshareSettings {
    /// Site.
    pub site: String,
    /// Cluster.
    pub cluster: String,
    /// What jobs are counted by.
    pub(crate) usage: UsageBasis,
    /// Times in which they are counted by something else.
    pub(crate) dated_usage: Vec<DatedUsage>,
    /// A policy that jobs are priced under now, in place of what `usage` names.
    pub(crate) tariff: Option<Arc<Tariff>>,
    /// Decay and resets.
    pub rule: UsageRule,
    /// When the scheduler calculates.
    pub calculations: Calculations,
    /// The algorithm.
    pub method: FairshareMethod,
    /// Priority points of a factor of one.
    pub priority_weight: Option<u32>,
    /// Usage factor by QOS, 10^-9; of others it is one.
    pub(crate) factors_e9: BTreeMap<String, i128>,
}

/// What of the pipeline decides the dataset.
pub(crate) fn fingerprint(of: &FairsharePlan, zone: &Zone) -> String {
    // Days do not follow the runs of a daemon.
    let of_days = FairsharePlan {
        daemon_runs: Vec::new(),
        ..of.clone()
    };
    let text = format!("{VERSION} {} {of_days:?}", zone.name());
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

impl FairshareSettings {
    /// Whether jobs are counted by the billing that the batch system recorded, which is a whole number.
    #[must_use]
    pub fn is_recorded_billing(&self) -> bool {
        self.tariff.is_none() && self.usage == UsageBasis::RecordedBilling
    }

    /// Completes what the pipeline states.
    ///
    /// # Errors
    /// [`crate::error::Kind::Config`] when neither pipeline nor listing states the half-life, or halving steps cannot count by
    /// the listed one; [`crate::error::Kind::Io`] when a listing cannot be read.
    pub fn resolve(of: &FairsharePlan, zone: &Zone, store: &Store, files: &ClusterFiles) -> Result<Self> {
        let listed = newest(store, &files.settings, of, "setting", |batch, row| {
            Ok(number(int(batch, "value_s")?, row))
        })?;
        let period_s = of
            .calc_period_s
            .map(i64::from)
            .or_else(|| seconds(&listed, "PriorityCalcPeriod"));
        let half_life = half_life(of, &listed)?;
        let period_s = match period_s {
            Some(period_s) => u32::try_from(period_s).ok(),
            None => Some(CalculationTimes::DEFAULT_PERIOD_S),
        };
        let calculations = match of.decay {
            // Fallback: a period of zero is refused below where usage decays in its steps.
            DecayMode::SlurmSteps => period_s
                .and_then(|period_s| Calculations::of(period_s, of.calc_anchor_s))
                .unwrap_or(Calculations::None),
            DecayMode::Continuous | DecayMode::HalvingSteps => Calculations::None,
        };
        let decay = match (half_life, of.decay, calculations) {
            (None, ..) => UsageDecay::NONE,
            (Some(half_life), DecayMode::Continuous, _) => UsageDecay::continuous(half_life),
            (Some(half_life), DecayMode::HalvingSteps, _) if half_life.seconds() % DAY_S == 0 => {
                UsageDecay::HalvingSteps(half_life)
            }
            (Some(half_life), DecayMode::HalvingSteps, _) => {
                return Err(Error::config(format!(
                    "halving steps count by whole days, and the listed half-life is {} seconds: state half_life in [[fairshare]], \
                     such as \"7-00:00:00\"",
                    half_life.seconds()
                )));
            }
            (Some(half_life), _, Calculations::Known(times) | Calculations::Assumed(times)) => {
                UsageDecay::steps(DecaySteps::at(half_life, times))
            }
            (Some(_), DecayMode::SlurmSteps, Calculations::None) => {
                let message = "the listed PriorityCalcPeriod is not a period: state calc_period in [[fairshare]]";
                return Err(Error::config(message));
            }
        };
        let mut factors_e9 = newest(store, &files.qos, of, "qos", |batch, row| {
            let factors = decimal(batch, "usage_factor")?;
            Ok(number(factors, row).map(|factor_e6| factor_e6 * E6_TO_E9))
        })?;
        factors_e9.extend(
            of.usage_factors_e9
                .iter()
                .map(|(qos, factor)| (qos.clone(), Some(i128::from(*factor)))),
        );
        let stated = factors_e9.into_iter();
        Ok(Self {
            site: of.site.clone(),
            cluster: of.cluster.clone(),
            usage: of.usage.clone(),
            dated_usage: of.dated_usage.clone(),
            tariff: None,
            rule: UsageRule {
                decay,
                reset: of.reset,
                zone: zone.clone(),
                calculations: calculations.known(),
                runs: None,
            },
            calculations,
            method: FairshareMethod {
                algorithm: of.algorithm,
                dampening_factor: of.dampening_factor,
            },
            priority_weight: of.priority_weight,
            factors_e9: stated.filter_map(|(qos, factor)| Some((qos, factor?))).collect(),
        })
    }

    /// The same, with the calculations of the runs of a daemon, in order and without contradiction. Runs of which one start alone
    /// is known are one grid of calculations, also before it.
    pub(crate) fn with_runs(mut self, runs: &[DaemonRun]) -> Self {
        let (Some(last), Calculations::Known(times) | Calculations::Assumed(times)) = (runs.last(), self.calculations)
        else {
            return self;
        };
        let before = match (self.calculations, runs.first()) {
            (Calculations::Assumed(_), Some(first)) => times.anchored_at(first.calculated_s),
            _ => times,
        };
        let times = times.anchored_at(last.calculated_s);
        let is_one_grid = runs.len() == 1 && last.end.is_none() && before == times;
        self.rule.runs = DaemonRuns::new(before, runs).filter(|_| !is_one_grid).map(Arc::new);
        self.calculations = Calculations::Known(times);
        self.rule.calculations = Some(times);
        if let UsageDecay::Chained(ChainedDecay::Steps(steps)) = self.rule.decay {
            self.rule.decay = UsageDecay::steps(DecaySteps::at(steps.half_life(), times));
        }
        self
    }

    /// How many times in which jobs are counted by something else had begun at an instant; none where one policy prices all jobs.
    #[must_use]
    pub fn dated_usage_n(&self, at_s: i64) -> usize {
        let begun = self.dated_usage.iter().filter(|dated| dated.span.start_s <= at_s);
        if self.tariff.is_none() { begun.count() } else { 0 }
    }

    /// What of it decides the dataset: an unchanged one was resolved from listings that state the same.
    pub(crate) fn fingerprint(&self) -> String {
        let text = format!(
            "{VERSION} {:?} {:?} {:?} {:?} {:?} {} {:?} {:?} {:?}",
            self.usage,
            self.dated_usage,
            self.rule.decay,
            self.rule.calculations,
            self.rule.reset,
            self.rule.zone.name(),
            self.method,
            self.priority_weight,
            self.factors_e9
        );
        blake3::hash(text.as_bytes()).to_hex().to_string()
    }

    /// Whether jobs count for the same usage under other settings.
    pub(crate) fn counts_like(&self, other: &Self) -> bool {
        let is_recorded = self.tariff.is_none() && other.tariff.is_none();
        is_recorded
            && self.usage == other.usage
            && self.dated_usage == other.dated_usage
            && self.rule.decay == other.rule.decay
            && self.rule.calculations == other.rule.calculations
            && self.rule.runs == other.rule.runs
            && self.rule.reset == other.rule.reset
            && self.factors_e9 == other.factors_e9
    }

    /// Priority points of a factor, whole: what is behind the point is cut off, as Slurm does.
    ///
    /// # Errors
    /// [`crate::error::Kind::Data`] when they do not fit.
    pub(crate) fn priority_points(&self, factor: Option<f64>) -> Result<Option<i64>> {
        let Some((weight, factor)) = self.priority_weight.zip(factor) else {
            return Ok(None);
        };
        let points = to_integer((f64::from(weight) * factor).floor())?;
        let fits = i64::try_from(points);
        fits.map(Some)
            .map_err(|_| Error::internal("priority points beyond their weight"))
    }

    /// The usage factor of a job.
    pub(crate) fn factor_e9(&self, qos: Option<&str>) -> i128 {
        let stated = qos.and_then(|qos| self.factors_e9.get(qos));
        // Slurm's default, also of jobs without a QOS.
        stated.copied().unwrap_or(ONE_E9)
    }
}

fn seconds(listed: &BTreeMap<String, Option<i64>>, name: &str) -> Option<i64> {
    let named = listed.iter().find(|(setting, _)| setting.eq_ignore_ascii_case(name));
    named.and_then(|(_, value_s)| *value_s)
}

fn half_life(of: &FairsharePlan, listed: &BTreeMap<String, Option<i64>>) -> Result<Option<HalfLife>> {
    const NAME: &str = "PriorityDecayHalfLife";
    let seconds = match of.half_life {
        HalfLifeSetting::None => return Ok(None),
        HalfLifeSetting::Seconds(seconds) => Some(seconds),
        HalfLifeSetting::Listed => match seconds(listed, NAME) {
            Some(0) => return Ok(None),
            seconds => seconds.and_then(|seconds| u32::try_from(seconds).ok()),
        },
    };
    let half_life = seconds.and_then(HalfLife::of_seconds);
    half_life.map(Some).ok_or_else(|| {
        let message = format!(
            "the half-life of usage is unknown: state half_life in [[fairshare]] (such as \"7-00:00:00\", or \"none\"), or add \
             an [[inventory]] of scontrol show config or slurm.conf, which contains {NAME}"
        );
        Error::config(message)
    })
}
