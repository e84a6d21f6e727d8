//! Decoders of packed streams that give out all they can unpack: the readers that come with the formats drop what one
//! call unpacked when there is damage further on in it.

use std::io::{self, BufRead, ErrorKind, Read};

use flate2::{Crc, Decompress, FlushDecompress, Status};
use liblzma::stream::{Action, CONCATENATED, Stream};
use zstd::stream::raw::{Decoder, InBuffer, Operation as _, OutBuffer};

use super::compression::Compression;
use crate::error::{Error, Result};
use crate::numbers::{Extent, Part, index_u64};

/// A decoder of `raw`, which is packed with `compression`.
pub(super) fn decoder(compression: Compression, raw: impl BufRead + Send + 'static) -> Result<Box<dyn Read + Send>> {
    Ok(match compression {
        Compression::None => Box::new(raw),
        Compression::Gzip => stepwise(raw, GzipSteps::new()),
        Compression::Zstd => stepwise(raw, ZstdSteps::new()?),
        Compression::Bzip2 => stepwise(raw, Bzip2Steps::new()),
        Compression::Xz => stepwise(raw, XzSteps::new()?),
    })
}

fn stepwise(raw: impl BufRead + Send + 'static, steps: impl DecoderSteps + Send + 'static) -> Box<dyn Read + Send> {
    Box::new(Stepwise {
        raw,
        steps,
        failed: None,
    })
}

/// What one step of a decoder did.
struct StepResult {
    /// Packed bytes it is done with.
    taken: usize,
    /// Bytes it unpacked, also when it failed after them.
    given: usize,
    /// Whether the file ends here, or what is wrong behind the bytes unpacked.
    is_end: io::Result<bool>,
}

impl StepResult {
    /// A step over the zeros that follow a packed stream: they fill a block, and are no damage. `None` where there are none.
    fn over_padding(input: &[u8]) -> Option<Self> {
        let taken = input.iter().take_while(|&&byte| byte == 0).count();
        (taken > 0).then_some(Self {
            taken,
            ..Self::idle(Ok(false))
        })
    }

    /// A step that took and gave nothing.
    fn idle(is_end: io::Result<bool>) -> Self {
        Self {
            taken: 0,
            given: 0,
            is_end,
        }
    }
}

/// A decoder that is given packed bytes as they come.
trait DecoderSteps {
    /// Unpacks some of `input` into `output`, which is not empty. An empty input is the end of the file.
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> StepResult;
}

/// Reads what a decoder unpacks.
struct Stepwise<R, S> {
    raw: R,
    steps: S,
    /// What is wrong behind the bytes given out last.
    failed: Option<io::Error>,
}

impl<R: BufRead, S: DecoderSteps> Read for Stepwise<R, S> {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        if output.is_empty() {
            return Ok(0);
        }
        if let Some(why) = self.failed.take() {
            return Err(why);
        }
        loop {
            let input = self.raw.fill_buf()?;
            let step = self.steps.step(input, output);
            self.raw.consume(step.taken);
            match step.is_end {
                Err(why) if step.given > 0 => {
                    self.failed = Some(why);
                    return Ok(step.given);
                }
                Err(why) => return Err(why),
                Ok(is_end) if is_end || step.given > 0 => return Ok(step.given),
                Ok(_) => {}
            }
        }
    }
}

fn cut_off(what: &str) -> io::Error {
    io::Error::new(ErrorKind::UnexpectedEof, what)
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

/// A total that only grows.
fn since(before: u64, now: u64) -> usize {
    index_u64(now.less(before))
}

/// What of a member of a gzip file comes next.
#[derive(Clone, Copy, Debug)]
enum GzipPart {
    /// Its first ten bytes, of which this many were seen.
    Head(usize),
    /// The length of what follows the head, of which this many bytes were seen.
    ExtraLength(usize),
    /// This many bytes that follow the head.
    Extra(usize),
    /// The rest of its name.
    Name,
    /// The rest of a remark.
    Remark,
    /// The check of the head, of which this many bytes were seen.
    HeadCheck(usize),
    /// What is packed.
    Body,
    /// Checksum and length, of which this many bytes were seen.
    Tail(usize),
}

/// gzip, one member after the other.
struct GzipSteps {
    part: GzipPart,
    is_first: bool,
    flags: u8,
    extra_n: usize,
    tail: u64,
    inflate: Decompress,
    crc: Crc,
}

impl GzipSteps {
    const MAGIC: [u8; 3] = [0x1f, 0x8b, 0x08];
    const HEAD_BYTES: usize = 10;
    const HEAD_CHECK: u8 = 2;
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const REMARK: u8 = 16;
    const RESERVED: u8 = 0xe0;

    fn new() -> Self {
        Self {
            part: GzipPart::Head(0),
            is_first: true,
            flags: 0,
            extra_n: 0,
            tail: 0,
            inflate: Decompress::new(false),
            crc: Crc::new(),
        }
    }

    /// The part that follows `part` in this member.
    fn after(&self, part: GzipPart) -> GzipPart {
        let parts = [
            (Self::EXTRA, GzipPart::ExtraLength(0)),
            (Self::NAME, GzipPart::Name),
            (Self::REMARK, GzipPart::Remark),
            (Self::HEAD_CHECK, GzipPart::HeadCheck(0)),
        ];
        let passed = match part {
            GzipPart::Head(_) => 0,
            GzipPart::ExtraLength(_) | GzipPart::Extra(_) => 1,
            GzipPart::Name => 2,
            GzipPart::Remark => 3,
            GzipPart::HeadCheck(_) | GzipPart::Body | GzipPart::Tail(_) => parts.len(),
        };
        let mut left = parts.into_iter().skip(passed);
        left.find(|(flag, _)| self.flags & flag != 0)
            .map_or(GzipPart::Body, |(_, part)| part)
    }

    /// One byte outside the packed data.
    fn byte(&mut self, byte: u8) -> io::Result<()> {
        self.part = match self.part {
            // Padding up to the end of the file, or of a block of a tape.
            GzipPart::Head(0) if byte == 0 && !self.is_first => self.part,
            GzipPart::Head(n) => {
                if Self::MAGIC.get(n).is_some_and(|magic| *magic != byte) {
                    return Err(damaged("invalid gzip header"));
                }
                if n == Self::MAGIC.len() {
                    self.flags = byte;
                    if byte & Self::RESERVED != 0 {
                        return Err(damaged("invalid gzip header"));
                    }
                }
                if n + 1 < Self::HEAD_BYTES {
                    GzipPart::Head(n + 1)
                } else {
                    self.after(self.part)
                }
            }
            GzipPart::ExtraLength(0) => {
                self.extra_n = usize::from(byte);
                GzipPart::ExtraLength(1)
            }
            GzipPart::ExtraLength(_) => {
                let length = self.extra_n + 256 * usize::from(byte);
                if length == 0 {
                    self.after(self.part)
                } else {
                    GzipPart::Extra(length)
                }
            }
            GzipPart::Extra(n) if n > 1 => GzipPart::Extra(n - 1),
            GzipPart::Name | GzipPart::Remark if byte != 0 => self.part,
            GzipPart::HeadCheck(0) => GzipPart::HeadCheck(1),
            GzipPart::Extra(_) | GzipPart::Name | GzipPart::Remark | GzipPart::HeadCheck(_) | GzipPart::Body => {
                self.after(self.part)
            }
            GzipPart::Tail(n) => {
                self.tail |= u64::from(byte) << (8 * n);
                if n < 7 {
                    GzipPart::Tail(n + 1)
                } else {
                    self.member_ends()?
                }
            }
        };
        Ok(())
    }

    /// Compares the size and checksum a member declares with its data.
    fn member_ends(&mut self) -> io::Result<GzipPart> {
        if self.tail != u64::from(self.crc.sum()) | u64::from(self.crc.amount()) << 32 {
            return Err(damaged("corrupt gzip stream does not have a matching checksum"));
        }
        *self = Self {
            is_first: false,
            ..Self::new()
        };
        Ok(self.part)
    }

    fn inflate(&mut self, input: &[u8], output: &mut [u8]) -> StepResult {
        let before = (self.inflate.total_in(), self.inflate.total_out());
        let inflated = self.inflate.decompress(input, output, FlushDecompress::None);
        let taken = since(before.0, self.inflate.total_in());
        let given = since(before.1, self.inflate.total_out());
        self.crc.update(output.part(..given));
        let is_end = match inflated {
            Ok(Status::StreamEnd) => {
                (self.part, self.tail) = (GzipPart::Tail(0), 0);
                Ok(false)
            }
            Ok(_) if input.is_empty() && given == 0 => Err(cut_off("unexpected end of file")),
            Ok(_) => Ok(false),
            Err(why) => Err(why.into()),
        };
        StepResult { taken, given, is_end }
    }
}

impl DecoderSteps for GzipSteps {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> StepResult {
        if matches!(self.part, GzipPart::Body) {
            return self.inflate(input, output);
        }
        if input.is_empty() {
            let is_between = matches!(self.part, GzipPart::Head(0)) && !self.is_first;
            let ended = if is_between {
                Ok(true)
            } else {
                Err(cut_off("unexpected end of file"))
            };
            return StepResult::idle(ended);
        }
        let mut taken = 0;
        for byte in input {
            if matches!(self.part, GzipPart::Body) {
                break;
            }
            let was_between = matches!(self.part, GzipPart::Head(0)) && !self.is_first;
            if let Err(why) = self.byte(*byte) {
                // What follows the last member is left where it is.
                let taken = if was_between { taken } else { taken + 1 };
                let is_end = Err(why);
                return StepResult {
                    taken,
                    given: 0,
                    is_end,
                };
            }
            taken += 1;
        }
        StepResult {
            taken,
            given: 0,
            is_end: Ok(false),
        }
    }
}

/// Zstandard, one frame after the other, and of each one block in a step: of a step that fails nothing is given out.
struct ZstdSteps {
    decoder: Decoder<'static>,
    /// The input the decoder needs: the current block, and the head of the next one.
    wants: usize,
    /// Whether the decoder may hold back bytes for which there was no room.
    is_full: bool,
    is_between: bool,
}

impl ZstdSteps {
    const BLOCK_HEAD_BYTES: usize = 3;

    fn new() -> Result<Self> {
        let decoder = Decoder::new().map_err(|why| Error::io("the zstd decoder cannot be made").because(why))?;
        Ok(Self {
            decoder,
            wants: 0,
            is_full: false,
            is_between: false,
        })
    }

    fn after(&mut self, hint: usize) -> io::Result<bool> {
        self.wants = hint;
        if hint == 0 {
            self.decoder.reinit()?;
            self.is_between = true;
        }
        Ok(false)
    }
}

impl DecoderSteps for ZstdSteps {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> StepResult {
        if input.is_empty() && !self.is_full {
            let ended = if self.is_between {
                Ok(true)
            } else {
                Err(cut_off("incomplete frame"))
            };
            return StepResult::idle(ended);
        }
        if self.is_between
            && !self.is_full
            && let Some(padding) = StepResult::over_padding(input)
        {
            return padding;
        }
        let most = match self.wants.checked_sub(Self::BLOCK_HEAD_BYTES) {
            None | Some(0) => self.wants.max(1),
            Some(block) => block,
        };
        let most = if self.is_full { 0 } else { most.min(input.len()) };
        let room = output.len();
        let mut from = InBuffer::around(input.part(..most));
        let mut to = OutBuffer::around(output);
        let ran = self.decoder.run(&mut from, &mut to);
        let (taken, given) = (from.pos(), to.pos());
        self.is_full = given == room;
        self.is_between &= taken == 0;
        let is_end = ran.and_then(|hint| self.after(hint));
        StepResult { taken, given, is_end }
    }
}

/// bzip2, one stream after the other.
struct Bzip2Steps {
    decompress: bzip2::Decompress,
    is_between: bool,
}

impl Bzip2Steps {
    fn new() -> Self {
        Self {
            decompress: bzip2::Decompress::new(false),
            is_between: false,
        }
    }
}

impl DecoderSteps for Bzip2Steps {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> StepResult {
        if self.is_between && input.is_empty() {
            return StepResult::idle(Ok(true));
        }
        if self.is_between
            && let Some(padding) = StepResult::over_padding(input)
        {
            return padding;
        }
        self.is_between = false;
        let before = (self.decompress.total_in(), self.decompress.total_out());
        let ran = self.decompress.decompress(input, output);
        let taken = since(before.0, self.decompress.total_in());
        let given = since(before.1, self.decompress.total_out());
        let is_end = match ran {
            Ok(bzip2::Status::StreamEnd) => {
                *self = Self {
                    is_between: true,
                    ..Self::new()
                };
                Ok(false)
            }
            Ok(_) if input.is_empty() && given == 0 => Err(cut_off("decompression not finished but EOF reached")),
            Ok(_) => Ok(false),
            Err(why) => Err(why.into()),
        };
        StepResult { taken, given, is_end }
    }
}

/// xz, whose decoder goes from one stream to the next by itself.
struct XzSteps(Stream);

impl XzSteps {
    fn new() -> Result<Self> {
        let stream = Stream::new_auto_decoder(u64::MAX, CONCATENATED);
        let stream = stream.map_err(|why| Error::io("the xz decoder cannot be made").because(io::Error::from(why)))?;
        Ok(Self(stream))
    }
}

impl DecoderSteps for XzSteps {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> StepResult {
        let action = if input.is_empty() { Action::Finish } else { Action::Run };
        let before = (self.0.total_in(), self.0.total_out());
        let ran = self.0.process(input, output, action);
        let taken = since(before.0, self.0.total_in());
        let given = since(before.1, self.0.total_out());
        let is_end = match ran {
            Ok(liblzma::stream::Status::StreamEnd) => Ok(true),
            Ok(_) if input.is_empty() && given == 0 => Err(cut_off("premature eof")),
            Ok(_) => Ok(false),
            Err(why) => Err(why.into()),
        };
        StepResult { taken, given, is_end }
    }
}
