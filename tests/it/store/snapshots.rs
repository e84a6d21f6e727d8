//! Snapshots: every state that was committed, whole, whenever a run is killed.

use super::failing::FailAfter;
use super::local;
use gridtally::error::Result;
use gridtally::store::snapshots::{SnapshotName, Tag, collect, names, set_tag, snapshots};
use gridtally::store::{Fact, LakeFacts, LakeLock, Manifest, Publication, Store, verify_store};
use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

type Files<'a> = BTreeMap<&'a str, &'a str>;

/// Publishes exactly these files, and keeps what they replace.
fn publish(store: &Store, files: &Files<'_>) -> Result<()> {
    let publication = Publication::begin(store)?;
    let published = publication.published().into_iter().flat_map(Manifest::files);
    let gone: Vec<String> = published.map(|file| file.path.clone()).collect();
    for path in gone.iter().filter(|path| !files.contains_key(path.as_str())) {
        publication.remove(path);
    }
    for (path, contents) in files {
        let mut writer = publication.stage(path, "usage", 1)?;
        writer.write_all(contents.as_bytes())?;
        publication.add(writer.finish(1)?)?;
    }
    let mut facts = LakeFacts::default();
    facts.insert(Fact::Keep, "nights=1,months=1");
    publication.commit(facts).map(drop)
}

fn first() -> Files<'static> {
    [
        ("usage/site=A%2FB/same.data", "same"),
        ("usage/site=B/changes.data", "old"),
        ("usage/site=C/vo=x/goes.data", "gone"),
    ]
    .into()
}

fn second() -> Files<'static> {
    [
        ("usage/site=A%2FB/same.data", "same"),
        ("usage/site=B/changes.data", "new"),
        ("usage/site=D/comes.data", "more"),
    ]
    .into()
}

/// What is wrong with snapshots and kept files.
fn wrong(store: &Store) -> Vec<String> {
    let found = verify_store(store).unwrap().findings.into_iter();
    let of_snapshots = found.filter(|finding| {
        let path = finding.path.as_str();
        [".gridtally/kept", ".gridtally/snapshots", ".gridtally/tags"]
            .iter()
            .any(|folder| path.starts_with(folder))
    });
    of_snapshots
        .map(|finding| format!("{}: {}", finding.path, finding.problem))
        .collect()
}

fn manifests(store: &Store) -> Vec<Manifest> {
    let all = snapshots(store, &names(store).unwrap()).unwrap();
    all.into_iter().map(|snapshot| snapshot.manifest).collect()
}

fn kept(store: &Store) -> Vec<String> {
    let kept = store.list(".gridtally/kept").unwrap();
    kept.into_iter().map(|entry| entry.path).collect()
}

fn killed_at_every_step(root: Option<&Path>, open: impl Fn() -> Arc<dyn ObjectStore>) {
    let mut outcomes = (0, 0);
    for changes in 0.. {
        let objects = open();
        let store = Store::with_objects(Arc::clone(&objects), root).unwrap();
        publish(&store, &first()).unwrap();
        let old = Manifest::load(&store).unwrap().unwrap();
        let failing = FailAfter::new(objects, changes, root.is_some());
        let killed = publish(&Store::with_objects(Arc::new(failing), root).unwrap(), &second());
        assert_eq!(wrong(&store), [] as [String; 0], "after {changes} changes");
        drop(Publication::begin(&store).unwrap());
        assert_eq!(wrong(&store), [] as [String; 0], "settled after {changes} changes");
        let now = Manifest::load(&store).unwrap().unwrap();
        if now == old {
            assert_eq!(manifests(&store), [old], "after {changes} changes");
            outcomes.0 += 1;
        } else {
            assert_eq!(manifests(&store), [old, now], "after {changes} changes");
            outcomes.1 += 1;
        }
        publish(&store, &second()).unwrap();
        assert_eq!(manifests(&store).len(), 2);
        assert_eq!(kept(&store).len(), 5, "each content of each path once");
        if let Some(root) = root {
            std::fs::remove_dir_all(root).unwrap();
        }
        if killed.is_ok() {
            break;
        }
    }
    assert!(outcomes.0 > 3 && outcomes.1 > 3, "{outcomes:?}");
}

#[test]
fn no_kill_loses_a_kept_file_in_memory() {
    killed_at_every_step(None, || Arc::new(InMemory::new()));
}

#[test]
fn no_kill_loses_a_kept_file_on_a_disk() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("lake");
    killed_at_every_step(Some(&root), || {
        std::fs::create_dir_all(&root).unwrap();
        let objects = LocalFileSystem::new_with_prefix(&root).unwrap();
        Arc::new(objects.with_automatic_cleanup(true))
    });
}

#[test]
fn a_state_that_comes_again_is_stored_once() {
    let (folder, store) = local();
    for files in [first(), second(), first(), second()] {
        publish(&store, &files).unwrap();
    }
    assert_eq!(manifests(&store).len(), 4);
    assert_eq!(kept(&store).len(), 5);
    assert_eq!(wrong(&store), [] as [String; 0]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        for file in Manifest::load(&store).unwrap().unwrap().files() {
            let published = std::fs::metadata(folder.path().join(&file.path)).unwrap();
            assert_eq!(published.nlink(), 2, "{} is one file with two names", file.path);
        }
    }
    drop(folder);
}

#[test]
fn the_place_of_a_snapshot_opens_the_lake_as_it_was() {
    let (folder, store) = local();
    publish(&store, &first()).unwrap();
    publish(&store, &second()).unwrap();
    let lake = folder.path().to_str().unwrap();
    let all = names(&store).unwrap();
    let past = Store::open_existing(&all[0].place(lake)).unwrap();
    assert!(past.is_past() && !store.is_past());
    for (path, contents) in first() {
        assert_eq!(past.get(path).unwrap().unwrap(), contents);
        assert_eq!(past.size(path).unwrap(), Some(contents.len() as u64));
    }
    assert_eq!(past.get("usage/site=D/comes.data").unwrap(), None);
    let listed: Vec<String> = past
        .list("usage")
        .unwrap()
        .into_iter()
        .map(|entry| entry.path)
        .collect();
    assert_eq!(listed, first().into_keys().collect::<Vec<_>>());
    assert!(past.put("usage/x", "x".into()).is_err() && past.delete("usage/site=B/changes.data").is_err());
    assert_eq!(store.get("usage/site=B/changes.data").unwrap().unwrap(), "new");
}

#[test]
fn collecting_leaves_what_a_kept_snapshot_needs() {
    let (folder, store) = local();
    let third: Files<'_> = [("usage/site=B/changes.data", "newest")].into();
    for files in [first(), second(), third.clone()] {
        publish(&store, &files).unwrap();
    }
    let all = names(&store).unwrap();
    let lock = LakeLock::take(&store, Duration::ZERO).unwrap();
    let refused = collect(&lock, &BTreeSet::from([all[0].clone()])).unwrap_err();
    assert!(refused.to_string().contains("newest"), "{refused}");
    let tag = Tag {
        name: "first".parse().unwrap(),
        snapshot: all[0].clone(),
    };
    set_tag(&lock, &tag).unwrap();
    let moved = Tag {
        snapshot: all[1].clone(),
        ..tag.clone()
    };
    assert!(set_tag(&lock, &moved).is_err(), "a name is given once");
    let retained: BTreeSet<SnapshotName> = [all[0].clone(), all[2].clone()].into();
    let collection = collect(&lock, &retained).unwrap();
    assert_eq!(collection.removed, [all[1].clone()]);
    // "new" and "more"; "same" is of the first as well.
    assert_eq!((collection.file_n, collection.bytes), (2, 7));
    drop(lock);
    assert_eq!(names(&store).unwrap(), [all[0].clone(), all[2].clone()]);
    assert_eq!(wrong(&store), [] as [String; 0]);
    let past = Store::open_existing(&all[0].place(folder.path().to_str().unwrap())).unwrap();
    for (path, contents) in first() {
        assert_eq!(past.get(path).unwrap().unwrap(), contents);
    }
    assert_eq!(store.get("usage/site=B/changes.data").unwrap().unwrap(), "newest");
}

#[test]
fn damage_to_what_is_kept_is_found() {
    let (folder, store) = local();
    publish(&store, &first()).unwrap();
    publish(&store, &second()).unwrap();
    let name = names(&store).unwrap().remove(0);
    let old = kept(&store)
        .into_iter()
        .find(|path| store.get(path).unwrap().unwrap() == "old")
        .unwrap();
    let path = |place: &str| folder.path().join(place);
    std::fs::write(path(&old), "odd").unwrap();
    assert!(wrong(&store)[0].contains("blake3"), "{:?}", wrong(&store));
    std::fs::remove_file(path(&old)).unwrap();
    assert!(wrong(&store)[0].contains("a snapshot needs it"), "{:?}", wrong(&store));
    let document = std::fs::read(path(&name.path())).unwrap();
    std::fs::write(path(&name.path()), &document[1..]).unwrap();
    assert!(wrong(&store)[0].contains("damaged"), "{:?}", wrong(&store));
    std::fs::write(path(".gridtally/snapshots/notes.txt"), "x").unwrap();
    assert!(
        wrong(&store).iter().any(|line| line.contains("does not belong")),
        "{:?}",
        wrong(&store)
    );
}
