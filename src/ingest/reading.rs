//! Reading inputs: threads cut files into pieces and parse them, and their rows wait in the spill.

use std::io::{BufReader, Read};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, TryLockError};

use tracing::warn;

use super::summary_limits::SummaryLimits;
use super::worker_buffer::WorkerBuffer;
use crate::config::SourcePlan;
use crate::dedupe::Window;
use crate::dedupe::spill::Spill;
use crate::error::{Error, Kind, Result};
use crate::runtime::progress::Progress;
use crate::sources::dialect::{Content, Dialect, SourceOption};
use crate::sources::hashing::HashingReader;
use crate::sources::input::InputFile;
use crate::sources::repair::is_repair;
use crate::sources::steps::until_damage;
use crate::sources::{Pieces, Work, compression, diagnosis, registry};

pub(crate) use super::read_file::{LedgerFiles, ReadFile, Reading};

/// What is read of a file at first: a power of two, as all hashing is fastest in.
const FIRST_BYTES: usize = 8 << 10;

/// How far a file is read.
enum FileState {
    /// Not at all.
    Unopened,
    /// Its pieces are being taken.
    Open(Box<OpenFile>),
    /// To its end.
    Done,
}

impl FileState {
    /// Of a file at the beginning. One that a shard has read is not read again.
    fn of(file: &Reading) -> Self {
        if file.listed.is_some() {
            Self::Done
        } else {
            Self::Unopened
        }
    }
}

/// A file as the threads share it.
struct SharedFile {
    state: Mutex<FileState>,
    /// A piece for the next thread that would have to wait for another one to cut its own off.
    ready: Mutex<Option<(Dialect, Work)>>,
}

impl SharedFile {
    fn of(file: &Reading) -> Self {
        Self {
            state: Mutex::new(FileState::of(file)),
            ready: Mutex::default(),
        }
    }

    /// The piece that is ready, if there is one.
    fn take_ready(&self) -> Result<Option<(Dialect, Work)>> {
        Ok(self.ready.lock().map_err(|_| dead())?.take())
    }
}

/// A file whose pieces are being taken: few of many are.
struct OpenFile {
    dialect: Dialect,
    pieces: Pieces,
    bytes: HashingReader,
}

/// What the threads share.
pub(crate) struct ReadPool<'a> {
    /// The files.
    pub(crate) files: &'a [Reading],
    shared: Vec<SharedFile>,
    /// What they came to.
    pub(crate) results: Vec<Mutex<ReadFile>>,
    /// Whether several threads read.
    is_concurrent: bool,
    /// The next file that is not yet opened.
    next: AtomicUsize,
    failure: Mutex<Option<Error>>,
    /// The requested months.
    pub(crate) window: Window,
    /// Candidates.
    pub(crate) spill: &'a Spill,
    progress: &'a dyn Progress,
}

/// Reads all files on `threads` threads; the results are in the order of `files`.
///
/// Every thread opens files of its own as long as there are any, and helps with those of the others then. Whoever has
/// cut a piece off a file mostly parses it, too: its bytes are still near.
///
/// A file that cannot be opened, or read in the format of its source, is a reject like any other and stops nothing. Mistakes of the
/// pipeline (a missing time zone) and failing disks do.
///
/// # Errors
/// [`Kind::Config`] and [`Kind::Io`] as described; [`Kind::Internal`] when a thread died.
pub(crate) fn read_all(
    files: &[Reading],
    window: Window,
    threads: usize,
    spill: &Spill,
    limits: SummaryLimits,
    progress: &dyn Progress,
) -> Result<Vec<ReadFile>> {
    let pool = ReadPool {
        files,
        shared: files.iter().map(SharedFile::of).collect(),
        results: files.iter().map(|_| Mutex::new(ReadFile::new(limits.file_n))).collect(),
        is_concurrent: threads > 1,
        next: AtomicUsize::new(0),
        failure: Mutex::default(),
        window,
        spill,
        progress,
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                if let Err(e) = pool.work()
                    && let Ok(mut failure) = pool.failure.lock()
                {
                    failure.get_or_insert(e);
                }
            });
        }
    });
    if let Some(e) = pool.failure.into_inner().map_err(|_| dead())? {
        return Err(e);
    }
    let results = pool.results.into_iter();
    results.map(|result| result.into_inner().map_err(|_| dead())).collect()
}

pub(crate) fn dead() -> Error {
    Error::internal("a reading thread died")
}

impl ReadPool<'_> {
    /// What one thread does.
    fn work(&self) -> Result<()> {
        let mut buffer = WorkerBuffer::new(self);
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            if at >= self.files.len() {
                break;
            }
            self.read(at, &mut buffer)?;
        }
        for at in 0..self.files.len() {
            self.read(at, &mut buffer)?;
        }
        buffer.clear()
    }

    /// Takes pieces of one file until there are no more.
    fn read(&self, at: usize, buffer: &mut WorkerBuffer<'_>) -> Result<()> {
        let reading = self.files.get(at).ok_or_else(dead)?;
        while !self.has_failed()
            && let Some((dialect, work)) = self.piece(at, reading).map_err(|e| e.at("file", &reading.file.path))?
        {
            buffer.take(at, dialect, work)?;
        }
        Ok(())
    }

    fn has_failed(&self) -> bool {
        self.failure.lock().is_ok_and(|failure| failure.is_some())
    }

    /// A piece of a file. Threads would often wait for each other while one of them cuts a piece off: whoever does leaves another
    /// one to a thread that finds the file taken.
    fn piece(&self, at: usize, reading: &Reading) -> Result<Option<(Dialect, Work)>> {
        let file = self.shared.get(at).ok_or_else(dead)?;
        let mut state = match file.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::WouldBlock) => {
                if let Some(piece) = file.take_ready()? {
                    return Ok(Some(piece));
                }
                file.state.lock().map_err(|_| dead())?
            }
            Err(TryLockError::Poisoned(_)) => return Err(dead()),
        };
        let Some(piece) = self.next_piece(at, &mut state, reading)? else {
            return file.take_ready();
        };
        // Only who holds the file puts one there.
        let is_wanted = self.is_concurrent && file.ready.lock().map_err(|_| dead())?.is_none();
        if is_wanted && let Some(other) = self.next_piece(at, &mut state, reading)? {
            *file.ready.lock().map_err(|_| dead())? = Some(other);
        }
        Ok(Some(piece))
    }

    /// Cuts the next piece off a file, which is opened first if need be; at its end its hash is known.
    fn next_piece(&self, at: usize, state: &mut FileState, reading: &Reading) -> Result<Option<(Dialect, Work)>> {
        let result = self.results.get(at).ok_or_else(dead)?;
        if matches!(*state, FileState::Unopened) {
            let bytes = match reading.file.open_stamped() {
                Ok(opened) => {
                    result.lock().map_err(|_| dead())?.stamp = opened.stamp;
                    HashingReader::new(opened.bytes)
                }
                Err(why) if InputFile::is_shut(&why) => {
                    *state = FileState::Done;
                    self.progress.add(reading.file.bytes);
                    return unreadable(result, Error::new(Kind::Data, why.to_string()), reading).map(|()| None);
                }
                Err(why) => return Err(why),
            };
            let opened = open(reading, bytes.clone());
            *state = match opened {
                Ok(Some((dialect, pieces))) => {
                    result.lock().map_err(|_| dead())?.dialect = Some(dialect);
                    FileState::Open(Box::new(OpenFile { dialect, pieces, bytes }))
                }
                Ok(None) => return self.finish(state, bytes, result, reading),
                Err(Unopened::Repair) => {
                    result.lock().map_err(|_| dead())?.is_repair = true;
                    return self.finish(state, bytes, result, reading);
                }
                Err(Unopened::For { dialect, why }) => {
                    result.lock().map_err(|_| dead())?.dialect = dialect;
                    unreadable(result, why, reading)?;
                    return self.finish(state, bytes, result, reading);
                }
            };
        }
        let FileState::Open(open) = state else {
            return Ok(None);
        };
        match open.pieces.next() {
            Some(Ok(work)) => return Ok(Some((open.dialect, work))),
            Some(Err(e)) => unreadable(result, as_data(e), reading)?,
            None => {}
        }
        let bytes = open.bytes.clone();
        self.finish(state, bytes, result, reading)
    }

    /// Reads the remaining bytes that no reader needed, and closes the file.
    fn finish<T>(
        &self,
        state: &mut FileState,
        bytes: HashingReader,
        result: &Mutex<ReadFile>,
        reading: &Reading,
    ) -> Result<Option<T>> {
        *state = FileState::Done;
        let blake3 = bytes
            .finish()
            .map_err(|e| Error::io("the file cannot be read to its end").because(e))?;
        result.lock().map_err(|_| dead())?.blake3 = blake3;
        if reading.file.is_overwritten() {
            warn!(
                path = reading.file.path,
                "{} was written over while it was read: rows of both contents may count. Write dumps under another name and \
                 rename them; the next run reads it again",
                reading.file.path
            );
        }
        self.progress.add(reading.file.bytes);
        Ok(None)
    }
}

/// Counts a file, or the rest of one, that cannot be read in the format of its source.
fn unreadable(result: &Mutex<ReadFile>, e: Error, reading: &Reading) -> Result<()> {
    if matches!(e.kind(), Kind::Config | Kind::Io | Kind::NoInput | Kind::Internal) {
        return Err(e);
    }
    let is_private = reading.privacy.is_some();
    result.lock().map_err(|_| dead())?.refuse_file(&e, is_private)
}

/// Why a file has no pieces.
enum Unopened {
    /// It is a repair file, which is read after all others.
    Repair,
    /// Something is wrong with it; the dialect, if it was recognised.
    For { dialect: Option<Dialect>, why: Error },
}

/// Recognises one file; `None` for an empty one.
fn open(reading: &Reading, bytes: HashingReader) -> Result<Option<(Dialect, Pieces)>, Unopened> {
    let none = |why| Unopened::For { dialect: None, why };
    // The first few bytes are requested separately: they are read, and hashed, together with what follows them.
    let bytes = BufReader::with_capacity(FIRST_BYTES, bytes);
    let (mut input, damage) = compression::salvage(Box::new(bytes)).map_err(|e| none(as_data(e)))?;
    let head = head(&mut *input).map_err(|e| none(as_data(Error::io("the file cannot be read").because(e))))?;
    if head.is_empty() {
        return damage.take().map_or(Ok(None), |why| Err(none(why)));
    }
    if is_repair(&head) {
        return Err(Unopened::Repair);
    }
    let dialect = dialect_of(reading, &head).map_err(none)?;
    let whole = Box::new(std::io::Cursor::new(head).chain(input));
    let pieces = dialect
        .pieces(whole, Arc::clone(&reading.source.reader))
        .map_err(|e| Unopened::For {
            dialect: Some(dialect),
            why: as_data(e),
        })?;
    Ok(Some((dialect, until_damage(pieces, damage))))
}

/// Damage in the bytes of a file (a cut-off archive) is the data's fault, a failing disk is not.
fn as_data(e: Error) -> Error {
    if is_damage(&e) {
        Error::new(Kind::Data, e.to_string())
    } else {
        e
    }
}

/// Whether reading failed because the bytes are damaged.
pub(crate) fn is_damage(e: &Error) -> bool {
    use std::io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
    let damaged = std::error::Error::source(e)
        .and_then(|source| source.downcast_ref::<std::io::Error>())
        .is_some_and(|io| matches!(io.kind(), InvalidData | InvalidInput | Other | UnexpectedEof));
    e.kind() == Kind::Io && damaged
}

/// What stops a run as soon as it reads the first rows of a file: a mistake of the pipeline, such as local times without a
/// zone. Damage of the file itself is reported by the run.
#[must_use]
pub fn first_mistake(source: &Arc<SourcePlan>, file: &InputFile) -> Option<Error> {
    // Fallback: a file that cannot be opened is reported by the run, with its reason.
    let input = compression::decompress(file.open().ok()?);
    // Fallback: a file that cannot be unpacked is reported by the run as well.
    let mut input = input.ok()?;
    // Fallback: damage of the head is reported where the run reads the file.
    let head = head(&mut *input).ok()?;
    let dialect = registry::choose(source.format(), &head).filter(|dialect| dialect.uses(SourceOption::Timezone))?;
    let whole = Box::new(std::io::Cursor::new(head).chain(input));
    let mistake = match dialect.pieces(whole, Arc::clone(&source.reader)) {
        Ok(mut pieces) => pieces.next()?.err()?,
        Err(why) => why,
    };
    (mistake.kind() == Kind::Config).then(|| mistake.at("file", &file.path))
}

fn head(input: &mut dyn Read) -> std::io::Result<Vec<u8>> {
    // Read at once: files read to their end are requested in pieces of doubling size.
    let mut head = vec![0; registry::HEAD_BYTES];
    let mut len = 0;
    while let Some(room) = head.get_mut(len..).filter(|room| !room.is_empty()) {
        match input.read(room) {
            Ok(0) => break,
            Ok(n) => len += n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    head.truncate(len);
    Ok(head)
}

fn dialect_of(reading: &Reading, head: &[u8]) -> Result<Dialect> {
    let is_inventory = reading.source.is_inventory();
    let data = |message: String| Err(Error::new(Kind::Data, message));
    match registry::choose(reading.source.format(), head) {
        Some(found) => match (found.row().content, is_inventory) {
            (Content::Inventory(_), false) => data(format!(
                "an inventory of the machine ({}): name it under [[inventory]]",
                found.as_str()
            )),
            (Content::Jobs | Content::GridIdentities, true) => data(format!(
                "accounting of jobs ({}): name it under [[source]]",
                found.as_str()
            )),
            _ => Ok(found),
        },
        None if is_inventory => {
            let problems = diagnosis::of(None, head).problems.join("; ");
            data(format!("no known form of inventory: {problems}"))
        }
        None => {
            let known: Vec<&str> = registry::declarable().map(Dialect::as_str).collect();
            data(format!("no known dialect ({})", known.join(", ")))
        }
    }
}
