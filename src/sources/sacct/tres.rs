//! TRES strings: `billing=4,cpu=4,gres/gpu:a100=1,gres/gpu=1,mem=16G,node=1`.

use std::borrow::Cow;

use super::duration;
use super::energy;
use super::memory::{self, MIB};
use crate::numbers::Part;

/// How much a list of TRES holds of one. Slurm leaves out what is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Listed {
    /// It is not in the list.
    #[default]
    Absent,
    /// It is, with a stand-in for a number.
    Unset,
    /// So many.
    Is(i64),
}

impl Listed {
    /// Of one that is in the list.
    pub(super) fn of(count: Option<i64>) -> Self {
        count.map_or(Self::Unset, Self::Is)
    }

    /// The number; `None` where it is unknown.
    pub(super) fn known(self) -> Option<i64> {
        match self {
            Self::Absent => Some(0),
            Self::Unset => None,
            Self::Is(count) => Some(count),
        }
    }
}

/// The GPUs of a list with and without their models: the same devices, so that either count is that of all.
pub(super) fn gpu_n(untyped: Listed, typed: i64) -> Option<i64> {
    match untyped {
        Listed::Absent => Some(typed),
        Listed::Unset => (typed > 0).then_some(typed),
        Listed::Is(count) => Some(count),
    }
}

/// What a job was allocated. Names that are not in the string were not allocated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Alloc {
    /// CPUs.
    pub(super) cpu: Option<i64>,
    /// Nodes.
    pub(super) node: Option<i64>,
    /// Memory, bytes.
    pub(super) memory_byte: Option<i64>,
    /// Weighted sum Slurm recorded.
    pub(super) billing: Listed,
    /// Energy the job used, joules: Slurm keeps it among what was allocated.
    pub(super) energy: energy::Stated,
    /// GPUs: the untyped count if there is one, else the typed ones added up; `None` where it is not set.
    pub(super) gpu: Option<i64>,
}

impl Alloc {
    /// Whether the billing or the GPUs are listed with a stand-in for a number.
    pub(super) fn is_unset(self) -> bool {
        self.billing == Listed::Unset || self.gpu.is_none()
    }
}

/// Resources that have names, sorted by them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NamedTres<'a> {
    /// GPUs by model.
    pub(super) gpus: Vec<(&'a [u8], i64)>,
    /// Burst buffer, bytes.
    pub(super) burst_buffers: Vec<(&'a [u8], i64)>,
    /// Licences.
    pub(super) licenses: Vec<(&'a [u8], i64)>,
    /// An amount of burst buffer or licences cannot be read.
    pub(super) is_dropped: bool,
}

impl<'a> NamedTres<'a> {
    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.gpus.clear();
        self.burst_buffers.clear();
        self.licenses.clear();
        self.is_dropped = false;
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.gpus.len() | self.burst_buffers.len() | self.licenses.len() == 0
    }

    /// Adds what a request states of the cluster as a whole: burst buffer and licences.
    pub(super) fn add_requested(&mut self, text: &'a [u8]) {
        let entries = text.split(|&b| b == b',').filter(|entry| !entry.is_empty());
        for entry in entries {
            if let Some(equals) = memchr::memchr(b'=', entry) {
                self.add(entry.part(..equals), entry.part(equals + 1..));
            }
        }
        self.sort();
    }

    fn add(&mut self, name: &'a [u8], value: &'a [u8]) {
        let (list, name, base) = if let Some(pool) = name.strip_prefix(b"bb/") {
            (&mut self.burst_buffers, pool, MIB)
        } else if let Some(license) = name.strip_prefix(b"license/") {
            (&mut self.licenses, license, 1)
        } else {
            return;
        };
        // Fallback: no usage depends on what cannot be read, so the job notes it and is not refused.
        let amount = memory::parse(value, base).ok().flatten();
        match amount
            .map(|(amount, _)| amount)
            .filter(|amount| (0..=AMOUNT_LIMIT).contains(amount))
        {
            Some(amount) => list.push((name, amount)),
            None => self.is_dropped = true,
        }
    }

    fn sort(&mut self) {
        if self.is_empty() {
            return;
        }
        self.gpus.sort_unstable();
        self.burst_buffers.sort_unstable();
        self.licenses.sort_unstable();
    }
}

/// Names with amounts, borrowed.
pub(super) fn borrowed<'a>(named: &'a [(Cow<'_, str>, i64)]) -> Vec<(&'a str, i64)> {
    named.iter().map(|(name, n)| (name.as_ref(), *n)).collect()
}

/// No job has more burst buffer, bytes, or as many licences.
pub(super) const AMOUNT_LIMIT: i64 = 1 << 60;

/// Reads an allocation; what has names goes to `named`. The error is the invalid entry.
pub(super) fn alloc<'a>(text: &'a [u8], named: &mut NamedTres<'a>) -> Result<Alloc, &'a [u8]> {
    let mut found = Alloc::default();
    let mut untyped = Listed::Absent;
    let mut typed = 0_i64;
    for entry in text.split(|&b| b == b',') {
        let Some(equals) = memchr::memchr(b'=', entry) else {
            return Err(entry);
        };
        let (name, value) = (entry.part(..equals), entry.part(equals + 1..));
        let slot = match name {
            b"cpu" => &mut found.cpu,
            b"node" => &mut found.node,
            b"billing" => {
                found.billing = Listed::of(count(value).map_err(|()| entry)?);
                continue;
            }
            b"mem" => {
                found.memory_byte = memory::parse(value, MIB).map_err(|()| entry)?.map(|(byte, _)| byte);
                continue;
            }
            b"energy" => {
                found.energy = energy::joule(value);
                continue;
            }
            b"gres/gpu" => {
                untyped = Listed::of(count(value).map_err(|()| entry)?);
                continue;
            }
            _ => {
                if let Some(model) = name.strip_prefix(b"gres/gpu:") {
                    // Fallback: an unset count of a model is none of it, as Slurm reads it.
                    let count = count(value).map_err(|()| entry)?.unwrap_or(0);
                    typed = typed.checked_add(count).ok_or(entry)?;
                    named.gpus.push((model, count));
                } else {
                    named.add(name, value);
                }
                continue;
            }
        };
        *slot = count(value).map_err(|()| entry)?;
    }
    found.gpu = gpu_n(untyped, typed);
    named.sort();
    Ok(found)
}

/// The CPUs of an allocation alone. The error is the invalid entry.
pub(super) fn cpu_n(text: &[u8]) -> Result<Option<i64>, &[u8]> {
    let mut entries = text.split(|&b| b == b',');
    match entries.find(|entry| entry.starts_with(b"cpu=")) {
        None => Ok(None),
        Some(entry) => count(entry.part(b"cpu=".len()..)).map_err(|()| entry),
    }
}

/// CPU time of a usage string (`TRESUsageInTot`), milliseconds; whole seconds, as of the last poll.
pub(super) fn usage_cpu_ms(text: &[u8]) -> Option<i64> {
    text.split(|&b| b == b',')
        .find_map(|entry| entry.strip_prefix(b"cpu="))
        .and_then(duration::parse_ms)
}

/// Whether `text` has the form of a TRES string.
pub(super) fn looks_like(text: &[u8]) -> bool {
    text == b"NONE"
        || text.split(|&b| b == b',').all(|entry| {
            memchr::memchr(b'=', entry).is_some_and(|equals| {
                entry.get(..equals).is_some_and(|name| {
                    name.first().is_some_and(u8::is_ascii_alphabetic) && !name.iter().any(u8::is_ascii_whitespace)
                }) && !entry.contains(&b'\n')
            })
        })
}

/// A count, which Slurm may shorten with a unit letter.
fn count(value: &[u8]) -> Result<Option<i64>, ()> {
    Ok(memory::parse(value, 1)?.map(|(count, _)| count))
}
