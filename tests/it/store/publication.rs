//! Transactions: all or nothing, whenever the run is killed.

use super::failing::FailAfter;
use super::{every_kind, local, memory, paths, tree};
use gridtally::error::{Kind, Result};
use gridtally::store::{Committed, Fact, LakeFacts, Manifest, Publication, Store};
use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

type Files = BTreeMap<String, Vec<u8>>;

fn facts(run: &str) -> LakeFacts {
    let mut facts = LakeFacts::default();
    facts.insert(Fact::Plan, run);
    facts
}

/// Publishes exactly these files, removing all others.
fn publish(store: &Store, files: &Files, run: &str) -> Result<Committed> {
    let publication = Publication::begin(store)?;
    for (path, contents) in files {
        let mut writer = publication.stage(path, "usage", 1)?;
        writer.write_all(contents)?;
        publication.add(writer.finish(1)?)?;
    }
    let published: Vec<String> = publication
        .published()
        .into_iter()
        .flat_map(Manifest::files)
        .map(|file| file.path.clone())
        .collect();
    for path in published.iter().filter(|path| !files.contains_key(*path)) {
        publication.remove(path);
    }
    publication.commit(facts(run))
}

fn files(list: &[(&str, &str)]) -> Files {
    list.iter()
        .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
        .collect()
}

fn before() -> Files {
    let mut files = files(&[
        ("usage/site=A%2FB/same.parquet", "same"),
        ("usage/site=B/changes.parquet", "old"),
        ("usage/site=C/vo=x/goes.parquet", "gone"),
        ("usage/site=C/vo=y/goes.parquet", "gone too"),
    ]);
    files.insert("usage/big.parquet".to_owned(), vec![1; (8 << 20) + 1]);
    files
}

fn after() -> Files {
    let mut files = files(&[
        ("usage/site=A%2FB/same.parquet", "same"),
        ("usage/site=B/changes.parquet", "new"),
        ("usage/site=D/vo=z/comes.parquet", "here"),
    ]);
    files.insert("usage/big.parquet".to_owned(), vec![2; (16 << 20) + 1]);
    files
}

/// Everything a reader can see, without the lock.
fn state(store: &Store) -> Files {
    let seen = paths(store).into_iter().filter(|path| path != ".gridtally/lock");
    seen.map(|path| (path.clone(), store.get(&path).unwrap().unwrap().to_vec()))
        .collect()
}

#[test]
fn a_commit_states_what_it_did_and_the_manifest_what_there_is() {
    every_kind(|store| {
        let first = publish(store, &before(), "1").unwrap();
        assert_eq!(first.written, before().into_keys().collect::<Vec<_>>());
        assert_eq!((first.removed.len(), first.unchanged), (0, 0));
        let second = publish(store, &after(), "2").unwrap();
        assert_eq!(
            second,
            Committed {
                written: [
                    "usage/big.parquet",
                    "usage/site=B/changes.parquet",
                    "usage/site=D/vo=z/comes.parquet"
                ]
                .map(str::to_owned)
                .to_vec(),
                removed: ["usage/site=C/vo=x/goes.parquet", "usage/site=C/vo=y/goes.parquet"]
                    .map(str::to_owned)
                    .to_vec(),
                unchanged: 1,
            }
        );
        let manifest = Manifest::load(store).unwrap().unwrap();
        assert_eq!(manifest.facts, facts("2"));
        for file in manifest.files() {
            let contents = store.get(&file.path).unwrap().unwrap();
            assert_eq!(
                (file.bytes, &file.blake3),
                (contents.len() as u64, &blake3::hash(&contents).to_hex().to_string())
            );
            assert_eq!((file.rows, file.dataset.as_str(), file.schema_version), (1, "usage", 1));
        }
        let mut expected: Vec<String> = after().into_keys().collect();
        expected.splice(0..0, ["manifest.json", "seal.json"].map(str::to_owned));
        assert_eq!(state(store).into_keys().collect::<Vec<_>>(), expected);
        if let Some(root) = store.local_root() {
            expected.insert(0, ".gridtally/lock".to_owned());
            assert_eq!(tree(root), expected, "no empty folders, nothing left over");
        }
        let text = store.get("manifest.json").unwrap().unwrap();
        assert_eq!(Manifest::parse(&text).unwrap().to_text().unwrap().as_bytes(), text);
    });
}

#[test]
fn nothing_changed_means_nothing_written() {
    // A store that refuses the second change: each file may be staged and dropped, no more.
    let inner: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let store = Store::with_objects(Arc::clone(&inner), None).unwrap();
    publish(&store, &before(), "1").unwrap();
    let text = store.get("manifest.json").unwrap();
    let small = before()
        .into_iter()
        .filter(|(_, contents)| contents.len() < 100)
        .count();
    // The big file: begin, two parts, complete, drop. And the lock: made, renewed and given back.
    let stages_and_drops = 2 * small + 1 + 2 + 1 + 1 + 3;
    let watched = FailAfter::new(inner, i64::try_from(stages_and_drops).unwrap(), false);
    let again = publish(&Store::with_objects(Arc::new(watched), None).unwrap(), &before(), "1").unwrap();
    assert_eq!(
        again,
        Committed {
            unchanged: 5,
            ..Committed::default()
        }
    );
    assert_eq!(store.get("manifest.json").unwrap(), text);

    let (folder, store) = local();
    publish(&store, &before(), "1").unwrap();
    let when = |path: &str| std::fs::metadata(folder.path().join(path)).unwrap().modified().unwrap();
    let stamps = || {
        before()
            .into_keys()
            .chain(["manifest.json".to_owned()])
            .map(|path| when(&path))
            .collect::<Vec<_>>()
    };
    let old = stamps();
    publish(&store, &before(), "1").unwrap();
    assert_eq!(stamps(), old);
    // Facts alone: the manifest and its seal alone.
    publish(&store, &before(), "2").unwrap();
    assert_eq!(Manifest::load(&store).unwrap().unwrap().facts, facts("2"));
    assert_eq!(stamps()[..5], old[..5]);
}

#[test]
fn the_manifest_is_written_even_when_it_is_empty() {
    let store = memory();
    publish(&store, &Files::new(), "1").unwrap();
    assert_eq!(Manifest::load(&store).unwrap().unwrap().files().len(), 0);
}

#[test]
fn a_lost_published_file_is_written_again() {
    let (folder, store) = local();
    publish(&store, &before(), "1").unwrap();
    std::fs::remove_file(folder.path().join("usage/site=B/changes.parquet")).unwrap();
    std::fs::write(folder.path().join("usage/site=A%2FB/same.parquet"), "sam").unwrap();
    let again = publish(&store, &before(), "1").unwrap();
    assert_eq!(
        again.written,
        ["usage/site=A%2FB/same.parquet", "usage/site=B/changes.parquet"]
    );
    assert_eq!(store.get("usage/site=A%2FB/same.parquet").unwrap().unwrap(), "same");
}

#[test]
fn one_at_a_time_and_the_lock_goes_with_its_owner() {
    let (folder, store) = local();
    let held = Publication::begin(&store).unwrap();
    let other = Store::open(folder.path().to_str().unwrap()).unwrap();
    assert_eq!(Publication::begin(&other).err().unwrap().kind(), Kind::Busy);
    drop(held);
    Publication::begin(&other).unwrap();
}

#[test]
fn a_publication_that_is_dropped_changes_nothing() {
    let (_folder, store) = local();
    publish(&store, &before(), "1").unwrap();
    let old = state(&store);
    {
        let publication = Publication::begin(&store).unwrap();
        let mut writer = publication.stage("usage/new.parquet", "usage", 1).unwrap();
        writer.write_all(b"new").unwrap();
        publication.add(writer.finish(1).unwrap()).unwrap();
        publication.remove("usage/big.parquet");
    }
    assert_eq!(state(&store), old);
}

#[test]
fn reserved_and_repeated_paths_are_refused() {
    let store = memory();
    let publication = Publication::begin(&store).unwrap();
    for path in [
        "",
        "manifest.json",
        "seal.json",
        ".gridtally/x",
        "/a",
        "a/",
        "../a",
        "a//b",
    ] {
        assert!(publication.stage(path, "usage", 1).is_err(), "{path}");
    }
    publication
        .add(publication.stage("a", "usage", 1).unwrap().finish(0).unwrap())
        .unwrap();
    let twice = publication.add(publication.stage("a", "usage", 1).unwrap().finish(0).unwrap());
    assert_eq!(twice.unwrap_err().kind(), Kind::Internal);
}

#[test]
fn many_threads_stage_at_once() {
    let (_folder, store) = local();
    let publication = Publication::begin(&store).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let publication = &publication;
            scope.spawn(move || {
                for n in 0..25 {
                    let path = format!("usage/site={thread}/vo={n}/part.parquet");
                    let mut writer = publication.stage(&path, "usage", 1).unwrap();
                    writer.write_all(path.as_bytes()).unwrap();
                    publication.add(writer.finish(1).unwrap()).unwrap();
                }
            });
        }
    });
    assert_eq!(publication.commit(facts("1")).unwrap().written.len(), 100);
    assert!(
        store
            .list("usage")
            .unwrap()
            .iter()
            .all(|entry| store.get(&entry.path).unwrap().unwrap() == entry.path)
    );
}

/// Kills the second run after every possible number of changes, then runs it again.
fn killed_at_every_step(open: impl Fn() -> (Store, Arc<dyn ObjectStore>), root: impl Fn(&Store) -> Option<&Path>) {
    let (reference, _) = open();
    publish(&reference, &before(), "1").unwrap();
    let old = state(&reference);
    publish(&reference, &after(), "2").unwrap();
    let new = state(&reference);
    let mut outcomes = (0, 0);
    for changes in 0.. {
        let (store, objects) = open();
        publish(&store, &before(), "1").unwrap();
        let atomic_rename = root(&store).is_some();
        let failing = FailAfter::new(objects, changes, atomic_rename);
        let failing = Store::with_objects(Arc::new(failing), root(&store)).unwrap();
        let killed = publish(&failing, &after(), "2");
        drop(failing);
        // Every single file is whole: its old state or its new one.
        let seen = state(&store);
        for (path, contents) in seen.iter().filter(|(path, _)| !path.starts_with(".gridtally/")) {
            let whole = old.get(path) == Some(contents) || new.get(path) == Some(contents);
            assert!(whole, "{path} is half written after {changes} changes");
        }
        assert!(
            seen.keys()
                .filter(|path| path.ends_with(".parquet"))
                .all(|path| path.starts_with("usage/"))
        );
        // Beginning settles it: all of the old, or all of the new.
        drop(Publication::begin(&store).unwrap());
        let settled = state(&store);
        if settled == new {
            outcomes.1 += 1;
        } else {
            assert!(
                settled == old,
                "neither old nor new after {changes} changes: {killed:?}"
            );
            assert_eq!(outcomes.1, 0, "after the commit point there is no way back: {killed:?}");
            outcomes.0 += 1;
        }
        // And running again makes it the new one, with nothing left over.
        publish(&store, &after(), "2").unwrap();
        assert!(state(&store) == new, "another final state after {changes} changes");
        if let Some(root) = root(&store) {
            let mut expected: Vec<String> = new.keys().cloned().collect();
            expected.insert(0, ".gridtally/lock".to_owned());
            assert_eq!(tree(root), expected, "after {changes} changes");
            // Each time is tens of megabytes, and a full disk would be taken for a kill.
            std::fs::remove_dir_all(root).unwrap();
        }
        if killed.is_ok() {
            break;
        }
    }
    assert!(outcomes.0 > 5 && outcomes.1 > 5, "{outcomes:?}");
}

#[test]
fn killed_at_every_step_in_memory() {
    killed_at_every_step(
        || {
            let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
            (Store::with_objects(Arc::clone(&objects), None).unwrap(), objects)
        },
        |_| None,
    );
}

#[test]
fn killed_at_every_step_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let n = std::cell::Cell::new(0);
    killed_at_every_step(
        || {
            let root = folder.path().join(n.get().to_string());
            n.set(n.get() + 1);
            let store = Store::open(root.to_str().unwrap()).unwrap();
            let objects = LocalFileSystem::new_with_prefix(&root)
                .unwrap()
                .with_automatic_cleanup(true);
            (store, Arc::new(objects))
        },
        Store::local_root,
    );
}

#[test]
fn a_damaged_journal_or_manifest_is_refused() {
    let store = memory();
    publish(&store, &files(&[("a", "1")]), "1").unwrap();
    for (path, text) in [
        (".gridtally/journal.json", "{"),
        ("manifest.json", "[]"),
        ("manifest.json", "{\"format_version\": 3, \"other\": []}"),
        // What an earlier version wrote.
        ("manifest.json", "{\"format_version\": 1, \"facts\": {}, \"files\": []}"),
        ("seal.json", "{}"),
        (
            "manifest.json",
            "{\"format_version\": 2, \"files\": [{\"path\": \"a\"}]}",
        ),
    ] {
        let old = store.get(path).unwrap();
        store.put(path, text.into()).unwrap();
        assert_eq!(Publication::begin(&store).err().unwrap().kind(), Kind::Data, "{text}");
        match old {
            Some(old) => store.put(path, old).unwrap(),
            None => store.delete(path).unwrap(),
        }
    }
    let lost = "{\"moves\": [{\"from\": \".gridtally/staging/1\", \"to\": \"a\", \"bytes\": 1, \"blake3\": \"00\"}], \
                \"deletes\": [], \"manifest\": \"\", \"seal\": \"\"}";
    store.put(".gridtally/journal.json", lost.into()).unwrap();
    assert_eq!(Publication::begin(&store).err().unwrap().kind(), Kind::Data);
}

const KILLED_ROOT: &str = "GRIDTALLY_TEST_KILLED_ROOT";

/// Not a test by itself: the process that [`killed_by_the_system_at_any_instant`] kills.
#[test]
fn publishes_until_it_is_killed() {
    let Ok(root) = std::env::var(KILLED_ROOT) else { return };
    let store = Store::open(&root).unwrap();
    loop {
        publish(&store, &after(), "2").unwrap();
        publish(&store, &before(), "1").unwrap();
    }
}

#[test]
fn killed_by_the_system_at_any_instant() {
    let (reference, references) = (memory(), [before(), after()]);
    let states = references.map(|files| {
        let run = if files == before() { "1" } else { "2" };
        publish(&reference, &files, run).unwrap();
        state(&reference)
    });
    let (folder, store) = local();
    publish(&store, &before(), "1").unwrap();
    for round in 0..20_u64 {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "store::publication::publishes_until_it_is_killed"])
            .env(KILLED_ROOT, folder.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(40 + round * 53 % 211));
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success(), "it publishes for ever");
        for (path, contents) in state(&store)
            .iter()
            .filter(|(path, _)| !path.starts_with(".gridtally/"))
        {
            assert!(
                states.iter().any(|state| state.get(path) == Some(contents)),
                "{path} is half written"
            );
        }
        drop(Publication::begin(&store).expect("the lock goes with its owner"));
        let settled = state(&store);
        assert!(states.contains(&settled), "neither state in round {round}");
        let mut expected: Vec<String> = settled.into_keys().collect();
        expected.insert(0, ".gridtally/lock".to_owned());
        assert_eq!(tree(folder.path()), expected);
    }
}
