//! Azure's blob storage: inputs, a lake in one go and night by night, uploads in parts, one writer at a time.

use super::*;
use std::io::{Read as _, Write as _};

#[test]
fn azure_holds_the_same_bytes() {
    let Some(azure) = Azure::start("azure_holds_the_same_bytes") else {
        return;
    };
    let here = sample("az://container/in");
    let here = here.path();
    let data = repository("sample-data");
    run(&azure, &["run", "local.toml", "--out", "lake"], here);
    let local = lake_hash(&here.join("lake"));

    run(&azure, &["run", "local.toml", "--out", "az://container/lake"], here);
    assert_same(&local, &published(&azure, "lake"), "a lake in a container");
    let again = run(&azure, &["run", "local.toml", "--out", "az://container/lake"], here);
    assert!(again.contains("nothing new"), "{again}");
    assert_same(&local, &published(&azure, "lake"), "a run without news");

    // One file arrives each night, then all have.
    let container = azure.container();
    upload(&container, &data.join("bay/apel"), "in/bay/apel");
    for night in [
        "sacct-2026-01.txt",
        "sacct-2026-02.txt.gz",
        "sacct-2026-03.txt",
        "sacct-2026-04.txt.zst",
    ] {
        let bytes = std::fs::read(data.join("alp").join(night)).unwrap();
        container.put(&format!("in/alp/{night}"), bytes.into()).unwrap();
        run(&azure, &["run", "remote.toml", "--out", "az://container/nightly"], here);
    }
    let nightly = published(&azure, "nightly");
    assert_same(&figures(&local), &figures(&nightly), "a lake grown night by night");
    for lake in ["az://container/lake", "az://container/nightly"] {
        let sound = run(&azure, &["verify", lake], here);
        assert!(sound.contains("sound"), "{sound}");
    }

    let victim = nightly.keys().find(|path| path.starts_with("usage/")).unwrap();
    container.put(&format!("nightly/{victim}"), "no table".into()).unwrap();
    let damaged = gridtally(&azure, &["verify", "az://container/nightly"], here)
        .output()
        .unwrap();
    assert_eq!(damaged.status.code(), Some(65), "{}", reported(&damaged));
}

#[test]
fn azure_takes_large_objects_in_parts_and_one_writer_at_a_time() {
    let Some(azure) = Azure::start("azure_takes_large_objects_in_parts_and_one_writer_at_a_time") else {
        return;
    };
    let store = azure.container();
    let noise = parts::noise(20_000_000);
    let mut writer = store.writer("large/object").unwrap();
    writer.write_all(&noise).unwrap();
    assert!(!store.exists("large/object").unwrap(), "nothing is seen before the end");
    let written = writer.finish().unwrap();
    assert_eq!(written.blake3, blake3::hash(&noise).to_hex().to_string());
    let mut back = Vec::new();
    store
        .reader("large/object")
        .unwrap()
        .sequential()
        .read_to_end(&mut back)
        .unwrap();
    assert!(back == noise);
    assert_eq!(
        azure.log().matches("comp=block&").count(),
        3,
        "two full parts and the rest"
    );

    let mut writer = store.writer("large/never").unwrap();
    writer.write_all(&noise).unwrap();
    drop(writer);
    assert!(!store.exists("large/never").unwrap());

    let held = gridtally::store::Publication::begin(&store).unwrap();
    let busy = gridtally::store::Publication::begin(&azure.container()).err().unwrap();
    assert_eq!(busy.kind(), gridtally::error::Kind::Busy);
    drop(held);
    drop(gridtally::store::Publication::begin(&store).unwrap());
    assert!(!store.exists(".gridtally/lock").unwrap());
}
