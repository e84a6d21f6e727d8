//! Sixty-four bytes looked at at once, with the widest instructions the processor turns out to have.

use crate::numbers::index;
use fearless_simd::prelude::*;
#[cfg(target_arch = "x86_64")]
use fearless_simd::u32x16;
use fearless_simd::{Level, Simd, dispatch, mask8x64, u8x16, u8x64};

/// Bytes that share a word of bits.
pub const WORD: usize = 64;

/// The places of a word.
#[cfg(target_arch = "x86_64")]
const NUMBERS: [u8; WORD] = {
    let mut numbers = [0; WORD];
    let mut n = 1;
    while n < WORD {
        numbers[n] = numbers[n - 1] + 1;
        n += 1;
    }
    numbers
};

/// Who looks at the words of a text, in order.
///
/// Whatever `look` calls for every word is compiled once for each kind of processor only if it is inlined there:
/// `#[inline(always)]` is needed here.
pub trait ScanLook {
    /// Looks at the bytes that begin at `from`.
    fn look<S: Simd>(&mut self, lanes: u8x64<S>, chunk: &[u8; WORD], from: usize);
}

/// Shows all of `text`; the last word is filled up with `filler`.
pub fn show(text: &[u8], filler: u8, looker: &mut impl ScanLook) {
    show_at(Level::new(), text, filler, looker);
}

/// The same with no more than a processor of that kind can do.
pub fn show_at(level: Level, text: &[u8], filler: u8, looker: &mut impl ScanLook) {
    dispatch!(level, simd => show_with(simd, text, filler, looker));
}

#[expect(clippy::inline_always, reason = "it is compiled for every kind of processor")]
#[inline(always)]
fn show_with<S: Simd>(simd: S, text: &[u8], filler: u8, looker: &mut impl ScanLook) {
    let (chunks, rest) = text.as_chunks::<WORD>();
    let mut from = 0;
    for chunk in chunks {
        looker.look(u8x64::from_slice(simd, chunk), chunk, from);
        from += WORD;
    }
    if !rest.is_empty() {
        let mut last = [filler; WORD];
        last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        looker.look(u8x64::from_slice(simd, &last), &last, from);
    }
}

/// Which bytes are `byte`.
#[expect(clippy::inline_always, reason = "it is compiled for every kind of processor")]
#[inline(always)]
pub fn are<S: Simd>(lanes: u8x64<S>, byte: u8) -> mask8x64<S> {
    lanes.simd_eq(u8x64::splat(lanes.simd, byte))
}

/// A bit for every byte that is `byte`, the first byte in the lowest bit.
#[expect(clippy::inline_always, reason = "it is compiled for every kind of processor")]
#[inline(always)]
pub fn bits<S: Simd>(lanes: u8x64<S>, byte: u8) -> u64 {
    are(lanes, byte).to_bitmask()
}

/// A bit for every byte that is one of two.
#[expect(clippy::inline_always, reason = "it is compiled for every kind of processor")]
#[inline(always)]
pub fn bits_of_two<S: Simd>(lanes: u8x64<S>, [one, other]: [u8; 2]) -> u64 {
    (are(lanes, one) | are(lanes, other)).to_bitmask()
}

/// A bit for every byte that `table` has at the place of its lower four bits.
#[expect(clippy::inline_always, reason = "it is compiled for every kind of processor")]
#[inline(always)]
pub fn bits_of_table<S: Simd>(lanes: u8x64<S>, table: &[u8; 16]) -> u64 {
    let table = u8x64::block_splat(u8x16::from_slice(lanes.simd, table));
    let sought = table.swizzle_dyn_within_blocks(lanes & u8x64::splat(lanes.simd, 0x0f));
    lanes.simd_eq(sought).to_bitmask()
}

/// How many bits are set.
#[expect(clippy::inline_always, reason = "it is compiled for every kind of processor")]
#[inline(always)]
pub fn count(bits: u64) -> usize {
    index(bits.count_ones())
}

/// Writes down where the bits of `hits` are, counted from `from`, in order. Behind them `room` gets anything.
#[expect(clippy::inline_always, reason = "it is compiled for every kind of processor")]
#[inline(always)]
pub fn places<S: Simd>(simd: S, mut hits: u64, from: u32, room: &mut [u32; WORD]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx512) = simd.level().as_avx512() {
        return places_at_once(avx512, hits, from, room);
    }
    // Eight at a time, even if fewer are left: the branch of the loop is then rarely mispredicted.
    let (rooms, _) = room.as_chunks_mut::<8>();
    for room in rooms.iter_mut().take(count(hits).div_ceil(8)) {
        for place in room {
            *place = from + hits.trailing_zeros();
            hits &= hits.wrapping_sub(1);
        }
    }
}

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    /// The same where the processor can move the numbers of all bits set to the front in one instruction.
    #[inline]
    fn places_at_once(avx512: Avx512, hits: u64, from: u32, room: &mut [u32; WORD]) {
        use std::arch::x86_64::{
            __m512i, _mm512_castsi512_si128, _mm512_cvtepu8_epi32, _mm512_extracti32x4_epi32,
            _mm512_maskz_compress_epi8,
        };
        let numbers: __m512i = u8x64::from_slice(avx512, &NUMBERS).into();
        let front = _mm512_maskz_compress_epi8(hits, numbers);
        let from = u32x16::splat(avx512, from);
        let write = |numbers, room: &mut [u32; 16]| {
            let places: u32x16<_> = _mm512_cvtepu8_epi32(numbers).simd_into(avx512);
            (from + places).store_slice(room);
        };
        let (rooms, _) = room.as_chunks_mut::<16>();
        let [first, second, third, fourth] = rooms else { return };
        write(_mm512_castsi512_si128(front), first);
        // More than sixteen marks in sixty-four bytes are rare.
        if hits.count_ones() > 16 {
            write(_mm512_extracti32x4_epi32::<1>(front), second);
            write(_mm512_extracti32x4_epi32::<2>(front), third);
            write(_mm512_extracti32x4_epi32::<3>(front), fourth);
        }
    }
);
