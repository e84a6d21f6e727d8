//! Compressed input, recognised by its content: names may be wrong, magic bytes are not.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::decoders::decoder;
use super::foreign_form;
use crate::error::{Error, Kind, Result};
use crate::numbers::{Extent, count_u64};

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// gzip, one member or many.
    Gzip,
    /// Zstandard, one frame or many.
    Zstd,
    /// bzip2, one stream or many.
    Bzip2,
    /// xz, one stream or many.
    Xz,
}

/// Bytes needed to recognise it: the longest magic is that of bzip2 with the head of its first block.
const MAGIC_BYTES: usize = 10;

impl Compression {
    /// Recognises the packing from the first bytes of a file; ten are enough.
    #[must_use]
    pub fn of(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, 0x08, ..] => Self::Gzip,
            // The second form opens a skippable frame, as parallel compressors write it.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            [0xfd, b'7', b'z', b'X', b'Z', 0x00, ..] => Self::Xz,
            [b'B', b'Z', b'h', b'1'..=b'9', block @ ..] if opens_bzip2_block(block) => Self::Bzip2,
            _ => Self::None,
        }
    }

    /// Its usual name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
        }
    }
}

/// What follows the level digit: the digits of pi before a block, those of its root at the end of an empty stream.
fn opens_bzip2_block(head: &[u8]) -> bool {
    const BLOCK: [u8; 6] = [0x31, 0x41, 0x59, 0x26, 0x53, 0x59];
    const END: [u8; 6] = [0x17, 0x72, 0x45, 0x38, 0x50, 0x90];
    let head = head.get(..6).unwrap_or(head);
    BLOCK.starts_with(head) || END.starts_with(head)
}

/// Unpacks `raw` if it is packed. All members of a file are read, one after the other.
///
/// A packed file that is cut off or damaged fails while it is read, with a message that names the damage.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the first bytes cannot be read.
pub fn decompress(raw: Box<dyn Read + Send>) -> Result<Box<dyn Read + Send>> {
    unpacked(raw, None)
}

/// As [`decompress`], but damage ends the stream like a proper end does, so that everything before it is read; the loss is
/// returned by [`Damage::take`].
///
/// # Errors
/// As [`decompress`], and [`Kind::Data`] for what is packed or encoded as no reader takes it.
pub fn salvage(raw: Box<dyn Read + Send>) -> Result<(Box<dyn Read + Send>, Damage)> {
    let damage = Damage::default();
    let (head, text) = peek(unpacked(raw, Some(damage.clone()))?, MAGIC_BYTES)?;
    let twice = match Compression::of(&head) {
        Compression::None => None,
        inner => Some(format!(
            "the file is packed twice, inside as {}: unpack it once",
            inner.as_str()
        )),
    };
    match twice.or_else(|| foreign_form::refusal(&head)) {
        Some(why) => Err(Error::new(Kind::Data, why)),
        None => Ok((text, damage)),
    }
}

/// What ended a stream before its end.
#[derive(Clone, Debug, Default)]
pub struct Damage(Arc<Mutex<Option<String>>>);

impl Damage {
    /// What is lost and why; returned once.
    #[must_use]
    pub fn take(&self) -> Option<Error> {
        let why = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        why.map(|why| Error::new(Kind::Data, why))
    }
}

fn unpacked(raw: Box<dyn Read + Send>, damage: Option<Damage>) -> Result<Box<dyn Read + Send>> {
    let (head, raw) = peek(raw, MAGIC_BYTES)?;
    let compression = Compression::of(&head);
    if compression == Compression::None {
        return Ok(raw);
    }
    let packed = PackedStream::default();
    let raw = CountedStream {
        inner: BufReader::with_capacity(PACKED_BYTES, raw),
        packed: packed.clone(),
    };
    let inner = decoder(compression, raw)?;
    Ok(Box::new(Unpacked {
        inner,
        compression,
        packed,
        out_n: 0,
        damage,
        is_ended: false,
    }))
}

/// Packed bytes that are read at a time.
const PACKED_BYTES: usize = 64 << 10;

/// Below this many unpacked bytes nothing is a bomb.
const BOMB_FLOOR: u64 = 128 << 20;
/// Accounting records pack to a fifteenth, repeated ones to a hundredth. Nothing but a bomb packs to less than this
/// fraction.
const BOMB_RATIO: u64 = 800;

/// What is known of the packed bytes.
#[derive(Clone, Debug, Default)]
struct PackedStream {
    /// Bytes read from the file.
    read_n: Arc<AtomicU64>,
    /// Bytes the decoder has taken of them.
    taken_n: Arc<AtomicU64>,
    /// All of the file is read.
    is_whole: Arc<AtomicBool>,
    /// The decoder gave up: what is left of the file is only counted.
    is_lost: Arc<AtomicBool>,
    /// Reading itself failed, which is not damage.
    has_failed: Arc<AtomicBool>,
}

/// Counts packed bytes.
struct CountedStream {
    inner: BufReader<Box<dyn Read + Send>>,
    packed: PackedStream,
}

impl Drop for CountedStream {
    fn drop(&mut self) {
        while self.packed.is_lost.load(Ordering::Relaxed) && !self.packed.is_whole.load(Ordering::Relaxed) {
            let n = self.inner.buffer().len();
            self.inner.consume(n);
            // A stream that cannot be read to its end has no end to report.
            if self
                .fill_buf()
                .is_err_and(|why| why.kind() != io::ErrorKind::Interrupted)
            {
                return;
            }
        }
    }
}

impl Read for CountedStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut ready = self.fill_buf()?;
        let n = ready.read(buffer)?;
        self.consume(n);
        Ok(n)
    }
}

impl BufRead for CountedStream {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let is_empty = self.inner.buffer().is_empty();
        let ready = self.inner.fill_buf().inspect_err(|why| {
            let is_over = why.kind() == io::ErrorKind::Interrupted;
            self.packed.has_failed.fetch_or(!is_over, Ordering::Relaxed);
        })?;
        if is_empty {
            let n = count_u64(ready.len());
            self.packed.read_n.fetch_add(n, Ordering::Relaxed);
            self.packed.is_whole.fetch_or(n == 0, Ordering::Relaxed);
        }
        Ok(ready)
    }

    fn consume(&mut self, n: usize) {
        let taken_n = count_u64(n);
        self.packed.taken_n.fetch_add(taken_n, Ordering::Relaxed);
        self.inner.consume(n);
    }
}

/// The first `n` bytes of a stream (fewer when it is shorter), and the whole stream again.
pub(crate) fn peek(mut raw: Box<dyn Read + Send>, n: usize) -> Result<(Vec<u8>, Box<dyn Read + Send>)> {
    let mut head = Vec::new();
    let wanted = count_u64(n);
    raw.by_ref().take(wanted).read_to_end(&mut head)?;
    let whole = Cursor::new(head.clone()).chain(raw);
    Ok((head, Box::new(whole)))
}

/// A decoder whose errors describe their effect on the file.
struct Unpacked {
    inner: Box<dyn Read + Send>,
    compression: Compression,
    packed: PackedStream,
    out_n: u64,
    /// Where damage is noted, if it is to end the stream like a proper end.
    damage: Option<Damage>,
    is_ended: bool,
}

impl Unpacked {
    /// What became of the packed bytes.
    fn lost(&self) -> String {
        let (name, out_n) = (self.compression.as_str(), self.out_n);
        let taken_n = self.packed.taken_n.load(Ordering::Relaxed);
        let left_n = self.packed.read_n.load(Ordering::Relaxed).less(taken_n);
        let rest = match (self.packed.is_whole.load(Ordering::Relaxed), left_n) {
            (true, 0) => "and what should follow is not there".to_owned(),
            (true, _) => format!("and {left_n} packed bytes behind them are lost"),
            (false, _) => "and what follows is lost".to_owned(),
        };
        format!(
            "the {name} stream is cut off or damaged: {taken_n} packed bytes gave {out_n} bytes, which are read, {rest}"
        )
    }

    /// Ends the stream where its damage may be noted; else fails.
    fn damaged(&mut self, why: &io::Error) -> io::Result<usize> {
        let name = self.compression.as_str();
        match &self.damage {
            Some(damage) if !self.packed.has_failed.load(Ordering::Relaxed) => {
                self.packed.is_lost.store(true, Ordering::Relaxed);
                // The decoder goes, and counts what it leaves behind.
                self.inner = Box::new(io::empty());
                let reported = format!("{} ({why})", self.lost());
                *damage.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(reported);
                self.is_ended = true;
                Ok(0)
            }
            _ => Err(io::Error::new(
                why.kind(),
                format!("the {name} stream is cut off or damaged, or could not be read: {why}"),
            )),
        }
    }
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_ended {
            return Ok(0);
        }
        let n = match self.inner.read(buffer) {
            Err(why) if why.kind() != io::ErrorKind::Interrupted => return self.damaged(&why),
            read => read?,
        };
        self.out_n = self.out_n.further(count_u64(n));
        let packed_n = self.packed.read_n.load(Ordering::Relaxed);
        if self.out_n > BOMB_FLOOR && self.out_n / BOMB_RATIO > packed_n {
            let name = self.compression.as_str();
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("the {name} stream unpacks to more than {BOMB_RATIO} times its size: a bomb is not read on"),
            ));
        }
        Ok(n)
    }
}
