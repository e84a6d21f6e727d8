//! Calendar arithmetic of the generator, kept apart from the library's so that one can catch the other's mistakes.

const DAY_S: i64 = 86_400;

/// Days from 1970-01-01 to a date of the Gregorian calendar.
pub(crate) fn days(year: i64, month: i64, day: i64) -> i64 {
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let year_of_era = y.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The date that lies `days` after 1970-01-01.
pub(crate) fn date(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1_460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + i64::from(month <= 2);
    (year, month, doy - (153 * mp + 2) / 5 + 1)
}

/// The last Sunday of a month, in days since 1970 (a Thursday).
fn last_sunday(year: i64, month: i64) -> i64 {
    let last = days(year, month, 31);
    last - (last + 4).rem_euclid(7)
}

/// What Zurich's clocks are ahead of UTC, in seconds, at a Unix second.
pub(crate) fn zurich_offset(unix_s: i64) -> i64 {
    let (year, _, _) = date(unix_s.div_euclid(DAY_S));
    let summer = last_sunday(year, 3) * DAY_S + 3_600;
    let winter = last_sunday(year, 10) * DAY_S + 3_600;
    if (summer..winter).contains(&unix_s) {
        7_200
    } else {
        3_600
    }
}

/// The Unix second at which Zurich's clocks show `(year, month, day, hour, minute)`.
pub(crate) fn zurich(year: i64, month: i64, day: i64, hour: i64, minute: i64) -> i64 {
    let local = days(year, month, day) * DAY_S + hour * 3_600 + minute * 60;
    let summer = local - 7_200;
    if zurich_offset(summer) == 7_200 {
        summer
    } else {
        local - 3_600
    }
}

/// The Unix second of `(year, month, day, hour, minute)` UTC.
pub(crate) fn utc(year: i64, month: i64, day: i64, hour: i64, minute: i64) -> i64 {
    days(year, month, day) * DAY_S + hour * 3_600 + minute * 60
}

/// `2026-03-29T01:00:00` for a second counted on any clock.
pub(crate) fn stamp(out: &mut Vec<u8>, clock_s: i64) {
    let (year, month, day) = date(clock_s.div_euclid(DAY_S));
    let s = clock_s.rem_euclid(DAY_S);
    pad(out, year, 4);
    out.push(b'-');
    pad(out, month, 2);
    out.push(b'-');
    pad(out, day, 2);
    out.push(b'T');
    pad(out, s / 3_600, 2);
    out.push(b':');
    pad(out, s / 60 % 60, 2);
    out.push(b':');
    pad(out, s % 60, 2);
}

/// The same, as Zurich's clocks show it.
pub(crate) fn zurich_stamp(out: &mut Vec<u8>, unix_s: i64) {
    stamp(out, unix_s + zurich_offset(unix_s));
}

/// A number with leading zeros to `width` digits.
pub(crate) fn pad(out: &mut Vec<u8>, value: i64, width: u32) {
    for place in (0..width).rev() {
        let digit = value.div_euclid(10_i64.pow(place)) % 10;
        out.push(b'0' + u8::try_from(digit).expect("a digit"));
    }
}
