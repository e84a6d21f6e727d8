//! Sent data and the lake's book of it: after a kill or a fault at any step, both or neither.

use super::failing::FailAfter;
use super::tree;
use crate::support::forge::table;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use gridtally::error::Result;
use gridtally::store::{BookLock, CutOff, LakeLock, Outgoing, Seal, Sending, Store};
use object_store::local::LocalFileSystem;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

const MESSAGES: [&str; 3] = ["0001/a", "0001/b", "0002/c"];
const PAGES: [&str; 2] = ["publication_job/1-1.parquet", "publication/1.parquet"];

/// A lake and a spool of one disk.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for name in ["lake", "spool"] {
            std::fs::create_dir(place.path(name)).unwrap();
        }
        place
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn store(&self, name: &str) -> Store {
        Store::open(self.path(name).to_str().unwrap()).unwrap()
    }

    /// The same over a fault that comes after some changes of both.
    fn failing(&self, name: &str, left: &Arc<AtomicI64>, passes: bool) -> Store {
        let root = self.path(name);
        let disk = LocalFileSystem::new_with_prefix(&root)
            .unwrap()
            .with_automatic_cleanup(true);
        let failing = FailAfter::sharing(Arc::new(disk), left, passes);
        Store::with_objects(Arc::new(failing), Some(&root)).unwrap()
    }
}

fn publish(lake: &Store, spool: &Store) -> Result<()> {
    let book = BookLock::take(lake, Duration::ZERO)?;
    let mut outgoing = Outgoing::of(spool.clone())?;
    let sending = Sending::begin(&book, &mut [&mut outgoing])?;
    for path in MESSAGES {
        outgoing.put(path, path.into())?;
    }
    for path in PAGES {
        let row: ArrayRef = Arc::new(StringArray::from(vec![path]));
        let row = RecordBatch::try_from_iter([("page", row)]).unwrap();
        sending.enter(path, table(None, &row, sending.footer(path)).into())?;
    }
    sending.commit(vec![outgoing]).map(drop)
}

/// What whoever reads the spool takes from it.
fn take(spool: &Path) -> Vec<String> {
    let found = tree(spool).into_iter().filter(|path| !path.starts_with(".gridtally/"));
    let taken: Vec<String> = found.filter(|path| !path.ends_with('/')).collect();
    for path in &taken {
        assert_eq!(
            std::fs::read_to_string(spool.join(path)).unwrap(),
            *path,
            "a message is whole"
        );
        std::fs::remove_file(spool.join(path)).unwrap();
    }
    taken
}

/// Publishes over a fault after every number of changes; what was sent and the content of the book then, and after the next.
fn at_every_step(passes: bool) {
    let (mut taken_back, mut finished) = (0, 0);
    for changes in 0.. {
        let place = Place::new();
        let left = Arc::new(AtomicI64::new(changes));
        let stores = ["lake", "spool"].map(|name| place.failing(name, &left, passes));
        let first = publish(&stores[0], &stores[1]);
        let is_over = left.load(std::sync::atomic::Ordering::SeqCst) > 0;
        drop(stores);
        // The receiver does not wait.
        let mut sent = take(&place.path("spool"));
        let store = place.store("lake");
        let book = BookLock::take(&store, Duration::ZERO).unwrap();
        match book.cut_off() {
            Some(CutOff::TakenBack) => taken_back += 1,
            Some(CutOff::Finished(n)) => {
                assert_eq!(n, MESSAGES.len());
                finished += 1;
            }
            None => {}
        }
        drop(book);
        sent.extend(take(&place.path("spool")));
        let pages: Vec<String> = tree(&place.path("lake"));
        let is_booked = pages.iter().any(|page| PAGES.contains(&page.as_str()));
        if is_booked {
            assert_eq!(
                sent, MESSAGES,
                "each once, in order, after {changes} changes: {first:?}"
            );
            assert_eq!(
                pages,
                [".gridtally/lock", PAGES[1], PAGES[0], "seal.json"],
                "after {changes} changes"
            );
            let seal = Seal::load(&store).unwrap().unwrap();
            for page in PAGES {
                let book = page.split('/').next().unwrap();
                assert_eq!(store.pages(book).unwrap(), [page], "after {changes} changes");
                assert_eq!(seal.head(book).page_n, 1);
            }
        } else {
            assert!(
                sent.is_empty(),
                "sent without a word in the book after {changes} changes: {first:?}"
            );
            assert!(first.is_err());
            assert_eq!(pages, [".gridtally/lock"], "after {changes} changes");
        }
        let left_over = tree(&place.path("spool"));
        assert!(
            left_over.iter().all(|path| !path.contains(".gridtally")),
            "{left_over:?}"
        );
        if is_over {
            first.unwrap();
            break;
        }
    }
    assert!(
        finished > 5 && (passes || taken_back > 3),
        "{taken_back} taken back, {finished} finished"
    );
}

#[test]
fn a_publication_killed_at_every_step_is_finished_or_taken_back() {
    at_every_step(false);
}

#[test]
fn a_publication_with_a_fault_at_any_step_is_finished_or_taken_back() {
    at_every_step(true);
}

#[test]
fn what_was_staged_and_is_gone_is_not_taken_for_sent() {
    let place = Place::new();
    for changes in 0.. {
        let left = Arc::new(AtomicI64::new(changes));
        let stores = ["lake", "spool"].map(|name| place.failing(name, &left, false));
        publish(&stores[0], &stores[1]).unwrap_err();
        drop(stores);
        let intent = std::fs::read_to_string(place.path("lake/.gridtally/sending.json")).unwrap_or_default();
        if intent.contains("\"committed\"") {
            break;
        }
        drop(BookLock::take(&place.store("lake"), Duration::ZERO).unwrap());
    }
    std::fs::remove_dir_all(place.path("spool")).unwrap();
    let lost = BookLock::take(&place.store("lake"), Duration::ZERO)
        .err()
        .unwrap()
        .to_string();
    assert!(lost.contains("the messages it had staged are gone"), "{lost}");
    // A run does not need the book.
    LakeLock::take(&place.store("lake"), Duration::ZERO).unwrap();
}

#[test]
fn what_others_stage_in_a_folder_stays() {
    let place = Place::new();
    let spool = place.store("spool");
    let mut mine = Outgoing::of(spool.clone()).unwrap();
    mine.put("a", "a".into()).unwrap();
    let mut theirs = Outgoing::of(spool.clone()).unwrap();
    theirs.put("b", "b".into()).unwrap();
    drop(theirs);
    Outgoing::of(spool.clone()).unwrap().deliver().unwrap();
    spool.leave_no_machinery().unwrap();
    // A process that is gone left something here.
    let dead = place
        .path("spool/.gridtally/staging")
        .join(format!("put-{}-0", dead_tag(&place)));
    std::fs::write(&dead, "half").unwrap();
    drop(Outgoing::of(spool).unwrap());
    assert!(!dead.exists());
    mine.deliver().unwrap();
    assert_eq!(tree(&place.path("spool")), ["a"]);
}

/// The tag of this machine with a process number nobody has.
fn dead_tag(place: &Place) -> String {
    let staging = place.path("spool/.gridtally/staging");
    let names = std::fs::read_dir(staging)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let own = names.map(|name| name.into_string().unwrap()).next().unwrap();
    let machine = own.strip_prefix("out-").unwrap().split('.').next().unwrap();
    format!("{machine}.4194304.1")
}

#[test]
fn a_writer_waits_as_long_as_it_may() {
    let place = Place::new();
    let store = place.store("lake");
    let held = LakeLock::take(&store, Duration::ZERO).unwrap();
    let other = place.store("lake");
    assert!(LakeLock::take(&other, Duration::from_millis(300)).is_err());
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| LakeLock::take(&other, Duration::from_mins(1)).map(drop));
        std::thread::sleep(Duration::from_millis(300));
        drop(held);
        waiting.join().unwrap().unwrap();
    });
}
