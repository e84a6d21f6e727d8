//! Members of an object that are read at once, against the same read one by one.

use gridtally::sources::json::{Malformed, Scalar, Scanner};
use proptest::prelude::*;

/// The keys, decoded, and the values of an object, and what is wrong with it.
type Members<'a> = (Vec<(String, Scalar<'a>)>, Result<(), Malformed>);

fn one_by_one(text: &[u8]) -> Members<'_> {
    let mut found = Vec::new();
    let outcome = Scanner::new(text).object(|scanner, key| {
        let value = scanner.scalar()?;
        found.push((key.decode().0.into_owned(), value));
        Ok(())
    });
    (found, outcome)
}

fn at_once(text: &[u8]) -> Members<'_> {
    let mut found = Vec::new();
    let outcome = Scanner::new(text).members(
        |key| Some(std::str::from_utf8(key).unwrap().to_owned()),
        |key, value| found.push((key, value)),
    );
    (found, outcome)
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![8 => "[a-zA-Z_@]{1,30}", 1 => "", 1 => "[a-z\"\\\\\té]{0,6}"]
        .prop_map(|key| serde_json::json!(key).to_string())
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[ -~é]{0,40}".prop_map(|text| serde_json::json!(text).to_string()),
        // Marks are found in words of 64 bytes: over several of them, with runs of backslashes across their edges.
        2 => "([a-z ]{0,70}[\"\\\\\n]{0,9}){0,4}".prop_map(|text| serde_json::json!(text).to_string()),
        8 => "-?(0|[1-9][0-9]{0,9})(\\.[0-9]{1,9})?([eE][-+]?[0-9]{1,2})?",
        2 => prop::sample::select(vec!["null", "true", "false", "[1, \"]\"]", "{\"a\": {}}"]).prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn members_are_the_same_at_once_and_one_by_one(
        members in prop::collection::vec((key(), value(), prop_oneof![8 => Just(""), 1 => Just(" ")]), 0..30),
        flips in prop::collection::vec(
            (any::<prop::sample::Index>(), prop::sample::select(&b"{}[]\",:\\/u0123456789eE+-.tfn \t\r\n"[..])), 0..3,
        ),
    ) {
        let members: Vec<String> = members.iter().map(|(key, value, blank)| format!("{key}{blank}:{blank}{value}")).collect();
        let mut text = format!("{{{}}}", members.join(",")).into_bytes();
        prop_assert_eq!(one_by_one(&text).0.len(), members.len());
        prop_assert_eq!(at_once(&text), one_by_one(&text));
        for (at, byte) in flips {
            let at = at.index(text.len());
            // A letter of several bytes stays one: keys are compared as texts.
            if text[at].is_ascii() {
                text[at] = byte;
            }
        }
        prop_assert_eq!(at_once(&text), one_by_one(&text), "{:?}", String::from_utf8_lossy(&text));
    }
}

#[test]
fn escapes_are_seen_wherever_a_string_ends() {
    for before in 0..130 {
        for at in 0..70 {
            // The second text has a quote that does not end it, those around it none.
            let (plain, start) = ("x".repeat(before), "y".repeat(at));
            let text = format!(r#"{{"a":"{plain}","b":"{start}\"","c":"z","d":1}}"#);
            let (members, outcome) = at_once(text.as_bytes());
            assert_eq!(outcome, Ok(()));
            let texts: Vec<_> = members.iter().map(|(_, value)| decoded(*value)).collect();
            assert_eq!(texts, [plain, format!("{start}\""), "z".to_owned(), "1".to_owned()]);
        }
    }
}

#[test]
fn a_byte_that_is_no_text_changes_no_other_string() {
    for (bad, is_invalid) in [(&b"\xc3\xa9"[..], false), (b"\xe9", true)] {
        let text = [
            br#"{"a":"b\u00e9","c":"#,
            "\"d\u{e9}\"".as_bytes(),
            b",\"e\":\"",
            bad,
            br#"","f":"g\"","h":"i"}"#,
        ]
        .concat();
        let (members, outcome) = at_once(&text);
        assert_eq!(outcome, Ok(()));
        let texts: Vec<_> = members
            .iter()
            .map(|(_, value)| match value {
                Scalar::Text(text) => text.decode(),
                other => panic!("{other:?}"),
            })
            .collect();
        let bad = if is_invalid { r"\xE9" } else { "\u{e9}" };
        let expected = [
            ("b\u{e9}", false),
            ("d\u{e9}", false),
            (bad, is_invalid),
            ("g\"", false),
            ("i", false),
        ];
        assert_eq!(texts, expected.map(|(text, is_invalid)| (text.into(), is_invalid)));
    }
}

fn decoded(value: Scalar<'_>) -> String {
    match value {
        Scalar::Text(text) => text.decode().0.into_owned(),
        Scalar::Number(digits) => std::str::from_utf8(digits).unwrap().to_owned(),
        other => panic!("{other:?}"),
    }
}
