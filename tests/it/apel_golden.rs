//! APEL messages against what the real server did with them.

use std::collections::BTreeMap;
use std::path::Path;

use gridtally::ledger::Reason;
use gridtally::record::{JobRow, SummaryKind};
use gridtally::sources::apel;

use crate::apel::strict;
use crate::support::collect::{Job, shared};

fn golden_rows(folder: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(folder.join("VJobRecords.csv")).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

fn words<'a>(row: &'a BTreeMap<String, String>, key: &str) -> Option<&'a str> {
    Some(row[key].as_str()).filter(|value| *value != "None" && *value != "\\N")
}

fn number(row: &BTreeMap<String, String>, key: &str) -> Option<i64> {
    words(row, key).map(|value| value.parse().unwrap())
}

fn time_ms(row: &BTreeMap<String, String>, key: &str) -> Option<i64> {
    let text = format!("{}Z", row[key].replace(' ', "T"));
    gridtally::sources::instant::rfc3339_ms(&text)
}

/// What the real server stored from four job messages, record by record.
#[test]
fn golden_messages_give_what_the_server_stored() {
    let Some(folder) = shared("golden_messages_give_what_the_server_stored", "data/apel/golden") else {
        return;
    };
    let mut files: Vec<_> = std::fs::read_dir(folder.join("messages"))
        .unwrap()
        .map(|f| f.unwrap().path())
        .collect();
    files.sort();
    let mut loaded: BTreeMap<(String, String), JobRow<'static>> = BTreeMap::new();
    let mut out_of_scope: BTreeMap<Reason, u64> = BTreeMap::new();
    let mut aggregates: BTreeMap<SummaryKind, u64> = BTreeMap::new();
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        assert!(apel::recognise(&bytes[..bytes.len().min(4096)]), "{}", file.display());
        let all = strict(bytes);
        assert_eq!(all.rejects, [], "{}", file.display());
        for (row, _) in all.summaries {
            *aggregates.entry(row.kind).or_default() += 1;
        }
        for Job { row, .. } in all.jobs {
            let key = (row.site.unwrap().to_lowercase(), row.identity_key.unwrap().to_owned());
            loaded.insert(key, row);
        }
        for (reason, rows) in all.out_of_scope {
            *out_of_scope.entry(reason).or_default() += rows;
        }
    }
    assert_eq!(
        aggregates,
        BTreeMap::from([
            (SummaryKind::Summary, 90),
            (SummaryKind::NormalisedSummary, 120),
            (SummaryKind::Sync, 20)
        ])
    );
    assert_eq!(out_of_scope, BTreeMap::new());
    let mut missing = Vec::new();
    for stored in golden_rows(&folder) {
        let end_ms = time_ms(&stored, "EndTime").unwrap();
        let identity = format!("{}|{}", stored["LocalJobId"].to_lowercase(), end_ms / 1000);
        let Some(row) = loaded.remove(&(stored["Site"].to_lowercase(), identity)) else {
            missing.push(stored["LocalJobId"].clone());
            continue;
        };
        let benchmark = match stored["ServiceLevelType"].to_lowercase().as_str() {
            "hepspec" => "hs06",
            "hepscore23" => "hs23",
            "si2k" => "si00",
            other => panic!("{other}"),
        };
        // The server keeps one spelling per VO, the first it saw.
        let vo = words(&stored, "VO").map(|vo| {
            if row.vo.unwrap().eq_ignore_ascii_case(vo) {
                row.vo.unwrap()
            } else {
                vo
            }
        });
        let milli: i64 = stored["ServiceLevel"].replace('.', "").parse().unwrap();
        let expected = JobRow {
            view: "batch",
            site: words(&stored, "Site"),
            cluster: words(&stored, "MachineName"),
            submit_host: words(&stored, "SubmitHost"),
            job_id: &stored["LocalJobId"],
            identity_key: row.identity_key,
            vo,
            fqan: words(&stored, "FQAN"),
            vo_group: words(&stored, "VOGroup"),
            vo_role: words(&stored, "VORole"),
            user: words(&stored, "LocalUserId"),
            global_user: words(&stored, "GlobalUserName"),
            partition: words(&stored, "Queue"),
            infrastructure: words(&stored, "InfrastructureType"),
            start_ms: time_ms(&stored, "StartTime"),
            end_ms: Some(end_ms),
            wall_ms: number(&stored, "WallDuration").map(|s| s * 1000),
            cpu_ms: number(&stored, "CpuDuration").map(|s| s * 1000),
            alloc_core_n: number(&stored, "Processors").filter(|&n| n > 0),
            alloc_node_n: number(&stored, "NodeCount").filter(|&n| n > 0),
            max_rss_byte: number(&stored, "MemoryReal").map(|kb| kb * 1024),
            max_virtual_byte: number(&stored, "MemoryVirtual").map(|kb| kb * 1024),
            benchmark: Some(benchmark),
            benchmark_milli_per_core: Some(milli),
            anomalies: row.anomalies,
            ..JobRow::default()
        };
        assert_eq!(row, expected);
    }
    assert!(missing.is_empty(), "{missing:?}");
    assert!(loaded.is_empty());
}

/// Single messages of the server's own tests and a spool as found on disk.
#[test]
fn real_single_messages_and_spool() {
    let test = "real_single_messages_and_spool";
    let (Some(messages), Some(spool)) = (
        shared(test, "data/apel/apel-messages"),
        shared(test, "data/apel/dirq-sample/spool"),
    ) else {
        return;
    };
    for (file, jobs, rejects, out) in [
        ("factory_01_L127.msg", 2, vec![], 0),
        // Without nodes, cores and benchmark: the server's parser takes them, its database does not.
        ("factory_02_L164.msg", 0, vec![Reason::MissingField; 2], 0),
        ("factory_04_L202.msg", 2, vec![], 0),
        (
            "factory_06_L254.msg",
            0,
            vec![Reason::MissingField, Reason::MessageRefused, Reason::MessageRefused],
            0,
        ),
        ("factory_07_L306.msg", 1, vec![], 0),
        ("factory_08_L315.msg", 0, vec![], 1),
        ("loader_01_L79.msg", 0, vec![Reason::MissingField; 2], 0),
        ("job_01_L70.msg", 0, vec![Reason::BadMessage], 0),
        ("mysql_01_L290.msg", 0, vec![Reason::BadMessage], 0),
    ] {
        let all = strict(std::fs::read(messages.join(file)).unwrap());
        assert_eq!(
            (all.jobs.len() + all.summaries.len(), all.reasons()),
            (jobs, rejects),
            "{file}"
        );
        assert_eq!(all.out_of_scope.values().sum::<u64>(), out, "{file}");
    }
    let body = spool.join("incoming/00000000/6b00ff7a2fe953/body");
    let all = strict(std::fs::read(body).unwrap());
    assert_eq!(all.summaries.len(), 30);
}
