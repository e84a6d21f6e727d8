//! Time limits on nodes that scale their times.

use crate::numbers::Extent;
use crate::reference::ratio::Ratio;

/// Seconds of `H:MM`, `H:MM:SS`, or a number with `h`, `m` or `s`.
///
/// # Errors
/// A sentence for people.
pub fn parse(text: &str) -> Result<i64, String> {
    let wrong = || format!("\"{text}\" is not a time limit such as 48:00:00 or 48h");
    let number = |part: &str| part.parse::<i64>().ok().filter(|n| (0..1_000_000_000).contains(n));
    let seconds = if let Some((rest, unit)) = text.split_at_checked(text.len().less(1))
        && let Some(each) = [("h", 3600), ("m", 60), ("s", 1)]
            .iter()
            .find(|(word, _)| *word == unit)
    {
        number(rest).ok_or_else(wrong)? * each.1
    } else {
        let parts: Vec<&str> = text.split(':').collect();
        let parts: Option<Vec<i64>> = parts.into_iter().map(number).collect();
        match parts.as_deref() {
            Some([hours, minutes]) if *minutes < 60 => hours * 3600 + minutes * 60,
            Some([hours, minutes, seconds]) if *minutes < 60 && *seconds < 60 => hours * 3600 + minutes * 60 + seconds,
            _ => return Err(wrong()),
        }
    };
    if seconds == 0 { Err(wrong()) } else { Ok(seconds) }
}

/// What a limit comes to on a node that scales its times: the limit over the factor, in whole seconds, rounded half up.
#[must_use]
pub fn effective_s(limit_s: i64, scaling_factor: Ratio) -> Option<i64> {
    let limit = Ratio::new(i128::from(limit_s), 1)?;
    i64::try_from(limit.over(scaling_factor)?.scaled(0)).ok()
}

/// The shortest wall limit under which a CPU limit can be reached where slots share CPUs: slots per CPU times as long.
/// Jobs that wait for data need a margin beyond it.
#[must_use]
pub fn least_wall_s(cpu_limit_s: i64, slot_n: i64, logical_cpu_n: i64) -> Option<i64> {
    let slots_per_cpu = Ratio::new(i128::from(slot_n.max(logical_cpu_n)), i128::from(logical_cpu_n))?;
    i64::try_from(Ratio::new(i128::from(cpu_limit_s), 1)?.times(slots_per_cpu).scaled(0)).ok()
}

/// `H:MM:SS`.
#[must_use]
pub fn text(seconds: i64) -> String {
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}
