//! What every kind of store promises.

use std::io::{Read, Write};

use bytes::Bytes;
use gridtally::error::Kind;
use gridtally::hive;
use gridtally::store::{Store, StoreEntry};
use parquet::file::reader::{ChunkReader, Length};
use proptest::prelude::*;

use super::{every_kind, local, paths, tree};

/// Values that have tripped somebody up.
pub(super) const AWKWARD: &[&str] = &[
    "plain",
    "A/B",
    "a b",
    " lead",
    "trail ",
    "a%b",
    "a%2Fb",
    "a=b",
    "=",
    "a+b",
    "a#b",
    "a#1",
    "a?b",
    "a\"b",
    "a'b",
    "é",
    "日本",
    "😀",
    ".hidden",
    ".",
    "..",
    "_x",
    "-",
    "a:b",
    "a*b",
    "a[b]",
    "a{b}",
    "a\\b",
    "~x",
    "a&b",
    "a\tb",
    "a\nb",
    "a,b;c",
    "<|>",
    "2024",
    "007",
    "true",
    "NaN",
    "null",
    "2024-01-01",
    "1e5",
    "0x10",
    "inf",
    "a very long name a very long name a very long name a very long name a very long name a very long name",
];

#[test]
fn objects_are_put_got_listed_renamed_and_deleted() {
    every_kind(|store| {
        assert_eq!(store.get("a/b.txt").unwrap(), None);
        assert_eq!(store.list("").unwrap(), []);
        assert_eq!(store.list("nowhere").unwrap(), []);
        store.put("a/b.txt", Bytes::from_static(b"one")).unwrap();
        store.put("a/b.txt", Bytes::from_static(b"other")).unwrap();
        store.put("a/a/c.txt", Bytes::new()).unwrap();
        store.put("ab/d.txt", Bytes::from_static(b"x")).unwrap();
        assert_eq!(store.get("a/b.txt").unwrap().unwrap(), "other");
        assert_eq!(store.size("a/b.txt").unwrap(), Some(5));
        assert!(store.exists("a/a/c.txt").unwrap());
        let entry = |path: &str, size| StoreEntry {
            path: path.to_owned(),
            size,
        };
        assert_eq!(store.list("a").unwrap(), [entry("a/a/c.txt", 0), entry("a/b.txt", 5)]);
        assert_eq!(paths(store), ["a/a/c.txt", "a/b.txt", "ab/d.txt"]);
        assert!(store.rename("a/b.txt", "ab/d.txt").unwrap());
        assert!(!store.rename("a/b.txt", "ab/d.txt").unwrap());
        assert_eq!(store.get("ab/d.txt").unwrap().unwrap(), "other");
        store.copy("ab/d.txt", "z/e.txt").unwrap();
        store.put("z/e.txt", Bytes::from_static(b"changed")).unwrap();
        assert_eq!(store.get("ab/d.txt").unwrap().unwrap(), "other");
        store.delete("z/e.txt").unwrap();
        store.delete("ab/d.txt").unwrap();
        store.delete("ab/d.txt").unwrap();
        assert_eq!(paths(store), ["a/a/c.txt"]);
    });
}

#[test]
fn a_local_store_leaves_no_empty_folders_and_no_part_files() {
    let (folder, store) = local();
    store
        .put("x/site=A%2FB/vo=c/part.parquet", Bytes::from_static(b"1"))
        .unwrap();
    store.put("x/site=B/part.parquet", Bytes::from_static(b"2")).unwrap();
    let mut dropped = store.writer("x/site=C/part.parquet").unwrap();
    dropped.write_all(&vec![7; 20 << 20]).unwrap();
    drop(dropped);
    assert_eq!(
        tree(folder.path()),
        [".gridtally/", "x/site=A%2FB/vo=c/part.parquet", "x/site=B/part.parquet"]
    );
    store.delete("x/site=A%2FB/vo=c/part.parquet").unwrap();
    assert_eq!(tree(folder.path()), [".gridtally/", "x/site=B/part.parquet"]);
}

/// What a killed run staged may already have its second name, among the files that snapshots keep.
#[test]
fn a_file_that_was_left_behind_is_not_written_into() {
    let (folder, store) = local();
    let write = |bytes: &[u8]| {
        let mut writer = store.writer(".gridtally/staging/00000001").unwrap();
        writer.write_all(bytes).unwrap();
        writer.finish().unwrap();
    };
    let (staged, kept) = [".gridtally/staging/00000001", "kept"]
        .map(|name| folder.path().join(name))
        .into();
    write(b"as it was kept");
    std::fs::hard_link(&staged, &kept).unwrap();
    let large = vec![7; 9 << 20];
    // A large one has another name before it is whole, which a killed run may have left behind as well.
    std::fs::hard_link(&staged, folder.path().join(".gridtally/staging/00000001#1")).unwrap();
    for new in [b"new".as_slice(), &large] {
        write(new);
        assert_eq!(std::fs::read(&kept).unwrap(), b"as it was kept");
        assert!(std::fs::read(&staged).unwrap() == new);
    }
    assert_eq!(tree(folder.path()), [".gridtally/staging/00000001", "kept"]);
}

#[test]
fn a_large_file_is_not_there_before_it_is_whole() {
    let (folder, store) = local();
    for path in ["x/part.parquet", ".gridtally/staging/00000001"] {
        let mut writer = store.writer(path).unwrap();
        writer.write_all(&vec![7; 20 << 20]).unwrap();
        assert!(!store.exists(path).unwrap());
        assert!(!paths(&store).iter().any(|listed| listed == path));
        writer.finish().unwrap();
        assert_eq!(store.size(path).unwrap(), Some(20 << 20));
        store.delete(path).unwrap();
    }
    assert_eq!(tree(folder.path()), [""; 0]);
}

/// Whoever renames the last file out of the staging folder takes it away: another writer may just have made it.
#[test]
fn writers_share_a_folder_that_comes_and_goes() {
    let (_folder, store) = local();
    std::thread::scope(|scope| {
        for nth in 0..4 {
            let store = store.clone();
            scope.spawn(move || {
                for turn in 0..300 {
                    let bytes = Bytes::from(format!("{nth} {turn}"));
                    if nth % 2 == 0 {
                        store.put(&format!("x/{nth}"), bytes).unwrap();
                    } else {
                        let path = format!(".gridtally/staging/{nth}");
                        let mut writer = store.writer(&path).unwrap();
                        writer.write_all(&bytes).unwrap();
                        writer.finish().unwrap();
                        assert!(store.rename(&path, &format!("y/{turn}/{nth}")).unwrap());
                        store.delete(&format!("y/{turn}/{nth}")).unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(paths(&store), ["x/0", "x/2"]);
}

#[test]
fn opening_creates_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("with space/and %25");
    let name = path.to_str().unwrap();
    assert_eq!(Store::open_existing(name).unwrap_err().kind(), Kind::NoInput);
    Store::open(name).unwrap().put("a", Bytes::from_static(b"1")).unwrap();
    let url = url::Url::from_file_path(&path).unwrap();
    assert_eq!(
        Store::open_existing(url.as_str()).unwrap().get("a").unwrap().unwrap(),
        "1"
    );
    assert_eq!(Store::open("nonsense://x/y").unwrap_err().kind(), Kind::Config);
    assert_eq!(Store::open("http://").unwrap_err().kind(), Kind::Config);
}

#[test]
fn memory_is_shared_by_name_and_divided_by_prefix() {
    let put = Store::open("memory://shared-by-name/p").unwrap();
    put.put("a", Bytes::from_static(b"1")).unwrap();
    assert_eq!(paths(&Store::open("memory://shared-by-name/p").unwrap()), ["a"]);
    assert_eq!(paths(&Store::open("memory://shared-by-name").unwrap()), ["p/a"]);
    assert_eq!(
        paths(&Store::open("memory://shared-by-another-name/p").unwrap()),
        [""; 0]
    );
}

#[test]
fn names_are_taken_literally_and_refused_when_too_long() {
    every_kind(|store| {
        let mut names: Vec<String> = AWKWARD
            .iter()
            .map(|value| format!("d/{}/part.parquet", hive::segment("site", Some(value))))
            .collect();
        for name in &names {
            store.put(name, Bytes::from(name.clone())).unwrap();
        }
        names.sort();
        assert_eq!(paths(store), names);
        for name in &names {
            assert_eq!(store.get(name).unwrap().unwrap(), name);
            assert!(
                store.list(name.rsplit_once('/').unwrap().0).unwrap().len() == 1,
                "{name}"
            );
        }
        if let Some(root) = store.local_root() {
            assert_eq!(
                tree(root)
                    .into_iter()
                    .filter(|path| path.starts_with("d/"))
                    .collect::<Vec<_>>(),
                names
            );
        }
        let long = format!("d/{}/x", hive::segment("site", Some(&"/".repeat(90))));
        assert_eq!(store.put(&long, Bytes::new()).unwrap_err().kind(), Kind::Data);
        assert!(store.put("../x", Bytes::new()).is_err());
        assert!(store.put("a//x", Bytes::new()).is_err());
        assert!(store.put("", Bytes::new()).is_err());
    });
}

#[test]
fn writers_count_and_hash_and_readers_read_ranges() {
    every_kind(|store| {
        for size in [
            0,
            1,
            (8 << 20) - 1,
            8 << 20,
            (8 << 20) + 1,
            25 << 20,
            (512 << 10) - 1,
            512 << 10,
            (512 << 10) + 1,
        ] {
            let contents: Vec<u8> = (0..size).map(|i| u8::try_from(i % 251).unwrap()).collect();
            let mut writer = store.writer("big/object").unwrap();
            for piece in contents.chunks(3_000_017) {
                writer.write_all(piece).unwrap();
            }
            let written = writer.finish().unwrap();
            assert_eq!(written.bytes, contents.len() as u64);
            assert_eq!(written.blake3, blake3::hash(&contents).to_hex().as_str());
            assert_eq!(store.get("big/object").unwrap().unwrap(), contents);
            let reader = store.reader("big/object").unwrap();
            assert_eq!(Length::len(&reader), contents.len() as u64);
            let mut read = Vec::new();
            reader.sequential().read_to_end(&mut read).unwrap();
            assert!(read == contents);
            let start = contents.len() / 3;
            let length = contents.len() / 2;
            assert!(reader.get_bytes(start as u64, length).unwrap() == contents[start..start + length]);
            let mut rest = Vec::new();
            reader.get_read(start as u64).unwrap().read_to_end(&mut rest).unwrap();
            assert!(rest == contents[start..]);
            assert!(reader.get_bytes(contents.len() as u64, 1).is_err());
        }
        assert_eq!(store.reader("big/none").err().unwrap().kind(), Kind::Data);
    });
}

#[test]
fn a_reader_keeps_the_file_it_opened() {
    let (_folder, store) = local();
    store.put("a", Bytes::from_static(b"old")).unwrap();
    let reader = store.reader("a").unwrap();
    store.put("a", Bytes::from_static(b"newer")).unwrap();
    assert_eq!(reader.get_bytes(0, 3).unwrap(), "old");
}

#[test]
fn segments_read_back_and_look_as_documented() {
    for value in AWKWARD {
        let segment = hive::segment("site", Some(value));
        assert!(segment.is_ascii() && !segment.contains('/'));
        assert_eq!(
            hive::parse(&segment),
            Some(("site".to_owned(), Some((*value).to_owned())))
        );
    }
    assert_eq!(hive::segment("site", Some("A/B é")), "site=A%2FB%20%C3%A9");
    assert_eq!(hive::segment("vo", None), "vo=__unknown__");
    // Earlier versions wrote Hive's own word.
    for word in ["__unknown__", "__HIVE_DEFAULT_PARTITION__"] {
        assert_eq!(hive::parse(&format!("vo={word}")), Some(("vo".to_owned(), None)));
        let named_so = Some(word.to_owned());
        assert_eq!(
            hive::parse(&hive::segment("vo", named_so.as_deref())),
            Some(("vo".to_owned(), named_so))
        );
    }
    for not_one in ["", "vo", "=x", "vo=%FF"] {
        assert_eq!(hive::parse(not_one), None, "{not_one}");
    }
}

proptest! {
    #[test]
    fn any_value_survives_its_segment(key in "[a-z_]{1,12}", value in ".{0,40}") {
        let segment = hive::segment(&key, Some(&value));
        prop_assert!(segment.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-%=".contains(&b)));
        prop_assert_eq!(hive::parse(&segment), Some((key, Some(value))));
    }
}
