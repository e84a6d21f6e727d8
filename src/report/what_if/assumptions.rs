//! Settings as texts, and which of them differ between both sides.

use std::collections::BTreeSet;

use super::side::FairshareSide;
use crate::config::fairshare_plan::{DecayMode, UsageBasis};
use crate::config::fairshare_spec::{ALGORITHMS, RECORDED_BILLING, RESETS};
use crate::fairshare::priority::PriorityWeights;
use crate::fairshare::{ChainedDecay, UsageDecay};
use crate::reference::decimal;
use crate::report::shares::table::listed_text;
use crate::share_history::changed_shares::ChangedShares;
use crate::time::instant::instant_text_s;

/// Decimals of a usage factor.
const FACTOR_DECIMALS: u32 = 9;
/// What stands where nothing is stated.
const NONE: &str = "none";

/// Something that is assumed to be other than it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumption {
    /// The key of the file of a what-if that states it.
    pub what: String,
    /// As it is.
    pub before: String,
    /// As it is assumed.
    pub after: String,
}

/// What differs between the rules of both sides, in the order of the keys of `[[fairshare]]`.
pub(super) fn of_rules(before: &FairshareSide, after: &FairshareSide) -> Vec<Assumption> {
    let pairs = settings(before).into_iter().zip(settings(after));
    let mut assumptions: Vec<Assumption> = pairs
        .map(|(before, after)| Assumption {
            what: before.key.to_owned(),
            before: before.text,
            after: after.text,
        })
        .collect();
    let qos: BTreeSet<&String> = (before.context.settings.factors_e9.keys())
        .chain(after.context.settings.factors_e9.keys())
        .collect();
    for qos in qos {
        let text = |of: &FairshareSide| decimal::text(of.context.settings.factor_e9(Some(qos)), FACTOR_DECIMALS);
        assumptions.push(Assumption {
            what: format!("usage_factors.{qos}"),
            before: text(before),
            after: text(after),
        });
    }
    differing(assumptions)
}

/// Shares that differ.
pub(super) fn of_shares(changed: &[ChangedShares]) -> Vec<Assumption> {
    let of = |changed: &ChangedShares| Assumption {
        what: format!("shares.{}", changed.name),
        before: listed_text(changed.before),
        after: listed_text(changed.after),
    };
    changed.iter().map(of).collect()
}

/// Weights of priorities that differ, but for that of fairshare.
pub(super) fn of_weights(before: &PriorityWeights, after: &PriorityWeights) -> Vec<Assumption> {
    let weights = |of: &PriorityWeights| {
        [
            ("age", of.age),
            ("association", of.association),
            ("job_size", of.job_size),
            ("partition", of.partition),
            ("qos", of.qos),
        ]
    };
    let pairs = weights(before).into_iter().zip(weights(after));
    differing(pairs.map(|((name, before), (_, after))| Assumption {
        what: format!("priority_weights.{name}"),
        before: before.to_string(),
        after: after.to_string(),
    }))
}

fn differing(assumptions: impl IntoIterator<Item = Assumption>) -> Vec<Assumption> {
    let all = assumptions.into_iter();
    all.filter(|assumption| assumption.before != assumption.after).collect()
}

/// One setting.
struct SettingText {
    key: &'static str,
    text: String,
}

/// All settings of a side, in a fixed order.
fn settings(side: &FairshareSide) -> Vec<SettingText> {
    let (plan, settings) = (&side.context.plan, &side.context.settings);
    let (half_life_s, period_s) = match settings.rule.decay {
        UsageDecay::Chained(ChainedDecay::None) => (None, None),
        UsageDecay::Chained(ChainedDecay::Continuous(half_life)) | UsageDecay::HalvingSteps(half_life) => {
            (Some(half_life.seconds()), None)
        }
        UsageDecay::Chained(ChainedDecay::Steps(steps)) => (Some(steps.half_life().seconds()), Some(steps.period_s())),
    };
    let period_s = period_s.or(plan.calc_period_s.map(i64::from));
    let or_none = |seconds: Option<i64>| seconds.map_or_else(|| NONE.to_owned(), duration_text);
    let usage = match (&settings.tariff, &settings.usage) {
        (Some(tariff), _) => format!(
            "{} of {}",
            with_options(&tariff.policy.name(), &tariff.chosen),
            tariff.policy.file
        ),
        (None, UsageBasis::RecordedBilling) => RECORDED_BILLING.to_owned(),
        (None, UsageBasis::Policy { policy, options }) => with_options(policy, options),
    };
    let anchor = plan.calc_anchor_s.map_or_else(
        || NONE.to_owned(),
        |anchor_s| instant_text_s(anchor_s).unwrap_or_else(|| anchor_s.to_string()),
    );
    let weight = settings
        .priority_weight
        .map_or_else(|| NONE.to_owned(), |weight| weight.to_string());
    let of = |key, text| SettingText { key, text };
    vec![
        of("usage", usage),
        of("decay", word(DecayMode::WORDS, plan.decay)),
        of("half_life", or_none(half_life_s)),
        of("calc_period", or_none(period_s)),
        of("calc_anchor", anchor),
        of("reset", word(RESETS, settings.rule.reset)),
        of("algorithm", word(ALGORITHMS, settings.method.algorithm)),
        of("dampening_factor", settings.method.dampening_factor.to_string()),
        of("priority_weight", weight),
    ]
}

fn with_options(policy: &str, options: &str) -> String {
    if options.is_empty() {
        return policy.to_owned();
    }
    format!("{policy} [{options}]")
}

/// The word of a value.
fn word<T: Copy + PartialEq>(words: &[(&str, T)], value: T) -> String {
    let found = words.iter().find(|(_, known)| *known == value);
    found.map_or_else(String::new, |(word, _)| (*word).to_owned())
}

/// Seconds as `D-HH:MM:SS`.
fn duration_text(seconds: i64) -> String {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let clock = format!("{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60);
    if days == 0 { clock } else { format!("{days}-{clock}") }
}
