//! Splitting a whole into parts that add up to it.

/// Shares of `total` in proportion to `weights`, exactly: floors first, then one unit each to the largest remainders,
/// ties to the earliest. With no weight at all the last part takes everything.
///
/// ```text
///        period 1      |        period 2        |  period 3
///              [start .......................... end)
/// weights      <--w1-->|<---------w2----------->|w3
/// ```
pub fn apportion(total: i64, weights: &[i64], shares: &mut Vec<i64>) {
    shares.clear();
    if let [_] = weights {
        // Nearly every job is in one period.
        shares.push(total);
        return;
    }
    let sum: i128 = weights.iter().map(|w| i128::from(*w)).sum();
    if sum <= 0 {
        shares.resize(weights.len(), 0);
        if let Some(last) = shares.last_mut() {
            *last = total;
        }
        return;
    }
    let share = |weight: i64| i128::from(total) * i128::from(weight);
    shares.extend(
        weights
            .iter()
            // Fallback: never taken, a part of a whole of 64 bits fits them: no weight is larger than their sum.
            .map(|w| i64::try_from(share(*w).div_euclid(sum)).unwrap_or(i64::MAX)),
    );
    let mut left = total - shares.iter().sum::<i64>();
    if left > 0 {
        let mut order: Vec<usize> = (0..weights.len()).collect();
        let remainder = |at: &usize| weights.get(*at).map_or(0, |w| share(*w).rem_euclid(sum));
        order.sort_by_key(|at| (std::cmp::Reverse(remainder(at)), *at));
        for at in order {
            if left == 0 {
                break;
            }
            if let Some(share) = shares.get_mut(at) {
                *share += 1;
                left -= 1;
            }
        }
    }
}

/// The share of a part. There is one for each weight that was given to [`apportion`] or [`apportion_wide`].
#[inline]
#[must_use]
pub(super) fn share_of<N: Copy + Default>(shares: &[N], part: usize) -> N {
    // Fallback: never taken, whoever splits over pieces takes the shares of these pieces.
    shares.get(part).copied().unwrap_or_default()
}

/// The same of a decimal; `None` when it is too large to be split.
#[must_use]
pub fn apportion_wide(total: i128, weights: &[i64]) -> Option<Vec<i128>> {
    let sum: i128 = weights.iter().map(|weight| i128::from(*weight)).sum();
    if sum <= 0 {
        let last = weights.len().checked_sub(1)?;
        return Some(
            (0..weights.len())
                .map(|at| if at == last { total } else { 0 })
                .collect(),
        );
    }
    let parts: Option<Vec<(i128, i128)>> = weights
        .iter()
        .map(|weight| {
            let part = total.checked_mul(i128::from(*weight))?;
            Some((part.div_euclid(sum), part.rem_euclid(sum)))
        })
        .collect();
    let parts = parts?;
    let mut shares: Vec<i128> = parts.iter().map(|(share, _)| *share).collect();
    let left = usize::try_from(total - shares.iter().sum::<i128>()).ok()?;
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(parts.get(*at).map(|(_, rest)| *rest)), *at));
    for at in order.into_iter().take(left) {
        if let Some(share) = shares.get_mut(at) {
            *share += 1;
        }
    }
    Some(shares)
}
