//! Sends data to a receiver and records it in the lake's book: both, or neither.
//!
//! 1. The intent to send is written into the lake: where, and under which name it is staged there.
//! 2. What is sent is staged in the folders it goes to, and the pages of the book in the lake, out of sight.
//! 3. The intent is replaced by the list of all of it. This is the commit: before it the next writer of the book takes back
//!    what was staged, after it the next one finishes it.
//! 4. What was staged gets its names, first in the folders, then in the book, whose new end is written into the seal.
//! 5. The intent is marked as done, the staging folders go, and then the intent.
//!
//! On a local disk a staged message is either in the staging folder or has its name, so none is sent twice, also if it was
//! taken from its folder meanwhile. In an object store a name is given by a copy and a delete: one message at most, between
//! whose copy and delete a kill falls, is sent again. The receiver replaces by key, so that does no harm.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::journal::JournalMove;
use super::lake_lock::LakeLock;
use super::lease::random_token;
use super::location::Store;
use super::machinery::{PUBLICATION_BOOKS, SENDING};
use super::outgoing::{Outgoing, OutgoingMove, Pass, deliver, is_marked};
use super::seal::{Heads, SEAL, Seal, book_of};
use crate::error::{Error, Kind, Result};
use crate::numbers::count_u64;
use crate::runtime::interruption::{Commit, committing};

/// The intent, below the root of the lake.
pub(super) const INTENT: &str = ".gridtally/sending.json";

/// What a publication leaves behind that a signal comes upon.
const SEND: Commit = Commit {
    made: "what was to be sent was sent, and the book of the lake has it",
    cut: "the publication has begun and is not done: the next one, or a lock of a month, finishes it or takes it back",
};

/// How far a sending has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SendingStage {
    /// It is being staged: nothing has happened.
    Staging,
    /// It has happened, and may not be done yet.
    Committed,
    /// All of it is done.
    Done,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Intent {
    stage: SendingStage,
    token: String,
    folders: Vec<Folder>,
    book: Vec<JournalMove>,
    /// Where the books end once the pages are in them. A run may change the rest of the seal before this is done.
    ends: Heads,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Folder {
    url: String,
    moves: Vec<OutgoingMove>,
}

/// What became of a publication that was cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutOff {
    /// It was finished: so many messages and lists belong to it.
    Finished(usize),
    /// It was taken back: nothing of it had been sent.
    TakenBack,
}

/// The lock of a lake whose book is settled: what is needed to write into it.
pub struct BookLock {
    lock: LakeLock,
    cut_off: Option<CutOff>,
}

impl BookLock {
    /// Takes the lock of a lake, waiting for another writer as long as `patience`, and finishes or takes back a publication
    /// that was cut off.
    ///
    /// # Errors
    /// [`Kind::Busy`] when another writer holds the lake; [`Kind::Io`] when a folder cannot be reached to which a
    /// publication was cut off; [`Kind::Data`] when what it had staged there is gone, and when a book is not what was
    /// written.
    pub fn take(store: &Store, patience: Duration) -> Result<Self> {
        let lock = LakeLock::take(store, patience)?;
        let cut_off = settle(&lock)?;
        Seal::held(store)?;
        for book in PUBLICATION_BOOKS {
            store.pages(book)?;
        }
        Ok(Self { lock, cut_off })
    }

    /// What became of a publication that was cut off.
    #[must_use]
    pub fn cut_off(&self) -> Option<CutOff> {
        self.cut_off
    }

    /// The lock alone.
    #[must_use]
    pub fn lock(&self) -> &LakeLock {
        &self.lock
    }
}

/// A publication under way. Dropped before it is committed, it leaves nothing behind.
pub struct Sending<'a> {
    lock: &'a LakeLock,
    token: String,
    folders: Vec<Folder>,
    book: Mutex<SendingPages>,
    is_committed: bool,
}

/// Pages on their way into a book, and the seal with them.
#[derive(Default)]
struct SendingPages {
    moves: Vec<JournalMove>,
    seal: Seal,
}

impl<'a> Sending<'a> {
    /// Begins to send to some folders, to which nothing was put yet.
    ///
    /// # Errors
    /// [`Kind::Io`] when the lake cannot be written.
    pub fn begin(lock: &'a BookLock, folders: &mut [&mut Outgoing]) -> Result<Self> {
        let token = random_token();
        let mut named = Vec::new();
        for folder in folders.iter_mut() {
            folder.book(&token);
            named.push(Folder {
                url: address(folder.store())?,
                moves: Vec::new(),
            });
        }
        let sending = Self {
            lock: lock.lock(),
            token,
            folders: named,
            book: Mutex::new(SendingPages {
                moves: Vec::new(),
                seal: Seal::held(lock.lock().store())?,
            }),
            is_committed: false,
        };
        sending.intent(SendingStage::Staging).save(sending.lock)?;
        Ok(sending)
    }

    /// The footer of the next page of a book, which is going to be at `path`.
    #[must_use]
    pub fn footer(&self, path: &str) -> Vec<(String, String)> {
        self.pages().seal.footer(path)
    }

    /// Stages the next page of a book, which carries its footer.
    ///
    /// # Errors
    /// [`Kind::Io`] when it cannot be written.
    pub fn enter(&self, path: &str, bytes: Bytes) -> Result<()> {
        let mut book = self.pages();
        let page = JournalMove {
            from: format!("{SENDING}/{}/{:08}", self.token, book.moves.len()),
            to: path.to_owned(),
            bytes: count_u64(bytes.len()),
            blake3: book.seal.turn(path, &bytes),
        };
        self.lock.put(&page.from, bytes)?;
        book.moves.push(page);
        Ok(())
    }

    /// Sends all of it and enters it into the book; gives where the books end with it.
    ///
    /// # Errors
    /// After an error it has either not happened, or the next [`BookLock::take`] finishes it.
    pub fn commit(mut self, mut outgoing: Vec<Outgoing>) -> Result<Heads> {
        let commit = committing(&SEND);
        let store = self.lock.store();
        for (outgoing, folder) in outgoing.iter_mut().zip(&mut self.folders) {
            folder.moves = outgoing.seal()?;
        }
        let folders: Vec<Store> = outgoing.iter().map(|folder| folder.store().clone()).collect();
        {
            let book = self.pages();
            store.sync_files(book.moves.iter().map(JournalMove::staged))?;
            store.sync_folders(book.moves.iter().map(|page| page.from.as_str()))?;
        }
        let intent = self.intent(SendingStage::Committed);
        // From here on it may be there.
        self.is_committed = true;
        intent.save(self.lock)?;
        let ends = intent.ends.clone();
        intent.apply(self.lock, &folders, Pass::First).map_err(|why| {
            let rest = "the publication was cut off; the next one, or a lock of a month, finishes it";
            why.at("note", rest)
        })?;
        commit.made();
        Ok(ends)
    }

    fn intent(&self, stage: SendingStage) -> Intent {
        let pages = self.pages();
        let entered = |book: &str| pages.moves.iter().any(|page| book_of(&page.to) == book);
        let ends = PUBLICATION_BOOKS.into_iter().filter(|book| entered(book));
        Intent {
            stage,
            token: self.token.clone(),
            folders: self.folders.clone(),
            book: pages.moves.clone(),
            ends: ends.map(|book| (book.to_owned(), pages.seal.head(book))).collect(),
        }
    }

    fn pages(&self) -> MutexGuard<'_, SendingPages> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Sending<'_> {
    fn drop(&mut self) {
        // What cannot be taken back now is taken back by the next one.
        if !self.is_committed {
            let intent = self.intent(SendingStage::Staging);
            drop(
                intent
                    .open()
                    .and_then(|folders| intent.tidy(self.lock.store(), &folders)),
            );
        }
    }
}

impl Intent {
    fn load(store: &Store) -> Result<Option<Self>> {
        let Some(text) = store.get(INTENT)? else {
            return Ok(None);
        };
        serde_json::from_slice(&text).map(Some).map_err(|why| {
            Error::new(Kind::Data, "what a publication that was cut off had to do is damaged")
                .at("store", store.url())
                .at("path", INTENT)
                .because(why)
        })
    }

    fn save(&self, lock: &LakeLock) -> Result<()> {
        let text = serde_json::to_vec_pretty(self)
            .map_err(|why| Error::internal("what is to be sent cannot be written down").because(why))?;
        lock.put(INTENT, text.into())
    }

    /// Does what remains of one that is committed. Every step can be repeated.
    fn apply(mut self, lock: &LakeLock, folders: &[Store], pass: Pass) -> Result<()> {
        let store = lock.store();
        for (folder, to) in self.folders.iter().zip(folders) {
            if pass == Pass::Again && !is_marked(to, &self.token)? {
                let message = "a publication was interrupted, and the messages it had staged are gone: whether they were sent \
                               cannot be determined. Check the receiver, then delete the path, and the entries of the book are taken \
                               for not sent";
                return Err(Error::new(Kind::Data, message)
                    .at("folder", &folder.url)
                    .at("path", format!("{}/{INTENT}", store.url())));
            }
            deliver(to, &folder.moves, pass)?;
        }
        lock.lock().hold()?;
        for page in &self.book {
            if !store.rename(&page.from, &page.to)? {
                page.check_done(store)?;
            }
        }
        store.sync_folders(self.book.iter().map(|page| page.to.as_str()))?;
        // Fallback: a lake that was never sealed is sealed for the first time.
        let mut seal = Seal::load(store)?.unwrap_or_default();
        seal.books.extend(self.ends.clone());
        lock.put(SEAL, seal.to_text()?.into())?;
        self.stage = SendingStage::Done;
        self.save(lock)?;
        self.tidy(store, folders)
    }

    /// Takes away what is staged, then the intent.
    fn tidy(&self, store: &Store, folders: &[Store]) -> Result<()> {
        let staging = format!("{SENDING}/{}", self.token);
        for folder in folders {
            folder.remove_staged(&staging)?;
        }
        store.remove_staged(&staging)?;
        store.delete(INTENT)?;
        store.sync_folders(std::iter::once(INTENT))
    }

    /// Opens the folders it goes to.
    fn open(&self) -> Result<Vec<Store>> {
        let open =
            |folder: &Folder| Store::open(&folder.url).map_err(|why| why.at("folder of a publication", &folder.url));
        self.folders.iter().map(open).collect()
    }

    fn message_n(&self) -> usize {
        self.folders.iter().map(|folder| folder.moves.len()).sum()
    }
}

/// Finishes or takes back what was cut off.
fn settle(lock: &LakeLock) -> Result<Option<CutOff>> {
    let Some(intent) = Intent::load(lock.store())? else {
        return Ok(None);
    };
    let folders = intent.open()?;
    match intent.stage {
        SendingStage::Staging => {
            intent.tidy(lock.store(), &folders)?;
            Ok(Some(CutOff::TakenBack))
        }
        SendingStage::Committed => {
            let message_n = intent.message_n();
            let commit = committing(&SEND);
            intent.apply(lock, &folders, Pass::Again)?;
            commit.finished();
            Ok(Some(CutOff::Finished(message_n)))
        }
        SendingStage::Done => {
            intent.tidy(lock.store(), &folders)?;
            Ok(None)
        }
    }
}

/// Takes away what is staged to be sent, if nothing of it was sent.
pub(super) fn take_back(store: &Store) -> Result<()> {
    let Some(intent) = Intent::load(store)?.filter(|intent| intent.stage == SendingStage::Staging) else {
        return Ok(());
    };
    intent.tidy(store, &intent.open()?)
}

/// Whether a book may be half written: a publication is committed and not done.
pub(super) fn is_book_moving(store: &Store) -> Result<bool> {
    Ok(Intent::load(store)?.is_some_and(|intent| intent.stage == SendingStage::Committed))
}

/// The place of a folder, to open it again.
fn address(store: &Store) -> Result<String> {
    let Some(root) = store.local_root() else {
        return Ok(store.url().to_owned());
    };
    root.to_str().map(str::to_owned).ok_or_else(|| {
        Error::config("the path of the folder is not UTF-8, and cannot be written down").at("path", root.display())
    })
}
