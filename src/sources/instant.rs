//! Printed instants to Unix milliseconds.

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
            (hours * 3600 + minutes * 60) * if sign == b'-' { -1 } else { 1 }
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
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days_in_month = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if day < 1 || day > days_in_month || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some(((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second)
}

fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |value, b| {
        b.is_ascii_digit().then(|| value * 10 + i64::from(b - b'0'))
    })
}

/// Proleptic Gregorian calendar, counting years from March so that the leap day is the last of its year.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}
