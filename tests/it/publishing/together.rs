//! Several writers of one lake at once: each ends as if it were alone, or reports that another one holds the lock.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::{Site, count, dump, files, reported, sending};

const BUSY: Option<i32> = Some(75);

/// Starts all of them at once; how many were let in. The others end with 75.
fn at_once(site: &Site, commands: &[Vec<&str>]) -> usize {
    let children: Vec<_> = commands
        .iter()
        .map(|words| site.command(words).spawn().unwrap())
        .collect();
    let mut done = 0;
    for (child, words) in children.into_iter().zip(commands) {
        let output = child.wait_with_output().unwrap();
        match output.status.code() {
            Some(0) => done += 1,
            code => {
                assert_eq!(code, BUSY, "{words:?}: {}", reported(&output));
                assert!(
                    reported(&output).contains("another run or publication holds the output"),
                    "{}",
                    reported(&output)
                );
            }
        }
    }
    done
}

#[test]
fn three_publishers_at_once_leave_the_messages_of_one() {
    let site = Site::new();
    site.done(&sending("alone", "alone"));
    let expected: Vec<String> = site.spooled("alone").into_iter().map(|(text, _)| text).collect();
    for turn in 0..count("GRIDTALLY_TOGETHER", 4) {
        let (receiver, spool) = (format!("r{turn}"), format!("spool-{turn}"));
        let mut words = sending(&receiver, &spool);
        // Each is let in, one after the other, or one of them.
        let waits = turn % 2 == 0;
        if waits {
            words.extend(["--wait", "60"]);
        }
        let done = at_once(&site, &[words.clone(), words.clone(), words.clone()]);
        assert!(done == 3 || (!waits && done > 0), "{done}");
        let sent: Vec<String> = site.spooled(&spool).into_iter().map(|(text, _)| text).collect();
        assert!(
            sent == expected,
            "{} messages in place of {}",
            sent.len(),
            expected.len()
        );
        let book = site.booked();
        assert_eq!(book[&receiver].len(), book["alone"].len());
    }
    site.settled();
}

/// What writes: into the lake, or into a folder of what it read there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writer {
    /// A run that finds nothing new.
    Run,
    /// A run by which all of usage changes.
    Regroup,
    /// A report to a receiver.
    Publish,
    /// A lock of a month.
    Lock,
    /// An unlock of it.
    Unlock,
    /// Refused rows written out.
    Replay,
    /// A run that reads mended rows.
    Repair,
}

impl Writer {
    const ALL: [Self; 7] = [
        Self::Run,
        Self::Regroup,
        Self::Publish,
        Self::Lock,
        Self::Unlock,
        Self::Replay,
        Self::Repair,
    ];

    /// Its command; `name` is that of a receiver, its spool, or a folder of refused rows.
    fn words(self, name: &str) -> Vec<&str> {
        let lock = |action| {
            let month = ["publication", action, "lake", "--month", "2025-01"];
            [&month[..], &["--reason", "r", "--author", "a"]].concat()
        };
        match self {
            Self::Run | Self::Repair => vec!["run", "p.toml"],
            Self::Regroup => vec!["run", "q.toml"],
            Self::Publish => sending(name, name),
            Self::Lock => lock("lock"),
            Self::Unlock => lock("unlock"),
            Self::Replay => vec!["replay", "lake", "--export", name],
        }
    }
}

/// A dump of one job whose end is not a time, and its repaired row.
const UNREADABLE: [&str; 2] = ["yesterday", "2026-03-01T01:00:00"];

/// Puts the refused row of a job among the inputs, mended.
fn mend(site: &Site, nth: u32) {
    let id = 27 * (100 + nth);
    let [bad, good] = UNREADABLE;
    site.write(&format!("dumps/bad-{nth}.txt"), &dump(3, id..id + 1).replace(good, bad));
    site.done(&["run", "p.toml"]);
    let folder = format!("mended-{nth}");
    site.done(&["replay", "lake", "--export", &folder]);
    for path in files(&site.path(&folder)) {
        let text = fs::read_to_string(path).unwrap();
        site.write(&format!("dumps/mended-{nth}.repair"), &text.replace(bad, good));
    }
}

/// Job numbers of the messages of a spool, each as often as it was sent.
fn sent(site: &Site, spool: &str) -> Vec<String> {
    let mut jobs = Vec::new();
    for (text, _) in site.spooled(spool) {
        let ids = text.lines().filter_map(|line| line.strip_prefix("LocalJobId: "));
        jobs.extend(ids.map(str::to_owned));
    }
    jobs
}

/// Three at once, of every pair: what they leave is what one after the other leaves.
#[test]
fn three_writers_of_every_pair_at_once() {
    let site = Site::new();
    for pipeline in ["p.toml", "q.toml"] {
        let text = fs::read_to_string(site.path(pipeline)).unwrap();
        site.write(pipeline, &text.replace("[[source]]", "max_rejected = 1.0\n[[source]]"));
    }
    let pairs: Vec<(Writer, Writer)> = (Writer::ALL.iter().enumerate())
        .flat_map(|(nth, a)| Writer::ALL.iter().skip(nth).map(|b| (*a, *b)))
        .collect();
    let (mut mended_n, mut nth) = (0, 0);
    for _ in 0..count("GRIDTALLY_TOGETHER", 1) {
        for (a, b) in &pairs {
            let is_of = |writer| [*a, *b].contains(&writer);
            let name = format!("r{nth}");
            // Either of both comes first and last.
            let (one, two) = if nth % 2 == 0 { (a, b) } else { (b, a) };
            nth += 1;
            if is_of(Writer::Repair) {
                mend(&site, mended_n);
                mended_n += 1;
            }
            let words = [one, two, one].map(|writer| writer.words(&name));
            assert!(at_once(&site, &words) > 0, "{a:?} with {b:?}");
            // Whoever was turned away comes again; whoever was let in left nothing to do.
            site.done(&Writer::Run.words(&name));
            if is_of(Writer::Publish) {
                site.done(&Writer::Publish.words(&name));
                let sent = sent(&site, &name);
                let all = 3 * 40 + mended_n;
                // A month whose jobs are others is sent again whole: once for each row of the book.
                let (booked_n, held_n) = booked_jobs(&site, &name);
                assert_eq!(u32::try_from(sent.len()).unwrap(), booked_n, "{a:?} with {b:?}");
                assert!(booked_n == all || is_of(Writer::Repair), "{a:?} with {b:?}: {sent:?}");
                assert_eq!(held_n, all, "{a:?} with {b:?}");
                let jobs: BTreeSet<String> = sent.into_iter().collect();
                assert_eq!(u32::try_from(jobs.len()).unwrap(), all, "{a:?} with {b:?}");
            }
            if nth % 4 == 0 {
                site.settled();
            }
        }
    }
    site.settled();
    let refused = site.done(&["rejects", "lake", "--format", "csv"]);
    let are_mended = refused.lines().skip(1).all(|line| line.ends_with(",0,0,1,,"));
    assert!(are_mended, "every mended row is read: {refused}");
}

/// Jobs that a receiver was sent, and those it has by its last publications, by the book.
fn booked_jobs(site: &Site, receiver: &str) -> (u32, u32) {
    let (mut sent_n, mut held) = (0, BTreeMap::new());
    for row in &site.booked()[receiver] {
        let cells: Vec<&str> = row.split(',').collect();
        if let ["job-v0.4", _, month, sent, _, job_n, ..] = cells[..] {
            sent_n += sent.parse::<u32>().unwrap();
            held.insert(month.to_owned(), job_n.parse::<u32>().unwrap());
        }
    }
    (sent_n, held.into_values().sum())
}
