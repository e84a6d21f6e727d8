//! The comments a workload begins with.

use std::collections::BTreeMap;

use crate::byte_order_mark::without_mark;

/// Most queues that are given names.
const QUEUES_MOST: usize = 10_000;

/// The values of the header that affect records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwfHeader {
    /// `Version`.
    pub version: Option<String>,
    /// `UnixStartTime`: the Unix second that submit times count from.
    pub unix_start_s: Option<i64>,
    /// `TimeZoneString`: the zone of the machine. No time is printed in it.
    pub time_zone: Option<String>,
    /// `MaxProcs`: how many processors the machine has.
    pub max_procs: Option<i64>,
    /// `MaxNodes`: how many nodes it has.
    pub max_nodes: Option<i64>,
    /// `BurstBuffer`: a column of its own is appended to every job.
    pub has_burst_buffer: bool,
    /// `Queue: 3 normal`.
    queues: BTreeMap<i64, String>,
    is_known: bool,
}

impl SwfHeader {
    /// Reads the comments at the start of a file.
    #[must_use]
    pub fn of(head: &[u8]) -> Self {
        let mut header = Self::default();
        for line in without_mark(head).split(|&byte| byte == b'\n') {
            let line = line.trim_ascii();
            let Some(comment) = line.strip_prefix(b";") else {
                if line.is_empty() {
                    continue;
                }
                break;
            };
            header.comment(&String::from_utf8_lossy(comment));
        }
        header
    }

    fn comment(&mut self, comment: &str) {
        let Some((key, value)) = comment.trim_start_matches(';').split_once(':') else {
            return;
        };
        let (key, value) = (key.trim(), value.trim());
        let text = || Some(value.to_owned()).filter(|value| !value.is_empty());
        let number = || value.split_whitespace().next()?.parse().ok();
        match key {
            "Version" => self.version = text(),
            "UnixStartTime" => self.unix_start_s = value.parse().ok().filter(|second| *second >= 0),
            "TimeZoneString" => self.time_zone = text(),
            // Of a key that occurs several times the first counts; words may follow the number.
            "MaxProcs" => self.max_procs = self.max_procs.or_else(number),
            "MaxNodes" => self.max_nodes = self.max_nodes.or_else(number),
            "BurstBuffer" => self.has_burst_buffer = true,
            "Queue" if self.queues.len() < QUEUES_MOST => {
                let named = value.split_once(char::is_whitespace);
                if let Some((number, name)) = named.and_then(|(number, name)| Some((number.parse().ok()?, name))) {
                    self.queues.insert(number, name.trim().to_owned());
                }
            }
            "Computer" | "Installation" | "MaxJobs" | "MaxRecords" | "Preemption" => {}
            _ => return,
        }
        self.is_known = true;
    }

    /// Whether any key of the format is there.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// The name of the queue with this number; the number where it has none.
    #[must_use]
    pub fn named<'a>(&'a self, number: &'a str) -> &'a str {
        let name = number.parse().ok().and_then(|number: i64| self.queues.get(&number));
        name.map_or(number, String::as_str)
    }
}
