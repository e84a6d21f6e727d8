//! Files that cannot be opened: counted and named, and the rest of the night is read.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::{Nights, jobs};

/// A good dump, a link to nothing and a link to itself.
fn nights(keys: &str) -> Nights {
    let nights = Nights::new("", keys);
    nights.write("dumps/a.txt", &jobs(1, 7));
    symlink("later/b.txt", nights.folder().join("dumps/b.txt")).unwrap();
    symlink("c.txt", nights.folder().join("dumps/c.txt")).unwrap();
    nights
}

#[test]
fn a_file_that_cannot_be_opened_is_an_unread_file() {
    let strict = nights("");
    let (code, reported, report) = strict.run(&[]);
    assert_eq!((code, &report["status"]), (65, &json!("failed")), "{reported}");
    assert!(
        reported.contains("nothing was read of 2 of 3 new files")
            && reported.contains("dumps/b.txt cannot be opened: No such file")
            && reported.contains("dumps/c.txt cannot be opened: Too many levels of symbolic links"),
        "{reported}"
    );
    assert!(!strict.folder().join("lake/usage").exists());
    let check = strict.gridtally(&["check", "p.toml"]);
    let stated = String::from_utf8(check.stderr).unwrap();
    assert!(
        check.status.success() && stated.contains("warning: source oak: dumps/b.txt cannot be opened"),
        "{stated}"
    );
    // Where the pipeline allows it the others are published; the night names them again as long as it lasts.
    let nights = nights("max_unread = 2\nmax_rejected = 1.0");
    for _ in 0..2 {
        let (code, reported, report) = nights.run(&[]);
        assert_eq!(code, 0, "{reported}");
        assert!(
            reported.contains("dumps/b.txt") && reported.contains("dumps/c.txt"),
            "{reported}"
        );
        let refused = report["refused"].as_array().unwrap();
        let paths: Vec<_> = refused.iter().map(|file| (&file["path"], &file["is_unread"])).collect();
        assert_eq!(
            paths,
            [
                (&json!("dumps/b.txt"), &json!(true)),
                (&json!("dumps/c.txt"), &json!(true))
            ]
        );
        assert_eq!(report["outcomes"], json!({ "accepted": 7, "rejected": 2 }));
        assert_eq!(nights.gridtally(&["verify", "lake"]).status.code(), Some(0));
    }
    // What can be opened later is read then, and its refusal is forgotten.
    nights.write("dumps/later/b.txt", &jobs(20, 3));
    fs::remove_file(nights.folder().join("dumps/c.txt")).unwrap();
    nights.write("dumps/c.txt", &jobs(40, 2));
    let (code, reported, report) = nights.run(&[]);
    assert_eq!(code, 0, "{reported}");
    assert_eq!(report["outcomes"]["accepted"], 12, "{report}");
    assert_eq!(report["outcomes"]["rejected"], json!(null), "{report}");
    assert_eq!(nights.gridtally(&["verify", "lake"]).status.code(), Some(0));
}

#[test]
fn a_folder_that_cannot_be_looked_into_is_an_unread_file() {
    let nights = Nights::new("", "");
    nights.write("dumps/a/1.txt", &jobs(1, 7));
    symlink("around", nights.folder().join("dumps/around")).unwrap();
    for paths in ["dumps", "dumps/*/*.txt", "dumps/**/*.txt"] {
        let text = fs::read_to_string(nights.folder().join("p.toml")).unwrap();
        nights.write(
            "q.toml",
            &text.replace("paths = [\"dumps\"]", &format!("paths = [\"{paths}\"]")),
        );
        let output = nights.gridtally(&["run", "q.toml"]);
        let reported = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(65), "{paths}: {reported}");
        assert!(
            reported.contains("nothing was read of 1 of 2 new files")
                && reported.contains("dumps/around cannot be opened: Too many levels of symbolic links"),
            "{paths}: {reported}"
        );
    }
}
