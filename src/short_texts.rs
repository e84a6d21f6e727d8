//! Comparing texts of a few bytes, as names and codes are: most of such a comparison by the library is its call.

/// Longer texts are compared by the library, which then is faster.
const SHORT_BYTES: usize = 32;

/// Whether two texts are the same.
#[inline]
#[must_use]
pub fn is_same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    if a.len() > SHORT_BYTES {
        return a == b;
    }
    if let (Some(a_end), Some(b_end)) = (a.last_chunk::<8>(), b.last_chunk::<8>()) {
        // The last word overlaps the one before it.
        let mut words = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0);
        return words.all(|(a, b)| a == b) && a_end == b_end;
    }
    if let (Some(a_end), Some(b_end)) = (a.last_chunk::<4>(), b.last_chunk::<4>()) {
        return a.first_chunk::<4>() == b.first_chunk::<4>() && a_end == b_end;
    }
    a.iter().zip(b).all(|(a, b)| a == b)
}
