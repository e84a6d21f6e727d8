//! Summaries: what the server takes and stores of them; and, in a lake, which of them count.

mod kinds;
mod lake;
mod parts;
mod sync;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use gridtally::ledger::Reason;
use gridtally::record::{SummaryKind, SummaryRow};
use gridtally::sources::apel;
use gridtally::sources::apel::acceptance::Acceptance;
use gridtally::time::Month;

use crate::support::collect::{Collected, input, plan, run, shared};

const V02: &str = "APEL-summary-job-message: v0.2\n";
const V03: &str = "APEL-summary-job-message: v0.3\n";
const V04: &str = "APEL-summary-job-message: v0.4\n";
const NORMALISED: &str = "APEL-normalised-summary-message: v0.4\n";
const SYNC: &str = "APEL-sync-message: v0.1\n";

fn read(text: impl AsRef<[u8]>, acceptance: Acceptance) -> Collected {
    run(apel::pieces(input(text.as_ref()), plan(apel::DIALECT.format(), acceptance)).unwrap())
}

/// What both kinds of summary have in common, for a month of 2017; `more` lines win over the ordinary ones.
pub(crate) fn record(month: u8, more: &str) -> String {
    format!(
        "Site: S\nMonth: {month}\nYear: 2017\nVO: reef\nNodeCount: 1\nProcessors: 8\nWallDuration: 100\n\
         CpuDuration: 50\nNumberOfJobs: 2\n{more}%%\n"
    )
}

fn one(header: &str, more: &str) -> Result<SummaryRow<'static>, Reason> {
    let all = read(format!("{header}{}", record(3, more)), Acceptance::StrictApel);
    assert_eq!(all.rows_read, 1);
    match all.summaries.first() {
        Some((row, _)) => Ok(row.clone()),
        None => Err(all.rejects[0].reason),
    }
}

#[test]
fn every_kind_has_its_own_fields() {
    let row = one(
        V02,
        "GlobalUserName:/DC=org/CN=Pat\nVOGroup: /reef\nVORole: Role=pilot\nSubmitHost: ce\nInfrastructureType: grid\n\
         ServiceLevelType: HEPscore23\nServiceLevel: 15.5\nEarliestEndTime: 1488326400\nLatestEndTime: 1491004800\n",
    );
    let expected = SummaryRow {
        kind: SummaryKind::Summary,
        site: Some("S"),
        month: Month::new(2017, 3),
        vo: Some("reef"),
        vo_group: Some("/reef"),
        vo_role: Some("Role=pilot"),
        global_user: Some("/DC=org/CN=Pat"),
        submit_host: Some("ce"),
        infrastructure: Some("grid"),
        service_level_type: Some("HEPscore23"),
        benchmark: Some("hs23"),
        benchmark_milli_per_core: Some(15_500),
        alloc_node_n: Some(1),
        alloc_core_n: Some(8),
        earliest_end_ms: Some(1_488_326_400_000),
        latest_end_ms: Some(1_491_004_800_000),
        view: "batch",
        wall_ms: Some(100_000),
        cpu_ms: Some(50_000),
        job_n: Some(2),
        ..SummaryRow::default()
    };
    assert_eq!(row, Ok(expected));
    // The server picks one benchmark of a dictionary, and cuts work off at the second.
    let row = one(V04, "ServiceLevel: {hepspec: 11.4, HEPscore23: 15.3}\n").unwrap();
    assert_eq!(
        (row.benchmark, row.benchmark_milli_per_core),
        (Some("hs23"), Some(15_300))
    );
    let work = "NormalisedWallDuration: {hepspec: 1999.9, si2k: 1}\nNormalisedCpuDuration: {hepspec: 7.0}\n";
    let row = one(NORMALISED, work).unwrap();
    assert_eq!((row.normalised_wall_s, row.normalised_cpu_s), (Some(1999), Some(7)));
    let row = one(
        V03,
        "NormalisedWallDuration: 1000\nNormalisedCpuDuration: 500\nInfrastructure: Gratia-OSG\n",
    )
    .unwrap();
    assert_eq!((row.kind, row.benchmark), (SummaryKind::NormalisedSummary, None));
    let sync = read(
        format!(
            "{SYNC}Site: S\nSubmitHost: ce\nNumberOfJobs: 27\nMonth: 1\nYear: 2025\n%%\nSite: S\nNumberOfJobs: 1\nMonth: 99\nYear: 2025\n"
        ),
        Acceptance::StrictApel,
    );
    let months: Vec<_> = sync
        .summaries
        .iter()
        .map(|(row, _)| (row.kind, row.month, row.job_n))
        .collect();
    // The server takes month 99 of a sync record; the records room refuses that one alone.
    let first = (SummaryKind::Sync, Month::new(2025, 1), Some(27));
    assert_eq!(months, [first, (SummaryKind::Sync, None, Some(1))]);
}

#[test]
fn the_server_refuses() {
    let level = "ServiceLevelType: HEPSPEC\nServiceLevel: 10\n";
    let work = "NormalisedWallDuration: 1000\nNormalisedCpuDuration: 500\n";
    for (header, more, expected) in [
        (V02, String::new(), Err(Reason::MissingField)),
        (V02, format!("{level}Processors: null\n"), Err(Reason::MissingField)),
        (V02, format!("{level}NodeCount: none\n"), Err(Reason::MissingField)),
        (V02, format!("{level}NumberOfJobs:\n"), Err(Reason::MissingField)),
        (V02, format!("{level}Infrastructure: grid\n"), Err(Reason::UnknownField)),
        (V02, format!("{level}FQAN: /reef\n"), Err(Reason::UnknownField)),
        (V02, format!("{level}Month: 13\n"), Err(Reason::BadTime)),
        (V02, format!("{level}WallDuration: -1\n"), Err(Reason::BadDuration)),
        (V02, format!("{level}WallDuration: 10.0\n"), Err(Reason::BadDuration)),
        (
            V02,
            format!("{level}EarliestEndTime: 1488326399\n"),
            Err(Reason::BadTime),
        ),
        (V02, format!("{level}LatestEndTime: 1491004801\n"), Err(Reason::BadTime)),
        (
            V02,
            format!("{level}EarliestEndTime: 1488326402\nLatestEndTime: 1488326401\n"),
            Err(Reason::BadTime),
        ),
        (V03, work.to_owned(), Ok(None)),
        (V03, format!("{work}ServiceLevelType: HEPscore23\n"), Ok(Some("hs23"))),
        (
            V03,
            format!("{work}InfrastructureType: grid\n"),
            Err(Reason::UnknownField),
        ),
        (V03, String::new(), Err(Reason::MissingField)),
        (
            NORMALISED,
            "NormalisedWallDuration: {hepspec: 1}\nNormalisedCpuDuration: {HEPscore23: 1}\n".to_owned(),
            Err(Reason::BadBenchmark),
        ),
        (V02, format!("{level}WallDuration: 99999999999\n"), Ok(Some("hs06"))),
        (V02, format!("{level}ServiceLevelType: weird\n"), Ok(None)),
        (V04, "ServiceLevel: {weird: 1}\n".to_owned(), Err(Reason::BadBenchmark)),
    ] {
        assert_eq!(one(header, &more).map(|row| row.benchmark), expected, "{header}{more}");
    }
}

#[test]
fn salvage_reads_what_archives_hold() {
    let old = "Site: S\nGroup: reef\nMonth: 11\nYear: 2012\nWallDuration: 38\nCpuDuration: 27\n\
               NormalisedWallDuration: 325\nNormalisedCpuDuration: 229\nNumberOfJobs: 115\n%%\n";
    let text = format!("{V02}{old}Site: S\n%%\n");
    let all = read(&text, Acceptance::StrictApel);
    assert_eq!(all.reasons(), [Reason::UnknownField, Reason::MissingField]);
    let all = read(&text, Acceptance::Salvage);
    assert_eq!(all.reasons(), [Reason::MissingField]);
    let row = &all.summaries[0].0;
    assert_eq!((row.kind, row.vo), (SummaryKind::NormalisedSummary, Some("reef")));
    // Hours.
    assert_eq!((row.wall_ms, row.normalised_cpu_s), (Some(136_800_000), Some(824_400)));
    // The same under a header that the server does not know.
    let v01 = text.replace("v0.2", "v0.1");
    assert_eq!(read(&v01, Acceptance::Salvage).summaries, all.summaries);
    let refused = read(&v01, Acceptance::StrictApel);
    assert_eq!(refused.reasons(), [Reason::BadMessage, Reason::BadMessage]);
    assert!(
        refused.rejects[0].detail.contains("salvage"),
        "{}",
        refused.rejects[0].detail
    );
}

/// One of the server's rows as text, under the names of our columns.
fn stored(row: &BTreeMap<String, String>) -> BTreeMap<&'static str, String> {
    let names = [
        ("Site", "site"),
        ("GlobalUserName", "global_user"),
        ("VO", "vo"),
        ("VOGroup", "vo_group"),
        ("VORole", "vo_role"),
        ("SubmitHost", "submit_host"),
        ("InfrastructureType", "infrastructure"),
        ("Infrastructure", "infrastructure"),
        ("ServiceLevelType", "service_level_type"),
        ("ServiceLevel", "benchmark"),
        ("NodeCount", "nodes"),
        ("Processors", "cores"),
        ("EarliestEndTime", "earliest"),
        ("LatestEndTime", "latest"),
        ("WallDuration", "wall"),
        ("CpuDuration", "cpu"),
        ("NormalisedWallDuration", "normalised wall"),
        ("NormalisedCpuDuration", "normalised cpu"),
        ("NumberOfJobs", "jobs"),
    ];
    let mut out: BTreeMap<&'static str, String> = names
        .into_iter()
        .filter_map(|(theirs, ours)| Some((ours, row.get(theirs)?.clone())))
        .collect();
    out.insert("month", format!("{}-{:0>2}", row["Year"], row["Month"]));
    out
}

/// The same of a row as we read it.
fn ours(row: &SummaryRow<'_>) -> BTreeMap<&'static str, String> {
    let word = |word: Option<&str>| word.unwrap_or("None").to_owned();
    let number = |n: Option<i64>| n.unwrap_or(0).to_string();
    let time = |ms: Option<i64>| {
        let time = jiff::Timestamp::from_millisecond(ms.unwrap()).unwrap();
        time.strftime("%Y-%m-%d %H:%M:%S").to_string()
    };
    let mut out = BTreeMap::from([
        ("site", word(row.site)),
        ("month", row.month.unwrap().to_string()),
        ("submit_host", word(row.submit_host)),
        ("jobs", number(row.job_n)),
    ]);
    if row.kind == SummaryKind::Sync {
        return out;
    }
    out.extend([
        ("global_user", word(row.global_user)),
        ("vo", word(row.vo)),
        ("vo_group", word(row.vo_group)),
        ("vo_role", word(row.vo_role)),
        ("infrastructure", word(row.infrastructure)),
        ("service_level_type", word(row.service_level_type)),
        ("nodes", number(row.alloc_node_n)),
        ("cores", number(row.alloc_core_n)),
        ("earliest", time(row.earliest_end_ms)),
        ("latest", time(row.latest_end_ms)),
        ("wall", number(row.wall_ms.map(|ms| ms / 1000))),
        ("cpu", number(row.cpu_ms.map(|ms| ms / 1000))),
    ]);
    match row.benchmark_milli_per_core {
        Some(milli) => out.extend([("benchmark", format!("{}.{:03}", milli / 1000, milli % 1000))]),
        None => out.extend([
            ("normalised wall", number(row.normalised_wall_s)),
            ("normalised cpu", number(row.normalised_cpu_s)),
        ]),
    }
    out
}

/// Record by record, what the real server stored of every message that is not of jobs.
#[test]
fn golden_summaries_are_what_the_server_stored() {
    let Some(folder) = shared("golden_summaries_are_what_the_server_stored", "data/apel/golden") else {
        return;
    };
    let mut read_rows: BTreeMap<SummaryKind, BTreeSet<String>> = BTreeMap::new();
    for entry in fs::read_dir(folder.join("messages")).unwrap() {
        let all = read(fs::read(entry.unwrap().path()).unwrap(), Acceptance::StrictApel);
        assert_eq!(all.rejects, []);
        for (row, _) in all.summaries {
            // The server keeps one spelling per text, the first it saw.
            let text = format!("{:?}", ours(&row)).to_lowercase();
            assert!(read_rows.entry(row.kind).or_default().insert(text));
        }
    }
    for (kind, file, n) in [
        (SummaryKind::Summary, "VSummaries.csv", 90),
        (SummaryKind::NormalisedSummary, "VNormalisedSummaries.csv", 120),
        (SummaryKind::Sync, "VSyncRecords.csv", 20),
    ] {
        let mut table = csv::Reader::from_path(folder.join(file)).unwrap();
        let rows = table.deserialize().map(|row| {
            let row: BTreeMap<String, String> = row.unwrap();
            format!("{:?}", stored(&row)).to_lowercase()
        });
        let rows: BTreeSet<String> = rows.collect();
        assert_eq!(rows.len(), n);
        assert_eq!(read_rows[&kind], rows, "{file}");
    }
}
