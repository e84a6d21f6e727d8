//! Files that are packed or encoded as no reader takes them: they are named, and the advice helps.

use std::fs;

use super::{Nights, jobs};
use crate::support::tar::{entry, gzip};

#[test]
fn a_file_in_a_foreign_form_is_named_with_what_helps() {
    let text = jobs(1, 3);
    let utf_16: Vec<u8> = "\u{feff}"
        .encode_utf16()
        .chain(text.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let packed = gzip(text.as_bytes());
    let behind = |mark: &[u8]| [mark, &[b'x'; 100]].concat();
    for (bytes, expected) in [
        (
            behind(b"PK\x03\x04"),
            "a zip archive is not read: unpack it, or pack it as gzip",
        ),
        (behind(b"7z\xbc\xaf\x27\x1c"), "a 7z archive"),
        (behind(b"\x04\x22\x4d\x18"), "an lz4 file"),
        (behind(b"\x1f\x9d\x90"), "a file of compress (.Z)"),
        (gzip(&behind(b"PK\x03\x04")), "a zip archive"),
        (gzip(&packed), "packed twice, inside as gzip: unpack it once"),
        (utf_16, "text in UTF-16 is not read: make it UTF-8"),
    ] {
        for format in ["sacct", "auto"] {
            let nights = Nights::new("", "");
            let file = nights.folder().join("p.toml");
            let pipeline = fs::read_to_string(&file).unwrap();
            fs::write(file, pipeline.replace("\"sacct\"", &format!("\"{format}\""))).unwrap();
            nights.write("dumps/a.txt", &text);
            fs::write(nights.folder().join("dumps/b"), &bytes).unwrap();
            let (code, reported, _) = nights.run(&[]);
            assert_eq!(code, 65, "{expected}: {reported}");
            assert!(reported.contains(expected), "{format}, {expected}: {reported}");
            assert!(!reported.contains("sacct dump"), "{format}, {expected}: {reported}");
            let looked = nights.gridtally(&["inspect", "dumps/b"]);
            let looked = String::from_utf8(looked.stdout).unwrap();
            assert!(looked.contains(expected) && !looked.contains("sacct -P"), "{looked}");
        }
    }
    // In an archive as well, whose other members are read.
    let mut archive = entry("a.zip", b'0', &behind(b"PK\x03\x04"));
    archive.extend(entry("b.txt", b'0', text.as_bytes()));
    archive.extend([0; 1024]);
    let nights = Nights::new("", "max_unread = 1\nmax_rejected = 1");
    fs::create_dir(nights.folder().join("dumps")).unwrap();
    fs::write(nights.folder().join("dumps/b"), archive).unwrap();
    let (code, reported, report) = nights.run(&[]);
    assert_eq!((code, &report["outcomes"]["accepted"]), (0, &3.into()), "{reported}");
    assert!(reported.contains("a.zip: a zip archive is not read"), "{reported}");
}

#[test]
fn an_archive_without_a_member_holds_no_row() {
    for zero_n in [1024, 10_240] {
        let nights = Nights::new("", "");
        nights.write("dumps/a.txt", &jobs(1, 3));
        fs::write(nights.folder().join("dumps/b.tar"), vec![0; zero_n]).unwrap();
        let (code, reported, report) = nights.run(&[]);
        assert_eq!((code, &report["outcomes"]["accepted"]), (0, &3.into()), "{reported}");
        assert!(reported.contains("warning: dumps/b.tar holds no row"), "{reported}");
    }
    // Zeros that are no blocks of an archive are what became of a file.
    let nights = Nights::new("", "");
    nights.write("dumps/a.txt", &jobs(1, 3));
    fs::write(nights.folder().join("dumps/b.tar"), vec![0; 10_000]).unwrap();
    assert_eq!(nights.run(&[]).0, 65);
}
