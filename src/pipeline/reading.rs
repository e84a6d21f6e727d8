//! Reading inputs: threads cut files into pieces and parse them, and what they say waits in the spill.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::progress::Progress;
use super::shelf::RejectShelf;
use crate::error::{Error, Kind, Result};
use crate::ledger::Reason;
use crate::pipeline::SourcePlan;
use crate::records::columns::Columns;
use crate::records::spill::Spill;
use crate::records::{Harvest, Intake, MappingCounts, Reject, Tally, Window};
use crate::sources::dialect::{self, Dialect};
use crate::sources::hashing::HashingReader;
use crate::sources::input::InputFile;
use crate::sources::{Pieces, Position, Work, compression};

/// A file this run has to read.
pub(super) struct Reading {
    /// The file.
    pub(super) file: InputFile,
    /// The source it belongs to.
    pub(super) source: Arc<SourcePlan>,
    /// Other paths with the same bytes.
    pub(super) copies: Vec<String>,
    /// The path its rows are accounted to: the first of all it was ever seen under.
    pub(super) accounted_to: String,
}

/// What reading one file came to.
pub(super) struct ReadFile {
    /// The dialect it was read as; `None` for an empty or unreadable file.
    pub(super) dialect: Option<Dialect>,
    /// Rows framed.
    pub(super) rows_read: u64,
    /// Rows that wait in the spill.
    pub(super) rows_candidate: u64,
    /// Rows that went elsewhere.
    pub(super) tally: Tally,
    /// Rules that gave VO and site, and names they do not know.
    pub(super) mapping: MappingCounts,
    /// Refusals.
    pub(super) rejects: RejectShelf,
    /// Hash of the bytes as they were read.
    pub(super) blake3: String,
}

impl ReadFile {
    fn new(reading: &Reading) -> Self {
        Self {
            blake3: String::new(),
            dialect: None,
            rows_read: 0,
            rows_candidate: 0,
            tally: Tally::new(),
            mapping: MappingCounts::default(),
            rejects: RejectShelf::new(&reading.source.name, &reading.accounted_to),
        }
    }
}

/// How far a file is read.
enum Feed {
    /// Not at all.
    Unopened,
    /// Its pieces are being taken.
    Open {
        dialect: Dialect,
        pieces: Pieces,
        bytes: HashingReader,
    },
    /// To its end.
    Done,
}

/// What the threads share.
struct Room<'a> {
    files: &'a [Reading],
    feeds: Vec<Mutex<Feed>>,
    results: Vec<Mutex<ReadFile>>,
    /// The next file nobody has opened.
    next: AtomicUsize,
    failure: Mutex<Option<Error>>,
    window: Window,
    spill: &'a Spill,
    progress: &'a dyn Progress,
}

/// Reads all files on `threads` threads; the results are in the order of `files`.
///
/// Every thread opens files of its own as long as there are any, and helps with those of the others then. Whoever has
/// cut a piece off a file parses it, too: its bytes are still near.
///
/// A file that cannot be read as its source says is a reject like any other and stops nothing. Mistakes of the
/// pipeline (a missing time zone) and failing disks do.
///
/// # Errors
/// [`Kind::Config`] and [`Kind::Io`] as said; [`Kind::Internal`] when a thread died.
pub(super) fn read_all(
    files: &[Reading],
    window: Window,
    threads: usize,
    spill: &Spill,
    progress: &dyn Progress,
) -> Result<Vec<ReadFile>> {
    let room = Room {
        files,
        feeds: files.iter().map(|_| Mutex::new(Feed::Unopened)).collect(),
        results: files.iter().map(|reading| Mutex::new(ReadFile::new(reading))).collect(),
        next: AtomicUsize::new(0),
        failure: Mutex::default(),
        window,
        spill,
        progress,
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                if let Err(e) = room.work()
                    && let Ok(mut failure) = room.failure.lock()
                {
                    failure.get_or_insert(e);
                }
            });
        }
    });
    if let Some(e) = room.failure.into_inner().map_err(|_| dead())? {
        return Err(e);
    }
    let results = room.results.into_iter();
    results.map(|result| result.into_inner().map_err(|_| dead())).collect()
}

fn dead() -> Error {
    Error::internal("a reading thread died")
}

impl Room<'_> {
    /// What one thread does.
    fn work(&self) -> Result<()> {
        let mut desk = Desk {
            room: self,
            columns: Columns::new(),
            open: None,
        };
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            if at >= self.files.len() {
                break;
            }
            self.read(at, &mut desk)?;
        }
        for at in 0..self.files.len() {
            self.read(at, &mut desk)?;
        }
        desk.clear()
    }

    /// Takes pieces of one file until there are no more.
    fn read(&self, at: usize, desk: &mut Desk<'_>) -> Result<()> {
        let reading = self.files.get(at).ok_or_else(dead)?;
        while !self.has_failed()
            && let Some((dialect, work)) = self.piece(at, reading).map_err(|e| e.at("file", &reading.file.path))?
        {
            desk.take(at, dialect, work)?;
        }
        Ok(())
    }

    fn has_failed(&self) -> bool {
        self.failure.lock().is_ok_and(|failure| failure.is_some())
    }

    /// The next piece of a file, which is opened first if need be; at its end its hash is known.
    fn piece(&self, at: usize, reading: &Reading) -> Result<Option<(Dialect, Work)>> {
        let mut feed = self.feeds.get(at).ok_or_else(dead)?.lock().map_err(|_| dead())?;
        let result = self.results.get(at).ok_or_else(dead)?;
        if matches!(*feed, Feed::Unopened) {
            let bytes = HashingReader::new(reading.file.open()?);
            let opened = open(reading, bytes.clone());
            *feed = match opened {
                Ok(Some((dialect, pieces))) => {
                    result.lock().map_err(|_| dead())?.dialect = Some(dialect);
                    Feed::Open { dialect, pieces, bytes }
                }
                Ok(None) => return self.finish(&mut feed, bytes, result, reading),
                Err(Unopened { dialect, why }) => {
                    result.lock().map_err(|_| dead())?.dialect = dialect;
                    unreadable(result, why)?;
                    return self.finish(&mut feed, bytes, result, reading);
                }
            };
        }
        let Feed::Open { dialect, pieces, bytes } = &mut *feed else {
            return Ok(None);
        };
        match pieces.next() {
            Some(Ok(work)) => return Ok(Some((*dialect, work))),
            Some(Err(e)) => unreadable(result, as_data(e))?,
            None => {}
        }
        let bytes = bytes.clone();
        self.finish(&mut feed, bytes, result, reading)
    }

    /// Reads what nobody asked for, and closes the file.
    fn finish<T>(
        &self,
        feed: &mut Feed,
        bytes: HashingReader,
        result: &Mutex<ReadFile>,
        reading: &Reading,
    ) -> Result<Option<T>> {
        *feed = Feed::Done;
        let blake3 = bytes
            .finish()
            .map_err(|e| Error::io("the file cannot be read to its end").because(e))?;
        result.lock().map_err(|_| dead())?.blake3 = blake3;
        self.progress.add(reading.file.bytes);
        Ok(None)
    }
}

/// Counts a file, or the rest of one, that cannot be read as its source says.
fn unreadable(result: &Mutex<ReadFile>, e: Error) -> Result<()> {
    if matches!(e.kind(), Kind::Config | Kind::Io | Kind::NoInput | Kind::Internal) {
        return Err(e);
    }
    let mut result = result.lock().map_err(|_| dead())?;
    result.rows_read += 1;
    *result.tally.entry((None, None, Reason::UnreadableFile)).or_default() += 1;
    let reject = Reject {
        reason: Reason::UnreadableFile,
        at: Position::default(),
        rows: 1,
        detail: e.to_string(),
        raw: Vec::new(),
    };
    result.rejects.push(vec![reject])
}

/// Why a file has no pieces, and the dialect if it was recognised.
struct Unopened {
    dialect: Option<Dialect>,
    why: Error,
}

/// Recognises one file; `None` for an empty one.
fn open(reading: &Reading, bytes: HashingReader) -> Result<Option<(Dialect, Pieces)>, Unopened> {
    let none = |why| Unopened { dialect: None, why };
    let mut input = compression::decompress(Box::new(bytes)).map_err(|e| none(as_data(e)))?;
    let head = head(&mut *input).map_err(|e| none(as_data(Error::io("the file cannot be read").because(e))))?;
    if head.is_empty() {
        return Ok(None);
    }
    let dialect = dialect_of(reading, &head).map_err(none)?;
    let whole = Box::new(std::io::Cursor::new(head).chain(input));
    let pieces = dialect::pieces(dialect, whole, Arc::clone(&reading.source)).map_err(|e| Unopened {
        dialect: Some(dialect),
        why: as_data(e),
    })?;
    Ok(Some((dialect, pieces)))
}

/// Damage in the bytes of a file (a cut-off archive) is the data's fault, a failing disk is not.
fn as_data(e: Error) -> Error {
    use std::io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
    let damaged = std::error::Error::source(&e)
        .and_then(|source| source.downcast_ref::<std::io::Error>())
        .is_some_and(|io| matches!(io.kind(), InvalidData | InvalidInput | Other | UnexpectedEof));
    if e.kind() == Kind::Io && damaged {
        Error::new(Kind::Data, e.to_string())
    } else {
        e
    }
}

fn head(input: &mut dyn Read) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(dialect::HEAD_BYTES);
    input
        .take(u64::try_from(dialect::HEAD_BYTES).unwrap_or(u64::MAX))
        .read_to_end(&mut head)?;
    Ok(head)
}

fn dialect_of(reading: &Reading, head: &[u8]) -> Result<Dialect> {
    dialect::choose(reading.source.format, head)
        .ok_or_else(|| Error::new(Kind::Data, "neither sacct text, nor an APEL message, nor a GRACC dump"))
}

/// Where one thread puts what pieces say, until it is worth a batch.
struct Desk<'a> {
    room: &'a Room<'a>,
    columns: Columns,
    /// The file pieces were taken of, and what they said.
    open: Option<(usize, Intake)>,
}

impl Desk<'_> {
    fn take(&mut self, at: usize, dialect: Dialect, work: Work) -> Result<()> {
        if self.open.as_ref().is_some_and(|(open, _)| *open != at) {
            self.clear()?;
        }
        let room = self.room;
        let reading = room.files.get(at).ok_or_else(dead)?;
        let columns = &mut self.columns;
        let (_, intake) = self.open.get_or_insert_with(|| {
            // The id of a file depends on all of its bytes: until they are read, its place in the list stands for it.
            let (source, file_id) = (Arc::clone(&reading.source), at.to_string().into());
            let intake = Intake::new(source, dialect.format(), file_id, room.window, std::mem::take(columns));
            (at, intake)
        });
        work(intake);
        // The members of an archive may be of several formats, a batch is of one.
        if intake.is_full() || dialect == Dialect::Archive {
            self.clear()?;
        }
        Ok(())
    }

    /// Hands over what was taken in.
    fn clear(&mut self) -> Result<()> {
        let Some((at, intake)) = self.open.take() else {
            return Ok(());
        };
        let reading = self.room.files.get(at).ok_or_else(dead)?;
        let harvest;
        (harvest, self.columns) = intake.harvest().map_err(|e| e.at("file", &reading.file.path))?;
        let Harvest {
            batch,
            buckets,
            sites,
            rejects,
            tally,
            mapping,
            rows_read,
            rows_candidate,
        } = harvest;
        self.room.spill.push(batch, &buckets, &sites)?;
        let mut result = self.room.results.get(at).ok_or_else(dead)?.lock().map_err(|_| dead())?;
        result.rows_read += rows_read;
        result.rows_candidate += rows_candidate;
        add(&mut result.tally, tally);
        result.mapping.merge(&mapping);
        result.rejects.push(rejects)
    }
}

fn add<K: Ord>(into: &mut BTreeMap<K, u64>, more: BTreeMap<K, u64>) {
    for (key, n) in more {
        *into.entry(key).or_default() += n;
    }
}
