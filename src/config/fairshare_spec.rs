//! `[[fairshare]]` as it is written, and what it means.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU16;
use std::sync::Arc;

use toml::de::DeValue;

use super::compiler::Compiler;
use super::daemon_run_spec::{self, DaemonRunSpec};
use super::dated_usage_spec::{self, DatedUsageSpec};
use super::fairshare_plan::{DecayMode, FairsharePlan, HalfLifeSetting, UsageBasis};
use crate::charge::Tariff;
use crate::diagnostics::Problems;
use crate::diagnostics::section::{At, Section, kind};
use crate::fairshare::{FairshareAlgorithm, ParentlessAccounts, TieRule, UsageReset};
use crate::reference::decimal::scaled;
use crate::time::DAY_MS;

/// Keys of `[[fairshare]]`.
const KEYS: &[&str] = &[
    "site",
    "cluster",
    "listing",
    "usage",
    "dated_usage",
    "decay",
    "half_life",
    "calc_period",
    "calc_anchor",
    "daemon_runs",
    "reset",
    "algorithm",
    "dampening_factor",
    "accounts_without_parent",
    "priority_weight",
    "usage_factors",
];

/// The word for the billing that the batch system recorded.
pub(crate) const RECORDED_BILLING: &str = "recorded-billing";
/// Seconds of a day.
const DAY_S: i64 = DAY_MS / 1000;
/// Decimals of a usage factor.
const FACTOR_DECIMALS: u32 = 9;

/// The words of `algorithm`.
pub(crate) const ALGORITHMS: &[(&str, FairshareAlgorithm)] = &[
    ("fair-tree", FairshareAlgorithm::FairTree { ties: TieRule::AsCode }),
    (
        "fair-tree-merged-ties",
        FairshareAlgorithm::FairTree {
            ties: TieRule::AsDocumented,
        },
    ),
    ("classic", FairshareAlgorithm::Classic),
    ("depth-oblivious", FairshareAlgorithm::DepthOblivious),
];

/// The words of `accounts_without_parent`.
pub(crate) const PARENTLESS: &[(&str, ParentlessAccounts)] = &[
    ("refuse", ParentlessAccounts::OnlyRoot),
    ("under-root", ParentlessAccounts::UnderRoot),
];

/// The words of `reset`.
pub(crate) const RESETS: &[(&str, UsageReset)] = &[
    ("none", UsageReset::None),
    ("daily", UsageReset::Daily),
    ("weekly", UsageReset::Weekly),
    ("monthly", UsageReset::Monthly),
    ("quarterly", UsageReset::Quarterly),
    ("yearly", UsageReset::Yearly),
];

/// `[[fairshare]]`
#[derive(Debug)]
pub struct FairshareSpec {
    line: usize,
    site: Option<At<String>>,
    cluster: Option<At<String>>,
    listing: Option<At<String>>,
    usage: Option<At<String>>,
    dated_usage: Vec<DatedUsageSpec>,
    decay: Option<At<DecayMode>>,
    half_life: Option<At<String>>,
    calc_period: Option<At<String>>,
    calc_anchor: Option<At<String>>,
    daemon_runs: Vec<DaemonRunSpec>,
    reset: Option<At<UsageReset>>,
    algorithm: Option<At<FairshareAlgorithm>>,
    dampening_factor: Option<NonZeroU16>,
    parentless: Option<At<ParentlessAccounts>>,
    priority_weight: Option<u32>,
    usage_factors_e9: BTreeMap<String, i64>,
}

/// Reads every `[[fairshare]]`.
pub(crate) fn read(top: &Section<'_>, problems: &mut Problems) -> Vec<FairshareSpec> {
    let sections = top.sections("fairshare", "[[fairshare]]", KEYS, problems);
    let specs = sections.iter().map(|section| FairshareSpec {
        line: section.line(),
        site: section.required_text("site", "the site of the cluster", problems),
        cluster: section.required_text("cluster", "the cluster, as its jobs name it", problems),
        listing: section.required_text("listing", "the [[inventory]] that lists the associations", problems),
        usage: section.required_text(
            "usage",
            "what jobs are counted by: \"recorded-billing\" or the id of a policy of a [[charge]]",
            problems,
        ),
        dated_usage: dated_usage_spec::read(section, problems),
        decay: section.word("decay", DecayMode::WORDS, problems),
        half_life: section.text("half_life", problems),
        calc_period: section.text("calc_period", problems),
        calc_anchor: section.text("calc_anchor", problems),
        daemon_runs: daemon_run_spec::read(section, problems),
        reset: section.word("reset", RESETS, problems),
        algorithm: section.word("algorithm", ALGORITHMS, problems),
        dampening_factor: dampening_factor(section, problems),
        parentless: section.word("accounts_without_parent", PARENTLESS, problems),
        priority_weight: whole(section, "priority_weight", problems),
        usage_factors_e9: usage_factors(section, problems),
    });
    specs.collect()
}

/// A whole number of the type's range.
pub(super) fn whole<T: TryFrom<i64>>(section: &Section<'_>, key: &str, problems: &mut Problems) -> Option<T> {
    let (value, line) = section.get(key)?;
    let number = match value {
        DeValue::Integer(number) => i64::from_str_radix(&number.as_str().replace('_', ""), number.radix())
            .ok()
            .and_then(|number| T::try_from(number).ok()),
        _ => None,
    };
    if number.is_none() {
        section.wrong(
            line,
            format!("{key} must be a whole number in its range, such as 1"),
            problems,
        );
    }
    number
}

pub(super) fn dampening_factor(section: &Section<'_>, problems: &mut Problems) -> Option<NonZeroU16> {
    let factor = NonZeroU16::new(whole(section, "dampening_factor", problems)?);
    if factor.is_none() {
        section.wrong(section.line(), "dampening_factor must be at least 1", problems);
    }
    factor
}

pub(super) fn usage_factors(section: &Section<'_>, problems: &mut Problems) -> BTreeMap<String, i64> {
    let mut factors = BTreeMap::new();
    let stated = section.free_section("usage_factors", "usage_factors", problems);
    for (qos, value, line) in stated.iter().flat_map(Section::entries) {
        let text = match value {
            DeValue::Integer(number) => number.as_str().to_owned(),
            DeValue::Float(number) => number.as_str().to_owned(),
            DeValue::String(text) => text.to_string(),
            other => kind(other).to_owned(),
        };
        let factor_e9 = scaled(&text, FACTOR_DECIMALS)
            .and_then(|factor_e9| i64::try_from(factor_e9).map_err(|_| format!("{text} is too large")));
        match factor_e9 {
            Ok(factor_e9) => {
                factors.insert(qos.to_owned(), factor_e9);
            }
            Err(why) => section.wrong(line, format!("usage_factors: {qos}: {why}"), problems),
        }
    }
    factors
}

/// Seconds of `D-HH:MM:SS` or `HH:MM:SS`, as Slurm prints durations; a bare number has no unit and is none.
pub(crate) fn duration_s(text: &str) -> Option<u32> {
    let (days, clock) = text.split_once('-').unwrap_or(("0", text));
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.len() <= 5 && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse::<i64>().ok()).flatten()
    };
    let parts: Vec<i64> = clock.split(':').map(number).collect::<Option<_>>()?;
    let [hours, minutes, seconds] = parts.as_slice() else {
        return None;
    };
    let total_s = number(days)? * DAY_S + hours * 3600 + minutes * 60 + seconds;
    u32::try_from(total_s).ok().filter(|total_s| *total_s > 0)
}

/// Seconds of a unit that counts something for so long: `core_hour`, `billing_second`.
pub(crate) fn seconds_of_unit(unit: &str) -> Option<i128> {
    const UNITS: [(&str, i128); 3] = [("_second", 1), ("_minute", 60), ("_hour", 3600)];
    let found = UNITS.iter().find(|(suffix, _)| unit.ends_with(suffix));
    found.map(|(_, seconds)| *seconds)
}

impl Compiler {
    /// Fairshare of every cluster that has one. `inventories` are the names of those of the pipeline, `tariffs` what it
    /// charges by.
    pub(crate) fn fairshare(
        &mut self,
        specs: Vec<FairshareSpec>,
        inventories: &BTreeSet<String>,
        tariffs: &[Arc<Tariff>],
    ) -> Vec<FairsharePlan> {
        let mut plans: Vec<FairsharePlan> = Vec::new();
        for spec in specs {
            let line = spec.line;
            let Some(plan) = self.fairshare_of_cluster(spec, inventories, tariffs) else {
                continue;
            };
            if plans
                .iter()
                .any(|other| (&other.site, &other.cluster) == (&plan.site, &plan.cluster))
            {
                self.wrong(
                    line,
                    format!("two [[fairshare]] are of {} at {}", plan.cluster, plan.site),
                );
            }
            plans.push(plan);
        }
        plans.sort_by(|a, b| (&a.site, &a.cluster).cmp(&(&b.site, &b.cluster)));
        plans
    }

    fn fairshare_of_cluster(
        &mut self,
        spec: FairshareSpec,
        inventories: &BTreeSet<String>,
        tariffs: &[Arc<Tariff>],
    ) -> Option<FairsharePlan> {
        let line = spec.line;
        let decay = spec.decay.map_or(DecayMode::SlurmSteps, |at| at.value);
        let half_life = self.half_life(spec.half_life.as_ref(), decay)?;
        let calc_period_s = match &spec.calc_period {
            Some(text) => Some(self.duration("calc_period", text)?),
            None => None,
        };
        let calc_anchor_s = match &spec.calc_anchor {
            Some(text) => Some(self.anchor_s(text)?),
            None => None,
        };
        let daemon_runs = self.daemon_runs(&spec.daemon_runs)?;
        if decay != DecayMode::SlurmSteps && !daemon_runs.is_empty() {
            let message = "daemon_runs states when Slurm calculates, which only decay = \"slurm-steps\" follows";
            self.wrong(line, message);
        }
        let listing = spec.listing?;
        if !inventories.contains(&listing.value) {
            self.wrong(
                listing.line,
                format!("listing = \"{}\" is not the name of an [[inventory]]", listing.value),
            );
        }
        let usage = self.usage_basis(&spec.usage?, tariffs)?;
        let dated_usage = self.dated_usage(&spec.dated_usage, tariffs)?;
        Some(FairsharePlan {
            site: spec.site?.value,
            cluster: spec.cluster?.value,
            listing: listing.value,
            usage,
            dated_usage,
            decay,
            half_life,
            calc_period_s,
            calc_anchor_s,
            daemon_runs,
            reset: spec.reset.map_or(UsageReset::None, |at| at.value),
            algorithm: spec
                .algorithm
                .map_or(FairshareAlgorithm::FairTree { ties: TieRule::AsCode }, |at| at.value),
            // Fallback: without the key usage is not dampened, a factor of 1.
            dampening_factor: spec.dampening_factor.unwrap_or(NonZeroU16::MIN),
            parentless: spec.parentless.map_or(ParentlessAccounts::OnlyRoot, |at| at.value),
            priority_weight: spec.priority_weight,
            usage_factors_e9: spec.usage_factors_e9,
        })
    }

    /// What jobs are counted by: the recorded billing, or a policy by its id, with its options in brackets where several
    /// have that id.
    pub(super) fn usage_basis(&mut self, named: &At<String>, tariffs: &[Arc<Tariff>]) -> Option<UsageBasis> {
        if named.value == RECORDED_BILLING {
            return Some(UsageBasis::RecordedBilling);
        }
        let full = |tariff: &Tariff| format!("{}[{}]", tariff.policy.id, tariff.chosen);
        let is_named = |tariff: &&Arc<Tariff>| tariff.policy.id == named.value || full(tariff) == named.value;
        let found: BTreeMap<String, &Arc<Tariff>> = (tariffs.iter().filter(is_named))
            .map(|tariff| (full(tariff), tariff))
            .collect();
        let tariff = match (found.len(), found.values().next()) {
            (1, Some(tariff)) => *tariff,
            (0, _) | (_, None) => {
                let message = format!(
                    "usage = \"{}\" is neither \"{RECORDED_BILLING}\" nor the id of a policy that a [[charge]] names",
                    named.value
                );
                self.wrong(named.line, message);
                return None;
            }
            _ => {
                let all: Vec<String> = found.into_keys().collect();
                let message = format!("usage = \"{}\" may be any of {}", named.value, all.join(", "));
                self.wrong(named.line, message);
                return None;
            }
        };
        if seconds_of_unit(&tariff.policy.unit).is_none() {
            let message = format!(
                "usage = \"{}\" counts in {}, which is no amount for a time: fairshare needs a unit such as billing_second or \
                 core_hour",
                named.value, tariff.policy.unit
            );
            self.wrong(named.line, message);
        }
        Some(UsageBasis::Policy {
            policy: tariff.policy.id.clone(),
            options: tariff.chosen.clone(),
        })
    }

    fn half_life(&mut self, text: Option<&At<String>>, decay: DecayMode) -> Option<HalfLifeSetting> {
        let Some(text) = text else {
            return Some(HalfLifeSetting::Listed);
        };
        if text.value == "none" {
            return Some(HalfLifeSetting::None);
        }
        let seconds = self.duration("half_life", text)?;
        if decay == DecayMode::HalvingSteps && i64::from(seconds) % DAY_S != 0 {
            let message =
                "decay = \"halving-steps\" counts by whole days: half_life must be days, such as \"7-00:00:00\"";
            self.wrong(text.line, message);
        }
        Some(HalfLifeSetting::Seconds(seconds))
    }

    pub(super) fn anchor_s(&mut self, text: &At<String>) -> Option<i64> {
        self.instant_s("calc_anchor", text)
    }

    pub(super) fn duration(&mut self, key: &str, text: &At<String>) -> Option<u32> {
        let seconds = duration_s(&text.value);
        if seconds.is_none() {
            let message = format!(
                "{key} = \"{}\" is not a duration such as \"7-00:00:00\" or \"00:05:00\" (D-HH:MM:SS); a bare number has \
                 no unit: slurm.conf counts it in minutes",
                text.value
            );
            self.wrong(text.line, message);
        }
        seconds
    }
}
