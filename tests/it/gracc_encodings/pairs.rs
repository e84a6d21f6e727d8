//! What the collector makes of an XML record, and what GRACC stored for it.

use std::io::Read;

use gridtally::ledger::Reason;
use gridtally::record::JobRow;
use gridtally::sources::apel::acceptance::Acceptance;
use gridtally::sources::cross_check::CrossCheck;
use gridtally::sources::{Position, Sink, gracc};

use super::read;
use crate::support::collect::{input, plan, shared};

/// Only compares.
#[derive(Default)]
struct Comparing(CrossCheck);

impl Sink for Comparing {
    fn rows_read(&mut self, _: u64) {}
    fn job(&mut self, _: &JobRow<'_>, _: Position, _: u32) {}
    fn reject(&mut self, _: Reason, _: Position, _: u64, _: &str, _: &[u8]) {}
    fn out_of_scope(&mut self, _: Reason, _: u64) {}
    fn cross_check(&mut self) -> Option<&mut CrossCheck> {
        Some(&mut self.0)
    }
}

fn compared(lines: &[u8]) -> CrossCheck {
    let mut sink = Comparing::default();
    for work in gracc::pieces(input(lines), plan(gracc::DIALECT.format(), Acceptance::StrictApel)).unwrap() {
        work.unwrap()(&mut sink);
    }
    sink.0
}

/// A document that keeps its XML, as the index does.
fn with_xml(mut flat: serde_json::Value, xml: &str) -> String {
    flat["RawXML"] = xml.into();
    flat.to_string()
}

const XML: &str = r#"<JobUsageRecord><RecordIdentity urwg:recordId="r:1.1" urwg:createTime="2016-06-25T02:58:35Z"/><JobIdentity>
<LocalJobId>7</LocalJobId><ProcessId>1</ProcessId><ProcessId>2</ProcessId></JobIdentity><UserIdentity><DN/>
<VOName>/cms/Role=pilot</VOName><KeyInfo>none</KeyInfo></UserIdentity>
<Status urwg:description="exit &amp; signal">0</Status><WallDuration>PT1H0.5S</WallDuration>
<CpuDuration urwg:usageType="user" urwg:description="d">PT0.3S</CpuDuration><CpuDuration urwg:usageType="system">PT0.13S</CpuDuration>
<Memory urwg:storageUnit="KB" urwg:phaseUnit="PT1M" urwg:metric="max" urwg:type="virtual">5</Memory>
<Host primary="true" urwg:description="SITE">h</Host><TimeDuration urwg:type="CommittedTime">PT5S</TimeDuration>
<TimeInstant>2016-01-01T00:00:00Z</TimeInstant><Processors urwg:consumptionRate="0.1">8</Processors>
<StartTime>2016-06-25T00:00:00Z</StartTime><EndTime urwg:description="calculated">2016-06-25T01:00:00Z</EndTime>
<Resource description="condor.Job Status">4</Resource><PhaseResource urwg:description="p" urwg:unit="u">v</PhaseResource>
<Resource urwg:description="ResourceType">BatchPilot</Resource><Empty/>
<Origin hop="1"><ServerDate>d</ServerDate><Connection><Sender>s</Sender></Connection></Origin></JobUsageRecord>"#;

fn flat() -> serde_json::Value {
    serde_json::json!({
        "type": "JobUsageRecord", "RecordId": "r:1.1", "CreateTime": "2016-06-25T02:58:35Z", "LocalJobId": "7",
        "ProcessId0": "1", "ProcessId1": "2", "VOName": "/cms/Role=pilot", "Status": "0",
        "Status_description": "exit & signal", "WallDuration": 3600.5, "CpuDuration": 0.430_000_000_000_000_05,
        "CpuDuration_user": 0.3, "CpuDuration_user_description": "d", "CpuDuration_system": 0.13, "Memory": 5.0,
        "Memory_storageUnit": "KB", "Memory_phaseUnit": 60, "Memory_metric": "max", "Host": "h",
        "Host_description": "SITE", "TimeDuration_CommittedTime": 5, "TimeInstant_unknown": "2016-01-01T00:00:00Z",
        "Processors": 8, "StartTime": "2016-06-25T00:00:00Z", "EndTime": "2016-06-25T01:00:00Z",
        "Resource_condor-Job-Status": "4", "Resource_p": "v",
        "Resource_p_unit": "u", "ResourceType": "Payload", "Origin_hop": 1, "OriginServerDate": "d",
        "OriginSender": "s", "CoreHours": 8.0, "@received": "2016-06-25T02:00:00Z", "checksum": "x"
    })
}

#[test]
fn the_collectors_rules_make_xml_flat() {
    let check = compared(with_xml(flat(), XML).as_bytes());
    assert_eq!(
        (check.document_n, check.agreeing_n),
        (1, 1),
        "{:#?}",
        check.differences().collect::<Vec<_>>()
    );
    assert_eq!(check.fields["CpuDuration"].last_digits_n, 1);
    assert_eq!(check.fields["Memory"].equal_n, 1);
}

#[test]
fn a_difference_is_reported_with_field_and_example() {
    let mut wrong = flat();
    wrong["WallDuration"] = 0.into();
    wrong["Queue"] = "q".into();
    wrong.as_object_mut().unwrap().remove("Host");
    let lines = [
        with_xml(wrong, XML),
        flat().to_string(),
        with_xml(
            flat(),
            "<JobUsageRecord><WallDuration>-PT5S</WallDuration></JobUsageRecord>",
        ),
    ];
    let check = compared(lines.join("\n").as_bytes());
    assert_eq!(
        (
            check.document_n,
            check.agreeing_n,
            check.without_xml_n,
            check.unreadable_n
        ),
        (1, 0, 1, 1)
    );
    let reported: Vec<_> = check
        .differences()
        .map(|(field, check)| (field, check.example.clone().unwrap()))
        .collect();
    assert_eq!(
        reported,
        [
            ("Host", "r:1.1: flat nothing, XML \"h\"".to_owned()),
            ("Queue", "r:1.1: flat \"q\", XML nothing".to_owned()),
            ("WallDuration", "r:1.1: flat \"0\", XML \"3600.5\"".to_owned()),
        ]
    );
    assert!(check.unreadable_example.unwrap().contains("sign"));
}

/// Fields that hold names. Whoever made this data anonymous replaced every text that is also some user's or group's
/// name, but in the flat fields alone: a VO, queue or group called like a user became a pseudonym there.
const NAMES: [&str; 8] = [
    "CommonName",
    "LocalUserId",
    "ProjectName",
    "Queue",
    "ReportableVOName",
    "Resource_AccountingGroup",
    "Resource_LocalUserGroup",
    "VOName",
];

fn is_pseudonym(text: &str) -> bool {
    let hex = text.strip_prefix("group_").or_else(|| text.strip_prefix('u'));
    text.is_empty() || hex.is_some_and(|hex| hex.len() == 6 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[test]
fn real_documents_state_the_same_twice() {
    let Some(folder) = shared("real_documents_say_the_same_twice", "data/gracc/es-dump") else {
        return;
    };
    let (mut documents, mut agreeing, mut last_digits) = (0, 0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mut lines = Vec::new();
        flate2::read::MultiGzDecoder::new(std::fs::File::open(&path).unwrap())
            .read_to_end(&mut lines)
            .unwrap();
        let check = compared(&lines);
        assert_eq!((check.unreadable_n, check.without_xml_n), (0, 0));
        for (field, found) in check.differences() {
            let example = found.example.as_deref().unwrap();
            let flat = example.split("flat \"").nth(1).unwrap().split('"').next().unwrap();
            assert!(NAMES.contains(&field) && is_pseudonym(flat), "{field}: {found:?}");
            assert_eq!((found.only_flat_n, found.only_xml_n), (0, 0), "{field}");
        }
        // With the XML's spelling of replaced names there is no difference left in any document.
        let repaired: Vec<String> = std::str::from_utf8(&lines).unwrap().lines().map(repaired).collect();
        let whole = compared(repaired.join("\n").as_bytes());
        assert_eq!(whole.differences().collect::<Vec<_>>(), [], "{}", path.display());
        assert_eq!(whole.agreeing_n, whole.document_n);
        documents += whole.document_n;
        agreeing += check.agreeing_n;
        last_digits += whole.fields.values().map(|field| field.last_digits_n).sum::<u64>();
    }
    assert_eq!((documents, agreeing, last_digits), (4200, 3223, 805));
}

/// A document with its replaced names as the XML has them.
fn repaired(line: &str) -> String {
    let mut document: serde_json::Value = serde_json::from_str(line).unwrap();
    let source = &mut document["_source"];
    let xml = source["RawXML"].as_str().unwrap().to_owned();
    for field in NAMES {
        if !source[field].as_str().is_some_and(is_pseudonym) {
            continue;
        }
        let opening = match field.strip_prefix("Resource_") {
            Some(what) => format!("<Resource urwg:description=\"{what}\""),
            None => format!("<{field}"),
        };
        let Some((_, rest)) = xml.split_once(&opening) else {
            continue;
        };
        let text = rest.split_once('>').unwrap().1;
        source[field] = text.split('<').next().unwrap().into();
    }
    document.to_string()
}

#[test]
fn the_collectors_own_pairs_agree() {
    let Some(folder) = shared("the_collectors_own_pairs_agree", "data/gracc/collector-pairs") else {
        return;
    };
    for name in [
        "JobUsageRecord01",
        "JobUsageRecord02",
        "JobUsageRecord03",
        "JobUsageRecord04",
        "JobUsageRecord05",
        "JobUsageRecord06",
        "UsageRecord01",
    ] {
        let xml = std::fs::read_to_string(folder.join(format!("{name}.xml"))).unwrap();
        let json = std::fs::read(folder.join(format!("{name}.json"))).unwrap();
        let mut flat: serde_json::Value = serde_json::from_slice(&json).unwrap();
        // The collector drops these attributes, unlike in its examples.
        for key in ["ServiceLevel_type", "Memory_type", "Host_primary"] {
            flat.as_object_mut().unwrap().remove(key);
        }
        let check = compared(with_xml(flat.clone(), &xml).as_bytes());
        assert_eq!(
            (check.document_n, check.differences().collect::<Vec<_>>()),
            (1, vec![]),
            "{name}"
        );
        // Two readers, one job.
        let (from_xml, from_json) = (read(xml.as_bytes()), read(&json));
        assert_eq!(
            (from_xml.rejects.len(), from_xml.jobs.len()),
            (0, 1),
            "{name}: {:?}",
            from_xml.rejects
        );
        assert_eq!(from_xml.jobs[0].row, from_json.jobs[0].row, "{name}");
    }
    for name in [
        "StorageElement01",
        "StorageElement02",
        "StorageElementRecord01",
        "StorageElementRecord02",
    ] {
        for ending in ["xml", "json"] {
            let all = read(&std::fs::read(folder.join(format!("{name}.{ending}"))).unwrap());
            assert_eq!(
                all.out_of_scope.get(&Reason::OtherRecordType),
                Some(&1),
                "{name}.{ending}"
            );
            assert_eq!(all.rows_read, 1);
        }
    }
}

#[test]
fn real_envelopes_and_bundles_give_each_record_once() {
    let Some(folder) = shared(
        "real_envelopes_and_bundles_give_each_record_once",
        "data/gracc/collector-pairs",
    ) else {
        return;
    };
    let file = |name: &str| read(&std::fs::read(folder.join(name)).unwrap());
    let envelope = file("multiupdate-envelope.xml");
    assert_eq!(
        (envelope.rows_read, envelope.jobs.len()),
        (11, 7),
        "{:?}",
        envelope.rejects
    );
    assert_eq!(envelope.out_of_scope.get(&Reason::OtherRecordType), Some(&4));
    let bundle = file("replication-bundle.test.bundle");
    let entries = std::fs::read_to_string(folder.join("replication-bundle.test.bundle")).unwrap();
    let entry_n = entries.matches("replication|").count() as u64;
    assert_eq!(
        (bundle.rows_read, bundle.rejects.len()),
        (entry_n, 0),
        "{:?}",
        bundle.rejects
    );
    let ends = file("test_endtime.xml");
    let local = |all: &crate::support::collect::Collected| -> Vec<String> {
        all.rows().map(|row| row.job_id.to_owned()).collect()
    };
    // One record is complete, one lacks its end, one its start and end, one its end and wall time.
    assert_eq!(ends.rows_read, 4, "{:?}", local(&ends));
    assert_eq!(ends.reasons(), [Reason::TimeUnknown, Reason::TimeUnknown]);
}
