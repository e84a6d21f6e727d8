//! Another rule of fairshare than the pipeline states, as options of reports.

use crate::config::fairshare_change::FairshareChange;
use crate::config::fairshare_plan::{DecayMode, HalfLifeSetting};
use crate::config::fairshare_spec::{ALGORITHMS, duration_s};
use crate::fairshare::FairshareAlgorithm;
use crate::time::instant::parse_instant_s;

/// Another rule.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::cli) struct FairshareRuleArgs {
    /// Another half-life: D-HH:MM:SS or none.
    #[arg(long, value_name = "DURATION", value_parser = half_life)]
    half_life: Option<HalfLifeSetting>,

    /// Another decay: slurm-steps, continuous or halving-steps.
    #[arg(long, value_name = "WORD", value_parser = decay)]
    decay: Option<DecayMode>,

    /// Another algorithm: fair-tree, fair-tree-merged-ties, classic or depth-oblivious.
    #[arg(long, value_name = "WORD", value_parser = algorithm)]
    algorithm: Option<FairshareAlgorithm>,
}

impl FairshareRuleArgs {
    /// Whether any is stated.
    pub(super) fn is_any(&self) -> bool {
        self.half_life.is_some() || self.decay.is_some() || self.algorithm.is_some()
    }

    /// Adds what is stated to what a file states; the options count.
    pub(in crate::cli) fn add_to(&self, change: &mut FairshareChange) {
        change.half_life = self.half_life.or(change.half_life);
        change.decay = self.decay.or(change.decay);
        change.algorithm = self.algorithm.or(change.algorithm);
    }
}

/// An instant of UTC.
pub(super) fn instant(text: &str) -> Result<i64, String> {
    parse_instant_s(text).ok_or_else(|| "not an instant such as 2026-11-21T03:20:00Z".to_owned())
}

/// A factor that recovery is computed to.
pub(super) fn threshold(text: &str) -> Result<f64, String> {
    let factor: Option<f64> = text.parse().ok();
    factor
        .filter(|factor| *factor > 0.0 && *factor <= 1.0)
        .ok_or_else(|| "not a factor above 0 and at most 1, such as 0.5".to_owned())
}

fn half_life(text: &str) -> Result<HalfLifeSetting, String> {
    if text == "none" {
        return Ok(HalfLifeSetting::None);
    }
    let seconds = duration_s(text).map(HalfLifeSetting::Seconds);
    seconds.ok_or_else(|| "not a duration such as 7-00:00:00 (D-HH:MM:SS), or none".to_owned())
}

fn decay(text: &str) -> Result<DecayMode, String> {
    word(DecayMode::WORDS, text)
}

fn algorithm(text: &str) -> Result<FairshareAlgorithm, String> {
    word(ALGORITHMS, text)
}

fn word<T: Copy>(words: &[(&str, T)], text: &str) -> Result<T, String> {
    let found = words.iter().find(|(word, _)| *word == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        format!("one of {}", names.join(", "))
    })
}
