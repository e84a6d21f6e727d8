//! The line of cron: what it mails, and what it keeps.

use super::site::{Site, deployed, words_of};

const FILE: &str = "cron/gridtally";

/// The five fields of the time, the user, and the command of the only job.
fn job(text: &str) -> (Vec<&str>, &str) {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with('#') && line.split(' ').next().is_some_and(|word| !word.contains('=')))
        .collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    let words: Vec<&str> = lines[0].splitn(7, ' ').collect();
    (words[..6].to_vec(), words[6])
}

#[test]
fn cron_mails_a_failure_and_nothing_else() {
    let site = Site::new();
    let text = site.placed(&deployed(FILE));
    let (_, command) = job(&text);
    let run = || site.command("/bin/sh").args(["-c", command]).output().unwrap();
    for status in ["published", "unchanged"] {
        let ran = run();
        assert!(ran.status.success(), "{}", words_of(&ran));
        assert!(
            ran.stdout.is_empty() && ran.stderr.is_empty(),
            "cron would mail {}",
            words_of(&ran)
        );
        let log = site.text("log/site.log");
        let summary: serde_json::Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
        assert_eq!(summary["status"], status);
    }
    site.broken_dump();
    let ran = run();
    assert_eq!(ran.status.code(), Some(65));
    assert!(ran.stdout.is_empty());
    assert!(
        words_of(&ran).contains("sacct-2.txt: nothing was read"),
        "{}",
        words_of(&ran)
    );
    assert!(
        site.text("metrics/gridtally-site.prom")
            .contains("gridtally_run_last_exit_code 65\n")
    );
}

#[test]
fn the_file_is_one_that_cron_reads() {
    let text = deployed(FILE);
    let (head, command) = job(&text);
    assert_eq!(head[5], "gridtally", "a file of cron.d names the user");
    for (field, most) in head.iter().zip([59, 23, 31, 12, 7]) {
        assert!(
            *field == "*" || field.parse::<u8>().is_ok_and(|number| number <= most),
            "{field}"
        );
    }
    // cron takes % for the end of the line, and reads no file with a dot in its name and no last line without an end.
    assert!(!command.contains('%'));
    assert!(!FILE.contains('.') && text.ends_with('\n'));
}
