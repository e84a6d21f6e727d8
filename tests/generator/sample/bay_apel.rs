//! Site BAY/GRID, first way: APEL individual job messages, as files of an outgoing spool.

use std::collections::BTreeMap;

use super::super::apel::{Record, Version, header};
use super::super::clock::utc;
use super::super::rng::Rng;

const FQANS: [&str; 4] = [
    "/seabird/Role=production/Capability=NULL",
    "/seabird/Role=NULL/Capability=NULL",
    "/tide.example/analysis/Role=NULL/Capability=NULL",
    "/kelp/Role=pilot/Capability=NULL;/kelp/Role=NULL/Capability=NULL",
];

const PEOPLE: [(&str, &str); 3] = [
    ("seabird001", "/DC=example/OU=People/CN=Ada Invented"),
    ("tide014", "/DC=example/OU=People/CN=Bo Madeup"),
    ("kelp002", "withheld"),
];

fn record(rng: &mut Rng, number: i64, start: i64) -> Record {
    let wall = rng.between(60, 90_000);
    let processors = rng.pick(&[1, 1, 4, 8, 8, 16]);
    let (user, name) = rng.pick(&PEOPLE);
    Record {
        job_id: format!("{number}.0"),
        user: user.to_owned(),
        global_user: name.to_owned(),
        fqan: Some(rng.pick(&FQANS).to_owned()),
        element: rng.between(1, 3),
        start,
        end: start + wall,
        wall,
        cpu: wall * processors * rng.between(20, 99) / 100,
        processors: Some(processors),
        score_centi: 1_125,
    }
}

fn message(version: Version, records: &[Record]) -> Vec<u8> {
    let mut out = Vec::new();
    header(&mut out, version);
    for record in records {
        record.write(&mut out, version);
    }
    out
}

/// The everyday records of a month that starts at `from`, with the first number `number`.
fn month(rng: &mut Rng, number: i64, from: i64, days: i64) -> Vec<Record> {
    (0..40)
        .map(|n| {
            let start = from + rng.between(0, days * 86_400 - 90_000);
            record(rng, number + n, start)
        })
        .collect()
}

/// Adds every message of the site.
pub(super) fn messages(files: &mut BTreeMap<&'static str, Vec<u8>>) {
    let mut rng = Rng::new(77);
    let january = month(&mut rng, 610_000, utc(2026, 1, 1, 0, 0), 31);
    let february = month(&mut rng, 620_000, utc(2026, 2, 1, 0, 0), 28);
    let mut march = month(&mut rng, 630_000, utc(2026, 3, 1, 0, 0), 31);
    march.extend(odd(&mut rng));
    let april = month(&mut rng, 640_000, utc(2026, 4, 1, 0, 0), 30);
    let may = month(&mut rng, 650_000, utc(2026, 5, 1, 0, 0), 31);

    let first = message(Version::V03, &january);
    files.insert("bay/apel/697eb3a0/697eb3a000001a", first.clone());
    // The same bytes under another name: sent twice by the spool.
    files.insert("bay/apel/697eb3a0/697eb3a700002b", first);
    files.insert("bay/apel/69a39da0/69a39da000003c", message(Version::V03, &february));
    files.insert("bay/apel/69cdcda0/69cdcda000004d", message(Version::V04, &march));
    files.insert("bay/apel/69f55aa0/69f55aa000005e", message(Version::V04, &april));
    files.insert("bay/apel/6a1e3920/6a1e39200000a1", message(Version::V04, &may));
    // Published again with what the batch system found later: more CPU time, nothing else changed.
    let again: Vec<Record> = april
        .iter()
        .take(3)
        .map(|record| Record {
            cpu: record.cpu + 120,
            ..record.clone()
        })
        .collect();
    files.insert("bay/apel/6a1e3920/6a1e392c0000b2", message(Version::V04, &again));
    files.insert("bay/apel/6a1e3920/6a1e39390000c3", refused(&mut rng));
    files.insert("bay/apel/6a1e3920/6a1e393f0000d4", summary());
}

fn odd(rng: &mut Rng) -> Vec<Record> {
    // No number of cores, and zero cores: both unknown.
    let mut missing = record(rng, 690_001, utc(2026, 3, 10, 8, 0));
    missing.processors = None;
    let mut zero = record(rng, 690_002, utc(2026, 3, 11, 8, 0));
    zero.processors = Some(0);
    // No VO at all.
    let mut nobody = record(rng, 690_003, utc(2026, 3, 12, 8, 0));
    nobody.fqan = None;
    // Over the edge of the allocation year, which is cut in Zurich's time.
    let mut edge = record(rng, 690_004, utc(2026, 3, 31, 12, 0));
    edge.wall = 86_400;
    edge.end = edge.start + edge.wall;
    edge.processors = Some(8);
    edge.cpu = 8 * 80_001;
    // More CPU time than the cores had.
    let mut greedy = record(rng, 690_005, utc(2026, 3, 13, 8, 0));
    greedy.processors = Some(1);
    greedy.cpu = greedy.wall * 4;
    // A name outside ASCII.
    let mut name = record(rng, 690_006, utc(2026, 3, 14, 8, 0));
    "/DC=example/OU=People/CN=Zoë Erfunden-Müller".clone_into(&mut name.global_user);
    vec![missing, zero, nobody, edge, greedy, name]
}

/// Three records of which the second has no number for its CPU time: the server refuses all three.
fn refused(rng: &mut Rng) -> Vec<u8> {
    let records: Vec<Record> = (0..3)
        .map(|n| record(rng, 695_001 + n, utc(2026, 5, 20, 8, 0)))
        .collect();
    let text = String::from_utf8(message(Version::V04, &records)).expect("text");
    let bad = format!("CpuDuration: {}\n", records[1].cpu);
    text.replacen(&bad, "CpuDuration: 12.5 h\n", 1).into_bytes()
}

/// Usage that arrives already added up: seen, counted, not accounted.
fn summary() -> Vec<u8> {
    b"APEL-summary-job-message: v0.2\nSite: BAY/GRID\nMonth: 4\nYear: 2026\nGlobalUserName: withheld\nVO: kelp\n\
VOGroup: /kelp\nVORole: Role=pilot\nSubmitHost: ce1.bay.example:9619/ce-condor\nInfrastructureType: grid\n\
ServiceLevelType: HEPSPEC\nServiceLevel: 11.25\nNodeCount: 1\nProcessors: 8\nEarliestEndTime: 1775001600\n\
LatestEndTime: 1777500000\nWallDuration: 400000\nCpuDuration: 2100000\nNumberOfJobs: 17\n%%\n"
        .to_vec()
}
