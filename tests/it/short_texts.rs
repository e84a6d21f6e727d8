//! Comparisons of short texts against those of the library.

use std::collections::HashSet;

use gridtally::short_texts::{ShortText, is_same, wide_word, word};

#[test]
fn texts_are_the_same_where_every_byte_is() {
    let text: Vec<u8> = (0..70).collect();
    for len in 0..text.len() {
        let one = &text[..len];
        let same = one.to_vec();
        assert!(is_same(one, &same), "{len} bytes");
        for at in 0..len {
            let mut other = one.to_vec();
            other[at] ^= 0x80;
            assert!(!is_same(one, &other), "byte {at} of {len}");
        }
        for other_len in (0..text.len()).filter(|other_len| *other_len != len) {
            assert!(!is_same(one, &text[..other_len]), "{len} and {other_len} bytes");
        }
    }
}

#[test]
fn short_texts_by_value_are_the_same_where_the_texts_are() {
    let of = |text: &[u8]| ShortText::of(text);
    assert_eq!(of(&[b'x'; 15]), of(&[b'x'; 15]));
    assert_eq!(of(&[b'x'; 16]), None, "too long");
    // All texts of up to fifteen bytes in which one or two differ from the others, zeros among them.
    let mut texts = HashSet::new();
    for len in 0..=15 {
        for fill in [0, b'a', 0xff] {
            for (one, other) in (0..len.max(1)).flat_map(|one| (0..len.max(1)).map(move |other| (one, other))) {
                for (first, second) in [(0, 0), (0, 1), (1, 0), (b'a', b'b'), (0xff, 0)] {
                    let mut text = vec![fill; len];
                    if len > 0 {
                        text[one] = first;
                        text[other] = second;
                    }
                    texts.insert(text);
                }
            }
        }
    }
    let values: HashSet<String> = texts.iter().map(|text| format!("{:?}", of(text).unwrap())).collect();
    assert_eq!(values.len(), texts.len());
    // They differ in their highest bits, which choose among a few places.
    let places = |names: &[String]| {
        let places = names.iter().map(|name| of(name.as_bytes()).unwrap().place(9));
        places.collect::<HashSet<usize>>().len()
    };
    let nodes: Vec<String> = (0..256).map(|n| format!("node{n:04}")).collect();
    assert!(places(&nodes) > 150, "{} of 512 places for 256 nodes", places(&nodes));
}

#[test]
fn the_word_of_a_text_holds_its_bytes_and_zeros() {
    let text = *b"\x01\x82\x03\x84\x05\x86\x07\x88\x09\x8a\x0b\x8c\x0d\x8e\x0f\x90\x11";
    for len in 0..=text.len() {
        let text = &text[..len];
        let mut bytes = [0; 17];
        bytes[..len].copy_from_slice(text);
        let wide = u128::from_le_bytes(*bytes.first_chunk().unwrap());
        assert_eq!(wide_word(text), (len <= 16).then_some(wide), "{len} bytes");
        let narrow = u64::from_le_bytes(*bytes.first_chunk().unwrap());
        assert_eq!(word(text), (len <= 8).then_some(narrow), "{len} bytes");
    }
}
