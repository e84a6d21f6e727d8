//! Damage and strays are found and named.

use super::{every_kind, local, memory};
use crate::support::forge::with_own_hash;
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use gridtally::store::{LakeFacts, Publication, SCHEMA_VERSION_KEY, Store, TableOptions, TableWriter, verify_files};
use std::sync::Arc;

fn publish(store: &Store, tables: &[(&str, i64)]) {
    let publication = Publication::begin(store).unwrap();
    for (path, rows) in tables {
        let column: ArrayRef = Arc::new(Int64Array::from_iter_values(0..*rows));
        let batch = RecordBatch::try_from_iter([("n", column)]).unwrap();
        let options = TableOptions {
            footer: vec![(SCHEMA_VERSION_KEY.to_owned(), "3".to_owned())],
            ..TableOptions::default()
        };
        let writer = publication.stage(path, "usage", 3).unwrap();
        let mut table = TableWriter::create(writer, batch.schema(), &options).unwrap();
        table.write(&batch).unwrap();
        let (rows, writer) = table.finish().unwrap();
        publication.add(writer.finish(rows).unwrap()).unwrap();
    }
    publication.commit(LakeFacts::default()).unwrap();
}

fn problems(store: &Store) -> Vec<String> {
    verify_files(store)
        .unwrap()
        .into_iter()
        .map(|f| format!("{}: {}", f.path, f.problem))
        .collect()
}

fn edit_manifest(store: &Store, from: &str, to: &str) {
    let text = String::from_utf8(store.get("manifest.json").unwrap().unwrap().to_vec()).unwrap();
    assert!(text.contains(from), "{text}");
    let edited = with_own_hash(&text, |text| text.replacen(from, to, 1));
    store.put("manifest.json", edited.into()).unwrap();
}

#[test]
fn a_sound_output_has_no_findings() {
    every_kind(|store| {
        publish(
            store,
            &[("usage/site=A/part.parquet", 5), ("usage/site=B/part.parquet", 0)],
        );
        assert_eq!(problems(store), [""; 0]);
    });
}

#[test]
fn strays_and_leftovers_are_found() {
    let (folder, store) = local();
    assert_eq!(
        problems(&store),
        ["manifest.json: there is no manifest: nothing has been published here"]
    );
    publish(&store, &[("usage/site=A/part.parquet", 5)]);
    for stray in [
        "usage/site=A/other.parquet",
        "run",
        "gridtally.sql",
        ".gridtally/staging/1",
        ".gridtally/journal.json",
        ".gridtally/x",
    ] {
        store.put(stray, "x".into()).unwrap();
    }
    std::fs::write(folder.path().join("usage/part.parquet#1"), "x").unwrap();
    assert_eq!(
        problems(&store),
        [
            ".gridtally/journal.json: a commit was interrupted; the next run completes it",
            ".gridtally/staging/1: left over from an interrupted run; the next run removes it",
            ".gridtally/x: does not belong here",
            "gridtally.sql: not in the manifest",
            "run: not in the manifest",
            "usage/part.parquet#1: left over from an interrupted write",
            "usage/site=A/other.parquet: not in the manifest",
        ]
    );
    // What a write that was cut off left behind is no damage.
    let findings = verify_files(&store).unwrap().into_iter();
    let leftovers: Vec<String> = findings.filter(|of| of.is_leftover).map(|of| of.path).collect();
    assert_eq!(leftovers, [".gridtally/staging/1", "usage/part.parquet#1"]);
}

/// What is not a file ended the verification, or was not seen, or was followed over a whole disk.
#[cfg(unix)]
#[test]
fn links_and_devices_are_strays() {
    use std::os::unix::fs::symlink;
    let (folder, store) = local();
    publish(
        &store,
        &[("usage/site=A/part.parquet", 5), ("usage/site=B/part.parquet", 7)],
    );
    let place = |path: &str| folder.path().join(path);
    // A partition that was moved to another disk is where it was.
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::rename(place("usage/site=B"), elsewhere.path().join("b")).unwrap();
    symlink(elsewhere.path().join("b"), place("usage/site=B")).unwrap();
    assert_eq!(problems(&store), [""; 0]);

    symlink("..", place("usage/round")).unwrap();
    symlink("itself", place("itself")).unwrap();
    std::fs::create_dir(place("runs")).unwrap();
    symlink("nothing", place("runs/latest")).unwrap();
    symlink("nothing", place("usage/gone.parquet")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place("socket")).unwrap();
    assert_eq!(
        problems(&store),
        [
            "itself: a link that leads nowhere: Too many levels of symbolic links (os error 40)",
            "runs/latest: a link that leads nowhere: No such file or directory (os error 2)",
            "socket: neither a file nor a folder",
            "usage/gone.parquet: a link that leads nowhere: No such file or directory (os error 2)",
            "usage/round: a link to a folder that holds nothing of the manifest",
        ]
    );
}

#[test]
fn damage_is_found() {
    let store = memory();
    let part = "usage/site=A/part.parquet";
    publish(&store, &[(part, 5), ("usage/site=B/part.parquet", 7)]);
    let good = store.get(part).unwrap().unwrap();
    let manifest = store.get("manifest.json").unwrap().unwrap();

    store.delete("usage/site=B/part.parquet").unwrap();
    store.put(part, good.slice(..good.len() - 1)).unwrap();
    let size = good.len();
    assert_eq!(
        problems(&store),
        [
            format!("{part}: {} bytes, the manifest states {size}", size - 1),
            "usage/site=B/part.parquet: in the manifest but not there".to_owned()
        ]
    );

    publish(&store, &[("usage/site=B/part.parquet", 7)]);
    let mut flipped = good.to_vec();
    flipped[10] ^= 1;
    let bad_hash = blake3::hash(&flipped).to_hex().to_string();
    let good_hash = blake3::hash(&good).to_hex().to_string();
    store.put(part, flipped.clone().into()).unwrap();
    assert_eq!(
        problems(&store),
        [format!("{part}: its contents are not those of the manifest (blake3)")]
    );

    // A file that matches the manifest, but is no longer a table.
    *flipped.last_mut().unwrap() = 0;
    edit_manifest(&store, &good_hash, &blake3::hash(&flipped).to_hex());
    store.put(part, flipped.into()).unwrap();
    let found = problems(&store);
    assert!(
        found.len() == 1 && found[0].starts_with(&format!("{part}: not readable as Parquet")),
        "{found:?}"
    );
    assert_ne!(bad_hash, good_hash);

    store.put("manifest.json", manifest.clone()).unwrap();
    store.put(part, good).unwrap();
    edit_manifest(&store, "\"rows\":5", "\"rows\":6");
    edit_manifest(&store, "\"schema_version\":3", "\"schema_version\":4");
    assert_eq!(
        problems(&store),
        [
            format!("{part}: 5 rows, the manifest states 6"),
            format!("{part}: schema version 3, the manifest states 4")
        ]
    );

    store.put("manifest.json", "{}".into()).unwrap();
    let found = problems(&store);
    assert!(
        found.len() == 1 && found[0].starts_with("manifest.json: the manifest is damaged"),
        "{found:?}"
    );
}
