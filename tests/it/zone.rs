//! Printed times and what they can mean.

use std::collections::BTreeSet;
use std::process::Command;

use gridtally::time::instant::{instant_text, parse_instant_s, parse_local_ms, second_text, spaced_text};
use gridtally::time::zone::zone_names;
use gridtally::time::{Date, Local, Zone};

use crate::support::python::package;

/// The release of the IANA database that zones are those of: 2026e.
const TZDATA: &str = "tzdata==2026.5";

/// Every zone of a `tzdata` package with its changes of offset from 1970 to 2100, as Python's `zoneinfo` reads them:
/// `name offset at:offset at:offset ..`, one zone per line.
const CHANGES: &str = r#"
import sys, os
from datetime import datetime, timezone
from zoneinfo import ZoneInfo

root = os.path.join(sys.argv[1], "tzdata")
END = 4102444800

def changes(data, name):
    import io
    zone = ZoneInfo.from_file(io.BytesIO(data), key=name)
    def offset(s):
        return int(datetime.fromtimestamp(s, zone).utcoffset().total_seconds())
    last, at = offset(0), 0
    found = [str(last)]
    while at < END - 1:
        then = min(at + 4 * 86400, END - 1)
        if offset(then) != last:
            low, high = at, then
            while high - low > 1:
                middle = (low + high) // 2
                if offset(middle) == last:
                    low = middle
                else:
                    high = middle
            last = offset(high)
            found.append(f"{high}:{last}")
        at = then
    return " ".join(found)

known = {}
for name in open(os.path.join(root, "zones")).read().split():
    data = open(os.path.join(root, "zoneinfo", name), "rb").read()
    if data not in known:
        known[data] = changes(data, name)
    print(name, known[data])
"#;

#[test]
fn every_zone_changes_when_the_iana_database_states_from_1970_to_2100() {
    let output = Command::new("python3")
        .args(["-c", CHANGES])
        .arg(package(TZDATA))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let own: BTreeSet<&str> = zone_names().collect();
    let mut wrong = BTreeSet::new();
    let mut zone_n = 0;
    for line in text.lines() {
        let (name, rest) = line.split_once(' ').unwrap();
        // A mark that no zone was chosen.
        if name == "Factory" {
            continue;
        }
        let Ok(zone) = Zone::named(name) else {
            wrong.insert(name);
            continue;
        };
        assert!(own.contains(name), "{name}");
        zone_n += 1;
        let mut words = rest.split(' ');
        let mut changes = vec![(i64::MIN, words.next().unwrap().parse::<i64>().unwrap())];
        changes.extend(words.map(|word| {
            let (at, offset) = word.split_once(':').unwrap();
            (at.parse::<i64>().unwrap(), offset.parse::<i64>().unwrap())
        }));
        let expected = |unix_s: i64| changes[changes.partition_point(|&(at, _)| at <= unix_s) - 1].1;
        let beside = changes.iter().skip(1).flat_map(|&(at, _)| [at - 1, at]);
        // No change is missed where there is none: closer than four days there are no two.
        if beside
            .chain((0..4_102_444_800).step_by(4 * 86_400))
            .any(|at| zone.offset_at(at) != expected(at))
        {
            wrong.insert(name);
        }
    }
    assert!(wrong.is_empty(), "other changes than {TZDATA}: {wrong:?}");
    assert!(zone_n > 590, "{zone_n} zones");
}

/// Zones as the library had them before, by another reader of the same release.
#[test]
fn every_zone_is_as_jiff_reads_it() {
    for name in zone_names() {
        let Ok(other) = jiff::tz::TimeZone::get(name) else {
            panic!("{name} is unknown to jiff");
        };
        let zone = Zone::named(name).unwrap();
        for change in other.following(jiff::Timestamp::UNIX_EPOCH) {
            let at = change.timestamp().as_second();
            if at >= 4_102_444_800 {
                break;
            }
            for second in [at - 1, at] {
                let offset = other.to_offset(jiff::Timestamp::from_second(second).unwrap()).seconds();
                assert_eq!(zone.offset_at(second), i64::from(offset), "{name} at {second}");
            }
        }
    }
}

#[test]
fn names_of_zones_are_found_in_any_case() {
    assert_eq!(Zone::named("europe/zurich").unwrap().offset_at(0), 3600);
    assert!(Zone::named("Europe/Nowhere").is_err());
}

#[test]
fn instants_and_dates_are_written_and_read_as_iso_8601() {
    for ms in [0, 1, 500, 999, 1_792_886_400_120, -1, -86_400_000, 4_102_444_800_000] {
        let other = jiff::Timestamp::from_millisecond(ms).unwrap();
        assert_eq!(instant_text(ms).unwrap(), other.to_string());
        assert_eq!(
            second_text(ms).unwrap(),
            other.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
        );
        assert_eq!(
            spaced_text(ms).unwrap(),
            other.strftime("%Y-%m-%d %H:%M:%S").to_string()
        );
    }
    assert_eq!(instant_text(i64::MAX), None);
    assert_eq!(parse_instant_s("2026-03-01T01:00:00+01:00"), Some(1_772_323_200));
    assert_eq!(parse_instant_s("2026-03-01T01:00:00"), None);
    for (text, ms) in [
        ("2026-03-01", Some(1_772_323_200_000)),
        ("2026-03-01T01", Some(1_772_326_800_000)),
        ("2026-03-01 01:00", Some(1_772_326_800_000)),
        ("2026-03-01T01:00:00.5", Some(1_772_326_800_500)),
        ("2026-02-30T01:00", None),
        ("2026-03-01T25:00", None),
    ] {
        assert_eq!(parse_local_ms(text), ms, "{text}");
    }
    for day in (-719_000..2_900_000).step_by(997) {
        let date = Date::of_day(day);
        let other = jiff::civil::date(1970, 1, 1).checked_add(jiff::Span::new().days(day));
        assert_eq!(
            date.map(|date| date.to_string()),
            other.ok().map(|date| date.to_string()),
            "{day}"
        );
    }
    for text in [
        "2026-02-29",
        "2026-13-01",
        "20260301",
        "2026-03-01T00:00",
        "26-03-01",
        "2026-3-01",
        "",
    ] {
        assert!(text.parse::<Date>().is_err(), "{text}");
    }
    assert_eq!("2024-02-29".parse::<Date>().unwrap(), Date::new(2024, 2, 29).unwrap());
}

const OCT_25_2026: i64 = 1_792_886_400; // 2026-10-25T00:00:00 read off a clock

#[test]
fn autumn_fold_has_two_instants() {
    let zone = Zone::named("Europe/Zurich").unwrap();
    let half_past_two = OCT_25_2026 + 2 * 3600 + 1800;
    assert_eq!(
        zone.resolve(half_past_two),
        Local::Fold {
            earlier: half_past_two - 7200,
            later: half_past_two - 3600
        }
    );
    assert_eq!(zone.resolve(OCT_25_2026), Local::Unique(OCT_25_2026 - 7200));
    assert_eq!(
        zone.resolve(OCT_25_2026 + 3 * 3600),
        Local::Unique(OCT_25_2026 + 2 * 3600)
    );
}

#[test]
fn spring_gap_has_none() {
    let zone = Zone::named("Europe/Zurich").unwrap();
    let skipped = 1_774_751_400; // 2026-03-29T02:30:00
    assert_eq!(zone.resolve(skipped), Local::Gap(skipped - 3600));
}
