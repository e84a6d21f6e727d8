//! Several writers of one lake at once: each ends as if it were alone, or says that another one is there.

use super::{Site, count, sending, told};

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
                assert_eq!(code, BUSY, "{words:?}: {}", told(&output));
                assert!(
                    told(&output).contains("another run or publication holds the output"),
                    "{}",
                    told(&output)
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

#[test]
fn every_pair_of_writers_at_once() {
    let site = Site::new();
    let lock = |action| {
        vec![
            "publication",
            action,
            "lake",
            "--month",
            "2025-01",
            "--reason",
            "r",
            "--author",
            "a",
        ]
    };
    let writers = |receiver, spool| {
        [
            vec!["run", "p.toml"],
            vec!["run", "q.toml"],
            sending(receiver, spool),
            lock("lock"),
            lock("unlock"),
        ]
    };
    let names: Vec<String> = (0..25).map(|n| format!("r{n}")).collect();
    for _ in 0..count("GRIDTALLY_TOGETHER", 1) {
        for (n, name) in names.iter().enumerate() {
            let of = writers(name, name);
            let (a, b) = (&of[n / 5], &of[n % 5]);
            assert!(at_once(&site, &[a.clone(), b.clone(), a.clone()]) > 0);
        }
        site.settled();
    }
    let is_sound = site.command(&["verify", "lake"]).output().unwrap();
    assert!(is_sound.status.success(), "{}", told(&is_sound));
}
