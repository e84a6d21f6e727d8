//! Reading inputs: files are split by feeders, parsed by workers, and what they say waits in the spill.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::grid::{Completing, GridIndex};
use super::progress::Progress;
use super::shelf::RejectShelf;
use crate::error::{Error, Kind, Result};
use crate::ledger::Reason;
use crate::pipeline::{Format, SourcePlan};
use crate::privacy::Privacy;
use crate::records::columns::Columns;
use crate::records::spill::Spill;
use crate::records::waiting;
use crate::records::{Harvest, Intake, MappingCounts, Reject, Summary, Tally, Window};
use crate::reference::inventory::Placed;
use crate::sources::dialect::{self, Dialect};
use crate::sources::hashing::HashingReader;
use crate::sources::input::InputFile;
use crate::sources::repair::is_repair;
use crate::sources::{Position, Work, compression};

/// Summaries of one file that are held in memory: a month of the largest central server has some 100 000.
const SUMMARY_LIMIT: usize = 2_000_000;

/// A file this run has to read.
pub(super) struct Reading {
    /// The file.
    pub(super) file: InputFile,
    /// The source it belongs to.
    pub(super) source: Arc<SourcePlan>,
    /// Where the grid identity of its jobs is told, if not by itself.
    pub(super) grid: Option<Arc<GridIndex>>,
    /// What becomes of names.
    pub(super) privacy: Option<Arc<Privacy>>,
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
    /// Summaries; those of a piece in order, the pieces in any order.
    pub(super) summaries: Vec<Summary>,
    /// Refusals.
    pub(super) rejects: RejectShelf,
    /// What was told about the machine.
    pub(super) inventory: Vec<Placed>,
    /// Hash of the bytes as they were read.
    pub(super) blake3: String,
    /// Whether it is a repair file, which is read after all others.
    pub(super) is_repair: bool,
}

impl ReadFile {
    /// Nothing read yet.
    pub(super) fn new(reading: &Reading) -> Self {
        Self {
            blake3: String::new(),
            is_repair: false,
            dialect: None,
            rows_read: 0,
            rows_candidate: 0,
            tally: Tally::new(),
            mapping: MappingCounts::default(),
            summaries: Vec::new(),
            rejects: RejectShelf::new(&reading.source.name, &reading.accounted_to),
            inventory: Vec::new(),
        }
    }
}

impl ReadFile {
    /// Adds what an intake took from a piece.
    ///
    /// # Errors
    /// [`Kind::Io`] when refusals cannot be put by.
    pub(super) fn take(&mut self, rows: u64, candidates: u64, tally: Tally, rejects: Vec<Reject>) -> Result<()> {
        self.rows_read += rows;
        self.rows_candidate += candidates;
        add(&mut self.tally, tally);
        self.rejects.push(rejects)
    }

    /// Takes what was told besides jobs.
    ///
    /// # Errors
    /// [`Kind::Data`] when there are more summaries than are held.
    pub(super) fn keep(
        &mut self,
        summaries: &mut Vec<Summary>,
        mapping: &MappingCounts,
        inventory: Vec<Placed>,
        path: &str,
    ) -> Result<()> {
        if self.summaries.len() + summaries.len() > SUMMARY_LIMIT {
            let message = format!("more than {SUMMARY_LIMIT} summaries: read the file in parts, with --from and --to");
            return Err(Error::new(Kind::Data, message).at("file", path));
        }
        self.summaries.append(summaries);
        self.mapping.merge(mapping);
        self.inventory.extend(inventory);
        Ok(())
    }

    /// Refuses the rest of the file: it cannot be read as what its source says.
    ///
    /// # Errors
    /// As [`ReadFile::take`].
    pub(super) fn refuse_file(&mut self, why: &Error, is_private: bool) -> Result<()> {
        let tally = Tally::from([((None, None, Reason::UnreadableFile), 1)]);
        let (at, detail) = (Position::default(), why.to_string());
        let reject = Reject::new(Reason::UnreadableFile, at, 1, &detail, b"", is_private);
        self.take(1, 0, tally, vec![reject])
    }

    /// Takes the place of what was framed before; the hash stays.
    pub(super) fn fill(&mut self, read: Self) {
        let blake3 = std::mem::take(&mut self.blake3);
        *self = Self {
            blake3,
            is_repair: true,
            ..read
        };
    }
}

/// One piece on its way to a worker.
struct Task {
    at: usize,
    dialect: Dialect,
    work: Work,
}

/// Reads all files on `threads` workers; the results are in the order of `files`.
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
    let results: Vec<Mutex<ReadFile>> = files.iter().map(|reading| Mutex::new(ReadFile::new(reading))).collect();
    let next = AtomicUsize::new(0);
    let failure: Mutex<Option<Error>> = Mutex::default();
    let fail = |e: Error| {
        if let Ok(mut failure) = failure.lock() {
            failure.get_or_insert(e);
        }
    };
    let failed = || failure.lock().is_ok_and(|f| f.is_some());
    let (send, receive) = bounded::<Task>(2 * threads);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(files.len()) {
            let send = send.clone();
            let (next, results, fail, failed) = (&next, &results, &fail, &failed);
            scope.spawn(move || {
                while let Some((at, reading)) = files.get(next.load(Ordering::Relaxed)).and_then(|_| {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    files.get(at).map(|reading| (at, reading))
                }) {
                    if failed() {
                        break;
                    }
                    if let Err(e) = feed(at, reading, &send, results, failed) {
                        fail(e.at("file", &reading.file.path));
                    }
                    progress.add(reading.file.bytes);
                }
            });
        }
        drop(send);
        for _ in 0..threads {
            let receive: Receiver<Task> = receive.clone();
            let (results, fail, failed) = (&results, &fail, &failed);
            scope.spawn(move || {
                let mut columns = Columns::new();
                for task in receive {
                    if failed() {
                        continue; // drain, so that no feeder waits for ever
                    }
                    if let Err(e) = parse(task, files, window, spill, results, &mut columns) {
                        fail(e);
                    }
                }
            });
        }
        drop(receive);
    });
    if let Some(e) = failure.into_inner().map_err(|_| dead())? {
        return Err(e);
    }
    results
        .into_iter()
        .map(|result| result.into_inner().map_err(|_| dead()))
        .collect()
}

fn dead() -> Error {
    Error::internal("a reading thread died")
}

/// Reads one file to its end, hashing on the way.
fn feed(
    at: usize,
    reading: &Reading,
    send: &Sender<Task>,
    results: &[Mutex<ReadFile>],
    failed: &dyn Fn() -> bool,
) -> Result<()> {
    let bytes = HashingReader::new(reading.file.open()?);
    split(at, reading, bytes.clone(), send, results, failed)?;
    if failed() {
        return Ok(());
    }
    let blake3 = bytes
        .finish()
        .map_err(|e| Error::io("the file cannot be read to its end").because(e))?;
    results.get(at).ok_or_else(dead)?.lock().map_err(|_| dead())?.blake3 = blake3;
    Ok(())
}

/// Recognises one file and sends its pieces to the workers.
fn split(
    at: usize,
    reading: &Reading,
    bytes: HashingReader,
    send: &Sender<Task>,
    results: &[Mutex<ReadFile>],
    failed: &dyn Fn() -> bool,
) -> Result<()> {
    let result = results.get(at).ok_or_else(dead)?;
    let unreadable = |e: Error| match e.kind() {
        Kind::Config | Kind::Io | Kind::NoInput | Kind::Internal => Err(e),
        _ => {
            let mut result = result.lock().map_err(|_| dead())?;
            result.refuse_file(&e, reading.privacy.is_some())
        }
    };
    let mut input = match compression::decompress(Box::new(bytes)) {
        Ok(input) => input,
        Err(e) => return unreadable(as_data(e)),
    };
    let head = match head(&mut *input) {
        Ok(head) => head,
        Err(e) => return unreadable(as_data(Error::io("the file cannot be read").because(e))),
    };
    if head.is_empty() {
        return Ok(());
    }
    if is_repair(&head) {
        result.lock().map_err(|_| dead())?.is_repair = true;
        return Ok(());
    }
    let dialect = match dialect_of(reading, &head) {
        Ok(dialect) => dialect,
        Err(e) => return unreadable(e),
    };
    result.lock().map_err(|_| dead())?.dialect = Some(dialect);
    let whole = Box::new(std::io::Cursor::new(head).chain(input));
    let pieces = match dialect::pieces(dialect, whole, Arc::clone(&reading.source)) {
        Ok(pieces) => pieces,
        Err(e) => return unreadable(as_data(e)),
    };
    for work in pieces {
        if failed() {
            break;
        }
        match work {
            Ok(work) => send.send(Task { at, dialect, work }).map_err(|_| dead())?,
            Err(e) => return unreadable(as_data(e)),
        }
    }
    Ok(())
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
pub(super) fn is_damage(e: &Error) -> bool {
    use std::io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
    let damaged = std::error::Error::source(e)
        .and_then(|source| source.downcast_ref::<std::io::Error>())
        .is_some_and(|io| matches!(io.kind(), InvalidData | InvalidInput | Other | UnexpectedEof));
    e.kind() == Kind::Io && damaged
}

fn head(input: &mut dyn Read) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(dialect::HEAD_BYTES);
    input
        .take(u64::try_from(dialect::HEAD_BYTES).unwrap_or(u64::MAX))
        .read_to_end(&mut head)?;
    Ok(head)
}

fn dialect_of(reading: &Reading, head: &[u8]) -> Result<Dialect> {
    let is_inventory = matches!(reading.source.format, Format::Inventory(_));
    let data = |message: String| Err(Error::new(Kind::Data, message));
    match dialect::choose(reading.source.format, head) {
        Some(Dialect::Inventory(kind)) if !is_inventory => data(format!(
            "an inventory of the machine ({}): name it under [[inventory]]",
            kind.as_str()
        )),
        Some(found) if is_inventory && !matches!(found, Dialect::Inventory(_) | Dialect::Archive) => data(format!(
            "accounting of jobs ({}): name it under [[source]]",
            found.as_str()
        )),
        Some(found) => Ok(found),
        None if is_inventory => data("no known form of inventory".to_owned()),
        None => {
            data("neither sacct text, nor an APEL message, nor a GRACC dump, nor a log of a batch system".to_owned())
        }
    }
}

fn parse(
    task: Task,
    files: &[Reading],
    window: Window,
    spill: &Spill,
    results: &[Mutex<ReadFile>],
    columns: &mut Columns,
) -> Result<()> {
    let reading = files.get(task.at).ok_or_else(dead)?;
    let format = task.dialect.format();
    // The id of a file depends on all of its bytes: until they are read, its place in the list stands for it.
    let file_id = task.at.to_string().into();
    let mut intake = Intake::new(
        Arc::clone(&reading.source),
        format,
        file_id,
        window,
        std::mem::take(columns),
    )
    .under(reading.privacy.clone());
    match &reading.grid {
        Some(index) => (task.work)(&mut Completing {
            index,
            inner: &mut intake,
        }),
        None => (task.work)(&mut intake),
    }
    let harvest;
    (harvest, *columns) = intake.harvest().map_err(|e| e.at("file", &reading.file.path))?;
    if let Some(index) = &reading.grid {
        index.mark(&waiting::unpacked(&harvest.batch)?, &reading.source.name)?;
    }
    let Harvest {
        batch,
        buckets,
        sites,
        mut summaries,
        rejects,
        inventory,
        tally,
        mapping,
        rows_read,
        rows_candidate,
    } = harvest;
    spill.push(batch, &buckets, &sites)?;
    let mut result = results.get(task.at).ok_or_else(dead)?.lock().map_err(|_| dead())?;
    result.keep(&mut summaries, &mapping, inventory, &reading.file.path)?;
    result.take(rows_read, rows_candidate, tally, rejects)
}

fn add<K: Ord>(into: &mut BTreeMap<K, u64>, more: BTreeMap<K, u64>) {
    for (key, n) in more {
        *into.entry(key).or_default() += n;
    }
}
