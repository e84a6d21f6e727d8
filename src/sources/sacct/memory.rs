//! Sizes and counts with unit letters, powers of 1024.

use crate::sources::decimal;

/// Per what an old `ReqMem` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Per {
    /// The whole job (Slurm 21.08 and later).
    Job,
    /// One CPU: suffix `c`.
    Cpu,
    /// One node: suffix `n`.
    Node,
}

/// Bytes in the unit of `ReqMem` and of `mem=` in TRES strings.
pub(super) const MIB: i64 = 1 << 20;

/// `text` in base units times `base`. `Ok(None)` is a size without a meaning (`16?`, as 15.08 printed, or a stand-in), and one that
/// `--units` rounded to nothing (`0.00T`): Slurm prints what is nothing without a fraction.
pub(super) fn parse(text: &[u8], base: i64) -> Result<Option<(i64, Per)>, ()> {
    if let Some(value) = short(text, base) {
        return Ok(Some((value, Per::Job)));
    }
    let (text, per) = match text {
        [head @ .., b'c'] => (head, Per::Cpu),
        [head @ .., b'n'] => (head, Per::Node),
        all => (all, Per::Job),
    };
    let (digits, unit) = match text {
        [head @ .., last] if !last.is_ascii_digit() => (head, Some(*last)),
        all => (all, None),
    };
    let power = match unit.map(|u| u.to_ascii_uppercase()) {
        None => None,
        Some(b'B') => Some(0),
        Some(b'K') => Some(10),
        Some(b'M') => Some(20),
        Some(b'G') => Some(30),
        Some(b'T') => Some(40),
        Some(b'P') => Some(50),
        Some(b'E') => Some(60),
        Some(b'?') => return decimal(digits).map(|_| None),
        Some(_) => return Err(()),
    };
    let (whole, fraction, scale) = decimal(digits)?;
    // Stand-ins of 64 bits are sizes no machine has, whatever their unit; those of 32 bits are only without one.
    let is_stand_in =
        whole >= i128::from(u64::MAX - 1) || unit.is_none() && matches!(whole, 4_294_967_294 | 4_294_967_295);
    if scale == 1 && is_stand_in {
        return Ok(None);
    }
    if (whole, fraction) == (0, 0) && scale > 1 {
        return Ok(None);
    }
    let factor = power.map_or(i128::from(base), |power| 1_i128 << power);
    let value = whole
        .checked_mul(factor)
        .and_then(|whole| Some(whole + (fraction.checked_mul(factor)? + scale / 2) / scale))
        .ok_or(())?;
    Ok(Some((i64::try_from(value).map_err(|_| ())?, per)))
}

/// Up to nine digits, perhaps with K, M or G: nearly every size there is.
fn short(text: &[u8], base: i64) -> Option<i64> {
    let (digits, factor) = match text {
        [digits @ .., b'K'] => (digits, 1 << 10),
        [digits @ .., b'M'] => (digits, 1 << 20),
        [digits @ .., b'G'] => (digits, 1 << 30),
        digits => (digits, base),
    };
    decimal::digits::<9>(digits)?.checked_mul(factor)
}

/// Whole part, fraction digits as a number, and the power of ten they count.
fn decimal(text: &[u8]) -> Result<(i128, i128, i128), ()> {
    let dot = text.iter().position(|&b| b == b'.');
    let (whole, fraction) = match dot {
        Some(dot) => (text.get(..dot).ok_or(())?, text.get(dot + 1..).ok_or(())?),
        None => (text, &[][..]),
    };
    if dot.is_some() && fraction.is_empty() || fraction.len() > 9 {
        return Err(());
    }
    let whole = i128::from(super::scalar::unsigned(whole).ok_or(())?);
    let mut value = 0_i128;
    let mut scale = 1_i128;
    for &byte in fraction {
        if !byte.is_ascii_digit() {
            return Err(());
        }
        value = value * 10 + i128::from(byte - b'0');
        scale *= 10;
    }
    Ok((whole, value, scale))
}
