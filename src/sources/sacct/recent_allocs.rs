//! Allocations that were read lately: most jobs have that of an earlier one, letter by letter.

use super::tres::{Alloc, NamedTres, alloc};
use crate::numbers::scattered;
use crate::short_texts::is_same;

/// Texts that are known at the same time at most.
const SLOT_BITS: u32 = 6;

/// Allocations without names by their texts. Each text has one place, from which the next one that has the same place drives it out.
#[derive(Debug)]
pub(super) struct RecentAllocs<'a> {
    slots: [Option<RecentAlloc<'a>>; 1 << SLOT_BITS],
}

#[derive(Clone, Copy, Debug)]
struct RecentAlloc<'a> {
    text: &'a [u8],
    alloc: Alloc,
}

impl Default for RecentAllocs<'_> {
    fn default() -> Self {
        Self {
            slots: [None; 1 << SLOT_BITS],
        }
    }
}

impl<'a> RecentAllocs<'a> {
    /// Reads an allocation; what has names goes to `named`, which is empty. The error is the invalid entry.
    pub(super) fn read(&mut self, text: &'a [u8], named: &mut NamedTres<'a>) -> Result<Alloc, &'a [u8]> {
        let Some(slot) = place(text).and_then(|place| self.slots.get_mut(place)) else {
            return alloc(text, named);
        };
        if let Some(recent) = slot
            && is_same(recent.text, text)
        {
            return Ok(recent.alloc);
        }
        let alloc = alloc(text, named)?;
        // Energy is that of one job.
        if alloc.energy.is_none() && *named == NamedTres::default() {
            *slot = Some(RecentAlloc { text, alloc });
        }
        Ok(alloc)
    }
}

/// The place of a text; `None` for one that is read as fast as it is found.
fn place(text: &[u8]) -> Option<usize> {
    // Names come first and are mostly the same: amounts are in the middle, and at the end.
    let (middle, end) = (text.get(text.len() / 2..)?.first_chunk()?, text.last_chunk()?);
    let word = u64::from_le_bytes(*middle) ^ u64::from_le_bytes(*end).rotate_left(29);
    Some(scattered(word, SLOT_BITS))
}
