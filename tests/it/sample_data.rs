//! The sample data is what its generator makes, and large inputs are made the same way twice.

use std::collections::BTreeSet;
use std::path::Path;

use crate::generator::{bulk, sample};
use crate::support::sample::repository;

#[test]
fn committed_bytes_are_what_the_generator_makes() {
    let root = repository("sample-data");
    let made = sample::files();
    for (path, bytes) in &made {
        let committed = std::fs::read(root.join(path)).unwrap_or_default();
        assert!(
            committed == *bytes,
            "sample-data/{path} is not what `cargo run --example generate -- sample-data` makes"
        );
    }
    let mut strays = BTreeSet::new();
    collect(&root, &root, &mut strays);
    for path in made.keys() {
        strays.remove(*path);
    }
    strays.remove("README.md");
    assert!(strays.is_empty(), "files nothing generates: {strays:?}");
    let size: usize = made.values().map(Vec::len).sum();
    assert!(size < 1_000_000, "the sample data has grown to {size} bytes");
}

fn collect(root: &Path, dir: &Path, into: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, into);
        } else {
            into.insert(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
        }
    }
}

#[test]
fn large_inputs_follow_from_their_size() {
    let make = || {
        let (mut sacct, mut gracc) = (Vec::new(), Vec::new());
        bulk::sacct(300, &mut sacct).unwrap();
        bulk::gracc(20, &mut gracc).unwrap();
        (sacct, gracc, bulk::apel_message(3, 1_000))
    };
    let (sacct, gracc, apel) = make();
    assert_eq!(make(), (sacct.clone(), gracc.clone(), apel.clone()));
    let lines = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count();
    assert_eq!(lines(&sacct), 301);
    assert_eq!(lines(&gracc), 20);
    assert_eq!(memchr::memmem::find_iter(&apel, b"%%\n").count(), 1_000);
    for line in gracc.split(|&b| b == b'\n').filter(|line| !line.is_empty()) {
        let hit: serde_json::Value = serde_json::from_slice(line).unwrap();
        let xml = hit["_source"]["RawXML"].as_str().unwrap();
        assert!(xml.starts_with("<JobUsageRecord ") && xml.ends_with("</JobUsageRecord>\n"));
    }
}
