//! An archive is an input whose members are read one after another, each recognised on its own.
//!
//! Works for every dialect. Members may be packed and may be archives again. The line and offset of a record are those
//! in its member plus the unpacked bytes of all members before it, so that they grow through the whole archive; the
//! detail of a reject names the member and the line in it. Among several versions of a record, members count in the
//! order of the archive. Archives one after the other in a file are one; an archive without an end, and what follows the last
//! end without being an archive, are reported.

mod inside;
mod tar;

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use inside::{ArchivePlace, Inside};
use tar::{Tar, TarMember, TarStep, is_empty_tar};

use super::arrival::is_hex;
use super::dialect::{
    Certainty, Content, Dialect, DialectRow, PlacingInstant, SiteNaming, SourceOption, StatedIdentity, UnfinishedJobs,
    VersionRule, VoNaming,
};
use super::hints::Hints;
use super::input::is_skipped;
use super::options::ReaderOptions;
use super::registry::HEAD_BYTES;
use super::steps::{ReadStep, ReadSteps, until_damage};
use super::{Pieces, Position, Sink, Work, compression, registry};
use crate::error::{Error, Kind, Result};
use crate::ledger::Reason;
use crate::numbers::{Extent, count_u64};

pub use tar::is_tar;

/// The dialect.
pub const DIALECT: Dialect = Dialect::of(&ROW);

static ROW: DialectRow = DialectRow {
    word: "archive",
    aliases: &["tar"],
    help: "a tar of files of any dialect; recognised, not declared",
    page: "A tar archive, packed or not, with members of any dialect, each recognised by its content. Several of them one after the other in a file are read as one.",
    content: Content::Members,
    recognise: |head| {
        let is_whole = head.bytes.len() < HEAD_BYTES;
        (is_tar(head.bytes) || (is_whole && is_empty_tar(head.bytes))).then_some(Certainty::Mark)
    },
    reader: |input, options, _| pieces(input, options),
    hints: |_| Hints {
        version: Some("tar".to_owned()),
        ..Hints::default()
    },
    site: SiteNaming::Members,
    vo: VoNaming::Record,
    identity: StatedIdentity::Nothing,
    placed_by: PlacingInstant::StartOrSubmit,
    version_rule: VersionRule::LastRead,
    unfinished: UnfinishedJobs::ABSENT,
    has_job_numbers: false,
    options: &[SourceOption::Acceptance],
    proposal: &[],
    raw: None,
    fingerprint: &[],
};

/// Unpacked bytes whose pieces go to a worker together: an archive may hold a million members of a kilobyte.
const PIECE_BYTES: u64 = 1 << 20;

/// What keeps bombs out.
#[derive(Clone, Copy, Debug)]
pub struct ArchiveLimits {
    /// Members, those of archives inside counted on their own.
    pub members: u64,
    /// Unpacked bytes of all members.
    pub bytes: u64,
    /// Archives inside archives.
    pub depth: u32,
}

impl Default for ArchiveLimits {
    fn default() -> Self {
        Self {
            members: 100_000_000,
            bytes: 4 << 40,
            depth: 3,
        }
    }
}

/// The pieces of all members of an unpacked archive.
///
/// # Errors
/// None before the first piece.
pub fn pieces(input: Box<dyn Read + Send>, options: Arc<ReaderOptions>) -> Result<Pieces> {
    pieces_within(input, options, ArchiveLimits::default())
}

/// As [`pieces`], with other limits. Beyond one the archive is not read on, and one row is refused for it.
///
/// # Errors
/// As [`pieces`].
pub fn pieces_within(
    input: Box<dyn Read + Send>,
    options: Arc<ReaderOptions>,
    limits: ArchiveLimits,
) -> Result<Pieces> {
    Ok(Box::new(ReadSteps::new(Members {
        tar: Tar::new(input),
        options,
        limits,
        open: None,
        unpacked: Arc::default(),
        member_n: 0,
        ready: Vec::new(),
        handed_over: 0,
        end: None,
    })))
}

/// Counts what a member unpacks to, and stops at the limit.
struct CountedMember {
    inner: Box<dyn Read + Send>,
    unpacked: Arc<AtomicU64>,
    limit: u64,
}

impl Read for CountedMember {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        let more = count_u64(n);
        let before = self.unpacked.fetch_add(more, Ordering::Relaxed);
        if before.further(more) > self.limit {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the archive unpacks to more than its limit",
            ));
        }
        Ok(n)
    }
}

/// Whether a member is one that folders leave out, too: hidden, unfinished, files a spool keeps next to the body of a
/// message, and what in a spool is not yet, or no longer, a message. A path that begins elsewhere (`../dumps/x`) is irrelevant
/// for its file, which is read and never unpacked to a disk.
fn is_left_out(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "." | "..")).collect();
    let is_spool_file = parts
        .iter()
        .rev()
        .nth(1)
        .is_some_and(|folder| is_hex(folder, 14) && parts.last() != Some(&"body"));
    let is_no_message = parts.windows(2).any(|pair| match pair {
        [folder, inner] => matches!(*folder, "temporary" | "obsolete") && (is_hex(inner, 8) || is_hex(inner, 14)),
        _ => false,
    });
    is_spool_file || is_no_message || parts.iter().any(|part| is_skipped(part))
}

/// A member whose pieces are being taken.
struct ArchiveOpen {
    place: Arc<ArchivePlace>,
    dialect: Dialect,
    pieces: Pieces,
}

/// How the archive ended.
enum ArchiveEnd {
    Proper,
    Failed(Error),
}

struct Members {
    tar: Tar,
    options: Arc<ReaderOptions>,
    limits: ArchiveLimits,
    open: Option<ArchiveOpen>,
    unpacked: Arc<AtomicU64>,
    member_n: u64,
    ready: Vec<Work>,
    /// Unpacked bytes when pieces were last handed over.
    handed_over: u64,
    end: Option<ArchiveEnd>,
}

impl Members {
    fn unpacked(&self) -> u64 {
        self.unpacked.load(Ordering::Relaxed)
    }

    /// One piece, or one member onwards.
    fn advance(&mut self) {
        if self.unpacked() > self.limits.bytes {
            let detail = format!("the archive unpacks to more than {} bytes", self.limits.bytes);
            return self.beyond(detail);
        }
        let Some(open) = &mut self.open else {
            return self.enter();
        };
        match open.pieces.next() {
            Some(Ok(work)) => {
                let (place, dialect) = (Arc::clone(&open.place), open.dialect);
                self.ready.push(Box::new(move |sink: &mut dyn Sink| {
                    sink.dialect(dialect);
                    work(&mut Inside { sink, place: &place });
                }));
            }
            Some(Err(why)) => {
                let place = Arc::clone(&open.place);
                self.open = None;
                self.unreadable(&place, why);
            }
            None => {
                let place = Arc::clone(&open.place);
                self.open = None;
                // What is there of a member is read when the archive ends inside of it.
                if self.tar.failure().is_some() {
                    self.unreadable(&place, Error::new(Kind::Data, "the archive ends inside it"));
                }
            }
        }
    }

    /// Opens the next member, if it is a file that holds anything.
    fn enter(&mut self) {
        let entry = match self.tar.next() {
            Ok(TarStep::Member(entry)) => entry,
            Ok(TarStep::End) => {
                self.end = Some(ArchiveEnd::Proper);
                return;
            }
            Ok(TarStep::CutOff) => {
                self.end = Some(ArchiveEnd::Proper);
                let detail = "the archive has no end: members may be missing".to_owned();
                return self.refuse(Reason::Truncated, detail);
            }
            Err(why) => {
                self.end = Some(ArchiveEnd::Failed(Error::new(Kind::Data, why.to_string())));
                return;
            }
        };
        self.member_n += 1;
        if self.member_n > self.limits.members {
            let detail = format!("the archive has more than {} members", self.limits.members);
            return self.beyond(detail);
        }
        let name = entry.name.trim_start_matches("./").to_owned();
        if entry.is_sparse && !is_left_out(&name) {
            let detail = format!(
                "{name}: a sparse member, whose holes are left out, is not read: pack it without --sparse, or by itself"
            );
            return self.refuse(Reason::UnreadableFile, detail);
        }
        if !entry.is_file || is_left_out(&name) {
            return;
        }
        let place = Arc::new(ArchivePlace::new(name, self.unpacked()));
        match self.recognised(self.tar.member(), &place) {
            Ok(open) => self.open = open,
            Err(why) => self.unreadable(&place, why),
        }
    }

    /// A member's pieces; `None` for an empty one.
    fn recognised(&self, member: TarMember, place: &Arc<ArchivePlace>) -> Result<Option<ArchiveOpen>> {
        let (inner, damage) = compression::salvage(Box::new(member))?;
        let member = CountedMember {
            inner,
            unpacked: Arc::clone(&self.unpacked),
            limit: self.limits.bytes,
        };
        let (head, input) = compression::peek(Box::new(member), HEAD_BYTES)?;
        if head.is_empty() {
            return damage.take().map_or(Ok(None), Err);
        }
        let dialect = registry::choose(self.options.format, &head)
            .ok_or_else(|| Error::new(Kind::Data, "no dialect with a reader is recognised"))?;
        let pieces = if dialect.row().content == Content::Members {
            let depth = self.limits.depth.checked_sub(1);
            let depth = depth.ok_or_else(|| Error::new(Kind::Data, "archives are nested too deeply"))?;
            let limits = ArchiveLimits {
                depth,
                bytes: self.limits.bytes.less(self.unpacked()),
                ..self.limits
            };
            pieces_within(input, Arc::clone(&self.options), limits)?
        } else {
            dialect.pieces(input, Arc::clone(&self.options))?
        };
        Ok(Some(ArchiveOpen {
            place: Arc::clone(place),
            dialect,
            pieces: until_damage(pieces, damage),
        }))
    }

    /// A member that cannot be read, or an archive that cannot.
    fn unreadable(&mut self, place: &Arc<ArchivePlace>, why: Error) {
        if self.unpacked() > self.limits.bytes {
            return;
        }
        if why.kind() == Kind::Config || why.kind() == Kind::Internal {
            self.end = Some(ArchiveEnd::Failed(why));
        } else if let Some(why) = self.tar.failure() {
            let why = format!("{}: {why}", place.name);
            self.end = Some(ArchiveEnd::Failed(Error::new(Kind::Data, why)));
        } else {
            self.refuse(Reason::UnreadableFile, format!("{}: {why}", place.name));
        }
    }

    fn beyond(&mut self, detail: String) {
        self.refuse(Reason::LimitExceeded, detail);
        self.end = Some(ArchiveEnd::Proper);
    }

    fn refuse(&mut self, reason: Reason, detail: String) {
        let at = Position {
            line: self.unpacked(),
            byte_offset: self.unpacked(),
        };
        self.ready.push(Box::new(move |sink: &mut dyn Sink| {
            sink.rows_read(1);
            sink.reject(reason, at, 1, &detail, &[]);
        }));
    }
}

impl ReadStep for Members {
    fn step(&mut self) -> Result<Option<Work>> {
        while self.end.is_none() {
            self.advance();
            let is_enough = self.unpacked() - self.handed_over >= PIECE_BYTES;
            if is_enough && !self.ready.is_empty() {
                break;
            }
        }
        self.handed_over = self.unpacked();
        if !self.ready.is_empty() {
            let ready = std::mem::take(&mut self.ready);
            return Ok(Some(Box::new(move |sink: &mut dyn Sink| {
                for work in ready {
                    work(sink);
                }
            })));
        }
        match self.end.take() {
            Some(ArchiveEnd::Failed(why)) => Err(why),
            _ => Ok(None),
        }
    }
}
