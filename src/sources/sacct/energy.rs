//! Energy of a job, joules: `ConsumedEnergyRaw`, `energy` in `AllocTRES`, `ConsumedEnergy`.
//!
//! All three print one figure, the TRES `energy` of the job; the first two exactly, the last with prefixes of a thousand and
//! rounded to two decimals. Steps are not added up: `.batch`, `.extern` and the steps of `srun` read the counters of the same
//! nodes over the same time. Slurm prints 0 where no plugin measures, and leaves 2^64 - 2 of a job that did not end; 32-bit
//! stand-ins come from releases before 17.11. A figure that cannot be read refuses no job.

use crate::numbers::Part;
use crate::record::energy::{Energy, EnergyReading};

/// Stand-ins of 64 and 32 bits: "no value" and "infinite".
const STAND_INS: [u64; 4] = [u64::MAX - 1, u64::MAX, 4_294_967_294, 4_294_967_295];

/// The joules a job states, or why its figure is none; `None` where it states nothing.
pub(super) type Stated = Option<Result<u64, EnergyReading>>;

/// The joules of a text.
pub(super) fn joule(text: &[u8]) -> Stated {
    match text {
        b"" => None,
        b"-1" | b"-2" => Some(Err(EnergyReading::NotSet)),
        _ => match prefixed(text) {
            None => Some(Err(EnergyReading::Unreadable)),
            Some(joule) => Some(whole(joule)),
        },
    }
}

/// Joules, unless they are a stand-in.
pub(super) fn whole(joule: u64) -> Result<u64, EnergyReading> {
    if STAND_INS.contains(&joule) {
        Err(EnergyReading::NotSet)
    } else {
        Ok(joule)
    }
}

/// The energy of a job of so many nodes, which held them for so long (milliseconds).
pub(super) fn of_job(stated: Stated, node_n: Option<i64>, held_ms: Option<i64>) -> Option<Energy> {
    Some(match stated? {
        Ok(joule) => Energy::stated(joule, node_n, held_ms),
        Err(reading) => Energy::unknown(reading),
    })
}

/// A number with at most nine decimals and a prefix of a thousand, rounded to a whole.
fn prefixed(text: &[u8]) -> Option<u64> {
    let (number, power) = match text {
        [number @ .., prefix] if prefix.is_ascii_alphabetic() => {
            let power = b"KMGTPE"
                .iter()
                .position(|known| *known == prefix.to_ascii_uppercase())?;
            (number, 3 * (power + 1))
        }
        number => (number, 0),
    };
    let (whole, decimals) = match memchr::memchr(b'.', number) {
        Some(dot) => (number.part(..dot), number.part(dot + 1..)),
        None => (number, &b""[..]),
    };
    if whole.is_empty() || decimals.len() > 9 {
        return None;
    }
    let mut digits = 0_u128;
    for digit in whole.iter().chain(decimals) {
        if !digit.is_ascii_digit() {
            return None;
        }
        digits = digits.checked_mul(10)?.checked_add(u128::from(digit - b'0'))?;
    }
    // Fallback: never taken, a power is 18 at most and decimals are nine.
    let [power, decimals] = [power, decimals.len()].map(|n| u32::try_from(n).ok());
    let scaled = digits.checked_mul(10_u128.pow(power?))?;
    let divisor = 10_u128.pow(decimals?);
    u64::try_from((scaled + divisor / 2) / divisor).ok()
}
