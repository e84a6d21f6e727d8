//! CAR: jobs as XML, and XML that wants to do harm.

use std::fmt::Write as _;

use gridtally::ledger::Reason;
use gridtally::record::JobRow;
use gridtally::sources::apel::acceptance::Acceptance;
use gridtally::sources::apel::{self, ApelLimits};
use proptest::prelude::*;

use crate::support::collect::{Collected, Job, input, plan, run, shared};

const OPEN: &str =
    "<?xml version=\"1.0\"?>\n<UsageRecords xmlns=\"http://eu-emi.eu/namespaces/2012/11/computerecord\">\n";
const CLOSE: &str = "</UsageRecords>\n";

fn read(text: impl AsRef<[u8]>, acceptance: Acceptance) -> Collected {
    run(apel::pieces(input(text.as_ref()), plan(apel::DIALECT.format(), acceptance)).unwrap())
}

fn record(id: &str, more: &str) -> String {
    format!(
        "<UsageRecord xmlns:urf=\"http://eu-emi.eu/namespaces/2012/11/computerecord\">\
         <JobIdentity><LocalJobId>{id}</LocalJobId></JobIdentity>\
         <UserIdentity><GlobalUserName urf:type=\"rfc2253\">CN=Pat &amp; Co,O=Reef</GlobalUserName><Group>reef</Group>\
         <GroupAttribute urf:type=\"vo-group\">/reef/deep</GroupAttribute></UserIdentity>\
         <Infrastructure urf:description=\"x\" urf:type=\"grid\"/>{more}<WallDuration>PT1H0.5S</WallDuration>\
         <CpuDuration urf:usageType=\"user\">PT1S</CpuDuration><CpuDuration urf:usageType=\"all\">P1DT1M</CpuDuration>\
         <ServiceLevel urf:type=\"HEPSPEC\">10.5</ServiceLevel><Processors>8</Processors><NodeCount>0</NodeCount>\
         <StartTime>2026-03-01T10:00:00+01:00</StartTime><EndTime>2026-03-01T10:00:00</EndTime>\
         <MachineName>lrms</MachineName><SubmitHost>ce</SubmitHost><Queue>long</Queue><Site urf:type=\"x\">S</Site>\
         </UsageRecord>\n"
    )
}

fn document(records: &[String]) -> String {
    format!("{OPEN}{}{CLOSE}", records.concat())
}

#[test]
fn fields_of_a_job() {
    let text = document(&[record("Ab", "")]);
    let all = read(&text, Acceptance::StrictApel);
    let Job { row, at, .. } = &all.jobs[0];
    assert_eq!((at.line, usize::try_from(at.byte_offset).unwrap()), (3, OPEN.len()));
    let expected = JobRow {
        view: "batch",
        site: Some("S"),
        cluster: Some("lrms"),
        submit_host: Some("ce"),
        job_id: "Ab",
        identity_key: Some("ab|1772359200"),
        vo: Some("reef"),
        vo_group: Some("/reef/deep"),
        global_user: Some("CN=Pat & Co,O=Reef"),
        partition: Some("long"),
        infrastructure: Some("grid"),
        start_ms: Some(1_772_355_600_000),
        end_ms: Some(1_772_359_200_000),
        wall_ms: Some(3_601_000),
        cpu_ms: Some(86_460_000),
        alloc_core_n: Some(8),
        benchmark: Some("hs06"),
        benchmark_milli_per_core: Some(10_500),
        ..JobRow::default()
    };
    assert_eq!(row, &expected);
    // The prefix does not matter, the namespace does, and an FQAN wins.
    let fqan = "<GroupAttribute urf:type=\"FQAN\">/kelp/Role=pilot/Capability=NULL;/reef</GroupAttribute>";
    let all = read(document(&[record("1", fqan)]), Acceptance::StrictApel);
    let row = &all.jobs[0].row;
    assert_eq!(
        (row.vo, row.vo_group, row.vo_role),
        (Some("kelp"), Some("/kelp"), Some("Role=pilot"))
    );
    assert_eq!(row.fqan, Some("/kelp/Role=pilot/Capability=NULL;/reef"));
    let foreign = record("1", "<Site xmlns=\"urn:other\">WRONG</Site>");
    assert_eq!(
        read(document(&[foreign]), Acceptance::StrictApel).jobs[0].row.site,
        Some("S")
    );
}

#[test]
fn a_bad_record_refuses_its_document() {
    let bad = record("2", "").replace("PT1H0.5S", "1 hour");
    let text = document(&[record("1", ""), bad, record("3", "").replace("HEPSPEC", "custom")]);
    let all = read(&text, Acceptance::StrictApel);
    assert_eq!(
        all.reasons(),
        [Reason::MessageRefused, Reason::BadDuration, Reason::BadBenchmark]
    );
    assert!(all.rejects[1].raw.starts_with(b"<UsageRecord") && all.rejects[1].raw.ends_with(b"</UsageRecord>"));
    let all = read(&text, Acceptance::Salvage);
    assert_eq!(
        (all.jobs.len(), all.reasons()),
        (1, vec![Reason::BadDuration, Reason::BadBenchmark])
    );
    for gone in ["Site", "LocalJobId", "EndTime", "ServiceLevel", "WallDuration"] {
        let text = record("1", "")
            .replace(&format!("<{gone}"), "<Nothing")
            .replace(&format!("</{gone}>"), "</Nothing>");
        assert_eq!(
            read(document(&[text]), Acceptance::Salvage).reasons(),
            [Reason::MissingField],
            "{gone}"
        );
    }
}

#[test]
fn damage_loses_only_what_is_damaged() {
    let text = document(&[record("1", ""), record("2", "")]);
    let cut = &text[..text.len() - 200];
    assert_eq!(
        read(cut, Acceptance::StrictApel).reasons(),
        [Reason::MessageRefused, Reason::Truncated]
    );
    let all = read(cut, Acceptance::Salvage);
    assert_eq!((all.jobs.len(), all.reasons()), (1, vec![Reason::Truncated]));
    assert_eq!(
        read(&text[..OPEN.len()], Acceptance::Salvage).reasons(),
        [Reason::BadMessage]
    );
    assert_eq!(read(document(&[]), Acceptance::StrictApel).rows_read, 0);
}

#[test]
fn a_record_with_lost_text_is_truncated() {
    let text = document(&[record("1", ""), record("2", ""), record("3", "")]);
    let second = text.find(&record("2", "")).unwrap();
    let lost = |from: usize| {
        let mut text = text.clone().into_bytes();
        text[from..from + 4].fill(0);
        read(text, Acceptance::Salvage)
    };
    let inside = record("2", "").find("PT").unwrap();
    for from in [second + inside + 1, second + 20] {
        let all = lost(from);
        assert!(all.reasons().contains(&Reason::Truncated), "{:?}", all.rejects);
        assert!(all.rows().all(|row| row.job_id != "2"), "{from}");
    }
}

/// Each kind of damage costs the record it is in; the records before and behind are read.
#[test]
fn records_behind_damage_are_read() {
    let whole = record("2", "");
    let long_comment = whole.replace("<Queue>", "<!-- <Queue>");
    for (damaged, what) in [
        (whole.replace("&amp;", "&"), "a lone ampersand"),
        (whole.replace("long", "a&nbsp;b"), "an entity of HTML"),
        (whole.replace("long", "a < b"), "a lone less-than sign"),
        (whole.replace("</Queue>", "</Qeue>"), "another end tag"),
        (whole.replace("urf:usageType=\"all\"", "urf:usageType=all"), "no quotes"),
        (whole.replace("</UsageRecord>", ""), "no end tag of the record"),
        (long_comment, "a comment without an end"),
        (
            whole.replace("long", &"long ".repeat(300_000)),
            "a record that is too long",
        ),
    ] {
        let text = document(&[record("1", ""), damaged.clone(), record("3", ""), record("4", "")]);
        let all = read(&text, Acceptance::Salvage);
        let ids: Vec<&str> = all.jobs.iter().map(|job| job.row.job_id).collect();
        assert_eq!((all.rows_read, ids), (4, vec!["1", "3", "4"]), "{what}");
        let expected = if damaged.len() > 1 << 20 {
            Reason::TooLong
        } else {
            Reason::BadXml
        };
        assert_eq!(all.reasons(), [expected], "{what}");
        let lines: u64 = text.lines().position(|line| line.contains(">3<")).unwrap() as u64 + 1;
        assert_eq!(all.jobs[1].at.line, lines, "{what}");
        let offset = usize::try_from(all.jobs[1].at.byte_offset).unwrap();
        assert!(text[offset..].starts_with(&record("3", "")[..40]), "{what}");
        // The strict rule refuses the document, and counts all of it.
        let all = read(&text, Acceptance::StrictApel);
        assert_eq!((all.jobs.len(), all.rows_read, all.outcomes()), (0, 4, 4), "{what}");
    }
    // The last record has no end tag, but the document goes on.
    let last = document(&[record("1", ""), whole.replace("</UsageRecord>", "")]);
    let all = read(last, Acceptance::Salvage);
    assert_eq!((all.jobs.len(), all.reasons()), (1, vec![Reason::BadXml]));
}

/// Damage between records counts as one: a record may have been there.
#[test]
fn damage_between_records_is_counted() {
    let records: Vec<String> = (0..5).map(|n| record(&n.to_string(), "")).collect();
    for (between, expected) in [
        (" & ", vec![Reason::BadXml]),
        ("<UsageRecorx><Site>S</Site></UsageRecord>", vec![Reason::BadXml]),
        ("<!-- no record -->", vec![]),
    ] {
        let text = document(&[records[0].clone(), between.to_owned(), records[1..].concat()]);
        let all = read(&text, Acceptance::Salvage);
        assert_eq!((all.jobs.len(), all.reasons()), (5, expected.clone()), "{between}");
        let all = read(&text, Acceptance::StrictApel);
        assert_eq!(
            (all.rows_read, all.outcomes()),
            (5 + expected.len() as u64, all.rows_read)
        );
    }
    // The end of the document is missing, between two records.
    let all = read(format!("{OPEN}{}", records.concat()), Acceptance::Salvage);
    assert_eq!((all.jobs.len(), all.reasons()), (5, vec![Reason::Truncated]));
}

/// A declared encoding holds; without one, text is UTF-8 and bytes that are not cost the record they are in.
#[test]
fn declared_encoding() {
    let text = document(&[
        record("1", ""),
        record("2", "").replace("CN=Pat", "CN=Zoë"),
        record("3", ""),
    ]);
    let latin1 = |text: &str| -> Vec<u8> { text.chars().map(|letter| u8::try_from(letter).unwrap()).collect() };
    let declared = text.replace("version=\"1.0\"", "version=\"1.0\" encoding=\"ISO-8859-1\"");
    let all = read(latin1(&declared), Acceptance::StrictApel);
    assert_eq!(all.reasons(), []);
    assert_eq!(all.jobs[1].row.global_user, Some("CN=Zoë & Co,O=Reef"));
    let all = read(latin1(&text), Acceptance::Salvage);
    assert_eq!((all.jobs.len(), all.reasons()), (2, vec![Reason::BadXml]));
    assert!(
        all.rejects[0].detail.contains("ISO 8859-1"),
        "{}",
        all.rejects[0].detail
    );
}

#[test]
fn bombs_are_refused() {
    let laughs = "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;\">]>";
    let text = document(&[record("&b;", "")]).replace("<?xml version=\"1.0\"?>", laughs);
    let all = read(&text, Acceptance::Salvage);
    assert_eq!(all.reasons(), [Reason::BadMessage]);
    assert!(
        all.rejects[0].detail.contains("document type"),
        "{}",
        all.rejects[0].detail
    );
    // An entity nobody declared.
    assert_eq!(
        read(document(&[record("&b;", "")]), Acceptance::Salvage).reasons(),
        [Reason::BadXml]
    );
    let deep = record(
        "1",
        &format!("{}{}", "<Deep>".repeat(100_000), "</Deep>".repeat(100_000)),
    );
    let all = read(document(&[deep]), Acceptance::Salvage);
    assert!(all.rejects[0].detail.contains("deep"), "{}", all.rejects[0].detail);
    let mut many = String::new();
    for n in 0..100_000 {
        write!(many, " xmlns:n{n}=\"urn:{n}\"").unwrap();
    }
    let all = read(document(&[record("1", &format!("<X{many}/>"))]), Acceptance::Salvage);
    assert_eq!(all.jobs.len(), 0, "{:?}", all.reasons());
    let limits = ApelLimits {
        message: 4000,
        record: 1500,
        kept: 100,
        ..ApelLimits::default()
    };
    let small = |text: String| {
        run(apel::pieces_within(
            input(text.as_bytes()),
            plan(apel::DIALECT.format(), Acceptance::Salvage),
            limits,
        )
        .unwrap())
    };
    let long = small(document(&[record("1", ""), record("2", &" ".repeat(1000))]));
    assert_eq!((long.jobs.len(), long.reasons()), (1, vec![Reason::TooLong]));
    let large = small(document(
        &(0..9).map(|n| record(&n.to_string(), "")).collect::<Vec<_>>(),
    ));
    assert_eq!((large.rows_read, large.reasons()), (9, vec![Reason::TooLong]));
    assert_eq!(large.rejects[0].raw.len(), 100);
}

/// The XML of the server's own tests.
#[test]
fn real_xml() {
    let Some(folder) = shared("real_xml", "data/apel/apel-xml") else {
        return;
    };
    for (file, jobs, rejects, out) in [
        ("car_01_L23.xml", 0, vec![Reason::BadBenchmark], vec![]),
        ("car_02_L55.xml", 1, vec![], vec![]),
        ("aur_01_L14.xml", 0, vec![], vec![Reason::AggregatedRecord]),
        ("star_01_L17.xml", 0, vec![], vec![Reason::StorageRecord]),
        ("star_04_L130.xml", 0, vec![], vec![Reason::StorageRecord]),
        ("loader_03_L156.xml", 0, vec![], vec![Reason::StorageRecord]),
        ("xml_01_L11.xml", 0, vec![], vec![Reason::OtherRecordType]),
    ] {
        let all = read(std::fs::read(folder.join(file)).unwrap(), Acceptance::StrictApel);
        let found = (
            all.jobs.len(),
            all.reasons(),
            all.out_of_scope.keys().copied().collect(),
        );
        assert_eq!(found, (jobs, rejects, out), "{file}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever happens to the bytes, every row has one outcome and nothing panics.
    #[test]
    fn damaged_xml_is_accounted_for(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut in any::<prop::sample::Index>(),
        is_strict in any::<bool>(),
    ) {
        let mut bytes = document(&[record("1", ""), record("2", ""), record("3", "")]).into_bytes();
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(bytes.len() - cut.index(bytes.len()) / 4);
        let acceptance = if is_strict { Acceptance::StrictApel } else { Acceptance::Salvage };
        let all = read(&bytes, acceptance);
        prop_assert_eq!(all.rows_read, all.outcomes());
    }
}
