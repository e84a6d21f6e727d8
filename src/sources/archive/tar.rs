//! A tar read from front to back: ustar, GNU and pax, as far as plain files go. Archives one after the other in a file are read
//! as one, as `tar --ignore-zeros` does.

use crate::numbers::{Extent, Part, count_u64, index_u64};

use std::io::{self, Read};
use std::sync::{Arc, Mutex};

/// Size of a header and of the unit that data fills up to.
const BLOCK: usize = 512;
/// Longest name, and longest set of pax keys, that is read.
const NAME_LIMIT: u64 = 1 << 20;

/// Whether these bytes begin a tar: a header whose checksum is right. An archive without a member, which is of zeros alone, may
/// be before it.
#[must_use]
pub fn is_tar(head: &[u8]) -> bool {
    let first = head.chunks_exact(BLOCK).find(|block| !is_zeros(block));
    first.is_some_and(|header| header.first() != Some(&0) && has_checksum(header))
}

/// Whether a whole file is a tar without a member: the two blocks of zeros at its end, and nothing but such blocks.
pub(super) fn is_empty_tar(file: &[u8]) -> bool {
    file.len() >= 2 * BLOCK && file.len().is_multiple_of(BLOCK) && is_zeros(file)
}

fn is_zeros(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

fn has_checksum(header: &[u8]) -> bool {
    let stated = header.get(148..156).and_then(octal);
    let sum: u64 = header
        .iter()
        .enumerate()
        .map(|(at, &byte)| u64::from(if (148..156).contains(&at) { b' ' } else { byte }))
        .sum();
    stated == Some(sum)
}

/// A number as tar writes it: octal digits, or binary when the first bit is set.
fn octal(field: &[u8]) -> Option<u64> {
    if let Some((first, rest)) = field.split_first()
        && first & 0x80 != 0
    {
        return rest.iter().try_fold(u64::from(first & 0x7f), |value, &byte| {
            Some(value.checked_mul(256)? + u64::from(byte))
        });
    }
    let text = std::str::from_utf8(field).ok()?;
    let digits = text.trim_matches([' ', '\0']);
    u64::from_str_radix(if digits.is_empty() { "0" } else { digits }, 8).ok()
}

/// What a header announces.
pub(super) struct TarEntry {
    pub(super) name: String,
    /// A plain file; what else there is (folders, links, devices) holds no records.
    pub(super) is_file: bool,
    /// A file whose holes are left out.
    pub(super) is_sparse: bool,
}

/// What comes next in an archive.
pub(super) enum TarStep {
    /// A member.
    Member(TarEntry),
    /// The end, and nothing behind it.
    End,
    /// The input ends, and the archive does not.
    CutOff,
}

/// The stream, shared with the member that is being read.
struct Stream {
    input: Box<dyn Read + Send>,
    /// Bytes of the open member that are not read yet, and the padding behind them.
    left: u64,
    padding: u64,
    failure: Option<String>,
}

impl Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let want = index_u64(self.left).min(buffer.len());
        if want == 0 {
            return Ok(0);
        }
        let wanted = buffer
            .get_mut(..want)
            .ok_or_else(|| io::Error::other("a buffer is too short"))?;
        let read = self.input.read(wanted);
        match &read {
            // What is there of the member is read like one that ends here.
            Ok(0) => {
                self.failure = Some(format!(
                    "the archive ends inside a member, {} bytes before its end",
                    self.left
                ));
            }
            Ok(n) => self.left -= count_u64(*n),
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            Err(why) => self.failure = Some(why.to_string()),
        }
        read
    }
}

/// A tar, member after member.
pub(super) struct Tar {
    stream: Arc<Mutex<Stream>>,
    /// The last block was of zeros, which is the end of an archive.
    is_closed: bool,
}

/// The data of the open member.
pub(super) struct TarMember(Arc<Mutex<Stream>>);

impl Read for TarMember {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.lock().map_err(|_| dead())?.read(buffer)
    }
}

fn dead() -> io::Error {
    io::Error::other("a reading thread died")
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the archive is damaged: {what}"))
}

impl Tar {
    pub(super) fn new(input: Box<dyn Read + Send>) -> Self {
        let stream = Stream {
            input,
            left: 0,
            padding: 0,
            failure: None,
        };
        Self {
            stream: Arc::new(Mutex::new(stream)),
            is_closed: false,
        }
    }

    /// Why the archive itself cannot be read on, as opposed to what is in a member.
    pub(super) fn failure(&self) -> Option<String> {
        // Fallback: a lock is poisoned by a panic only, which ends the run.
        self.stream.lock().ok().and_then(|stream| stream.failure.clone())
    }

    /// The data of the member that [`Self::next`] opened.
    pub(super) fn member(&self) -> TarMember {
        TarMember(Arc::clone(&self.stream))
    }

    /// Opens the next member; what is left of the last one is passed over. Archives of a writer that was killed end without
    /// an end of their own.
    pub(super) fn next(&mut self) -> io::Result<TarStep> {
        self.skip()?;
        let (mut long_name, mut size_in_pax, mut is_sparse) = (None, None, false);
        loop {
            let Some(header) = self.header()? else {
                return Ok(if self.is_closed { TarStep::End } else { TarStep::CutOff });
            };
            if std::mem::take(&mut self.is_closed) {
                // What one archive has before its end is not about a member of the next.
                (long_name, size_in_pax, is_sparse) = (None, None, false);
            }
            let field = |range: std::ops::Range<usize>| header.part(range);
            let size = octal(field(124..136)).ok_or_else(|| damaged("a size is not a number"))?;
            // Fallback: never taken, a header has as many bytes.
            let kind = field(156..157).first().copied().unwrap_or_default();
            match kind {
                b'L' | b'K' | b'x' | b'g' => {
                    let data = self.small(size)?;
                    match kind {
                        b'L' => long_name = Some(text(&data)),
                        b'x' => {
                            let reported = pax(&data);
                            is_sparse |= reported.is_sparse;
                            long_name = reported.path.or(long_name);
                            size_in_pax = reported.size.or(size_in_pax);
                        }
                        _ => {}
                    }
                }
                _ => {
                    self.open(size_in_pax.unwrap_or(size))?;
                    return Ok(TarStep::Member(TarEntry {
                        name: long_name.unwrap_or_else(|| name(&header)),
                        is_file: matches!(kind, 0 | b'0' | b'7'),
                        is_sparse: is_sparse || kind == b'S',
                    }));
                }
            }
        }
    }

    /// The next header, also of an archive that follows the end of this one; `None` at the end of the input.
    fn header(&mut self) -> io::Result<Option<[u8; BLOCK]>> {
        loop {
            let mut block = [0_u8; BLOCK];
            let n = read_up_to(&mut *self.stream.lock().map_err(|_| dead())?.input, &mut block)?;
            if n == 0 {
                return Ok(None);
            }
            if is_zeros(&block) {
                self.is_closed = true;
                continue;
            }
            if n == BLOCK && has_checksum(&block) {
                return Ok(Some(block));
            }
            return Err(damaged(if self.is_closed {
                "what follows its end is not an archive"
            } else if n < BLOCK {
                "it ends inside a header"
            } else {
                "a header has a wrong checksum"
            }));
        }
    }

    fn open(&mut self, size: u64) -> io::Result<()> {
        let mut stream = self.stream.lock().map_err(|_| dead())?;
        stream.left = size;
        let unit = u64::try_from(BLOCK).unwrap_or(512);
        stream.padding = size.next_multiple_of(unit) - size;
        Ok(())
    }

    /// A small member that belongs to the next header.
    fn small(&mut self, size: u64) -> io::Result<Vec<u8>> {
        if size > NAME_LIMIT {
            return Err(damaged("a name is longer than a mebibyte"));
        }
        self.open(size)?;
        let mut data = Vec::new();
        self.member().read_to_end(&mut data)?;
        self.skip()?;
        Ok(data)
    }

    /// Passes over what is left of the open member.
    fn skip(&mut self) -> io::Result<()> {
        let mut stream = self.stream.lock().map_err(|_| dead())?;
        let wanted = stream.left.further(stream.padding);
        let is_in_data = stream.left > 0;
        (stream.left, stream.padding) = (0, 0);
        let skipped = io::copy(&mut stream.input.by_ref().take(wanted), &mut io::sink())?;
        if skipped < wanted && is_in_data {
            return Err(damaged("it ends inside a member"));
        }
        Ok(())
    }
}

fn read_up_to(input: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut n = 0;
    while let Some(rest) = buffer.get_mut(n..).filter(|rest| !rest.is_empty()) {
        match input.read(rest) {
            Ok(0) => break,
            Ok(read) => n += read,
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            Err(why) => return Err(why),
        }
    }
    Ok(n)
}

fn text(field: &[u8]) -> String {
    let end = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
    String::from_utf8_lossy(field.part(..end)).into_owned()
}

fn name(header: &[u8]) -> String {
    let field = |range: std::ops::Range<usize>| text(header.part(range));
    let name = field(0..100);
    let prefix = match header.get(257..263) {
        Some(b"ustar\0") => field(345..500),
        _ => String::new(),
    };
    if prefix.is_empty() {
        name
    } else {
        format!("{prefix}/{name}")
    }
}

/// The values of a pax header.
#[derive(Default)]
struct Pax {
    path: Option<String>,
    size: Option<u64>,
    is_sparse: bool,
}

/// Reads a pax header: lines of `<length> <key>=<value>`.
fn pax(data: &[u8]) -> Pax {
    let mut reported = Pax::default();
    let mut rest = data;
    while let Some(blank) = memchr::memchr(b' ', rest) {
        let length = std::str::from_utf8(rest.part(..blank)).ok();
        let Some(length) = length.and_then(|text| text.parse::<usize>().ok()) else {
            break;
        };
        let Some(line) = rest.get(blank + 1..length) else { break };
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if let Some(value) = line.strip_prefix(b"path=") {
            // A sparse member has its name in a key of its own, and a made-up one here.
            reported.path = reported
                .path
                .filter(|_| reported.is_sparse)
                .or_else(|| Some(text(value)));
        } else if let Some(value) = line.strip_prefix(b"GNU.sparse.name=") {
            (reported.path, reported.is_sparse) = (Some(text(value)), true);
        } else if line.starts_with(b"GNU.sparse.") {
            reported.is_sparse = true;
        } else if let Some(value) = line.strip_prefix(b"size=") {
            reported.size = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
        }
        rest = rest.part(length..);
    }
    reported
}
