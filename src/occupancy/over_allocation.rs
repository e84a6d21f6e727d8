//! Jobs that hold more than there is.

use super::resource::LEDGER_N;

/// A time in which jobs held more of a resource than there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverAllocation {
    /// Place of the resource in the ledger.
    pub resource: usize,
    /// First second.
    pub from_s: i64,
    /// The second after the last.
    pub until_s: i64,
    /// The most that was held.
    pub used: i64,
    /// What there was then.
    pub capacity: i64,
    /// Resource-seconds beyond what there was.
    pub over: i128,
}

/// Over-allocations of a node.
#[derive(Debug, Default)]
pub(super) struct OverAllocations {
    /// The last of each resource: it may still grow.
    last: [Option<OverAllocation>; LEDGER_N],
    earlier: Vec<OverAllocation>,
}

impl OverAllocations {
    /// Extends an over-allocation that lasted until now, or begins one.
    #[cold]
    pub(super) fn add(&mut self, found: OverAllocation) {
        let Some(last) = self.last.get_mut(found.resource) else {
            return;
        };
        match last {
            Some(last) if last.until_s == found.from_s => {
                last.until_s = found.until_s;
                last.over += found.over;
                if found.used > last.used {
                    (last.used, last.capacity) = (found.used, found.capacity);
                }
            }
            _ => self.earlier.extend(last.replace(found)),
        }
    }

    /// All of them in the order of their beginnings.
    pub(super) fn findings(self) -> Vec<OverAllocation> {
        let mut findings = self.earlier;
        findings.extend(self.last.into_iter().flatten());
        findings.sort_by_key(|finding| (finding.from_s, finding.resource));
        findings
    }
}
