//! Decimal text, FQANs and instants: what the grid readers share.

use gridtally::sources::decimal::scaled;
use gridtally::sources::fqan::Fqan;
use gridtally::sources::instant::rfc3339_ms;
use proptest::prelude::*;

fn value(text: &str, places: u32) -> Option<i64> {
    scaled(text, places).map(|scaled| scaled.value)
}

#[test]
fn decimal_text_is_scaled_exactly() {
    for (text, places, expected) in [
        ("0.43000000000000005", 3, Some(430)),
        ("65.32", 3, Some(65_320)),
        ("1.485786e+06", 3, Some(1_485_786_000)),
        ("0.1485786E7", 3, Some(1_485_786_000)),
        ("17.98765", 3, Some(17_988)),
        ("0.0005", 3, Some(1)),
        ("0.00049999", 3, Some(0)),
        ("-0.0005", 3, Some(-1)),
        ("5e-4", 3, Some(1)),
        ("5e-9999999999", 3, Some(0)),
        ("0e9999999999", 3, Some(0)),
        ("1e9999999999", 3, None),
        ("9223372036854775807", 0, Some(i64::MAX)),
        ("9223372036854775807.5", 0, None),
        (".5", 0, Some(1)),
        ("5.", 0, Some(5)),
        ("", 0, None),
        (".", 0, None),
        ("1e", 0, None),
        ("1.2.3", 0, None),
        ("nan", 3, None),
        ("inf", 3, None),
        ("--1", 0, None),
    ] {
        assert_eq!(value(text, places), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn decimal_agrees_with_integer_arithmetic(units in -1_000_000_000_000_i64..1_000_000_000_000, shift in 0_usize..9) {
        // `units` written with `shift` digits behind the point, read back in thousandths.
        let digits = format!("{:0width$}", units.unsigned_abs(), width = shift + 1);
        let (whole, fraction) = digits.split_at(digits.len() - shift);
        let text = format!("{}{whole}.{fraction}0", if units < 0 { "-" } else { "" });
        let power = 10_i128.pow(u32::try_from(shift).unwrap());
        let magnitude = (i128::from(units.unsigned_abs()) * 1000 * 2 + power) / (2 * power);
        let expected = i64::try_from(magnitude).unwrap() * units.signum();
        prop_assert_eq!(value(&text, 3), Some(expected), "{}", text);
    }

    #[test]
    fn whole_numbers_are_scaled_as_far_as_they_fit(number in 0_i64..=i64::MAX, digit_n in 1_usize..20, places in 0_u32..20) {
        let text = format!("{number:019}").split_off(19 - digit_n.min(19));
        let expected = text.parse::<i128>().unwrap() * 10_i128.pow(places);
        prop_assert_eq!(value(&text, places), i64::try_from(expected).ok(), "{}", text);
    }

    #[test]
    fn no_text_makes_scalars_panic(text in "[-+0-9.eE:TZ ]{0,30}", places in 0_u32..12) {
        let _ = scaled(&text, places);
        let _ = rfc3339_ms(&text);
    }
}

#[test]
fn instants_need_an_offset_and_a_real_day() {
    for (text, expected) in [
        ("2016-06-24T23:54:52Z", Some(1_466_812_492_000)),
        ("2016-06-25T02:59:23.369Z", Some(1_466_823_563_369)),
        ("2016-06-24T18:54:52-05:00", Some(1_466_812_492_000)),
        ("2016-06-25T05:24:52.123456789+05:30", Some(1_466_812_492_123)),
        ("2016-12-31T23:59:60Z", Some(1_483_228_800_000)),
        ("2016-02-29T00:00:00Z", Some(1_456_704_000_000)),
        ("1970-01-01T00:00:00.5Z", Some(500)),
        ("2015-02-29T00:00:00Z", None),
        ("2016-13-01T00:00:00Z", None),
        ("2016-06-24T24:00:00Z", None),
        ("2016-06-24T23:54:52", None),
        ("2016-06-24T23:54:52.Z", None),
        ("2016-06-24", None),
        ("2016-06-24T23:54:5éZ", None),
    ] {
        assert_eq!(rfc3339_ms(text), expected, "{text}");
    }
}

#[test]
fn fqans_are_taken_apart_as_apel_does() {
    for (text, vo, group, role) in [
        (
            "/atlas/uk/Role=production/Capability=NULL;/atlas/Role=NULL",
            "atlas",
            Some("/atlas/uk"),
            Some("Role=production"),
        ),
        ("/cms/Role=NULL", "cms", Some("/cms"), Some("Role=NULL")),
        ("/cms/role=Pilot", "cms", Some("/cms"), Some("role=Pilot")),
        ("/atlas/Capability=NULL", "atlas", Some("/atlas/Capability=NULL"), None),
        ("/osg/LocalGroup=xsede", "osg", Some("/osg/LocalGroup=xsede"), None),
        ("atlas", "atlas", None, None),
        ("/", "", Some("/"), None),
        ("/atlas/", "atlas", Some("/atlas/"), None),
        ("/atlas//Role=pilot/", "atlas", Some("/atlas/"), Some("Role=pilot")),
        ("/Role=pilot/x", "Role=pilot", None, Some("Role=pilot")),
        (" /atlas/é/ROLE=é ;x", "atlas", Some("/atlas/é"), Some("ROLE=é")),
    ] {
        assert_eq!(Fqan::parse(text), Fqan { vo, group, role }, "{text}");
    }
}
