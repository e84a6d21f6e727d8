//! Parsing and grouping alone: every row is framed and gets its outcome, and what jobs say is added up by month and a few
//! words, as `duckdb_job.py group` does it. Of Slurm text, either side looks into the columns alone that this takes.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use gridtally::ledger::Reason;
use gridtally::pipeline::{Plan, SourcePlan};
use gridtally::records::JobRow;
use gridtally::sources::dialect::{self, Dialect};
use gridtally::sources::interest::{Interest, Part};
use gridtally::sources::{Pieces, Position, Sink, Work};
use gridtally::time::Month;

/// As many as the peer gets.
const THREADS: usize = 2;

const DAY_MS: i64 = 86_400_000;

/// Jobs, wall seconds, core seconds, CPU milliseconds.
type Sums = [i64; 4];

/// Sums by month, view, site, VO, cluster and account, as bytes between separators.
#[derive(Default)]
struct Groups {
    sums: HashMap<Vec<u8>, Sums, ahash::RandomState>,
    key: Vec<u8>,
    /// The day looked at last, and its month: rows of one day come together.
    day: Option<i64>,
    month: Option<Month>,
}

impl Groups {
    fn add(&mut self, sums: &Sums) {
        if let Some(into) = self.sums.get_mut(&self.key) {
            into.iter_mut().zip(sums).for_each(|(into, n)| *into += n);
        } else {
            self.sums.insert(self.key.clone(), *sums);
        }
    }
}

impl Sink for Groups {
    fn rows_read(&mut self, _: u64) {}

    /// As many columns as the query of the peer names.
    fn interest(&mut self) -> Interest {
        Interest::only(&[Part::Cluster, Part::Account, Part::Cores, Part::Cpu])
    }

    fn job(&mut self, row: &JobRow<'_>, _: Position, _: u32) {
        self.key.clear();
        if let Some(day) = row
            .end_ms
            .map(|ms| ms.div_euclid(DAY_MS))
            .filter(|day| Some(*day) != self.day)
        {
            self.day = Some(day);
            self.month = Month::of_ms(day * DAY_MS);
        }
        if let Some(month) = self.month.filter(|_| row.end_ms.is_some()) {
            self.key.extend_from_slice(&month.year().to_le_bytes());
            self.key.extend_from_slice(&month.number().to_le_bytes());
        }
        for word in [Some(row.view), row.site, row.vo, row.cluster, row.account] {
            self.key.push(b'|');
            self.key.extend_from_slice(word.unwrap_or_default().as_bytes());
        }
        let wall_s = row.wall_ms.map_or(0, |ms| ms.div_euclid(1000));
        let core_s = wall_s * row.alloc_core_n.unwrap_or(0);
        self.add(&[1, wall_s, core_s, row.cpu_ms.unwrap_or(0)]);
    }

    fn reject(&mut self, _: Reason, at: Position, _: u64, detail: &str, _: &[u8]) {
        panic!("line {}: {detail}", at.line);
    }

    fn out_of_scope(&mut self, _: Reason, _: u64) {}
}

/// The files of an input, one after the other, cut into pieces.
struct Queue {
    files: Vec<PathBuf>,
    pieces: Option<Pieces>,
    source: Arc<SourcePlan>,
}

impl Queue {
    fn next(&mut self) -> Option<Work> {
        loop {
            if let Some(work) = self.pieces.as_mut().and_then(Iterator::next) {
                return Some(work.unwrap());
            }
            let file = File::open(self.files.pop()?).unwrap();
            let dialect = Dialect::of(self.source.format).expect("the benchmark names its formats");
            let pieces = dialect::pieces(dialect, Box::new(file), Arc::clone(&self.source));
            self.pieces = Some(pieces.unwrap());
        }
    }
}

/// Reads the input of a pipeline; `totals` gets jobs, wall seconds and core seconds of all groups.
pub(crate) fn run(pipeline: &Path, totals: &Path) {
    let (plan, _) = Plan::load(pipeline).unwrap();
    let source = Arc::clone(&plan.sources[0]);
    let files = source
        .paths
        .iter()
        .flat_map(|path| super::input::files(Path::new(path)));
    let queue = Mutex::new(Queue {
        files: files.collect(),
        pieces: None,
        source: Arc::clone(&source),
    });
    let read = || {
        let mut groups = Groups::default();
        loop {
            let next = queue.lock().unwrap().next();
            match next {
                Some(work) => work(&mut groups),
                None => return groups,
            }
        }
    };
    let mut all = Groups::default();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(read)).collect();
        for thread in threads {
            for (key, sums) in thread.join().expect("a thread died").sums {
                all.key = key;
                all.add(&sums);
            }
        }
    });
    let total = |at: usize| all.sums.values().map(|sums| sums[at]).sum::<i64>();
    std::fs::write(totals, format!("{} {} {}", total(0), total(1), total(2))).unwrap();
}
