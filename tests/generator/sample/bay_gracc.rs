//! Site BAY/GRID, second way: dumps of a GRACC index, batch and payload view.

use std::collections::BTreeMap;

use super::super::clock::utc;
use super::super::gracc::Document;
use super::super::rng::Rng;

const VOS: [(&str, &str); 3] = [
    ("/plankton/Role=NULL/Capability=NULL", "plankton"),
    ("/kelp/Role=pilot/Capability=NULL", "kelp"),
    ("küsten forschung", "küsten forschung"),
];

fn document(rng: &mut Rng, number: i64, start: i64, kind: &'static str) -> Document {
    let wall = rng.between(30, 50_000);
    let processors = rng.pick(&[1, 1, 2, 8]);
    let (vo_name, reportable_vo) = rng.pick(&VOS);
    Document {
        number,
        resource_type: kind,
        probe_host: if kind == "Batch" {
            "ce7.bay.example"
        } else {
            "glidein.bay.example"
        },
        site: "BAY/GRID",
        vo_name,
        reportable_vo,
        project: if kind == "Batch" { None } else { Some("TideModels") },
        person: rng.pick(&["nadia", "oskar", "pilar"]),
        start,
        end: start + wall,
        wall,
        user_cs: wall * processors * rng.between(10, 97) + rng.between(0, 2) * 32,
        system: wall / 50,
        processors: Some(processors),
        delay: rng.between(60, 900_000),
        is_wide: false,
    }
}

fn dump(documents: &[Document]) -> Vec<u8> {
    let mut out = Vec::new();
    for document in documents {
        document.write(&mut out);
    }
    out
}

/// Adds every dump of the site.
pub(super) fn dumps(files: &mut BTreeMap<&'static str, Vec<u8>>) {
    let mut rng = Rng::new(4_711);
    let mut months: Vec<Vec<Document>> = Vec::new();
    for (month, days) in [(1, 31), (2, 28), (3, 31), (4, 30), (5, 31)] {
        let from = utc(2026, month, 1, 0, 0);
        let documents = (0..24)
            .map(|n| {
                let start = from + rng.between(0, days * 86_400 - 50_000);
                let kind = if n % 3 == 0 { "Payload" } else { "Batch" };
                document(&mut rng, 7_000_000 + month * 1_000 + n, start, kind)
            })
            .collect();
        months.push(documents);
    }

    // No number of cores: counted as one, and marked. Zero cores: unknown.
    let mut missing = document(&mut rng, 7_900_001, utc(2026, 3, 8, 8, 0), "Payload");
    missing.processors = None;
    let mut zero = document(&mut rng, 7_900_002, utc(2026, 3, 9, 8, 0), "Batch");
    zero.processors = Some(0);
    // Over the edge of the allocation year.
    let mut edge = document(&mut rng, 7_900_003, utc(2026, 3, 31, 18, 0), "Batch");
    edge.wall = 40_000;
    edge.end = edge.start + edge.wall;
    months[2].extend([missing, zero, edge]);
    // Sent twice: the same document, received a second time a week later, in the dump of the next month.
    let again = Document {
        delay: months[3][5].delay + 7 * 86_400,
        ..months[3][5].clone()
    };
    months[4].push(again);

    let mut april = dump(&months[3]);
    // A line that is not JSON, as a killed dump leaves it before the next one was appended.
    let mut broken = dump(&[document(&mut rng, 7_900_004, utc(2026, 4, 20, 8, 0), "Batch")]);
    broken.truncate(700);
    broken.push(b'\n');
    let first_line = april.iter().position(|&b| b == b'\n').map_or(0, |at| at + 1);
    april.splice(first_line..first_line, broken);
    // Another kind of document, which is not a job.
    april.extend_from_slice(
        br#"{"_index":"gracc.osg.raw2-2026.04","_type":"StorageElement","_id":"00000000000000000000000000000001","_score":1,"_source":{"type":"StorageElement","UniqueID":"se.bay.example","SE":"se.bay.example","Name":"BAY storage","SpaceType":"SE","Timestamp":"2026-04-20T08:00:00Z","ProbeName":"se:se.bay.example"}}
"#,
    );

    files.insert("bay/gracc/raw-2026.01.ndjson", dump(&months[0]));
    files.insert("bay/gracc/raw-2026.02.ndjson.gz", super::gzip(&dump(&months[1])));
    files.insert("bay/gracc/raw-2026.03.ndjson.gz", super::gzip(&dump(&months[2])));
    files.insert("bay/gracc/raw-2026.04.ndjson", april);
    files.insert("bay/gracc/raw-2026.05.ndjson.zst", super::zstd(&dump(&months[4])));
}
