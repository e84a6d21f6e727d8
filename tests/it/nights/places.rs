//! Places of inputs and outputs that can be none: mistakes of the pipeline, which `check` finds as a run does.

use std::fs;

use super::{Nights, jobs};

/// `run` and `check` of a pipeline with these places: exit codes, and what is printed.
fn codes(paths: &str, output: &str) -> ([i32; 2], String) {
    let nights = Nights::new("", "");
    nights.write("dumps/a.txt", &jobs(1, 3));
    let file = nights.folder().join("p.toml");
    let text = fs::read_to_string(&file).unwrap();
    let text = text
        .replace("\"dumps\"", paths)
        .replace("output = \"lake\"", &format!("output = {output}"));
    fs::write(file, text).unwrap();
    let mut printed = String::new();
    let codes = ["check", "run"].map(|command| {
        let ended = nights.gridtally(&[command, "p.toml"]);
        printed.push_str(&String::from_utf8_lossy(&ended.stderr));
        ended.status.code().unwrap()
    });
    (codes, printed)
}

#[test]
fn a_place_that_can_be_none_is_a_mistake_of_the_pipeline() {
    for (paths, output) in [
        ("ftp://x/y", "lake"),
        ("dumps\\u0000", "lake"),
        ("dumps", "foo://x"),
        ("dumps", "file://host/lake"),
        ("dumps", "lake\\u0000"),
    ] {
        let (ended, printed) = codes(&format!("\"{paths}\""), &format!("\"{output}\""));
        assert_eq!(ended, [78, 78], "{paths} {output}: {printed}");
    }
    assert_eq!(codes("\"dumps\"", "\"lake\"").0, [0, 0]);
}

#[cfg(feature = "cloud")]
#[test]
fn a_url_without_a_bucket_is_a_mistake_of_the_pipeline() {
    let (ended, printed) = codes("\"s3://\"", "\"lake\"");
    assert_eq!(ended, [78, 78], "{printed}");
    assert!(printed.contains("not the location of an input"), "{printed}");
    let (ended, printed) = codes("\"dumps\"", "\"s3://\"");
    assert_eq!(ended, [78, 78], "{printed}");
}
