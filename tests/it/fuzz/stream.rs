//! Bytes on their way through a reader.

use std::io::{self, Cursor, Read, Write as _};
use std::sync::Arc;

use gridtally::dedupe::{Intake, IntakeBatch, IntakeRows, Window};
use gridtally::error::Kind;
use gridtally::sources::apel::acceptance::Acceptance;
use gridtally::sources::cross_check::CrossCheck;
use gridtally::sources::dialect::{Content, Dialect, ReadSizes};
use gridtally::sources::options::ReaderOptions;
use gridtally::sources::registry::HEAD_BYTES;
use gridtally::sources::sacct::{FixedOrder, SacctOptions};
use gridtally::sources::swf::SwfOptions;
use gridtally::sources::{Format, Pieces, compression, registry};
use gridtally::time::Zone;

use super::mutate::below;
use super::watch::{Watch, WatchReport};
use crate::generator::rng::Rng;
use crate::support::collect;

/// Bytes that arrive a few at a time, interrupted, and sometimes not to their end.
struct Arriving {
    bytes: Cursor<Vec<u8>>,
    rng: Rng,
    /// Most bytes at a time.
    most: usize,
    /// Where the disk fails.
    fails_at: Option<u64>,
}

impl Read for Arriving {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.fails_at.is_some_and(|at| self.bytes.position() >= at) {
            return Err(io::Error::other("the disk fails"));
        }
        if self.rng.one_in(64) {
            return Err(io::Error::from(io::ErrorKind::Interrupted));
        }
        let n = 1 + below(&mut self.rng, self.most);
        let n = n.min(buffer.len());
        self.bytes.read(&mut buffer[..n])
    }
}

fn arriving(rng: &mut Rng, bytes: Vec<u8>) -> Arriving {
    Arriving {
        most: rng.pick(&[1, 7, 500, 4096, 1 << 20]),
        fails_at: rng
            .one_in(50)
            .then(|| u64::try_from(below(rng, bytes.len() + 1)).unwrap()),
        rng: Rng::new(rng.bits()),
        bytes: Cursor::new(bytes),
    }
}

/// Packs, mostly not; then maybe damages what is packed.
fn packed(rng: &mut Rng, bytes: Vec<u8>) -> Vec<u8> {
    let mut packed = match rng.between(0, 40) {
        0 => crate::support::tar::gzip(&bytes),
        1 => zstd::encode_all(bytes.as_slice(), 1).unwrap(),
        2 => {
            let mut to = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            to.write_all(&bytes).unwrap();
            to.finish().unwrap()
        }
        3 => {
            let mut to = liblzma::write::XzEncoder::new(Vec::new(), 0);
            to.write_all(&bytes).unwrap();
            to.finish().unwrap()
        }
        4 => crate::support::tar::tar(&[
            ("697eb3a0/697eb3a000001a/body", &bytes),
            ("b.gz", &crate::support::tar::gzip(&bytes)),
        ]),
        _ => return bytes,
    };
    if rng.one_in(2) {
        let other = packed.clone();
        super::mutate::mutate(rng, &mut packed, &other);
    }
    packed
}

/// Settings of a source.
fn plan(rng: &mut Rng, format: Format, layout: Option<FixedOrder>) -> ReaderOptions {
    ReaderOptions {
        source: "fuzz".to_owned(),
        format,
        zone: (!rng.one_in(8))
            .then(|| Zone::named(rng.pick(&["UTC", "Europe/Zurich", "Australia/Lord_Howe"])).unwrap()),
        sacct: SacctOptions {
            delimiter: rng.one_in(10).then(|| rng.pick(&["|", ",", "\t", ";;"]).to_owned()),
            layout,
        },
        acceptance: if rng.one_in(2) {
            Acceptance::StrictApel
        } else {
            Acceptance::Salvage
        },
        swf: SwfOptions {
            is_start_submit: rng.one_in(2),
            unix_start_time: rng
                .one_in(2)
                .then(|| rng.pick(&[0, 1_700_000_000, -5, i64::MAX, i64::MIN])),
        },
        nodes_by_kind: [("fat", "n[1-2]"), ("thin", "a,b,c"), ("zewura", "z[01-20]")]
            .into_iter()
            .filter(|_| rng.one_in(2))
            .map(|(kind, nodes)| (kind.to_owned(), nodes.to_owned()))
            .collect(),
    }
}

/// Unpacks, recognises and reads `input` as a run would.
pub(super) fn read(rng: &mut Rng, input: Vec<u8>, format: Format, layout: Option<FixedOrder>) -> Result<(), String> {
    let plan = Arc::new(plan(rng, format, layout));
    if rng.one_in(3000) {
        return endless(rng, input, &plan);
    }
    if rng.one_in(3) {
        return cut(rng, &input, &plan);
    }
    let raw = packed(rng, input);
    let Ok(mut unpacked) = compression::decompress(Box::new(arriving(rng, raw))) else {
        return Ok(());
    };
    let mut head = Vec::new();
    let wanted = u64::try_from(HEAD_BYTES).unwrap();
    if unpacked.by_ref().take(wanted).read_to_end(&mut head).is_err() {
        return Ok(());
    }
    let _ = gridtally::sources::diagnosis::of(registry::recognise(&head), &head);
    let Some(dialect) = registry::choose(format, &head) else {
        return Ok(());
    };
    let whole = Box::new(Cursor::new(head).chain(unpacked));
    let Ok(pieces) = dialect.pieces(whole, Arc::clone(&plan)) else {
        return Ok(());
    };
    let mut watch = Watch::default();
    if rng.one_in(2) {
        let id = "0".into();
        let site = rng.one_in(2).then_some("S");
        let intake = Intake::new(
            collect::intake(site),
            dialect,
            id,
            Window::default(),
            IntakeRows::default(),
        );
        watch.intake = Some(intake);
    }
    watch.cross_check = rng.one_in(2).then(CrossCheck::default);
    // Workers take pieces in any order.
    let is_shuffled = rng.one_in(4);
    let mut works = Vec::new();
    for work in pieces {
        let Ok(work) = work else { break };
        if is_shuffled {
            works.push(work);
        } else {
            work(&mut watch);
        }
    }
    while !works.is_empty() {
        works.swap_remove(below(rng, works.len()))(&mut watch);
    }
    close(watch)
}

/// Every row has one outcome, here and in the records room.
fn close(watch: Watch) -> Result<(), String> {
    if watch.rows_read != watch.outcomes {
        return Err(format!("{} rows, {} outcomes", watch.rows_read, watch.outcomes));
    }
    let Some(intake) = watch.intake else { return Ok(()) };
    let (harvest, _) = intake.harvest().map_err(|why| format!("the harvest fails: {why}"))?;
    let IntakeBatch {
        summaries,
        inventory,
        tally,
        rows_read,
        rows_candidate,
        ..
    } = harvest;
    let placed: u64 = inventory.iter().map(|placed| placed.input_row_n).sum();
    let outcomes = rows_candidate + tally.row_n();
    let beside = placed + u64::try_from(summaries.len()).unwrap();
    if rows_read != outcomes && rows_read != outcomes + beside {
        return Err(format!(
            "the records room: {rows_read} rows, {outcomes} outcomes and {beside} in addition to them"
        ));
    }
    Ok(())
}

/// Reads the same bytes in large pieces and in small ones: the rows must not depend on it.
fn cut(rng: &mut Rng, input: &[u8], plan: &Arc<ReaderOptions>) -> Result<(), String> {
    let Some(dialect) = registry::choose(plan.format, input) else {
        return Ok(());
    };
    let block = 1 + below(rng, rng.clone().pick(&[16, 300, 5000]));
    let limit = rng.pick(&[64, 700, 1 << 20]);
    let small = sized(dialect, Box::new(arriving_whole(rng, input)), plan, (block, limit));
    let large = sized(dialect, Box::new(Cursor::new(input.to_vec())), plan, (1 << 20, limit));
    match (small, large) {
        (Some(small), Some(large)) => {
            let small = all(small)?;
            let large = all(large)?;
            // Any error but that of damaged data ends the run: rows sent before it are not used.
            let is_run_ended = |end: &Option<Kind>| end.is_some_and(|kind| kind != Kind::Data);
            if small == large || (small.1 == large.1 && is_run_ended(&small.1)) {
                Ok(())
            } else {
                Err(format!(
                    "in pieces of {block}: {small:?}, whole: {large:?} (limit {limit})"
                ))
            }
        }
        _ => Ok(()),
    }
}

/// Bytes after which an input that continues for ever ends all the same.
const ENDLESS: u64 = 24 << 20;
/// Memory reading it may take, kilobytes, when no record may be longer than a few of them.
const ENDLESS_KB: u64 = 12 << 10;

/// Begins like `input` and continues for ever: the memory kept must not depend on how long that is.
fn endless(rng: &mut Rng, mut input: Vec<u8>, plan: &Arc<ReaderOptions>) -> Result<(), String> {
    let Some(dialect) = registry::choose(plan.format, &input) else {
        return Ok(());
    };
    input.truncate(below(rng, input.len() + 1));
    let again = rng.pick::<&[u8]>(&[
        b"x", b"[", b"{", b"<a>", b"3", b"%", b" ", b"\n", b"\\", b"\"", b"|", b"x=1,", b"\n%%\n",
    ]);
    let again: Vec<u8> = again.repeat(4096);
    let mut grown = u64::MAX;
    // Once may be chance: the memory of what ran before.
    for _ in 0..3 {
        let rest = Repeat {
            text: again.clone(),
            at: 0,
        };
        let bytes = if super::is_alone() { ENDLESS } else { ENDLESS / 16 };
        let whole = Cursor::new(input.clone()).chain(rest.take(bytes));
        let Some(Ok(pieces)) = sized(dialect, Box::new(whole), plan, (4096, 16 << 10)) else {
            return Ok(());
        };
        super::memory::forget();
        let before = super::memory::peak_kb().unwrap_or(u64::MAX);
        let mut watch = Watch::default();
        for work in pieces.map_while(Result::ok) {
            work(&mut watch);
            if watch.rows_read > 100_000 {
                break;
            }
        }
        close(watch)?;
        grown = grown.min(super::memory::peak_kb().unwrap_or(0).saturating_sub(before));
        if grown <= ENDLESS_KB {
            return Ok(());
        }
    }
    Err(format!(
        "{grown} kB are kept of {dialect:?} that continues with {:?}",
        &again[..4]
    ))
}

/// One text, over and over.
struct Repeat {
    text: Vec<u8>,
    at: usize,
}

impl Read for Repeat {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = (&self.text[self.at..]).read(buffer)?;
        self.at = (self.at + n) % self.text.len();
        Ok(n)
    }
}

fn arriving_whole(rng: &mut Rng, bytes: &[u8]) -> Arriving {
    Arriving {
        fails_at: None,
        ..arriving(rng, bytes.to_vec())
    }
}

/// The rows of all pieces, and the last error, if any.
fn all(pieces: gridtally::error::Result<Pieces>) -> Result<(WatchReport, Option<Kind>), String> {
    let mut watch = Watch::default();
    let mut end = None;
    match pieces {
        Ok(pieces) => {
            for work in pieces {
                match work {
                    Ok(work) => work(&mut watch),
                    Err(why) => end = Some(why.kind()),
                }
            }
        }
        Err(why) => end = Some(why.kind()),
    }
    let reported = watch.reported();
    close(watch)?;
    Ok((reported, end))
}

/// The pieces of a dialect whose sizes can be chosen: `block` to read at a time, `limit` for one record.
fn sized(
    dialect: Dialect,
    input: Box<dyn Read + Send>,
    plan: &Arc<ReaderOptions>,
    (block, limit): (usize, usize),
) -> Option<gridtally::error::Result<Pieces>> {
    let sizes = ReadSizes {
        block_byte: Some(block),
        record_byte: Some(limit),
    };
    let is_sized = matches!(dialect.row().content, Content::Jobs | Content::GridIdentities);
    is_sized.then(|| dialect.pieces_sized(input, Arc::clone(plan), sizes))
}
