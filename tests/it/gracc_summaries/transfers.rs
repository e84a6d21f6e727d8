//! Transfers that arrive added up: of no site of their own, and no usage of cores.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use gridtally::ledger::Reason;
use gridtally::record::{SummaryKind, SummaryRow};
use gridtally::store::{Manifest, Store, read_table};
use gridtally::time::Month;
use serde_json::{Map, Value, json};

use super::{Scene, dump};
use crate::gracc::read;
use crate::support::collect::shared;

#[test]
fn a_summary_of_transfers_is_read_with_what_they_moved() {
    const DAY: &str = "2022-05-03T00:00:00.000Z";
    let index = "gracc.osg-transfer.summary4-2022";
    let document = json!({
        "StartTime": DAY, "VOName": "reef", "RawVOName": "/reef/Role=x", "ProjectName": "N/A", "CommonName": "/CN=x",
        "ProbeName": "door:door.example.org", "Resource_Protocol": "https", "Status": "0", "Resource_IsNew": "1",
        "Network_storageUnit": "b", "Grid": "OSG", "DN": "N/A", "Njobs": 13, "Network": 4_009_292_254_u64,
        "WallDuration": 65.17, "Count": 3
    });
    // By its index, and by its fields alone.
    for text in [
        json!({ "_index": index, "_source": document }).to_string(),
        document.to_string(),
    ] {
        let all = read(&text);
        let (row, _) = &all.summaries[0];
        let expected = SummaryRow {
            kind: SummaryKind::Summary,
            view: "storage",
            month: Month::new(2022, 5),
            identity_key: row.identity_key,
            vo: Some("reef"),
            vo_name: Some("/reef/Role=x"),
            vo_group: Some("/reef"),
            vo_role: Some("Role=x"),
            global_user: Some("/CN=x"),
            cluster: Some("door:door.example.org"),
            infrastructure: Some("OSG"),
            earliest_end_ms: Some(1_651_536_000_000),
            latest_end_ms: Some(1_651_622_399_000),
            wall_ms: Some(65_170),
            job_n: Some(3),
            network_byte: Some(4_009_292_254),
            ..SummaryRow::default()
        };
        assert_eq!(*row, expected);
    }
    for (key, value, reason) in [
        ("StartTime", Value::Null, Reason::MissingField),
        ("WallDuration", Value::Null, Reason::MissingField),
        ("Network", json!("much"), Reason::BadNumber),
    ] {
        let mut other = document.clone();
        other[key] = value;
        let all = read(json!({ "_index": index, "_source": other }).to_string());
        assert_eq!(all.rejects[0].reason, reason, "{key}: {}", all.rejects[0].detail);
        assert!(all.rejects[0].detail.contains(key), "{}", all.rejects[0].detail);
    }
}

/// By what the summariser adds transfers of a day up.
const KEYS: [&str; 10] = [
    "VOName",
    "ProjectName",
    "ProbeName",
    "CommonName",
    "Resource_Protocol",
    "Status",
    "Resource_IsNew",
    "Network_storageUnit",
    "Grid",
    "DN",
];

/// Real transfers, added up by the summariser's rules for them.
#[test]
fn real_transfers_added_up_move_what_they_moved_one_by_one() {
    let named = "real_transfers_added_up_move_what_they_moved_one_by_one";
    let Some(folder) = shared(named, "data/gracc/es-dump") else {
        return;
    };
    let mut groups: BTreeMap<Vec<String>, (f64, u64, u64)> = BTreeMap::new();
    let raw = dump(&folder, "transfer-raw2-2016.06");
    for line in raw.lines() {
        let document: Value = serde_json::from_str(line).unwrap();
        let source = &document["_source"];
        let day = source["StartTime"].as_str().unwrap().get(..10).unwrap().to_owned();
        let key = KEYS.map(|key| source[key].as_str().unwrap_or("N/A").to_owned());
        let sums = groups.entry([vec![day], key.to_vec()].concat()).or_default();
        sums.0 += source["WallDuration"].as_f64().unwrap();
        sums.1 += source["Network"].as_u64().unwrap();
        sums.2 += 1;
    }
    let mut text = String::new();
    for (key, (wall, network, count)) in &groups {
        let mut source = Map::new();
        source.insert("StartTime".to_owned(), format!("{}T00:00:00.000Z", key[0]).into());
        source.extend(
            KEYS.iter()
                .zip(&key[1..])
                .map(|(name, value)| ((*name).to_owned(), value.as_str().into())),
        );
        for (name, value) in [
            ("WallDuration", json!(wall)),
            ("Network", json!(network)),
            ("Count", json!(count)),
        ] {
            source.insert(name.to_owned(), value);
        }
        let hit = json!({ "_index": "gracc.osg-transfer.summary2-2016", "_id": "x", "_source": source });
        let _ = writeln!(text, "{hit}");
    }
    let scene = Scene(tempfile::tempdir().unwrap());
    fs::write(scene.0.path().join("transfers"), &text).unwrap();
    fs::write(scene.0.path().join("raw"), &raw).unwrap();
    // They name no site.
    let keys = "site = \"DOOR\"";
    let report = scene.run("out", "", keys, &["transfers"]).unwrap();
    assert_eq!(groups.len(), 80);
    assert_eq!(report.reasons["accepted/summary_record"], 80);
    let added_up = scene.usage("out");
    scene.run("raw-out", "", keys, &["raw"]).unwrap();
    let (one_by_one, day) = (scene.usage("raw-out"), 16_953);
    let of = |view: &str| ("DOOR".to_owned(), day, view.to_owned());
    let [jobs, wall_ms, ..] = one_by_one[&of("storage")];
    assert_eq!((jobs, wall_ms), (1000, 142_233_310));
    let [summed, summed_ms, ..] = added_up[&of("summary_storage")];
    // Each sum is rounded once, to milliseconds.
    assert!(
        summed == jobs && (summed_ms - wall_ms).abs() <= 80,
        "{summed} {summed_ms}"
    );
    let store = Store::open_existing(scene.0.path().join("out").to_str().unwrap()).unwrap();
    let manifest = Manifest::load(&store).unwrap().unwrap();
    let mut moved = 0;
    for file in manifest.dataset("summary") {
        for batch in read_table(store.reader(&file.path).unwrap(), None, 1024).unwrap() {
            let batch = batch.unwrap();
            let bytes = gridtally::schema::batch::int(&batch, "network_byte").unwrap();
            moved += bytes.iter().flatten().sum::<i64>();
        }
    }
    assert_eq!(moved, 5_829_195_050_977);
    // Both at once are the same transfers.
    let none = scene.run("both", "", keys, &["raw", "transfers"]).unwrap_err();
    assert!(none.to_string().contains("DOOR 2016-06 (storage)"), "{none}");
}
