//! Marks found sixty-four bytes at a time are those found byte by byte, whatever the processor can do.

use fearless_simd::{Level, Simd, u8x64};
use gridtally::sources::simd_scan::{ScanLook, WORD, bits, bits_of_table, bits_of_two, places, show_at};

use crate::generator::rng::Rng;

const WANTED: [u8; 3] = *b"|\n%";

/// The wanted bytes at the places of their lower four bits.
const TABLE: [u8; 16] = *b"\x01....%....\n.|...";

/// Where the wanted bytes are, and which of them is a line feed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    places: Vec<u32>,
    feeds: Vec<u32>,
}

impl ScanLook for Found {
    fn look<S: Simd>(&mut self, lanes: u8x64<S>, chunk: &[u8; WORD], from: usize) {
        assert_eq!(<[u8; WORD]>::from(lanes), *chunk);
        let from = u32::try_from(from).unwrap();
        let feeds = bits(lanes, b'\n');
        let hits = bits_of_two(lanes, [b'|', b'%']) | feeds;
        assert_eq!(bits_of_table(lanes, &TABLE), hits);
        for (found, bits) in [(&mut self.places, hits), (&mut self.feeds, feeds)] {
            let mut room = [u32::MAX; WORD];
            places(lanes.simd, bits, from, &mut room);
            found.extend_from_slice(&room[..bits.count_ones() as usize]);
        }
    }
}

fn byte_by_byte(text: &[u8]) -> Found {
    let of = |wanted: &[u8]| {
        let hits = text.iter().enumerate().filter(|(_, byte)| wanted.contains(byte));
        hits.map(|(place, _)| u32::try_from(place).unwrap()).collect()
    };
    Found {
        places: of(&WANTED),
        feeds: of(b"\n"),
    }
}

/// Every kind of processor that this one can run code for.
fn levels() -> Vec<Level> {
    let best = Level::new();
    let mut levels = vec![best, Level::baseline()];
    #[cfg(target_arch = "x86_64")]
    {
        levels.extend(best.as_avx2().map(Level::Avx2));
        levels.extend(best.as_sse4_2().map(Level::Sse4_2));
    }
    levels
}

#[test]
fn every_processor_finds_the_marks_of_a_byte_by_byte_search() {
    let mut rng = Rng::new(20_261_122);
    for round in 0..400 {
        // From no mark at all to nothing but marks: more than sixteen and more than eight of them in a word.
        let density = round % 101;
        let text: Vec<u8> = (0..rng.between(0, 700))
            .map(|_| {
                let is_mark = rng.between(0, 100) < density;
                // Zero is what the last word is filled up with.
                rng.pick(if is_mark {
                    &WANTED[..]
                } else {
                    b"\0 azAZ09:$&{}\x7f\x80\xc3\xff"
                })
            })
            .collect();
        let expected = byte_by_byte(&text);
        for level in levels() {
            let mut found = Found::default();
            show_at(level, &text, 0, &mut found);
            assert_eq!(found, expected, "{level:?} of {text:?}");
        }
    }
}
