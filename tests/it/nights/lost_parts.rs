//! Files that are cut off or damaged: how many rows are lost is not known, and a run does not publish without them unasked.

use std::fs;
use std::io::Write;

use super::{Nights, jobs};
use crate::support::tar::{gzip, tar};

/// A night with a whole dump, and this file.
fn nights(keys: &str, bytes: &[u8]) -> Nights {
    let nights = Nights::new("", keys);
    nights.write("dumps/a.txt", &jobs(10_001, 500));
    fs::write(nights.folder().join("dumps/b"), bytes).unwrap();
    nights
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut out = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut out = liblzma::write::XzEncoder::new(Vec::new(), 6);
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

#[test]
fn a_file_of_which_a_part_is_lost_fails_the_run_unless_that_is_allowed() {
    let text = jobs(1, 3_000);
    let packed = gzip(text.as_bytes());
    let mut damaged = packed.clone();
    damaged[packed.len() / 2..][..50].fill(0x55);
    let member = tar(&[("a", text.as_bytes()), ("b.gz", &packed[..packed.len() / 2])]);
    for (what, bytes) in [
        ("cut off", &packed[..packed.len() / 2]),
        ("damaged", &damaged),
        ("a member", &member),
    ] {
        let (code, reported, report) = nights("", bytes).run(&[]);
        assert_eq!(code, 65, "{what}: {reported}");
        for word in [
            "a part is lost of 1 of 2 new files, and no max_unread allows it",
            "refused, and a part of it is lost",
            "nothing was published",
        ] {
            assert!(reported.contains(word), "{what}: {word}: {reported}");
        }
        assert_eq!(report["refused"][0]["is_part_lost"], true, "{what}: {report}");
        let (code, reported, report) = nights("max_unread = 1\nmax_rejected = 0.9", bytes).run(&[]);
        assert_eq!(code, 0, "{what}: {reported}");
        assert!(reported.contains("warning: dumps/b: "), "{what}: {reported}");
        assert!(report["outcomes"]["accepted"].as_u64().unwrap() > 500, "{report}");
    }
}

#[test]
fn a_text_that_may_lack_rows_is_read_with_a_warning() {
    let text = jobs(1, 300);
    let cut = &text[..text.len() - 20];
    let message = "sacct: error: Problem talking to the database: Broken pipe\n";
    let after = format!("{text}{message}");
    let (header, rows) = text.split_once('\n').unwrap();
    let before = format!("{message}{header}\n{rows}");
    let repeated = format!("{text}{text}");
    for (bytes, warned) in [
        (
            cut,
            Some("rows refused, and rows may be missing\n    1 truncated, first in line 301: "),
        ),
        (
            &after,
            Some("rows may be missing\n    1 tool_message, first in line 302: sacct: error: Problem"),
        ),
        (
            &before,
            Some("rows may be missing\n    1 tool_message, first in line 1: sacct: error: Problem"),
        ),
        (&text, None),
        (&repeated, None),
    ] {
        let (code, reported, report) = nights("", bytes.as_bytes()).run(&[]);
        assert_eq!(code, 0, "{reported}");
        let warning = reported.find("warning: dumps/b: ").map(|at| &reported[at..]);
        assert_eq!(warning.is_some(), warned.is_some(), "{reported}");
        if let (Some(warning), Some(warned)) = (warning, warned) {
            assert!(warning.contains(warned), "{warned}: {reported}");
            assert_eq!(report["refused"][0]["is_incomplete"], true, "{report}");
        }
    }
}

#[test]
fn a_part_that_was_lost_is_reported_once() {
    let packed = gzip(jobs(1, 3_000).as_bytes());
    let nights = nights("max_unread = 1", &packed[..packed.len() / 2]);
    assert_eq!(nights.run(&[]).0, 0);
    // The file is known now, and no new one loses anything.
    let text = fs::read_to_string(nights.folder().join("p.toml")).unwrap();
    nights.write("p.toml", &text.replace("max_unread = 1", ""));
    nights.write("dumps/c.txt", &jobs(20_001, 3));
    let (code, reported, _) = nights.run(&[]);
    assert_eq!(code, 0, "{reported}");
}

#[test]
fn zeros_behind_a_packed_stream_are_padding() {
    let text = jobs(1, 300);
    let text = text.as_bytes();
    for (name, packed) in [
        ("gzip", gzip(text)),
        ("bzip2", bzip2(text)),
        ("xz", xz(text)),
        ("zstd", zstd::encode_all(text, 3).unwrap()),
    ] {
        for zero_n in [1, 512, 100_000] {
            if name == "xz" && zero_n == 1 {
                // Its padding has whole words.
                continue;
            }
            let padded = [&packed[..], &vec![0; zero_n]].concat();
            let (code, reported, report) = nights("max_rejected = 0", &padded).run(&[]);
            assert_eq!(code, 0, "{name} {zero_n}: {reported}");
            assert_eq!(report["outcomes"]["accepted"], 800, "{name} {zero_n}: {report}");
            let more = [&padded[..], b"more"].concat();
            assert_eq!(nights("", &more).run(&[]).0, 65, "{name} {zero_n}");
        }
    }
}
