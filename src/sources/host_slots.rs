//! The hosts that a job was given, with its slots on each.

use std::collections::HashMap;

use crate::numbers::{common_divisor, count_i64};
use crate::record::row::NODE_LIST_BYTES;

/// A host with slots of a job.
#[derive(Clone, Copy, Debug)]
struct HostSlot<'a> {
    name: &'a str,
    slot_n: i64,
}

/// Hosts in the order they come, each once: on the first of them the script of the job runs.
#[derive(Debug, Default)]
pub(super) struct HostSlots<'a> {
    hosts: Vec<HostSlot<'a>>,
    places: HashMap<&'a str, usize>,
    slot_n: i64,
}

impl<'a> HostSlots<'a> {
    /// Adds slots of a host: none where their number is not stated. `None` where there are more than can be counted.
    pub(super) fn add(&mut self, name: &'a str, slot_n: i64) -> Option<()> {
        self.slot_n = self.slot_n.checked_add(slot_n)?;
        let place = *self.places.entry(name).or_insert(self.hosts.len());
        match self.hosts.get_mut(place) {
            // No more than the slots of all hosts.
            Some(host) => host.slot_n += slot_n,
            None => self.hosts.push(HostSlot { name, slot_n }),
        }
        Some(())
    }

    /// Slots of all hosts.
    pub(super) fn slot_n(&self) -> i64 {
        self.slot_n
    }

    /// Hosts, each once.
    pub(super) fn host_n(&self) -> i64 {
        count_i64(self.hosts.len())
    }

    /// The hosts as `node_list` of `records` has them: each once where all have as many slots; else each as often as it has slots,
    /// divided by what divides the slots of all. Where the slots of a host are not stated, or the list would be longer than that of any
    /// record, each once.
    pub(super) fn list(&self) -> String {
        let divisor = (self.hosts.iter()).fold(0, |divisor, host| common_divisor(host.slot_n, divisor));
        let mut names: Vec<&str> = Vec::new();
        let mut byte_n = 0_usize;
        for host in &self.hosts {
            let times = host.slot_n.checked_div(divisor);
            // Fallback: what no memory holds is longer than the list of any record.
            let times = times.and_then(|n| usize::try_from(n).ok());
            let Some(times) = times.filter(|n| (1..=NODE_LIST_BYTES).contains(n)) else {
                return self.each_once();
            };
            byte_n += (host.name.len() + 1) * times;
            if times > 1 && byte_n > NODE_LIST_BYTES {
                return self.each_once();
            }
            names.extend(std::iter::repeat_n(host.name, times));
        }
        names.join(",")
    }

    fn each_once(&self) -> String {
        let names: Vec<&str> = self.hosts.iter().map(|host| host.name).collect();
        names.join(",")
    }
}
