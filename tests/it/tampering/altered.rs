//! Files altered, taken away, put back, moved about and added.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gridtally::audit::verify;
use gridtally::store::{Seal, Store, footer};

use super::scene::{Scene, findings};
use crate::support::forge::{copy_lake, rows, table, with_own_hash};
use crate::support::notes::is_note;

type Files = BTreeMap<String, Vec<u8>>;

const BOOKS: [&str; 4] = ["month_lock", "publication", "publication_job", "runs"];

/// Every file of a lake but what it notes for itself, which is no part of what is published.
fn files(lake: &Path) -> Files {
    let mut found = Files::new();
    let mut folders: Vec<PathBuf> = vec![lake.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(lake).unwrap().to_str().unwrap().to_owned();
            if !is_note(&name) {
                found.insert(name, fs::read(path).unwrap());
            }
        }
    }
    found
}

fn put(lake: &Path, path: &str, bytes: &[u8]) {
    let file = lake.join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, bytes).unwrap();
}

/// Makes a lake what it was.
fn restore(lake: &Path, whole: &Files) {
    let now = files(lake);
    for path in now.keys().filter(|path| !whole.contains_key(*path)) {
        fs::remove_file(lake.join(path)).unwrap();
    }
    for (path, bytes) in whole.iter().filter(|(path, bytes)| now.get(*path) != Some(*bytes)) {
        put(lake, path, bytes);
    }
}

/// One alteration: what it is, and the files it leaves other than they were; none for one that is taken away.
struct Alteration {
    what: String,
    files: Vec<(String, Option<Vec<u8>>)>,
}

#[derive(Default)]
struct Alterations(Vec<Alteration>);

impl Alterations {
    fn add(&mut self, what: impl Into<String>, files: Vec<(&str, Option<Vec<u8>>)>) {
        let files = files.into_iter().map(|(path, bytes)| (path.to_owned(), bytes));
        self.0.push(Alteration {
            what: what.into(),
            files: files.collect(),
        });
    }

    /// Of single files: two of each folder.
    fn of_files(&mut self, whole: &Files) {
        for (folder, paths) in by_folder(whole) {
            let ends: BTreeSet<&str> = paths.first().into_iter().chain(paths.last()).copied().collect();
            for path in ends {
                let bytes = &whole[path];
                let flipped = |at: usize| {
                    let mut bytes = bytes.clone();
                    bytes[at] ^= 1 << (at % 8);
                    Some(bytes)
                };
                self.add(
                    format!("flip in the middle of {path}"),
                    vec![(path, flipped(bytes.len() / 2))],
                );
                self.add(
                    format!("flip at the end of {path}"),
                    vec![(path, flipped(bytes.len() - 1))],
                );
                self.add(
                    format!("cut {path}"),
                    vec![(path, Some(bytes[..bytes.len() / 2].to_vec()))],
                );
                self.add(format!("take away {path}"), vec![(path, None)]);
                self.add(
                    format!("lengthen {path}"),
                    vec![(path, Some([&bytes[..], b"\0"].concat()))],
                );
            }
            let first = paths[0];
            let copy = if folder == first {
                format!("{first}.copy")
            } else {
                format!("{folder}/copy.parquet")
            };
            self.add(format!("copy {first}"), vec![(&copy, Some(whole[first].clone()))]);
            self.add(
                format!("rename {first}"),
                vec![(&copy, Some(whole[first].clone())), (first, None)],
            );
            let last = paths[paths.len() - 1];
            if whole[first] != whole[last] {
                let swapped = vec![(first, Some(whole[last].clone())), (last, Some(whole[first].clone()))];
                self.add(format!("swap {first} and {last}"), swapped);
            }
        }
    }

    /// Of what was there the night before.
    fn of_versions(&mut self, whole: &Files, before: &Files) {
        for (path, bytes) in before.iter().filter(|(path, bytes)| whole.get(*path) != Some(*bytes)) {
            self.add(format!("put back {path}"), vec![(path, Some(bytes.clone()))]);
        }
        let both = ["manifest.json", "seal.json"].map(|path| (path, Some(before[path].clone())));
        self.add("put back manifest and seal", both.into());
        let published = whole.iter().filter(|(path, _)| !is_book(path) && *path != "seal.json");
        let taken = published.clone().filter(|(path, _)| !before.contains_key(*path));
        let mut all: Vec<(&str, Option<Vec<u8>>)> = taken.map(|(path, _)| (path.as_str(), None)).collect();
        let published = before.iter().filter(|(path, _)| !is_book(path) && *path != "seal.json");
        all.extend(published.map(|(path, bytes)| (path.as_str(), Some(bytes.clone()))));
        self.add("put back all that a run publishes", all);
    }

    /// Of the pages of books.
    fn of_books(&mut self, lake: &Path, whole: &Files) {
        for book in BOOKS {
            let pages: Vec<&str> = whole
                .keys()
                .map(String::as_str)
                .filter(|path| is_of(path, book))
                .collect();
            assert!(pages.len() >= 2, "{book}: {pages:?}");
            self.add(
                format!("take away {book}"),
                pages.iter().map(|page| (*page, None)).collect(),
            );
            let seal = pages.iter().map(|page| (*page, None)).chain([("seal.json", None)]);
            self.add(format!("take away {book} and the seal"), seal.collect());
            for page in &pages {
                // The same rows, less one or twice, under the same footer.
                let (batch, footer) = (
                    rows(&lake.join(page)),
                    footer(&File::open(lake.join(page)).unwrap()).unwrap(),
                );
                let twice = arrow_select::concat::concat_batches(&batch.schema(), [&batch, &batch]).unwrap();
                let none = batch.slice(0, batch.num_rows() - 1);
                self.add(
                    format!("rows twice in {page}"),
                    vec![(page, Some(table(Some(book), &twice, footer.clone())))],
                );
                self.add(
                    format!("a row less in {page}"),
                    vec![(page, Some(table(Some(book), &none, footer)))],
                );
                self.add(
                    format!("a page without a chain at {page}"),
                    vec![(page, Some(table(Some(book), &batch, Vec::new())))],
                );
                let elsewhere = format!("{}/x.parquet", BOOKS[usize::from(book == BOOKS[0])]);
                self.add(
                    format!("{page} in another book"),
                    vec![(&elsewhere, Some(whole[*page].clone()))],
                );
            }
            // A page that is chained, which the seal does not know.
            let store = Store::open_existing(lake.to_str().unwrap()).unwrap();
            let seal = Seal::load(&store).unwrap().unwrap();
            let path = format!("{book}/9999999999999-1.parquet");
            let page = table(Some(book), &rows(&lake.join(pages[0])), seal.footer(&path));
            self.add(format!("a further page of {book}"), vec![(&path, Some(page))]);
        }
    }

    /// Of what vouches for the rest, and of what belongs to nothing.
    fn of_machinery(&mut self, whole: &Files) {
        let text = |path: &str| String::from_utf8(whole[path].clone()).unwrap();
        for (path, from, to) in [
            ("manifest.json", "\"rows\":", "\"rows\":1"),
            ("manifest.json", "\"pipeline\": \"oak\"", "\"pipeline\": \"elm\""),
            ("seal.json", "\"page_n\":2", "\"page_n\":1"),
            ("seal.json", "\"manifest_blake3\": \"", "\"manifest_blake3\": \"0"),
        ] {
            let text = text(path);
            assert!(text.contains(from), "{from} is not in {path}");
            let edited = text.replacen(from, to, 1);
            let hashed = with_own_hash(&text, |text| text.replacen(from, to, 1));
            self.add(format!("{from} in {path}"), vec![(path, Some(edited.into_bytes()))]);
            let what = format!("{from} in {path}, hashed again");
            self.add(what, vec![(path, Some(hashed.into_bytes()))]);
        }
        for path in [
            "x",
            "usage/x.parquet",
            "usage/site=A/x.txt",
            "records/site=Z/record_month=2026-10-01/records.parquet",
            "month_lock/readme.txt",
            "runs/latest.json",
            "publication/x/y.parquet",
            "gridtally.sql.bak",
            ".gridtally/x",
            ".gridtally/staging/x",
            ".gridtally/sending/x",
            ".gridtally/staging/usage.parquet",
            "unknown_dataset/x.parquet",
            ".hidden",
        ] {
            self.add(format!("add {path}"), vec![(path, Some(b"x".to_vec()))]);
        }
    }
}

fn is_of(path: &str, book: &str) -> bool {
    path.strip_prefix(book).is_some_and(|rest| rest.starts_with('/'))
}

fn is_book(path: &str) -> bool {
    BOOKS.into_iter().any(|book| is_of(path, book))
}

/// The files of each dataset and book, those of the root under their own names.
fn by_folder(whole: &Files) -> BTreeMap<&str, Vec<&str>> {
    let mut folders: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in whole.keys() {
        folders.entry(path.split('/').next().unwrap()).or_default().push(path);
    }
    folders
}

#[test]
fn every_alteration_is_found() {
    let scene = Scene::new();
    let lake = scene.lake();
    assert_eq!(findings(&lake), []);
    let (whole, before) = (files(&lake), files(&scene.path("before")));
    let mut alterations = Alterations::default();
    alterations.of_files(&whole);
    alterations.of_versions(&whole, &before);
    alterations.of_books(&lake, &whole);
    alterations.of_machinery(&whole);
    let all = alterations.0.len();
    assert!(all >= 200, "{all} alterations");
    let mut missed = Vec::new();
    for Alteration { what, files } in alterations.0 {
        for (path, bytes) in files {
            match bytes {
                Some(bytes) => put(&lake, &path, &bytes),
                None => fs::remove_file(lake.join(path)).unwrap(),
            }
        }
        if findings(&lake).is_empty() {
            missed.push(what);
        }
        restore(&lake, &whole);
    }
    assert_eq!(missed, [""; 0], "{} of {all}", missed.len());
    assert_eq!(findings(&lake), [], "it is what it was");
    eprintln!("{all} alterations found");
}

#[test]
fn every_flipped_bit_of_manifest_and_seal_is_found() {
    let scene = Scene::new();
    let lake = scene.lake();
    for path in ["manifest.json", "seal.json"] {
        let whole = fs::read(lake.join(path)).unwrap();
        let mut seed: u64 = 20_261_123;
        for _ in 0..60 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let bit = usize::try_from(seed >> 33).unwrap() % (8 * whole.len());
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            fs::write(lake.join(path), flipped).unwrap();
            let found = findings(&lake);
            assert!(
                found.iter().any(|(of, _)| of == path || of == "seal.json"),
                "bit {bit} of {path}: {found:?}"
            );
        }
        fs::write(lake.join(path), whole).unwrap();
    }
    assert_eq!(findings(&lake), []);
}

/// Restoring a complete earlier lake leaves no trace in it: a head that was kept elsewhere shows it.
#[test]
fn a_lake_put_back_is_found_by_a_head_kept_elsewhere() {
    let scene = Scene::new();
    let lake = scene.lake();
    let verified = verify::verify(lake.to_str().unwrap()).unwrap();
    let heads: Vec<(String, String)> = verified
        .books
        .into_iter()
        .map(|(book, head)| (book, head.blake3))
        .collect();
    let found = |head: &str| {
        let heads = [head.to_owned()];
        verify::verify_during_runs(lake.to_str().unwrap(), &heads, Duration::ZERO, |_| ())
            .unwrap()
            .findings
    };
    for (_, head) in &heads {
        assert_eq!(found(head), []);
    }
    let whole = files(&lake);
    fs::remove_dir_all(&lake).unwrap();
    copy_lake(&scene.path("before"), &lake);
    assert_eq!(findings(&lake), [], "no trace in the lake");
    for (book, head) in &heads {
        assert_eq!(found(head).len(), 1, "{book}");
    }
    // A lock alone, with the seal of just before it, is the same: of the books, only that head shows it.
    restore(&lake, &whole);
    assert_eq!(findings(&lake), []);
    let store = Store::open_existing(lake.to_str().unwrap()).unwrap();
    let pages = store.pages("month_lock").unwrap();
    let mut seal = Seal::load(&store).unwrap().unwrap();
    let first = blake3::hash(&whole[&pages[0]]).to_hex().to_string();
    let head = seal.books.get_mut("month_lock").unwrap();
    (head.page_n, head.blake3) = (1, first);
    put(&lake, "seal.json", seal.to_text().unwrap().as_bytes());
    fs::remove_file(lake.join(&pages[1])).unwrap();
    assert_eq!(findings(&lake), [], "no trace in the lake");
    for (book, head) in &heads {
        assert_eq!(found(head).is_empty(), book != "month_lock", "{book}");
    }
}

/// Removing a lock opens no month: publishing is refused, with the remedy.
#[test]
fn a_removed_lock_opens_no_month() {
    let scene = Scene::new();
    let lake = scene.lake();
    let whole = files(&lake);
    let pages: Vec<&String> = whole.keys().filter(|path| is_of(path, "month_lock")).collect();
    let send = [
        "report",
        "apel",
        "lake",
        "--message",
        "sync",
        "--receiver",
        "other",
        "--leave-out",
    ];
    let why = ["--month", "2025-03", "--reason", "r", "--author", "a"];
    let commands: [Vec<&str>; 3] = [
        [&send[..], &["--out", "elsewhere"]].concat(),
        [&["publication", "unlock", "lake"], &why[..]].concat(),
        vec!["publication", "locks", "lake"],
    ];
    for gone in [&pages[..], &pages[..1], &pages[1..]] {
        for page in gone {
            fs::remove_file(lake.join(page)).unwrap();
        }
        for command in &commands {
            let (is_done, stated) = scene.ask(command);
            assert!(
                !is_done && stated.contains("month_lock is not the book that was written"),
                "{command:?}: {stated}"
            );
            assert!(stated.contains("put what belongs there back from a copy"), "{stated}");
        }
        restore(&lake, &whole);
    }
    assert!(!scene.path("elsewhere").exists());
    fs::remove_file(lake.join("seal.json")).unwrap();
    for command in &commands {
        let (is_done, stated) = scene.ask(command);
        assert!(
            !is_done && stated.contains("there is no seal.json"),
            "{command:?}: {stated}"
        );
    }
    let (is_done, stated) = scene.ask(&["run", "p.toml"]);
    assert!(!is_done && stated.contains("there is no seal.json"), "{stated}");
    restore(&lake, &whole);
    assert!(scene.ask(&commands[0]).0);
}

/// The books are taken over into a rebuilt lake by a command, not by a copy, which would have no seal.
#[test]
fn books_are_carried_into_a_lake_built_again() {
    let scene = Scene::new();
    let done = |args: &[&str]| {
        let (is_done, stated) = scene.ask(args);
        assert!(is_done, "{args:?}: {stated}");
        stated
    };
    done(&["run", "p.toml", "--out", "again"]);
    let anew = scene.path("again");
    let pages = |lake: &Path| -> Files {
        let files = files(lake).into_iter();
        files
            .filter(|(path, _)| is_book(path) && !is_of(path, "runs"))
            .collect()
    };
    let (is_done, stated) = scene.ask(&["publication", "carry", "lake", "lake"]);
    assert!(!is_done && stated.contains("of its own"), "{stated}");
    assert!(done(&["publication", "carry", "lake", "again"]).contains("head of month_lock: "));
    assert_eq!(pages(&anew), pages(&scene.lake()));
    assert_eq!(findings(&anew), []);
    for words in [["publication", "locks"], ["publication", "list"]] {
        assert_eq!(
            done(&[&words[..], &["again"]].concat()),
            done(&[&words[..], &["lake"]].concat())
        );
    }
    let (is_done, stated) = scene.ask(&["publication", "carry", "lake", "again"]);
    assert!(!is_done && stated.contains("of its own"), "{stated}");
}
