//! Parquet's hybrid of runs and packed groups, in which codes, flags and the places of nulls are written.
//!
//! A run is a value and how often it comes; what does not repeat is packed, eight values at a time, lowest bits first.

use arrow_buffer::BooleanBuffer;

use crate::leb128;
use crate::numbers::{Part, count_u64, index};

/// Values that are packed together.
const GROUP: usize = 8;
/// Codes of so many bits are packed a group at once.
const SHORT_BITS: u32 = 16;
/// So many groups of equal flags are worth a run of their own.
const RUN_GROUPS: usize = 3;

/// Appends `codes`, none of which needs more than `width` bits.
pub(super) fn codes(codes: &[u32], width: u32, into: &mut Vec<u8>) {
    // Of what is not written yet; `at` is whole groups behind it.
    let mut rest = codes;
    let mut at = 0;
    while let Some((code, others)) = rest.get(at..).and_then(<[u32]>::split_first) {
        let run = 1 + others.iter().take_while(|other| *other == code).count();
        if run >= GROUP || at + run == rest.len() {
            // Fallback: never taken, a run begins within its flags.
            let (before, from) = rest.split_at_checked(at).unwrap_or_default();
            packed(before, width, into);
            repeated(*code, run, width, into);
            rest = from.part(run..);
            at = 0;
        } else {
            at += GROUP;
        }
    }
    packed(rest, width, into);
}

/// Appends one code so many times.
pub(super) fn alike(code: u32, rows: usize, width: u32, into: &mut Vec<u8>) {
    if rows > 0 {
        repeated(code, rows, width, into);
    }
}

/// Appends `flags` as codes of one bit.
pub(super) fn flags(flags: &BooleanBuffer, into: &mut Vec<u8>) {
    let bytes = flags.sliced();
    let groups = flags.len().div_ceil(GROUP);
    let bytes = bytes.as_slice().part(..groups);
    // Bits behind the last flag are arbitrary.
    // Fallback: never taken, less than a group is spare.
    let spare = u32::try_from(groups * GROUP - flags.len()).unwrap_or(0);
    let uniform = |at: usize, byte: u8| {
        let beyond = if at + 1 == groups { !(0xff_u8 >> spare) } else { 0 };
        match (byte | beyond, byte & !beyond) {
            (0xff, _) => Some(1),
            (_, 0) => Some(0),
            _ => None,
        }
    };
    let mut written = 0;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let flag = uniform(at, *byte);
        let alike = bytes.iter().enumerate().skip(at + 1);
        let run = 1 + alike
            .take_while(|(at, byte)| flag.is_some() && uniform(*at, **byte) == flag)
            .count();
        if let Some(flag) = flag
            && (run >= RUN_GROUPS || run == groups)
        {
            packed_flags(bytes.part(written..at), into);
            repeated(flag, (run * GROUP).min(flags.len() - at * GROUP), 1, into);
            written = at + run;
        }
        at += run;
    }
    packed_flags(bytes.part(written..), into);
}

/// Appends how many bits distinguish `n` codes, which precedes the codes, and gives it.
pub(super) fn begin_codes(n: usize, into: &mut Vec<u8>) -> u32 {
    let width = n.checked_sub(1).map_or(0, |last| usize::BITS - last.leading_zeros());
    // Fallback: never taken, no width is above 64 bits.
    into.push(u8::try_from(width).unwrap_or(u8::MAX));
    width
}

fn repeated(code: u32, run: usize, width: u32, into: &mut Vec<u8>) {
    header(run << 1, into);
    let bytes = index(width.div_ceil(8));
    into.extend_from_slice(code.to_le_bytes().part(..bytes));
}

fn packed(codes: &[u32], width: u32, into: &mut Vec<u8>) {
    if codes.is_empty() {
        return;
    }
    let groups = codes.len().div_ceil(GROUP);
    header(groups << 1 | 1, into);
    if width <= SHORT_BITS {
        return groups_of_short(codes, width, into);
    }
    let end = into.len() + groups * index(width);
    let (mut word, mut bits) = (0_u64, 0);
    for code in codes {
        word |= u64::from(*code) << bits;
        bits += width;
        if bits >= 32 {
            let [a, b, c, d, ..] = word.to_le_bytes();
            into.extend_from_slice(&[a, b, c, d]);
            word >>= 32;
            bits -= 32;
        }
    }
    into.extend_from_slice(&word.to_le_bytes());
    // The last group is filled up with zeros; what is beyond it is zeros too.
    into.resize(end, 0);
}

/// Appends groups of codes of at most [`SHORT_BITS`] bits: a group is one number of 128.
fn groups_of_short(codes: &[u32], width: u32, into: &mut Vec<u8>) {
    let four = |[a, b, c, d]: [u32; 4]| {
        let place = |code: u32, n: u32| u64::from(code) << (n * width);
        place(a, 0) | place(b, 1) | place(c, 2) | place(d, 3)
    };
    let mut append = |[a, b, c, d, e, f, g, h]: [u32; GROUP]| {
        let word = u128::from(four([a, b, c, d])) | u128::from(four([e, f, g, h])) << (4 * width);
        let end = into.len() + index(width);
        into.extend_from_slice(&word.to_le_bytes());
        into.truncate(end);
    };
    let (groups, rest) = codes.as_chunks();
    for group in groups {
        append(*group);
    }
    if !rest.is_empty() {
        // The last group is filled up with zeros.
        let mut group = [0; GROUP];
        for (slot, code) in group.iter_mut().zip(rest) {
            *slot = *code;
        }
        append(group);
    }
}

fn packed_flags(bytes: &[u8], into: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    header(bytes.len() << 1 | 1, into);
    into.extend_from_slice(bytes);
}

/// Appends the header of a run, or a count.
pub(super) fn header(number: usize, into: &mut Vec<u8>) {
    leb128::write(count_u64(number), into);
}
