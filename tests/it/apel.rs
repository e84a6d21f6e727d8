//! APEL messages: what the server accepts is accepted, what it refuses is refused, and nothing is lost on the way.

use std::collections::BTreeMap;

use gridtally::ledger::Reason;
use gridtally::record::JobRow;
use gridtally::record::anomaly::Anomaly;
use gridtally::sources::apel::acceptance::Acceptance;
use gridtally::sources::apel::{self, ApelLimits};
use proptest::prelude::*;

use crate::support::collect::{Collected, Job, input, plan, run};

pub(crate) const HEADER: &str = "APEL-individual-job-message: v0.3\n";

pub(crate) fn read(text: impl AsRef<[u8]>, acceptance: Acceptance) -> Collected {
    run(apel::pieces(input(text.as_ref()), plan(apel::DIALECT.format(), acceptance)).unwrap())
}

pub(crate) fn strict(text: impl AsRef<[u8]>) -> Collected {
    read(text, Acceptance::StrictApel)
}

/// A small sound record; `more` lines come after the ordinary ones, so they win.
pub(crate) fn record(id: &str, more: &str) -> String {
    format!(
        "Site: S\nLocalJobId: {id}\nWallDuration: 10\nCpuDuration: 5\nStartTime: 1500000000\nEndTime: 1500000010\n\
         ServiceLevelType: HEPSPEC\nServiceLevel: 10.5\n{more}%%\n"
    )
}

pub(crate) fn one(more: &str) -> Result<JobRow<'static>, Reason> {
    let all = strict(format!("{HEADER}{}", record("1", more)));
    assert_eq!(all.rows_read, 1);
    match all.jobs.first() {
        Some(Job { row, .. }) => Ok(row.clone()),
        None => Err(all.rejects[0].reason),
    }
}

#[test]
fn fields_of_a_job() {
    let text = "APEL-individual-job-message: v0.3\nSite: EXAMPLE-T2\nSubmitHost: ce.example.org:9619/ce-condor\n\
        MachineName: lrms.example.org\nQueue: long\nLocalJobId: Ab-1\nLocalUserId: pat\nGlobalUserName:/DC=org/CN=Pat\n\
        FQAN: /atlas/uk/Role=production/Capability=NULL;/atlas\nVO: wrong\nWallDuration: 3600\nCpuDuration: 7_000\n\
        Processors: 8\nNodeCount: 1\nStartTime: 1500000000\nEndTime: 2017-07-14T03:40:00Z\nInfrastructureType: grid\n\
        InfrastructureDescription: APEL-CREAM-SLURM\nMemoryReal: 10\nMemoryVirtual: null\nUpdateTime: anything\n\
        ServiceLevelType: hEpScOrE23\nServiceLevel: 17.98765\n%%\n";
    let all = strict(text);
    let Job { row, at, .. } = &all.jobs[0];
    assert_eq!((at.line, at.byte_offset), (2, 34));
    let expected = JobRow {
        view: "batch",
        site: Some("EXAMPLE-T2"),
        cluster: Some("lrms.example.org"),
        submit_host: Some("ce.example.org:9619/ce-condor"),
        job_id: "Ab-1",
        identity_key: Some("ab-1|1500003600"),
        fqan: Some("/atlas/uk/Role=production/Capability=NULL;/atlas"),
        vo: Some("atlas"),
        vo_group: Some("/atlas/uk"),
        vo_role: Some("Role=production"),
        user: Some("pat"),
        global_user: Some("/DC=org/CN=Pat"),
        partition: Some("long"),
        infrastructure: Some("grid"),
        start_ms: Some(1_500_000_000_000),
        end_ms: Some(1_500_003_600_000),
        wall_ms: Some(3_600_000),
        cpu_ms: Some(7_000_000),
        alloc_core_n: Some(8),
        alloc_node_n: Some(1),
        max_rss_byte: Some(10_240),
        benchmark: Some("hs23"),
        benchmark_milli_per_core: Some(17_988),
        ..JobRow::default()
    };
    assert_eq!(row, &expected);
}

#[test]
fn decisions_on_a_record_are_those_of_the_server() {
    let long_id = format!("LocalJobId: {}\n", "x".repeat(256));
    for (more, expected) in [
        (
            "ServiceLevelType: none\nServiceLevel: null\n",
            Err(Reason::MissingField),
        ),
        ("ServiceLevelType: custom\n", Err(Reason::BadBenchmark)),
        ("ServiceLevelType:\n", Err(Reason::MissingField)),
        ("ServiceLevel: None\n", Err(Reason::MissingField)),
        ("ServiceLevel: abc\n", Err(Reason::BadBenchmark)),
        ("ServiceLevel: nan\n", Err(Reason::BadBenchmark)),
        ("ServiceLevel: 0\n", Ok(())),
        ("ServiceLevel: -1\n", Ok(())),
        ("WallDuration: -10\n", Err(Reason::BadDuration)),
        ("WallDuration: 10.0\n", Err(Reason::BadDuration)),
        ("WallDuration: 2147483647\n", Ok(())),
        ("WallDuration: 2147483648\n", Err(Reason::BadDuration)),
        ("CpuDuration: 99999999999999999999\n", Err(Reason::BadDuration)),
        ("CpuDuration: none\n", Err(Reason::MissingField)),
        ("MemoryVirtual: 2147483648\n", Err(Reason::BadNumber)),
        ("Processors: four\n", Err(Reason::BadNumber)),
        ("Processors: +4\n", Ok(())),
        ("Processors: 1__0\n", Err(Reason::BadNumber)),
        ("StartTime: 0\nEndTime: 0\n", Ok(())),
        ("EndTime: 1499999999\n", Err(Reason::BadTime)),
        ("EndTime: 2017-07-14T02:40:10Z\n", Ok(())),
        ("EndTime: 2017-07-14T02:40:10+00:00\n", Err(Reason::BadTime)),
        ("EndTime: 1500000010.0\n", Err(Reason::BadTime)),
        // The server refuses a future end; that would make the result depend on the day of the run.
        ("EndTime: 9500000010\n", Ok(())),
        ("Foo: bar\n", Err(Reason::UnknownField)),
        ("site: S\n", Err(Reason::UnknownField)),
        ("LocalJobID: 1\n", Err(Reason::UnknownField)),
        ("UpdateTime: x\nSubmitHostType: y\n", Ok(())),
        ("Site: T\n", Ok(())),
        ("Site: NULL\n", Err(Reason::MissingField)),
        ("Site : S\n", Ok(())),
        ("\nQueue: q\n", Err(Reason::FieldCount)),
        ("no colon here\n", Err(Reason::FieldCount)),
        ("      Queue: q\n", Ok(())),
        ("Queue: q\r\n", Ok(())),
        (long_id.as_str(), Err(Reason::BadJobId)),
    ] {
        assert_eq!(one(more).map(|_| ()), expected, "{more}");
    }
}

#[test]
fn unknown_stays_unknown() {
    let row = one("VO: None\nProcessors: 0\nNodeCount: 0\nMemoryReal: 0\nFQAN: NULL\nGlobalUserName: null\n").unwrap();
    assert_eq!(
        (row.vo, row.global_user, row.alloc_core_n, row.alloc_node_n),
        (None, None, None, None)
    );
    assert_eq!((row.max_rss_byte, row.max_virtual_byte), (Some(0), None));
    assert_eq!(row.anomalies, Anomaly::CoreUnknown.bit());
    let row = one("ServiceLevel: -1\nProcessors: 1\n").unwrap();
    assert_eq!((row.benchmark, row.anomalies), (None, Anomaly::ValueDropped.bit()));
    let row = one("VO: local-dune\nVOGroup: g\nProcessors: 1\n").unwrap();
    assert_eq!(
        (row.vo, row.vo_group, row.anomalies),
        (Some("local-dune"), Some("g"), 0)
    );
}

#[test]
fn benchmark_dictionaries_of_v04() {
    for (level, expected) in [
        ("ServiceLevel: {hepspec: 10.5, HEPscore23: 12.25}", Ok(("hs23", 12_250))),
        ("ServiceLevel: {HEPscore23: 12.25, si2k: 2500}", Ok(("hs23", 12_250))),
        ("ServiceLevel: {si2k: 2500, HEPSPEC: 10.75}", Ok(("hs06", 10_750))),
        ("ServiceLevel: {si2k: 2500, other: 1}", Ok(("si00", 2_500_000))),
        ("ServiceLevel: {HEPSPEC: 12.25, hepspec: 1}", Ok(("hs06", 1000))),
        ("ServiceLevel: {hepspec: 12.25, hepspec: 1}", Err(Reason::BadBenchmark)),
        ("ServiceLevel: 10.5", Err(Reason::BadBenchmark)),
        ("ServiceLevel: {other: 1}", Err(Reason::BadBenchmark)),
        ("ServiceLevel: {\"hepspec\": 10.5}", Err(Reason::BadBenchmark)),
        ("ServiceLevel: {}", Err(Reason::BadBenchmark)),
        (
            "ServiceLevelType: hepspec\nServiceLevel: {hepspec: 10.5}",
            Ok(("hs06", 10_500)),
        ),
        (
            "ServiceLevelType: si2k\nServiceLevel: {hepspec: 10.5}",
            Err(Reason::BadBenchmark),
        ),
        ("Queue: q", Err(Reason::MissingField)),
    ] {
        let all = strict(format!(
            "APEL-individual-job-message: v0.4\nSite: S\nLocalJobId: 1\nWallDuration: 10\nCpuDuration: 5\n\
             StartTime: 1500000000\nEndTime: 1500000010\n{level}\n%%"
        ));
        let found = match all.jobs.first() {
            Some(Job { row, .. }) => Ok((row.benchmark.unwrap(), row.benchmark_milli_per_core.unwrap())),
            None => Err(all.rejects[0].reason),
        };
        assert_eq!(found, expected, "{level}");
    }
}

#[test]
fn headers_decide() {
    let body = record("1", "");
    for (header, jobs, rejects, out) in [
        ("APEL-individual-job-message: v0.1", 1, 0, None),
        ("APEL-individual-job-message: v9.9", 1, 0, None),
        ("APEL-individual-job-message: v0.4", 0, 1, None),
        ("APEL-summary-job-message: v0.2", 0, 1, None),
        ("APEL-summary-job-message: v0.3", 0, 1, None),
        ("APEL-summary-job-message: v0.4", 0, 1, None),
        ("APEL-summary-job-message: v0.1", 0, 1, None),
        ("APEL-normalised-summary-message: v0.4", 0, 1, None),
        ("APEL-normalised-summary-message: v0.3", 0, 1, None),
        ("APEL-sync-message: v0.9", 0, 1, None),
        ("APEL-cloud-message: v0.4", 0, 0, Some(Reason::CloudRecord)),
        ("APEL-cloud-summary-message: v0.4", 0, 0, Some(Reason::CloudRecord)),
        ("APEL-foo-message: v0.1", 0, 1, None),
        ("no header", 0, 1, None),
    ] {
        let all = strict(format!("{header}\n{body}"));
        assert_eq!((all.jobs.len(), all.rejects.len()), (jobs, rejects), "{header}");
        assert_eq!(all.out_of_scope.keys().next().copied(), out, "{header}");
    }
    assert_eq!(strict("").rows_read, 0);
    assert_eq!(strict(HEADER).rows_read, 0);
    assert_eq!(strict(format!("{HEADER}%%\n%%\n \n")).rows_read, 0);
}

/// The server takes the first line of a message for its header: of a file that begins with something else, a header further
/// down makes nothing sound, whatever the sizes of the pieces it is read in.
#[test]
fn a_header_in_the_middle_refuses_all_of_its_file() {
    let text = format!(
        "{}{HEADER}{}{HEADER}{}",
        record("1", ""),
        record("2", ""),
        record("3", "")
    );
    let findings = gridtally::report::apel::check::message(&text, None);
    assert_eq!(findings.len(), 1);
    assert!(
        findings[0].detail.contains("is on line 10 and must be the first"),
        "{findings:?}"
    );
    for lead in ["", "\n \n"] {
        for acceptance in [Acceptance::StrictApel, Acceptance::Salvage] {
            let all = read(format!("{lead}{text}"), acceptance);
            assert_eq!(all.reasons(), [Reason::BadMessage; 3]);
            assert!(
                all.rejects[1].detail.contains("does not begin with a header line"),
                "{:?}",
                all.rejects
            );
        }
        // Messages one after the other are as sound as they were.
        let all = strict(format!("{lead}{HEADER}{}{HEADER}{}", record("2", ""), record("3", "")));
        assert_eq!((all.jobs.len(), all.rejects.len()), (2, 0));
    }
}

#[test]
fn one_bad_record_refuses_its_message_and_only_that() {
    let text = format!(
        "{HEADER}{}{}{}{HEADER}{}",
        record("1", ""),
        record("2", "WallDuration: soon\n"),
        record("3", ""),
        record("4", "")
    );
    let all = strict(&text);
    assert_eq!(
        all.reasons(),
        [Reason::MessageRefused, Reason::BadDuration, Reason::MessageRefused]
    );
    assert_eq!(all.rejects[1].detail, "WallDuration \"soon\" is not an integer");
    assert_eq!(
        all.rejects[0].detail,
        "the record at line 11 of the same message is refused (bad_duration)"
    );
    assert_eq!(all.rows().map(|row| row.job_id).collect::<Vec<_>>(), ["4"]);
    let all = read(&text, Acceptance::Salvage);
    assert_eq!(all.rows().map(|row| row.job_id).collect::<Vec<_>>(), ["1", "3", "4"]);
    assert_eq!(all.reasons(), [Reason::BadDuration]);
    for Job { row, at, .. } in &all.jobs {
        let start = usize::try_from(at.byte_offset).unwrap();
        assert!(text[start..].starts_with("Site: S"), "{row:?}");
        assert_eq!(usize::try_from(at.line).unwrap(), text[..start].lines().count() + 1);
    }
}

#[test]
fn salvage_reads_the_keys_of_v01() {
    let text = "APEL-individual-job-message: v0.1\nSite: S\nLocalJobID: 7\nLocalUserID: pat\nUserFQAN: /reef/Role=pilot\n\
        WallDuration: 10\nCpuDuration: 5\nStartTime: 1300000000\nEndTime: 1300000010\nScalingFactorUnit: SpecInt2000\n\
        ScalingFactor: 2500\n%%\n";
    assert_eq!(strict(text).reasons(), [Reason::UnknownField]);
    let all = read(text, Acceptance::Salvage);
    let row = &all.jobs[0].row;
    assert_eq!((row.job_id, row.user, row.vo), ("7", Some("pat"), Some("reef")));
    assert_eq!(
        (row.benchmark, row.benchmark_milli_per_core),
        (Some("si00"), Some(2_500_000))
    );
    let all = read(text.replace("SpecInt2000", "custom"), Acceptance::Salvage);
    assert_eq!(all.jobs[0].row.benchmark, None);
}

#[test]
fn two_percent_signs_cut_a_record_wherever_they_are() {
    let all = read(format!("{HEADER}{}", record("1", "Queue: a%%b\n")), Acceptance::Salvage);
    assert_eq!(all.rows_read, 2);
    assert_eq!((all.jobs.len(), all.reasons()), (1, vec![Reason::FieldCount]));
}

#[test]
fn text_that_is_not_utf8_is_kept_and_stated() {
    let mut text = format!("{HEADER}{}", record("1", "LocalUserId: X\n")).into_bytes();
    let at = text.iter().position(|&b| b == b'X').unwrap();
    text[at] = 0xff;
    let all = strict(text);
    assert_eq!(all.jobs[0].row.user, Some("\\xFF"));
    assert_ne!(all.jobs[0].row.anomalies & Anomaly::InvalidText.bit(), 0);
}

#[test]
fn xml_and_json_are_counted() {
    let car = "<?xml version=\"1.0\"?><!-- <UsageRecord> --><c:UsageRecords xmlns:c=\"urn:x\"><c:UsageRecord>\n</c:UsageRecord>\
               <UsageRecord/></c:UsageRecords>";
    for block in [1, 7, 4096] {
        let limits = ApelLimits {
            block,
            ..ApelLimits::default()
        };
        let plan = plan(apel::DIALECT.format(), Acceptance::StrictApel);
        let all = run(apel::pieces_within(input(car.as_bytes()), plan, limits).unwrap());
        assert_eq!((all.rows_read, all.out_of_scope.len()), (2, 0));
        let [rejected] = &all.rejects[..] else {
            panic!("{all:?}")
        };
        assert_eq!(rejected.reason, Reason::BadMessage);
        let why = "usage records in a document with the unknown namespace \"urn:x\": that of CAR is http://eu-emi.eu/";
        assert!(rejected.detail.starts_with(why), "{}", rejected.detail);
    }
    let unnamed = strict("<UsageRecords><UsageRecord></UsageRecord></UsageRecords>");
    assert!(unnamed.rejects[0].detail.contains("with no namespace"), "{unnamed:?}");
    let other = strict("<UserRecords xmlns='urn:x'><UserRecord/></UserRecords>");
    assert_eq!(other.out_of_scope, BTreeMap::from([(Reason::OtherRecordType, 1)]));
    let aur = "<aur:SummaryRecords><aur:SummaryRecord></aur:SummaryRecord></aur:SummaryRecords>";
    assert_eq!(
        strict(aur).out_of_scope,
        BTreeMap::from([(Reason::AggregatedRecord, 1)])
    );
    let star = "<sr:StorageUsageRecords xmlns:sr='http://eu-emi.eu/namespaces/2011/02/storagerecord'>\
                <sr:StorageUsageRecord/><sr:StorageUsageRecord/></sr:StorageUsageRecords>";
    assert_eq!(strict(star).out_of_scope, BTreeMap::from([(Reason::StorageRecord, 2)]));
    let ogf = "<JobUsageRecord xmlns='http://schema.ogf.org/urf/2003/09/urf'/>";
    assert_eq!(strict(ogf).out_of_scope, BTreeMap::from([(Reason::OgfUsageRecord, 1)]));
    let gpu = "{\"Type\": \"APEL-accelerator-message\", \"UsageRecords\": [{}, {}, {}]}";
    assert_eq!(
        strict(gpu).out_of_scope,
        BTreeMap::from([(Reason::AcceleratorRecord, 3)])
    );
    assert_eq!(strict("{\"Type\": ").reasons(), [Reason::BadMessage]);
    for (head, expected) in [
        (HEADER, true),
        (car, true),
        (gpu, true),
        ("\u{feff}APEL-sync-message: v0.1\n", true),
        ("JobID|State|Elapsed\n", false),
        ("{\"_index\":\"x\",\"_source\":{}}", false),
        ("Site: S\n", false),
    ] {
        assert_eq!(apel::recognise(head.as_bytes()), expected, "{head}");
    }
}

const SMALL: ApelLimits = ApelLimits {
    block: 64,
    message: 1500,
    record: 400,
    kept: 40,
};

#[test]
fn what_is_too_long_is_reported_and_bounded() {
    let giant: String = (0..20).map(|id| record(&id.to_string(), "")).collect();
    let long = record("long", &format!("Queue: {}\n", "q".repeat(2000)));
    let text = format!(
        "{HEADER}{giant}{HEADER}{}{long}{HEADER}{}",
        record("a", ""),
        record("b", "")
    );
    let read = |acceptance| {
        run(apel::pieces_within(input(text.as_bytes()), plan(apel::DIALECT.format(), acceptance), SMALL).unwrap())
    };
    let all = read(Acceptance::StrictApel);
    assert_eq!(all.rows().map(|row| row.job_id).collect::<Vec<_>>(), ["b"]);
    assert!(all.reasons().iter().all(|&reason| reason == Reason::TooLong));
    let all = read(Acceptance::Salvage);
    assert_eq!((all.jobs.len(), all.reasons()), (22, vec![Reason::TooLong]));
    assert_eq!(all.rejects[0].raw.len(), 40);
}

fn parts() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => Just(HEADER.to_owned()),
        1 => Just("  APEL-individual-job-message: v0.4\r\n".to_owned()),
        1 => Just("APEL-summary-job-message: v0.2\n".to_owned()),
        3 => Just(crate::apel_summaries::record(3, "")),
        1 => Just("APEL-odd-message : v7\n".to_owned()),
        8 => (0..5_u8).prop_map(|id| record(&id.to_string(), "")),
        2 => Just(record("x", "ServiceLevel: {hepspec: 3}\n")),
        2 => Just(record("bad", "WallDuration: x\n")),
        1 => "[ %A\r\n]{0,12}".prop_map(|text| text),
        1 => Just(record("long", &format!("Queue: {}\n", "q%".repeat(300)))),
        1 => Just(" \n".repeat(300)),
        1 => Just("APEL-".to_owned()),
    ];
    prop::collection::vec(part, 0..20).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn block_size_changes_nothing(
        text in parts(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
        block in 1_usize..3000,
        is_strict in any::<bool>(),
    ) {
        let mut bytes = text.into_bytes();
        for (at, byte) in flips {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        bytes.truncate(bytes.len() - cut.index(bytes.len() + 1).min(bytes.len()) % 200.min(bytes.len() + 1));
        let acceptance = if is_strict { Acceptance::StrictApel } else { Acceptance::Salvage };
        let read = |block| {
            let limits = ApelLimits { block, ..SMALL };
            run(apel::pieces_within(input(&bytes), plan(apel::DIALECT.format(), acceptance), limits).unwrap())
        };
        prop_assert_eq!(read(block), read(1 << 20));
    }
}

/// A number that is too large is named as such, and not as no number.
#[test]
fn numbers_that_do_not_fit_are_named_so() {
    for (more, expected) in [
        ("Processors: 99999999999999999999\n", "does not fit 32 bits"),
        ("WallDuration: 10000000000000000000\n", "does not fit 32 bits"),
        ("Processors: 4294967296\n", "does not fit 32 bits"),
        ("Processors: four\n", "is not an integer"),
        ("Processors: 1__0\n", "is not an integer"),
    ] {
        let all = strict(format!("{HEADER}{}", record("1", more)));
        assert!(
            all.rejects[0].detail.contains(expected),
            "{more}: {}",
            all.rejects[0].detail
        );
    }
}
