//! Parsing and grouping alone: every row is framed and gets its outcome, and what jobs state is added up by month and a few
//! words, as `duckdb_job.py group` does it. Of Slurm text, either side looks into the columns alone that this takes.

use std::fs::File;
use std::hash::{BuildHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use gridtally::config::{Plan, SourcePlan};
use gridtally::ledger::Reason;
use gridtally::record::JobRow;
use gridtally::sources::projection::{ColumnPart, Interest};
use gridtally::sources::{Pieces, Position, Sink, Work};
use gridtally::time::Month;
use hashbrown::HashTable;

/// As many as the peer gets.
const THREADS: usize = 2;

const DAY_MS: i64 = 86_400_000;

/// Jobs, wall seconds, core seconds, CPU milliseconds.
type Sums = [i64; 4];

/// What is added up apart from the rest: month, and view, site, VO, cluster and account.
type Key<'a> = (Option<Month>, [Option<&'a str>; 5]);

struct Group {
    month: Option<Month>,
    words: [Option<Box<str>>; 5],
    sums: Sums,
}

impl Group {
    fn key(&self) -> Key<'_> {
        (self.month, self.words.each_ref().map(Option::as_deref))
    }
}

/// Of what differs from job to job; the comparison looks at the rest.
fn hash(seed: &ahash::RandomState, (month, words): &Key<'_>) -> u64 {
    let [.., vo, _, account] = words;
    let mut hasher = seed.build_hasher();
    month.hash(&mut hasher);
    [vo, account]
        .into_iter()
        .flatten()
        .for_each(|word| hasher.write(word.as_bytes()));
    hasher.finish()
}

/// Sums by key.
#[derive(Default)]
struct Groups {
    table: HashTable<Group>,
    seed: ahash::RandomState,
    /// The day looked at last, and its month: rows of one day come together.
    day: Option<i64>,
    month: Option<Month>,
}

impl Groups {
    fn add(&mut self, key: &Key<'_>, sums: &Sums) {
        let (seed, (month, words)) = (&self.seed, key);
        let group = self.table.entry(
            hash(seed, key),
            |group| group.key() == *key,
            |group| hash(seed, &group.key()),
        );
        let group = group.or_insert_with(|| Group {
            month: *month,
            words: words.map(|word| word.map(Box::from)),
            sums: Sums::default(),
        });
        let into = group.into_mut().sums.iter_mut();
        into.zip(sums).for_each(|(into, n)| *into += n);
    }
}

impl Sink for Groups {
    fn rows_read(&mut self, _: u64) {}

    /// As many columns as the query of the peer names.
    fn interest(&mut self) -> Interest {
        Interest::only(&[
            ColumnPart::Cluster,
            ColumnPart::Account,
            ColumnPart::Cores,
            ColumnPart::Cpu,
        ])
    }

    fn job(&mut self, row: &JobRow<'_>, _: Position, _: u32) {
        let day = row.end_ms.map(|ms| ms.div_euclid(DAY_MS));
        if day != self.day {
            self.day = day;
            self.month = day.and_then(|day| Month::of_ms(day * DAY_MS));
        }
        let key = (self.month, [Some(row.view), row.site, row.vo, row.cluster, row.account]);
        let wall_s = row.wall_ms.map_or(0, |ms| ms.div_euclid(1000));
        let core_s = wall_s * row.alloc_core_n.unwrap_or(0);
        self.add(&key, &[1, wall_s, core_s, row.cpu_ms.unwrap_or(0)]);
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
            let dialect = self.source.format().dialect().expect("the benchmark names its formats");
            let pieces = dialect.pieces(Box::new(file), Arc::clone(&self.source.reader));
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
            for group in thread.join().expect("a thread died").table {
                all.add(&group.key(), &group.sums);
            }
        }
    });
    let total = |at: usize| all.table.iter().map(|group| group.sums[at]).sum::<i64>();
    std::fs::write(totals, format!("{} {} {}", total(0), total(1), total(2))).unwrap();
}
