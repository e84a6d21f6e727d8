//! Commands that are killed at any moment: the next one finishes or takes back what they were doing.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use super::{Dice, Site, count, files, sending};

/// Kills of each command; `GRIDTALLY_KILLS` raises it.
const KILLS: usize = 15;

/// How a command is ended.
#[derive(Clone, Copy)]
enum Ending {
    Kill,
    Terminate,
}

impl Ending {
    /// Ends a command; one that has ended already cannot be ended.
    fn end(self, child: &mut Child) {
        match self {
            Self::Kill => drop(child.kill()),
            Self::Terminate => {
                let pid = child.id().to_string();
                drop(Command::new("kill").args(["-TERM", &pid]).output());
            }
        }
    }
}

/// Starts a command again and again and ends it at a random moment, until it has been caught alive as often as asked;
/// `after` sees whether it ended by itself.
fn kill(
    site: &Site,
    (ending, kills): (Ending, usize),
    args: impl Fn(usize) -> Vec<String>,
    mut after: impl FnMut(usize, bool),
) {
    let mut dice = Dice(20_261_123);
    let begun = Instant::now();
    let whole = |since: Instant| since.elapsed().max(Duration::from_millis(5));
    let mut usual = None;
    let (mut killed, mut turn) = (0, 0);
    while killed < kills {
        assert!(
            begun.elapsed() < Duration::from_secs(60 + 2 * u64::try_from(kills).unwrap()),
            "{killed} kills only"
        );
        let words = args(turn);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let since = Instant::now();
        let mut child = site.command(&words).spawn().unwrap();
        // The first one shows how long it takes.
        if let Some(usual) = usual {
            let moment = usual * dice.permille() / 900;
            while since.elapsed() < moment && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_micros(200));
            }
            ending.end(&mut child);
        }
        let ended = child.wait_with_output().unwrap();
        if usual.is_none() {
            usual = Some(whole(since));
        }
        match ended.status.code() {
            Some(0) => after(turn, true),
            None | Some(143) => {
                killed += 1;
                after(turn, false);
            }
            code => panic!("{words:?} ends with {code:?}: {}", super::reported(&ended)),
        }
        turn += 1;
    }
}

#[test]
fn a_killed_publication_sends_nothing_twice() {
    sends_nothing_twice(Ending::Kill);
}

#[test]
fn a_publication_ended_by_a_signal_sends_nothing_twice() {
    sends_nothing_twice(Ending::Terminate);
}

fn sends_nothing_twice(ending: Ending) {
    let site = Site::new();
    site.done(&sending("alone", "alone"));
    let expected: Vec<String> = site.spooled("alone").into_iter().map(|(text, _)| text).collect();
    assert!(expected.len() > 10, "{}", expected.len());
    let booked = site.booked().remove("alone").unwrap();
    // A receiver each time one has ended by itself; what is put into its spool is taken at once.
    let receiver = std::cell::Cell::new(0);
    let taken: std::cell::RefCell<Vec<String>> = Vec::new().into();
    let take = || {
        for (text, path) in site.spooled("spool") {
            if !path.to_string_lossy().contains(".gridtally") {
                taken.borrow_mut().push(text);
                fs::remove_file(path).unwrap();
            }
        }
    };
    let words = |_| {
        let name = format!("r{}", receiver.get());
        sending(&name, "spool").into_iter().map(str::to_owned).collect()
    };
    let check = |is_done: bool| {
        take();
        if !is_done {
            return;
        }
        let mut sent = taken.take();
        sent.sort();
        assert!(
            sent == expected,
            "{} messages in place of {}",
            sent.len(),
            expected.len()
        );
        assert_eq!(files(&site.path("spool")), [] as [std::path::PathBuf; 0]);
        receiver.set(receiver.get() + 1);
    };
    kill(&site, (ending, count("GRIDTALLY_KILLS", KILLS)), words, |_, is_done| {
        check(is_done);
    });
    let last = words(0);
    site.done(&last.iter().map(String::as_str).collect::<Vec<_>>());
    check(true);
    let book = site.booked();
    assert_eq!(book.len(), receiver.get() + 1);
    let of = |rows: &[String]| {
        rows.iter()
            .map(|row| row.rsplit_once(',').unwrap().1.to_owned())
            .collect::<Vec<_>>()
    };
    for (name, rows) in &book {
        assert_eq!(of(rows), of(&booked), "{name}");
    }
    site.settled();
    // Nothing new is nothing to send.
    let last = words(0);
    site.done(&last.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn a_killed_lock_of_a_month_is_there_or_not() {
    let site = Site::new();
    // None while a lock is cut off that the next one finishes.
    let events = |site: &Site| {
        let mut command = site.command(&["publication", "locks", "lake", "--format", "csv"]);
        let list = command.output().unwrap();
        if list.status.code() == Some(75) {
            assert!(super::reported(&list).contains("cut off"), "{}", super::reported(&list));
            return None;
        }
        assert!(list.status.success(), "{}", super::reported(&list));
        let text = String::from_utf8(list.stdout).unwrap();
        Some(text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>())
    };
    let turn_of = |event: &String| -> usize {
        let rest = event.split("turn ").nth(1).unwrap();
        rest.split(',').next().unwrap().parse().unwrap()
    };
    let (mut known, mut read) = (Vec::new(), 0);
    let words = |turn: usize| {
        let (action, reason) = (["lock", "unlock"][turn % 2], format!("turn {turn}"));
        [
            "publication",
            action,
            "lake",
            "--month",
            "2026-01",
            "--reason",
            &reason,
            "--author",
            "E. Office",
        ]
        .map(str::to_owned)
        .to_vec()
    };
    kill(
        &site,
        (Ending::Kill, count("GRIDTALLY_KILLS", KILLS)),
        words,
        |turn, is_done| {
            let Some(now) = events(&site) else {
                assert!(!is_done, "what ended is whole");
                return;
            };
            assert_eq!(now[..known.len()], known[..], "what was there is there");
            let turns: Vec<usize> = now.iter().map(turn_of).collect();
            assert!(turns.is_sorted_by(|a, b| a < b), "each once: {turns:?}");
            assert!(turns.last().is_none_or(|last| *last <= turn), "{turns:?}");
            assert!(!is_done || turns.last() == Some(&turn), "{turns:?} after turn {turn}");
            known = now;
            read += 1;
        },
    );
    assert!(read > 3, "the locks were read {read} times");
    site.done(&[
        "publication",
        "lock",
        "lake",
        "--month",
        "2026-02",
        "--reason",
        "last",
        "--author",
        "E. Office",
    ]);
    site.settled();
}

#[test]
fn a_killed_replay_and_its_repair_come_to_the_same_bytes() {
    let site = Site::new();
    site.write(
        "dumps/9.txt",
        &super::dump(3, 100..160).replace("2026-03-05T01:00:00", "yesterday"),
    );
    site.done(&["run", "p.toml"]);
    site.done(&["replay", "lake", "--export", "whole"]);
    let contents = |folder: &str| -> BTreeMap<String, String> {
        let root = site.path(folder);
        let text = |path: std::path::PathBuf| {
            let name = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(path).unwrap())
        };
        files(&root).into_iter().map(text).collect()
    };
    let expected = contents("whole");
    assert!(!expected.is_empty());
    let words = |_| ["replay", "lake", "--export", "again"].map(str::to_owned).to_vec();
    kill(
        &site,
        (Ending::Kill, count("GRIDTALLY_KILLS", KILLS)),
        words,
        |turn, is_done| {
            let mut there = contents("again");
            there.retain(|path, _| !path.starts_with(".gridtally"));
            assert!(there == expected || (!is_done && there.iter().all(|(path, text)| expected[path] == *text)));
            if is_done || turn % 3 == 0 {
                let _ = fs::remove_dir_all(site.path("again"));
            }
        },
    );
    site.done(&["replay", "lake", "--export", "again"]);
    assert_eq!(contents("again"), expected);
    // Mended, and the run that reads it is killed.
    for (path, text) in &expected {
        site.write(
            &format!("dumps/mended-{}", path.replace('/', "-")),
            &text.replace("yesterday", "2026-03-05T01:00:00"),
        );
    }
    site.done(&["run", "p.toml", "--out", "undisturbed"]);
    let run = |_| ["run", "p.toml"].map(str::to_owned).to_vec();
    kill(
        &site,
        (Ending::Kill, count("GRIDTALLY_KILLS", KILLS)),
        run,
        |_, is_done| {
            if is_done {
                site.done(&["run", "q.toml"]);
            }
        },
    );
    site.done(&["run", "q.toml"]);
    site.done(&["run", "p.toml"]);
    let lakes = ["lake", "undisturbed"].map(|lake| crate::promises::scene::lake_hash(&site.path(lake)));
    crate::promises::scene::assert_same(&lakes[1], &lakes[0], "after the kills");
    site.settled();
}
