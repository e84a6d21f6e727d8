//! Compressed input, recognised by its content: names lie, magic bytes do not.

use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

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

/// Bytes needed to tell: the longest magic is that of bzip2 with the head of its first block.
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
/// A packed file that is cut off or damaged fails while it is read, with a message that says so.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the first bytes cannot be read.
pub fn decompress(raw: Box<dyn Read + Send>) -> Result<Box<dyn Read + Send>> {
    let (head, raw) = peek(raw, MAGIC_BYTES)?;
    let compression = Compression::of(&head);
    let packed_n = Arc::new(AtomicU64::new(0));
    let raw: Box<dyn Read + Send> = match compression {
        Compression::None => raw,
        _ => Box::new(Counted {
            inner: raw,
            packed_n: Arc::clone(&packed_n),
        }),
    };
    let inner: Box<dyn Read + Send> = match compression {
        Compression::None => return Ok(raw),
        Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(raw)),
        Compression::Zstd => Box::new(
            zstd::stream::read::Decoder::new(raw)
                .map_err(|why| Error::io("the zstd decoder cannot be made").because(why))?,
        ),
        Compression::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(raw)),
        Compression::Xz => Box::new(liblzma::read::XzDecoder::new_multi_decoder(raw)),
    };
    Ok(Box::new(Unpacked {
        inner,
        compression,
        packed_n,
        out_n: 0,
    }))
}

/// Below this many unpacked bytes nothing is a bomb.
const BOMB_FLOOR: u64 = 128 << 20;
/// Accounting records pack to a fifteenth, repeated ones to a hundredth. Nothing but a bomb packs to less than this
/// fraction.
const BOMB_RATIO: u64 = 800;

/// Counts packed bytes.
struct Counted {
    inner: Box<dyn Read + Send>,
    packed_n: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.packed_n
            .fetch_add(u64::try_from(n).unwrap_or(u64::MAX), Ordering::Relaxed);
        Ok(n)
    }
}

/// The first `n` bytes of a stream (fewer when it is shorter), and the whole stream again.
pub(crate) fn peek(mut raw: Box<dyn Read + Send>, n: usize) -> Result<(Vec<u8>, Box<dyn Read + Send>)> {
    let mut head = Vec::new();
    let wanted = u64::try_from(n).unwrap_or(u64::MAX);
    raw.by_ref().take(wanted).read_to_end(&mut head)?;
    let whole = Cursor::new(head.clone()).chain(raw);
    Ok((head, Box::new(whole)))
}

/// A decoder whose errors say what they mean for the file.
struct Unpacked {
    inner: Box<dyn Read + Send>,
    compression: Compression,
    packed_n: Arc<AtomicU64>,
    out_n: u64,
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer).map_err(|why| {
            if why.kind() == io::ErrorKind::Interrupted {
                return why;
            }
            let name = self.compression.as_str();
            io::Error::new(
                why.kind(),
                format!("the {name} stream is cut off or damaged, or could not be read: {why}"),
            )
        })?;
        self.out_n = self.out_n.saturating_add(u64::try_from(n).unwrap_or(u64::MAX));
        let packed_n = self.packed_n.load(Ordering::Relaxed);
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
