//! Names that differ in a byte that is not UTF-8 are those of different users and jobs.

use std::fs;
use std::process::Command;

use gridtally::record::{Anomaly, JobRow};
use gridtally::sources::apel::acceptance::Acceptance;
use gridtally::sources::dialect::Dialect;
use gridtally::sources::{apel, gracc, pbs};

use crate::support::collect::{Collected, input, plan, run};

/// A text with this byte in place of `?`.
fn with(text: &str, byte: u8) -> Vec<u8> {
    text.bytes().map(|b| if b == b'?' { byte } else { b }).collect()
}

fn read(dialect: Dialect, bytes: &[u8]) -> Collected {
    let options = plan(dialect.format(), Acceptance::StrictApel);
    run(dialect.pieces(input(bytes), options).unwrap())
}

const APEL_JOB: &str = "APEL-individual-job-message: v0.3\nSite: S\nLocalJobId: j?\nLocalUserId: u?\nWallDuration: 10\n\
                        CpuDuration: 5\nStartTime: 1500000000\nEndTime: 1500000010\nServiceLevelType: HEPSPEC\n\
                        ServiceLevel: 10.5\n%%\n";
const DOCUMENT: &str = r#"{"type":"JobUsageRecord","SiteName":"S","ProbeName":"p","LocalJobId":"j?","LocalUserId":"u?","StartTime":"2020-01-01T00:00:00Z","EndTime":"2020-01-01T01:00:00Z","WallDuration":3600,"CpuDuration":1800,"Processors":1}"#;
const XML: &str = "<JobUsageRecord xmlns=\"http://www.gridforum.org/2003/ur-wg\"><JobIdentity><LocalJobId>j?</LocalJobId></JobIdentity>\
                   <UserIdentity><LocalUserId>u?</LocalUserId></UserIdentity><WallDuration>PT1H</WallDuration>\
                   <CpuDuration>PT30M</CpuDuration><Processors>1</Processors><StartTime>2020-01-01T00:00:00Z</StartTime>\
                   <EndTime>2020-01-01T01:00:00Z</EndTime></JobUsageRecord>";
const PBS: &str = "03/09/2024 10:00:00;E;j?.batch;user=u? group=g queue=long ctime=1709970000 qtime=1709970000 \
                   etime=1709970010 start=1709971200 exec_host=n1/0 end=1709974800 Exit_status=0 \
                   resources_used.cput=00:30:00 resources_used.walltime=01:00:00\n";

#[test]
fn jobs_of_different_bytes_are_different_jobs() {
    for (dialect, text) in [
        (apel::DIALECT, APEL_JOB),
        (gracc::DIALECT, DOCUMENT),
        (gracc::DIALECT, XML),
        (pbs::DIALECT, PBS),
    ] {
        let [one, other] = [0xe9, 0xe8].map(|byte| {
            let all = read(dialect, &with(text, byte));
            assert_eq!((all.jobs.len(), all.rejects.len()), (1, 0), "{all:?}");
            assert!(all.jobs[0].has(Anomaly::InvalidText), "{text}");
            all.jobs[0].row.clone()
        });
        let identity = |row: &JobRow<'static>| (row.job_id, row.identity_key);
        assert_ne!(identity(&one), identity(&other), "{text}");
        assert_eq!((one.user, other.user), (Some("u\\xE9"), Some("u\\xE8")), "{text}");
    }
}

#[test]
fn text_that_is_utf8_stays_as_it_is() {
    for name in ["\u{e9}", "\u{fffd}", "\\xE9", "\u{1f600}"] {
        let all = read(apel::DIALECT, APEL_JOB.replace('?', name).as_bytes());
        let row = &all.jobs[0].row;
        assert_eq!(row.user, Some(format!("u{name}").as_str()));
        assert_eq!(row.anomalies & Anomaly::InvalidText.bit(), 0, "{name}");
    }
}

#[test]
fn summaries_of_users_of_different_bytes_all_count() {
    let summary = "Site: S\nMonth: 3\nYear: 2026\nVO: v\nGlobalUserName: /CN=M?ller\nServiceLevelType: HEPSPEC\n\
                   ServiceLevel: 10\nNodeCount: 1\nProcessors: 1\nWallDuration: 100\nCpuDuration: 90\nNumberOfJobs: 2\n%%\n";
    let here = tempfile::tempdir().unwrap();
    let header = b"APEL-summary-job-message: v0.2\n".to_vec();
    fs::write(
        here.path().join("message"),
        [header, with(summary, 0xfc), with(summary, 0xf6)].concat(),
    )
    .unwrap();
    fs::write(
        here.path().join("p.toml"),
        "[pipeline]\nname = \"p\"\noutput = \"lake\"\nattribution = \"by-end\"\n[[source]]\nname = \"s\"\nformat = \"apel\"\n\
         paths = [\"message\"]\n",
    )
    .unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_gridtally"))
        .args(["run", "p.toml", "--report", "json"])
        .current_dir(here.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["outcomes"]["accepted"], 2, "{report}");
    assert_eq!(
        report["outcomes"]["duplicate"].as_u64().unwrap_or_default(),
        0,
        "{report}"
    );
}
