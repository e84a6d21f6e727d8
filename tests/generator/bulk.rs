//! Inputs of any size, streamed: months of an ordinary site, for measuring.

use std::io::{self, Write};

use super::apel::{self, Record, Version};
use super::clock::{utc, zurich};
use super::gracc::Document;
use super::rng::Rng;
use super::sacct::{Attempt, Gpus, HEADER, Person};

pub(super) const PEOPLE: [Person; 4] = [
    Person {
        user: "amund",
        uid: 5001,
        group: "physics",
        account: "fjell",
    },
    Person {
        user: "brita",
        uid: 5002,
        group: "physics",
        account: "fjell",
    },
    Person {
        user: "carlos",
        uid: 5003,
        group: "biology",
        account: "bosque",
    },
    Person {
        user: "dunya",
        uid: 5004,
        group: "chemistry",
        account: "krystall",
    },
];

pub(super) const BLOCK: usize = 1 << 20;

pub(super) fn flush(out: &mut Vec<u8>, to: &mut dyn Write) -> io::Result<()> {
    to.write_all(out)?;
    out.clear();
    Ok(())
}

/// GPUs in the spellings there are, mostly the full one.
fn gpus(n: i64) -> Gpus {
    match n % 10 {
        0 => Gpus::Untyped(1),
        1 => Gpus::Typed(&[("h100", 1)]),
        _ => Gpus::Both(&[("h100", 1)]),
    }
}

/// About `rows` rows of `sacct`, three to a job.
pub(crate) fn sacct(rows: i64, to: &mut dyn Write) -> io::Result<()> {
    let mut rng = Rng::new(11);
    let mut out = HEADER.as_bytes().to_vec();
    let from = zurich(2026, 1, 1, 0, 0);
    let jobs = (rows / 3).max(1);
    let taken = from + 400 * 86_400;
    for n in 0..jobs {
        let span = rng.between(30, 40_000);
        let cpus = rng.pick(&[1, 2, 4, 8, 16, 64]);
        let submit = from + n * 150 * 86_400 / jobs;
        let start = submit + rng.between(0, 9_000);
        let is_gpu = rng.one_in(8);
        let user_ms = span * cpus * rng.between(100, 980);
        let job = Attempt {
            cluster: "fell",
            raw_id: 1_000_000 + n,
            id: None,
            name: format!("run_{:04}", rng.between(0, 10_000)),
            partition: if is_gpu { "gpu" } else { "cpu" },
            person: rng.pick(&PEOPLE),
            submit,
            start: Some(start),
            end: Some(start + span),
            suspended: 0,
            exit: "0:0",
            state: if rng.one_in(12) { "FAILED" } else { "COMPLETED" },
            nodes: 1,
            cpus,
            memory_mib: cpus * 2_000,
            gpus: if is_gpu { gpus(n) } else { Gpus::None },
            limit_min: Some(1_440),
            node_list: format!("node{:04}", rng.between(1, 900)),
            user_ms,
            system_ms: user_ms / 50 + 3,
            max_rss_kib: rng.between(3_000, 9_000_000),
            has_steps: true,
        };
        job.write(&mut out, taken);
        if out.len() >= BLOCK {
            flush(&mut out, to)?;
        }
    }
    flush(&mut out, to)
}

/// `documents` lines of a GRACC dump.
pub(crate) fn gracc(documents: i64, to: &mut dyn Write) -> io::Result<()> {
    let mut rng = Rng::new(12);
    let mut out = Vec::new();
    let from = utc(2026, 1, 1, 0, 0);
    for n in 0..documents {
        let wall = rng.between(30, 60_000);
        let processors = rng.pick(&[1, 2, 8]);
        let start = from + n * 150 * 86_400 / documents;
        let (vo_name, reportable_vo) = rng.pick(&[
            ("/plankton/Role=NULL/Capability=NULL", "plankton"),
            ("/kelp/Role=pilot/Capability=NULL", "kelp"),
            ("coral", "coral"),
        ]);
        Document {
            number: 20_000_000 + n,
            resource_type: if rng.one_in(3) { "Payload" } else { "Batch" },
            probe_host: rng.pick(&["ce1.reef.example", "ce2.reef.example"]),
            site: rng.pick(&["REEF-A", "REEF-B"]),
            vo_name,
            reportable_vo,
            project: None,
            person: rng.pick(&["rosa", "sami", "tove"]),
            start,
            end: start + wall,
            wall,
            user_cs: wall * processors * rng.between(10, 97),
            system: wall / 60,
            processors: Some(processors),
            delay: 600,
            is_wide: true,
        }
        .write(&mut out);
        if out.len() >= BLOCK {
            flush(&mut out, to)?;
        }
    }
    flush(&mut out, to)
}

/// The `number`th message: a thousand APEL records, fewer when fewer are `left`.
pub(crate) fn apel_message(number: i64, left: i64) -> Vec<u8> {
    let mut rng = Rng::new(13 + u64::try_from(number).expect("not negative"));
    let mut out = Vec::new();
    let version = if number % 4 == 0 { Version::V03 } else { Version::V04 };
    apel::header(&mut out, version);
    let from = zurich(2026, 1, 1, 0, 0);
    for n in 0..left.min(1_000) {
        let wall = rng.between(30, 60_000);
        let processors = rng.pick(&[1, 4, 8]);
        let start = from + (number * 1_000 + n) % (150 * 86_400);
        Record {
            job_id: format!("{}.0", 3_000_000 + number * 1_000 + n),
            user: "reef001".to_owned(),
            global_user: "/DC=example/OU=People/CN=Rosa Invented".to_owned(),
            fqan: Some("/plankton/Role=production/Capability=NULL".to_owned()),
            element: rng.between(1, 4),
            start,
            end: start + wall,
            wall,
            cpu: wall * processors * rng.between(20, 98) / 100,
            processors: Some(processors),
            score_centi: 1_075,
        }
        .write(&mut out, version);
    }
    out
}
