//! One ratio, or another half-life, for all associations.

use super::facts::{AmountPair, DriftFacts, billing_s};
use crate::error::Result;
use crate::fairshare::decay_steps::DecaySteps;
use crate::fairshare::{ChainedDecay, HalfLife, UsageDecay, UsageRule};

/// The longest half-life that is tried: ten years.
const LONGEST_S: u32 = 315_360_000;
/// The shortest: a minute.
const SHORTEST_S: u32 = 60;
/// A day, an hour and a minute: a half-life is stated in the largest of them that fits.
const UNITS_S: [u32; 3] = [86_400, 3600, 60];
/// The longest time without decay that a ratio is compared with: a day. Slurm saves usage every five minutes.
const LONGEST_NOT_AGED_S: u32 = 86_400;
/// Associations that a rule needs: one alone fits any ratio and any half-life.
const FEWEST: usize = 2;

/// The words about a factor that explains all of `pairs`, if one does.
pub(super) fn factor_of_all(facts: &DriftFacts<'_>, pairs: &[AmountPair]) -> Result<Option<String>> {
    let used: Vec<AmountPair> = pairs.iter().copied().filter(|pair| pair.has_usage()).collect();
    if used.len() < FEWEST || used.iter().all(|pair| pair.agrees()) {
        return Ok(None);
    }
    let mut words = Vec::new();
    if let Some(ratio) = common_ratio(&used) {
        words.push(format!(
            "the scheduler counts {ratio:.3} times the computed usage in all {} associations with usage",
            used.len()
        ));
        if let Some(seconds) = not_aged_s(facts.rule, ratio) {
            words.push(format!(
                "{seconds:.0} seconds without decay, as after a daemon that was killed, are as much"
            ));
        }
    }
    if let Some(half_life) = half_life_of_all(facts, &used)? {
        words.push(format!("{half_life} explains it"));
    }
    Ok((!words.is_empty()).then(|| words.join("; ")))
}

/// The ratio that all pairs have within their tolerances, if it is another one than 1.
fn common_ratio(pairs: &[AmountPair]) -> Option<f64> {
    let (mut lowest, mut highest) = (0.0_f64, f64::INFINITY);
    for pair in pairs {
        if pair.computed <= pair.tolerance || pair.stated <= pair.tolerance {
            return None;
        }
        lowest = lowest.max((pair.stated - pair.tolerance) / pair.computed);
        highest = highest.min((pair.stated + pair.tolerance) / pair.computed);
    }
    let is_one = lowest <= 1.0 && 1.0 <= highest;
    (lowest <= highest && !is_one).then(|| f64::midpoint(lowest, highest))
}

/// For how many seconds Slurm would not have aged usage, if that made a ratio; `None` where it makes none, or usage does not decay in
/// its steps.
fn not_aged_s(rule: &UsageRule, ratio: f64) -> Option<f64> {
    let UsageDecay::Chained(ChainedDecay::Steps(steps)) = rule.decay else {
        return None;
    };
    // f to the power of as many seconds is the reciprocal of the ratio.
    let seconds = (-libm::log(ratio) / steps.ln_factor()).round();
    (1.0..=f64::from(LONGEST_NOT_AGED_S))
        .contains(&seconds)
        .then_some(seconds)
}

/// What explains all pairs, in words: no decay, or a half-life.
fn half_life_of_all(facts: &DriftFacts<'_>, pairs: &[AmountPair]) -> Result<Option<String>> {
    let stated: f64 = pairs.iter().map(|pair| pair.stated).sum();
    if explains(facts, pairs, UsageDecay::NONE)? {
        let decays = facts.rule.decay != UsageDecay::NONE;
        return Ok(decays.then(|| "usage without decay".to_owned()));
    }
    let (mut low, mut high) = (SHORTEST_S, LONGEST_S);
    while low < high {
        let middle = low + (high - low) / 2;
        let Some(decay) = with_half_life(facts.rule, middle) else {
            return Ok(None);
        };
        let mut total = 0.0;
        for pair in pairs {
            total += computed(facts, pair, decay)?;
        }
        if total < stated {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for unit_s in UNITS_S {
        let rounded = (low + unit_s / 2) / unit_s * unit_s;
        let Some(decay) = with_half_life(facts.rule, rounded) else {
            continue;
        };
        if decay != facts.rule.decay && explains(facts, pairs, decay)? {
            return Ok(Some(format!("a half-life of {}", duration(rounded))));
        }
    }
    Ok(None)
}

/// Seconds as D-HH:MM:SS.
fn duration(seconds: u32) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    format!("{days}-{:02}:{:02}:{:02}", rest / 3600, rest % 3600 / 60, rest % 60)
}

/// The decay of a rule with another half-life; `None` where it has none to replace.
fn with_half_life(rule: &UsageRule, half_life_s: u32) -> Option<UsageDecay> {
    let half_life = HalfLife::of_seconds(half_life_s)?;
    match rule.decay {
        UsageDecay::Chained(ChainedDecay::Steps(steps)) => Some(UsageDecay::steps(steps.with_half_life(half_life))),
        UsageDecay::Chained(ChainedDecay::Continuous(_)) => Some(UsageDecay::continuous(half_life)),
        UsageDecay::Chained(ChainedDecay::None) => {
            DecaySteps::new(half_life, DecaySteps::DEFAULT_PERIOD_S, 0).map(UsageDecay::steps)
        }
        UsageDecay::HalvingSteps(_) => None,
    }
}

fn explains(facts: &DriftFacts<'_>, pairs: &[AmountPair], decay: UsageDecay) -> Result<bool> {
    for pair in pairs {
        let computed = computed(facts, pair, decay)?;
        if !facts.pair(pair.id, pair.stated, computed).agrees() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The usage of an association under another decay, billing seconds.
fn computed(facts: &DriftFacts<'_>, pair: &AmountPair, decay: UsageDecay) -> Result<f64> {
    let rule = UsageRule {
        decay,
        ..facts.rule.clone()
    };
    let mut sum = 0_i128;
    for segment in facts.segments(pair.id) {
        sum += rule.usage_e6(segment, facts.at_s)?;
    }
    Ok(billing_s(sum))
}
