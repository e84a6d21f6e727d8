//! A changed file of the dataset is found.

use std::fs;

use gridtally::audit::verify;

use super::{DumpJob, NO_DECAY, Scene, pipeline};

#[test]
fn every_alteration_of_a_fairshare_file_is_found_and_the_next_run_does_not_hide_it() {
    let scene = Scene::of_jobs(&[
        DumpJob::new(1, "lab", "ann", "2026-02-27T10:00:00", 7_200, 3),
        DumpJob::new(2, "inst", "cid", "2026-03-01T10:00:00", 7_200, 5),
    ]);
    scene.run(&pipeline(NO_DECAY));
    let lake = scene.path("lake");
    let findings = || verify::verify(lake.to_str().unwrap()).unwrap().findings;
    assert_eq!(findings(), []);
    let whole = scene.bytes("lake");
    let (first, last) = (whole.keys().next().unwrap(), whole.keys().next_back().unwrap());
    assert_ne!(first, last);
    let altered = |path: &str, bytes: Option<Vec<u8>>| {
        match bytes {
            Some(bytes) => fs::write(lake.join(path), bytes).unwrap(),
            None => fs::remove_file(lake.join(path)).unwrap(),
        }
        let found = findings();
        assert!(
            found.iter().any(|(of, _)| of.contains("fairshare")),
            "{path}: {found:?}"
        );
        for (path, bytes) in &whole {
            fs::write(lake.join(path), bytes).unwrap();
        }
    };
    for (path, bytes) in &whole {
        for at in [bytes.len() / 3, bytes.len() / 2, bytes.len() - 1] {
            let mut flipped = bytes.clone();
            flipped[at] ^= 4;
            altered(path, Some(flipped));
        }
        altered(path, Some(bytes[..bytes.len() / 2].to_vec()));
        altered(path, None);
    }
    altered(first, Some(whole[last].clone()));
    let stray = lake.join("fairshare/site=A/cluster=oak/month=2026-04-01/fairshare.parquet");
    fs::create_dir_all(stray.parent().unwrap()).unwrap();
    fs::write(&stray, &whole[last]).unwrap();
    assert!(!findings().is_empty(), "a stray file");
}
