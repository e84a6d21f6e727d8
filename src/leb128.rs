//! Numbers in as few bytes as they need: seven bits a byte, the lowest first, and the highest bit marks that more follow
//! (LEB128, as Parquet writes the lengths of its runs).

use std::ops::{BitAnd, Shr};

/// Appends a number that is not below zero.
pub(crate) fn write<N>(mut number: N, into: &mut Vec<u8>)
where
    N: Copy + PartialEq + From<u8> + TryInto<u8> + BitAnd<Output = N> + Shr<u32, Output = N>,
{
    loop {
        // Fallback: never taken, seven bits fit a byte of eight.
        let low = (number & N::from(0x7f)).try_into().unwrap_or(0);
        number = number >> 7;
        if number == N::from(0) {
            return into.push(low);
        }
        into.push(low | 0x80);
    }
}

/// Takes a number from the beginning; `None` when it does not end.
pub(crate) fn read(bytes: &mut &[u8]) -> Option<u128> {
    let mut number = 0;
    for shift in (0..u128::BITS).step_by(7) {
        let byte = *bytes.split_off_first()?;
        number |= u128::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}
