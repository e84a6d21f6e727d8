//! Fairshare where the names of users are withheld.

use std::fs;
use std::path::Path;

use gridtally::error::Kind;
use gridtally::run::RunOptions;

use super::scene::Scene;

/// Usage has pseudonyms and listings have none: no user would have used his share.
#[test]
fn shares_of_withheld_users_are_refused() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/fairshare");
    let scene = Scene::empty();
    for file in ["sacct.txt", "shares.txt", "pipeline.toml"] {
        scene.write(&format!("in/{file}"), &fs::read(golden.join(file)).unwrap());
    }
    let run = |privacy: &str| {
        let pipeline = fs::read_to_string(golden.join("pipeline.toml")).unwrap() + privacy;
        let pipeline = pipeline.replace("\"sacct.txt\"", "\"in/sacct.txt\"");
        let pipeline = pipeline.replace("\"shares.txt\"", "\"in/shares.txt\"");
        scene.write("pipeline.toml", pipeline.as_bytes());
        scene.run_file("pipeline.toml", "lake", RunOptions::default())
    };
    run("").unwrap();
    let why = run("[privacy]\nuser = \"drop\"\n").unwrap_err();
    assert_eq!(why.kind(), Kind::Config, "{why:#}");
    assert!(
        format!("{why:#}").contains("[privacy] withholds the names of users"),
        "{why:#}"
    );
    run("[privacy]\njob_name = \"drop\"\n").unwrap();
}
