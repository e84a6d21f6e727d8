//! Amounts cut into parts that add up to them.

use super::rule::{PartShare, RemainderPlace};

/// Billionths of a unit, by digits after the point that parts may have.
const DIGITS: u32 = 9;

/// Cuts an amount into as many parts as there are weights (days of the periods). Each part is rounded down to `digits`
/// places after the point; what remains goes where the rule states. The parts add up to the amount, whatever its sign.
pub(super) fn split(
    amount_e9: i128,
    days: &[i128],
    share: PartShare,
    digits: u32,
    place: RemainderPlace,
) -> Option<Vec<i128>> {
    let weights: Vec<i128> = match share {
        PartShare::Equal => vec![1; days.len()],
        PartShare::ByDays => days.to_vec(),
    };
    let all: i128 = weights.iter().sum();
    if all <= 0 {
        return None;
    }
    let step = 10_i128.checked_pow(DIGITS.checked_sub(digits)?)?;
    let (sign, amount) = (amount_e9.signum(), amount_e9.checked_abs()?);
    let mut parts = Vec::with_capacity(weights.len());
    for weight in &weights {
        let exact = (amount / all).checked_mul(*weight)?;
        let exact = exact.checked_add((amount % all).checked_mul(*weight)?.checked_div(all)?)?;
        parts.push(exact - exact % step);
    }
    let mut rest = amount - parts.iter().sum::<i128>();
    match place {
        RemainderPlace::First => add(parts.first_mut(), rest),
        RemainderPlace::Last => add(parts.last_mut(), rest),
        RemainderPlace::Spread => {
            // One step to each of the first parts; what is less than a step goes to the last.
            for part in &mut parts {
                if rest < step {
                    break;
                }
                *part += step;
                rest -= step;
            }
            add(parts.last_mut(), rest);
        }
    }
    for part in &mut parts {
        *part *= sign;
    }
    Some(parts)
}

fn add(part: Option<&mut i128>, rest: i128) {
    if let Some(part) = part {
        *part += rest;
    }
}
