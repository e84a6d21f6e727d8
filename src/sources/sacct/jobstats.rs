//! `AdminComment` as Jobstats of Princeton University fills it at the end of a job.
//!
//! The text is `JS1:` and one of three: `Short` for a job of less than two samples, `None` for one of which no data was found, or
//! the base64 of a gzip member with a JSON object. That has `total_time` (seconds the job ran), `gpus`, and `nodes`: by name
//! of each node an object of `cpus`, `total_time` (CPU seconds), `total_memory` and `used_memory` (bytes) and, where there
//! are GPUs, `gpu_total_memory`, `gpu_used_memory` (bytes) and `gpu_utilization` (mean, per cent), each an object by the
//! number of the GPU. Any of these may be missing: what was not sampled is not written, and slices of a GPU (MIG) have no
//! utilisation. Other keys are stepped over.
//!
//! Any other text is somebody else's and is left alone. Text that begins with `JS1:` and cannot be read is damaged: a
//! named outcome and an anomaly of the record, never a reason to refuse the job. What is unpacked is bounded.

use std::collections::BTreeMap;
use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::bufread::GzDecoder;

use super::column::Role;
use super::row::SacctRow;
use crate::record::Anomaly;
use crate::record::jobstats::{Jobstats, JobstatsOutcome};
use crate::schema::batch::addend;
use crate::sources::decimal;
use crate::sources::json::{Malformed, Scalar, Scanner};

/// What the text of Jobstats begins with.
const MARK: &[u8] = b"JS1:";
/// Longest text that is decoded, bytes: those of 10 000 nodes with eight GPUs each stay below it.
const TEXT_LIMIT: usize = 1 << 20;
/// Most bytes a summary may unpack to: the same nodes come to half of it.
const JSON_LIMIT: u64 = 8 << 20;
/// No job has more memory, or more memory for longer (bytes, MiB seconds): beyond it a number is a mistake. The largest machines
/// have 10 PiB, and come to this in 12 days.
const MEMORY_LIMIT_BYTE: i64 = 1 << 60;
const MEMORY_LIMIT_MIB_S: i128 = 10_000_000_000_000_000;
/// No job holds GPUs longer in all, milliseconds: as `records` limits them.
const GPU_LIMIT_MS: i128 = 1_000_000_000_000_000;
/// Places of per cent that are read of a utilisation.
const PLACES: u32 = 4;
/// All of a GPU, in units of these places.
const FULL: i64 = 1_000_000;

/// What Jobstats left in the comment of a job that held what it was given for so long.
#[inline]
pub(super) fn of_row(row: &mut SacctRow<'_, '_>, held_ms: Option<i64>) -> Option<Jobstats> {
    row.projected.column(Role::AdminComment)?;
    let comment = row.text(Role::AdminComment);
    // In a row of surplus fields, text of the next column may follow.
    let end = memchr::memmem::find(comment, &row.layout.delimiter).unwrap_or(comment.len());
    let found = read(comment.get(..end)?, held_ms)?;
    if found.outcome == JobstatsOutcome::Damaged {
        row.note(Anomaly::JobstatsDamaged);
    }
    Some(found)
}

/// What a comment holds of Jobstats, of a job that held what it was given for so long; `None` where it is not of Jobstats.
pub(super) fn read(comment: &[u8], held_ms: Option<i64>) -> Option<Jobstats> {
    let payload = comment.trim_ascii().strip_prefix(MARK)?;
    Some(match payload {
        b"Short" => Jobstats::of(JobstatsOutcome::TooShort),
        b"None" => Jobstats::of(JobstatsOutcome::NoData),
        packed => summary(packed, held_ms).unwrap_or(Jobstats::of(JobstatsOutcome::Damaged)),
    })
}

/// How long a job held what it was given, milliseconds: its wall time and suspension.
pub(super) fn held_ms(wall_ms: Option<i64>, suspended_s: Option<i64>) -> Option<i64> {
    // Suspension that is not stated adds nothing, as everywhere in the sums of usage.
    let not_run_ms = addend(suspended_s).checked_mul(1000)?;
    wall_ms?.checked_add(not_run_ms).filter(|held_ms| *held_ms >= 0)
}

/// The summary; `None` when it is damaged.
fn summary(packed: &[u8], held_ms: Option<i64>) -> Option<Jobstats> {
    let found = Found::read(&unpacked(packed)?)?;
    if found.node_n == 0 {
        return Some(Jobstats::of(JobstatsOutcome::NoData));
    }
    found.jobstats(held_ms)
}

/// The JSON; `None` when there is none, or more than any job has.
fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
    if packed.len() > TEXT_LIMIT {
        return None;
    }
    // Fallback: a summary that is damaged is noted by the caller as such.
    let member = STANDARD.decode(packed).ok()?;
    let mut decoder = GzDecoder::new(member.as_slice());
    let mut json = Vec::new();
    // Fallback: damage of what is packed is noted as that of the summary.
    let read = decoder.by_ref().take(JSON_LIMIT + 1).read_to_end(&mut json).ok()?;
    let is_whole = u64::try_from(read).is_ok_and(|read| read <= JSON_LIMIT) && decoder.into_inner().is_empty();
    is_whole.then_some(json)
}

/// Two amounts that belong together, added up; unknown where one is stated without the other.
#[derive(Clone, Copy, Debug, Default)]
struct UsedOfTotal {
    used: i64,
    total: i64,
    part_n: usize,
    is_incomplete: bool,
}

impl UsedOfTotal {
    /// Adds a part; `None` beyond every limit.
    fn add(&mut self, used: Option<i64>, total: Option<i64>) -> Option<()> {
        if let (Some(used), Some(total)) = (used, total) {
            self.used = self.used.checked_add(used)?;
            self.total = self.total.checked_add(total)?;
            self.part_n += 1;
        } else {
            self.is_incomplete = true;
        }
        Some(())
    }

    /// Used and total; both unknown where a part is, or where there is nothing to use.
    fn known(self) -> [Option<i64>; 2] {
        let is_known = !self.is_incomplete && self.part_n > 0 && self.total > 0;
        [self.used, self.total].map(|byte| is_known.then_some(byte))
    }

    fn is_beyond(self) -> bool {
        self.used > MEMORY_LIMIT_BYTE || self.total > MEMORY_LIMIT_BYTE
    }
}

/// A value by the number of a GPU.
type ByGpu = BTreeMap<String, i64>;

/// What a summary states, added up.
#[derive(Debug, Default)]
struct Found {
    span_s: Option<i64>,
    has_nodes: bool,
    node_n: usize,
    memory: UsedOfTotal,
    gpu_memory: UsedOfTotal,
    /// GPUs whose utilisation is stated, and the sum of it in units of [`PLACES`].
    gpu_n: i64,
    utilisation: i64,
}

/// What a node states.
#[derive(Debug, Default)]
struct FoundNode {
    used_byte: Option<i64>,
    total_byte: Option<i64>,
    gpu_used: ByGpu,
    gpu_total: ByGpu,
    utilisation: ByGpu,
}

/// The value of a key that is not what it must be: the text of the error is not shown.
const UNLIKELY: Malformed = Malformed {
    at: 0,
    what: "not a value of Jobstats",
};

impl Found {
    fn read(json: &[u8]) -> Option<Self> {
        let mut found = Self::default();
        let mut scanner = Scanner::new(json);
        scanner
            .object(|scanner, key| match key.plain() {
                Some(b"total_time") => {
                    found.span_s = amount(scanner, 0)?;
                    Ok(())
                }
                Some(b"nodes") => {
                    found.has_nodes = true;
                    scanner.object(|scanner, _| found.add_node(&FoundNode::read(scanner)?).ok_or(UNLIKELY))
                }
                _ => scanner.scalar().map(|_| ()),
            })
            // Fallback: JSON of another form is damage of the summary, which the caller notes.
            .ok()?;
        // Fallback: text behind the JSON is damage of the summary as well.
        scanner.end().ok()?;
        found.has_nodes.then_some(found)
    }

    fn add_node(&mut self, node: &FoundNode) -> Option<()> {
        self.node_n += 1;
        self.memory.add(node.used_byte, node.total_byte)?;
        for (gpu, total) in &node.gpu_total {
            self.gpu_memory.add(node.gpu_used.get(gpu).copied(), Some(*total))?;
        }
        for (gpu, used) in &node.gpu_used {
            if !node.gpu_total.contains_key(gpu) {
                self.gpu_memory.add(Some(*used), None)?;
            }
        }
        for utilisation in node.utilisation.values() {
            if *utilisation > FULL {
                return None;
            }
            self.gpu_n += 1;
            self.utilisation = self.utilisation.checked_add(*utilisation)?;
        }
        Some(())
    }

    /// `None` when a number is beyond what any job has.
    fn jobstats(&self, held_ms: Option<i64>) -> Option<Jobstats> {
        let [memory_used_byte, memory_total_byte] = self.memory.known();
        let [gpu_memory_used_byte, gpu_memory_total_byte] = self.gpu_memory.known();
        if self.memory.is_beyond() || self.gpu_memory.is_beyond() {
            return None;
        }
        if let (Some(byte), Some(held_ms)) = (memory_used_byte.max(memory_total_byte), held_ms) {
            let held_mib_ms = (i128::from(byte) >> 20) * i128::from(held_ms);
            if held_mib_ms > 1000 * MEMORY_LIMIT_MIB_S {
                return None;
            }
        }
        let (mut gpu_stated_ms, mut gpu_busy_ms) = (None, None);
        if let Some(held_ms) = held_ms.filter(|_| self.gpu_n > 0) {
            let stated_ms = i128::from(held_ms) * i128::from(self.gpu_n);
            if stated_ms > GPU_LIMIT_MS {
                return None;
            }
            let full = i128::from(FULL);
            // Rounded once, half up.
            let busy_ms = (i128::from(self.utilisation) * i128::from(held_ms) + full / 2) / full;
            gpu_stated_ms = i64::try_from(stated_ms).ok();
            gpu_busy_ms = i64::try_from(busy_ms).ok();
        }
        Some(Jobstats {
            outcome: JobstatsOutcome::Summary,
            span_s: self.span_s,
            memory_used_byte,
            memory_total_byte,
            gpu_stated_ms,
            gpu_busy_ms,
            gpu_memory_used_byte,
            gpu_memory_total_byte,
        })
    }
}

impl FoundNode {
    fn read(scanner: &mut Scanner<'_>) -> Result<Self, Malformed> {
        let mut node = Self::default();
        scanner.object(|scanner, key| {
            match key.plain() {
                Some(b"used_memory") => node.used_byte = amount(scanner, 0)?,
                Some(b"total_memory") => node.total_byte = amount(scanner, 0)?,
                Some(b"gpu_used_memory") => node.gpu_used = by_gpu(scanner, 0)?,
                Some(b"gpu_total_memory") => node.gpu_total = by_gpu(scanner, 0)?,
                Some(b"gpu_utilization") => node.utilisation = by_gpu(scanner, PLACES)?,
                _ => {
                    scanner.scalar()?;
                }
            }
            Ok(())
        })?;
        Ok(node)
    }
}

/// The values by GPU; of a GPU that is named twice the last one counts, as in every reader of JSON. None for `null`.
fn by_gpu(scanner: &mut Scanner<'_>, places: u32) -> Result<ByGpu, Malformed> {
    let mut values = ByGpu::new();
    if scanner.peek() == Some(b'n') {
        return scanner.scalar().map(|_| values);
    }
    scanner.object(|scanner, key| {
        let gpu = key.decode().0.into_owned();
        match amount(scanner, places)? {
            Some(value) => values.insert(gpu, value),
            None => values.remove(&gpu),
        };
        Ok(())
    })?;
    Ok(values)
}

/// A number that is not negative, times ten to the power of `places`; `None` for `null`.
fn amount(scanner: &mut Scanner<'_>, places: u32) -> Result<Option<i64>, Malformed> {
    match scanner.scalar()? {
        Scalar::Null => Ok(None),
        Scalar::Number(digits) => match decimal::scaled_ascii(digits, places) {
            Some(scaled) if scaled.value >= 0 => Ok(Some(scaled.value)),
            _ => Err(UNLIKELY),
        },
        _ => Err(UNLIKELY),
    }
}
