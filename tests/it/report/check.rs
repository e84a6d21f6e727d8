//! The rules of APEL's server, held against the reader, which was written apart from them.

use gridtally::report::apel::check::message;
use gridtally::report::apel::rules::ApelRule;
use gridtally::report::publication::messages::texts;
use gridtally::sources::apel;
use gridtally::sources::apel::acceptance::Acceptance;

use crate::support::collect::{input, plan, run, shared};

/// Whether the reader takes the whole message as the server would.
fn is_taken(text: &str) -> bool {
    let all = run(apel::pieces(
        input(text.as_bytes()),
        plan(apel::DIALECT.format(), Acceptance::StrictApel),
    )
    .unwrap());
    all.rejects.is_empty() && all.rows_read > 0
}

const JOB: &str = "APEL-individual-job-message: v0.3\nSite: S\nLocalJobId: 7\nWallDuration: 10\nCpuDuration: 9\n\
                   StartTime: 1488326400\nEndTime: 1488326410\nServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n";
const JOB_V04: &str = "APEL-individual-job-message: v0.4\nSite: S\nLocalJobId: 7\nWallDuration: 10\nCpuDuration: 9\n\
                       StartTime: 1488326400\nEndTime: 1488326410\nServiceLevel: {hepspec: 10, HEPscore23: 12.5}\n%%\n";
const SUMMARY: &str = "APEL-summary-job-message: v0.2\nSite: S\nMonth: 3\nYear: 2017\nVO: reef\nNodeCount: 1\n\
                       Processors: 8\nWallDuration: 100\nCpuDuration: 50\nNumberOfJobs: 2\nEarliestEndTime: 1488326400\n\
                       LatestEndTime: 1491004800\nServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n";
const NORMALISED: &str = "APEL-normalised-summary-message: v0.4\nSite: S\nMonth: 3\nYear: 2017\nNodeCount: 1\n\
                          Processors: 8\nWallDuration: 100\nCpuDuration: 50\nNumberOfJobs: 2\nInfrastructure: grid\n\
                          NormalisedWallDuration: {hepspec: 1000.5}\nNormalisedCpuDuration: {hepspec: 500}\n%%\n";
const SYNC: &str = "APEL-sync-message: v0.1\nSite: S\nSubmitHost: ce\nNumberOfJobs: 5\nMonth: 3\nYear: 2017\n%%\n";

/// Whole messages, and what is changed in them.
const CASES: &[(&str, &[(&str, &str)])] = &[
    (
        JOB,
        &[
            ("APEL-individual", "APEL-single"),
            ("Site: S\n", ""),
            ("Site: S", "Site: none"),
            ("Site: S", "site: S"),
            ("Site: S", "Site S"),
            ("WallDuration: 10", "WallDuration: 10.0"),
            ("WallDuration: 10", "WallDuration: -10"),
            ("WallDuration: 10", "WallDuration: 2147483648"),
            ("WallDuration: 10", "WallDuration: 1_0"),
            ("EndTime: 1488326410", "EndTime: 1488326399"),
            ("EndTime: 1488326410", "EndTime: 2017-03-01T00:00:10Z"),
            ("EndTime: 1488326410", "EndTime: 2017-03-01T00:00:10+00:00"),
            ("EndTime: 1488326410", "EndTime: 1488326410.0"),
            ("ServiceLevelType: HEPSPEC\nServiceLevel: 10\n", ""),
            ("ServiceLevelType: HEPSPEC\n", ""),
            ("HEPSPEC", "hepscore23"),
            ("HEPSPEC", "custom"),
            ("ServiceLevel: 10", "ServiceLevel: ten"),
            ("ServiceLevel: 10", "ServiceLevel: 1_0"),
            ("ServiceLevel: 10", "ServiceLevel: 1__0"),
            ("ServiceLevel: 10", "ServiceLevel: 10_"),
            ("LocalJobId: 7", "LocalJobId: 7\n\nQueue: q"),
            ("Site: S\n", "Site: S\nMemoryVirtual: 2147483648\n"),
            ("Site: S\n", "Site: S\nUpdateTime: yesterday\n"),
            ("Site: S\n", "Site: S\nMonth: 3\n"),
        ],
    ),
    (
        JOB_V04,
        &[
            ("ServiceLevel: {hepspec: 10, HEPscore23: 12.5}\n", ""),
            ("{hepspec: 10, HEPscore23: 12.5}", "10"),
            ("{hepspec: 10, HEPscore23: 12.5}", "{weird: 10}"),
            ("{hepspec: 10, HEPscore23: 12.5}", "{hepspec: 10, hepspec: 11}"),
            ("Site: S\n", "Site: S\nServiceLevelType: hepscore23\n"),
            ("Site: S\n", "Site: S\nServiceLevelType: hepspec\n"),
        ],
    ),
    (
        SUMMARY,
        &[
            ("Month: 3", "Month: 13"),
            ("Month: 3", "Month: 4"),
            ("1491004800", "1491004801"),
            ("EarliestEndTime: 1488326400", "EarliestEndTime: 1491004800"),
            ("LatestEndTime: 1491004800", "LatestEndTime: 1488326399"),
            ("Processors: 8\n", ""),
            ("ServiceLevelType: HEPSPEC", "ServiceLevelType: weird"),
            ("ServiceLevel: 10\n", ""),
            ("VO: reef", "Infrastructure: grid"),
            ("VO: reef", "FQAN: /reef"),
            ("NumberOfJobs: 2", "NumberOfJobs: 2147483648"),
            ("NumberOfJobs: 2", "NumberOfJobs: -2"),
            ("NumberOfJobs: 2", "NumberOfJobs: 0"),
            ("CpuDuration: 50", "CpuDuration: 5000000000"),
        ],
    ),
    (
        NORMALISED,
        &[
            ("Infrastructure:", "InfrastructureType:"),
            ("{hepspec: 500}", "{si2k: 500}"),
            ("{hepspec: 500}", "500"),
            ("{hepspec: 500}", "{hepspec: 5_00}"),
            ("NumberOfJobs: 2", "NumberOfJobs: -2"),
            ("NormalisedCpuDuration: {hepspec: 500}\n", ""),
            ("Site: S\n", "Site: S\nServiceLevelType: si2k\n"),
        ],
    ),
    (
        SYNC,
        &[("NumberOfJobs: 5\n", ""), ("Month: 3", "Month: 99"), ("v0.1", "v7")],
    ),
];

#[test]
fn every_rule_is_broken_by_some_message_and_the_reader_agrees() {
    let mut broken: std::collections::BTreeSet<ApelRule> = std::collections::BTreeSet::new();
    for (whole, changes) in CASES {
        assert_eq!(message(whole, None), [], "{whole}");
        assert!(is_taken(whole), "{whole}");
        for (from, to) in *changes {
            assert!(whole.contains(from), "{from}");
            let changed = whole.replacen(from, to, 1);
            let findings = message(&changed, None);
            // The reader takes a sync record of month 99 aside, as one row without a place, and no record at all.
            assert_eq!(findings.is_empty(), is_taken(&changed), "{changed}\n{findings:?}");
            broken.extend(findings.iter().map(|finding| finding.rule));
        }
    }
    let future = message(JOB, Some(1_488_326_410 - 2 * 86_400 - 1));
    assert_eq!(future.first().map(|finding| finding.rule), Some(ApelRule::Future));
    assert_eq!(message(JOB, Some(1_488_326_410 - 2 * 86_400)), []);
    assert_eq!(message(SUMMARY, Some(0))[0].rule, ApelRule::Future);
    assert_eq!(message("APEL-sync-message: v0.1\n%%\n", None)[0].rule, ApelRule::Empty);
    for rule in [
        ApelRule::Header,
        ApelRule::Line,
        ApelRule::Key,
        ApelRule::Mandatory,
        ApelRule::Integer,
        ApelRule::Number,
        ApelRule::Time,
        ApelRule::Order,
        ApelRule::Month,
        ApelRule::Ends,
        ApelRule::Negative,
        ApelRule::Benchmark,
        ApelRule::Database,
    ] {
        assert!(broken.contains(&rule), "{rule:?}");
    }
}

/// Python takes a CR alone for a line end, and so does the server.
#[test]
fn lines_of_a_file_end_with_any_line_end() {
    let folder = tempfile::tempdir().unwrap();
    for (name, end) in [("lf", "\n"), ("cr", "\r"), ("crlf", "\r\n")] {
        let text = JOB.replace('\n', end);
        assert!(is_taken(&text), "{name}");
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        let found = texts(&file).unwrap();
        assert_eq!(message(&found[0].text, None), [], "{name}");
    }
}

/// The server's own test messages, the golden set and the real months: the two judges agree on every one.
#[test]
fn real_messages_are_judged_alike() {
    let mut messages = 0;
    for folder in [
        "data/apel/apel-messages",
        "data/apel/golden/messages",
        "data/apel/real-2015",
    ] {
        let Some(folder) = shared("real_messages_are_judged_alike", folder) else {
            return;
        };
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            let is_cloud = text.contains("APEL-cloud");
            if path.extension().is_none_or(|extension| extension != "msg") || is_cloud {
                continue;
            }
            let findings = message(&text, None);
            assert_eq!(findings.is_empty(), is_taken(&text), "{}: {findings:?}", path.display());
            messages += 1;
        }
    }
    assert!(messages > 60, "{messages}");
}
