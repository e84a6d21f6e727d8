//! Whole numbers and exit codes.

/// Slurm's stand-ins for "no value" and "infinite" in 32 and 64 bits.
const SENTINELS: [u64; 4] = [4_294_967_294, 4_294_967_295, u64::MAX - 1, u64::MAX];

/// A whole number as `sacct` prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Int {
    /// A value.
    Value(i64),
    /// One of Slurm's stand-ins, or a negative number where none can be: unknown.
    Dropped,
}

/// Decimal digits, perhaps negative. `None` when `text` is not a number or does not fit.
pub(super) fn int(text: &[u8]) -> Option<Int> {
    if let Some(digits) = text.strip_prefix(b"-") {
        return unsigned(digits).map(|_| Int::Dropped);
    }
    let value = unsigned(text)?;
    if SENTINELS.contains(&value) {
        return Some(Int::Dropped);
    }
    i64::try_from(value).ok().map(Int::Value)
}

/// Decimal digits only.
pub(super) fn unsigned(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 20 {
        return None;
    }
    let mut value = 0_u64;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// `rc:signal`.
pub(super) fn exit(text: &[u8]) -> Option<(i64, i64)> {
    let colon = text.iter().position(|&b| b == b':')?;
    let code = i64::try_from(unsigned(text.get(..colon)?)?).ok()?;
    let signal = i64::try_from(unsigned(text.get(colon + 1..)?)?).ok()?;
    Some((code, signal))
}
