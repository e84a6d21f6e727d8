//! `HH:MM:SS`, the eight bytes at once.

/// Hours (00 to 99), minutes and seconds (00 to 59 each); `None` when the text is anything else.
#[inline]
pub(super) fn parse(text: [u8; 8]) -> Option<[i64; 3]> {
    const ZEROS: [u8; 8] = *b"00:00:00";
    const COLONS: [u8; 8] = [0, 0, 0xff, 0, 0, 0xff, 0, 0];
    /// What lifts ten and more over the highest bit of a byte, and nothing below ten.
    const LIFT: u64 = u64::from_le_bytes([0x80 - 10; 8]);
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    let digits = u64::from_le_bytes(text) ^ u64::from_le_bytes(ZEROS);
    let is_odd = digits & u64::from_le_bytes(COLONS) | (digits.wrapping_add(LIFT) | digits) & HIGH;
    if is_odd != 0 {
        return None;
    }
    // Tens and ones are neighbours, and no sum is above 99: nothing is carried from byte to byte.
    let [hour, .., minute, _, _, second, _] = (digits * 10 + (digits >> 8)).to_le_bytes();
    (minute < 60 && second < 60).then(|| [i64::from(hour), i64::from(minute), i64::from(second)])
}
