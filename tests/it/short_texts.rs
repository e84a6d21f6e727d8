//! Comparisons of short texts against those of the library.

use gridtally::short_texts::is_same;

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
