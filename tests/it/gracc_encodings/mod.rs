//! One record in every encoding of GRACC and Gratia.

mod archive;
mod damage;
mod pairs;
mod same_records;
mod stated;

use gridtally::ledger::Reason;
use gridtally::sources::apel::acceptance::Acceptance;
use gridtally::sources::format::Format;
use gridtally::sources::gracc::iso_duration;
use gridtally::sources::registry;
use gridtally::sources::{apel, gracc};

use crate::support::collect::{Collected, input, plan, run};

/// Reads bytes as an undeclared source would: recognised by content alone.
fn read(bytes: &[u8]) -> Collected {
    let dialect = registry::recognise(bytes).expect("a dialect");
    run(dialect
        .pieces(input(bytes), plan(Format::Auto, Acceptance::StrictApel))
        .unwrap())
}

#[test]
fn durations_are_exact_and_strict() {
    for (text, seconds) in [
        ("PT0S", "0"),
        ("PT9.9S", "9.9"),
        ("PT2H27M33.0S", "8853"),
        ("PT2.0H27M33.0S", "8853"),
        ("P1DT7H58M10.0S", "115090"),
        ("P1.5D", "129600"),
        ("P1Y2M3W4D", "38880000"),
        (" PT0.30000000000000004S\n", "0.3"),
        ("PT1M5.32S", "65.32"),
    ] {
        assert_eq!(iso_duration::seconds(text).as_deref(), Ok(seconds), "{text}");
    }
    for text in [
        "",
        "P",
        "PT",
        "PTS",
        "P1",
        "5S",
        "-PT5S",
        "+PT5S",
        "PT-5S",
        "garbage PT5S",
        "PT5S garbage",
        "PT5M5H",
        "PT5S5S",
        "PT1.S",
        "PT.5S",
        "PT1.2.3S",
        "P5S",
        "PT5D",
        "PT1,5S",
        "pt5s",
        "P1DT",
        "PT99999999999999999999S",
        "PT5é",
    ] {
        assert!(iso_duration::seconds(text).is_err(), "{text}");
    }
}

#[test]
fn every_encoding_is_recognised() {
    let record = r#"<JobUsageRecord xmlns="http://www.gridforum.org/2003/ur-wg"/>"#;
    let hit = r#"{"_index":"gracc.osg.raw2-2016.06","_id":"1","_source":{"type":"JobUsageRecord"}}"#;
    let tar = crate::support::tar::tar(&[("a", b"x")]);
    for (head, expected) in [
        (record.to_owned(), Some(gracc::DIALECT)),
        (
            format!("<?xml version=\"1.0\"?>\n<RecordEnvelope>{record}"),
            Some(gracc::DIALECT),
        ),
        (format!("replication|{record}|||"), Some(gracc::DIALECT)),
        ("<StorageElementRecord/>".to_owned(), Some(gracc::DIALECT)),
        (
            r#"<UsageRecord xmlns="http://www.gridforum.org/2003/ur-wg">"#.to_owned(),
            Some(gracc::DIALECT),
        ),
        (
            r#"<urf:UsageRecord xmlns:urf="http://eu-emi.eu/namespaces/2012/11/computerecord">"#.to_owned(),
            Some(apel::DIALECT),
        ),
        (hit.to_owned(), Some(gracc::DIALECT)),
        (format!("[{hit}]"), Some(gracc::DIALECT)),
        (
            format!(r#"{{"took":3,"_shards":{{}},"hits":{{"hits":[{hit}]}}}}"#),
            Some(gracc::DIALECT),
        ),
        (
            r#"{"took":3,"_shards":{"failed":0},"hits":{"total":0,"hits":[]}}"#.to_owned(),
            Some(gracc::DIALECT),
        ),
        (
            "{\n    \"ProbeName\": \"p\",\n    \"WallDuration\": 1\n}".to_owned(),
            Some(gracc::DIALECT),
        ),
        ("<html><body/></html>".to_owned(), None),
        ("{\"unrelated\":1}".to_owned(), None),
    ] {
        assert_eq!(registry::recognise(head.as_bytes()), expected, "{head}");
    }
    assert_eq!(registry::recognise(&tar), Some(gridtally::sources::archive::DIALECT));
    // Members are in the format of the source; a tar stays a tar.
    assert_eq!(
        registry::choose(gracc::DIALECT.format(), &tar),
        Some(gridtally::sources::archive::DIALECT)
    );
    assert_eq!(
        registry::choose(apel::DIALECT.format(), hit.as_bytes()),
        Some(apel::DIALECT)
    );
}

#[test]
fn xml_has_nothing_that_expands() {
    let bomb = r#"<?xml version="1.0"?>
<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<JobUsageRecord><JobName>&b;</JobName></JobUsageRecord>"#;
    let all = read(bomb.as_bytes());
    assert_eq!((all.jobs.len(), all.reasons()), (0, vec![Reason::BadXml]));
    let inside = "<JobUsageRecord><JobName>&b;</JobName></JobUsageRecord>";
    let all = read(inside.as_bytes());
    assert_eq!(all.reasons(), [Reason::BadXml]);
    assert!(all.rejects[0].detail.contains("&b;"), "{}", all.rejects[0].detail);
    let deep = format!(
        "<JobUsageRecord>{}{}</JobUsageRecord>",
        "<a>".repeat(100),
        "</a>".repeat(100)
    );
    assert_eq!(read(deep.as_bytes()).reasons(), [Reason::LimitExceeded]);
    let many = format!("<JobUsageRecord>{}</JobUsageRecord>", "<a/>".repeat(200_000));
    assert_eq!(read(many.as_bytes()).reasons(), [Reason::LimitExceeded]);
}
