//! TRES as lists: `[{"type": "gres", "name": "gpu:a100", "id": 1001, "count": 2}, ..]`.

use std::borrow::Cow;

use super::value::{self, Number};
use crate::absent;
use crate::numbers::Comparand;
use crate::record::EnergyReading;
use crate::schema::batch::addend;
use crate::sources::json::{Malformed, Scanner};
use crate::sources::sacct::energy;
use crate::sources::sacct::memory::MIB;
use crate::sources::sacct::tres::{AMOUNT_LIMIT, Alloc, Listed, gpu_n};

/// An allocation: what [`crate::sources::sacct::tres::alloc`] makes of the text of the same list.
#[derive(Debug, Default)]
pub(super) struct Allocated<'a> {
    /// `None` while the list is empty: nothing was allocated, or nothing is known.
    pub(super) alloc: Option<Alloc>,
    /// GPUs by model, sorted.
    pub(super) gpus: Vec<(Cow<'a, str>, i64)>,
    /// Burst buffer by name, bytes, sorted.
    pub(super) burst_buffers: Vec<(Cow<'a, str>, i64)>,
    /// Licences by name, sorted.
    pub(super) licenses: Vec<(Cow<'a, str>, i64)>,
    /// A count that is none: name and value.
    pub(super) bad: Option<(String, String)>,
}

impl Allocated<'_> {
    /// Nothing is listed.
    pub(super) fn is_nothing(&self) -> bool {
        self.alloc.is_none() && self.bad.is_none()
    }
}

/// One entry.
#[derive(Default)]
struct ListEntry<'a> {
    kind: Option<Cow<'a, str>>,
    name: Option<Cow<'a, str>>,
    count: Number<'a>,
}

/// Hands every entry of a list to `each`; anything else than a list has none.
fn entries<'a>(scanner: &mut Scanner<'a>, each: &mut dyn FnMut(ListEntry<'a>)) -> Result<(), Malformed> {
    if scanner.peek() != Some(b'[') {
        return scanner.scalar().map(|_| ());
    }
    scanner.items(|scanner| {
        if scanner.peek() != Some(b'{') {
            return scanner.scalar().map(|_| ());
        }
        let mut entry = ListEntry::default();
        let mut is_invalid = false;
        scanner.object(|scanner, key| {
            match key.plain() {
                Some(b"type") => entry.kind = value::decode(value::text(scanner)?, &mut is_invalid),
                Some(b"name") => entry.name = value::decode(value::text(scanner)?, &mut is_invalid),
                Some(b"count") => entry.count = Number::read(scanner)?,
                _ => {
                    scanner.scalar()?;
                }
            }
            Ok(())
        })?;
        each(entry);
        Ok(())
    })
}

/// Reads an allocation. Counts: memory in MiB, everything else in pieces.
pub(super) fn allocated<'a>(scanner: &mut Scanner<'a>) -> Result<Allocated<'a>, Malformed> {
    let mut found = Allocated::default();
    let mut untyped = Listed::Absent;
    let mut typed = 0_i64;
    entries(scanner, &mut |entry| {
        let alloc = found.alloc.get_or_insert_with(Alloc::default);
        let kind = absent::text(entry.kind.as_deref());
        let name = absent::text(entry.name.as_deref());
        let count = entry.count.known();
        let is_wanted = matches!(kind, "cpu" | "mem" | "node" | "billing") || kind == "gres" && name.starts_with("gpu");
        if let Number::Bad(value) = entry.count
            && is_wanted
        {
            found.bad = Some((format!("{kind} {name}").trim().to_owned(), value::shown(value)));
        }
        match (kind, name) {
            ("cpu", _) => alloc.cpu = count,
            ("node", _) => alloc.node = count,
            ("billing", _) => alloc.billing = Listed::of(count),
            ("energy", _) => alloc.energy = stated_energy(entry.count),
            ("mem", _) => alloc.memory_byte = count.and_then(|mib| mib.checked_mul(MIB)),
            ("gres", "gpu") => untyped = Listed::of(count),
            ("gres", _) => {
                if let Some(model) = name.strip_prefix("gpu:") {
                    let count = addend(count);
                    typed = typed.sum_to_compare(count);
                    found.gpus.push((Cow::Owned(model.to_owned()), count));
                }
            }
            ("bb", pool) => {
                let byte = count.and_then(|mib| mib.checked_mul(MIB));
                found.burst_buffers.extend(listed(pool, byte));
            }
            ("license", license) => found.licenses.extend(listed(license, count)),
            _ => {}
        }
    })?;
    if let Some(alloc) = &mut found.alloc {
        alloc.gpu = gpu_n(untyped, typed);
    }
    found.gpus.sort_unstable();
    found.burst_buffers.sort_unstable();
    found.licenses.sort_unstable();
    Ok(found)
}

/// A name with its amount, where that is known and possible.
fn listed<'a>(name: &str, amount: Option<i64>) -> Option<(Cow<'a, str>, i64)> {
    let amount = amount.filter(|amount| (0..=AMOUNT_LIMIT).contains(amount))?;
    Some((Cow::Owned(name.to_owned()), amount))
}

/// The energy a count states.
fn stated_energy(count: Number<'_>) -> energy::Stated {
    match count {
        Number::Absent | Number::Infinite => None,
        Number::StandIn => Some(Err(EnergyReading::NotSet)),
        Number::Is(joule) => Some(u64::try_from(joule).map_or(Err(EnergyReading::NotSet), energy::whole)),
        Number::Bad(_) => Some(Err(EnergyReading::Unreadable)),
    }
}

/// How much of a kind a list holds.
pub(super) struct KindCount<'k> {
    kind: &'k str,
    /// `None` where it is not in the list, or not known.
    pub(super) count: Option<i64>,
}

impl<'k> KindCount<'k> {
    /// Nothing is known yet.
    pub(super) fn of(kind: &'k str) -> Self {
        Self { kind, count: None }
    }
}

/// The count of one kind in a list (`mem`, `vmem`, `cpu`), in the unit the list has.
pub(super) fn count(scanner: &mut Scanner<'_>, kinds: &mut [KindCount<'_>]) -> Result<(), Malformed> {
    entries(scanner, &mut |entry| {
        let kind = absent::text(entry.kind.as_deref());
        if let Some(wanted) = kinds.iter_mut().find(|wanted| wanted.kind == kind) {
            wanted.count = entry.count.known();
        }
    })
}
