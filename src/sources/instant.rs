//! Printed instants to Unix milliseconds.

use crate::time::month::day_number;

/// Last second that has a four-digit year: 9999-12-31T23:59:59Z.
pub const LAST_S: i64 = 253_402_300_799;

/// RFC 3339 (`2016-06-24T23:54:52Z`, `2016-06-25T02:59:23.369Z`, `2016-06-24T18:54:52-05:00`) as Unix milliseconds;
/// digits beyond the millisecond are cut off. `None` when it is no such text, has no offset, or names a day or time
/// that does not exist. Second 60 is a leap second and counts as the first of the next minute.
#[must_use]
pub fn rfc3339_ms(text: &str) -> Option<i64> {
    rfc3339_ascii_ms(text.as_bytes())
}

/// The same of text that may be anything.
#[must_use]
pub fn rfc3339_ascii_ms(bytes: &[u8]) -> Option<i64> {
    let second = printed_s(bytes.get(..19)?)?;
    let mut rest = bytes.get(19..)?;
    let mut millis = 0;
    if let Some((b'.', fraction)) = rest.split_first() {
        let digits = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        for place in 0..3 {
            let digit = fraction
                .get(place)
                .filter(|_| place < digits)
                .map_or(0, |b| i64::from(b - b'0'));
            millis = millis * 10 + digit;
        }
        rest = fraction.get(digits..)?;
    }
    let offset_s = match *rest {
        [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (hours, minutes) = (number(&[h1, h2])?, number(&[m1, m2])?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            i64::from(hours * 3600 + minutes * 60) * if sign == b'-' { -1 } else { 1 }
        }
        _ => return None,
    };
    Some((second - offset_s) * 1000 + millis)
}

/// `YYYY-MM-DDTHH:MM:SS` read as UTC, in Unix seconds.
pub(super) fn printed_s(bytes: &[u8]) -> Option<i64> {
    let [
        y1,
        y2,
        y3,
        y4,
        b'-',
        mo1,
        mo2,
        b'-',
        d1,
        d2,
        b'T' | b't',
        h1,
        h2,
        b':',
        mi1,
        mi2,
        b':',
        s1,
        s2,
    ] = *bytes
    else {
        return None;
    };
    let (year, month, day) = (number(&[y1, y2, y3, y4])?, number(&[mo1, mo2])?, number(&[d1, d2])?);
    let (hour, minute, second) = (number(&[h1, h2])?, number(&[mi1, mi2])?, number(&[s1, s2])?);
    let day = i64::from(day_number(year, month, day)?);
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some(i64::from((hour * 60 + minute) * 60 + second) + day * 86_400)
}

fn number(digits: &[u8]) -> Option<i32> {
    digits.iter().try_fold(0, |value, b| {
        b.is_ascii_digit().then(|| value * 10 + i32::from(b - b'0'))
    })
}
